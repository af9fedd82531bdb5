"""A garbage collection may run a finalizer that uses a stream during a call on the same stream."""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import bindless as bl
from bindless.backends.level_zero import stream as _stream
from bindless.backends.level_zero.event import TimedEvent
from bindless.backends.level_zero.event_pool import NativeEvent
from bindless.backends.level_zero.stream import nothing
from bindless.drivers import level_zero as driver

pytestmark = [pytest.mark.level_zero, pytest.mark.on_level_zero, pytest.mark.timeout(120)]

lib, ffi = driver.lib, driver.ffi

SOURCE = "kernel void put(global int *data, int value) { data[get_global_id(0)] = value; }"
COUNT = 256


def made_queue(device: bl.Device, context: bl.Context, profiling: bool = False) -> Iterator[bl.Queue]:
    with bl.Queue(device, context, in_order=True, enable_profiling=profiling) as made:
        yield made
        made.wait()


@pytest.fixture
def queue(device: bl.Device, context: bl.Context) -> Iterator[bl.Queue]:
    yield from made_queue(device, context)


@pytest.fixture
def timed(device: bl.Device, context: bl.Context) -> Iterator[bl.Queue]:
    yield from made_queue(device, context, profiling=True)


@pytest.fixture(params=[False, True], ids=["plain", "profiling"])
def either(request: pytest.FixtureRequest, device: bl.Device, context: bl.Context) -> Iterator[bl.Queue]:
    yield from made_queue(device, context, request.param)


def finish(work: Callable[[], object]) -> None:
    """Run the work on another thread, to detect a thread that waits for itself."""
    failures: list[BaseException] = []
    ended = threading.Event()

    def run() -> None:
        try:
            work()
        except BaseException as error:
            failures.append(error)
        ended.set()

    threading.Thread(target=run, daemon=True).start()
    assert ended.wait(60), "a thread waits for itself"
    if failures:
        raise failures[0]


def together(work: list[Callable[[], object]]) -> None:
    """Run functions on a thread each."""
    threads = [threading.Thread(target=function, daemon=True) for function in work]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


@pytest.mark.parametrize("call", ["is_idle", "wait", "record"])
def test_while_an_event_is_made(queue: bl.Queue, call: str, monkeypatch: pytest.MonkeyPatch) -> None:
    (stream,) = queue._native.streams  # type: ignore[attr-defined]
    data, other = bl.usm_empty(COUNT, np.int32, queue), bl.usm_empty(COUNT, np.int32, queue)
    late: list[bl.Event] = []

    class Again(NativeEvent):
        @staticmethod
        def slot() -> Any:
            monkeypatch.setattr(_stream, "NativeEvent", NativeEvent)
            late.append(queue.fill(other, np.int32(7)))
            return NativeEvent.slot()

    def work() -> None:
        event = queue.fill(data, np.int32(5))
        monkeypatch.setattr(_stream, "NativeEvent", Again)
        if call == "record":
            stream.record(event._native, always=True)
        else:
            getattr(stream, call)()
        stream.wait()

    finish(work)
    assert len(late) == 1
    assert stream.is_idle()
    assert (data.numpy(queue) == 5).all()
    assert (other.numpy(queue) == 7).all()


@pytest.mark.parametrize("before", [True, False], ids=["before", "after"])
def test_while_a_command_is_submitted(either: bl.Queue, before: bool) -> None:
    """A blocked command of a finalizer, submitted before or after the interrupted one, does not complete with it, nor
    the interrupted one with the finalizer's."""
    (stream,) = either._native.streams  # type: ignore[attr-defined]
    gate = NativeEvent.take(stream.context.native.pools[False])
    gates = ffi.new("ze_event_handle_t[]", [gate.handle])
    late: list[Any] = []

    def held(own: Any, signal: Any, count: int, waits: Any) -> int:
        return int(lib.zeCommandListAppendBarrier(own, signal, 1, gates))

    def command(own: Any, signal: Any, count: int, waits: Any) -> int:
        if before:
            late.append(stream.run(held, "held"))
            late[0].record()
        result = nothing(own, signal, count, waits)
        if not before:
            late.append(stream.run(held, "held"))
            late[0].record()
        return result

    def work() -> None:
        interrupted = stream.run(command, "command")
        try:
            for _ in range(100):
                complete = interrupted.query()
                assert not (before and complete)
                assert not late[0].query()
                assert not stream.is_idle()
        finally:
            lib.zeEventHostSignal(gate.handle)
        late[0].wait()
        interrupted.wait()
        stream.wait()
        assert interrupted.query() and late[0].query() and stream.is_idle()
        if isinstance(interrupted, TimedEvent):
            submitted, start, end = interrupted.times()
            assert submitted <= start <= end

    finish(work)


def test_an_interrupted_command_behind_the_one_of_a_finalizer(either: bl.Queue) -> None:
    """The finalizer's command is counted last and runs first: its end says nothing about the interrupted one."""
    (stream,) = either._native.streams  # type: ignore[attr-defined]
    gate = NativeEvent.take(stream.context.native.pools[False])
    gates = ffi.new("ze_event_handle_t[]", [gate.handle])
    late: list[Any] = []

    def held(own: Any, signal: Any, count: int, waits: Any) -> int:
        late.append(stream.run(nothing, "late"))
        late[0].record()
        return int(lib.zeCommandListAppendBarrier(own, signal, 1, gates))

    def work() -> None:
        interrupted = stream.run(held, "held")
        try:
            late[0].wait()
            assert late[0].query()
            assert not stream.is_idle()
            assert not interrupted.query()
        finally:
            lib.zeEventHostSignal(gate.handle)
        interrupted.wait()
        stream.wait()
        assert interrupted.query() and stream.is_idle()

    finish(work)


def test_while_a_kernel_is_launched(timed: bl.Queue, monkeypatch: pytest.MonkeyPatch) -> None:
    """A finalizer launches the kernel whose launch is being submitted: each launch uses its own arguments."""
    queue = timed  # C code does not submit commands whose events have times
    kernel = bl.load_kernel_bundle(bl.build(SOURCE), queue).get_kernel("put")
    data, other = bl.usm_empty(COUNT, np.int32, queue), bl.usm_empty(COUNT, np.int32, queue)
    (stream,) = queue._native.streams  # type: ignore[attr-defined]
    run, late = stream.lists.run, []

    def again(*arguments: Any) -> int:
        if not late:
            late.append(None)
            queue.parallel_for(COUNT // 2, kernel, other, 7)
        result: int = run(*arguments)
        return result

    queue.fill(data, np.int32(0))
    queue.fill(other, np.int32(0))
    monkeypatch.setattr(stream.lists, "run", again)
    finish(lambda: queue.parallel_for(COUNT, kernel, data, 5).wait())
    assert len(late) == 1
    assert (data.numpy(queue) == 5).all()
    assert (other.numpy(queue) == 7).sum() == COUNT // 2


@pytest.mark.parametrize("immediate", [True, False], ids=["immediate", "regular"])
def test_threads_launch_one_kernel(device: bl.Device, context: bl.Context, immediate: bool) -> None:
    """Level Zero keeps arguments in the kernel: each of concurrent launches, prepared or not, uses its own."""
    kernel = bl.load_kernel_bundle(bl.build(SOURCE), context).get_kernel("put")
    kinds = {} if immediate else {"no_immediate_command_list": True}
    start = threading.Barrier(3)
    found: dict[int, list[int]] = {}

    def work(own: int) -> None:
        with bl.Queue(device, context, in_order=True, **kinds) as queue, bl.usm_empty((COUNT, 64), "i4", queue) as data:
            rows = [data[row] for row in range(COUNT)]
            start.wait()
            for row, array in enumerate(rows):
                queue.parallel_for(32 + 32 * (row % 2), kernel, array, own + row)
            found[own] = data.numpy(queue)[:, 0].tolist()

    finish(lambda: together([functools.partial(work, own) for own in (1000, 2000, 3000)]))
    assert found == {own: list(range(own, own + COUNT)) for own in (1000, 2000, 3000)}
