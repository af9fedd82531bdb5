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
