"""Counter-based events: each follows the last command that signals it."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.level_zero_driver.list_checks import ADD, NO_WAIT, _events, _queue, _run
from tests.level_zero_driver.rig import FOREVER, Rig, ffi, group_count, lib

IMMEDIATE = lib.ZE_EVENT_COUNTER_BASED_FLAG_IMMEDIATE
RECORDED = lib.ZE_EVENT_COUNTER_BASED_FLAG_NON_IMMEDIATE
VISIBLE = lib.ZE_EVENT_COUNTER_BASED_FLAG_HOST_VISIBLE
TIMES = lib.ZE_EVENT_COUNTER_BASED_FLAG_DEVICE_TIMESTAMP
SCOPE = lib.ZE_EVENT_SCOPE_FLAG_HOST


def _direct(rig: Rig, name: str, *arguments: Any) -> int:
    """A driver function, called without the layers, which do not know newer flags and descriptors."""
    function = rig.driver._extension(name)
    assert function is not None, name
    return int(function(*arguments))


def _new(rig: Rig, kind: str, create: str, destroy: str, *arguments: Any) -> Any:
    slot = ffi.new(f"{kind} *")
    result = _direct(rig, create, *arguments, slot)
    assert result == 0, f"{create} returned 0x{result:x}: {rig.driver.last_error()}"
    rig._made.append(lambda: rig.call(destroy, slot[0]))
    return slot[0]


def _event(rig: Rig, flags: int = IMMEDIATE | RECORDED | VISIBLE) -> Any:
    desc = rig.struct("ze_event_counter_based_desc_t", flags=flags, signal=SCOPE)
    return _new(rig, "ze_event_handle_t", "zeEventCounterBasedCreate", "zeEventDestroy", rig.context, rig.device, desc)


def _immediate(rig: Rig, flags: int = lib.ZE_COMMAND_QUEUE_FLAG_IN_ORDER) -> Any:
    desc = rig.struct("ze_command_queue_desc_t", mode=lib.ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS, flags=flags)
    make = ("ze_command_list_handle_t", "zeCommandListCreateImmediate", "zeCommandListDestroy")
    return _new(rig, *make, rig.context, rig.device, desc)


def _regular(rig: Rig, flags: int = lib.ZE_COMMAND_LIST_FLAG_IN_ORDER) -> Any:
    desc = rig.struct("ze_command_list_desc_t", flags=flags)
    make = ("ze_command_list_handle_t", "zeCommandListCreate", "zeCommandListDestroy")
    return _new(rig, *make, rig.context, rig.device, desc)


def _handles(*events: Any) -> tuple[int, Any]:
    return len(events), ffi.new("ze_event_handle_t[]", list(events))


def _state(rig: Rig, event: Any) -> bool:
    result = rig.result("zeEventQueryStatus", event)
    assert result in (0, lib.ZE_RESULT_NOT_READY)
    return result == 0


def _adder(rig: Rig, term: int) -> tuple[Any, Any]:
    pointer, sums = rig.array(np.zeros(8, np.int32))
    add = rig.compiled(ADD, "add")
    rig.set(add, pointer, np.int32(term))
    return add, sums


def check_reuse(rig: Rig) -> None:
    """A reused event no longer follows its earlier command; commands that wait for that command keep waiting."""
    event, (gate,) = _event(rig), _events(rig, 1)
    assert _state(rig, event), "it is complete after its creation"
    rig.call("zeEventHostSynchronize", event, FOREVER)
    first, second, third = (_immediate(rig) for _ in range(3))
    add, sums = _adder(rig, 1)
    rig.call("zeCommandListAppendLaunchKernel", first, add, group_count(8), event, *_handles(gate))
    assert not _state(rig, event)
    assert rig.result("zeEventHostSynchronize", event, 1000) == lib.ZE_RESULT_NOT_READY
    rig.call("zeCommandListAppendLaunchKernel", second, add, group_count(8), ffi.NULL, *_handles(event))
    rig.call("zeCommandListAppendSignalEvent", third, event)
    rig.call("zeEventHostSynchronize", event, FOREVER)
    assert list(sums) == [0] * 8, "the list that waits does so for the command of the time"
    assert rig.result("zeCommandListHostSynchronize", second, 1000) == lib.ZE_RESULT_NOT_READY
    rig.call("zeEventHostSignal", gate)
    rig.call("zeCommandListHostSynchronize", second, FOREVER)
    assert list(sums) == [2] * 8


def check_destroyed_in_use(rig: Rig) -> None:
    """An event can be destroyed while commands that signal it or wait for it are pending."""
    (gate,) = _events(rig, 1)
    event = _event(rig, TIMES)
    destroy = rig._made.pop()
    first, second = _immediate(rig), _immediate(rig)
    add, sums = _adder(rig, 1)
    rig.call("zeCommandListAppendLaunchKernel", first, add, group_count(8), event, *_handles(gate))
    rig.call("zeCommandListAppendLaunchKernel", second, add, group_count(4), ffi.NULL, *_handles(event))
    destroy()
    rig.call("zeEventHostSignal", gate)
    rig.call("zeCommandListHostSynchronize", second, FOREVER)
    assert list(sums) == [2] * 4 + [1] * 4


def check_recorded(rig: Rig) -> None:
    """A recorded signal is pending until its list was executed, and again from each execution on."""
    event, (gate,) = _event(rig), _events(rig, 1)
    commands, waiting, queue = _regular(rig), _immediate(rig), _queue(rig)
    add, sums = _adder(rig, 1)
    rig.call("zeCommandListAppendLaunchKernel", commands, add, group_count(8), event, *_handles(gate))
    rig.call("zeCommandListClose", commands)
    assert not _state(rig, event)
    for turn in (1, 2, 3):
        if turn == 1:  # a wait submitted before the first execution waits for that execution
            rig.call("zeCommandListAppendWaitOnEvents", waiting, *_handles(event))
        _run(rig, queue, commands)
        if turn > 1:
            rig.call("zeCommandListAppendWaitOnEvents", waiting, *_handles(event))
        assert not _state(rig, event) and list(sums) == [turn - 1] * 8
        assert rig.result("zeCommandListHostSynchronize", waiting, 1000) == lib.ZE_RESULT_NOT_READY
        rig.call("zeEventHostSignal", gate)
        rig.call("zeCommandListHostSynchronize", waiting, FOREVER)
        assert _state(rig, event) and list(sums) == [turn] * 8
        rig.call("zeCommandQueueSynchronize", queue, FOREVER)
        rig.call("zeEventHostReset", gate)


def check_recorded_both_ways(rig: Rig) -> None:
    """Two lists wait for each other and run twice: each execution waits for the work submitted before it.

    If waits read their events at run time, an execution of one list would wait for the next execution of the other.
    """
    there, back, (gate,) = _event(rig), _event(rig), _events(rig, 1)
    first, second, queue, other = _regular(rig), _regular(rig), _queue(rig), _queue(rig)
    add, sums = _adder(rig, 1)
    rig.call("zeCommandListAppendLaunchKernel", first, add, group_count(8), there, *_handles(gate))
    rig.call("zeCommandListAppendWaitOnEvents", second, *_handles(there))
    rig.call("zeCommandListAppendLaunchKernel", second, add, group_count(8), back, 0, ffi.NULL)
    rig.call("zeCommandListAppendLaunchKernel", second, add, group_count(8), *NO_WAIT)
    rig.call("zeCommandListAppendWaitOnEvents", first, *_handles(back))
    rig.call("zeCommandListAppendLaunchKernel", first, add, group_count(8), *NO_WAIT)
    for commands in (first, second):
        rig.call("zeCommandListClose", commands)
    for _ in range(3):
        _run(rig, queue, first)
        _run(rig, other, second)
    rig.call("zeEventHostSignal", gate)
    for place in (queue, other):
        rig.call("zeCommandQueueSynchronize", place, FOREVER)
    assert list(sums) == [12] * 8 and _state(rig, there) and _state(rig, back)


def check_appended_lists(rig: Rig) -> None:
    """Lists appended to an immediate list wait for and signal counter-based events, including their own."""
    inner, outer, (gate,) = _event(rig), _event(rig), _events(rig, 1)
    commands, target = _regular(rig), _immediate(rig)
    add, sums = _adder(rig, 1)
    rig.call("zeCommandListAppendLaunchKernel", commands, add, group_count(8), inner, *_handles(gate))
    rig.call("zeCommandListAppendWaitOnEvents", commands, *_handles(inner))
    rig.call("zeCommandListClose", commands)
    lists = ffi.new("ze_command_list_handle_t[]", [commands])
    append = "zeCommandListImmediateAppendCommandListsExp"
    assert _direct(rig, append, target, 1, lists, outer, 0, ffi.NULL) == 0
    assert not _state(rig, inner) and not _state(rig, outer)
    rig.call("zeEventHostSignal", gate)
    rig.call("zeEventHostSynchronize", outer, FOREVER)
    assert list(sums) == [1] * 8 and _state(rig, inner)


def check_times(rig: Rig) -> None:
    """Timestamps are those of the last command, readable by the host and by commands."""
    event, plain = _event(rig, TIMES), _event(rig)
    commands, recorded, queue = _immediate(rig), _regular(rig), _queue(rig)
    add, _ = _adder(rig, 1)
    found = ffi.new("ze_kernel_timestamp_result_t *")
    assert rig.result("zeEventQueryKernelTimestamp", event, found) == lib.ZE_RESULT_NOT_READY
    ends = [0]
    pointer, copied = rig.array(np.zeros((2, 4), np.uint64))
    for _ in range(3):
        rig.call("zeCommandListAppendLaunchKernel", commands, add, group_count(8), event, 0, ffi.NULL)
        rig.call(
            "zeCommandListAppendQueryKernelTimestamps", commands, 1, _handles(event)[1], pointer, ffi.NULL, *NO_WAIT
        )
        rig.call("zeCommandListHostSynchronize", commands, FOREVER)
        rig.call("zeEventQueryKernelTimestamp", event, found)
        times = getattr(found, "global")
        assert ends[-1] <= times.kernelStart <= times.kernelEnd and times.kernelStart > 0
        assert [times.kernelStart, times.kernelEnd] == list(copied[0, :2])
        ends.append(times.kernelEnd)
    rig.call("zeCommandListAppendLaunchKernel", recorded, add, group_count(8), event, 0, ffi.NULL)
    rig.call("zeCommandListAppendQueryKernelTimestamps", recorded, 1, _handles(event)[1], pointer, ffi.NULL, *NO_WAIT)
    rig.call("zeCommandListClose", recorded)
    for _ in range(2):
        _run(rig, queue, recorded)
        rig.call("zeCommandQueueSynchronize", queue, FOREVER)
        assert ends[-1] <= copied[0, 0] <= copied[0, 1]
        ends.append(int(copied[0, 1]))
    rig.fails("INVALID_ARGUMENT", "timestamps", "zeEventQueryKernelTimestamp", plain, found)


def check_pools(rig: Rig) -> None:
    """Pools with the counter flag make counter-based events, and cannot be shared."""
    counter = rig.struct("ze_event_pool_counter_based_exp_desc_t", flags=1)
    desc = rig.struct("ze_event_pool_desc_t", counter, flags=lib.ZE_EVENT_POOL_FLAG_HOST_VISIBLE, count=2)
    pool = _new(
        rig, "ze_event_pool_handle_t", "zeEventPoolCreate", "zeEventPoolDestroy", rig.context, desc, 0, ffi.NULL
    )
    shape = rig.struct("ze_event_desc_t", index=1, signal=SCOPE)
    event = _new(rig, "ze_event_handle_t", "zeEventCreate", "zeEventDestroy", pool, shape)
    (gate,) = _events(rig, 1)
    flags = ffi.new("ze_event_counter_based_flags_t *")
    for each, expected in ((event, IMMEDIATE), (gate, 0), (_event(rig, RECORDED | TIMES), RECORDED | TIMES)):
        assert _direct(rig, "zeEventGetCounterBasedFlags", each, flags) == 0 and flags[0] == expected
    commands = _immediate(rig)
    assert _state(rig, event)
    rig.call("zeCommandListAppendBarrier", commands, event, *_handles(gate))
    assert not _state(rig, event)
    rig.call("zeEventHostSignal", gate)
    rig.call("zeEventHostSynchronize", event, FOREVER)
    shared = rig.struct("ze_event_pool_desc_t", counter, flags=lib.ZE_EVENT_POOL_FLAG_IPC, count=1)
    slot = ffi.new("ze_event_pool_handle_t *")
    wanted = lib.ZE_RESULT_ERROR_UNSUPPORTED_FEATURE
    assert _direct(rig, "zeEventPoolCreate", rig.context, shared, 0, ffi.NULL, slot) == wanted


def check_refusals(rig: Rig) -> None:
    """The host, a reset and an out-of-order list cannot set a counter-based event; a refused call leaves it
    unchanged."""
    event, commands, loose = _event(rig), _immediate(rig), _immediate(rig, 0)
    rig.fails("INVALID_ARGUMENT", "counter-based", "zeEventHostSignal", event)
    rig.fails("INVALID_ARGUMENT", "counter-based", "zeEventHostReset", event)
    rig.fails("INVALID_ARGUMENT", "counter-based", "zeCommandListAppendEventReset", commands, event)
    for each in (loose, _regular(rig, 0)):
        append = ("zeCommandListAppendSignalEvent", each, event)
        rig.fails("INVALID_SYNCHRONIZATION_OBJECT", "IN_ORDER", *append)
        rig.call("zeCommandListAppendWaitOnEvents", each, *_handles(event))
    stale = _handles(ffi.cast("ze_event_handle_t", 0x1234))
    assert rig.result("zeCommandListAppendBarrier", commands, event, *stale) != 0
    assert _state(rig, event)
    assert (
        _direct(rig, "zeEventGetEventPool", event, ffi.new("ze_event_pool_handle_t *"))
        == lib.ZE_RESULT_ERROR_INVALID_ARGUMENT
    )

    slot = ffi.new("ze_event_handle_t *")
    storage = rig.struct("ze_event_counter_based_external_aggregate_storage_desc_t")
    synced = rig.struct("ze_event_counter_based_external_sync_allocation_desc_t")
    for result, next, flags in (
        ("UNSUPPORTED_FEATURE", None, lib.ZE_EVENT_COUNTER_BASED_FLAG_IPC),
        ("UNSUPPORTED_FEATURE", storage, IMMEDIATE),
        ("UNSUPPORTED_FEATURE", synced, IMMEDIATE),
        ("INVALID_ENUMERATION", None, TIMES | lib.ZE_EVENT_COUNTER_BASED_FLAG_HOST_TIMESTAMP),
        ("INVALID_ENUMERATION", None, 0x4000),
    ):
        desc = rig.struct("ze_event_counter_based_desc_t", next, flags=flags)
        found = _direct(rig, "zeEventCounterBasedCreate", rig.context, rig.device, desc, slot)
        assert found == getattr(lib, f"ZE_RESULT_ERROR_{result}"), (result, hex(found))

    offered = rig.struct("ze_device_event_properties_t", flags=0xF)
    properties = rig.struct("ze_device_properties_t", offered)
    rig.call("zeDeviceGetProperties", rig.device, properties)
    assert offered.flags == 0, "and the device says so"


def check_failures(rig: Rig) -> None:
    """An event returns the error of the command that it follows, and none after it follows another."""
    event, commands = _event(rig), _immediate(rig)
    beyond = rig.compiled("kernel void beyond(global int *sums) { sums[1 << 28] = 1; }", "beyond")
    pointer, _ = rig.array(np.zeros(8, np.int32))
    rig.set(beyond, pointer)
    rig.call("zeCommandListAppendLaunchKernel", commands, beyond, group_count(1), event, 0, ffi.NULL)
    assert rig.result("zeEventHostSynchronize", event, FOREVER) != 0
    assert rig.result("zeCommandListHostSynchronize", commands, FOREVER) != 0
    rig.call("zeCommandListAppendSignalEvent", commands, event)
    rig.call("zeEventHostSynchronize", event, FOREVER)


def check_intel(rig: Rig) -> None:
    """Requirements of Intel's SYCL runtime: its own function for counter-based events, and its hint chained to queues
    and lists."""
    place = ffi.new("void **")
    assert lib.zeDriverGetExtensionFunctionAddress(rig.driver.handle, b"zexCounterBasedEventCreate2", place) == 0
    kind = (
        "ze_result_t (*)(ze_context_handle_t, ze_device_handle_t, ze_event_counter_based_desc_t *, ze_event_handle_t *)"
    )
    create = ffi.cast(kind, place[0])
    desc, slot = ffi.new("ze_event_counter_based_desc_t *"), ffi.new("ze_event_handle_t *")
    desc.flags, desc.signal = IMMEDIATE | VISIBLE | TIMES, SCOPE
    assert create(rig.context, rig.device, desc, slot) == lib.ZE_RESULT_ERROR_INVALID_ARGUMENT
    desc.stype = 0x3001C
    assert create(rig.context, rig.device, desc, slot) == 0
    event = slot[0]
    rig._made.append(lambda: rig.call("zeEventDestroy", event))
    hint = ffi.new("ze_base_desc_t *")
    hint.stype = 0x3001B
    queue = rig.struct("ze_command_queue_desc_t", flags=lib.ZE_COMMAND_QUEUE_FLAG_IN_ORDER)
    queue.pNext = hint
    make = ("ze_command_list_handle_t", "zeCommandListCreateImmediate", "zeCommandListDestroy")
    commands = _new(rig, *make, rig.context, rig.device, queue)
    regular = rig.struct("ze_command_list_desc_t")
    regular.pNext = hint
    _new(rig, make[0], "zeCommandListCreate", make[2], rig.context, rig.device, regular)
    rig.call("zeCommandListAppendSignalEvent", commands, event)
    rig.call("zeEventHostSynchronize", event, FOREVER)
