"""Failures of running commands end in a clear report and a usable process."""

from __future__ import annotations

import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

import bindless as bl
from tests.support.compile_kernels import compiled_text
from tests.support.error_checks import raises

PROGRAM = Path(__file__).with_name("faulting_kernels.py")


WILD = "kernel void wild(ulong where) { *(volatile global int *)where = 1; }"


def run(device: bl.Device, case: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-W", "error", str(PROGRAM), f"{device.backend}:{device.type}:*", case, *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=120)


@pytest.mark.loses_device
@pytest.mark.parametrize("case", ["event", "handler"])
def test_a_kernel_that_faults_is_told_and_its_context_refuses(device, case):
    done = run(device, case)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.loses_device
def test_a_fault_that_nobody_asked_for_is_told_once_at_the_end(device):
    done = run(device, "exit")
    assert (done.returncode, done.stdout) == (0, "")
    (line,) = done.stderr.splitlines()
    assert line.startswith("bindless: an asynchronous error was never asked for: ") and "ILLEGAL_ADDRESS" in line


@pytest.mark.survives_faults
@pytest.mark.parametrize("case", ["event_goes_on", "handler_goes_on", "exit"])
def test_a_kernel_that_faults_is_an_asynchronous_error_and_its_context_goes_on(device, case, tmp_path):
    module = tmp_path / "wild.spv"
    module.write_bytes(compiled_text(WILD, "spirv"))
    done = run(device, case, str(module))
    assert (done.returncode, done.stdout) == (0, "")
    if case != "exit":
        assert done.stderr == ""
        return
    (line,) = done.stderr.splitlines()
    assert line.startswith("bindless: an asynchronous error was never asked for: ")
    assert "kernel 'wild', item_id (0): writes 4 bytes at 0x40" in line
    assert "it does not name" not in line  # the driver's text replaces the text for its code


def layers(queue: bl.Queue) -> tuple[bl.UnsampledImageHandle, bl.ImageMem]:
    desc = bl.ImageDescriptor(4, 4, num_channels=1, channel_type="fp32", type="array", array_size=2)
    memory = bl.ImageMem(desc, queue)
    queue.ext_oneapi_copy(np.ones(desc.shape, desc.dtype), memory).wait()
    return bl.create_image(memory, desc, queue), memory


def test_a_device_function_that_fails_leaves_its_queue_of_use():
    """The reference driver detects a missing layer while the command runs."""
    taken: list[bl.ExceptionList] = []
    with bl.Queue("reference", async_handler=taken.append) as queue:
        handle, memory = layers(queue)
        coords = bl.usm_empty((1, 2), np.int32, queue).copy_from(0)
        out = bl.usm_empty((1, 1), np.float32, queue).copy_from(0)
        missing = bl.usm_empty(1, np.uint32, queue).copy_from(5)
        event = bl.fetch_image_array(queue, handle, coords, missing, out=out)
        event.wait()
        assert event.status is bl.EventStatus.complete and taken == []
        queue.wait_and_throw()
        (error,) = taken.pop()
        assert error.backend == "reference" and "layer" in str(error) and error.native_name
        bl.fetch_image_array(queue, handle, coords, 1, out=out).wait()
        assert out.numpy(queue).tolist() == [[1.0]]
        queue.wait_and_throw()
        assert taken == []
        bl.destroy_image_handle(handle, queue)
        memory.close()


def test_a_failed_command_fails_what_follows_it_and_nothing_else():
    with bl.Queue("reference") as queue:
        handle, memory = layers(queue)
        coords = bl.usm_empty((1, 2), np.int32, queue).copy_from(0)
        out = bl.usm_empty((1, 1), np.float32, queue).copy_from(0)
        missing = bl.usm_empty(1, np.uint32, queue).copy_from(5)
        failed = bl.fetch_image_array(queue, handle, coords, missing, out=out)
        after = queue.memset(out, 1, depends_on=failed)
        beside = queue.memset(coords, 0)
        beside.wait()
        for event in (failed, after):
            with pytest.raises(bl.Error):
                event.wait()
        queue.wait()
        assert out.numpy(queue).tolist() == [[0.0]]
        bl.destroy_image_handle(handle, queue)
        memory.close()


@pytest.mark.parametrize("in_order", [False, True])
def test_a_host_task_that_fails_leaves_its_queue_of_use(device, context, in_order):
    def task() -> None:
        raise ZeroDivisionError("in the task")

    with bl.Queue(device, context, in_order=in_order) as queue:
        event = queue.submit(lambda handler: handler.host_task(task))
        with raises(bl.SyclRuntimeError, names="ZeroDivisionError") as caught:
            event.wait()
        assert isinstance(caught.value.__cause__, ZeroDivisionError)
        ran = threading.Event()
        queue.submit(lambda handler: handler.host_task(ran.set)).wait()
        array = bl.usm_empty(4, "u1", queue)
        queue.memset(array, 3).wait()
        assert ran.is_set() and array.numpy(queue).tolist() == [3] * 4


def test_several_failures_are_all_told(device, context):
    def fail(number: int) -> None:
        raise ValueError(number)

    queue = bl.Queue(device, context)
    for number in range(5):
        queue.submit(lambda handler, number=number: handler.host_task(lambda: fail(number)))
    with pytest.raises(bl.ExceptionList, match="5 asynchronous errors") as caught:
        queue.wait()
    assert sorted(str(error)[-1] for error in caught.value) == list("01234")
    assert list(caught.value) == list(caught.value.errors) and len(caught.value) == 5
    queue.close()


def test_a_lost_device_is_told_once(fake, monkeypatch):
    """The driver repeats the loss at every query; the package reports it once."""
    queue, other = bl.Queue(), bl.Queue()

    def lost(*_: object) -> None:
        raise bl.DeviceLostError("the device is lost", native_code=719)

    array = bl.usm_empty(4, "u1", queue)
    events = [queue.memset(array, 1), other.memset(array, 1)]
    for event in events:
        event.wait()
    for name in ("wait_queue", "wait_event", "queue_is_idle", "event_status", "copy", "fill", "allocate"):
        monkeypatch.setattr(fake, name, lost)
    for work in (queue.wait, other.wait_and_throw, queue.wait, lambda: queue.memset(array, 1)):
        with raises(bl.DeviceLostError, names="the device is lost"):
            work()
    monkeypatch.undo()
