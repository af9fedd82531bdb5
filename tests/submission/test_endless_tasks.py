"""Host tasks that wait for each other, or that never return."""

from __future__ import annotations

import subprocess
import sys
import textwrap
import threading
from typing import Any

import numpy as np
import pytest

import bindless as bl


def run(device: bl.Device, code: str) -> subprocess.CompletedProcess[str]:
    program = f"import threading, time\nimport numpy as np, bindless as bl\nDEVICE = '{device.backend}'\n"
    return subprocess.run(
        [sys.executable, "-c", program + textwrap.dedent(code)], capture_output=True, text=True, timeout=120
    )


@pytest.mark.parametrize("count", [1, 2, 3])
def test_host_tasks_that_wait_for_each_other_are_refused(device: bl.Device, count: int) -> None:
    """The wait that closes the cycle is refused; the remaining tasks then end."""
    queues = [bl.Queue(device) for _ in range(count)]
    events: list[bl.Event] = []
    go = threading.Event()
    errors: list[BaseException] = []

    def task(number: int) -> None:
        go.wait()
        try:
            events[(number + 1) % count].wait()
        except bl.InvalidError as error:
            errors.append(error)

    def submit(number: int) -> bl.Event:
        return queues[number].submit(lambda h: h.host_task(lambda: task(number)))

    events += [submit(number) for number in range(count)]
    go.set()
    for event in events:
        event.wait(60)
    assert errors
    for queue in queues:
        queue.close()


def test_a_host_task_may_wait_for_another(device: bl.Device) -> None:
    queue, go, done = bl.Queue(device), threading.Event(), []
    first = queue.submit(lambda h: h.host_task(lambda: (go.wait(), done.append(1))))
    second = queue.submit(lambda h: h.host_task(lambda: (first.wait(), done.append(2))))
    go.set()
    second.wait(60)
    assert done == [1, 2]


def test_the_interpreter_ends_though_a_host_task_does_not(device: bl.Device) -> None:
    done = run(
        device,
        """
        queue, buffer = bl.Queue(DEVICE), bl.Buffer(np.zeros(4, np.int32))

        def never_returns():
            time.sleep(1e6)

        def group(h):
            buffer.get_access(h, "read_write", target="host_task")
            h.host_task(never_returns)

        queue.submit(group)
        queue.submit(lambda h: h.fill(buffer.get_access(h, "write"), np.int32(1)))
        print("main is over")
        """,
    )
    assert (done.returncode, done.stdout) == (0, "main is over\n")
    assert "never_returns" in done.stderr and "Traceback" not in done.stderr


def test_the_interpreter_waits_for_host_tasks_one_after_the_other(device: bl.Device) -> None:
    done = run(
        device,
        """
        queue = bl.Queue(DEVICE, in_order=True)
        for number in range(20):
            queue.submit(lambda h, number=number: h.host_task(lambda: (time.sleep(0.05), print(number, flush=True))))
        """,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.split() == [str(number) for number in range(20)]


def test_told_failures_are_not_kept(device: bl.Device) -> None:
    """The driver frees the record of every failure that an event reported, and keeps at most one unreported failure."""
    if device.backend is not bl.Backend.reference:
        pytest.skip("counts the reference driver's failures by the memory of the process")
    queue = bl.Queue(device)
    source = "kernel void bad(global int *y, uint n) { y[n] = 1; }"
    kernel: Any = bl.load_kernel_bundle(bl.build(source), queue).get_kernel("bad")
    array = bl.usm_empty(64, np.int32, queue)

    def fail(count: int) -> int:
        failures = 0
        for _ in range(count):
            try:  # pytest.raises keeps memory of its own on a free-threaded Python
                queue.parallel_for(1, kernel, array, 2**31).wait()
            except bl.KernelError:
                failures += 1
        assert failures == count
        with open("/proc/self/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * 4096

    before = fail(1000)
    assert fail(6000) - before < 6000 * 250
