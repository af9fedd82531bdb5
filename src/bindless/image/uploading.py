"""``Uploads``: pixels of an ``Image`` on their way into its memory, at its construction and at each ``update``.

Channels that the device's formats need are added on the device. Pixels that are there already are copied there, in the
order of the queue. For large pixels of the host, an update alternates between two buffers on the device: while one is
read, the other is filled by a queue of its own, and what the image's queue brings back to the host meanwhile goes on.
Events order the two queues where the pixels are pinned; pageable pixels are waited for.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache
from typing import Literal

import numpy as np

from ..bindless_images import ImageMem
from ..bindless_images.device_limits import limit
from ..bindless_images.scratch_memory import Block, array_in, give_back, leave, room, take
from ..model.arrays import Array
from ..model.aspects import Aspect
from ..model.dlpack import dlpack_type, dtype_of_dlpack
from ..model.enums import ImageType, UsmKind
from ..model.image_descriptor import ImageDescriptor
from ..sampling.packing import After, Layout, Packing, pack
from ..submission.event import Event
from ..submission.host_access import HostAccess
from ..sycl.copy.image_copy import image_copy
from ..sycl.copy.prepared_copy import is_copied_again
from ..sycl.device.handle_owner import HeldHandle
from ..sycl.queue.queue import Queue
from ..sycl.usm import UsmArray
from .array_library import AnyArray
from .channel_copy import copy_channels
from .downloads import before_upload
from .mipmap import LevelLaunches, fill_levels
from .options import ImageOptions
from .pinned_uploads import free_array, pinned_arrays
from .plan import ImagePlan, planned, taken_dtype

__all__ = ["Uploads"]

Level = Callable[[int], HeldHandle]

# Bytes of an image whose pixels are copied rather than waited for: about as long takes the way to a device and back.
_SMALL = 1 << 16
# What C code does with pixels of the host: see ``Commands.upload``.
_LEAVE, _AWAIT, _DUPLICATE = 0, 1, 2
_MOST_ALIGNMENT = 16  # of a pixel
# Bytes of pixels from which the device adds channels: a launch takes as long as this many on the processor.
_LARGE = 1 << 18


def plan_of_copy(array: object, options: ImageOptions, queue: Queue) -> ImagePlan | None:
    """The plan of an image of another library's array on the queue's device, whose pixels its memory takes as they are;
    None for any other array."""
    layout = queue._stream.layout_of_foreign(array)
    if layout is None:
        return None
    shape, code, bits = layout
    dtype = dtype_of_dlpack(code, bits, 1)
    if dtype is None or taken_dtype(dtype) != dtype:
        return None
    plan = planned(queue.device, shape, dtype, options)
    described, stored = plan.described, plan.stored
    most = limit(queue.device, "image_max_array_size") if options.layers else None
    if stored.type is ImageType.mipmap or stored.dtype != dtype or stored.shape != described.shape:
        return None
    return None if most and most < described.array_size else plan


class Uploads:
    """The way of pixels into one image.

    Parameters
    ----------
    memory : ImageMem
        Of the image.
    descriptor : ImageDescriptor
        The memory's.
    queue : Queue
        Of the image.

    Attributes
    ----------
    ready : After
        What reads of the image come after, where the queue does not order them.
    """

    def __init__(self, memory: ImageMem, descriptor: ImageDescriptor, queue: Queue) -> None:
        self._whole = memory
        self._mipmap = descriptor if descriptor.type is ImageType.mipmap else None
        self._launches: LevelLaunches | None = None  # of a mipmap, whose first level is copied before
        if self._mipmap is not None and queue._backend.area_means is None:
            memory, descriptor = memory._of_level(0), _first_level(descriptor)
        self._memory, self._descriptor, self._queue = memory, descriptor, queue
        self._in_order = queue._stream.in_order
        self._turns: _Turns | None = None
        self._packed: UsmArray | None = None  # of updates; they follow each other in the queue
        self._block: Block | None = None  # its memory
        # The arguments of ``Commands.upload`` for the next update, after the array.
        self._row: tuple[ImageMem, tuple[int, ...], int, int, int, bool, list[Array] | None] | None = None
        # What an array on the device has, and the launch that adds channels to it.
        self._packing: tuple[tuple[tuple[int, ...], int, int], Packing] | None = None
        self._channels: tuple[int, ...] = ()  # the shape of small pixels of the host without the added channels
        self.ready: After = ()

    def close(self) -> None:
        """Lets go of the buffers."""
        self._leave()
        self._row = self._packing = self._launches = None
        self._channels = ()
        self._memory = self._whole  # the first level of a mipmap keeps the memory of all

    def _leave(self) -> None:
        """Leaves the buffers to the queue's next images."""
        turns, block, self._turns, self._block, self._packed = self._turns, self._block, None, None, None
        if block is not None:
            leave(self._queue, block)
        if turns is not None and turns.readers:
            leave(self._queue, turns.block)

    def copy(self, array: object) -> None:
        """The first pixels, of another library's packed array on the device that has them as they are stored."""
        event = self._queue.ext_oneapi_copy(array, self._memory)
        self.ready = () if self._in_order else (event,)

    def repeat(self, array: object) -> Event | Literal[True] | None:
        """An update that is prepared, in C alone: its event, or True where pixels of the host have been read.

        None where ``fill`` is to be called.
        """
        row, packing, queue = self._row, self._packing, self._queue
        if row is not None:
            event: Event | Literal[True] | None = queue._stream.upload(array, *row)
            if event is not None:
                if self._launches is None:
                    return event
                on_host, event = event is True, None  # drivers record the events of which a reference exists
                levels = self._launches.run()
                return True if on_host else levels
        if type(array) is np.ndarray:
            return self._repeat_on_host(array)
        if packing is None:
            return None
        (shape, *element), (_, space, kernel, before, behind) = packing
        if type(array) is UsmArray:
            if not array._contiguous or array.shape != shape or array.dtype != self._descriptor.dtype:
                return None
            if _takes_bus(array, self._descriptor, queue):
                return self._repeat_from_pinned(array)
        elif queue._stream.layout_of_foreign(array) != (shape, *element):
            return None
        queue.parallel_for(space, kernel, array, *before, self._packed, *behind)
        if self._launches is None:
            return queue.ext_oneapi_copy(self._packed, self._memory)
        queue.ext_oneapi_copy(self._packed, self._memory)
        return self._launches.run()

    def _repeat_on_host(self, array: Array) -> Literal[True] | None:
        """``repeat`` of pixels of the host that another array takes first: one on the device, or with all channels."""
        turns, desc, queue = self._turns, self._descriptor, self._queue
        shape = self._channels if turns is None else turns.shape
        if array.shape != shape or array.dtype != desc.dtype or not array.flags.c_contiguous:
            return None
        if turns is None:
            own = np.zeros(desc.shape, desc.dtype)
            copy_channels(own, array)
            source: AnyArray | None = own
        else:
            source, _ = turns.upload(array)
            if self._packing is not None:
                _, space, kernel, before, behind = self._packing[1]
                queue.parallel_for(space, kernel, source, *before, self._packed, *behind)
                source = self._packed
        event: Event | None = queue.ext_oneapi_copy(source, self._memory)
        if self._launches is not None:
            event = None  # drivers record the events of which a reference exists
            event = self._launches.run()
        if turns is not None and event is not None:
            turns.readers = (event,)
        return True

    def _repeat_from_pinned(self, array: UsmArray) -> Event:
        """``repeat`` of pixels in pinned memory, to which the device adds channels."""
        assert self._packing is not None and self._packed is not None
        turns, (_, space, kernel, before, behind) = self._own_turns(array.shape), self._packing[1]
        source, copied = turns.upload(array, before_upload(self._queue, array))
        self._queue.parallel_for(space, kernel, source, *before, self._packed, *behind, depends_on=copied)
        event = self._with_levels(self._queue.ext_oneapi_copy(self._packed, self._memory))
        turns.readers = (event,)
        return event

    def _with_levels(self, event: Event) -> Event:
        """The event of the last level of a mipmap, once the first one is copied; of other images the copy's."""
        return event if self._launches is None else self._launches.run(event)

    def _prepare(self, pixels: AnyArray, shape: tuple[int, ...]) -> None:
        """Lets ``repeat`` copy arrays of a shape and of the dtype of the pixels, which are those of the image."""
        element = dlpack_type(self._descriptor.dtype)
        if element is None:
            return
        discrete = not self._queue.device.has(Aspect.usm_system_allocations)
        host, pinned = _AWAIT, None
        if self._descriptor.nbytes <= _SMALL:
            host, pinned = _DUPLICATE, pinned_arrays(self._queue, self._descriptor)
            if pinned is None and self._queue._backend.traits.copies_pinned_quicker:
                host = _LEAVE  # Python counts the copies, and makes the arrays
        elif discrete and pixels.nbytes >= _LARGE:
            host = _LEAVE
        levels = self._descriptor.type is ImageType.mipmap
        self._row = self._memory, shape, *element, host, levels, pinned

    def _prepare_packing(self, pixels: AnyArray) -> None:
        """Lets ``repeat`` add channels to arrays on the device like these."""
        desc, target, element = self._descriptor, self._packed, dlpack_type(self._descriptor.dtype)
        if element is None or target is None or desc.type is ImageType.mipmap or pixels.dtype != desc.dtype:
            return
        if self._packing is None and self._adds_channels(pixels.shape) and target.address % _MOST_ALIGNMENT == 0:
            layout = Layout.packed(pixels.shape, desc.dtype)
            packing = Packing.of(self._queue, layout, desc.dtype, desc.num_channels)
            self._packing = None if packing is None else ((pixels.shape, *element), packing)

    def fill(
        self, pixels: AnyArray, level: Level, *, again: bool, source: tuple[object, tuple[int, ...]] | None = None
    ) -> Event | None:
        """Brings pixels into the image, all levels of it.

        Parameters
        ----------
        pixels : AnyArray
            Shape of the image as described, channels and layers that are only stored left out.
        level : Level
            Gives the handle of a level. (The store's method, which is not kept: a cycle would keep the memory.)
        again : bool
            Whether the image has pixels already, which earlier commands may read.
        source : tuple[object, tuple[int, ...]], optional
            The caller's array, and its shape, which may lack the axis of channels. Another library's array on the
            device is copied by itself, so that ``repeat`` knows the next one.

        Returns
        -------
        Event | None
            Of pixels on the device, which are read until then; None where pixels of the host have been read.
        """
        queue, desc = self._queue, self._descriptor
        if self._mipmap is not None and self._launches is None and desc.type is not ImageType.mipmap:
            self._launches = LevelLaunches(self._mipmap, queue, level)
        before: After = ()
        if again and not self._in_order:
            before = (queue.ext_oneapi_submit_barrier(),)
        array, shape = source or (None, pixels.shape)
        is_whole = source is not None and _is_stored(pixels, desc)
        if is_whole and again and self._in_order and (self._row is None or self._row[-1] is None):
            self._prepare(pixels, shape)
        if isinstance(pixels, UsmArray):
            if is_whole and again and type(array) is UsmArray and desc.type is ImageType.mipmap:
                event = self._store(array, before)
            elif is_whole and again and is_copied_again(array):
                event = self._with_levels(queue.ext_oneapi_copy(array, self._memory, depends_on=before))
            elif again and self._adds_channels(pixels.shape) and _takes_bus(pixels, desc, queue):
                turns = self._own_turns(pixels.shape)
                there, before = turns.upload(pixels, before or before_upload(queue, pixels))
                event = self._store(*self._padded_on_device(there, before))
                turns.readers = (event,)
                if self._in_order:
                    self._prepare_packing(pixels)
            else:
                event = self._store(*self._padded_on_device(pixels, before), once=not again)
                if not again:
                    self._leave()
                elif self._in_order:
                    self._prepare_packing(pixels)
            self.ready = () if self._in_order else (event,)
            return event
        if desc.nbytes <= _SMALL and self._in_order and desc.type is not ImageType.mipmap:
            # Of an own array, and before all that comes later.
            own = free_array(queue, desc) if pixels.shape == desc.shape else None
            if own is None:
                own = _padded(pixels, desc, own=True)
            else:
                access = HostAccess()
                with access.lock:
                    access.require_memory()
                    own[...] = pixels
            self._with_levels(queue.ext_oneapi_copy(own.reshape(shape) if is_whole else own, self._memory))
            self._channels = pixels.shape if again and self._adds_channels(pixels.shape) else ()
            return None
        discrete = not queue.device.has(Aspect.usm_system_allocations)
        if discrete and again and pixels.nbytes >= _LARGE:
            turns = self._take_turns(pixels, before)
            if self._in_order and desc.type is not ImageType.mipmap:
                self._prepare_packing(pixels)
                is_known = is_whole or (self._packing is not None and self._adds_channels(pixels.shape))
                turns.shape = shape if is_known else ()
        elif discrete and pixels.nbytes >= _LARGE and self._adds_channels(pixels.shape):
            self._through_device(pixels, before)
        else:
            self._store(pixels.reshape(shape) if is_whole else _padded(pixels, desc), before).wait()
            if again and self._in_order and desc.type is not ImageType.mipmap and self._adds_channels(pixels.shape):
                self._channels = pixels.shape
        return None

    def _adds_channels(self, shape: tuple[int, ...]) -> bool:
        """Whether channels are all that the stored image has more."""
        return shape[:-1] == self._descriptor.shape[:-1] and shape[-1] != self._descriptor.shape[-1]

    def _store(self, pixels: AnyArray, after: After, *, once: bool = False) -> Event:
        """Copies pixels of the stored shape, contiguous, into the image."""
        means = self._queue._backend.area_means
        if means is not None and self._descriptor.type is ImageType.mipmap:
            return fill_levels(self._memory, means, pixels, self._queue, after, again=not once)
        if once and isinstance(pixels, UsmArray):  # a prepared copy would not come again
            copy, keep = image_copy(self._queue, pixels, self._memory)
            return self._with_levels(self._queue._stream.submit(copy, after, keep))
        return self._with_levels(self._queue.ext_oneapi_copy(pixels, self._memory, depends_on=after))

    # ------------------------------------------------------------------ pixels on the device

    def _padded_on_device(self, pixels: UsmArray, after: After) -> tuple[UsmArray, After]:
        """The pixels as the image's memory wants them, in place where they are; else in memory that is kept."""
        queue, desc = self._queue, self._descriptor
        if _is_stored(pixels, desc):
            return pixels, after
        target = self._packed
        if target is None:
            block = self._block = take(queue, desc.nbytes)
            target = self._packed = array_in(queue, block, 0, desc.shape, desc.dtype)
        return target, self._pack(pixels, target, after)

    def _pack(self, pixels: UsmArray, target: UsmArray, after: After) -> After:
        if pixels.shape[:-1] == target.shape[:-1]:
            return pack(self._queue, pixels, target, after)
        whole, layers = target.shape[0], pixels.shape[0]  # only the number of layers differs
        empty = self._queue.memset(target.pointer, 0, target.nbytes, depends_on=after)
        return pack(self._queue, pixels, target[: min(layers, whole)], (empty,))

    # ------------------------------------------------------------------ pixels of the host

    def _through_device(self, pixels: Array, after: After) -> None:
        """Adds channels on the device, in memory that other images use again; waits."""
        queue, desc = self._queue, self._descriptor
        pixels = np.ascontiguousarray(pixels, desc.dtype)
        second = room(pixels.nbytes)
        block = take(queue, second + desc.nbytes)
        source = array_in(queue, block, 0, pixels.shape, desc.dtype)
        target = array_in(queue, block, second, desc.shape, desc.dtype)
        uploaded = queue.memcpy(source, pixels, depends_on=after)
        self._store(target, self._pack(source, target, (uploaded,)), once=True).wait()
        give_back(queue, block)

    def _take_turns(self, pixels: Array, after: After) -> _Turns:
        """Waits until the pixels have been read, but not for the image's queue."""
        turns = self._own_turns(pixels.shape)
        pixels = np.ascontiguousarray(pixels, self._descriptor.dtype)
        source, _ = turns.upload(pixels)
        event = self._store(*self._padded_on_device(source, after))
        turns.readers = (event,)
        self.ready = () if self._in_order else (event,)
        return turns

    def _own_turns(self, shape: tuple[int, ...]) -> _Turns:
        """The buffers for pixels of a shape, which all updates have."""
        turns, queue, dtype = self._turns, self._queue, self._descriptor.dtype
        if turns is None:
            second = room(math.prod(shape) * dtype.itemsize)
            block = take(queue, 2 * second)
            buffers = [array_in(queue, block, start, shape, dtype) for start in (0, second)]
            turns = self._turns = _Turns(queue, block, buffers)
        return turns


class _Turns:
    """Two buffers on the device, which are filled in turns by a queue of their own.

    Parameters
    ----------
    queue : Queue
        Of the image.
    block : Block
        Their memory, which earlier commands of the queue may use.
    buffers : list[UsmArray]
        The two.

    Attributes
    ----------
    shape : tuple[int, ...]
        Of the arrays that ``Uploads.repeat`` takes; empty for none.
    readers : After
        What reads the buffer that was filled last; empty until it is submitted.
    block : Block
        As given.
    """

    def __init__(self, queue: Queue, block: Block, buffers: list[UsmArray]) -> None:
        before: After = () if block.user is None else (queue.ext_oneapi_submit_barrier(),)
        self.shape: tuple[int, ...] = ()
        self.readers: After = before
        self.block = block
        self._queue = Queue(queue.device, queue.context, in_order=True)
        self._buffers = buffers
        self._read: list[After] = [before, before]  # by what the buffers are read last
        self._turn = 1

    def upload(self, pixels: AnyArray, after: After = ()) -> tuple[UsmArray, After]:
        """The pixels on the device, and what their use comes after.

        Pixels of numpy have been read when this returns. Pinned ones are read after ``after``, which comes after all
        that reads the buffers.
        """
        self._read[self._turn], self.readers = self.readers, ()
        self._turn ^= 1
        buffer = self._buffers[self._turn]
        if isinstance(pixels, UsmArray):
            return buffer, (self._queue.memcpy(buffer, pixels, depends_on=after),)
        for event in self._read[self._turn]:  # the copy is waited for anyway, and C code submits it without events
            event.wait()
        copy = self._queue._stream.copy_bytes(pixels, buffer, None, ()) or self._queue.memcpy(buffer, pixels)
        copy.wait()
        return buffer, ()


@lru_cache(256)
def _first_level(desc: ImageDescriptor) -> ImageDescriptor:
    """The descriptor of a mipmap's first level: one object for equal ones, by which uploads of a kind are counted."""
    return desc.get_mip_level_desc(0)


def _takes_bus(pixels: UsmArray, desc: ImageDescriptor, queue: Queue) -> bool:
    """Whether a kernel would read many pixels of the host over the bus, where copies are quicker."""
    return (
        pixels._owner.kind is UsmKind.host
        and pixels.nbytes >= _LARGE
        and pixels.dtype == desc.dtype
        and pixels.is_contiguous
        and not queue.device.has(Aspect.usm_system_allocations)
    )


def _is_stored(pixels: AnyArray, desc: ImageDescriptor) -> bool:
    """Whether an array has the stored pixels, packed."""
    if pixels.shape != desc.shape or pixels.dtype != desc.dtype:
        return False
    return pixels.is_contiguous if isinstance(pixels, UsmArray) else bool(pixels.flags.c_contiguous)


def _padded(pixels: Array, desc: ImageDescriptor, own: bool = False) -> Array:
    """The array as the device's memory wants it: native byte order, packed, with the added channel and layer zero.

    ``own``: not the caller's array.
    """
    shape = desc.shape
    if pixels.shape == shape:
        return pixels.astype(desc.dtype, "C") if own else np.ascontiguousarray(pixels, desc.dtype)
    padded = np.zeros(shape, desc.dtype)
    if pixels.shape[-1] != shape[-1]:
        copy_channels(padded[tuple(slice(n) for n in pixels.shape[:-1])], pixels)
    else:  # only the number of layers differs
        padded[: len(pixels)] = pixels
    return padded
