"""Program: run the Level Zero backend while its driver fails at each call in turn; print calls, errors and live
objects.

Run with ZE_ENABLE_ALT_DRIVERS naming the package's own driver, which injects failures and counts its objects.
"""

from __future__ import annotations

import gc
import time
from contextlib import ExitStack
from typing import Any

import numpy as np

import bindless as bl
from bindless import kernels
from bindless.drivers import level_zero as zero
from bindless.model.copy_region import CopyRegion, HostMemory, ImageMemory
from bindless.model.enums import UsmKind
from bindless.model.image_call import ImageCall
from bindless.model.image_descriptor import ImageDescriptor
from bindless.model.sampler import BindlessImageSampler

FAILURE = "ERROR_OUT_OF_HOST_MEMORY"
DESC = ImageDescriptor(32, 16, num_channels=4, channel_type="unorm_int8")


class Driver:
    """Functions that the driver exports for tests."""

    def __init__(self, handle: Any) -> None:
        self._handle = handle
        self._rules = self._function("bindlessFailCalls", "int(*)(char const *)")
        self._calls = self._function("bindlessGetCallCount", "int(*)(uint64_t *)")
        self._objects = self._function("bindlessGetObjectCount", "int(*)(uint64_t *)")

    def _function(self, name: str, kind: str) -> Any:
        slot = zero.ffi.new("void **")
        zero.check(zero.lib.zeDriverGetExtensionFunctionAddress(self._handle, name.encode(), slot), name)
        return zero.ffi.cast(kind, slot[0])

    def fail(self, rules: str) -> None:
        assert self._rules(rules.encode()) == 0

    def _count(self, function: Any) -> int:
        slot = zero.ffi.new("uint64_t *")
        assert function(slot) == 0
        return int(slot[0])

    @property
    def calls(self) -> int:
        return self._count(self._calls)

    @property
    def objects(self) -> int:
        return self._count(self._objects)


def run(backend: Any, device: Any, immediate: bool) -> None:
    """Run the main paths; the exit stack releases everything made, whatever fails."""
    with ExitStack() as undo:
        context = backend.create_context([device])
        undo.callback(backend.release_context, context)
        for in_order, profiling in ((True, False), (False, True)):
            queue = backend.create_queue(
                context, device, in_order=in_order, profiling=profiling, immediate=None if immediate else False
            )
            undo.callback(backend.release_queue, queue)
            try:
                use(backend, device, context, queue, undo)
            finally:  # pending commands complete before the release
                backend.wait_queue(queue)


def use(backend: Any, device: Any, context: Any, queue: Any, undo: ExitStack) -> None:
    def allocate(nbytes: int, kind: UsmKind) -> int:
        address: int = backend.allocate(context, device, kind, nbytes)
        undo.callback(backend.free, context, address)
        return address

    host, pixels = np.zeros(4096, "uint8"), np.zeros(DESC.shape, "uint8")
    first, second = allocate(4096, UsmKind.device), allocate(4096, UsmKind.shared)
    event = backend.fill(queue, first + 1, b"abcdefgh", 100)
    event = backend.copy(queue, second, first, 4096, [event])
    backend.wait_event(backend.copy(queue, host.ctypes.data, second, 4096, [event]))
    assert host[1:801].tobytes() == b"abcdefgh" * 100
    address, pitch = backend.allocate_pitched(context, device, DESC.row_size, 16, 4)
    undo.callback(backend.free, context, address)
    sampler = BindlessImageSampler("clamp_to_edge", filtering="linear")
    linear = backend.create_sampled_image_usm(context, device, address, pitch, DESC, sampler)
    undo.callback(backend.destroy_image, context, linear, sampled=True)
    memory = backend.allocate_image(context, device, DESC)
    undo.callback(backend.free_image, context, memory, DESC)
    end = HostMemory(pixels.ctypes.data, DESC.extent, 4, pixels.nbytes)
    backend.wait_event(backend.copy_image(queue, CopyRegion(end, ImageMemory(memory, DESC), DESC.extent)))
    image = backend.create_sampled_image(context, device, memory, DESC, sampler)
    undo.callback(backend.destroy_image, context, image, sampled=True)
    plain = backend.create_unsampled_image(context, device, memory, DESC)
    undo.callback(backend.destroy_image, context, plain, sampled=False)
    call = ImageCall("sample", image, True, DESC, 16, first, second, np.dtype("float32"), 4)
    backend.wait_event(backend.image_call(queue, call))
    source = kernels.source("launch", "spirv")
    undo.callback(backend.release_module, backend.load_module(context, device, source))
    module = backend.linking.link_modules(context, device, [backend.linking.compile_module(context, device, source)[0]])
    undo.callback(backend.release_module, module)
    kernel = backend.get_kernel(module, "bindless_empty")
    event = backend.launch(queue, kernel, (64,), None, [])
    event = backend.barrier(queue, [event])
    backend.event_status(event)
    recorder = backend.create_queue(context, device, in_order=True, profiling=False, immediate=None)
    undo.callback(backend.release_queue, recorder)
    commands = [
        lambda waits: backend.fill(recorder, first, b"abcd", 16, waits),
        lambda waits: backend.launch(recorder, kernel, (64,), None, [], waits),
        lambda waits: backend.copy(recorder, second, first, 64, waits),
    ]
    graph = backend.graph.record_graph(recorder, commands)
    undo.callback(backend.graph.release_graph, graph)
    for _ in range(2):
        event = backend.graph.launch_graph(queue, graph, [event])
    backend.wait_queue(queue)


def settled(driver: Driver, at_rest: int) -> int:
    """Number of objects above the idle count, once the driver's threads have released theirs."""
    end = time.monotonic() + 30
    while (left := driver.objects - at_rest) > 0 and time.monotonic() < end:
        time.sleep(0.001)
    return left


def lowest(driver: Driver) -> int:
    """Number of objects that stays constant."""
    found = driver.objects
    for _ in range(50):
        time.sleep(0.002)
        found = min(found, driver.objects)
    return found


def main() -> None:
    chosen = bl.Device("level_zero:*:*")
    backend, device = chosen._backend, chosen._record.native
    driver = Driver(device.driver.handle)
    for immediate in (True, False):
        run(backend, device, immediate)  # fill the permanent caches
        gc.collect()
        driver.fail("")
        run(backend, device, immediate)
        calls = driver.calls
        at_rest = lowest(driver)
        errors = 0
        for number in range(1, calls + 1):
            driver.fail(f"{number}={FAILURE}")
            try:
                run(backend, device, immediate)
            except bl.Error as error:
                errors += 1
                assert str(error), number
            driver.fail("")
            gc.collect()
            left = settled(driver, at_rest)
            assert left <= 0, f"call {number} of {calls}: {left} objects are left"
        print(f"{'immediate' if immediate else 'regular'} lists: {calls} calls, {errors} errors, none left")


if __name__ == "__main__":
    main()
