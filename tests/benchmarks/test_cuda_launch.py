"""Launches and small objects on an NVIDIA GPU beside CuPy, cuda.core and the driver called from C."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bindless as bl
from bindless import kernels

Compare = Callable[..., Any]
LAUNCHES = 1000
C_PROGRAM = Path(__file__).with_name("driver_costs.c")


@pytest.fixture(autouse=True)
def _only_cuda(device: Any) -> None:
    if device.backend != "cuda":
        pytest.skip("measures an NVIDIA GPU: run with --device cuda")


@pytest.fixture(scope="module")
def driver_costs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, float]:
    """Seconds of the driver's own calls from a C program, by name."""
    folder = tmp_path_factory.mktemp("costs")
    program, module = folder / "costs", folder / "launch.ptx"
    module.write_bytes(kernels.source(kernels.module_of("bindless_empty"), "ptx"))
    include = next((p for p in ("/usr/local/cuda/include", "/usr/include") if Path(p, "cuda.h").exists()), None)
    if include is None:
        pytest.skip("needs cuda.h: install the CUDA toolkit")
    subprocess.run(["cc", "-O2", f"-I{include}", str(C_PROGRAM), "-o", str(program), "-ldl"], check=True)
    text = subprocess.run([str(program), str(module)], check=True, capture_output=True, text=True).stdout
    return {name: float(value) * 1e-9 for name, value in re.findall(r"^(\w+) ([0-9.]+)$", text, re.M)}


def test_empty_kernel(compare: Compare, queue: Any, driver_costs: dict[str, float]) -> None:
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

        compare(ours, peers, name=f"cuda {LAUNCHES} launches of an empty kernel", target="CuPy >= 1")
        print(f"C: {driver_costs['launch'] * 1e6:.2f} us a launch")


def test_images(compare: Compare, queue: Any, driver_costs: dict[str, float]) -> None:
    desc = bl.ImageDescriptor(256, 256, num_channels=4, channel_type="fp32")
    sampler = bl.BindlessImageSampler("clamp_to_edge", "unnormalized", "linear")
    with bl.ImageMem(desc, queue) as memory:
        handle_of = memory.get_handle()
        rows = (
            (
                "alloc_image_mem + free_image_mem",
                "array",
                lambda: bl.free_image_mem(bl.alloc_image_mem(desc, queue), "standard", queue),
            ),
            (
                "create + destroy sampled image",
                "texture",
                lambda: bl.destroy_image_handle(bl.create_image(handle_of, desc, queue, sampler=sampler), queue),
            ),
            (
                "create + destroy unsampled image",
                "surface",
                lambda: bl.destroy_image_handle(bl.create_image(handle_of, desc, queue), queue),
            ),
        )
        for name, cost, ours in rows:
            compare(
                ours,
                {},
                name=f"cuda {name}; C takes {driver_costs[cost] * 1e6:.2f} us",
                calls=200,
                target="within 1.5 x C",
            )
    assert np.all([driver_costs[cost] > 0 for _, cost, _ in rows])
