"""Prepared launches that bypass Python: arguments that the driver of ``fake_cuda.c`` receives."""

from __future__ import annotations

import functools
import gc
import struct
import sys
import threading
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import bindless as bl
from bindless.drivers import cuda as driver
from tests.backends.cuda.fake_cuda import Fake
from tests.support.error_checks import raises
from tests.support.python_calls import python_calls

lib, ffi = driver.lib, driver.ffi

PTX = b"""
.target sm_75
.visible .entry four(.param .u64 .ptr .global .align 4 a, .param .u64 b, .param .f32 factor, .param .u32 count) { ret; }
.visible .entry widths(.param .u8 a, .param .u16 b, .param .u32 c, .param .u64 d, .param .f32 e, .param .f64 f) { ret; }
.visible .entry nothing() { ret; }
"""
CUDA_ERROR_INVALID_VALUE = 1


@pytest.fixture
def fake() -> Iterator[Fake]:
    made = Fake()
    made.clear()
    made.parameters()
    yield made
    made.clear()
    made.parameters()


@pytest.fixture(params=["in order", "out of order", "of another owner"])
def run(device: bl.Device, request: pytest.FixtureRequest) -> Iterator[bl.Queue]:
    if request.param == "of another owner":
        device._record.native.context().activate()
        stream = ffi.new("CUstream *")
        assert lib.cuStreamCreate(stream, lib.CU_STREAM_NON_BLOCKING) == 0
        made = bl.make_queue("cuda", stream[0], bl.Queue(device).context, device)
    else:
        made = bl.Queue(device, in_order=request.param == "in order")
    with made:
        yield made


def kernel_of(queue: bl.Queue, name: str) -> bl.Kernel:
    return bl.load_kernel_bundle(PTX, queue).get_kernel(name)


def given(fake: Fake) -> list[tuple[bytes, ...]]:
    """Arguments of every launch since the last call, as the driver received them."""
    found = [tuple(map(bytes.fromhex, line.partition(":")[2].split())) for line in fake.lines("cuLaunchKernel")]
    fake.clear()
    return found


def forms(queue: bl.Queue, kernel: bl.Kernel, size: Any) -> dict[str, Callable[..., bl.Event]]:
    """The two forms of a launch: by the queue, and bound with new arguments each time."""
    bound: list[Any] = []

    def by_bound(*arguments: object) -> bl.Event:
        if not bound:
            bound.append(kernel.bind(queue, size, *arguments))
        for index, value in enumerate(arguments):
            bound[0][index] = value
        return bound[0]()

    return {"queue": lambda *arguments: queue.parallel_for(size, kernel, *arguments), "bound": by_bound}


@pytest.mark.parametrize("call", ["cuLaunchKernel", "cuEventCreate", "cuEventRecord"])
def test_a_stream_of_another_owner(fake: Fake, device: bl.Device, call: str) -> None:
    """Repeated launches need no Python, their events work in other queues, and a failed call leaves the queue usable;
    the package refuses its own events."""
    device._record.native.context().activate()
    stream = ffi.new("CUstream *")
    assert lib.cuStreamCreate(stream, lib.CU_STREAM_NON_BLOCKING) == 0
    with bl.Queue(device) as other, bl.make_queue("cuda", stream[0], other.context, device) as run:
        kernel = kernel_of(run, "nothing")
        calls: list[str] = []
        for _ in range(4):
            run.parallel_for(8, kernel)
        sys.setprofile(lambda frame, kind, _: calls.append(frame.f_code.co_name) if kind == "call" else None)
        event = run.parallel_for(8, kernel)
        sys.setprofile(None)
        assert not calls
        fake.clear()
        other.parallel_for(8, kernel, depends_on=event)
        assert len(fake.lines("cuStreamWaitEvent")) == 1 and not fake.lines("cuEventRecord")
        with raises(bl.InvalidError):
            bl.make_event("cuda", bl.get_native(event), other.context)
        event.wait()
        kept = [run.parallel_for(8, kernel) for _ in range(3)]
        fake.fail(call, 2)
        with pytest.raises(bl.Error, match="CUDA_ERROR_OUT_OF_MEMORY"):
            for _ in range(9):
                kept.append(run.parallel_for(8, kernel))
        run.parallel_for(8, kernel).wait()
        assert all(one.status is bl.EventStatus.complete for one in kept)


@pytest.mark.parametrize("form", ["queue", "bound"])
def test_the_driver_sees_the_arguments_of_each_launch(fake: Fake, run: bl.Queue, form: str) -> None:
    kernel = kernel_of(run, "widths")
    fake.parameters(1, 2, 4, 8, 4, 8)
    launch, wanted = forms(run, kernel, 8)[form], []
    rows: list[tuple[Any, ...]] = [(1, 2, 3, 4, 5.5, 6.5)] * 3
    rows += [(255, 65535, 2**32 - 1, 2**64 - 1, -0.0, float("inf")), (-128, -(2**15), -(2**31), -(2**63), 1e-46, 1e300)]
    rows += [
        (0, 1, 2, 2**63, float("inf"), 3.0),
        (True, False, True, 7, np.float32(2), np.float64(3)),
        rows[0],
        rows[0],
    ]
    rows += [(number & 127, number, number, -number, number / 2, number / 3) for number in range(100)]
    for a, b, c, d, e, f in rows:
        launch(a, b, c, d, e, f)
        integers = [
            int(value).to_bytes(size, "little", signed=value < 0) for value, size in zip((a, b, c, d), (1, 2, 4, 8))
        ]
        wanted.append((*integers, struct.pack("<f", e), struct.pack("<d", f)))
    assert given(fake) == wanted


@pytest.mark.parametrize("form", ["queue", "bound"])
def test_what_does_not_fit_never_reaches_the_driver(fake: Fake, run: bl.Queue, form: str) -> None:
    kernel = kernel_of(run, "widths")
    launch, good = forms(run, kernel, 8)[form], (1, 2, 3, 4, 5.5, 6.5)
    for _ in range(3):
        launch(*good)
    given(fake)
    for index, value in (
        (0, 256),
        (0, -129),
        (1, 65536),
        (2, -(2**31) - 1),
        (3, 2**64),
        (4, 1e39),
        (0, 1.5),
        (5, "x"),
        (3, None),
    ):
        with pytest.raises(bl.InvalidError):
            launch(*good[:index], value, *good[index + 1 :])
    assert given(fake) == []
    launch(*good)
    assert len(given(fake)) == 1


@pytest.mark.parametrize("form", ["queue", "bound"])
def test_memory_and_handles(fake: Fake, run: bl.Queue, form: str) -> None:
    kernel = kernel_of(run, "four")
    fake.parameters(8, 8, 4, 4)
    launch, handle = forms(run, kernel, (4, 2))[form], bl.SampledImageHandle(0x1234)
    first, second = (bl.usm_empty((8,), np.float32, run) for _ in range(2))
    wanted = []
    for number in range(200):
        memory = (first, second)[number % 3 == 0]
        handle.raw_handle = number + 1
        launch(memory, handle, 2.0, number)
        wanted.append(
            (
                struct.pack("<Q", memory.address),
                struct.pack("<Q", number + 1),
                struct.pack("<f", 2),
                struct.pack("<I", number),
            )
        )
    launch(first[2:].pointer, handle, 2.0, 3)
    wanted.append((struct.pack("<Q", first.address + 8), *wanted[-1][1:3], struct.pack("<I", 3)))
    assert given(fake) == wanted
    first.close()
    with raises(bl.InvalidError):
        launch(first, handle, 2.0, 3)
    with raises(bl.InvalidError):
        launch(bl.usm_empty((8, 8), np.float32, run)[:, 2:4], handle, 2.0, 3)
    with bl.Context(run.device) as other, raises(bl.InvalidError):
        launch(bl.usm_empty((8,), np.float32, run.device, other), handle, 2.0, 3)
    assert given(fake) == []


def test_ranges_are_told_apart(fake: Fake, run: bl.Queue) -> None:
    kernel, spaces = (
        kernel_of(run, "nothing"),
        (8, (8,), (4, 2), (2, 4), (2, 2, 2), bl.Range(8), bl.NdRange(8, 4), bl.NdRange(8, 2)),
    )
    wanted = []
    for space in spaces:
        run.parallel_for(space, kernel)
        wanted.append(fake.lines("cuLaunchKernel")[-1])
    fake.clear()
    for _ in range(3):
        for space in spaces:
            run.parallel_for(space, kernel)
        run.parallel_for(0, kernel)  # runs nothing
    assert fake.lines("cuLaunchKernel") == wanted * 3
    with pytest.raises(bl.Error):
        run.parallel_for(-1, kernel)


def test_a_refusal_is_told_and_leaves_nothing_locked(fake: Fake, run: bl.Queue) -> None:
    kernel = kernel_of(run, "nothing")
    bound = kernel.bind(run, 8)
    for _ in range(3):
        run.parallel_for(8, kernel), bound()
    for launch in (lambda: run.parallel_for(8, kernel), bound):
        fake.fail("cuLaunchKernel", CUDA_ERROR_INVALID_VALUE)
        with raises(bl.NdRangeError):
            launch()
    others = [threading.Thread(target=lambda: [run.parallel_for(8, kernel) for _ in range(50)]) for _ in range(4)]
    fake.clear()
    for thread in others:
        thread.start()
    for thread in others:
        thread.join()
    run.wait()
    assert len(fake.lines("cuLaunchKernel")) == 200


def test_what_has_ended_is_refused(fake: Fake, device: bl.Device) -> None:
    for ending in ("bundle", "queue", "context"):
        with bl.Context(device) as context, bl.Queue(device, context, in_order=True) as run:
            kernel = kernel_of(run, "nothing")
            bound = kernel.bind(run, 8)
            for _ in range(3):
                run.parallel_for(8, kernel), bound()
            {"bundle": kernel.bundle, "queue": run, "context": context}[ending].close()
            fake.clear()
            for launch in (lambda run=run, kernel=kernel: run.parallel_for(8, kernel), bound):
                with raises(bl.InvalidError):
                    launch()
            assert fake.lines("cuLaunchKernel") == []


def test_memory_lives_until_the_launch_has_run(fake: Fake, run: bl.Queue) -> None:
    kernel, memory = kernel_of(run, "four"), bl.usm_empty((8,), np.float32, run)
    for _ in range(300):
        run.parallel_for(8, kernel, memory, 1, 2.0, 3)
    alive = weakref.ref(memory._owner)
    del memory
    gc.collect()
    assert alive() is not None
    run.wait()
    gc.collect()
    assert alive() is None


def test_launches_keep_neither_kernel_nor_queue(device: bl.Device) -> None:
    run = bl.Queue(device, in_order=True)
    kernel = kernel_of(run, "nothing")
    for size in range(1, 200):
        run.parallel_for(size, kernel)
    assert 0 < run._stream.count_launches() <= 64
    run.wait()
    stream, seen = run._stream, weakref.ref(kernel)
    del kernel
    gc.collect()
    assert seen() is None and stream.count_launches() == 0
    kernel = kernel_of(run, "nothing")
    run.parallel_for(1, kernel), run.parallel_for(1, kernel)
    run.wait()
    seen_stream = weakref.ref(stream)
    run.close()
    del run, stream, kernel
    gc.collect()
    assert seen_stream() is None


def test_an_event_that_is_kept_is_recorded_before_the_next_launch(fake: Fake, run: bl.Queue) -> None:
    kernel = kernel_of(run, "nothing")
    for _ in range(4):
        run.parallel_for(8, kernel)
    run.wait()
    fake.clear()
    kept = [run.parallel_for(8, kernel) for _ in range(3)]
    for event in kept:
        event.wait()
        assert event.status is bl.EventStatus.complete
    assert len({id(event) for event in kept}) == 3
    fake.clear()
    for _ in range(20):
        run.parallel_for(8, kernel)
    assert len(fake.lines("cuEventRecord")) == (20 if run._native.streams[0].last_event else 0)
    assert not fake.lines("cuEventCreate")


def test_what_a_launch_waits_for(fake: Fake, device: bl.Device) -> None:
    """An in-order queue orders its own events; the driver receives every other event."""
    with bl.Queue(device, in_order=True) as run, bl.Queue(device, in_order=True) as other, bl.Queue(device) as free:
        kernel = kernel_of(run, "nothing")
        bound = kernel.bind(run, 8)
        for launch in (lambda **waits: run.parallel_for(8, kernel, **waits), bound):
            for _ in range(3):
                launch()
            fake.clear()
            first = launch()
            second = launch(depends_on=first)
            third = launch(depends_on=[first, second])
            fourth = launch(depends_on=(third,))
            assert [event.get_wait_list() for event in (first, second, third, fourth)] == [
                (), (first,), (first, second), (third,)
            ]  # fmt: skip
            assert not fake.lines("cuStreamWaitEvent")
            foreign, kept = other.parallel_for(8, kernel), free.parallel_for(8, kernel)
            assert launch(depends_on=[first, foreign, kept]).get_wait_list() == (first, foreign, kept)
            assert len(fake.lines("cuStreamWaitEvent")) == 2
            with raises(bl.InvalidError, names="depends_on"):
                launch(depends_on=[first, 5])
            with raises(bl.InvalidError, names="depends_on"):
                launch(depends_on=5)
            fourth.wait()
        alone = [free.parallel_for(8, kernel) for _ in range(3)]
        fake.clear()
        free.parallel_for(8, kernel, depends_on=alone)
        assert len(fake.lines("cuStreamWaitEvent")) == 2  # the launch shares a stream with one of the three


def test_a_chain_of_an_out_of_order_queue_stays_on_one_stream(fake: Fake, device: bl.Device) -> None:
    with bl.Queue(device) as run, bl.Queue(device) as other:
        kernel, memory = kernel_of(run, "nothing"), bl.usm_empty(4, np.int32, run)
        launch = functools.partial(run.parallel_for, 8, kernel)
        launch()
        foreign = other.parallel_for(8, kernel)
        for begin in (launch, functools.partial(run.fill, memory, np.int32(1))):
            first = begin()
            fake.clear()
            made: list[bl.Event] = []
            calls = python_calls(lambda to=made.append, after=first: to(launch(depends_on=after)))
            (second,) = made
            calls += python_calls(lambda to=made.append, after=[second, first]: to(launch(depends_on=after)))
            assert [call for call in calls if "submit_launch" in call] == []
            assert len(fake.lines("cuLaunchKernel")) == 2 and not fake.lines("cuStreamWaitEvent")
            assert made[1].get_wait_list() == (second, first)
        launch(depends_on=[made[-1], foreign]).wait()
        assert len(fake.lines("cuStreamWaitEvent")) == 1


def test_a_host_task_holds_launches_back(fake: Fake, device: bl.Device) -> None:
    with bl.Queue(device, in_order=True) as run:
        kernel, gate = kernel_of(run, "nothing"), threading.Event()
        for _ in range(3):
            run.parallel_for(8, kernel)
        run.submit(lambda handler: handler.host_task(gate.wait))
        fake.clear()
        run.parallel_for(8, kernel)
        assert fake.lines("cuLaunchKernel") == []
        gate.set()
        run.wait()
        assert len(fake.lines("cuLaunchKernel")) == 1


def test_wrong_calls_are_those_of_python(run: bl.Queue) -> None:
    kernel = kernel_of(run, "nothing")
    run.parallel_for(index_space=8, kernel=kernel).wait()
    run.parallel_for(8, kernel, depends_on=[run.parallel_for(8, kernel)]).wait()
    for wrong in (
        lambda: run.parallel_for(),
        lambda: run.parallel_for(8),
        lambda: run.parallel_for(8, kernel, unknown=1),
    ):
        with pytest.raises(TypeError):
            wrong()
    bound = kernel.bind(run, 8)
    bound(depends_on=bound()).wait()
    with pytest.raises(TypeError):
        bound(1)


class Finalized:
    """Garbage in a reference cycle; the collector runs its finalizer at an arbitrary point."""

    def __init__(self, action: Callable[[], object]) -> None:
        self.me, self.action = self, action

    def __del__(self) -> None:
        self.action()


@pytest.fixture
def collecting() -> Iterator[None]:
    """The collector runs at almost every allocation, those of a launch included."""
    before = gc.get_threshold()
    yield
    gc.set_threshold(*before)


def test_a_finalizer_may_launch_the_same(fake: Fake, run: bl.Queue, collecting: None) -> None:
    """A finalizer launches during another launch: neither uses the other's arguments."""
    kernel = kernel_of(run, "widths")
    fake.parameters(1, 2, 4, 8, 4, 8)
    for number in range(3):
        run.parallel_for(1, kernel, 1, 2, 3, number, 5.0, 6.0)
    given(fake)
    inner: list[int] = []

    def launch_again() -> None:
        inner.append(1000 + len(inner))
        run.parallel_for(1, kernel, 1, 2, 3, inner[-1], 5.0, 6.0)

    for number in range(50):
        Finalized(launch_again)
        gc.set_threshold(1)
        run.parallel_for(1, kernel, 1, 2, 3, number, 5.0, 6.0)
        gc.set_threshold(100000)
    gc.collect()
    counts = [int.from_bytes(row[3], "little") for row in given(fake)]
    assert [count for count in counts if count < 1000] == list(range(50))
    assert [count for count in counts if count >= 1000] == inner and inner
    run.wait()


def test_a_finalizer_may_close_the_queue(fake: Fake, device: bl.Device, collecting: None) -> None:
    """A finalizer closes the queue during a launch, which is then not submitted."""
    for kept in (False, True):
        queue = bl.Queue(device, in_order=True)
        kernel = kernel_of(queue, "nothing")
        event = queue.parallel_for(1, kernel)
        for _ in range(3):
            event = queue.parallel_for(1, kernel)
        if not kept:
            del event
        given(fake)
        Finalized(queue.close)
        gc.set_threshold(1)
        try:
            with raises(bl.InvalidError):
                for _ in range(1000):
                    queue.parallel_for(1, kernel)
        finally:
            gc.set_threshold(100000)
        count = len(given(fake))
        with raises(bl.InvalidError):
            queue.parallel_for(1, kernel)
        assert len(given(fake)) == 0 and count < 1000
