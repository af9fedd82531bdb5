"""What the backend goes round in drivers, asked of them with nothing of the backend between: each fails until it is
mended, and then says so."""

from __future__ import annotations

import gc
import threading
from collections.abc import Iterator
from typing import Any

import pytest

import bindless as bl
from bindless.drivers import opencl as driver

pytestmark = pytest.mark.opencl

lib, ffi = driver.lib, driver.ffi

FIRST = b"kernel void first(global const int *a, global int *out) { out[0] = a ? a[0] : -1; }"


@pytest.fixture
def context(cl: bl.Device, request: pytest.FixtureRequest) -> Iterator[Any]:
    """A cl_context of a device with shared virtual memory."""
    native = cl._record.native
    if not native.svm:
        pytest.skip("the driver has no shared virtual memory")
    if cl.platform.name.startswith("NVIDIA"):
        request.applymarker(pytest.mark.xfail(strict=True, raises=AssertionError, reason="a fault of NVIDIA's driver"))
    made = lib.clCreateContext(ffi.NULL, 1, ffi.new("cl_device_id[]", [native.handle]), ffi.NULL, ffi.NULL, ffi.NULL)
    yield made
    lib.clReleaseContext(made)


@pytest.fixture
def beside() -> Iterator[bl.Context]:
    """Of CUDA, which tells how much memory of the device is free."""
    try:
        made = bl.Context(bl.Device("cuda"))
    except bl.Error:
        pytest.skip("CUDA tells how much memory of the device is free")
    with made:
        yield made


def test_an_argument_that_was_shared_virtual_memory_can_be_null(cl: bl.Device, context: Any) -> None:
    """NVIDIA's driver says yes to the null pointer, and no to the launch."""
    queue = lib.clCreateCommandQueue(context, cl._record.native.handle, 0, ffi.NULL)
    text, sizes = ffi.new("char const *[]", [ffi.from_buffer(FIRST)]), ffi.new("size_t[]", [len(FIRST)])
    program = lib.clCreateProgramWithSource(context, 1, text, sizes, ffi.NULL)
    assert lib.clBuildProgram(program, 0, ffi.NULL, b"", ffi.NULL, ffi.NULL) == 0
    kernel = lib.clCreateKernel(program, b"first", ffi.NULL)
    memory, out = (lib.clSVMAlloc(context, lib.CL_MEM_READ_WRITE, 64, 0) for _ in range(2))
    try:
        assert lib.clSetKernelArgSVMPointer(kernel, 0, memory) == lib.clSetKernelArgSVMPointer(kernel, 1, out) == 0
        assert lib.clSetKernelArg(kernel, 0, 8, ffi.NULL) == 0
        one, found = ffi.new("size_t *", 1), ffi.new("int *")
        launched = lib.clEnqueueNDRangeKernel(queue, kernel, 1, ffi.NULL, one, ffi.NULL, 0, ffi.NULL, ffi.NULL)
        assert launched == 0
        assert lib.clEnqueueSVMMemcpy(queue, 1, found, out, 4, 0, ffi.NULL, ffi.NULL) == 0
        assert found[0] == -1
    finally:
        lib.clFinish(queue)
        for pointer in (memory, out):
            lib.clSVMFree(context, pointer)
        lib.clReleaseKernel(kernel)
        lib.clReleaseProgram(program)
        lib.clReleaseCommandQueue(queue)


def test_threads_allocate_and_free_at_once(context: Any) -> None:
    """NVIDIA's driver finds no memory in a third of these calls."""
    failed: list[int] = []

    def work() -> None:
        for number in range(200):
            memory = lib.clSVMAlloc(context, lib.CL_MEM_READ_WRITE, 4096, 0)
            if memory == ffi.NULL:
                failed.append(number)
            else:
                lib.clSVMFree(context, memory)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []


def test_a_fill_lets_go_of_its_context(cl: bl.Device, context: Any, beside: bl.Context) -> None:
    """NVIDIA's driver keeps the contexts that shared memory was filled in, half a gigabyte of the device's each."""
    free = []
    for _ in range(3):
        filled_and_released(cl._record.native.handle)
        free.append(free_memory(beside))
    assert free[0] - free[-1] < 500 << 20


def test_contexts_come_and_go(cl: bl.Device, beside: bl.Context) -> None:
    """With fills and copies in each, the device has as much memory as before."""
    free = []
    for _ in range(4):
        with bl.Context(cl) as own, bl.Queue(context=own) as queue:
            array = bl.usm_empty(1000, "u1", queue)
            queue.memset(array, 7).wait()
            assert array.numpy(queue).tolist() == [7] * 1000
            queue.fill(array[100:200], 9).wait()
            assert array.numpy(queue).tolist() == [7] * 100 + [9] * 100 + [7] * 800
        del array, own, queue
        gc.collect()
        free.append(free_memory(beside))
    assert free[0] - free[-1] < 500 << 20


def filled_and_released(device: Any) -> None:
    own = lib.clCreateContext(ffi.NULL, 1, ffi.new("cl_device_id[]", [device]), ffi.NULL, ffi.NULL, ffi.NULL)
    queue = lib.clCreateCommandQueue(own, device, 0, ffi.NULL)
    memory = lib.clSVMAlloc(own, lib.CL_MEM_READ_WRITE, 64, 0)
    assert lib.clEnqueueSVMMemFill(queue, memory, b"\1", 1, 64, 0, ffi.NULL, ffi.NULL) == 0
    assert lib.clFinish(queue) == 0
    lib.clSVMFree(own, memory)
    lib.clReleaseCommandQueue(queue)
    lib.clReleaseContext(own)


def free_memory(beside: bl.Context) -> int:
    """Bytes of the device that nobody has, as CUDA tells."""
    from bindless.drivers import cuda

    free, total = cuda.ffi.new("size_t *"), cuda.ffi.new("size_t *")
    (primary,) = beside._native.primaries.values()
    with primary:
        cuda.check(cuda.lib.cuMemGetInfo(free, total), "cuMemGetInfo")
    return int(free[0])
