"""Ctrl-C at any instruction while a driver event is taken from its pool: no event is lost or reused too early."""

from __future__ import annotations

import contextlib
import functools
import gc
import itertools
import signal
import sys
from collections.abc import Iterator
from types import FrameType
from typing import Any

import pytest

import bindless as bl

pytestmark = pytest.mark.on_level_zero


@pytest.fixture
def pool(device: bl.Device) -> Iterator[Any]:
    """A pool of three unused events."""
    from bindless.backends.level_zero.context import NativeContext
    from bindless.backends.level_zero.event_pool import EventPool, NativeEvent

    context = NativeContext.of(device._record.native.driver)
    made = EventPool(context.handle, timed=False)
    del [NativeEvent.take(made) for _ in range(3)][:]
    assert len(set(made.handles(unused=True))) == 3
    yield made
    made.close()
    context.leave()


def interrupted(pool: Any, moment: int) -> bool:
    """Take an event, interrupted at the given interpreter instruction; return whether it was reached."""
    from bindless.backends.level_zero import event_pool

    passed = itertools.count()

    def trace(frame: FrameType, event: str, _: object) -> Any:
        if frame.f_code.co_filename != event_pool.__file__:
            return None
        frame.f_trace_opcodes = True
        if event == "opcode" and next(passed) == moment:
            raise KeyboardInterrupt
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        event_pool.NativeEvent.take(pool)
    except KeyboardInterrupt:
        return True
    finally:
        sys.settrace(before)
    return False


def test_no_event_is_lost(pool: Any) -> None:
    moments = itertools.takewhile(lambda moment: interrupted(pool, moment), itertools.count())
    for moment in moments:
        gc.collect()
        unused = pool.handles(unused=True)
        assert len(set(unused)) == len(unused) == 3, f"interrupted at instruction {moment}"
    assert moment > 10
    assert len(pool.handles()) == 3


def test_an_event_is_not_used_again_before_it_was_signalled(device: bl.Device, monkeypatch: pytest.MonkeyPatch) -> None:
    from bindless.backends.level_zero import stream as _stream

    with bl.Context(device) as context, bl.Queue(context=context, in_order=True) as queue:
        array = bl.usm_empty(16, "u1", queue)
        queue.memset(array, 1).wait()
        stream = queue._native.streams[0]
        pool = stream.context.native.pools[False]
        lib, submitted = _stream.lib, []

        class Interrupting:
            """The driver's functions; Ctrl-C arrives just after an event is recorded."""

            def __getattr__(self, name: str) -> Any:
                return getattr(lib, name)

            def bindless_record(self, native: Any, index: int, held: Any) -> int:
                lib.bindless_record(native, index, held)
                submitted.append(address_of(held[0].handle))
                raise KeyboardInterrupt

        event = queue.memset(array, 2)
        monkeypatch.setattr(_stream, "lib", Interrupting())
        with pytest.raises(KeyboardInterrupt):
            event.wait()
        monkeypatch.undo()
        gc.collect()
        assert submitted and submitted[0] not in map(address_of, pool.handles(unused=True))
        event.wait()
        assert submitted[0] in map(address_of, pool.handles(unused=True))
        assert array.numpy(queue).tolist() == [2] * 16


def address_of(handle: Any) -> int:
    from bindless.drivers import level_zero as driver

    return int(driver.ffi.cast("uintptr_t", handle))


class Interrupter:
    """The driver's functions for the backend's command modules; Ctrl-C arrives just before or after a call."""

    def __init__(self, lib: Any, moment: int) -> None:
        self._lib = lib
        self._left = moment
        self.happened = False

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._lib, name)
        return (
            functools.partial(self._call, found) if name.startswith(("ze", "bindless_")) and callable(found) else found
        )

    def _call(self, function: Any, *arguments: Any) -> Any:
        self._interrupt()
        result = function(*arguments)
        self._interrupt()
        return result

    def _interrupt(self) -> None:
        self._left -= 1
        if self._left == -1:
            self.happened = True
            raise KeyboardInterrupt


class Recorder:
    """Commands for a stream, and the events that the driver receives with them."""

    def __init__(self) -> None:
        self.used: set[int] = set()

    def command(self, own: Any, signal: Any, count: int, waits: Any) -> int:
        from bindless.drivers import level_zero as driver

        result = int(driver.lib.zeCommandListAppendBarrier(own, signal, count, waits))
        handles = [waits[place] for place in range(count)] + ([] if signal == driver.ffi.NULL else [signal])
        self.used.update(map(address_of, handles))
        return result


@pytest.mark.parametrize("parts", [1, 2])
@pytest.mark.parametrize("immediate", [True, False], ids=["immediate", "regular"])
@pytest.mark.survives_faults
def test_no_command_is_lost(device: bl.Device, monkeypatch: pytest.MonkeyPatch, immediate: bool, parts: int) -> None:
    """Wherever Ctrl-C arrives: an event passed to the driver is not reused before its command completes, the queue
    waits for the command, later commands work, and nothing is left at the end."""
    from bindless.backends.level_zero import command_list, event_pool
    from bindless.backends.level_zero import stream as _stream
    from bindless.backends.level_zero.event_pool import NativeEvent

    modules = command_list, event_pool, _stream
    backend, native = device._backend, device._record.native
    context = backend.create_context([native])
    other = backend.create_queue(context, native, in_order=True, profiling=False)
    pools = context.native.pools
    for pool in pools:  # an event interrupted during its creation stays unused until the pool is destroyed
        del [NativeEvent.take(pool) for _ in range(8)][:]
    gates = backend.event_pools.create_event_pool(context, 1, shared=False, timed=False)
    gate = backend.event_pools.pool_event(gates, 0)
    for moment in itertools.count():
        interrupter, recorder = Interrupter(_stream.lib, moment), Recorder()
        backend.event_pools.reset_event(gate)
        queue = backend.create_queue(context, native, in_order=True, profiling=True, immediate=immediate)
        backend.event_pools.enqueue_wait(queue, gate)
        awaited = backend.barrier(other)
        first = recorder.command if parts == 2 else None
        with monkeypatch.context() as patched, contextlib.suppress(KeyboardInterrupt):
            for module in modules:
                patched.setattr(module, "lib", interrupter)
            queue.run(recorder.command, "barrier", [awaited], first=first)
        gc.collect()
        unused = [address_of(handle) for pool in pools for handle in pool.handles(unused=True)]
        del awaited
        assert not recorder.used.intersection(unused), f"interrupted at call {moment}"
        backend.event_pools.signal_event(gate)
        backend.wait_queue(queue)
        backend.wait_event(queue.run(recorder.command, "barrier"))
        backend.release_queue(queue)
        backend.barrier(other)  # the stream releases the event first
        backend.wait_queue(other)
        del queue
        gc.collect()
        for pool in pools:
            assert set(pool.handles(unused=True)) == set(pool.handles()), f"interrupted at call {moment}"
        if not interrupter.happened:
            break
    assert moment > 4
    backend.event_pools.close_event_pool(gates)
    backend.release_queue(other)
    backend.release_context(context)


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs POSIX interval timers")
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # an interrupt in a finalizer
def test_signals_leave_no_lock_held(device: bl.Device) -> None:
    """Real signals during commands: afterwards the stream's lock is free and the queue works."""

    struck = False

    def interrupt(*_: object) -> None:
        nonlocal struck
        struck = True  # ends the loop below: Python drops exceptions of a finalizer
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        with bl.Context(device) as context, bl.Queue(context=context, in_order=True) as queue:
            array = bl.usm_empty(16, "u1", queue)
            for hit in range(300):
                with contextlib.suppress(KeyboardInterrupt):
                    struck = False
                    signal.setitimer(signal.ITIMER_REAL, 1e-6 * (1 + hit))
                    while not struck:
                        queue.memset(array, 2, depends_on=queue.memset(array, 1)).wait()
                assert queue._native.streams[0].lock.depth == 0
            queue.memset(array, 3).wait()
            assert array.numpy(queue).tolist() == [3] * 16
    finally:
        signal.signal(signal.SIGALRM, before)
