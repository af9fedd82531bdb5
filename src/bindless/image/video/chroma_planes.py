"""``ChromaPlanes``, ``HostChromaPlanes``: two planes of colour differences as the pixels of one image, in memory that
is kept for the planes of each frame."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...model.arrays import Array, DType
from ...model.dlpack import dlpack_type
from ...sampling.packing import Layout, Packing
from ...sycl.copy.prepared_copy import is_copied_again
from ...sycl.queue.queue import Queue
from ...sycl.usm import UsmArray, usm_empty

__all__ = ["ChromaPlanes", "HostChromaPlanes"]


class ChromaPlanes:
    """Of planes on the device, by launches that come again and follow each other in the queue.

    Parameters
    ----------
    queue : Queue
        In order.
    shape : tuple[int, ...]
        Of a plane, (height, width).
    dtype : np.dtype
        uint8 or uint16.
    """

    def __init__(self, queue: Queue, shape: tuple[int, ...], dtype: DType) -> None:
        self._queue, self._dtype = queue, dtype
        both = usm_empty((2, *shape), dtype, queue)
        self._planes = both[0], both[1]
        self._pixels = usm_empty((*shape, 2), dtype, queue)
        self._layout = shape, *(dlpack_type(dtype) or ())
        self._copy = Packing.of(queue, Layout.packed((*shape, 1), dtype), dtype, 1)
        self._join = Packing.of(queue, Layout.of(both).transpose((1, 2, 0)), dtype, 2)

    def join(self, *planes: Any) -> UsmArray | None:
        """The pixels of both planes, the same array each time; None of planes that are not packed on the device."""
        copy, join = self._copy, self._join
        if copy is None or join is None:
            return None
        for plane in planes:
            if not self._fits(plane):
                return None
        for plane, target in zip(planes, self._planes):
            copy.submit(plane, target)
        return join.submit(self._planes[0], self._pixels)

    def _fits(self, plane: Any) -> bool:
        if type(plane) is UsmArray:
            return plane._contiguous and plane.shape == self._layout[0] and plane.dtype == self._dtype
        return is_copied_again(plane) and self._queue._stream.layout_of_foreign(plane) == self._layout


class HostChromaPlanes:
    """Of planes of numpy.

    Parameters
    ----------
    shape : tuple[int, ...]
        Of a plane, (height, width).
    dtype : np.dtype
        uint8 or uint16.
    """

    def __init__(self, shape: tuple[int, ...], dtype: DType) -> None:
        self._pixels = np.empty((*shape, 2), dtype)

    def join(self, *planes: Any) -> Array | None:
        """The pixels of both planes, the same array each time; None of other planes."""
        pixels = self._pixels
        for plane in planes:
            if type(plane) is not np.ndarray or plane.shape != pixels.shape[:2] or plane.dtype != pixels.dtype:
                return None
        for channel, plane in enumerate(planes):
            pixels[..., channel] = plane
        return pixels
