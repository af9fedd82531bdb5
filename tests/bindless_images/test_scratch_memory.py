"""Blocks of device memory that later calls and images use again."""

from __future__ import annotations

import bindless as bl
from bindless.bindless_images.scratch_memory import give_back, leave, take
from bindless.submission.active_streams import make_room


def test_a_block_in_use_stays_with_its_queue(device: bl.Device, context: bl.Context) -> None:
    with bl.Queue(device, context, in_order=True) as queue, bl.Queue(device, context, in_order=True) as other:
        block = take(queue, 100_000)
        event = queue.memset(bl.usm_empty(4, "u1", queue).pointer, 1, 4)
        leave(queue, block)
        same = take(queue, 100_000)
        assert same is block
        event.wait()
        queue.wait()
        give_back(queue, same)
        assert take(other, 100_000) is block


def test_the_smallest_block_that_fits(queue: bl.Queue) -> None:
    make_room()  # of blocks that other tests gave back
    large, small = take(queue, 200_000), take(queue, 100_000)
    give_back(queue, large)
    give_back(queue, small)
    assert take(queue, 100_000) is small
    assert take(queue, 100_000) is large


def test_short_memory_takes_what_is_kept(queue: bl.Queue) -> None:
    block = take(queue, 100_000)
    give_back(queue, block)
    make_room()
    assert take(queue, 100_000) is not block
