"""``Images``: image memory of a queue, which calls that follow each other use in turn."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np

from ..image.array_library import AnyArray
from ..image.device_image import ImageStore
from ..model.image_descriptor import ImageDescriptor
from ..model.image_handles import SampledImageHandle
from ..model.resampling import Window
from ..model.sampler import BindlessImageSampler
from ..sampling.plan import Plan
from ..sycl.queue.queue import Queue
from ..sycl.usm import UsmArray

__all__ = ["ImageKey", "Images", "StoredImage", "Units", "images_of"]

_STEP = 16  # texels: parts of larger images are stored in images whose sizes are multiples of it
_MOST_IMAGES, _MOST_BYTES = 4, 1 << 26  # that the calls of ndimage leave to the next ones, and of one of them
_MOST_PICTURES = 64  # of an image


Triple = tuple[float, float, float]
Units = tuple[SampledImageHandle, Triple, Triple]
ImageKey = tuple[ImageDescriptor, ImageDescriptor]


class StoredImage:
    """An image of a pool.

    Attributes
    ----------
    key : ImageKey
        The image as described, and as stored.
    store : ImageStore
        Its memory.
    pictures : dict[Any, Plan]
        Plans of its pictures, by what identifies them.
    """

    __slots__ = ("_readers", "key", "pictures", "store")

    def __init__(self, key: ImageKey, store: ImageStore) -> None:
        self.key, self.store = key, store
        self.pictures: dict[Any, Plan] = {}
        self._readers: dict[BindlessImageSampler, Units] = {}

    def reader(self, sampler: BindlessImageSampler) -> Units:
        """The handle of a sampler, and the scale and the bias of its coordinates along x, y, z."""
        units = self._readers.get(sampler)
        if units is None:
            reader = self.store.reader(sampler)
            scale, bias = reader.units
            x, y, z = zip((*scale, 1.0, 1.0)[:3], (*bias, 0.0, 0.0)[:3])
            units = self._readers[sampler] = reader.handle, (x[0], y[0], z[0]), (x[1], y[1], z[1])
        return units

    def keep(self, key: Any, picture: Plan) -> None:
        """Keep a plan for the next call."""
        if len(self.pictures) >= _MOST_PICTURES:
            self.pictures.clear()
        self.pictures[key] = picture


class Images:
    """A pool of images.

    Parameters
    ----------
    queue : Queue
        In order, where images are kept: commands of different calls use the same memory one after the other.
    most : int
        Images that are kept; 0 frees each after its call.
    most_bytes : int, optional
        Bytes of an image that is kept; default any number.

    Attributes
    ----------
    free : dict[ImageKey, StoredImage]
        Images that no call uses now.
    """

    def __init__(self, queue: Queue, most: int = _MOST_IMAGES, most_bytes: int | None = None) -> None:
        self._queue, self._most, self._most_bytes = queue, most, most_bytes
        self.free: dict[ImageKey, StoredImage] = {}

    def take(
        self, pixels: AnyArray, described: ImageDescriptor, stored: ImageDescriptor, window: Window | None
    ) -> StoredImage:
        """An image with the pixels of an array, which nobody else uses until ``give_back``.

        A part inside of a larger image is stored in a larger one, of sizes that other parts have too: nothing reads
        beyond such a part.

        Parameters
        ----------
        pixels : AnyArray
            Shape of ``described``; read by commands of the queue after the call, too.
        described, stored : ImageDescriptor
            As of ``image.plan.ImagePlan``.
        window : Window | None
            The image as a part of a larger one.
        """
        whole = window is None or self._most == 0 or isinstance(pixels, UsmArray) or tuple(pixels.shape) != stored.shape
        size = stored if whole else _rounded(stored, window)
        key = (described, size) if whole else (size, size)
        image = self.free.pop(key, None)
        again = image is not None
        if image is None:
            while self.free and len(self.free) >= self._most:
                self._close_oldest()
            image = StoredImage(key, ImageStore.empty(key[0], size, self._queue))
        try:
            if whole:
                image.store.fill(pixels, again=again)
            else:
                assert isinstance(pixels, np.ndarray)
                packed = np.ascontiguousarray(pixels, size.dtype)
                extent = (stored.width, stored.height, stored.array_size if stored.is_layered else stored.depth)
                self._queue.ext_oneapi_copy(packed, image.store.memory(), src_extent=extent, copy_extent=extent)
        except BaseException:
            image.store.close()
            raise
        return image

    def give_back(self, image: StoredImage) -> None:
        """End the use of an image by a call: it serves the next one, or ends."""
        if self._most == 0 or (self._most_bytes is not None and image.store.descriptor.nbytes > self._most_bytes):
            image.store.close()
            return
        other, self.free[image.key] = self.free.pop(image.key, None), image  # the latest
        if other is not None:  # of another thread
            other.store.close()
        while len(self.free) > self._most:
            self._close_oldest()

    def _close_oldest(self) -> None:
        try:
            self.free.pop(next(iter(self.free))).store.close()
        except (KeyError, StopIteration, RuntimeError):  # another thread changes it
            return

    def close(self) -> None:
        """Free everything."""
        while self.free:
            self._close_oldest()


def images_of(queue: Queue) -> Images:
    """The images for calls in a queue: those of an in-order queue are kept from call to call, until it is closed."""
    if not queue._stream.in_order or queue.closed:
        return Images(queue, 0)
    pool: Images | None = queue._storage.get(Images)
    return queue._storage.setdefault(Images, Images(queue, most_bytes=_MOST_BYTES)) if pool is None else pool


def _rounded(desc: ImageDescriptor, window: Window | None) -> ImageDescriptor:
    """An image of which a part inside of a larger image takes the first texels."""
    if window is None:
        return desc
    sizes: list[int] = []
    for size, origin, whole in zip((desc.width, desc.height, desc.depth), window.origin, window.whole):
        inside = origin > 0 and origin + size < whole
        sizes.append(-(-size // _STEP) * _STEP if inside else size)
    return _resized(desc, *sizes)


@lru_cache(256)
def _resized(desc: ImageDescriptor, width: int, height: int, depth: int) -> ImageDescriptor:
    return replace(desc, width=width, height=height, depth=depth)
