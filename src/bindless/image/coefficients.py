"""``Coefficients``: the B-spline coefficients of an ``Image`` with ``filtering="cubic"``, on its device.

The image keeps its pixels. The coefficients are a second image of float32, in the numbers of the array, which is made
when a value is first needed, and again after new pixels. Along axes whose outside is not periodic or mirrored, they
are those of the image with a margin, in which the filter of the edge dies away.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ..core.lock import Lock
from ..model.enums import Boundary, ImageChannelType
from ..sampling.packing import After, pack
from ..sycl.usm import UsmArray, usm_empty
from .device_image import ImageStore
from .plan import device_descriptor
from .spline_filter import spline_coefficients

if TYPE_CHECKING:
    from ..sycl.queue.queue import Queue
    from .image import Image

__all__ = ["Coefficients"]


class Coefficients:
    """The coefficients of one image.

    Attributes
    ----------
    ready : After | None
        What reads of the coefficients come after, where the queue does not order them; None where the coefficients are
        to be made first.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._store: ImageStore | None = None
        self._arrays: dict[Any, UsmArray] = {}
        self._shared = False
        self.ready: After | None = None

    def renew(self) -> None:
        """The image has new pixels."""
        self.ready = None

    def share(self) -> None:
        """Others may write the image's pixels: the coefficients are made for every use."""
        self._shared, self.ready = True, None

    def close(self) -> None:
        """Frees the memory on the device."""
        with self._lock:
            store, self._store, self.ready = self._store, None, None
            self._arrays.clear()
        if store is not None:
            store.close()

    def ready_store(self, image: Image) -> tuple[ImageStore, tuple[int, ...]]:
        """The coefficients of the image's pixels, and their margin for (x, y, z)."""
        margin = image._filter.spline_margin
        image._native.memory()  # raises
        with self._lock:
            if self._store is None or self.ready is None:
                self._make(image, margin)
            assert self._store is not None
            return self._store, margin

    def _make(self, image: Image, margin: tuple[int, ...]) -> None:
        queue, described = image._queue, image._described
        sizes = tuple(size + 2 * extra for size, extra in zip(image.size, margin))
        wide = replace(
            described,
            width=sizes[0],
            height=sizes[1] if len(sizes) > 1 else 0,
            depth=sizes[2] if len(sizes) > 2 else 0,
            channel_type=ImageChannelType.fp32,
        )
        pixels, after = self._pixels(image)
        dims = described.dimensions
        filter_ = image._filter
        fill = filter_.fill if Boundary.border in filter_.boundary[:dims] else None
        out = self._array(queue, "coefficients", (*pixels.shape[: -1 - dims], *sizes[::-1], pixels.shape[-1]))
        values, after = spline_coefficients(
            queue, pixels, dims, filter_.spline_lines[:dims], margin=margin[:dims], fill=fill, out=out, after=after
        )
        if not queue._stream.in_order:  # new memory is filled at once
            for event in after:
                event.wait()
        if self._store is None:
            self._store = ImageStore.filled(values, wide, device_descriptor(wide, False, queue.device), queue)
        else:
            self._store.fill(values, again=True)
        if not self._shared:
            self.ready = self._store.ready

    def _array(self, queue: Queue, name: str, shape: tuple[int, ...], dtype: npt.DTypeLike = np.float32) -> UsmArray:
        """Memory for what is computed on the way, kept once pixels change: who changes them does so again."""
        array = self._arrays.get(name)
        if array is None:
            array = usm_empty(shape, dtype, queue)
            if self._store is not None and queue._stream.in_order:  # else a command may still read it
                self._arrays[name] = array
        return array

    def _pixels(self, image: Image) -> tuple[UsmArray, After]:
        """The pixels as float32 on the device, in the numbers of the array, without what is only stored."""
        queue, stored, described = image._queue, image._native.descriptor, image._described
        whole = self._array(queue, "stored", stored.shape, stored.dtype)
        copied = (image._native.copy_to_device(whole),)
        layers = whole[: described.array_size] if described.is_layered else whole
        if stored.dtype == np.float32 and stored.num_channels == described.num_channels:
            return layers, copied
        pixels = self._array(queue, "pixels", described.shape)
        return pixels, pack(queue, layers, pixels, copied)
