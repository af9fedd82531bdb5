"""``Slots``: image memory for bricks, of a bounded size, and the format of texels in it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..bindless_images import ImageMem, create_image, destroy_image_handle
from ..device.bricks import CELL
from ..model.arrays import Array, DType
from ..model.enums import ImageChannelType
from ..model.image_descriptor import ImageDescriptor
from ..model.image_handles import SampledImageHandle
from ..model.sampler import BindlessImageSampler
from ..submission.event import Event
from ..sycl.queue.queue import Queue
from ..sycl.usm import usm_empty

__all__ = ["Slots", "TexelFormat", "cells_of", "texel_format"]

_SAMPLER = BindlessImageSampler("clamp_to_edge", "unnormalized", "linear")


@dataclass(frozen=True)
class TexelFormat:
    """Texels of bricks.

    Attributes
    ----------
    dtype : np.dtype
        Of texels in arrays on the host.
    channel_type : ImageChannelType
        Of the image, which can be filtered.
    factor, shift : float
        A number is the image's value times the factor, plus the shift.
    offset : int
        Added to numbers to make texels of them.
    """

    dtype: DType
    channel_type: ImageChannelType
    factor: float = 1.0
    shift: float = 0.0
    offset: int = 0

    def numbers(self, texels: Array) -> Array:
        """float32 numbers of texels."""
        numbers: Array = texels.astype(np.float32) - np.float32(self.offset)
        return numbers

    def texels(self, numbers: Array) -> Array:
        """Texels of numbers."""
        if not self.offset:
            return numbers.astype(self.dtype, copy=False)
        texels: Array = (numbers.astype(np.int32) + self.offset).astype(self.dtype)
        return texels


_BYTE, _SHORT = np.dtype(np.uint8), np.dtype(np.uint16)
_FORMATS = {
    "b1": TexelFormat(_BYTE, ImageChannelType.unorm_int8, 255.0),
    "u1": TexelFormat(_BYTE, ImageChannelType.unorm_int8, 255.0),
    "i1": TexelFormat(_BYTE, ImageChannelType.unorm_int8, 255.0, -128.0, 128),
    "u2": TexelFormat(_SHORT, ImageChannelType.unorm_int16, 65535.0),
    "i2": TexelFormat(_SHORT, ImageChannelType.unorm_int16, 65535.0, -32768.0, 32768),
    "f2": TexelFormat(np.dtype(np.float16), ImageChannelType.fp16),
}
_FLOAT = TexelFormat(np.dtype(np.float32), ImageChannelType.fp32)


def texel_format(dtype: DType) -> TexelFormat:
    """Format of the texels of a source."""
    return _FORMATS.get(dtype.str[1:], _FLOAT)


def cells_of(shape: Sequence[int]) -> int:
    """Cells of an image."""
    return int(np.prod([size // CELL for size in shape]))


class Slots:
    """Images of one size.

    Parameters
    ----------
    shape : tuple[int, int, int]
        Texels along z, y and x.
    channels : int
        Of an image: 1, 2 or 4.
    texels : TexelFormat
        Of a channel.
    count : int
        The most images; each is allocated when it is first written.
    numbers : int
        Channels of the source.
    queue : Queue
        Where they lie.

    Attributes
    ----------
    cells : UsmArray
        As ``bindless.device.bricks`` describes them. Pictures have none.
    """

    def __init__(
        self, shape: tuple[int, int, int], channels: int, texels: TexelFormat, count: int, numbers: int, queue: Queue
    ) -> None:
        self.count, self.bytes_of_one = count, int(np.prod(shape)) * channels * texels.dtype.itemsize
        self._of_image = cells_of(shape)
        self.cells = usm_empty((max(count * self._of_image, 1), 2 * numbers), np.float32, queue)
        self._described = ImageDescriptor(
            shape[2], shape[1], shape[0], num_channels=channels, channel_type=texels.channel_type
        )
        self._queue = queue
        self._images: list[tuple[ImageMem, SampledImageHandle]] = []

    @property
    def allocated(self) -> int:
        """Images that were allocated."""
        return len(self._images)

    def write(self, number: int, texels: Array, cells: Array | None) -> Event:
        """Writes an image and its cells, the next one that was not allocated or an older one."""
        if number == len(self._images):
            memory = ImageMem(self._described, self._queue)
            handle = create_image(memory, self._described, self._queue, sampler=_SAMPLER)
            self._images.append((memory, handle))
        if cells is not None:
            self.cells[number * self._of_image : (number + 1) * self._of_image].copy_from(cells, self._queue)
        return self._queue.ext_oneapi_copy(texels, self._images[number][0], dst_desc=self._described)

    def handle(self, number: int) -> int:
        """The number that kernels sample."""
        return self._images[number][1].raw_handle

    def close(self) -> None:
        """Frees the images."""
        while self._images:
            memory, handle = self._images.pop()
            destroy_image_handle(handle, self._queue)
            memory.close()
        self.cells.close()
