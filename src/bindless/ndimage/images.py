"""``Images``: image memory of a queue, which calls that follow each other use in turn."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np

from ..image.array_library import AnyArray
from ..image.device_image import ImageStore
from ..model.arrays import DType
from ..model.image_descriptor import ImageDescriptor
from ..model.image_handles import SampledImageHandle
from ..model.resampling import Window
from ..model.sampler import BindlessImageSampler
from ..sampling.plan import Plan
from ..sycl.queue.queue import Queue
from ..sycl.usm import UsmArray, usm_empty

__all__ = ["Forms", "ImageKey", "Images", "StoredImage", "Units", "images_of"]

_STEP = 16  # texels: parts of larger images are stored in images whose sizes are multiples of it
_MOST_IMAGES, _MOST_BYTES = 4, 1 << 26  # that the calls of ndimage leave to the next ones, and of one of them
_MOST_PICTURES, _MOST_ROWS = 64, 2  # of an image, and rows of arrays


Triple = tuple[float, float, float]
Units = tuple[SampledImageHandle, Triple, Triple]
ImageKey = tuple[ImageDescriptor, ImageDescriptor]
Forms = tuple[tuple[tuple[int, ...], DType], ...]  # shapes and dtypes


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
    arrays : dict[Forms, list[UsmArray]]
        Memory of the device for its texels on their way, which commands use one after the other.
    """

    __slots__ = ("_readers", "arrays", "key", "pictures", "store")

    def __init__(self, key: ImageKey, store: ImageStore) -> None:
        self.key, self.store = key, store
        self.pictures: dict[Any, Plan] = {}
        self.arrays: dict[Forms, list[UsmArray]] = {}
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

    def add_arrays(self, forms: Forms, queue: Queue) -> list[UsmArray]:
        """New arrays of some shapes and dtypes, kept for the next call."""
        if len(self.arrays) >= _MOST_ROWS:
            self.arrays.clear()
        row = self.arrays[forms] = [usm_empty(shape, dtype, queue) for shape, dtype in forms]
        return row


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
    free : dict[ImageKey, list[StoredImage]]
        Images that no call uses now, in rows. A call takes a row by ``pop``, so that nobody else has it, and an image
        from that; at its end it appends the image to the row of ``setdefault``, which may be that of another thread.
    """

    def __init__(self, queue: Queue, most: int = _MOST_IMAGES, most_bytes: int | None = None) -> None:
        self._queue, self._most, self._most_bytes = queue, most, most_bytes
        self.free: dict[ImageKey, list[StoredImage]] = {}

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
        row = self.free.pop(key, None)
        again = bool(row)
        if row:
            image = row.pop()
            if row:
                self.free.setdefault(key, []).extend(row)
        else:
            self._close_all_but(self._most - 1)
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
        self.free.setdefault(image.key, []).append(image)
        self._close_all_but(self._most)

    def _close_all_but(self, count: int) -> None:
        """Close the oldest images until there are not more."""
        while sum(map(len, list(self.free.values()))) > max(count, 0):
            try:
                row = self.free.pop(next(iter(self.free)))
            except (KeyError, StopIteration, RuntimeError):  # another thread changes it
                return
            for image in row:
                image.store.close()

    def close(self) -> None:
        """Free everything."""
        self._close_all_but(0)


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
