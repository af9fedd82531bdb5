"""OpenCL C programs built by one thread and by eight at once, on every OpenCL device. A compiler that fails on an empty
kernel fails the first test, one that is not thread-safe the second. ``--stress 60`` builds for a minute."""

from __future__ import annotations

import itertools
import os
import threading
import time

import numpy as np
import pytest

import bindless as bl
from bindless import kernels

pytestmark = pytest.mark.opencl

THREADS = 8

# Each source has a unique number, different in each run, so that no driver's compiler cache contains it.
_numbers = itertools.count(os.getpid() << 20 ^ int.from_bytes(os.urandom(4), "little") << 8)


def build_empty(queue: bl.Queue) -> None:
    """Build an empty kernel."""
    name = f"empty_{next(_numbers):x}"
    bundle = bl.load_kernel_bundle(f"kernel void {name}(void) {{}}\n".encode(), queue)
    assert bundle.kernel_names == (name,)
    queue.parallel_for(64, bundle.get_kernel(name)).wait()


def build_loads_and_stores(queue: bl.Queue) -> None:
    """Build a kernel that reads and writes."""
    number = next(_numbers) & 0xFFFFFFFF
    text = f"""
    kernel void moves(global const uint *from, global uint *to)
    {{
        size_t i = get_global_id(0);
        to[i] = from[get_global_size(0) - 1 - i] * {number}u + {number >> 7}u;
    }}
    """
    given = np.arange(1000, dtype="u4") * np.uint32(2654435761)
    source, target = (bl.usm_empty(given.shape, "u4", queue) for _ in range(2))
    source.copy_from(given)
    queue.parallel_for(given.size, bl.load_kernel_bundle(text.encode(), queue).get_kernel("moves"), source, target)
    queue.wait()
    wanted = given[::-1].astype("u8") * number + (number >> 7) & 0xFFFFFFFF
    assert target.numpy(queue).tolist() == wanted.tolist()


def build_launch(queue: bl.Queue) -> None:
    """Build the shape of the package's own launch kernels: an empty one, and one with a conditional body."""
    number = next(_numbers)
    text = kernels.source("launch", "opencl_c").replace(b"bindless_", b"n%x_" % number)
    bundle = bl.load_kernel_bundle(text, queue)
    assert bundle.kernel_names == (f"n{number:x}_empty", f"n{number:x}_four_arguments")
    empty, four = map(bundle.get_kernel, bundle.kernel_names)
    out = bl.usm_empty(1, "u8", queue).copy_from(np.array([7], "u8"))
    queue.single_task(empty).wait()
    queue.single_task(four, None, number, 5, 2.75).wait()
    assert out.numpy(queue).tolist() == [7]
    queue.single_task(four, out, number, 5, 2.75).wait()
    assert out.numpy(queue).tolist() == [number + 5 + 2]


BUILDS = {"empty": build_empty, "loads and stores": build_loads_and_stores, "launch": build_launch}


@pytest.mark.parametrize("build", BUILDS)
def test_built_by_one_thread(cl_queue: bl.Queue, build: str) -> None:
    for _ in range(2):
        BUILDS[build](cl_queue)


@pytest.mark.parametrize("build", BUILDS)
@pytest.mark.parametrize("contexts", [1, THREADS])
def test_built_by_threads_at_once(pytestconfig: pytest.Config, cl: bl.Device, contexts: int, build: str) -> None:
    """Threads share one context, or have a context each."""
    made = [bl.Context(cl) for _ in range(contexts)]
    start, failed = threading.Barrier(THREADS, timeout=60), []
    end = time.monotonic() + float(pytestconfig.getoption("--stress"))

    def work(context: bl.Context) -> None:
        try:
            with bl.Queue(cl, context) as queue:
                start.wait()
                BUILDS[build](queue)
                while time.monotonic() < end:
                    BUILDS[build](queue)
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=work, args=(made[turn % contexts],)) for turn in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for context in made:
        context.close()
    assert failed == []
