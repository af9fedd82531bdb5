"""Launches on an NVIDIA GPU beside CuPy, cuda.core and the driver called from C."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import bindless as bl
from bindless import kernels

Compare = Callable[..., Any]
LAUNCHES = 1000


@pytest.fixture(autouse=True)
def _only_cuda(device: Any) -> None:
    if device.backend != "cuda":
        pytest.skip("measures an NVIDIA GPU: run with --device cuda")


def test_empty_kernel(compare: Compare, queue: Any, request: pytest.FixtureRequest) -> None:
    cupy = pytest.importorskip("cupy", reason="pip install cupy-cuda13x")
    source = kernels.source(kernels.module_of("bindless_empty"), "ptx")
    with bl.Queue(queue.device, in_order=True) as ordered:
        kernel = bl.load_kernel_bundle(source, ordered).get_kernel("bindless_empty")
        raw = cupy.RawKernel('extern "C" __global__ void nothing() {}', "nothing")
        raw.compile()
        stream = cupy.cuda.Stream(non_blocking=True)
        peers: dict[str, Callable[[], object]] = {}

        def launch_cupy() -> None:
            with stream:
                for _ in range(LAUNCHES):
                    raw((1,), (1,), ())
            stream.synchronize()

        peers["CuPy RawKernel"] = launch_cupy
        try:
            from cuda.core import Device, LaunchConfig, ObjectCode, launch
        except ImportError:
            pass
        else:
            core = Device()
            core.set_current()
            code = ObjectCode.from_ptx(source).get_kernel("bindless_empty")
            core_stream, config = core.create_stream(), LaunchConfig(grid=1, block=1)

            def launch_core() -> None:
                for _ in range(LAUNCHES):
                    launch(core_stream, config, code)
                core_stream.sync()

            peers["cuda.core"] = launch_core

        def ours() -> None:
            for _ in range(LAUNCHES):
                ordered.parallel_for(1, kernel)
            ordered.wait()

        in_c = {"the driver from C": LAUNCHES * request.getfixturevalue("driver_costs")["launch"]}
        compare(ours, peers, name=f"cuda {LAUNCHES} launches of an empty kernel", known=in_c, target="CuPy >= 1")


FOUR_ARGUMENTS = b""".version 6.3
.target sm_75
.address_size 64
.visible .entry four(.param .u64 a, .param .u64 b, .param .f32 factor, .param .u32 count) { ret; }
"""


def test_four_arguments(compare: Compare, queue: Any, request: pytest.FixtureRequest) -> None:
    """Two arrays and two numbers: the same ones each time, and a number that changes."""
    cupy = pytest.importorskip("cupy", reason="pip install cupy-cuda13x")
    with bl.Queue(queue.device, in_order=True) as ordered:
        kernel = bl.load_kernel_bundle(FOUR_ARGUMENTS, ordered).get_kernel("four")
        first, second = (bl.usm_empty((16,), "float32", ordered) for _ in range(2))
        raw = cupy.RawKernel(
            'extern "C" __global__ void four(float *a, float *b, float factor, unsigned count) {}', "four"
        )
        raw.compile()
        stream = cupy.cuda.Stream(non_blocking=True)
        arrays = cupy.zeros(16, cupy.float32), cupy.zeros(16, cupy.float32)
        factor, count = cupy.float32(2), cupy.uint32(16)
        peers: dict[str, Callable[[], object]] = {}

        def launch_cupy() -> None:
            with stream:
                for _ in range(LAUNCHES):
                    raw((1,), (1,), (*arrays, factor, count))
            stream.synchronize()

        peers["CuPy RawKernel"] = launch_cupy
        try:
            import ctypes

            from cuda.core import Device, LaunchConfig, ObjectCode, launch
        except ImportError:
            pass
        else:
            core = Device()
            core.set_current()
            code = ObjectCode.from_ptx(FOUR_ARGUMENTS).get_kernel("four")
            core_stream, config = core.create_stream(), LaunchConfig(grid=1, block=1)
            pointers = [array.data.ptr for array in arrays]

            def launch_core() -> None:
                for _ in range(LAUNCHES):
                    launch(core_stream, config, code, *pointers, ctypes.c_float(2), ctypes.c_uint32(16))
                core_stream.sync()

            peers["cuda.core"] = launch_core

        def same() -> None:
            for _ in range(LAUNCHES):
                ordered.parallel_for(1, kernel, first, second, 2.0, 16)
            ordered.wait()

        def changing() -> None:
            for number in range(LAUNCHES):
                ordered.parallel_for(1, kernel, first, second, 2.0, number + 1000)
            ordered.wait()

        in_c = {"the driver from C": LAUNCHES * request.getfixturevalue("driver_costs")["launch_arguments"]}
        name = f"cuda {LAUNCHES} launches with four arguments"
        compare(same, peers, name=f"{name}, the same", known=in_c, target="C >= 0.67, CuPy and cuda.core >= 1")
        compare(changing, peers, name=f"{name}, one new", known=in_c)
