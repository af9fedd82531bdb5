"""``NativeStore``: the store of an ``Image`` whose pixels one native image holds."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..model.arrays import Array
from ..model.image_descriptor import ImageDescriptor
from ..submission.event import Event
from .array_library import AnyArray
from .device_image import ImageStore
from .levels.pixels import decode_pixels
from .remapping import remap_native
from .resizing import resize_native
from .sampling import fetch_native, sample_native
from .warping import warp_native

if TYPE_CHECKING:
    from .image import Image

__all__ = ["NativeStore"]


class NativeStore:
    """One native image; see ``Store``.

    Parameters
    ----------
    native : ImageStore
        Memory and handles, which the store owns.
    """

    def __init__(self, native: ImageStore) -> None:
        self._native = native
        self.repeat_update = native._uploads.repeat
        self.parts: tuple[Image, ...] = ()

    @property
    def descriptor(self) -> ImageDescriptor:
        return self._native.descriptor

    @property
    def closed(self) -> bool:
        return self._native.closed

    def native(self) -> ImageStore:
        return self._native

    def close(self) -> None:
        self._native.close()

    def numpy(self, image: Image, level: int) -> Array:
        described = image._level(level)
        pixels = self._native.download(level)
        if described.channel.decoded is not None:
            pixels = decode_pixels(pixels, described)
        return pixels[..., : image.num_channels].reshape(image._array_shape(described))

    def update(self, image: Image, pixels: AnyArray, array: object) -> Event | None:
        source = pixels if isinstance(pixels, np.ndarray) else array, pixels.shape
        return self._native.fill(pixels if image._has_channel_axis else pixels[..., None], again=True, source=source)

    sample = staticmethod(sample_native)
    fetch = staticmethod(fetch_native)
    resize = staticmethod(resize_native)
    warp = staticmethod(warp_native)
    remap = staticmethod(remap_native)
