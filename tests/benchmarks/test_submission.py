"""Cost of submission: command groups compared with plain commands of a queue, chains of dependent commands, waits."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import bindless as bl
from tests.support.buffer_kernels import load

Compare = Callable[..., Any]
GROUPS = 500


@pytest.fixture(params=[False, True], ids=["out-of-order", "in-order"])
def any_queue(request: pytest.FixtureRequest, device: Any, context: Any) -> Any:
    with bl.Queue(device, context, in_order=request.param) as made:
        yield made


def many(queue: Any, work: Callable[[], object], count: int = GROUPS) -> Callable[[], object]:
    """Submit this many commands, and wait."""

    def run() -> None:
        for _ in range(count):
            work()
        queue.wait()

    return run


def test_copy_with_two_accessors(compare: Compare, any_queue: Any) -> None:
    one, other = bl.Buffer(np.zeros(64, np.int32)), bl.Buffer(64, np.int32)
    left, right = bl.usm_empty(64, np.int32, any_queue), bl.usm_empty(64, np.int32, any_queue)

    def group(handler: Any) -> None:
        handler.copy(one.get_access(handler, "read"), other.get_access(handler, "write", no_init=True))

    def in_usm(handler: Any) -> None:
        handler.memcpy(right, left)

    compare(
        many(any_queue, lambda: any_queue.submit(group)),
        {
            "memcpy in USM": many(any_queue, lambda: any_queue.memcpy(right, left)),
            "group in USM": many(any_queue, lambda: any_queue.submit(in_usm)),
        },
        name=f"{GROUPS} groups: copy, two accessors",
        items=GROUPS,
        unit="groups",
    )


def test_kernel_with_two_accessors(compare: Compare, any_queue: Any) -> None:
    kernel = load(any_queue).get_kernel("add")
    total, term = bl.Buffer(np.zeros(32, np.int32)), bl.Buffer(np.ones(32, np.int32))
    items = bl.NdRange(32, 32)
    left, right = bl.usm_empty(32, np.int32, any_queue), bl.usm_empty(32, np.int32, any_queue)

    def group(handler: Any) -> None:
        sums, terms = total.get_access(handler, "read_write"), term.get_access(handler, "read")
        handler.parallel_for(items, kernel, sums, terms)

    compare(
        many(any_queue, lambda: any_queue.submit(group)),
        {
            "parallel_for in USM": many(
                any_queue, lambda: any_queue.parallel_for(bl.NdRange(32, 32), kernel, left, right)
            )
        },
        name=f"{GROUPS} groups: kernel, two accessors",
        items=GROUPS,
        unit="groups",
        target=f"at most {15 * GROUPS} us: 15 us a group",
    )
    with total.get_host_access("read") as view:
        assert (view == view[0]).all() and view[0] % GROUPS == 0 and view[0] > 0


def test_chains_of_dependent_groups_are_linear(compare: Compare, any_queue: Any) -> None:
    buffer = bl.Buffer(64, np.int32)

    def group(handler: Any) -> None:
        handler.fill(buffer.get_access(handler, "read_write"), 1)

    def short_chains() -> None:
        for _ in range(10):
            many(any_queue, lambda: any_queue.submit(group), 1000)()

    compare(
        many(any_queue, lambda: any_queue.submit(group), 10_000),
        {"ten chains of 1000": short_chains},
        name="a chain of 10000 dependent groups",
        rounds=3,
        items=10_000,
        unit="groups",
        target="ten chains of 1000 >= 0.9: linear",
    )


def test_a_wait_burns_no_time_of_the_processor(compare: Compare, device: Any, context: Any) -> None:
    """Processor time of a wait for a host task, compared with a polling loop."""
    with bl.Queue(device, context) as queue:

        def waiting(wait: Callable[[bl.Event], object]) -> float:
            event = queue.submit(lambda handler: handler.host_task(lambda: time.sleep(0.2)))
            before = time.process_time()
            wait(event)
            return time.process_time() - before

        def ask(event: bl.Event) -> None:
            while event.status is not bl.EventStatus.complete:
                pass

        asleep, awake = waiting(lambda event: event.wait()), waiting(ask)
        print(f"\nwaiting 0.2 s took {asleep * 1e3:.2f} ms of the processor, asking {awake * 1e3:.2f} ms")
        compare(lambda: None, {}, name=f"a wait of 200 ms takes {asleep * 1e3:.2f} ms of the processor")
