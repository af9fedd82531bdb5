"""Copies of images on the reference device, for calls that the processor computes for other devices."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from ..model.enums import ImageType
from ..model.image_handles import ImageMemHandle
from ..submission.event import Event
from .context_tables import BorrowedMemory
from .handles import create_image, destroy_image_handle
from .image_mem import ImageMem, get_mip_level_mem_handle

if TYPE_CHECKING:
    from ..model.image_descriptor import ImageDescriptor
    from ..model.image_handles import SampledImageHandle
    from ..sycl.queue.queue import Queue
    from .context_tables import HandleRecord

__all__ = ["image_on_host"]


@contextmanager
def image_on_host(
    queue: Queue,
    record: HandleRecord,
    desc: ImageDescriptor,
    *,
    depends_on: Event | Iterable[Event] = (),
    **options: Any,
) -> Iterator[tuple[Queue, SampledImageHandle]]:
    """A queue of the reference device, and a handle like the given one over a copy of the image.

    Parameters
    ----------
    queue : Queue
        Of the image.
    record : HandleRecord
        Of a sampled handle over image memory.
    desc : ImageDescriptor
        The image, or its level 0 alone.
    depends_on : Event | Iterable[Event], default ()
        Events that the copy waits for.
    **options : Any
        Of ``create_image``.
    """
    with type(queue)("reference") as host:
        memory = ImageMem(desc, host)
        raw = _memory_of(queue, record)
        for level in range(desc.num_levels):
            mipmap = desc.type is ImageType.mipmap
            part = desc.get_mip_level_desc(level) if mipmap else desc
            source = get_mip_level_mem_handle(raw, level, queue) if record.descriptor.type is ImageType.mipmap else raw
            pixels = np.empty(part.shape, part.dtype)
            queue.ext_oneapi_copy(source, pixels, src_desc=part, depends_on=depends_on).wait()
            target = memory.get_mip_level_mem_handle(level) if mipmap else memory.get_handle()
            host.ext_oneapi_copy(pixels, target, dst_desc=part).wait()
        assert record.sampler is not None
        handle: SampledImageHandle = create_image(memory, desc, host, sampler=record.sampler, **options)
        try:
            yield host, handle
        finally:
            destroy_image_handle(handle, host)


def _memory_of(queue: Queue, record: HandleRecord) -> ImageMemHandle:
    memory: Any = record.memory
    number, images = memory.number, queue.context._images
    if number not in images:  # an ImageMem that gave nobody its handle yet: the context has to know it from now on
        memory.levels.append(number)
        images[number] = BorrowedMemory(memory.descriptor, memory.device, "ImageMem", number, memory)
    return ImageMemHandle(number)
