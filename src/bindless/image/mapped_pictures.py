"""Pictures of an ``Image`` at positions from matrices and arrays of vectors: what ``warp`` and ``remap`` share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ..bindless_images.result_arrays import empty_result
from ..sycl.usm import UsmArray
from .array_library import AnyArray, Library
from .packing import After
from .resampled import NO_VECTORS, draw_resampled, source_of, vectors_of
from .results import Result

if TYPE_CHECKING:
    from .image import Image

__all__ = ["mapped_picture"]

Array = npt.NDArray[Any]
Matrices = Sequence[npt.NDArray[np.float64]]


def mapped_picture(
    image: Image,
    matrices: Matrices,
    sizes: Sequence[int],
    name: str,
    vectors: AnyArray | None,
    result: Result,
    library: Library | None,
    *,
    leads: bool = False,
    edges: bool = False,
) -> Any:
    """A picture of every layer, as the result that the caller gets.

    Parameters
    ----------
    matrices : Matrices
        (d + 1, d + 1) to the image's coordinates: one, or one for each layer.
    sizes : Sequence[int]
        Of the picture, in (x, y, z) order; (N,) for N elements in any arrangement.
    name : str
        Of the argument ``vectors``, for errors.
    vectors : AnyArray | None
        (..., d), added to the positions.
    library : Library | None
        Whose array the result becomes.
    leads : bool, default False
        Whether the result belongs where the vectors are, rather than where the image's array was.
    edges : bool, default False
        Whether pixels outside are the outermost ones, except of B-splines.
    """
    on_device = isinstance(vectors, UsmArray)
    wanted = result.on_device or (result.array is None and (on_device if leads else image._leads_on_device))
    source, described, queue = source_of(image, edges=edges), image._described, image._queue
    values = result.in_usm() if wanted or on_device else result.on_host()
    given = NO_VECTORS
    after: After = ()
    if vectors is not None:
        there = isinstance(values, UsmArray)
        shape = tuple(vectors.shape)
        given, after = vectors_of(queue, source, name, vectors, shape, on_device=there, after=())
    if values.size:
        layers = range(described.array_size)
        pictures = [values.reshape(-1, described.num_channels)]
        if len(layers) > 1:
            each = values.reshape(len(layers), -1, described.num_channels)
            pictures = [each[layer] for layer in layers]
        events = draw_resampled(queue, source, matrices, sizes, given, layers, pictures, after)
        if isinstance(values, UsmArray) and not wanted and result.array is None:
            host = empty_result(result.shape, values.dtype)
            queue.memcpy(host, values, depends_on=events).wait()
            return result.given(host, (), library)
        after = events
    return result.given(values, after, library)
