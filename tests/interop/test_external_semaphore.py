"""External semaphores: waits and signals of queues, their order, and refusals.

Binary semaphores are eventfds and timelines are numbers in files. The test itself signals and reads both: they are the
same on every device that supports them.
"""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import bindless as bl
from tests.support.ctrl_c import INTERRUPTED_WAITS
from tests.support.error_checks import raises
from tests.support.shared_files import (
    SharedFile,
    Timeline,
    descriptors,
    descriptors_return_to,
    import_file,
    import_semaphore,
)

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="file descriptors of semaphores are Linux's"),
    pytest.mark.usefixtures("files"),
]


@pytest.fixture
def event_fd() -> Iterator[int]:
    fd = os.eventfd(0, os.EFD_NONBLOCK | os.EFD_CLOEXEC)
    yield fd
    os.close(fd)


@pytest.fixture
def timeline() -> Iterator[Timeline]:
    made = Timeline.make(8)
    yield made
    made.close()


@pytest.fixture
def numbers(ordered: bl.Queue) -> bl.UsmArray:
    return bl.usm_empty(64, np.int32, ordered).copy_from(np.zeros(64, np.int32), ordered)


def is_signalled(fd: int) -> bool:
    """Whether a binary semaphore is signalled; the query resets it."""
    try:
        return os.eventfd_read(fd) > 0
    except BlockingIOError:
        return False


# ---------------------------------------------------------------------- order


def test_a_binary_semaphore(ordered: bl.Queue, numbers: bl.UsmArray, event_fd: int) -> None:
    """Later work starts when the semaphore is signalled, and the wait resets it."""
    semaphore = import_semaphore(event_fd, "opaque_fd", ordered)
    waited = ordered.ext_oneapi_wait_external_semaphore(semaphore)  # R78: the call returns at once
    filled = ordered.fill(numbers, 5)
    for event in (waited, filled):
        with pytest.raises(bl.WaitTimeoutError):
            event.wait(timeout=0.01)
        assert event.status != "complete"
    os.eventfd_write(event_fd, 1)
    filled.wait()
    assert waited.status == "complete" and (numbers.numpy(ordered) == 5).all()
    assert not is_signalled(event_fd)  # R77
    ordered.ext_oneapi_signal_external_semaphore(semaphore).wait()
    ordered.ext_oneapi_wait_external_semaphore(semaphore).wait()
    assert not is_signalled(event_fd)
    bl.release_external_semaphore(semaphore, ordered)


def test_a_timeline(ordered: bl.Queue, numbers: bl.UsmArray, timeline: Timeline) -> None:
    """A wait ends at its value or a greater one, and leaves the timeline's value unchanged (R77)."""
    semaphore = import_semaphore(timeline.fd, "timeline_fd", ordered.device, ordered.context)
    ordered.ext_oneapi_wait_external_semaphore(semaphore, 3)
    filled = ordered.fill(numbers, 6)
    timeline.value = 2
    with pytest.raises(bl.WaitTimeoutError):
        filled.wait(timeout=0.05)
    timeline.value = 7
    filled.wait()
    assert timeline.value == 7  # R77
    ordered.ext_oneapi_wait_external_semaphore(semaphore, 7).wait()
    ordered.ext_oneapi_signal_external_semaphore(semaphore, 2**40).wait()
    assert timeline.value == 2**40
    bl.release_external_semaphore(semaphore, ordered.device, ordered.context)


def test_a_signal_follows_all_earlier_work(ordered: bl.Queue, timeline: Timeline, event_fd: int) -> None:
    shared = SharedFile.make(1 << 20)
    semaphores = import_semaphore(timeline.fd, "timeline_fd", ordered), import_semaphore(event_fd, "opaque_fd", ordered)
    pointer = bl.map_external_linear_memory(import_file(shared, ordered), ordered, size=1 << 20)
    gate = threading.Event()
    ordered.submit(lambda handler: handler.host_task(gate.wait))
    ordered.memset(pointer, 9, 1 << 20)
    signals = [
        ordered.ext_oneapi_signal_external_semaphore(semaphores[0], 1),
        ordered.ext_oneapi_signal_external_semaphore(semaphores[1]),
    ]
    assert timeline.value == 0 and not is_signalled(event_fd)  # R78
    gate.set()
    for signal in signals:
        signal.wait()
    assert timeline.value == 1 and is_signalled(event_fd) and (shared.bytes == 9).all()  # R78
    shared.close()


def test_queues_take_turns(device: bl.Device, context: bl.Context, timeline: Timeline) -> None:
    """Prepared commands of one queue do not serve another queue, a closed queue or a released semaphore."""
    with bl.Queue(device, context, in_order=True) as first, bl.Queue(device, context, in_order=True) as second:
        semaphore = import_semaphore(timeline.fd, "timeline_fd", first)
        for value in range(1, 7, 2):
            first.ext_oneapi_wait_external_semaphore(semaphore, value - 1)
            first.ext_oneapi_signal_external_semaphore(semaphore, value)
            second.ext_oneapi_wait_external_semaphore(semaphore, value)
            second.ext_oneapi_signal_external_semaphore(semaphore, value + 1)
        first.wait()
        second.wait()
        assert timeline.value == 6
        first.close()
        with raises(bl.InvalidError, names="Queue"):
            first.ext_oneapi_signal_external_semaphore(semaphore, 7)
        second.ext_oneapi_signal_external_semaphore(semaphore, 8).wait()
        bl.release_external_semaphore(semaphore, second)
        with raises(bl.InvalidError):
            second.ext_oneapi_signal_external_semaphore(semaphore, 9)
        assert timeline.value == 8


def test_values_of_64_bits(ordered: bl.Queue, timeline: Timeline) -> None:
    semaphore = import_semaphore(timeline.fd, "timeline_fd", ordered)
    for value in (2**63 - 1, 2**63, np.uint64(2**63 + 1), 2**64 - 1):
        ordered.ext_oneapi_signal_external_semaphore(semaphore, value)
        ordered.ext_oneapi_wait_external_semaphore(semaphore, value).wait()
        assert timeline.value == value


def test_a_signal_after_work_of_the_host(ordered: bl.Queue, timeline: Timeline) -> None:
    """The signal follows a pending host task of the queue, without blocking the caller."""
    semaphore = import_semaphore(timeline.fd, "timeline_fd", ordered)
    ordered.ext_oneapi_signal_external_semaphore(semaphore, 1).wait()
    begin, seen = threading.Event(), list[int]()

    def on_host() -> None:
        begin.wait(60)
        seen.append(timeline.value)

    ordered.submit(lambda handler: handler.host_task(on_host))
    signalled = ordered.ext_oneapi_signal_external_semaphore(semaphore, 2)
    begin.set()
    signalled.wait()
    assert seen == [1] and timeline.value == 2


@pytest.mark.parametrize("form", ["alone", "one event", "several"])
def test_forms_of_the_queue(ordered: bl.Queue, queue: bl.Queue, timeline: Timeline, event_fd: int, form: str) -> None:
    """Signals with and without a value, after no event, one and several events of any queue (R46)."""
    gate = threading.Event()
    before = [queue.submit(lambda handler: handler.host_task(gate.wait)) for _ in range(2)]
    depends_on: Any = {"alone": (), "one event": before[0], "several": before}[form]
    counted, binary = (
        import_semaphore(timeline.fd, "timeline_fd", ordered),
        import_semaphore(event_fd, "opaque_fd", ordered),
    )
    ordered.ext_oneapi_signal_external_semaphore(counted, 4, depends_on=depends_on)
    ordered.ext_oneapi_signal_external_semaphore(binary, depends_on=depends_on)
    ordered.ext_oneapi_wait_external_semaphore(counted, 4, depends_on=depends_on)
    last = ordered.ext_oneapi_wait_external_semaphore(binary, depends_on=depends_on)
    if form != "alone":
        assert timeline.value == 0 and last.status != "complete"
        assert set(last.get_wait_list()) == set(before[:1] if form == "one event" else before)
    gate.set()
    last.wait()
    assert timeline.value == 4 and not is_signalled(event_fd)
    queue.wait()


def test_forms_of_the_handler(ordered: bl.Queue, timeline: Timeline, event_fd: int) -> None:
    counted, binary = (
        import_semaphore(timeline.fd, "timeline_fd", ordered),
        import_semaphore(event_fd, "opaque_fd", ordered),
    )
    groups: list[Callable[[bl.Handler], None]] = [
        lambda handler: handler.ext_oneapi_signal_external_semaphore(counted, 4),
        lambda handler: handler.ext_oneapi_signal_external_semaphore(binary),
        lambda handler: handler.ext_oneapi_wait_external_semaphore(counted, 4),
        lambda handler: handler.ext_oneapi_wait_external_semaphore(binary),
    ]
    events = [ordered.submit(group) for group in groups]
    events[-1].wait()
    assert all(event.status == "complete" for event in events) and timeline.value == 4
    with raises(bl.InvalidError):
        ordered.submit(lambda handler: handler.ext_oneapi_wait_external_semaphore(binary, 1))


def test_two_queues_hand_a_frame_to_and_fro(device: bl.Device, timeline: Timeline) -> None:
    """A hundred frames with changing contents, ordered by one timeline; the two queues share no context."""
    shared, seen = SharedFile.make(4096), np.zeros((100, 4096), np.uint8)
    with bl.Context(device) as ours, bl.Context(device) as theirs:
        writer, reader = (bl.Queue(device, context, in_order=True) for context in (ours, theirs))
        first, second = (import_semaphore(timeline.fd, "timeline_fd", queue) for queue in (writer, reader))
        written, read = (
            bl.map_external_linear_memory(import_file(shared, queue), queue, size=4096) for queue in (writer, reader)
        )
        for frame in range(100):
            reader.ext_oneapi_wait_external_semaphore(second, 2 * frame + 1)
            reader.memcpy(seen[frame], read, 4096)
            reader.ext_oneapi_signal_external_semaphore(second, 2 * frame + 2)
            writer.ext_oneapi_wait_external_semaphore(first, 2 * frame)
            writer.memset(written, frame + 1, 4096)
            writer.ext_oneapi_signal_external_semaphore(first, 2 * frame + 1)
        reader.wait()
        writer.wait()
    assert (seen == np.arange(1, 101, dtype=np.uint8)[:, None]).all() and timeline.value == 200
    shared.close()


def test_a_waiting_queue_holds_up_no_other(device: bl.Device, context: bl.Context, timeline: Timeline) -> None:
    """Many waiting queues do not block the queues that do not wait."""
    waiting = [bl.Queue(device, context, in_order=True) for _ in range(12)]
    semaphore = import_semaphore(timeline.fd, "timeline_fd", device, context)
    events = [queue.ext_oneapi_wait_external_semaphore(semaphore, 1) for queue in waiting]
    with bl.Queue(device, context, in_order=True) as free:
        array = bl.usm_empty(1 << 16, np.int32, free)
        free.fill(array, 3).wait()
        assert (array.numpy(free) == 3).all()
        free.ext_oneapi_signal_external_semaphore(semaphore, 1).wait()
    for event in events:
        event.wait()
    for queue in waiting:
        queue.close()


# ---------------------------------------------------------------------- what is refused


def test_out_of_order_queues(queue: bl.Queue, event_fd: int) -> None:
    semaphore = import_semaphore(event_fd, "opaque_fd", queue)
    for command in (
        queue.ext_oneapi_wait_external_semaphore,
        queue.ext_oneapi_signal_external_semaphore,
        lambda each: queue.submit(lambda handler: handler.ext_oneapi_wait_external_semaphore(each)),
        lambda each: queue.submit(lambda handler: handler.ext_oneapi_signal_external_semaphore(each)),
    ):
        with raises(bl.InvalidError, names="in_order=True"):  # R75
            command(semaphore)
    assert not is_signalled(event_fd)


def test_values(ordered: bl.Queue, timeline: Timeline, event_fd: int) -> None:
    counted, binary = (
        import_semaphore(timeline.fd, "timeline_fd", ordered),
        import_semaphore(event_fd, "opaque_fd", ordered),
    )
    for command in (ordered.ext_oneapi_wait_external_semaphore, ordered.ext_oneapi_signal_external_semaphore):
        with raises(bl.InvalidError):  # R76
            command(binary, 1)
        with raises(bl.InvalidError):  # R76
            command(counted)
        for value in (-1, 2**64, "1", 1.5):
            with raises(bl.InvalidError):
                command(counted, value)  # type: ignore[arg-type]
        with raises(bl.InvalidError, names="ExternalSemaphore"):
            command(7)
    assert timeline.value == 0 and not is_signalled(event_fd)


def test_handle_types_go_with_resources(ordered: bl.Queue) -> None:
    fd, handle, name = bl.ResourceFd(0), bl.ResourceWin32Handle(4), bl.ResourceWin32Name("fence")
    for resource, handle_type in (  # R71
        (handle, "opaque_fd"),
        (name, "timeline_fd"),
        (fd, "win32_nt_handle"),
        (fd, "win32_nt_dx12_fence"),
        (fd, "timeline_win32_nt_handle"),
    ):
        with raises(bl.InvalidError, names=handle_type):
            bl.ExternalSemaphoreDescriptor(resource, handle_type)  # type: ignore[arg-type]
    for handle_type, has_values in (
        (bl.ExternalSemaphoreHandleType.win32_nt_handle, False),
        (bl.ExternalSemaphoreHandleType.win32_nt_dx12_fence, True),
        (bl.ExternalSemaphoreHandleType.timeline_win32_nt_handle, True),
    ):
        desc = bl.ExternalSemaphoreDescriptor(handle, handle_type)
        assert (desc.resource, desc.handle_type, desc.has_values) == (handle, handle_type, has_values)
        with raises(bl.FeatureNotSupportedError):
            bl.import_external_semaphore(desc, ordered)
    assert bl.ExternalSemaphoreDescriptor(fd, "timeline_fd").has_values
    assert not bl.ExternalSemaphoreDescriptor(fd, "opaque_fd").has_values


def test_descriptors_that_are_no_semaphores(ordered: bl.Queue, timeline: Timeline, event_fd: int) -> None:
    before = descriptors()
    reader, writer = os.pipe()
    closed = os.dup(event_fd)
    os.close(closed)
    for fd, handle_type in (
        (reader, "opaque_fd"),
        (writer, "timeline_fd"),
        (closed, "opaque_fd"),
        (timeline.fd, "opaque_fd"),
        (event_fd, "timeline_fd"),
    ):
        with pytest.raises(bl.InvalidError):
            bl.import_external_semaphore(bl.ExternalSemaphoreDescriptor(bl.ResourceFd(fd), handle_type), ordered)
    os.close(reader)
    os.close(writer)
    with raises(bl.InvalidError, names="ExternalSemaphoreDescriptor"):
        bl.import_external_semaphore(event_fd, ordered)  # type: ignore[arg-type]
    assert descriptors_return_to(before)


# ---------------------------------------------------------------------- ownership


def test_an_import_takes_the_descriptor_over(ordered: bl.Queue, event_fd: int, timeline: Timeline) -> None:
    before = descriptors()
    for number, handle_type in ((event_fd, "opaque_fd"), (timeline.fd, "timeline_fd")):
        fd = os.dup(number)
        desc = bl.ExternalSemaphoreDescriptor(bl.ResourceFd(fd), handle_type)
        semaphore = bl.import_external_semaphore(desc, ordered)
        assert semaphore.raw_handle != 0
        with raises(bl.InvalidError):
            bl.import_external_semaphore(desc, ordered)
        bl.release_external_semaphore(semaphore, ordered)
        for use in (
            lambda semaphore=semaphore: bl.release_external_semaphore(semaphore, ordered),
            lambda semaphore=semaphore: ordered.ext_oneapi_wait_external_semaphore(semaphore),
            lambda semaphore=semaphore: semaphore.raw_handle,
        ):
            with raises(bl.InvalidError):
                use()
        ordered.wait()
        assert descriptors_return_to(before)


def test_released_while_work_is_pending(ordered: bl.Queue, numbers: bl.UsmArray, timeline: Timeline) -> None:
    before = descriptors()
    semaphore = import_semaphore(timeline.fd, "timeline_fd", ordered)
    ordered.ext_oneapi_wait_external_semaphore(semaphore, 1)
    filled = ordered.fill(numbers, 4)
    signalled = ordered.ext_oneapi_signal_external_semaphore(semaphore, 2)
    bl.release_external_semaphore(semaphore, ordered)
    del semaphore
    timeline.value = 1
    filled.wait()
    signalled.wait()
    ordered.wait()
    assert timeline.value == 2 and descriptors_return_to(before)


def test_other_contexts(device: bl.Device, ordered: bl.Queue, event_fd: int) -> None:
    semaphore = import_semaphore(event_fd, "opaque_fd", ordered)
    with bl.Context(device) as other, bl.Queue(device, other, in_order=True) as queue:
        for use in (
            lambda: queue.ext_oneapi_signal_external_semaphore(semaphore),
            lambda: bl.release_external_semaphore(semaphore, queue),
        ):
            with raises(bl.InvalidError):
                use()
    with raises(bl.InvalidError, names="ExternalSemaphore"):
        bl.release_external_semaphore(5, ordered)  # type: ignore[arg-type]


# ---------------------------------------------------------------------- never signalled

BEGINNING = """
import os, signal, sys, threading
import numpy as np
import bindless as bl
import bindless.submission.active_streams as activity
from tests.support.shared_files import Timeline, import_semaphore
activity._PATIENCE = 0.2
timeline = Timeline.make(8)
queue = bl.Queue(DEVICE, in_order=True)
other = bl.Queue(queue.device, in_order=True)
semaphore = import_semaphore(timeline.fd, "timeline_fd", queue)
array = bl.usm_empty(100, np.int32, queue)
queue.ext_oneapi_wait_external_semaphore(semaphore, 5)
event = queue.fill(array, 3)
"""


def run(device: bl.Device, program: str, **environment: str) -> subprocess.CompletedProcess[str]:
    code = BEGINNING.replace("DEVICE", repr(f"{device.backend}:*:*")) + program
    return subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=100, env={**os.environ, **environment}
    )


def test_the_wait_can_be_interrupted(device: bl.Device) -> None:
    """Ctrl-C ends the wait of the host; another queue still works, and its signal ends the wait of the device."""
    program = f"""{INTERRUPTED_WAITS}
other.fill(bl.usm_empty(100, np.int32, other), 1).wait()
other.ext_oneapi_signal_external_semaphore(semaphore, 5).wait()
queue.wait()
print(array.numpy(queue)[0], timeline.value)
"""
    done = run(device, program)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines() == ["interrupted", "interrupted", "3 5"]


def test_the_process_ends(device: bl.Device) -> None:
    """The process reports which semaphore was never signalled, and does not hang."""
    done = run(device, "")
    assert done.returncode == 0
    assert "ExternalSemaphore timeline_fd" in done.stderr and "to come to 5" in done.stderr
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.survives_faults
def test_the_driver_gives_up(device: bl.Device) -> None:
    """After the driver's time limit the wait fails, the error names the semaphore, and the process goes on."""
    program = """
try:
    queue.wait()
except bl.Error as error:
    print(f"{semaphore.raw_handle:#x}" in str(error), error)
after = bl.usm_empty(100, np.int32, other)
other.fill(after, 3).wait()
print(after.numpy(other)[0])
"""
    done = run(device, program, BINDLESS_REFERENCE_TIMEOUT="0.3")
    assert done.returncode == 0, done.stderr
    assert "did not reach 5 within 0.3 seconds: it is at 0" in done.stdout and done.stdout.startswith("True")
    assert done.stdout.splitlines()[-1] == "3"
