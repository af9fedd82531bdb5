"""Peers of ``bindless bench``: launches by direct calls of the reference driver, of Level Zero and of OpenCL, through
the bindings.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..interop import get_native
from ..model.enums import Backend
from ..sycl.device.context import Context
from ..sycl.kernel.bundle import load_kernel_bundle
from ..sycl.kernel.kernel import Kernel
from ..sycl.queue.queue import Queue
from .measure import Work

__all__ = ["native_launches"]


def native_launches(
    queue: Queue, source: bytes, name: str, arguments: tuple[np.generic, ...], calls: int
) -> dict[str, Work]:
    """Return the same number of single-item launches and a wait, in a separate native queue; empty for other back ends.

    Parameters
    ----------
    queue : Queue
        Queue of the context and device to use.
    source, name
        The module and its kernel.
    arguments : tuple[Any, ...]
        Numpy scalars.
    calls : int
        Number of launches in each measurement.
    """
    makers = {Backend.reference: _reference, Backend.level_zero: _level_zero, Backend.opencl: _opencl}
    maker = makers.get(queue.device.backend)
    if maker is None:
        return {}
    own = Queue(queue.device, queue.context, in_order=True)
    kernel = load_kernel_bundle(source, own).get_kernel(name)
    return maker(own, kernel, [argument.tobytes() for argument in arguments], calls)


def _number(thing: Context | Queue | Kernel) -> int:
    native: Any = get_native(thing)
    return int(native)


def _reference(queue: Queue, kernel: Kernel, arguments: list[bytes], calls: int) -> dict[str, Work]:
    from ..drivers import reference as driver

    lib, ffi, check = driver.lib, driver.ffi, driver.check
    handle = ffi.cast("blr_queue_t", _number(queue))
    native = ffi.cast("blr_kernel_t", _number(kernel))
    values = [ffi.new("char[]", argument) for argument in arguments]
    places = ffi.new("void *[]", values) if values else ffi.NULL
    sizes = ffi.new("uint64_t[]", [len(argument) for argument in arguments]) if values else ffi.NULL
    one = {"dimensions": 1, "global_size": (1, 1, 1), "local_size": (1, 1, 1)}
    own = {"argument_count": len(values), "arguments": places, "argument_sizes": sizes}
    launch = ffi.new("blr_launch_t *", one | own)
    enqueue, null = lib.blrEnqueueKernel, ffi.NULL

    def work(keepalive: object = (queue, kernel, values, places, sizes)) -> None:
        for _ in range(calls):
            enqueue(handle, native, launch, 0, null, null)
        check(lib.blrQueueWait(handle, 2**64 - 1), "blrQueueWait")

    return {"blrEnqueueKernel by the bindings": work}


def _level_zero(queue: Queue, kernel: Kernel, arguments: list[bytes], calls: int) -> dict[str, Work]:
    from ..drivers import level_zero as driver

    lib, ffi, check = driver.lib, driver.ffi, driver.check
    queue_handle: Any = get_native(queue)
    if queue_handle.type != "ze_command_list_handle_t":
        return {}  # the command queue accepts command lists only
    handle = ffi.cast("ze_command_list_handle_t", _number(queue))
    native = ffi.cast("ze_kernel_handle_t", _number(kernel))
    one, append, null = ffi.new("ze_group_count_t *", (1, 1, 1)), lib.zeCommandListAppendLaunchKernel, ffi.NULL
    pool, event = ffi.new("ze_event_pool_handle_t *"), ffi.new("ze_event_handle_t *")
    of_pool = driver.make_struct("ze_event_pool_desc_t", flags=lib.ZE_EVENT_POOL_FLAG_HOST_VISIBLE, count=1)
    context = ffi.cast("ze_context_handle_t", _number(queue.context))
    check(lib.zeEventPoolCreate(context, of_pool, 0, null, pool), "zeEventPoolCreate")
    check(lib.zeEventCreate(pool[0], driver.make_struct("ze_event_desc_t"), event), "zeEventCreate")
    check(lib.zeKernelSetGroupSize(native, 1, 1, 1), "zeKernelSetGroupSize")
    for number, argument in enumerate(arguments):
        check(lib.zeKernelSetArgumentValue(native, number, len(argument), argument), "zeKernelSetArgumentValue")

    def work(keepalive: object = (queue, kernel)) -> None:
        for _ in range(calls):
            append(handle, native, one, null, 0, null)
        check(lib.zeCommandListAppendBarrier(handle, event[0], 0, null), "zeCommandListAppendBarrier")
        check(lib.zeEventHostSynchronize(event[0], 2**64 - 1), "zeEventHostSynchronize")
        check(lib.zeEventHostReset(event[0]), "zeEventHostReset")

    return {"zeCommandListAppendLaunchKernel by the bindings": work}


def _opencl(queue: Queue, kernel: Kernel, arguments: list[bytes], calls: int) -> dict[str, Work]:
    from ..drivers import opencl as driver

    lib, ffi, check = driver.lib, driver.ffi, driver.check
    backend: Any = queue._backend
    backend.wait_event(backend.launch(queue._native, kernel._native, (1,), None, arguments))  # sets the arguments
    handle, native = ffi.cast("cl_command_queue", _number(queue)), ffi.cast("cl_kernel", _number(kernel))
    one, enqueue, flush, null = ffi.new("size_t *", 1), lib.clEnqueueNDRangeKernel, lib.clFlush, ffi.NULL

    def work(keepalive: object = (queue, kernel)) -> None:
        for _ in range(calls):
            enqueue(handle, native, 1, null, one, null, 0, null, null)
            flush(handle)
        check(lib.clFinish(handle), "clFinish")

    return {"clEnqueueNDRangeKernel by the bindings": work}
