"""What the backend goes round in drivers, asked of them with nothing of the backend between: each fails until it is
mended, and then says so."""

from __future__ import annotations

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
