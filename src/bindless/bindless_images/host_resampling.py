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
from ..model.image_handles import ImageMemHandle
from ..sycl.usm import UsmArray
from .call_arguments import ArrayLike
from .context_tables import BorrowedMemory
from .handles import create_image, destroy_image_handle
from .image_mem import ImageMem, get_mip_level_mem_handle

if TYPE_CHECKING:
    from ..model.image_handles import SampledImageHandle
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
            f"resample: the host computes this picture (precision={picture.precision}), and an image over USM is not "
            "copied to it: copy it to image memory",
            backend=queue.backend,
        )
    memory_record = record.memory
    number, images = memory_record.number, queue.context._images
    if number not in images:  # an ImageMem that gave nobody its handle yet: the context has to know it from now on
        memory_record.levels.append(number)
        images[number] = BorrowedMemory(
            memory_record.descriptor, memory_record.device, "ImageMem", number, memory_record
        )
    raw, desc = ImageMemHandle(number), image.desc
    if desc.type is ImageType.mipmap:
        raw, desc = get_mip_level_mem_handle(raw, 0, queue), desc.get_mip_level_desc(0)
    pixels = np.empty(desc.shape, desc.dtype)
    queue.ext_oneapi_copy(raw, pixels, src_desc=desc, depends_on=depends_on).wait()
    vectors = None if coords is None else _on_host(queue, coords, picture)
    values = out if isinstance(out, np.ndarray) else np.empty(out.shape, out.dtype)
    with type(queue)("reference") as host:
        memory = ImageMem(desc, host)
        host.ext_oneapi_copy(pixels, memory).wait()
        handle: SampledImageHandle = create_image(memory, desc, host, sampler=record.sampler)
        resample(host, handle, picture, values, coords=vectors)
        destroy_image_handle(handle, host)
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
