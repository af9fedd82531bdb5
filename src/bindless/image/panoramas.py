"""``Image.from_equirectangular``: the cubemap of a panorama."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..model.enums import AddressingMode
from ..model.errors import InvalidError
from ..sampling.codes import to_storage
from ..sampling.row_blocks import require_room
from ..sycl.queue.queue import Queue
from .arguments import sizes_of
from .array_library import ArrayLike, view
from .coordinates import cube_directions, panorama_coordinates
from .default_queue import queue_of_array

if TYPE_CHECKING:
    from .image import Image

__all__ = ["from_equirectangular"]

_BYTES_OF_DIRECTION = 24  # three coordinates of 64 bits


def from_equirectangular(
    cls: type[Image], /, panorama: ArrayLike, size: int | None = None, *, queue: Queue | None = None, **options: Any
) -> Image:
    """A cubemap from a panorama of the whole sphere.

    The middle of the panorama looks along -z, its right quarter along +x, its top row along +y.

    Parameters
    ----------
    panorama : ArrayLike
        Shape (height, width[, channels]); usually twice as wide as high.
    size : int, optional
        Pixels of a side of a face; default half the panorama's height. Smaller ones are made from the mipmaps of
        the panorama, so that nothing aliases.
    queue : Queue, optional
        Where both live.
    options : keywords
        Further arguments of ``Image``.

    Raises
    ------
    InvalidError
        The panorama has not two dimensions, or the size is not positive.
    """
    queue = queue_of_array(panorama) if queue is None else queue
    pixels = view("panorama", panorama, queue)
    if pixels.ndim not in (2, 3):
        raise InvalidError(f"a panorama has shape (height, width[, channels]), not {pixels.shape}")
    height, width = pixels.shape[:2]
    (side,) = sizes_of(max(height // 2, 1) if size is None else size, 1, "size", "(pixels of a face)")
    excess = {"layers", "cubemap", "dimensions"} & options.keys()
    if excess:
        raise InvalidError(f"from_equirectangular makes a cubemap: leave {', '.join(sorted(excess))} out")
    if pixels.dtype.kind in "iu" and pixels.dtype.itemsize == 4:
        raise InvalidError(
            f"a panorama of {pixels.dtype} cannot be resampled to the faces of a cubemap, for integers of 32 bits "
            'are not filtered: convert with panorama.astype("float32")'
        )
    require_room(6 * side * side, f"size={side}", _BYTES_OF_DIRECTION)
    directions = cube_directions(side)
    with cls(pixels, mipmaps=True, addressing=AddressingMode.repeat, queue=queue, dimensions=2) as source:
        level = max(np.log2(height / (2 * side)), 0.0)
        values = source.sample(panorama_coordinates(directions, width, height), level=float(level))
        faces = to_storage(values, source._described.channel, codes=False)
    return cls(faces, cubemap=True, queue=queue, **options)
