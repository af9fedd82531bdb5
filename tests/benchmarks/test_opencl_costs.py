"""Cost of the OpenCL backend, compared with the C API and PyOpenCL on the same device, in the same run.

pytest tests/benchmarks/test_opencl_costs.py --device opencl -q
"""

from __future__ import annotations

import ctypes
import subprocess
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bindless as bl
from bindless.drivers import opencl as driver

Compare = Callable[..., Any]
Work = Callable[[], object]
LAUNCHES = 500
SOURCE = """
kernel void nothing(int value) {}
kernel void four(global float *a, global float *b, float factor, int count) {}
"""
PROGRAM = Path(__file__).with_name("opencl_launches.c")
TARGET = "at most 3 us more than the C API, less than PyOpenCL"
LARGE = 1 << 28

lib, ffi = driver.lib, driver.ffi


@pytest.fixture(autouse=True)
def _only_opencl(device: bl.Device) -> None:
    if device.backend != "opencl":
        pytest.skip("measures the OpenCL backend: --device opencl")


@pytest.fixture
def ordered(device: bl.Device, context: bl.Context) -> Iterator[bl.Queue]:
    with bl.Queue(device, context, in_order=True) as made:
        yield made


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The C program's loop, on the library that is open: takes cl_command_queue, cl_kernel, and the argument to set."""
    made = tmp_path_factory.mktemp("opencl") / "launches.so"
    subprocess.run(["cc", "-O2", "-shared", "-fPIC", "-o", str(made), str(PROGRAM)], check=True, timeout=120)
    found = ctypes.CDLL(str(made))
    opencl = ctypes.CDLL(driver.path())
    names = ("clSetKernelArg", "clEnqueueNDRangeKernel", "clReleaseEvent", "clFlush")
    functions = [ctypes.cast(getattr(opencl, name), ctypes.c_void_p) for name in names]

    def launch(queue: Any, kernel: Any, index: int) -> None:
        addresses = [ctypes.c_void_p(int(ffi.cast("uintptr_t", handle))) for handle in (queue, kernel)]
        assert found.launch_many(*functions, *addresses, index, LAUNCHES) == 0

    return launch


def _behind(gate: bool, context: Any, queue: Any, submit: Work, wait: Work) -> Work:
    """Submit and wait. A gate holds all commands until the last is submitted, so that the time is that of the calls.

    Without a gate, the threads of a processor's driver run the kernels meanwhile, for all peers alike, and their state
    (awake or asleep) dominates the time.
    """

    def free() -> None:
        submit()
        wait()

    def gated() -> None:
        event = lib.clCreateUserEvent(context, ffi.NULL)
        assert lib.clEnqueueBarrierWithWaitList(queue, 1, ffi.new("cl_event[]", [event]), ffi.NULL) == 0
        submit()
        lib.clSetUserEventStatus(event, lib.CL_COMPLETE)
        wait()
        lib.clReleaseEvent(event)

    return gated if gate else free


class Launches:
    """The same launches by each peer: a kernel of one work-item, with one argument that changes."""

    def __init__(self, queue: bl.Queue, name: str, gate: bool, library: Any) -> None:
        self.queue, self.name, self.gate, self.library = queue, name, gate, library
        self.kernel, self.in_c = (bl.load_kernel_bundle(SOURCE.encode(), queue).get_kernel(name) for _ in range(2))
        self.native = queue._native.handle
        self.arrays = tuple(bl.usm_empty((16,), "f4", queue) for _ in range(2)) if name == "four" else ()
        self.arguments: tuple[Any, ...] = (*self.arrays, 2.0) if self.arrays else ()
        self.space = bl.NdRange(1, 1)

    def _behind(self, submit: Work, wait: Work | None = None) -> Work:
        return _behind(self.gate, self.queue.context._native.handle, self.native, submit, wait or self.queue.wait)

    def ours(self) -> Work:
        def submit() -> None:
            for number in range(LAUNCHES):
                self.queue.parallel_for(self.space, self.kernel, *self.arguments, number)

        return self._behind(submit)

    def bound(self) -> Work:
        launch = self.kernel.bind(self.queue, self.space, *self.arguments, 7)

        def submit() -> None:
            for _ in range(LAUNCHES):
                launch()

        return self._behind(submit)

    def graph(self, graph: bl.CommandGraph) -> Work:
        for _ in range(LAUNCHES):
            graph.parallel_for(self.space, self.kernel, *self.arguments, 7)
        graph.finalize()
        return self._behind(graph)

    def c_api(self) -> Work:
        # This package sets the constant arguments here.
        self.queue.parallel_for(self.space, self.in_c, *self.arguments, 0).wait()
        kernel = self.in_c._native.native
        return self._behind(
            lambda: self.library(self.native, kernel, len(self.arguments)), lambda: lib.clFinish(self.native)
        )

    def pyopencl(self) -> Work | None:
        try:
            import pyopencl as cl
        except ImportError:
            return None
        if cl.get_platforms()[0].name != self.queue.device.platform.name:
            return None
        context = cl.Context(cl.get_platforms()[0].get_devices())
        flag = 0 if self.queue.is_in_order else cl.command_queue_properties.OUT_OF_ORDER_EXEC_MODE_ENABLE
        queue = cl.CommandQueue(context, properties=flag)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # compilers that print warnings
            kernel = getattr(cl.Program(context, SOURCE).build(), self.name)
        buffers = tuple(cl.Buffer(context, cl.mem_flags.READ_WRITE, 64) for _ in self.arrays)
        arguments = (*buffers, np.float32(2)) if buffers else ()

        def submit(_: object = context) -> None:  # its last reference in Python releases it
            for number in range(LAUNCHES):
                kernel(queue, (1,), (1,), *arguments, np.int32(number))

        handles = (ffi.cast("cl_context", context.int_ptr), ffi.cast("cl_command_queue", queue.int_ptr))
        return _behind(self.gate, *handles, submit, queue.finish)

    def compare(self, compare: Compare, ours: Work, how: str) -> None:
        peers: dict[str, Work] = {"C API": self.c_api()}
        theirs = self.pyopencl()
        if theirs is not None:
            peers["PyOpenCL"] = theirs
        order = "in order" if self.queue.is_in_order else "out of order"
        compare(
            ours,
            peers,
            name=f"{LAUNCHES} of {self.name!r}, {how}, {order}{', before any runs' if self.gate else ''}",
            items=LAUNCHES,
            unit="launches",
            each=LAUNCHES,
            rounds=15,
            least=True,
            target=TARGET,
        )


@pytest.mark.parametrize("gate", [True, False], ids=["gate", "free"])
@pytest.mark.parametrize("in_order", [True, False], ids=["in order", "out of order"])
@pytest.mark.parametrize("name", ["nothing", "four"])
def test_launches(
    compare: Compare, device: bl.Device, context: bl.Context, library: Any, name: str, in_order: bool, gate: bool
) -> None:
    with bl.Queue(device, context, in_order=in_order) as queue:
        launches = Launches(queue, name, gate, library)
        launches.compare(compare, launches.ours(), "parallel_for")


@pytest.mark.parametrize("name", ["nothing", "four"])
def test_repeated_launches(compare: Compare, ordered: bl.Queue, library: Any, name: str) -> None:
    launches = Launches(ordered, name, True, library)
    launches.compare(compare, launches.bound(), "bound")
    with bl.CommandGraph(ordered) as graph:
        launches.compare(compare, launches.graph(graph), "a graph")


@pytest.mark.parametrize("way", ["to the device", "from the device", "to an image"])
def test_large_copies(compare: Compare, ordered: bl.Queue, context: bl.Context, way: str) -> None:
    """The peer is the driver's own call: one additional copy would double the time."""
    host = np.ones(LARGE, "u1")
    native = ordered._native.handle
    pointer = ffi.cast("void *", host.ctypes.data)
    if way == "to an image":
        desc = bl.ImageDescriptor(8192, 8192, num_channels=4, channel_type="unsigned_int8")
        memory = bl.ImageMem(desc, ordered)
        pixels = host.reshape(desc.shape)
        image = context._native.images[memory.get_handle().raw_handle].handle
        start, size = ffi.new("size_t[3]"), ffi.new("size_t[3]", (8192, 8192, 1))
        work: Callable[[], object] = lambda: ordered.ext_oneapi_copy(pixels, memory).wait()  # noqa: E731
        peer: Callable[[], object] = lambda: lib.clEnqueueWriteImage(  # noqa: E731
            native, image, 1, start, size, 0, 0, pointer, 0, ffi.NULL, ffi.NULL
        )
    else:
        device = bl.usm_empty(LARGE, "u1", ordered)
        ends = (device, host) if way == "to the device" else (host, device)
        work = lambda: ordered.memcpy(*ends, LARGE).wait()  # noqa: E731
        there = ffi.cast("void *", device.pointer.address)
        pair = (there, pointer) if way == "to the device" else (pointer, there)
        call = lib.clEnqueueMemcpyINTEL if ordered.device._record.native.has_usm else lib.clEnqueueSVMMemcpy
        peer = lambda: call(native, 1, *pair, LARGE, 0, ffi.NULL, ffi.NULL)  # noqa: E731
    compare(
        work,
        {"the driver's call": peer},
        name=f"256 MiB {way}",
        items=LARGE,
        unit="bytes",
        calls=3,
        target="the same time",
    )
