"""Queues and events of the package made of Level Zero's, and the other way round."""

from __future__ import annotations

import gc

import numpy as np
import pytest

import bindless as bl
from tests.interop.native_level_zero.level_zero_objects import BOTH, FORMS, SCALE, code, filled
from tests.interop.raw_level_zero import Raw, ffi, lib
from tests.support.error_checks import raises

pytestmark = [pytest.mark.level_zero, pytest.mark.on_level_zero]


# ---------------------------------------------------------------------- queues


@FORMS
@BOTH
def test_a_queue_of_a_native_one(raw: Raw, kept: bl.Context, immediate: bool, ownership: str) -> None:
    native = raw.queue(immediate)
    queue = bl.make_queue("level_zero", native, kept, raw.facade, ownership=ownership)
    handle = bl.get_native(queue, "level_zero")
    assert handle == int(ffi.cast("uintptr_t", native))
    assert handle.type == ("ze_command_list_handle_t" if immediate else "ze_command_queue_handle_t")
    assert queue.is_in_order and queue.device == raw.facade and queue.context is kept
    array = bl.usm_empty(1000, "int32", queue, kind="shared")
    for value in range(20):  # each after the one before, without an event between them
        queue.fill(array, value)
    # Work of the program on its own queue is in order with the package's.
    more = bl.usm_empty(1000, "int32", queue, kind="shared")
    to, source = ffi.cast("void *", more.pointer), ffi.cast("void *", array.pointer)
    raw.run(native, lambda own: lib.zeCommandListAppendBarrier(own, ffi.NULL, 0, ffi.NULL))
    raw.run(native, lambda own: lib.zeCommandListAppendMemoryCopy(own, to, source, 4000, ffi.NULL, 0, ffi.NULL))
    assert np.array_equal(more.numpy(), np.full(1000, 19))
    bundle = bl.load_kernel_bundle(code(SCALE), queue)
    floats = bl.usm_empty(8, "float32", queue, kind="shared")
    queue.fill(floats, np.float32(3))
    queue.parallel_for(8, bundle.get_kernel("scale"), floats, np.float32(2)).wait()
    assert list(floats.numpy()) == [6] * 8
    bundle.close()
    for memory in (array, more, floats):
        memory.close()
    queue.close()
    assert raw.is_alive(native) is (ownership == "keep")
    with raises(bl.InvalidError):
        bl.get_native(queue)
    if ownership == "keep":
        raw.destroy(native)


def test_what_get_native_gives_of_a_queue(device: bl.Device) -> None:
    for options, kind in (
        ({}, "ze_command_list_handle_t"),
        ({"immediate_command_list": True}, "ze_command_list_handle_t"),
        ({"no_immediate_command_list": True}, "ze_command_queue_handle_t"),
    ):
        with bl.Queue(device, in_order=True, **options) as queue:
            native = bl.get_native(queue)
            assert native.type == kind
            again = bl.make_queue("level_zero", native, queue.context, ownership="keep")
            assert filled(again, 3) == [3] * 4
            again.close()
            assert filled(queue, 4) == [4] * 4
            with raises(bl.InvalidError):
                bl.make_queue("level_zero", native, queue.context)


def test_a_queue_without_device_takes_the_contexts_first(raw: Raw, kept: bl.Context) -> None:
    for immediate in (False, True):
        native = raw.queue(immediate)
        with bl.make_queue("level_zero", native, kept) as queue:
            assert queue.device == kept.devices[0]
            assert filled(queue, 1) == [1] * 4


def test_a_queue_dropped_amid_its_work_ends_after_it(raw: Raw, kept: bl.Context) -> None:
    pool = raw.pool()
    gate = raw.event(pool)
    native = raw.queue(True)
    array = bl.usm_empty(100, "int32", raw.facade, kept, kind="shared")
    array.copy_from(np.zeros(100, "int32"))
    queue = bl.make_queue("level_zero", native, kept)
    opened = bl.make_event("level_zero", gate, kept, ownership="keep")
    event = queue.fill(array, 7, depends_on=opened)
    del queue
    assert event.status is not bl.EventStatus.complete and raw.is_alive(native)
    assert lib.zeEventHostSignal(gate) == 0
    event.wait()
    assert list(array.numpy()) == [7] * 100
    del event, opened
    array.close()
    raw.destroy(gate, pool)


def test_queues_that_are_refused_stay_the_callers(raw: Raw, kept: bl.Context, device: bl.Device) -> None:
    immediate, regular, command_queue = raw.queue(True), raw.regular_list(), raw.queue(False)
    number = int(ffi.cast("uintptr_t", command_queue))
    other = bl.Context(device)
    reference = bl.Device("reference:*:*")
    for error, match, arguments in (
        (bl.InvalidError, "ze_context_handle_t", (immediate, other)),
        (bl.InvalidError, None, (regular, kept)),
        (bl.InvalidError, "Context", (command_queue, raw.context)),
        (bl.InvalidError, "Device", (command_queue, kept, "gpu")),
        (bl.BackendMismatchError, None, (command_queue, bl.Context(reference))),
        (bl.BackendMismatchError, None, (command_queue, kept, reference)),
        (bl.InvalidError, None, (0, kept)),
        (bl.InvalidError, None, (ffi.NULL, kept)),
        (bl.InvalidError, None, (2**64, kept)),
        (bl.InvalidError, None, (-number, kept)),
        (bl.InvalidError, None, (True, kept)),
        (bl.InvalidError, None, ("queue", kept)),
        (bl.InvalidError, None, (None, kept)),
        (bl.InvalidError, ("ze_context_handle_t", "ze_command_queue_handle_t"), (raw.context, kept)),
        # A plain number is taken for a command queue, which the driver knows not to be one.
        (bl.InvalidError, "INVALID", (int(ffi.cast("uintptr_t", immediate)), kept)),
    ):
        with raises(error, names=match):
            bl.make_queue("level_zero", *arguments)
    with raises(bl.InvalidError, names="backend='metal'"):
        bl.make_queue("metal", command_queue, kept)
    closed = bl.make_context("level_zero", raw.context, device, ownership="keep")
    closed.close()
    with raises(bl.InvalidError):
        bl.make_queue("level_zero", command_queue, closed)
    queue = bl.make_queue("level_zero", number, kept)
    with raises(bl.InvalidError):
        bl.make_queue("level_zero", command_queue, kept)
    typed = bl.NativeHandle(int(ffi.cast("uintptr_t", immediate)), "ze_command_list_handle_t")
    with bl.make_queue("level_zero", typed, kept, ownership="keep") as again:
        assert filled(again, 2) == [2] * 4
    queue.close()
    assert raw.is_alive(immediate) and not raw.is_alive(command_queue)
    raw.destroy(immediate, regular)


@FORMS
def test_a_kept_queue_that_its_owner_destroyed_fails_and_does_no_harm(
    raw: Raw, kept: bl.Context, immediate: bool
) -> None:
    native = raw.queue(immediate)
    queue = bl.make_queue("level_zero", native, kept, ownership="keep")
    array = bl.usm_empty(10, "int32", queue, kind="shared")
    raw.destroy(native)
    with pytest.raises(bl.Error, match="INVALID"):
        queue.fill(array, 1)
    queue.close()
    array.close()


# ---------------------------------------------------------------------- events


@BOTH
def test_an_event_of_a_native_one(raw: Raw, kept: bl.Context, ownership: str) -> None:
    pool = raw.pool()
    native = raw.event(pool)
    event = bl.make_event("level_zero", native, kept, ownership=ownership)
    assert bl.get_native(event) == int(ffi.cast("uintptr_t", native))
    assert event.status is bl.EventStatus.submitted
    queue, other = bl.Queue(raw.facade, kept), bl.Queue(raw.facade, bl.Context(raw.facade))
    array, far = (bl.usm_empty(4, "int32", where, kind="shared") for where in (queue, other))
    commands = [queue.fill(array, 6, depends_on=event), other.fill(far, 7, depends_on=[event])]
    done: list[int] = []

    def host_task(handler: bl.Handler) -> None:
        handler.depends_on(event)
        handler.host_task(lambda: done.append(1))

    task = queue.submit(host_task)
    assert all(command.status is not bl.EventStatus.complete for command in (*commands, task)) and not done
    assert lib.zeEventHostSignal(native) == 0
    event.wait()
    event.wait_and_throw()
    assert event.status is bl.EventStatus.complete
    for command in (*commands, task):
        command.wait()
    assert (list(array.numpy()), list(far.numpy()), done) == ([6] * 4, [7] * 4, [1])
    with raises(bl.ProfilingError):
        event.get_profiling_info("command_end")
    for item in (array, far, queue, other):
        item.close()
    commands.clear()
    event = command = task = None
    gc.collect()
    assert raw.is_alive(native) is (ownership == "keep")
    if ownership == "keep":
        raw.destroy(native)
    raw.destroy(pool)


def test_a_transferred_event_lives_until_what_waits_for_it(raw: Raw, kept: bl.Context) -> None:
    pool = raw.pool()
    native = raw.event(pool)
    queue = bl.Queue(raw.facade, kept, in_order=True)
    array = bl.usm_empty(4, "int32", queue, kind="shared")
    command = queue.fill(array, 9, depends_on=bl.make_event("level_zero", native, kept))
    gc.collect()
    assert raw.is_alive(native) and command.status is not bl.EventStatus.complete
    assert lib.zeEventHostSignal(native) == 0
    command.wait()
    assert list(array.numpy()) == [9] * 4
    array.close()
    queue.close()
    assert not raw.is_alive(native)
    raw.destroy(pool)


def test_the_native_event_of_a_command(raw: Raw, kept: bl.Context) -> None:
    queue = bl.Queue(raw.facade, kept)
    array = bl.usm_empty(1000, "int32", queue, kind="shared")
    event = queue.fill(array, 3)
    native = bl.get_native(event, "level_zero")
    assert native.type == "ze_event_handle_t"
    assert lib.zeEventHostSynchronize(ffi.cast("ze_event_handle_t", native), 2**64 - 1) == 0
    assert list(array.numpy()) == [3] * 1000
    with raises(bl.InvalidError):
        bl.make_event("level_zero", native, kept)
    again = bl.make_event("level_zero", native, kept, ownership="keep")
    again.wait()
    with raises(bl.InvalidError):
        bl.get_native(bl.Event())
    task = queue.submit(lambda handler: handler.host_task(lambda: None))
    task.wait()
    handle = bl.get_native(task)  # of a barrier after it
    assert handle.type == "ze_event_handle_t"
    assert lib.zeEventHostSynchronize(ffi.cast("ze_event_handle_t", handle), 2**64 - 1) == 0
    del again, event, task
    array.close()
    queue.close()


def test_events_that_are_refused_stay_the_callers(raw: Raw, kept: bl.Context, device: bl.Device) -> None:
    pool = raw.pool()
    native = raw.event(pool)
    with raises(bl.InvalidError, names="ze_context_handle_t"):
        bl.make_event("level_zero", native, bl.Context(device))
    with raises(bl.InvalidError, names=("ze_event_pool_handle_t", "ze_event_handle_t")):
        bl.make_event("level_zero", pool, kept)
    with raises(bl.InvalidError):
        bl.make_event("level_zero", int(ffi.cast("uintptr_t", pool)), kept)
    first = bl.make_event("level_zero", native, kept)
    with raises(bl.InvalidError):
        bl.make_event("level_zero", native, kept)
    assert raw.is_alive(native)
    del first
    raw.destroy(pool)
