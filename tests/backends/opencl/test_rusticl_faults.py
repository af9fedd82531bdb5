"""Faults of Mesa's rusticl that the backend and the tests work around, reproduced on every driver by raw calls: each
test fails as expected on known versions until the fault is fixed, and then reports it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

import bindless as bl
from bindless.drivers import opencl as driver
from tests.backends.opencl.failing_library import run_on
from tests.support.opencl_devices import settled

pytestmark = pytest.mark.opencl

lib, ffi = driver.lib, driver.ffi
NULL = ffi.NULL

# Versions of rusticl with the fault of a test, if not 22.3 alone.
VERSIONS = {
    "test_signed_arithmetic_is_linked_to_others": ("22.3.", "25.0."),
    "test_functions_choose_between_a_pixel_and_another_value": ("25.0.",),
}


@pytest.fixture(autouse=True)
def _known(cl: bl.Device, request: pytest.FixtureRequest) -> None:
    """Expect exactly the known faults of a version."""
    versions = VERSIONS.get(request.function.__name__, ("22.3.",))
    if cl.platform.name == "rusticl" and cl.driver_version.startswith(versions):
        request.applymarker(pytest.mark.xfail(strict=True, raises=AssertionError, reason="a fault of rusticl's"))


class Plain:
    """A context, an in-order profiling queue, and the objects that tests make in them."""

    def __init__(self, device: Any) -> None:
        self.device = device
        self.context = lib.clCreateContext(NULL, 1, ffi.new("cl_device_id[]", [device]), NULL, NULL, NULL)
        self.queue = lib.clCreateCommandQueue(self.context, device, lib.CL_QUEUE_PROFILING_ENABLE, NULL)
        self._made: list[tuple[Any, Any]] = []

    def keep(self, release: Any, made: Any) -> Any:
        assert made != NULL
        self._made.append((release, made))
        return made

    def program(self, text: bytes) -> Any:
        """An unbuilt program."""
        texts, sizes = ffi.new("char const *[]", [ffi.from_buffer(text)]), ffi.new("size_t[]", [len(text)])
        made = lib.clCreateProgramWithSource(self.context, 1, texts, sizes, NULL)
        return self.keep(lib.clReleaseProgram, made)

    def compiled(self, text: bytes) -> Any:
        made = self.program(text)
        assert lib.clCompileProgram(made, 0, NULL, b"", 0, NULL, NULL, NULL, NULL) == 0
        return made

    def kernel(self, text: bytes) -> Any:
        """The kernel named k."""
        made = self.program(text)
        assert lib.clBuildProgram(made, 0, NULL, b"", NULL, NULL) == 0
        return self.keep(lib.clReleaseKernel, lib.clCreateKernel(made, b"k", NULL))

    def buffer(self, nbytes: int) -> Any:
        made = lib.clCreateBuffer(self.context, lib.CL_MEM_READ_WRITE, nbytes, NULL, NULL)
        return self.keep(lib.clReleaseMemObject, made)

    def fill(self, buffer: Any, nbytes: int) -> Any:
        """The event of a command that writes a buffer."""
        event = ffi.new("cl_event *")
        assert lib.clEnqueueFillBuffer(self.queue, buffer, b"\1", 1, 0, nbytes, 0, NULL, event) == 0
        return self.keep(lib.clReleaseEvent, event[0])

    def close(self) -> None:
        lib.clFinish(self.queue)
        for release, made in reversed(self._made):
            release(made)
        lib.clReleaseCommandQueue(self.queue)
        lib.clReleaseContext(self.context)


@pytest.fixture
def plain(cl: bl.Device) -> Iterator[Plain]:
    made = Plain(cl._record.native.handle)
    yield made
    made.close()


def test_the_largest_work_group_is_told(plain: Plain) -> None:
    """rusticl reports the size of a sub-group, and runs larger groups."""
    kernel = plain.kernel(b"kernel void k(global int *out) { out[get_global_id(0)] = get_local_size(0); }")
    buffer, size, told = plain.buffer(1024), ffi.new("size_t *", 256), ffi.new("size_t *")
    lib.clSetKernelArg(kernel, 0, 8, ffi.new("cl_mem *", buffer))
    if lib.clEnqueueNDRangeKernel(plain.queue, kernel, 1, NULL, size, size, 0, NULL, NULL) != lib.CL_SUCCESS:
        pytest.skip("the device runs no work-groups of 256")
    lib.clGetKernelWorkGroupInfo(kernel, plain.device, lib.CL_KERNEL_WORK_GROUP_SIZE, 8, told, NULL)
    assert told[0] >= 256


def test_commands_have_times(plain: Plain) -> None:
    """rusticl reports the times 0, 1, 2 and 3."""
    buffer, times = plain.buffer(1 << 20), []
    events = [plain.fill(buffer, 1 << 20) for _ in range(2)]
    lib.clFinish(plain.queue)
    for event in events:
        for name in (lib.CL_PROFILING_COMMAND_START, lib.CL_PROFILING_COMMAND_END):
            slot = ffi.new("cl_ulong *")
            assert lib.clGetEventProfilingInfo(event, name, 8, slot, NULL) == 0
            times.append(slot[0])
    assert times == sorted(times)


def test_an_array_of_arrays_is_a_whole_argument(plain: Plain) -> None:
    """rusticl takes it for its first element."""
    text = b"typedef struct { float rows[4][4]; } t; kernel void k(global float *out, t in) { out[0] = in.rows[2][1]; }"
    assert lib.clSetKernelArg(plain.kernel(text), 1, 64, ffi.new("float[16]")) == lib.CL_SUCCESS


def test_signed_arithmetic_is_linked_to_others(plain: Plain) -> None:
    """rusticl compiles one to SPIR-V 1.4 and the rest to 1.0, and links only modules of one version."""
    texts = b"int f(int a) { return 2 * a; }", b"int f(int a); kernel void k(global int *out) { out[0] = f(out[0]); }"
    parts, slot = ffi.new("cl_program[]", [plain.compiled(text) for text in texts]), ffi.new("cl_int *")
    linked = lib.clLinkProgram(plain.context, 0, NULL, b"", 2, parts, NULL, NULL, slot)
    plain.keep(lib.clReleaseProgram, linked)
    assert slot[0] == lib.CL_SUCCESS


def test_events_let_go_of_memory(plain: Plain) -> None:
    """Events of rusticl hold their command's memory until they are released: the backend would hold the memory of the
    256 latest commands of a queue, and keeps fewer events on this driver."""
    buffer = plain.buffer(64)
    plain.fill(buffer, 64)
    assert lib.clFinish(plain.queue) == 0
    assert settled(lambda: references(buffer), 1) == 1


def test_arguments_are_not_retained(plain: Plain) -> None:
    """OpenCL's clSetKernelArg does not retain arguments; rusticl's kernels do."""
    kernel, buffer = plain.kernel(b"kernel void k(global int *out) { out[0] = 1; }"), plain.buffer(64)
    assert lib.clSetKernelArg(kernel, 0, 8, ffi.new("cl_mem *", buffer)) == 0
    assert references(buffer) == 1


IN_CHILD = """
import sys
from bindless.drivers import opencl as driver

lib, ffi, null = driver.lib, driver.ffi, driver.ffi.NULL
driver.load()
handles = [d for p in driver.platforms() for d in driver.get_all("cl_device_id", "clGetDeviceIDs", p, 0xFFFFFFFF)]
devices, slot, text = ffi.new("cl_device_id[]", [handles[int(sys.argv[1])]]), ffi.new("cl_int *"), sys.argv[2].encode()
context = lib.clCreateContext(null, 1, devices, null, null, null)
size = ffi.new("size_t[]", [len(text)])
"""
NO_BINARY = """
texts = ffi.new("unsigned char const *[]", [ffi.from_buffer(text)])
program = lib.clCreateProgramWithBinary(context, 1, devices, size, texts, null, slot)
print("refused" if slot[0] or lib.clBuildProgram(program, 0, null, b"", null, null) else "taken")
"""
BUILT = """
texts = ffi.new("char const *[]", [ffi.from_buffer(text)])
program = lib.clCreateProgramWithSource(context, 1, texts, size, null)
print("refused" if lib.clBuildProgram(program, 0, null, b"", null, null) else "built")
"""


def told_by(cl: bl.Device, program: str, text: str) -> tuple[int, str]:
    """Exit status and output of a process that runs a program on a device with a source."""
    done = run_on(cl, IN_CHILD + program, text, timeout=60)
    return done.returncode, done.stdout.strip()


def test_what_is_no_binary_is_refused(cl: bl.Device) -> None:
    """rusticl ends the process. NVIDIA's driver accepts invalid PTX, too, and refuses to build it."""
    assert told_by(cl, NO_BINARY, "no binary of anybody") == (0, "refused")


def test_functions_choose_between_a_pixel_and_another_value(cl: bl.Device) -> None:
    """The compiler of rusticl 25.0 ends the process, unless the function is always inlined."""
    function = "static inline float4 at(read_only image1d_t i, int x) { return x ? read_imagef(i, x) : (float4)(0); }"
    text = "kernel void k(read_only image1d_t i, global float4 *out, int x) { out[0] = at(i, x); }"
    assert told_by(cl, BUILT, function + text) == (0, "built")


def references(buffer: Any) -> int:
    """Reference count of a buffer."""
    found = ffi.new("cl_uint *")
    assert lib.clGetMemObjectInfo(buffer, lib.CL_MEM_REFERENCE_COUNT, 4, found, NULL) == 0
    return int(found[0])
