"""Launches on an NVIDIA GPU, compared with CuPy, cuda.core and the driver called from C."""

from __future__ import annotations

import ctypes
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


FOUR_ARGUMENTS = b""".version 6.3
.target sm_75
.address_size 64
.visible .entry four(.param .u64 a, .param .u64 b, .param .f32 factor, .param .u32 count) { ret; }
"""


def _peers(
    cupy: Any, text: str, arguments: tuple[Any, ...], ptx: bytes, name: str, native: tuple[Any, ...]
) -> dict[str, Callable[[], object]]:
    """Return series of launches by each peer.

    Parameters
    ----------
    text
        The kernel in CUDA C, for CuPy.
    arguments
        Arguments for CuPy.
    ptx
        The kernel launched by this package.
    native
        Its arguments for cuda.core.
    """
    raw = cupy.RawKernel(f'extern "C" __global__ void {text}', text.partition("(")[0])
    raw.compile()
    stream = cupy.cuda.Stream(non_blocking=True)

    def launch_cupy() -> None:
        with stream:
            for _ in range(LAUNCHES):
                raw((1,), (1,), arguments)
        stream.synchronize()

    peers: dict[str, Callable[[], object]] = {"CuPy RawKernel": launch_cupy}
    try:
        from cuda.core import Device, LaunchConfig, ObjectCode, launch
    except ImportError:
        return peers
    core = Device()
    core.set_current()
    code = ObjectCode.from_ptx(ptx).get_kernel(name)
    core_stream, config = core.create_stream(), LaunchConfig(grid=1, block=1)

    def launch_core() -> None:
        for _ in range(LAUNCHES):
            launch(core_stream, config, code, *native)
        core_stream.sync()

    return {**peers, "cuda.core": launch_core}


def test_empty_kernel(compare: Compare, queue: Any, request: pytest.FixtureRequest) -> None:
    cupy = pytest.importorskip("cupy", reason="pip install cupy-cuda13x")
    source = kernels.source(kernels.module_of("bindless_empty"), "ptx")
    peers = _peers(cupy, "nothing() {}", (), source, "bindless_empty", ())
    with bl.Queue(queue.device, in_order=True) as ordered:
        kernel = bl.load_kernel_bundle(source, ordered).get_kernel("bindless_empty")

        def ours() -> None:
            for _ in range(LAUNCHES):
                ordered.parallel_for(1, kernel)
            ordered.wait()

        in_c = {"the driver from C": LAUNCHES * request.getfixturevalue("driver_costs")["launch"]}
        compare(ours, peers, name=f"cuda {LAUNCHES} launches of an empty kernel", known=in_c, target="CuPy >= 1")


def test_four_arguments(compare: Compare, queue: Any, request: pytest.FixtureRequest) -> None:
    """Two arrays and two numbers: the same arguments each time, and a number that changes."""
    cupy = pytest.importorskip("cupy", reason="pip install cupy-cuda13x")
    arrays = cupy.zeros(16, cupy.float32), cupy.zeros(16, cupy.float32)
    peers = _peers(
        cupy,
        "four(float *a, float *b, float factor, unsigned count) {}",
        (*arrays, cupy.float32(2), cupy.uint32(16)),
        FOUR_ARGUMENTS,
        "four",
        (*(array.data.ptr for array in arrays), ctypes.c_float(2), ctypes.c_uint32(16)),
    )
    with bl.Queue(queue.device, in_order=True) as ordered:
        kernel = bl.load_kernel_bundle(FOUR_ARGUMENTS, ordered).get_kernel("four")
        first, second = (bl.usm_empty((16,), "float32", ordered) for _ in range(2))

        def same() -> None:
            for _ in range(LAUNCHES):
                ordered.parallel_for(1, kernel, first, second, 2.0, 16)
            ordered.wait()

        def changing() -> None:
            for number in range(LAUNCHES):
                ordered.parallel_for(1, kernel, first, second, 2.0, number + 1000)
            ordered.wait()

        bound = kernel.bind(ordered, 1, first, second, 2.0, 16)

        def bound_same() -> None:
            for _ in range(LAUNCHES):
                bound()
            ordered.wait()

        def bound_changing() -> None:
            for number in range(LAUNCHES):
                bound[3] = number + 1000
                bound()
            ordered.wait()

        in_c = {"the driver from C": LAUNCHES * request.getfixturevalue("driver_costs")["launch_arguments"]}
        name = f"cuda {LAUNCHES} launches with four arguments"
        compare(same, peers, name=f"{name}, the same", known=in_c, target="C >= 0.67, CuPy and cuda.core >= 1")
        compare(changing, peers, name=f"{name}, one new", known=in_c)
        compare(bound_same, peers, name=f"{name}, bound", known=in_c, target="C >= 0.83")
        with bl.CommandGraph(ordered) as graph:
            for _ in range(LAUNCHES):
                graph.parallel_for(1, kernel, first, second, 2.0, 16)
            graph.finalize()

            def replayed() -> None:
                graph()
                ordered.wait()

            compare(replayed, peers, name=f"{name}, a graph of them", known=in_c, target="C > 1")
        compare(bound_changing, peers, name=f"{name}, bound, one new", known=in_c)
