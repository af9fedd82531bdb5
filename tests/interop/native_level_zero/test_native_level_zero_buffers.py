"""Buffers over memory that Level Zero allocated."""

from __future__ import annotations

import gc
import threading

import numpy as np
import pytest

import bindless as bl
from bindless.backends.level_zero import context as _context
from tests.interop.native_level_zero.level_zero_objects import BOTH, command_on, fill_all
from tests.interop.raw_level_zero import Raw, ffi, lib
from tests.support.error_checks import raises

pytestmark = [pytest.mark.level_zero, pytest.mark.on_level_zero]


@BOTH
@pytest.mark.parametrize("kind", ["device", "host", "shared"])
def test_a_buffer_over_native_memory(raw: Raw, kept: bl.Context, kind: str, ownership: str) -> None:
    memory = raw.memory(kind, 64 * 4)
    values = np.arange(64, dtype="int32")
    native = raw.queue(True)
    source = ffi.from_buffer(values)
    raw.run(native, lambda own: lib.zeCommandListAppendMemoryCopy(own, memory, source, 256, ffi.NULL, 0, ffi.NULL))
    buffer = bl.make_buffer("level_zero", memory, kept, "int32", ownership=ownership)
    assert (buffer.shape, buffer.dtype) == ((64,), np.dtype("int32"))
    seen: list[int] = []
    queue, reference = bl.Queue(raw.facade, kept), bl.Queue("reference:*:*")

    def look(handler: bl.Handler) -> None:
        accessor = buffer.get_access(handler, "read_write")
        handler.host_task(lambda interop: seen.append(interop.get_native_mem(accessor)))

    queue.submit(look).wait()
    assert seen == [int(ffi.cast("uintptr_t", memory))]  # used in place
    with buffer.get_host_access("read") as host:
        assert np.array_equal(host, values)

    def set_half(handler: bl.Handler) -> None:
        handler.fill(buffer.get_access(handler, "write", range=32, offset=32), 7)

    reference.submit(set_half).wait()  # in another context, of another backend
    queue.submit(look).wait()
    back = np.zeros(64, "int32")
    target = ffi.from_buffer(back)
    raw.run(native, lambda own: lib.zeCommandListAppendMemoryCopy(own, target, memory, 256, ffi.NULL, 0, ffi.NULL))
    assert np.array_equal(back, np.r_[values[:32], np.full(32, 7)])
    for item in (buffer, queue, reference):
        item.close()
    buffer = item = host = None
    kept.close()
    gc.collect()
    assert raw.is_memory(memory) is (ownership == "keep")
    raw.destroy(native)
    if ownership == "keep":
        assert lib.zeMemFree(raw.context, memory) == 0


def test_a_kept_buffer_ends_after_the_commands_that_use_it(raw: Raw, kept: bl.Context) -> None:
    pool, memory = raw.pool(), raw.memory("shared", 400)
    gate = raw.event(pool)
    queue = bl.Queue(raw.facade, kept)
    buffer = bl.make_buffer("level_zero", memory, kept, "int32", (10, 10), ownership="keep")
    opened = bl.make_event("level_zero", gate, kept, ownership="keep")
    command = command_on(queue, buffer, opened, 5)

    def open_gate() -> None:
        while not buffer.closed:  # the end has begun
            threading.Event().wait(0.001)
        lib.zeEventHostSignal(gate)

    opener = threading.Thread(target=open_gate)
    opener.start()
    buffer.close()
    assert command.status is bl.EventStatus.complete
    opener.join()
    assert raw.is_memory(memory)
    assert bytes(ffi.buffer(memory, 400)) == np.full(100, 5, "int32").tobytes()
    queue.close()
    del opened, command
    raw.destroy(gate, pool)
    assert lib.zeMemFree(raw.context, memory) == 0


def test_a_transferred_buffer_ends_at_once_and_its_memory_after_the_commands(raw: Raw, kept: bl.Context) -> None:
    pool, memory = raw.pool(), raw.memory("device", 400)
    gate = raw.event(pool)
    queue = bl.Queue(raw.facade, kept)
    buffer = bl.make_buffer("level_zero", memory, kept, "int32", (10, 10))
    opened = bl.make_event("level_zero", gate, kept, ownership="keep")
    command = command_on(queue, buffer, opened, 5)
    buffer.close()
    del buffer
    gc.collect()
    assert command.status is not bl.EventStatus.complete and raw.is_memory(memory)
    assert lib.zeEventHostSignal(gate) == 0
    queue.wait()
    gc.collect()
    assert not raw.is_memory(memory)
    queue.close()
    del opened, command
    raw.destroy(gate, pool)


@BOTH
def test_a_buffer_that_is_only_dropped(raw: Raw, kept: bl.Context, ownership: str) -> None:
    memory = raw.memory("shared", 64)
    buffer = bl.make_buffer("level_zero", memory, kept, "float64", ownership=ownership)
    part = buffer.sub_buffer(0, 4)
    del buffer
    assert raw.is_memory(memory) and part.size == 4
    del part
    gc.collect()
    assert raw.is_memory(memory) is (ownership == "keep")
    if ownership == "keep":
        assert lib.zeMemFree(raw.context, memory) == 0


@BOTH
def test_a_buffer_waits_until_its_memory_is_available(raw: Raw, kept: bl.Context, ownership: str) -> None:
    pool, memory = raw.pool(), raw.memory("shared", 16)
    gate = raw.event(pool)
    event = bl.make_event("level_zero", gate, kept, ownership="keep")
    buffer = bl.make_buffer("level_zero", memory, kept, "int32", available_event=event, ownership=ownership)
    queue = bl.Queue(raw.facade, kept)
    found = np.zeros(4, "int32")

    def read(handler: bl.Handler) -> None:
        handler.copy(buffer.get_access(handler, "read"), found)

    command = queue.submit(read)
    assert command.status is not bl.EventStatus.complete
    ffi.buffer(memory, 16)[:] = np.arange(4, dtype="int32").tobytes()
    assert lib.zeEventHostSignal(gate) == 0
    command.wait()
    assert list(found) == [0, 1, 2, 3]
    with buffer.get_host_access("read") as host:
        assert list(host) == [0, 1, 2, 3]
    buffer.close()
    queue.close()
    del event, command
    raw.destroy(gate, pool)
    if ownership == "keep":
        assert lib.zeMemFree(raw.context, memory) == 0


def test_memory_that_is_refused_stays_the_callers(raw: Raw, kept: bl.Context, device: bl.Device) -> None:
    memory = raw.memory("shared", 64)
    address = int(ffi.cast("uintptr_t", memory))
    host = np.zeros(4)
    for error, match, arguments in (
        (bl.InvalidError, None, (host.ctypes.data, kept, "int8")),
        (bl.InvalidError, None, (address + 8, kept, "int8")),
        (bl.InvalidError, ("68", "64"), (memory, kept, "int32", 17)),
        (bl.InvalidError, None, (memory, kept, "S100")),
        (bl.InvalidError, None, (memory, kept, "int8", (1, 2, 3, 4))),
        (bl.InvalidError, "ze_context_handle_t; it takes a void", (raw.context, kept, "int8")),
        (bl.InvalidError, None, (0, kept, "int8")),
        (bl.BackendMismatchError, None, (memory, bl.Context("reference:*:*"), "int8")),
    ):
        with raises(error, names=match):
            bl.make_buffer("level_zero", *arguments)
    with raises(bl.InvalidError, names="Event"):
        bl.make_buffer("level_zero", memory, kept, "int8", available_event=raw.context)
    buffer = bl.make_buffer("level_zero", memory, kept, "int8")
    with raises(bl.InvalidError):
        bl.make_buffer("level_zero", memory, kept, "int8")
    with raises(bl.FeatureNotSupportedError, names="get_native_mem"):
        bl.get_native(buffer)
    buffer.close()
    own = bl.usm_empty(4, "int32", device, kept)
    with raises(bl.InvalidError):
        bl.make_buffer("level_zero", int(own.pointer), kept, "int8")
    own.close()


@BOTH
def test_memory_of_another_context_is_refused(raw: Raw, ownership: str) -> None:
    """At the call, and not when the buffer is to free it."""
    memory = raw.memory("device", 64)
    other = bl.make_context("level_zero", raw.new_context(), raw.facade)
    with pytest.raises(bl.InvalidError) as refused:
        bl.make_buffer("level_zero", memory, other, "int8", ownership=ownership)
    assert refused.value.code == bl.Errc.invalid
    assert raw.is_memory(memory)
    own = bl.usm_empty(64, "uint8", raw.facade, other)
    kept = bl.make_context("level_zero", raw.context, raw.facade, ownership="keep")
    with pytest.raises(bl.InvalidError):
        bl.make_buffer("level_zero", int(own.pointer), kept, "int8", ownership=ownership)
    own.close()
    bl.make_buffer("level_zero", memory, kept, "int8").close()
    gc.collect()
    assert not raw.is_memory(memory)


def test_the_default_context_borrows_memory_of_others(raw: Raw, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is what libraries of one process share; it could not free the memory."""
    memory = raw.memory("shared", 64)
    default = bl.Context(raw.facade)
    # Old loaders have no default contexts: there the package makes one of its own.
    monkeypatch.setattr(_context, "_default_of", lambda owner: default._native.handle)
    with pytest.raises(bl.InvalidError):
        bl.make_buffer("level_zero", memory, default, "int8", ownership="transfer")
    with (
        bl.make_buffer("level_zero", memory, default, "int8", ownership="keep") as buffer,
        bl.Queue(raw.facade, default) as queue,
    ):
        queue.submit(lambda handler: fill_all(buffer, 7, handler)).wait()
    assert bytes(ffi.buffer(memory, 64)) == bytes([7]) * 64
    assert lib.zeMemFree(raw.context, memory) == 0


def test_a_buffer_of_a_context_with_several_devices_is_refused(raw: Raw) -> None:
    devices = [found for found in bl.get_devices("level_zero:*:*") if found.platform == raw.facade.platform]
    context = bl.make_context("level_zero", raw.context, devices, ownership="keep")
    memory = raw.memory("shared", 64)
    if len(devices) > 1:
        with raises(bl.InvalidError):
            bl.make_buffer("level_zero", memory, context, "int8")
        alone = bl.make_context("level_zero", raw.context, devices[1], ownership="keep")
        with raises(bl.InvalidError):
            bl.make_buffer("level_zero", memory, alone, "int8")
        del alone
    else:
        bl.make_buffer("level_zero", memory, context, "int8", ownership="keep").close()
    assert lib.zeMemFree(raw.context, memory) == 0
