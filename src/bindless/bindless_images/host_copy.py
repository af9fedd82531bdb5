"""Calls that the processor computes for other devices: copies of their arrays and images, on the reference device."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from ..model.arrays import Array
from ..model.enums import ImageType
from ..model.image_handles import ImageMemHandle
from ..submission.event import Event
from ..sycl.usm import UsmArray
from .context_tables import BorrowedMemory
from .handles import create_image, destroy_image_handle
from .image_mem import ImageMem, get_mip_level_mem_handle

if TYPE_CHECKING:
    from ..model.image_descriptor import ImageDescriptor
    from ..model.image_handles import SampledImageHandle
    from ..sycl.queue.queue import Queue
    from .context_tables import HandleRecord

__all__ = ["ImageCopy", "compute_on_host"]


class ImageCopy:
    """A copy of an image on the host, which commands of the image's queue make.

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

    Attributes
    ----------
    events : list[Event]
        Of these commands.
    """

    def __init__(
        self, queue: Queue, record: HandleRecord, desc: ImageDescriptor, depends_on: Event | Iterable[Event] = ()
    ) -> None:
        assert record.sampler is not None
        self._class, self._desc, self._sampler = type(queue), desc, record.sampler
        self._levels: list[Array] = []
        self.events: list[Event] = []
        raw = _memory_of(queue, record)
        for level in range(desc.num_levels):
            part = self._part(level)
            source = get_mip_level_mem_handle(raw, level, queue) if record.descriptor.type is ImageType.mipmap else raw
            pixels = np.empty(part.shape, part.dtype)
            self.events.append(queue.ext_oneapi_copy(source, pixels, src_desc=part, depends_on=depends_on))
            self._levels.append(pixels)

    def _part(self, level: int) -> ImageDescriptor:
        return self._desc.get_mip_level_desc(level) if self._desc.type is ImageType.mipmap else self._desc

    @contextmanager
    def image(self, **options: Any) -> Iterator[tuple[Queue, SampledImageHandle]]:
        """A queue of the reference device, and a handle like the given one over the copy; its events are complete.

        Parameters
        ----------
        **options : Any
            Of ``create_image``.
        """
        with self._class("reference") as host:
            memory = ImageMem(self._desc, host)
            for level, pixels in enumerate(self._levels):
                mipmap = self._desc.type is ImageType.mipmap
                target = memory.get_mip_level_mem_handle(level) if mipmap else memory.get_handle()
                host.ext_oneapi_copy(pixels, target, dst_desc=self._part(level)).wait()
            handle: SampledImageHandle = create_image(memory, self._desc, host, sampler=self._sampler, **options)
            try:
                yield host, handle
            finally:
                destroy_image_handle(handle, host)


def compute_on_host(
    queue: Queue,
    compute: Callable[[Array], object],
    out: Array | UsmArray,
    before: Iterable[Event],
) -> Event | None:
    """Values that a function of the host computes: with ``out`` in USM another thread calls it, and nobody waits here.

    Parameters
    ----------
    queue : Queue
        Copies the values to USM.
    compute : Callable
        Writes the values into an array of the host.
    out : ndarray | UsmArray
        For the values. On the host: waits, returns None.
    before : Iterable[Event]
        What the function comes after.

    Returns
    -------
    Event | None
        Complete when the values are in USM.
    """
    events = tuple(before)
    if isinstance(out, np.ndarray):
        for event in events:
            event.wait()
        compute(out)
        return None
    values = np.empty(out.shape, out.dtype)
    computed = queue._stream.run_on_host(lambda: compute(values), events)
    return queue.memcpy(out, values, depends_on=computed)


def _memory_of(queue: Queue, record: HandleRecord) -> ImageMemHandle:
    memory: Any = record.memory
    number, images = memory.number, queue.context._images
    if number not in images:  # an ImageMem that gave nobody its handle yet: the context has to know it from now on
        memory.levels.append(number)
        images[number] = BorrowedMemory(memory.descriptor, memory.device, "ImageMem", number, memory)
    return ImageMemHandle(number)
