"""Memory that calls with coefficients leave to the next ones."""

from __future__ import annotations

import pytest

import bindless as bl
from bindless.ndimage import prefilter


@pytest.fixture
def queue(monkeypatch: pytest.MonkeyPatch) -> bl.Queue:
    """A queue that leaves at most 4,096 bytes."""
    device = bl.Queue("reference").device
    monkeypatch.setattr(prefilter, "_PART", int(device.get_info("global_mem_size")) // 4096)
    return bl.Queue("reference", in_order=True)


def taken_again(queue: bl.Queue, pair: prefilter.Pair) -> bool:
    return prefilter.take(queue, pair[0].shape) is pair


def test_the_next_call_of_a_shape_takes_the_same_memory(queue: bl.Queue) -> None:
    pair = prefilter.take(queue, (8, 8))
    prefilter.give_back(queue, pair)
    assert taken_again(queue, pair)
    assert not taken_again(queue, pair)  # somebody uses it


def test_the_oldest_memory_goes_where_bytes_do_not_suffice(queue: bl.Queue) -> None:
    pairs = [prefilter.take(queue, (width, 64)) for width in (3, 4, 5)]  # 1,536, 2,048 and 2,560 bytes
    for pair in pairs[:2]:
        prefilter.give_back(queue, pair)
    prefilter.give_back(queue, pairs[2])
    assert [taken_again(queue, pair) for pair in pairs] == [False, False, True]


def test_memory_above_the_bound_is_not_left(queue: bl.Queue) -> None:
    small, large = prefilter.take(queue, (4, 4)), prefilter.take(queue, (8, 65))
    prefilter.give_back(queue, small)
    prefilter.give_back(queue, large)
    assert taken_again(queue, small)
    assert not taken_again(queue, large)


def test_a_device_without_memory_gets_back_what_was_left(queue: bl.Queue, monkeypatch: pytest.MonkeyPatch) -> None:
    left = prefilter.take(queue, (8, 8))
    prefilter.give_back(queue, left)
    allocate, refusals = queue._backend.allocate, [True]

    def refuse_once(*arguments: object) -> object:
        if refusals.pop() if refusals else False:
            raise bl.MemoryAllocationError("no memory")
        return allocate(*arguments)

    monkeypatch.setattr(queue._backend, "allocate", refuse_once)
    assert prefilter.take(queue, (16, 8))[0].shape == (16, 8)
    assert not taken_again(queue, left)
