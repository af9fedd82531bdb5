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
from .host_copy import image_on_host

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
    vectors = None if coords is None else _on_host(queue, coords, picture)
    values = out if isinstance(out, np.ndarray) else np.empty(out.shape, out.dtype)
    with image_on_host(queue, record, desc, depends_on=depends_on) as (host, handle):
        resample(host, handle, picture, values, coords=vectors)
    return queue.memcpy(out, values) if isinstance(out, UsmArray) else None


def _on_host(queue: Queue, coords: ArrayLike, picture: Resampling) -> np.ndarray[Any, Any]:
    """The vectors in host memory, at the same strides; the array begins with the first one."""
    if isinstance(coords, np.ndarray):
        return coords
    counts = math.prod(picture.shape), picture.descriptor.dimensions
    ends = [stride * (count - 1) for stride, count in zip(picture.coords_strides, counts)]
    first, last = sum(min(end, 0) for end in ends), sum(max(end, 0) for end in ends)
    elements = np.empty(last - first + 1, coords.dtype)
    queue.memcpy(elements, coords.pointer + first * coords.dtype.itemsize, elements.nbytes).wait()
    return elements[-first:]
