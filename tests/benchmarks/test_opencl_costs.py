"""What the OpenCL backend costs beside the C API and PyOpenCL on the same device, in the same run.

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
LAUNCHES = 500
SOURCE = b"kernel void nothing(int value) {}"
PROGRAM = Path(__file__).with_name("opencl_launches.c")
LARGE = 1 << 28


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
    """The C program's loop, on the library that is open."""
    made = tmp_path_factory.mktemp("opencl") / "launches.so"
    subprocess.run(["cc", "-O2", "-shared", "-fPIC", "-o", str(made), str(PROGRAM)], check=True)
    found = ctypes.CDLL(str(made))
    opencl = ctypes.CDLL(driver.path())
    names = ("clSetKernelArg", "clEnqueueNDRangeKernel", "clReleaseEvent", "clFlush", "clFinish")
    functions = [ctypes.cast(getattr(opencl, name), ctypes.c_void_p) for name in names]
    return lambda queue, kernel, count: found.launch_many(
        *functions, ctypes.c_void_p(queue), ctypes.c_void_p(kernel), count
    )


def _address(handle: Any) -> int:
    return int(driver.ffi.cast("uintptr_t", handle))


def test_launches(compare: Compare, ordered: bl.Queue, library: Any) -> None:
    kernel = bl.load_kernel_bundle(SOURCE, ordered).get_kernel("nothing")
    again = bl.load_kernel_bundle(SOURCE, ordered).get_kernel("nothing")
    native = _address(ordered._native.handle), _address(again._native.native)
    space = bl.NdRange(1, 1)

    def ours() -> None:
        for number in range(LAUNCHES):
            ordered.parallel_for(space, kernel, number)
        ordered.wait()

    def backend() -> None:
        launch, queue, made = ordered._backend.launch, ordered._native, kernel._native
        for number in range(LAUNCHES):
            launch(queue, made, (1,), (1,), [number.to_bytes(4, "little")])
        ordered.wait()

    def in_c() -> None:
        assert library(*native, LAUNCHES) == 0

    peers: dict[str, Callable[[], object]] = {"C API": in_c, "our backend alone": backend}
    pyopencl = pytest.importorskip("pyopencl")
    if pyopencl.get_platforms()[0].name == ordered.device.platform.name:
        context = pyopencl.Context(pyopencl.get_platforms()[0].get_devices())
        queue = pyopencl.CommandQueue(context)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # compilers that say something
            theirs = pyopencl.Program(context, SOURCE.decode()).build().nothing

        def in_pyopencl() -> None:
            for number in range(LAUNCHES):
                theirs(queue, (1,), (1,), np.int32(number))
            queue.finish()

        peers["PyOpenCL"] = in_pyopencl
    compare(
        ours,
        peers,
        name=f"{LAUNCHES} launches",
        items=LAUNCHES,
        unit="launches",
        each=LAUNCHES,
        target="at most 3 us more than the C API, less than PyOpenCL",
    )


@pytest.mark.parametrize("way", ["to the device", "from the device", "to an image"])
def test_large_copies(compare: Compare, ordered: bl.Queue, context: bl.Context, way: str) -> None:
    """One copy more would double the time: the peer is the driver's own call for it."""
    host = np.ones(LARGE, "u1")
    lib, ffi, native = driver.lib, driver.ffi, ordered._native.handle
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
