"""Run-time checks of ``bindless doctor --prove``: memory, copies, events, queues, refusals."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from ..bindless_images import ImageMem, pitched_alloc_device
from ..model.aspects import Aspect
from ..model.errors import InvalidError
from ..model.image_descriptor import ImageDescriptor
from ..sycl.queue.queue import Queue
from ..sycl.usm import free, usm_empty

__all__ = ["runtime_checks"]

Check = Callable[[Queue], str]
"""Raises ``AssertionError`` with what was wrong, or gives figures."""

_NEEDS = {"host": Aspect.usm_host_allocations, "shared": Aspect.usm_shared_allocations}


def _require(condition: bool, words: str) -> None:
    if not condition:
        raise AssertionError(words)


def _memory(kind: str) -> Check:
    def check(queue: Queue) -> str:
        data = np.random.default_rng(3).integers(0, 2**32, 100_003, np.uint32)
        with usm_empty(data.shape, np.uint32, queue, kind=kind) as array:
            queue.memcpy(array, data).wait()
            out = np.zeros_like(data)
            queue.memcpy(out, array).wait()
            _require(bool((out == data).all()), f"{int((out != data).sum())} of {data.size} words came back wrong")
            queue.fill(array[1:-1], np.uint32(0x01020304)).wait()
            queue.memcpy(out, array).wait()
            expected = np.concatenate([data[:1], np.full(data.size - 2, 0x01020304, np.uint32), data[-1:]])
            _require(bool((out == expected).all()), "a fill wrote wrong words, or beyond its range")
        return f"{data.nbytes} bytes up, filled and down"

    return check


def _image_copies(queue: Queue) -> str:
    count = 0
    for shape in ((37,), (11, 37), (5, 11, 37)):
        pixels = np.random.default_rng(4).random((*shape, 4), np.float32)
        width, height, depth = (*reversed(shape), 0, 0)[:3]
        desc = ImageDescriptor(width, height, depth, num_channels=4, channel_type="fp32")
        with ImageMem(desc, queue) as memory, ImageMem(desc, queue) as other:
            queue.ext_oneapi_copy(pixels, memory).wait()
            queue.ext_oneapi_copy(memory, other).wait()
            out = np.zeros_like(pixels)
            queue.ext_oneapi_copy(other, out).wait()
            _require(bool((out == pixels).all()), f"an image of {shape} pixels came back wrong")
            count += 3
    return f"{count} copies of images"


def _pitched(queue: Queue) -> str:
    pixels = np.random.default_rng(5).integers(0, 256, (9, 33, 4), np.uint8)
    desc = ImageDescriptor(33, 9, num_channels=4, channel_type="unorm_int8")
    pointer, pitch = pitched_alloc_device(desc, queue)
    try:
        queue.ext_oneapi_copy(pixels, pointer, dst_desc=desc, dst_pitch=pitch).wait()
        rows = np.zeros((9, pitch), np.uint8)
        queue.memcpy(rows, pointer, rows.nbytes).wait()
    finally:
        free(pointer, queue)
    _require(bool((rows[:, : 33 * 4].reshape(9, 33, 4) == pixels).all()), "rows do not lie where the pitch says")
    return f"rows of {33 * 4} bytes at a pitch of {pitch}"


def _events(queue: Queue) -> str:
    device, context = queue.device, queue.context
    with Queue(device, context) as first, Queue(device, context, in_order=True) as second:
        array, out = usm_empty(50_000, np.int32, queue), np.zeros(50_000, np.int32)
        event = first.fill(array, np.int32(0))
        for round_ in range(1, 51):
            target = second if round_ % 2 else first
            event = target.fill(array, np.int32(round_), depends_on=event)
        second.memcpy(out, array, depends_on=event).wait()
        _require(bool((out == 50).all()), "commands of two queues did not run in the order of their events")
    return "50 commands in the order of their events"


def _profiling(queue: Queue) -> str:
    with Queue(queue.device, queue.context, in_order=True, enable_profiling=True) as timed:
        array = usm_empty(4_000_000, np.uint8, timed)
        event = timed.fill(array, np.uint8(1))
        event.wait()
        names = ("command_submit", "command_start", "command_end")
        submit, start, end = (int(event.get_profiling_info(name)) for name in names)
        _require(submit <= start <= end, f"submitted at {submit}, started at {start}, ended at {end}")
    return f"4 MB filled in {end - start} ns, {start - submit} ns after submission"


def _refusals(queue: Queue) -> str:
    array = usm_empty(4, np.uint8, queue)
    array.close()
    try:
        queue.fill(array, np.uint8(1))
    except InvalidError:
        pass
    else:
        raise AssertionError("a fill of freed memory was taken")
    return "freed memory is refused"


def runtime_checks(queue: Queue) -> Iterator[tuple[str, Check]]:
    """The checks that the aspects of the device allow, with names."""
    device = queue.device
    yield "memory device", _memory("device")
    for kind, aspect in _NEEDS.items():
        if device.has(aspect):
            yield f"memory {kind}", _memory(kind)
    yield "events of two queues", _events
    if device.has(Aspect.queue_profiling):
        yield "profiling", _profiling
    yield "refusals", _refusals
    if device.has(Aspect.ext_oneapi_bindless_images):
        yield "image copies", _image_copies
    if device.has(Aspect.ext_oneapi_bindless_images_2d_usm):
        yield "pitched memory", _pitched
