"""Pictures of an ``Image`` at positions from matrices and arrays of vectors: what ``warp`` and ``remap`` share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ..bindless_images.result_arrays import empty_result
from ..model.aspects import Aspect
from ..model.enums import Precision
from ..sycl.usm import UsmArray
from .array_library import AnyArray, Library
from .packing import After
from .pictures import draw, given_picture
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
    if not _computes_positions(image):
        return _from_host(image, matrices, sizes, vectors, result, wanted, library)
    source, described, queue = source_of(image, edges=edges), image._described, image._queue
    values = result.in_usm() if wanted or on_device else result.on_host()
    given = NO_VECTORS
    after: After = ()
    if vectors is not None:
        there = isinstance(values, UsmArray)
        shape = tuple(vectors.shape)
        given, after = vectors_of(queue, source, name, vectors, shape, on_device=there, after=())
    if values.size:
        pictures = values.reshape(described.array_size, -1, described.num_channels)
        layers = range(described.array_size)
        events = draw_resampled(
            queue, source, matrices, sizes, given, layers, [pictures[layer] for layer in layers], after
        )
        if isinstance(values, UsmArray) and not wanted and result.array is None:
            host = empty_result(result.shape, values.dtype)
            queue.memcpy(host, values, depends_on=events).wait()
            return result.given(host, (), library)
        after = events
    return result.given(values, after, library)


def _computes_positions(image: Image) -> bool:
    """Whether the image's device computes positions itself, or no sampler can do instead."""
    wanted, queue = image._filter, image._queue
    if queue._backend.traits.function_language is None or wanted.is_computed:
        return True
    return wanted.precision is Precision.hardware and queue.device.has(Aspect.fp64)


def _from_host(
    image: Image,
    matrices: Matrices,
    sizes: Sequence[int],
    vectors: AnyArray | None,
    result: Result,
    wanted: bool,
    library: Library | None,
) -> Any:
    """The picture by a texture unit at coordinates that the processor computes."""
    dims = len(image.size)
    moves = vectors.numpy() if isinstance(vectors, UsmArray) else vectors
    moves = None if moves is None else moves.reshape(*reversed(sizes), dims)

    def drawn(matrix: npt.NDArray[np.float64]) -> Array:
        def coordinates(start: int, stop: int) -> tuple[Array, None]:
            points = _positions(matrix, sizes, start, stop)
            if moves is not None:
                points = points + moves[start:stop].reshape(-1, dims)
            return points.astype(np.float32), None

        reader = image._store.reader(image._sampler)
        return draw(image, reader, sizes, coordinates, image._described.channel, codes=False)

    layers = [drawn(matrix) for matrix in matrices]
    whole = layers[0] if len(layers) == 1 else np.stack([layer[number] for number, layer in enumerate(layers)])
    return given_picture(image, result, whole, library, on_device=wanted)


def _positions(matrix: npt.NDArray[np.float64], sizes: Sequence[int], start: int, stop: int) -> npt.NDArray[np.float64]:
    """(N, dims) of a range of rows, slices or elements of a picture, rounded as devices round them."""
    dims = len(matrix) - 1
    shape = (stop - start, *reversed(sizes[:-1]))
    centres = list(np.indices(shape, np.float64)[::-1] + 0.5)
    centres[-1] += start
    centres = [*centres[:dims], *[np.zeros(shape)] * (dims - len(centres))]  # elements of a list have no positions

    def along(row: npt.NDArray[np.float64]) -> Any:
        value: Any = row[dims]
        for entry, centre in zip(row[dims - 1 :: -1], reversed(centres)):
            value = entry * centre + value
        return value

    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        place = [along(row) for row in matrix[:dims]]
        if matrix[dims].tolist() != [0.0] * dims + [1.0]:
            depth = along(matrix[dims])
            place = [value / depth for value in place]
    return np.stack([np.broadcast_to(value, shape) for value in place], -1).reshape(-1, dims)
