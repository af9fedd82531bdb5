"""A free-threaded Python keeps its lock off: no module of the package asks for it, and threads share objects."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
import threading
from typing import Any

import numpy as np
import pytest

import bindless as bl
from bindless.sycl.usm import _dlpack

needs_free_threads = pytest.mark.skipif(
    not sysconfig.get_config_var("Py_GIL_DISABLED"), reason="needs a free-threaded Python"
)

PROGRAM = """
import importlib, sys
import bindless
for driver in ("cuda", "level_zero", "opencl", "reference"):
    importlib.import_module(f"bindless.drivers.{driver}._bindings")
print(sys._is_gil_enabled())
queue = bindless.Queue("reference")
array = bindless.usm_empty(4, "f4", queue)
queue.fill(array, 1).wait()
array.__dlpack__()
print(sys._is_gil_enabled())
"""


@needs_free_threads
def test_the_lock_stays_off():
    variables = {name: value for name, value in os.environ.items() if name != "PYTHON_GIL"}
    done = subprocess.run(
        [sys.executable, "-W", "error::RuntimeWarning", "-c", PROGRAM],
        capture_output=True, text=True, check=True, timeout=120, env=variables,
    )  # fmt: skip
    assert done.stdout.split() == ["False", "False"]


def run_all(functions: list[Any]) -> None:
    """Runs functions at once, each on a thread; raises the first error."""
    errors: list[BaseException] = []
    barrier = threading.Barrier(len(functions))

    def run(function: Any) -> None:
        try:
            barrier.wait()
            function()
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=run, args=(function,)) for function in functions]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]


def test_memory_closes_while_others_copy_it():
    """A copy is made whole, or refused: the memory does not end between the look at it and the driver's call."""
    for _ in range(60):
        queue = bl.Queue("reference", in_order=True)
        source, target = bl.usm_empty(64, "i4", queue), bl.usm_empty(64, "i4", queue)
        queue.fill(source, 7).wait()
        queue.memcpy(target, source).wait()

        def copy(queue=queue, source=source, target=target):
            for _ in range(50):
                try:
                    queue.memcpy(target, source)
                except bl.InvalidError:
                    return

        run_all([copy, copy, source.close])
        queue.wait()
        assert (target.numpy() == 7).all()


def test_threads_repeat_one_launch_with_their_own_arrays():
    """Rows note what is in place: each thread reads the note of its own array."""
    queue = bl.Queue("reference", in_order=True)
    size = 256
    sources = [bl.usm_empty(size, "i4", queue) for _ in range(4)]
    targets = [bl.usm_empty(size, "i4", queue) for _ in range(4)]
    for number, source in enumerate(sources):
        queue.fill(source, number)
    queue.wait()

    def repeat(number):
        for _ in range(200):
            queue.memcpy(targets[number], sources[number])

    run_all([lambda number=number: repeat(number) for number in range(4)])
    queue.wait()
    for number, target in enumerate(targets):
        np.testing.assert_array_equal(target.numpy(), np.full(size, number))


def test_a_queue_closes_while_others_ask():
    """The last thread that asks the driver releases the native queue, once."""
    for _ in range(60):
        queue = bl.Queue("reference", in_order=True)
        array = bl.usm_empty(1 << 14, "i4", queue)
        events = [queue.fill(array, number) for number in range(8)]

        def wait(events=events):
            for event in events:
                event.wait()

        run_all([wait, wait, wait, queue.close])
        assert queue._stream.waiters == 0
        assert queue._stream.resource.closed


def test_leases_of_threads_all_count():
    for _ in range(60):
        array = bl.usm_empty(16, "i4", bl.Queue("reference"))
        owner = array._owner
        leases: list[Any] = []
        run_all([lambda owner=owner, leases=leases: leases.append(owner.lease())] * 4)
        assert len(owner._leases) == 4


def test_a_capsule_is_taken_once():
    for _ in range(60):
        array = bl.usm_empty(16, "i4", bl.Queue("reference"), kind="host")
        capsule = array.__dlpack__()
        arrays: list[Any] = []

        def take(capsule=capsule, arrays=arrays):
            try:
                arrays.append(_dlpack.take_capsule(capsule))
            except ValueError:
                return

        run_all([take] * 4)
        assert len(arrays) == 1
        _dlpack.delete_taken(*arrays[0])
