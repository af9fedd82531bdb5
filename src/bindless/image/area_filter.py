"""The area filter: every output pixel is the mean of the part of the input that it covers.

It is the box filter where sizes divide, and weighs the pixels at the borders by the covered part where they do not.
``Image`` makes the levels of mipmaps and reduced images with it. The mean of codes of 8 and 16 bits is exact before it
is rounded, to nearest even; halves and floats are weighted in double precision, and rounded once. The processor takes
C code of the reference driver.
"""

from __future__ import annotations

from ..drivers import reference
from ..model.arrays import Array
from ..model.channels import ELEMENTS, Channel

__all__ = ["area_means"]

Extent = tuple[int, int, int]


def area_means(pixels: Array, extent: Extent, size: Extent, channel: Channel, result: Array) -> None:
    """The means of the areas that the pixels of a smaller image cover, by the processor.

    Parameters
    ----------
    pixels : Array
        C-contiguous, of the storage dtype; its last axis counts channels.
    extent, size : tuple[int, int, int]
        Pixels of the image and of the result in (x, y, z) order; z counts layers where there are some.
    channel : Channel
        How the pixels are stored.
    result : Array
        C-contiguous, of the storage dtype, or float32 for means of stored codes that are not rounded. Of the channels
        of the pixels it has the first ones.
    """
    reference.load()
    call = reference.ffi.new("blr_area_mean_t *")
    call.source.pointer = reference.ffi.cast("void *", pixels.ctypes.data)
    call.destination.pointer = reference.ffi.cast("void *", result.ctypes.data)
    call.extent, call.size = extent, size
    call.channel_type = channel.index
    call.source_channels, call.destination_channels = pixels.shape[-1], result.shape[-1]
    call.destination_type = ELEMENTS[result.dtype]
    reference.check(reference.lib.blrAreaMean(call), "blrAreaMean")
