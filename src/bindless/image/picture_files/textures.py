"""``Texture``: what a texture file holds, as views of its bytes; sizes are checked before memory is taken."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ...model.arrays import Array, DType
from ...model.errors import InvalidError

__all__ = ["Texture", "TextureFormat", "level_shape", "level_view", "require_growth", "require_levels"]

_BLOCK = 4  # texels along an edge
_MOST_GROWTH = 1032  # of the bytes of zlib's streams; others seldom reach it
_SMALL = 1 << 28  # bytes that a file may grow to in any case


@dataclass(frozen=True)
class TextureFormat:
    """Pixels or blocks of pixels in a file.

    Attributes
    ----------
    channel_type : str
        As ``ImageChannelType`` names it.
    element : DType
        Of the file, little-endian: a channel, a pixel whose channels share one, or a byte of a block.
    elements : int
        Of a pixel or of a block.
    places : tuple[int, ...]
        Where a pixel has the channels red, green, blue and alpha among its elements; empty for all, in this order.
    """

    channel_type: str
    element: DType
    elements: int
    places: tuple[int, ...] = ()

    @property
    def is_compressed(self) -> bool:
        """Whether it has blocks of 4 x 4 pixels."""
        return self.channel_type.startswith("bc")

    @property
    def is_packed(self) -> bool:
        """Whether it has blocks, or words whose channels are no elements."""
        return self.is_compressed or self.channel_type == "unorm_10_10_10_2"

    def grid(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        """How many pixels or blocks hold a picture of this shape, along each axis."""
        if not self.is_compressed:
            return shape
        return (*shape[:-2], *(-(-length // _BLOCK) for length in shape[-2:]))

    def nbytes(self, shape: tuple[int, ...]) -> int:
        """Bytes of a picture of this shape."""
        return math.prod(self.grid(shape)) * self.elements * self.element.itemsize


@dataclass(frozen=True)
class Texture:
    """The pixels or blocks of a texture file.

    Attributes
    ----------
    format : TextureFormat
        Of all its levels.
    kind : str
        ``"standard"``, ``"array"`` or ``"cubemap"``, whose faces are +x, -x, +y, -y, +z, -z; cubes follow each other.
    shape : tuple[int, ...]
        ([depth,] [height,] width) of the first level.
    levels : tuple[Array, ...]
        Each has the axes (layers or faces, *shape, channels), or (layers or faces, [depth,] rows, columns, bytes) of
        blocks, in the order of the file: the first row is the first one there.
    """

    format: TextureFormat
    kind: str
    shape: tuple[int, ...]
    levels: tuple[Array, ...]


def level_shape(shape: tuple[int, ...], level: int) -> tuple[int, ...]:
    """The shape of a level of a picture."""
    return tuple(max(length >> level, 1) for length in shape)


def require_levels(shape: tuple[int, ...], levels: int) -> None:
    """Refuses sizes and numbers of levels that no texture has.

    Raises
    ------
    InvalidError
        The size is 0, or there are more levels than halves of the size.
    """
    most = max(shape).bit_length()
    if min(shape) < 1 or not 1 <= levels <= most:
        size = " x ".join(map(str, shape[::-1]))
        raise InvalidError(f"the file is damaged: {levels} levels of {size} pixels, which have at most {most}")


def require_growth(nbytes: int, stored: int) -> None:
    """Refuses a file that is much smaller than the pixels which its header promises.

    Parameters
    ----------
    nbytes : int
        Of the pixels.
    stored : int
        Bytes of the file.

    Raises
    ------
    InvalidError
        The pixels are too many.
    """
    if nbytes > max(_SMALL, stored * _MOST_GROWTH):
        raise InvalidError(
            f"its header promises {nbytes} bytes of pixels, and the file has {stored}: it is damaged, or compressed "
            f"more than {_MOST_GROWTH}-fold; store a picture that is empty in truth without compression"
        )


def level_view(
    data: bytes | memoryview, offset: int, stride: int, count: int, form: TextureFormat, shape: tuple[int, ...]
) -> Array:
    """A level as an array; of pixels whose channels have another order, a copy of it.

    Parameters
    ----------
    data : bytes | memoryview
        Of the file, or of its level.
    offset, stride : int
        Where the level of the first picture begins, and from there to that of the next one.
    count : int
        Layers or faces.
    form : TextureFormat
        Of the pixels.
    shape : tuple[int, ...]
        Of the level.

    Raises
    ------
    InvalidError
        The file ends before.
    """
    nbytes = form.nbytes(shape)
    if (end := offset + (count - 1) * stride + nbytes) > len(data):
        raise InvalidError(
            f"the file is damaged or cut: {count} pictures of {' x '.join(map(str, shape[::-1]))} end at byte {end}, "
            f"and it has {len(data)}"
        )
    sizes = (*form.grid(shape), form.elements)
    strides = [form.element.itemsize]
    for size in sizes[:0:-1]:
        strides.insert(0, strides[0] * size)
    view: Array = np.ndarray((count, *sizes), form.element, data, offset, (stride, *strides))
    return view[..., list(form.places)] if form.places else view
