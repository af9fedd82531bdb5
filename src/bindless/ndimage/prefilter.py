"""``coefficients``: those of the cubic B-spline that passes through the elements of an array."""

from __future__ import annotations

from ..image.array_library import AnyArray
from ..image.spline_filter import spline_coefficients
from ..model.enums import Boundary
from ..sycl.queue.queue import Queue
from .source import wait_unless_ordered

__all__ = ["coefficients"]

# Elements by which scipy extends an array first: filters have no boundary of these kinds.
_MARGINS = {Boundary.edge: 12, Boundary.border: 12}
_FILTERS = {
    Boundary.edge: Boundary.mirrored_repeat,
    Boundary.mirrored_repeat: Boundary.mirrored_repeat,
    Boundary.repeat: Boundary.repeat,
}


def coefficients(
    queue: Queue, pixels: AnyArray, dimensions: int, boundary: Boundary, cval: float | None = None
) -> tuple[AnyArray, int]:
    """Coefficients in single precision, and the number of elements by which they exceed the pixels at each end.

    Parameters
    ----------
    pixels : AnyArray
        Shape (..., channels), up to four channels.
    dimensions : int
        Axes that are filtered, the last ones before the channels.
    boundary : Boundary
        The values beyond the elements.
    cval : float, optional
        The value outside; the array is extended as scipy's functions do before they interpolate. None: it is not.
    """
    margin = 0 if cval is None else _MARGINS.get(boundary, 0)
    values, after = spline_coefficients(
        queue,
        pixels,
        dimensions,
        _FILTERS.get(boundary, Boundary.mirror),
        margin=margin,
        fill=cval if boundary is Boundary.border else None,
    )
    wait_unless_ordered(queue, after)
    return values, margin
