"""Levels of Gaussian pyramids by the processor, with C code of the reference driver.

The values are those of linear samples, and of samples of those, that ``bindless.cv2`` takes on other devices.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..drivers import reference
from ..model.arrays import Array
from ..model.channels import ELEMENTS
from ..model.enums import Boundary

__all__ = ["pyramid_level"]


def pyramid_level(pixels: Array, level: Array, modes: Sequence[Boundary], *, up: bool) -> None:
    """The next level of a pyramid, or the one before.

    Parameters
    ----------
    pixels, level : Array
        C-contiguous, of one dtype, (height, width, channels); they do not overlap.
    modes : Sequence[Boundary]
        What lies outside along y and x: upwards, of the samples a quarter of a pixel beside the pixels.
    up : bool
        Whether the level is the one before, of twice the size.
    """
    reference.load()
    call = reference.ffi.new("blr_pyramid_t *")
    call.source = reference.ffi.cast("void *", pixels.ctypes.data)
    call.destination = reference.ffi.cast("void *", level.ctypes.data)
    (*extent, channels), (*size, _) = pixels.shape, level.shape
    call.extent, call.size, call.channels = extent[::-1], size[::-1], channels
    call.direction, call.element = int(up), ELEMENTS[pixels.dtype]
    call.boundary = [mode.number for mode in modes[::-1]]
    reference.check(reference.lib.blrPyramidLevel(call), "blrPyramidLevel")
