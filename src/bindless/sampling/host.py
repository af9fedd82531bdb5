"""``HostPlan``: pictures that the processor computes of a copy of the image, on the reference device.

They have the recorded arithmetic of texture units, and serve devices without the double precision in which positions
are computed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from ..bindless_images.call_form import ArrayLike
from ..bindless_images.host_copy import ImageCopy, compute_on_host
from ..model.arrays import Array
from ..model.enums import ImageType
from ..model.errors import FeatureNotSupportedError
from ..sycl.usm import UsmArray
from .plan import Plan

if TYPE_CHECKING:
    from ..model.filter import CoordinateMap
    from ..model.image_handles import SampledImageHandle
    from ..model.resampling import Resampling
    from ..submission.event import Event
    from ..sycl.queue.queue import Queue

__all__ = ["HostPlan"]


class HostPlan(Plan):
    """See ``Plan``.

    Parameters
    ----------
    resample : Callable
        The function of this name of ``prepare``, for the reference device.

    Raises
    ------
    FeatureNotSupportedError
        The image lies over USM.
    """

    def __init__(
        self, queue: Queue, handle: SampledImageHandle, picture: Resampling, resample: Callable[..., object]
    ) -> None:
        super().__init__(queue, handle, picture)
        self._resample = resample
        if self.image.usm and not self._is_empty:
            raise FeatureNotSupportedError(
                f"resample: the host computes this picture (precision={picture.filter.precision}), and an image over "
                "USM is not copied to it: copy it to image memory",
                backend=queue.backend,
            )

    def _submit(
        self,
        map_: CoordinateMap,
        out: ArrayLike,
        coords: ArrayLike | None,
        depends_on: Event | Iterable[Event],
        offset: int = 0,
    ) -> Event | None:
        desc, picture = self.image.desc, replace(self._picture, map=map_)
        assert self._record is not None
        copy = ImageCopy(
            self._queue,
            self._record,
            desc.get_mip_level_desc(0) if desc.type is ImageType.mipmap else desc,
            depends_on,
        )
        vectors, before = coords, copy.events
        if isinstance(coords, UsmArray):
            vectors, copied = self._on_host(coords, depends_on)
            before.append(copied)

        def compute(values: Array) -> None:
            with copy.image() as (host, handle):
                self._resample(host, handle, picture, values, coords=vectors)

        return compute_on_host(self._queue, compute, self._part(out, offset), before)

    def _on_host(self, coords: UsmArray, depends_on: Event | Iterable[Event]) -> tuple[Array, Event]:
        """Host memory for the vectors, at the same strides, and the copy; the array begins with the first vector."""
        picture = self._picture
        if picture.fields:
            fields = np.empty(coords.shape, coords.dtype)
            return fields, self._queue.memcpy(fields, coords, depends_on=depends_on)
        counts = math.prod(picture.shape), picture.descriptor.dimensions
        ends = [stride * (count - 1) for stride, count in zip(picture.coords_strides, counts)]
        first, last = sum(min(end, 0) for end in ends), sum(max(end, 0) for end in ends)
        elements = np.empty(last - first + 1, coords.dtype)
        start = coords.pointer + first * coords.dtype.itemsize
        return elements[-first:], self._queue.memcpy(elements, start, elements.nbytes, depends_on=depends_on)
