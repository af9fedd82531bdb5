"""Program: run ``bindless.level_zero`` while its driver fails at each call in turn; print calls, errors and live
objects.

Run with ZE_ENABLE_ALT_DRIVERS naming the package's own driver, and the repository's root on the path.
"""

from __future__ import annotations

import gc
from contextlib import ExitStack

import numpy as np

import bindless as bl
from bindless import level_zero as ze
from bindless.submission.command_stream import wait_for_all
from tests.backends.level_zero.level_zero_faults import FAILURE, Driver, lowest, settled
from tests.support.compile_kernels import compiled_text

SOURCE = "kernel void scale(global float *data, float factor) { data[get_global_id(0)] *= factor; }"
CODE = compiled_text(SOURCE, "spirv")


def run(device: bl.Device) -> None:
    """Use every feature once; the exit stack closes everything, whatever fails."""
    with ExitStack() as stack:
        context = stack.enter_context(bl.Context(device))
        group = ze.get_queue_groups(device)[0]
        queue = stack.enter_context(ze.create_queue(device, group, context=context, immediate=False))
        ze.get_peer_properties(device, device)
        growing = stack.enter_context(ze.GrowableArray(np.float32, queue, capacity=10_000))
        growing.append(np.ones(100), queue)
        growing.append(np.ones(5000), queue)
        assert growing.array.numpy(queue).sum() == 5100
        fence = stack.enter_context(ze.Fence(queue))
        fence.signal()
        assert fence.wait(60)
        pool = stack.enter_context(ze.EventPool(2, queue, shared=True))
        opened = stack.enter_context(ze.EventPool.open(pool.export(), queue))
        pool[0].signal_on(queue)
        opened[0].wait_on(queue)
        opened[1].signal()
        assert pool[1].wait(60)
        array = stack.enter_context(bl.usm_empty(64, np.float32, queue))
        queue.fill(array, np.float32(1))
        other = stack.enter_context(ze.open_memory(ze.export_memory(array), queue))
        ze.make_resident(other)
        ze.evict(other)
        ze.memory_ranges_barrier(queue, array)
        groups = stack.enter_context(bl.usm_empty(3, np.uint32, queue, kind="shared"))
        queue.memcpy(groups, np.array([4, 1, 1], np.uint32)).wait()
        bundle = stack.enter_context(bl.load_kernel_bundle(CODE, context))
        kernel = bundle.get_kernel("scale")
        ze.prefer_cache(kernel, "data")
        ze.launch_indirect(queue, groups, 16, kernel, array, np.float32(2))
        ze.launch_cooperative(queue, bl.NdRange(64, 64), kernel, array, np.float32(3)).wait()
        assert other.numpy(queue).sum() == 64 * 6


def main() -> None:
    device = bl.Device("level_zero:*:*")
    driver = Driver(device._record.native.driver.handle)
    for _ in range(2):  # fill the permanent caches
        driver.fail("")
        run(device)
        gc.collect()
    calls, at_rest, errors = driver.calls, lowest(driver), 0
    for number in range(1, calls + 1):
        driver.fail(f"{number}={FAILURE}")
        try:
            run(device)
        except bl.Error as error:
            errors += 1
            assert str(error), number
        driver.fail("")
        wait_for_all()  # closing a queue does not wait for its pending commands
        gc.collect()
        left = settled(driver, at_rest)
        assert left <= 0, f"call {number} of {calls}: {left} objects are left"
    print(f"{calls} calls, {errors} errors, none left")


if __name__ == "__main__":
    main()
