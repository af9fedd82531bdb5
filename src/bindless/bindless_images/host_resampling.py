"""Resampling by the processor: the recorded arithmetic of texture units, and pictures for devices without the double
precision in which positions are computed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from ..model.enums import ImageType
from ..model.errors import FeatureNotSupportedError
from ..sycl.usm import UsmArray
from .call_arguments import ArrayLike
from .host_copy import ImageCopy, compute_on_host

if TYPE_CHECKING:
    from ..model.resampling import Resampling
    from ..submission.event import Event
    from ..sycl.queue.queue import Queue
    from .call_arguments import Image

__all__ = ["resample_on_host"]


def resample_on_host(
    queue: Queue,
    image: Image,
    picture: Resampling,
    out: ArrayLike,
    coords: ArrayLike | None,
    depends_on: Event | Iterable[Event],
    resample: Callable[..., object],
) -> Event | None:
    """A picture of a copy of the image, on the reference device; see ``resample``, which is the last argument.

    Raises
    ------
    FeatureNotSupportedError
        The image lies over USM.
    """
    record = queue.context._handles[image.key]
    if image.usm:
        raise FeatureNotSupportedError(
            f"resample: the host computes this picture (precision={picture.filter.precision}), and an image over "
            "USM is not copied to it: copy it to image memory",
            backend=queue.backend,
        )
    desc = image.desc.get_mip_level_desc(0) if image.desc.type is ImageType.mipmap else image.desc
    copy = ImageCopy(queue, record, desc, depends_on)
    vectors, before = coords, copy.events
    if isinstance(coords, UsmArray):
        vectors, copied = _on_host(queue, coords, picture, depends_on)
        before.append(copied)

    def compute(values: np.ndarray[Any, Any]) -> None:
        with copy.image() as (host, handle):
            resample(host, handle, picture, values, coords=vectors)

    return compute_on_host(queue, compute, out, before)


def _on_host(
    queue: Queue, coords: UsmArray, picture: Resampling, depends_on: Event | Iterable[Event]
) -> tuple[np.ndarray[Any, Any], Event]:
    """Host memory for the vectors, at the same strides, and the copy; the array begins with the first vector."""
    counts = math.prod(picture.shape), picture.descriptor.dimensions
    ends = [stride * (count - 1) for stride, count in zip(picture.coords_strides, counts)]
    first, last = sum(min(end, 0) for end in ends), sum(max(end, 0) for end in ends)
    elements = np.empty(last - first + 1, coords.dtype)
    start = coords.pointer + first * coords.dtype.itemsize
    return elements[-first:], queue.memcpy(elements, start, elements.nbytes, depends_on=depends_on)
