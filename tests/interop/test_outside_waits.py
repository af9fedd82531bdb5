"""A wait with a timeout names the semaphore that it waits for, and no other semaphore where that is known."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator

import numpy as np
import pytest

import bindless as bl
from bindless.submission.pending_semaphores import OutsideWaits
from tests.support.shared_files import Timeline, import_semaphore

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="file descriptors of semaphores are Linux's"),
    pytest.mark.usefixtures("files"),
]


def told(event: bl.Event) -> str:
    """The message of the timeout error."""
    with pytest.raises(bl.WaitTimeoutError) as late:
        event.wait(timeout=0.05)
    return str(late.value)


@pytest.fixture
def pair(ordered: bl.Queue) -> Iterator[tuple[list[int], list[bl.ExternalSemaphore]]]:
    """Two binary semaphores; the teardown signals both, so that the queue finishes."""
    events = [os.eventfd(0, os.EFD_CLOEXEC) for _ in range(2)]
    yield events, [import_semaphore(event, "opaque_fd", ordered) for event in events]
    for event in events:
        os.eventfd_write(event, 1)
    ordered.wait()
    for event in events:
        os.close(event)


def test_the_first_that_is_not_over(ordered: bl.Queue, pair: tuple[list[int], list[bl.ExternalSemaphore]]) -> None:
    events, (first, second) = pair
    waits = [ordered.ext_oneapi_wait_external_semaphore(each) for each in (first, second)]
    filled = ordered.fill(bl.usm_empty(4, np.int32, ordered), 1, 4)
    for event in (*waits, filled):
        assert repr(first) in told(event) and repr(second) not in told(event)
    os.eventfd_write(events[0], 1)
    waits[0].wait()
    for event in (waits[1], filled):
        assert repr(second) in told(event) and repr(first) not in told(event)


def test_of_dropped_events_nothing_is_known(
    ordered: bl.Queue, pair: tuple[list[int], list[bl.ExternalSemaphore]]
) -> None:
    """Both semaphores may block the queue then, and the message claims no more."""
    events, (first, second) = pair
    for each in (first, second):
        ordered.ext_oneapi_wait_external_semaphore(each)
    filled = ordered.fill(bl.usm_empty(4, np.int32, ordered), 1, 4)
    os.eventfd_write(events[0], 1)
    assert f"{first!r} or {second!r}, one of which nobody has signalled" in told(filled)


def test_the_semaphore_of_another_queue(
    device: bl.Device, context: bl.Context, ordered: bl.Queue, pair: tuple[list[int], list[bl.ExternalSemaphore]]
) -> None:
    """An event of another queue depends on this queue's wait."""
    _, (first, _) = pair
    waited = ordered.ext_oneapi_wait_external_semaphore(first)
    with bl.Queue(device, context) as other:
        after = other.submit(lambda handler: (handler.depends_on(waited), handler.host_task(lambda: None))[1])
        assert f"It may depend on a queue that waits for {first!r}, which nobody has signalled" in told(after)
        bl.Queue(device, context, in_order=True).ext_oneapi_signal_external_semaphore(first).wait()
        after.wait()


def test_values_of_one_timeline(ordered: bl.Queue) -> None:
    if ordered.device.backend == "opencl":
        pytest.skip("the device lacks timelines: semaphores of OpenCL are binary")
    timeline = Timeline.make(8)
    semaphore = import_semaphore(timeline.fd, "timeline_fd", ordered)
    waits = [ordered.ext_oneapi_wait_external_semaphore(semaphore, value) for value in range(1, 6)]
    timeline.value = 2
    waits[1].wait()
    for event in waits[2:]:
        assert f"{semaphore!r} to come to 3, which nobody has signalled" in told(event)
    timeline.value = 5
    waits[-1].wait()
    timeline.close()


def test_what_is_kept_does_not_grow(ordered: bl.Queue) -> None:
    """A queue that is never idle discards completed waits."""
    event = os.eventfd(0, os.EFD_CLOEXEC)
    semaphore = import_semaphore(event, "opaque_fd", ordered)
    waits, kept = OutsideWaits(), []
    for _ in range(1000):
        ordered.ext_oneapi_signal_external_semaphore(semaphore)
        kept.append(ordered.ext_oneapi_wait_external_semaphore(semaphore))
    ordered.wait()
    for each in kept:
        waits.add(semaphore, None, each)
    assert waits and len(waits) < 100 and not waits.candidates()
    del kept
    pending = OutsideWaits()
    for value in range(1000):
        pending.add(semaphore, value, bl.Event())
    assert len(pending) < 100 and pending.candidates() == {semaphore: 999}
    os.close(event)
