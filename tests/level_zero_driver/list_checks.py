"""Command lists, queues, fences, events and barriers."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.level_zero_driver.rig import FOREVER, Rig, ffi, group_count, lib

ADD = "kernel void add(global int *sums, int term) { sums[get_global_id(0)] += term; }"
NO_WAIT: tuple[Any, ...] = (ffi.NULL, 0, ffi.NULL)


def _queue(rig: Rig) -> Any:
    desc = rig.struct("ze_command_queue_desc_t")
    make = ("ze_command_queue_handle_t", "zeCommandQueueCreate", "zeCommandQueueDestroy")
    return rig.make(*make, rig.context, rig.device, desc)


def _list(rig: Rig) -> Any:
    desc = rig.struct("ze_command_list_desc_t")
    make = ("ze_command_list_handle_t", "zeCommandListCreate", "zeCommandListDestroy")
    return rig.make(*make, rig.context, rig.device, desc)


def _events(rig: Rig, count: int) -> list[Any]:
    desc = rig.struct("ze_event_pool_desc_t", flags=lib.ZE_EVENT_POOL_FLAG_HOST_VISIBLE, count=count)
    make = ("ze_event_pool_handle_t", "zeEventPoolCreate", "zeEventPoolDestroy")
    pool = rig.make(*make, rig.context, desc, 0, ffi.NULL)
    flags = lib.ZE_EVENT_SCOPE_FLAG_HOST
    descs = [rig.struct("ze_event_desc_t", index=index, signal=flags, wait=flags) for index in range(count)]
    return [rig.make("ze_event_handle_t", "zeEventCreate", "zeEventDestroy", pool, desc) for desc in descs]


def _run(rig: Rig, queue: Any, *lists: Any, fence: Any = ffi.NULL) -> None:
    handles = ffi.new("ze_command_list_handle_t[]", list(lists))
    rig.call("zeCommandQueueExecuteCommandLists", queue, len(lists), handles, fence)


def check_explicit_queues(rig: Rig) -> None:
    """A queue with EXPLICIT_ONLY takes lists with that flag only; other queues take both."""
    where = (rig.context, rig.device)
    desc = rig.struct("ze_command_queue_desc_t", flags=lib.ZE_COMMAND_QUEUE_FLAG_EXPLICIT_ONLY)
    queue = rig.make("ze_command_queue_handle_t", "zeCommandQueueCreate", "zeCommandQueueDestroy", *where, desc)
    listed = rig.struct("ze_command_list_desc_t", flags=lib.ZE_COMMAND_LIST_FLAG_EXPLICIT_ONLY)
    explicit = rig.make("ze_command_list_handle_t", "zeCommandListCreate", "zeCommandListDestroy", *where, listed)
    plain, other = _list(rig), _queue(rig)
    rig.call("zeCommandListClose", plain)
    rig.call("zeCommandListClose", explicit)
    refused = ffi.new("ze_command_list_handle_t[]", [plain])
    rig.fails("INVALID_COMMAND_LIST_TYPE", "EXPLICIT", "zeCommandQueueExecuteCommandLists", queue, 1, refused, ffi.NULL)
    _run(rig, queue, explicit)
    rig.call("zeCommandQueueSynchronize", queue, FOREVER)
    _run(rig, other, plain, explicit)
    rig.call("zeCommandQueueSynchronize", other, FOREVER)


def check_closed_lists(rig: Rig) -> None:
    """A closed list runs on any queue of its group, repeatedly, and again after a reset."""
    pointer, sums = rig.array(np.zeros(8, np.int32))
    queue, other, commands, second = _queue(rig), _queue(rig), _list(rig), _list(rig)
    add = rig.compiled(ADD, "add")
    rig.set(add, pointer, np.int32(1))
    rig.call("zeCommandListAppendLaunchKernel", commands, add, group_count(8), *NO_WAIT)
    handles = ffi.new("ze_command_list_handle_t[]", [commands])
    assert rig.result("zeCommandQueueExecuteCommandLists", queue, 1, handles, ffi.NULL) != 0, "it was not closed"
    rig.call("zeCommandListClose", commands)
    rig.set(add, pointer, np.int32(10))  # for the next append: the first has its own copy
    rig.call("zeCommandListAppendLaunchKernel", second, add, group_count(4), *NO_WAIT)
    rig.call("zeCommandListClose", second)
    assert list(sums) == [0] * 8
    for place in (queue, other, queue):
        _run(rig, place, commands, second)
        rig.call("zeCommandQueueSynchronize", place, FOREVER)
    assert list(sums) == [33] * 4 + [3] * 4
    rig.call("zeCommandListReset", commands)
    zeros = np.zeros(8, np.int32)
    rig.call("zeCommandListAppendMemoryCopy", commands, pointer, ffi.from_buffer(zeros), zeros.nbytes, *NO_WAIT)
    rig.call("zeCommandListClose", commands)
    _run(rig, queue, commands)
    rig.call("zeCommandQueueSynchronize", queue, FOREVER)
    assert list(sums) == [0] * 8


def check_immediate_lists(rig: Rig) -> None:
    """Commands of an immediate list run without a queue and without a close."""
    desc = rig.struct("ze_command_queue_desc_t", mode=lib.ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS)
    make = ("ze_command_list_handle_t", "zeCommandListCreateImmediate", "zeCommandListDestroy")
    commands = rig.make(*make, rig.context, rig.device, desc)
    pointer, sums = rig.array(np.zeros(8, np.int32))
    add = rig.compiled(ADD, "add")
    rig.set(add, pointer, np.int32(2))
    rig.call("zeCommandListAppendLaunchKernel", commands, add, group_count(8), *NO_WAIT)
    assert (sums == 2).all()
    handles = ffi.new("ze_command_list_handle_t[]", [commands])
    assert rig.result("zeCommandQueueExecuteCommandLists", _queue(rig), 1, handles, ffi.NULL) != 0


def check_fences(rig: Rig) -> None:
    """A fence is signalled after the lists submitted with it, and again after a reset."""
    pointer, sums = rig.array(np.zeros(8, np.int32))
    queue, commands, (gate,) = _queue(rig), _list(rig), _events(rig, 1)
    fence = rig.make("ze_fence_handle_t", "zeFenceCreate", "zeFenceDestroy", queue, rig.struct("ze_fence_desc_t"))
    add = rig.compiled(ADD, "add")
    rig.set(add, pointer, np.int32(1))
    waits = ffi.new("ze_event_handle_t[]", [gate])
    rig.call("zeCommandListAppendLaunchKernel", commands, add, group_count(8), ffi.NULL, 1, waits)
    rig.call("zeCommandListClose", commands)
    for turn in (1, 2):
        _run(rig, queue, commands, fence=fence)
        assert rig.result("zeFenceQueryStatus", fence) == lib.ZE_RESULT_NOT_READY
        assert rig.result("zeFenceHostSynchronize", fence, 1000) == lib.ZE_RESULT_NOT_READY
        rig.call("zeEventHostSignal", gate)
        rig.call("zeFenceHostSynchronize", fence, FOREVER)
        rig.call("zeFenceQueryStatus", fence)
        assert (sums == turn).all()
        rig.call("zeEventHostReset", gate)
        rig.call("zeFenceReset", fence)
        assert rig.result("zeFenceQueryStatus", fence) == lib.ZE_RESULT_NOT_READY


def check_events(rig: Rig) -> None:
    """Host and device signal, wait for and reset the same events; a wait with a timeout ends before the event."""
    pointer, sums = rig.array(np.zeros(8, np.int32))
    queue, commands, (begin, end) = _queue(rig), _list(rig), _events(rig, 2)
    add = rig.compiled(ADD, "add")
    rig.set(add, pointer, np.int32(1))
    waits = ffi.new("ze_event_handle_t[]", [begin])
    rig.call("zeCommandListAppendWaitOnEvents", commands, 1, waits)
    rig.call("zeCommandListAppendEventReset", commands, begin)
    rig.call("zeCommandListAppendLaunchKernel", commands, add, group_count(8), *NO_WAIT)
    rig.call("zeCommandListAppendBarrier", commands, *NO_WAIT)
    rig.call("zeCommandListAppendSignalEvent", commands, end)
    rig.call("zeCommandListClose", commands)
    for turn in (1, 2):
        _run(rig, queue, commands)
        assert rig.result("zeEventHostSynchronize", end, 1000) == lib.ZE_RESULT_NOT_READY
        assert rig.result("zeEventQueryStatus", end) == lib.ZE_RESULT_NOT_READY and (sums == turn - 1).all()
        rig.call("zeEventHostSignal", begin)
        rig.call("zeEventHostSynchronize", end, FOREVER)
        assert (sums == turn).all() and rig.result("zeEventQueryStatus", begin) == lib.ZE_RESULT_NOT_READY
        rig.call("zeEventHostReset", end)


def check_barriers(rig: Rig) -> None:
    """A barrier, and a range barrier, order a write and a later read."""
    pointer, _ = rig.array(np.zeros(1024, np.int32))
    copy, copied = rig.array(np.zeros(1024, np.int32))
    queue, commands = _queue(rig), _list(rig)
    add = rig.compiled(ADD, "add")
    rig.set(add, pointer, np.int32(1))
    sizes = ffi.new("size_t[]", [4096])
    ranges = ffi.new("void *[]", [pointer])
    for _ in range(5):
        rig.call("zeCommandListAppendLaunchKernel", commands, add, group_count(1024), *NO_WAIT)
        rig.call("zeCommandListAppendBarrier", commands, *NO_WAIT)
        rig.call("zeCommandListAppendMemoryCopy", commands, copy, pointer, 4096, *NO_WAIT)
        places = ffi.cast("void const **", ranges)
        rig.call("zeCommandListAppendMemoryRangesBarrier", commands, 1, sizes, places, *NO_WAIT)
    rig.call("zeCommandListClose", commands)
    _run(rig, queue, commands)
    rig.call("zeCommandQueueSynchronize", queue, FOREVER)
    assert (copied == 5).all()
