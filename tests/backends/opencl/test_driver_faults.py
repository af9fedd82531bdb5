"""Driver faults that the backend works around, reproduced by raw OpenCL calls: each test fails as expected until the
driver is fixed, and then reports it."""

from __future__ import annotations

import gc
import itertools
import os
import statistics
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import bindless as bl
from bindless.drivers import opencl as driver
from tests.backends.opencl.failing_library import run_on
from tests.support.compile_kernels import compiled_text
from tests.support.opencl_known_bugs import is_of

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
    """A CUDA context, which reports the device's free memory."""
    try:
        made = bl.Context(bl.Device("cuda"))
    except bl.Error:
        pytest.skip("CUDA tells how much memory of the device is free")
    with made:
        yield made


@pytest.mark.parametrize("then", ["null", "a buffer"])
def test_an_argument_that_was_shared_virtual_memory_can_be(cl: bl.Device, context: Any, then: str) -> None:
    """NVIDIA's driver accepts the null pointer or the buffer as argument, and then refuses the launch."""
    queue = lib.clCreateCommandQueue(context, cl._record.native.handle, 0, ffi.NULL)
    text, sizes = ffi.new("char const *[]", [ffi.from_buffer(FIRST)]), ffi.new("size_t[]", [len(FIRST)])
    program = lib.clCreateProgramWithSource(context, 1, text, sizes, ffi.NULL)
    assert lib.clBuildProgram(program, 0, ffi.NULL, b"", ffi.NULL, ffi.NULL) == 0
    kernel = lib.clCreateKernel(program, b"first", ffi.NULL)
    memory, out = (lib.clSVMAlloc(context, lib.CL_MEM_READ_WRITE, 64, 0) for _ in range(2))
    five = ffi.new("int *", 5)
    buffer = lib.clCreateBuffer(context, lib.CL_MEM_COPY_HOST_PTR, 4, five, ffi.NULL)
    other, wanted = (ffi.NULL, -1) if then == "null" else (ffi.new("cl_mem *", buffer), 5)
    try:
        assert lib.clSetKernelArgSVMPointer(kernel, 0, memory) == lib.clSetKernelArgSVMPointer(kernel, 1, out) == 0
        assert lib.clSetKernelArg(kernel, 0, 8, other) == 0
        one, found = ffi.new("size_t *", 1), ffi.new("int *")
        launched = lib.clEnqueueNDRangeKernel(queue, kernel, 1, ffi.NULL, one, ffi.NULL, 0, ffi.NULL, ffi.NULL)
        assert launched == 0
        assert lib.clEnqueueSVMMemcpy(queue, 1, found, out, 4, 0, ffi.NULL, ffi.NULL) == 0
        assert found[0] == wanted
    finally:
        lib.clFinish(queue)
        for pointer in (memory, out):
            lib.clSVMFree(context, pointer)
        lib.clReleaseMemObject(buffer)
        lib.clReleaseKernel(kernel)
        lib.clReleaseProgram(program)
        lib.clReleaseCommandQueue(queue)


def test_rows_go_between_buffers_and_layers(cl: bl.Device, context: Any) -> None:
    """NVIDIA's driver copies only the first layer of one-dimensional arrays to and from buffers."""
    queue = lib.clCreateCommandQueue(context, cl._record.native.handle, 0, ffi.NULL)
    desc, pixel = ffi.new("cl_image_desc *"), ffi.new("cl_image_format *", (lib.CL_RGBA, lib.CL_FLOAT))
    desc.image_type, desc.image_width, desc.image_height, desc.image_array_size = (
        lib.CL_MEM_OBJECT_IMAGE1D_ARRAY, 4, 1, 2,
    )  # fmt: skip
    image = lib.clCreateImage(context, lib.CL_MEM_READ_WRITE, pixel, desc, ffi.NULL, ffi.NULL)
    buffer = lib.clCreateBuffer(context, lib.CL_MEM_READ_WRITE, 128, ffi.NULL, ffi.NULL)
    size = ffi.new("size_t[3]", (4, 1, 1))
    to, of = lib.clEnqueueCopyBufferToImage, lib.clEnqueueCopyImageToBuffer
    try:
        first, second = (ffi.new("size_t[3]", (0, layer, 0)) for layer in (0, 1))
        if to(queue, buffer, image, 0, first, size, 0, ffi.NULL, ffi.NULL) != lib.CL_SUCCESS:
            pytest.fail("the first layer is refused, too")
        assert to(queue, buffer, image, 64, second, size, 0, ffi.NULL, ffi.NULL) == lib.CL_SUCCESS
        assert of(queue, image, buffer, second, size, 0, 0, ffi.NULL, ffi.NULL) == lib.CL_SUCCESS
    finally:
        lib.clFinish(queue)
        lib.clReleaseMemObject(image)
        lib.clReleaseMemObject(buffer)
        lib.clReleaseCommandQueue(queue)


@pytest.mark.parametrize("kind", ["volume", "layers", "one slice"])
def test_a_slice_pitch_that_is_no_multiple_of_the_row_pitch(cl: bl.Device, context: Any, kind: str) -> None:
    """NVIDIA's driver refuses such a pitch for three-dimensional images and arrays, even for one slice, and accepts
    multiples."""
    queue = lib.clCreateCommandQueue(context, cl._record.native.handle, 0, ffi.NULL)
    desc, pixel = ffi.new("cl_image_desc *"), ffi.new("cl_image_format *", (lib.CL_RGBA, lib.CL_UNORM_INT8))
    desc.image_type, desc.image_width, desc.image_height, desc.image_depth = lib.CL_MEM_OBJECT_IMAGE3D, 2, 2, 2
    if kind == "layers":
        desc.image_type, desc.image_depth, desc.image_array_size = lib.CL_MEM_OBJECT_IMAGE2D_ARRAY, 1, 2
    image = lib.clCreateImage(context, lib.CL_MEM_READ_WRITE, pixel, desc, ffi.NULL, ffi.NULL)
    memory, origin, null = ffi.new("char[64]"), ffi.new("size_t[3]"), ffi.NULL
    region = ffi.new("size_t[3]", (2, 2, 1 if kind == "one slice" else 2))
    try:
        if lib.clEnqueueWriteImage(queue, image, 1, origin, region, 12, 24, memory, 0, null, null) != lib.CL_SUCCESS:
            pytest.fail("a multiple is refused, too")
        result = lib.clEnqueueWriteImage(queue, image, 1, origin, region, 12, 28, memory, 0, null, null)
        assert result == lib.CL_SUCCESS
    finally:
        lib.clFinish(queue)
        lib.clReleaseMemObject(image)
        lib.clReleaseCommandQueue(queue)


@pytest.mark.parametrize("how", ["built", "linked"])
def test_a_kernel_without_parameters_with_information_on_arguments(cl: bl.Device, context: Any, how: str) -> None:
    """NVIDIA's driver generates assembly that its assembler refuses."""
    text, asked, null = b"kernel void nothing(void) {}", b"-cl-kernel-arg-info", ffi.NULL
    texts, sizes = ffi.new("char const *[]", [ffi.from_buffer(text)]), ffi.new("size_t[]", [len(text)])
    program, slot = lib.clCreateProgramWithSource(context, 1, texts, sizes, null), ffi.new("cl_int *")
    try:
        if how == "built":
            slot[0] = lib.clBuildProgram(program, 0, null, asked, null, null)
        else:
            assert lib.clCompileProgram(program, 0, null, asked, 0, null, null, null, null) == lib.CL_SUCCESS
            programs = ffi.new("cl_program[]", [program])
            linked = lib.clLinkProgram(context, 0, null, b"", 1, programs, null, null, slot)
            if linked != null:
                lib.clReleaseProgram(linked)
        assert slot[0] == lib.CL_SUCCESS
    finally:
        lib.clReleaseProgram(program)


def test_threads_allocate_and_free_at_once(cl: bl.Device, context: Any) -> None:
    """NVIDIA's driver reports no memory for a third of these calls. A separate process runs them, because the fault may
    end the process later."""
    program = """
    import sys
    import threading
    import bindless as bl
    from bindless.drivers.opencl import ffi, lib
    device = bl.get_devices("opencl:*:*")[int(sys.argv[1])]._record.native.handle
    context = lib.clCreateContext(ffi.NULL, 1, ffi.new("cl_device_id[]", [device]), ffi.NULL, ffi.NULL, ffi.NULL)
    failed = []

    def work():
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
    print(len(failed), "without memory", flush=True)
    """
    done = run_on(cl, program)
    assert (done.returncode, done.stdout) == (0, "0 without memory\n"), done.stderr


def alone() -> None:
    if "PYTEST_XDIST_WORKER" in os.environ:
        pytest.skip("other processes take and give the device's memory meanwhile: run this one without -n")


def test_a_fill_lets_go_of_its_context(cl: bl.Device, context: Any, beside: bl.Context) -> None:
    """NVIDIA's driver keeps the contexts in which shared memory was filled, half a gigabyte of device memory each."""
    alone()
    assert kept_by(lambda: filled_and_released(cl._record.native.handle), beside) < 250 << 20


def test_contexts_come_and_go(cl: bl.Device, beside: bl.Context) -> None:
    """After fills and copies in each context, the device has as much free memory as before."""
    alone()

    def work() -> None:
        with bl.Context(cl) as own, bl.Queue(context=own) as queue:
            array = bl.usm_empty(1000, "u1", queue)
            queue.memset(array, 7).wait()
            assert array.numpy(queue).tolist() == [7] * 1000
            queue.fill(array[100:200], 9).wait()
            assert array.numpy(queue).tolist() == [7] * 100 + [9] * 100 + [7] * 800
        del array, own, queue
        gc.collect()

    assert kept_by(work, beside) < 250 << 20


def test_atomics_through_generic_pointers(cl: bl.Device, request: pytest.FixtureRequest) -> None:
    """Intel's compiler lowers these atomics to calls of functions that it lacks."""
    native = cl._record.native
    if native.il_function is None:
        pytest.skip("the driver takes no SPIR-V")
    if cl.platform.name.startswith("Intel"):
        request.applymarker(pytest.mark.xfail(strict=True, raises=AssertionError, reason="a fault of Intel's compiler"))
    results = [built_of(native.handle, incremented(through_generic)) for through_generic in (False, True)]
    if results[0] != lib.CL_SUCCESS:
        pytest.fail(f"one that is not generic does not build either: {results}")  # a different fault
    assert results[1] == lib.CL_SUCCESS


def test_a_program_lives_as_long_as_its_kernels(cl: bl.Device, request: pytest.FixtureRequest) -> None:
    """Intel's driver loses the program with its last reference; the kernel still runs."""
    if cl.platform.name.startswith("Intel"):
        request.applymarker(pytest.mark.xfail(strict=True, raises=AssertionError, reason="a fault of Intel's driver"))
    devices = ffi.new("cl_device_id[]", [cl._record.native.handle])
    own = lib.clCreateContext(ffi.NULL, 1, devices, ffi.NULL, ffi.NULL, ffi.NULL)
    text, sizes = ffi.new("char const *[]", [ffi.from_buffer(FIRST)]), ffi.new("size_t[]", [len(FIRST)])
    program = lib.clCreateProgramWithSource(own, 1, text, sizes, ffi.NULL)
    lib.clBuildProgram(program, 0, ffi.NULL, b"", ffi.NULL, ffi.NULL)
    kernel = lib.clCreateKernel(program, b"first", ffi.NULL)
    found, count = ffi.new("cl_program *"), ffi.new("cl_uint *")
    try:
        if lib.clReleaseProgram(program) or lib.clGetKernelInfo(kernel, lib.CL_KERNEL_PROGRAM, 8, found, ffi.NULL):
            pytest.fail("the driver does not come this far")
        assert lib.clGetProgramInfo(found[0], lib.CL_PROGRAM_REFERENCE_COUNT, 4, count, ffi.NULL) == lib.CL_SUCCESS
    finally:
        lib.clReleaseKernel(kernel)
        lib.clReleaseContext(own)


def test_unified_memory_lets_go_of_its_context(cl: bl.Device, request: pytest.FixtureRequest) -> None:
    """In PoCL 6 each allocation keeps the context alive, even after it was freed."""
    native = cl._record.native
    extension, allocate = "cl_intel_unified_shared_memory", "clDeviceMemAllocINTEL"
    if extension not in native.extensions or not native.platform.offers(allocate):
        pytest.skip(f"the driver has no {extension}")
    if is_of(cl, "Portable Computing Language", "6.0"):
        request.applymarker(pytest.mark.xfail(strict=True, raises=AssertionError, reason="a fault of PoCL"))
    devices = ffi.new("cl_device_id[]", [native.handle])
    own = lib.clCreateContext(ffi.NULL, 1, devices, ffi.NULL, ffi.NULL, ffi.NULL)
    piece = lib.clDeviceMemAllocINTEL(own, native.handle, ffi.NULL, 64, 0, ffi.NULL)
    if piece == ffi.NULL or lib.clMemFreeINTEL(own, piece) != lib.CL_SUCCESS:
        pytest.fail("the driver does not come this far")
    count = ffi.new("cl_uint *")
    lib.clGetContextInfo(own, lib.CL_CONTEXT_REFERENCE_COUNT, 4, count, ffi.NULL)
    lib.clReleaseContext(own)
    assert count[0] == 1


def test_images_in_opencl_c_1_2(cl: bl.Device, request: pytest.FixtureRequest) -> None:
    """PoCL 7 has the image functions in OpenCL C 3.0 and by default, but not with -cl-std=CL1.2."""
    native = cl._record.native
    if not native.has_images or native.c_version < (1, 2):
        pytest.skip("the driver has no images, or no OpenCL C 1.2")
    if is_of(cl, "Portable Computing Language", "7.1"):
        request.applymarker(pytest.mark.xfail(strict=True, raises=AssertionError, reason="a fault of PoCL"))
    source = b"kernel void f(read_only image2d_t image, global float4 *out) { *out = read_imagef(image, (int2)(0)); }"
    own = lib.clCreateContext(ffi.NULL, 1, ffi.new("cl_device_id[]", [native.handle]), ffi.NULL, ffi.NULL, ffi.NULL)
    text, sizes = ffi.new("char const *[]", [ffi.from_buffer(source)]), ffi.new("size_t[]", [len(source)])
    built = []
    for options in (b"", b"-cl-std=CL1.2"):
        program = lib.clCreateProgramWithSource(own, 1, text, sizes, ffi.NULL)
        built.append(lib.clBuildProgram(program, 0, ffi.NULL, options, ffi.NULL, ffi.NULL))
        lib.clReleaseProgram(program)
    lib.clReleaseContext(own)
    if built[0] != lib.CL_SUCCESS:
        pytest.fail(f"they are not in the default either: {built}")
    assert built[1] == lib.CL_SUCCESS


def test_the_number_of_groups_by_a_variable(cl: bl.Device, request: pytest.FixtureRequest) -> None:
    """PoCL 6 and 7 lack the variable: PoCL 6 ends the process, PoCL 7 fails the command."""
    if is_of(cl, "Portable Computing Language", "6.0", "7.1"):
        request.applymarker(pytest.mark.xfail(strict=True, raises=AssertionError, reason="a fault of PoCL"))
    program = """
    import sys
    import bindless as bl
    from bindless.drivers.opencl import ffi, lib
    text = b"kernel void f(global int *out) { for (int at = 0; at < 3; ++at) out[at] = get_num_groups(at); }"
    device = bl.get_devices("opencl:*:*")[int(sys.argv[1])]._record.native.handle
    devices = ffi.new("cl_device_id[]", [device])
    context = lib.clCreateContext(ffi.NULL, 1, devices, ffi.NULL, ffi.NULL, ffi.NULL)
    queue = lib.clCreateCommandQueue(context, device, 0, ffi.NULL)
    texts, sizes = ffi.new("char const *[]", [ffi.from_buffer(text)]), ffi.new("size_t[]", [len(text)])
    program = lib.clCreateProgramWithSource(context, 1, texts, sizes, ffi.NULL)
    print("built", lib.clBuildProgram(program, 0, ffi.NULL, b"", ffi.NULL, ffi.NULL), flush=True)
    kernel = lib.clCreateKernel(program, b"f", ffi.NULL)
    buffer = lib.clCreateBuffer(context, lib.CL_MEM_READ_WRITE, 12, ffi.NULL, ffi.NULL)
    lib.clSetKernelArg(kernel, 0, 8, ffi.new("cl_mem *", buffer))
    whole, group = ffi.new("size_t[]", [8, 6, 2]), ffi.new("size_t[]", [4, 2, 1])
    lib.clEnqueueNDRangeKernel(queue, kernel, 3, ffi.NULL, whole, group, 0, ffi.NULL, ffi.NULL)
    found = ffi.new("int[3]")
    lib.clEnqueueReadBuffer(queue, buffer, 1, 0, 12, found, 0, ffi.NULL, ffi.NULL)
    print(*found)
    """
    done = run_on(cl, program)
    if not done.stdout.startswith("built 0\n"):
        pytest.fail(f"the driver does not come this far: {done.stdout}{done.stderr}")
    assert done.stdout.splitlines()[1:] == ["2 3 2"], done.stdout + done.stderr


def test_integers_written_to_volumes(cl: bl.Device, request: pytest.FixtureRequest) -> None:
    """PoCL 6 lacks this function for SPIR-V; for OpenCL C it has it."""
    native = cl._record.native
    if native.il_function is None or not native.writes_3d:
        pytest.skip("the driver takes no SPIR-V, or writes no volumes")
    if is_of(cl, "Portable Computing Language", "6.0"):
        request.applymarker(pytest.mark.xfail(strict=True, raises=AssertionError, reason="a fault of PoCL"))
    text = "kernel void f(write_only image3d_t image) { write_image%s(image, (int4)(0), (%s4)(1)); }"
    modules = (compiled_text(text % names, "spirv", "f") for names in (("f", "float"), ("i", "int")))
    built = [built_of(native.handle, module) for module in modules]
    if built[0] != lib.CL_SUCCESS:
        pytest.fail(f"floats are not written either: {built}")
    assert built[1] == lib.CL_SUCCESS


def built_of(device: Any, module: bytes) -> int:
    """Result of building SPIR-V in a new context."""
    own = lib.clCreateContext(ffi.NULL, 1, ffi.new("cl_device_id[]", [device]), ffi.NULL, ffi.NULL, ffi.NULL)
    program = lib.clCreateProgramWithIL(own, ffi.from_buffer(module), len(module), ffi.NULL)
    result = lib.clBuildProgram(program, 0, ffi.NULL, b"", ffi.NULL, ffi.NULL)
    lib.clReleaseProgram(program)
    lib.clReleaseContext(own)
    return int(result)


def incremented(through_generic: bool) -> bytes:
    """SPIR-V of a kernel that increments its argument, by a global or a generic pointer."""
    void, number, outer, any_, type_, one, all_, kernel, given, label, cast, old = range(1, 13)
    instructions = [
        (17, 4), (17, 6), (17, 38),  # Addresses, Kernel, GenericPointer
        (14, 2, 2),  # 64 bits, OpenCL
        (15, 6, kernel, int.from_bytes(b"f\0\0\0", "little")),
        (19, void), (21, number, 32, 0), (32, outer, 5, number), (32, any_, 8, number),
        (33, type_, void, outer), (43, number, one, 1), (43, number, all_, 16),
        (54, void, kernel, 0, type_), (55, outer, given), (248, label),
        (121, any_, cast, given),
        (234, number, old, cast if through_generic else given, one, all_, one),
        (253,), (56,),
    ]  # fmt: skip
    words = [0x07230203, 0x00010200, 0, old + 1, 0]
    for code, *operands in instructions:
        words += [(1 + len(operands)) << 16 | code, *operands]
    return b"".join(word.to_bytes(4, "little") for word in words)


def filled_and_released(device: Any) -> None:
    own = lib.clCreateContext(ffi.NULL, 1, ffi.new("cl_device_id[]", [device]), ffi.NULL, ffi.NULL, ffi.NULL)
    queue = lib.clCreateCommandQueue(own, device, 0, ffi.NULL)
    memory = lib.clSVMAlloc(own, lib.CL_MEM_READ_WRITE, 64, 0)
    assert lib.clEnqueueSVMMemFill(queue, memory, b"\1", 1, 64, 0, ffi.NULL, ffi.NULL) == 0
    assert lib.clFinish(queue) == 0
    lib.clSVMFree(own, memory)
    lib.clReleaseCommandQueue(queue)
    lib.clReleaseContext(own)


def kept_by(work: Callable[[], None], beside: bl.Context) -> float:
    """Device memory in bytes that a run does not release; the median, because other processes allocate memory too."""
    free = []
    for _ in range(8):
        work()
        free.append(free_memory(beside))
    return statistics.median(before - after for before, after in itertools.pairwise(free))


def free_memory(beside: bl.Context) -> int:
    """Free device memory in bytes, as CUDA reports it."""
    from bindless.drivers import cuda

    free, total = cuda.ffi.new("size_t *"), cuda.ffi.new("size_t *")
    (primary,) = beside._native.primaries.values()
    with primary:
        cuda.check(cuda.lib.cuMemGetInfo(free, total), "cuMemGetInfo")
    return int(free[0])
