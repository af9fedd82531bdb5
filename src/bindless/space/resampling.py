"""``resample``: an array on one grid, seen on another through a transform, in one pass."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..bindless_images.scratch_memory import leave_array
from ..image.array_library import ArrayLike
from ..image.composition import Composition, compose
from ..model.enums import Interpolation, Precision
from ..model.errors import ArgumentError
from ..model.filter import Filter, name_of_boundary
from ..model.grid import Grid
from ..model.transforms import Transform
from ..ndimage.places import Places
from ..ndimage.plan import resample as resample_places
from ..ndimage.repeated import Call, recall
from ..ndimage.source import source_of
from ..ndimage.target import Output
from ..sampling.fields import layouts_of, pack_fields
from ..sycl.queue.queue import Queue

__all__ = ["resample"]


def resample(
    image: ArrayLike,
    source: Grid,
    target: Grid,
    transform: Transform | Any = None,
    *,
    filtering: Interpolation | str = "linear",
    fill: float = 0.0,
    addressing: str | tuple[str, ...] = "extent",
    precision: Precision | str = "exact",
    out: Any = None,
    queue: Queue | None = None,
) -> Any:
    """An array on the pixels of another grid, through the world and a transform of it.

    The pixel of the target at world position p is the value of the image at ``transform(p)``. The device computes the
    positions: affine parts are one matrix in double precision, fields are interpolated on their own grids, and no array
    of coordinates is made.

    Parameters
    ----------
    image : ArrayLike
        Array of any library, of the source's shape. Axes before those of the grid are a stack, and one axis behind them
        has channels: each image of the stack and each channel is resampled alike. (Where both readings fit, the last
        axis has channels.)
    source, target : Grid
        Where the pixels of the image and those of the result lie.
    transform : Affine | Displacement | BSpline | Sequence | ArrayLike, optional
        From points of the target's world to the source's, as SimpleITK's; a matrix is an affine one; default the
        identity.
    filtering : str, default "linear"
        ``nearest``, ``linear``, or ``cubic``, B-splines that pass through the pixels.
    fill : float, default 0.0
        The value outside, with the addressing ``extent`` and ``border``.
    addressing : str | tuple[str, ...], default "extent"
        What lies outside. ``extent``: the values of the edge up to the outer borders of the outer pixels, and the fill
        value beyond, as SimpleITK has it. Others: as of ``Image``.
    precision : str, default "exact"
        As of ``Image``; the texture unit and its arithmetic (``hardware``, ``reproducible``) have no ``extent``.
    out : ArrayLike, optional
        Array of any library for the result, of its shape.
    queue : Queue, optional
        Where the work is done; default: on the device of the image, or on the default device.

    Returns
    -------
    ArrayLike
        ``out``, or an array of the image's library, dtype and place. Integers are rounded and clamped.

    Raises
    ------
    ArgumentError
        The image is not of the source's shape, the grids and the transform have other numbers of axes, or an option has
        no meaning.
    FeatureNotSupportedError
        Complex numbers.

    Examples
    --------
    >>> from bindless.space import Grid, resample
    >>> ramp = np.array([[0, 10, 20, 30]], dtype=np.float32)
    >>> coarse, fine = Grid((1, 4), spacing=2.0), Grid((1, 5), spacing=1.0, origin=(1.0, 0.0))
    >>> resample(ramp, coarse, fine, queue=bindless.Queue("reference"))
    array([[ 5., 10., 15., 20., 25.]], dtype=float32)
    """
    for name, grid in (("source", source), ("target", target)):
        if not isinstance(grid, Grid):
            raise ArgumentError(f"{name} is a {type(grid).__name__}; it is a Grid")
    map_ = compose(source, target, transform)  # a call is remembered without it
    key = None
    layouts = layouts_of(map_.fields)
    if layouts is not None:
        options = filtering, addressing, precision, source.shape, target.shape, layouts
        key, call = recall("space.resample", queue, image, out, fill, options)
        result = None if call is None else _again(call, image, out, map_, target)
        if result is not None:
            return result
    filter_ = _filter(addressing, filtering, fill, precision)
    shape = tuple(getattr(image, "shape", None) or np.shape(image))  # type: ignore[arg-type]
    stack, channel_axis = _arrangement(shape, source)
    pixels = source_of("resample", image, channel_axis, queue)
    own = map_.on(pixels.queue)
    result = Output("resample", pixels, out, (*pixels.shape[:stack], *target.shape))
    values = resample_places(pixels, result, _places(own, target), filter_, range(stack), key=None if stack else key)
    map_.hand_over(own)
    return values


def _again(call: Call, image: Any, out: Any, map_: Composition, target: Grid) -> Any:
    """The result of a call that is remembered; None where it is to be computed as if it were the first."""
    own = map_.on(call.queue)
    places = _places(own, target).shift(call.margin)
    if not places.fields:
        return call.submit(image, out, places.map)
    if not call.on_device and any(field.on_device for field in places.fields):
        return None
    packed, _ = pack_fields(call.queue, places.fields, on_device=call.on_device)
    try:
        result = call.submit(image, out, places.map, packed)
    finally:
        leave_array(call.queue, packed)
    map_.hand_over(own)
    return result


def _places(map_: Composition, target: Grid) -> Places:
    """Where the pixels of the target lie in the source."""
    matrix = map_.matrix
    places = Places.affine(matrix[-2::-1, -2::-1], matrix[-2::-1, -1], target.shape)
    return places._replace(fields=map_.fields)


def _filter(addressing: Any, filtering: Any, fill: Any, precision: Any) -> Filter:
    filter_ = Filter.from_addressing(addressing, filtering, fill=fill, precision=precision)
    if filter_.precision is not Precision.exact and not filter_.has_unit_boundary:
        modes = ", ".join({name_of_boundary(mode): None for mode in filter_.boundary})
        raise ArgumentError(
            f"precision={filter_.precision} with addressing {modes} and fill={filter_.fill:g}: a texture unit has "
            "clamp_to_edge, repeat, mirrored_repeat, and border with a fill value of 0"
        )
    return filter_


def _arrangement(shape: tuple[int, ...], grid: Grid) -> tuple[int, int | None]:
    """Axes of a stack in front of the grid's, and the axis of channels, if there is one."""
    dims = grid.dimensions
    if len(shape) > dims and shape[-1 - dims : -1] == grid.shape:
        return len(shape) - 1 - dims, len(shape) - 1
    if shape[len(shape) - dims :] == grid.shape and len(shape) >= dims:
        return len(shape) - dims, None
    raise ArgumentError(
        f"image has shape {shape}; that of the source is {grid.shape}, stacks before and channels behind"
    )
