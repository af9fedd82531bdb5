"""``kernel.bind``: launches, checks and kept references, on the fake backend and on the device."""

from __future__ import annotations

import gc
import struct
import weakref
from typing import Any

import numpy as np
import pytest

import bindless as bl
from tests.support.compile_kernels import load
from tests.support.error_checks import raises


@pytest.fixture(params=[True, False], ids=["in order", "out of order"])
def run(fake: Any, request: pytest.FixtureRequest) -> Any:
    with bl.Queue(in_order=request.param) as made:
        yield made


@pytest.fixture
def scale(run: Any) -> Any:
    return bl.load_kernel_bundle(b"source", run).get_kernel("scale")


def launches(fake: Any) -> list[Any]:
    return [details for method, details in fake.calls if method == "launch"]


def test_it_launches_what_parallel_for_does(fake: Any, run: Any, scale: Any) -> None:
    memory = bl.usm_empty((16,), "float32", run)
    run.parallel_for(16, scale, memory, 2.0, 16)
    bound = scale.bind(run, 16, memory, 2.0, 16)
    assert len(launches(fake)) == 1  # binding runs nothing
    events = [bound() for _ in range(5)]
    events.append(bound(depends_on=events[0]))
    for event in events:
        event.wait()
    first, *others = launches(fake)
    assert len(others) == 6 and all(other[:4] == first[:4] for other in others)
    assert bound.kernel is scale and bound.queue is run and len(bound) == 3 and bound[1] == 2.0


def test_an_argument_changes(fake: Any, run: Any, scale: Any) -> None:
    memory, other = (bl.usm_empty((16,), "float32", run) for _ in range(2))
    bound = scale.bind(run, 16, memory, 2.0, 16)
    wanted = []
    for factor in (2.0, 3.0, 3.0, 4.0):
        for count in (16, 17):
            bound[1], bound[2] = factor, count
            bound()
            wanted.append([memory.address.to_bytes(8, "little"), struct.pack("<f", factor), struct.pack("<q", count)])
    bound[-3] = other
    bound()
    wanted.append([other.address.to_bytes(8, "little"), *wanted[-1][1:]])
    assert [row[3] for row in launches(fake)] == wanted
    for index, value, message in ((1, "text", "arguments are numbers"), (0, 5, "takes a pointer"), (2, 2**70, None)):
        with raises(bl.InvalidError, names=message):
            bound[index] = value
    with pytest.raises(IndexError):
        bound[3] = 1
    bound()
    assert launches(fake)[-1][3] == wanted[-1]  # unchanged


def test_arrays_by_value_are_read_once(fake: Any, run: Any, scale: Any) -> None:
    memory, factor = bl.usm_empty((16,), "float32", run), np.array(1.0, np.float32)
    bound = scale.bind(run, 16, memory, factor, 16)
    for value in (2.0, 3.0):
        factor[...] = value
        bound()
    assert {row[3][1] for row in launches(fake)} == {struct.pack("<f", 1)}
    bound[1] = factor
    bound()
    assert launches(fake)[-1][3][1] == struct.pack("<f", 3)


def test_what_has_ended_is_told(fake: Any, run: Any, scale: Any) -> None:
    memory = bl.usm_empty((16,), "float32", run)
    bound = scale.bind(run, 16, memory, 2.0, 16)
    bound(), bound(), bound()
    memory.close()
    for _ in range(2):
        with raises(bl.InvalidError):
            bound()
    bound[0] = again = bl.usm_empty((16,), "float32", run)
    bound()
    assert launches(fake)[-1][3][0] == again.address.to_bytes(8, "little")
    scale.bundle.close()
    with pytest.raises(bl.InvalidError):
        bound()
    with pytest.raises(bl.InvalidError):
        scale.bind(run, 16, again, 2.0, 16)


def test_a_handle_that_gets_another_number(fake: Any, run: Any, scale: Any) -> None:
    handle, opaque = bl.SampledImageHandle(7), scale.bundle.get_kernel("opaque")
    bound = opaque.bind(run, 16, handle)
    bound(), bound()
    handle.raw_handle = 9
    bound(), bound()
    assert [row[3][0][0] for row in launches(fake)] == [7, 7, 9, 9]


def test_nothing_runs_without_items(fake: Any, run: Any, scale: Any) -> None:
    memory = bl.usm_empty((16,), "float32", run)
    bound = scale.bind(run, 0, memory, 2.0, 16)
    bound().wait()
    assert launches(fake) == []


def test_it_keeps_and_lets_go(fake: Any, run: Any, scale: Any) -> None:
    memory = bl.usm_empty((16,), "float32", run)
    alive = weakref.ref(memory)
    bound = scale.bind(run, 16, memory, 2.0, 16)
    bound().wait()
    del memory
    gc.collect()
    assert alive() is not None
    bound().wait()
    run.wait()
    del bound
    gc.collect()
    assert alive() is None


def test_numbers_on_the_device(queue: bl.Queue) -> None:
    """Every launch uses its arguments at submission, in order and out of order."""
    for in_order in (True, False):
        with bl.Queue(queue.device, queue.context, in_order=in_order) as run:
            fill = load(run, "simple").get_kernel("fill")
            arrays = [bl.usm_empty((64,), np.int32, run) for _ in range(20)]
            bound = fill.bind(run, 64, arrays[0], 0)
            for number, array in enumerate(arrays):
                bound[0], bound[1] = array, number
                bound()
            run.wait()
            assert [set(array.numpy(run)) for array in arrays] == [{number} for number in range(20)]
            one = fill.bind(run, 64, arrays[0], 5)
            events = []
            for number in range(50):
                one[1] = number
                events.append(one(depends_on=events[-1:]))
            run.wait()
            assert set(arrays[0].numpy(run)) == {49}


def test_work_of_the_host_holds_it_back(queue: bl.Queue) -> None:
    """A deferred launch uses the arguments of its call, not later ones."""
    with bl.Queue(queue.device, queue.context, in_order=True) as run:
        fill = load(run, "simple").get_kernel("fill")
        first, second = (bl.usm_empty((64,), np.int32, run) for _ in range(2))
        bound = fill.bind(run, 64, first, 1)
        bound(), bound()
        run.submit(lambda handler: handler.host_task(lambda: None))
        bound()
        bound[0], bound[1] = second, 2
        bound()
        run.wait()
        assert set(first.numpy(run)) == {1} and set(second.numpy(run)) == {2}
