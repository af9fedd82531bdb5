"""Launches repeated with the same arguments: same effect as the first launch, and no object kept alive."""

from __future__ import annotations

import gc
import threading
import weakref
from typing import Any

import numpy as np
import pytest

import bindless as bl
from tests.support.error_checks import raises
from tests.support.python_calls import python_calls


@pytest.fixture
def queue(fake: Any) -> Any:
    with bl.Queue(in_order=True) as made:
        yield made


@pytest.fixture
def kernel(queue: Any) -> Any:
    return bl.load_kernel_bundle(b"source", queue).get_kernel("scale")


def launches(fake: Any) -> list[Any]:
    return [details for method, details in fake.calls if method == "launch"]


def prepared(queue: Any) -> int:
    return queue._stream.count_launches()  # type: ignore[no-any-return]


def test_repeated_launches_equal_the_first(fake: Any, queue: Any, kernel: Any) -> None:
    memory = bl.usm_empty((16,), "float32", queue)
    for _ in range(5):
        queue.parallel_for(16, kernel, memory, 2.0, 16)
    assert prepared(queue) == 1
    first, *others = launches(fake)
    assert len(others) == 4 and all(other == first for other in others)


def test_other_arguments_are_packed_anew(fake: Any, queue: Any, kernel: Any) -> None:
    memory = bl.usm_empty((16,), "float32", queue)
    factors = [np.float32(1), np.float32(1), np.float32(3), np.float32(3), np.float32(3), np.float32(1)]
    for factor in factors:
        queue.parallel_for(16, kernel, memory, factor, 16)
    assert [row[-1][1] for row in launches(fake)] == [factor.tobytes() for factor in factors]


def test_equal_is_not_the_same(fake: Any, queue: Any, kernel: Any) -> None:
    """1, 1.0 and True compare equal but are packed differently."""
    memory = bl.usm_empty((16,), "float32", queue)
    for value in (1.0, 1.0, 1.0, 1, 1, True, 1.0):
        queue.parallel_for(16, kernel, memory, value, 16)
    one = np.float32(1).tobytes(), np.int32(1).tobytes()
    assert [row[-1][1] for row in launches(fake)] == [one[0]] * 3 + [one[1]] * 3 + [one[0]]


def test_arrays_of_one_value_are_read_each_time(fake: Any, queue: Any, kernel: Any) -> None:
    memory, factor = bl.usm_empty((16,), "float32", queue), np.array(1.0, np.float32)
    for value in (1, 2, 3, 4):
        factor[...] = value
        queue.parallel_for(16, kernel, memory, factor, 16)
    assert [row[-1][1] for row in launches(fake)] == [np.float32(value).tobytes() for value in (1, 2, 3, 4)]
    assert prepared(queue) == 1


def test_a_new_number_of_a_handle_is_seen(fake: Any, queue: Any, kernel: Any) -> None:
    handle, opaque = bl.SampledImageHandle(7), kernel.bundle.get_kernel("opaque")
    for _ in range(3):
        queue.parallel_for(16, opaque, handle)
    assert prepared(queue) == 1
    handle.raw_handle = 9
    queue.parallel_for(16, opaque, handle)
    assert [int.from_bytes(row[-1][0], "little") for row in launches(fake)] == [7, 7, 7, 9]


def test_freed_memory_is_refused(queue: Any, kernel: Any) -> None:
    memory = bl.usm_empty((16,), "float32", queue)
    for _ in range(3):
        queue.parallel_for(16, kernel, memory, 2.0, 16)
    memory.close()
    with raises(bl.InvalidError):
        queue.parallel_for(16, kernel, memory, 2.0, 16)


def test_a_closed_bundle_is_refused(queue: Any, kernel: Any) -> None:
    memory = bl.usm_empty((16,), "float32", queue)
    for _ in range(3):
        queue.parallel_for(16, kernel, memory, 2.0, 16)
    kernel.bundle.close()
    with raises(bl.InvalidError):
        queue.parallel_for(16, kernel, memory, 2.0, 16)


def test_no_argument_is_kept_alive(queue: Any, kernel: Any) -> None:
    memory = bl.usm_empty((16,), "float32", queue)
    for _ in range(3):
        queue.parallel_for(16, kernel, memory, 2.0, 16)
    queue.wait()
    seen = weakref.ref(memory)
    del memory
    gc.collect()
    assert seen() is None and prepared(queue) == 1


def test_memory_lives_until_the_last_repetition_has_ended(fake: Any, queue: Any, kernel: Any) -> None:
    memory = bl.usm_empty((16,), "float32", queue)
    for _ in range(3):
        queue.parallel_for(16, kernel, memory, 2.0, 16)
    queue.wait()  # releases the objects of the first three launches
    gate = threading.Event()
    queue._enqueue(fake.gate(queue._native, gate))
    queue.parallel_for(16, kernel, memory, 2.0, 16)
    seen = weakref.ref(memory)
    del memory
    gc.collect()
    assert seen() is not None
    gate.set()
    queue.wait()
    gc.collect()
    assert seen() is None


def test_a_graph_repeats_launches_without_arguments(fake: Any, queue: Any, kernel: Any) -> None:
    """A bound launch without arguments has the length 0, and is a step like any other."""
    graph = bl.CommandGraph(queue)
    for _ in range(3):
        graph.parallel_for(1, kernel.bundle.get_kernel("empty"))
    graph.finalize()().wait()
    calls = python_calls(graph)
    assert len(launches(fake)) == 6
    assert "submission/command_stream.py:submit" not in calls


@pytest.mark.parametrize("space", [16, (4, 4), bl.Range(2, 8), bl.NdRange((4, 4), (2, 2))])
def test_every_kind_of_range(fake: Any, queue: Any, kernel: Any, space: Any) -> None:
    memory = bl.usm_empty((16,), "float32", queue)
    for _ in range(3):
        queue.parallel_for(space, kernel, memory, 2.0, 16)
    first, *others = launches(fake)
    assert prepared(queue) == 1 and all(other == first for other in others)


def test_ranges_that_are_none(queue: Any, kernel: Any) -> None:
    memory = bl.usm_empty((16,), "float32", queue)
    for space in ("x", 2.5, ([2], 3), None):
        with pytest.raises(bl.Error):
            queue.parallel_for(space, kernel, memory, 2.0, 16)
