"""Kernels in SPIR-V on the processor, compared with C and numpy, one thread each.

BINDLESS_REFERENCE_THREADS=1 pytest tests/benchmarks/test_spirv_executor.py -q
"""

from __future__ import annotations

import ctypes
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bindless as bl
from tests.reference_kernels.raycast import in_numpy, scene
from tests.support.compile_kernels import compiled, load

SIDE, STEPS, VOLUME, COLORS = 256, 128, 64, 256
Compare = Callable[..., Any]


@pytest.fixture(scope="module")
def reference_queue() -> Any:
    with bl.Queue("reference") as queue:
        yield queue


@pytest.fixture(scope="module")
def c_program(tmp_path_factory: pytest.TempPathFactory) -> Any:
    library = tmp_path_factory.mktemp("raycast") / "raycast.so"
    source = Path(__file__).with_name("raycast.c")
    subprocess.run(
        ["cc", "-O3", "-std=c11", "-shared", "-fPIC", str(source), "-o", str(library), "-lm"], check=True, timeout=120
    )
    return ctypes.CDLL(str(library)).raycast


def test_raycaster(compare: Compare, reference_queue: bl.Queue, c_program: Any) -> None:
    queue = reference_queue
    volume, transfer = scene((VOLUME,) * 3, COLORS)
    sampler = bl.BindlessImageSampler("clamp_to_edge", "normalized", "linear")
    handles = []
    for pixels, desc in (
        (volume, bl.ImageDescriptor(VOLUME, VOLUME, VOLUME, num_channels=1)),
        (transfer, bl.ImageDescriptor(COLORS, num_channels=4)),
    ):
        memory = bl.ImageMem(desc, queue)
        queue.ext_oneapi_copy(pixels, memory).wait()
        handles.append(bl.create_image(memory, desc, queue, sampler=sampler))
    out = bl.usm_empty((SIDE, SIDE, 4), np.float32, queue)
    kernel = load(queue, "raycast", "raycast").get_kernel("raycast")
    sizes = [np.uint32(SIDE), np.uint32(SIDE), np.uint32(STEPS)]

    def ours() -> None:
        queue.parallel_for((SIDE, SIDE), kernel, *handles, out, *sizes).wait()

    picture = np.empty((SIDE, SIDE, 4), np.float32)
    pointers = [ctypes.c_void_p(array.ctypes.data) for array in (volume, transfer, picture)]

    def in_c() -> None:
        c_program(pointers[0], VOLUME, pointers[1], COLORS, pointers[2], SIDE, SIDE, STEPS)

    ours()
    in_c()
    np.testing.assert_allclose(out.numpy(queue), picture, atol=0.02)  # weights of 8 bits compared with 24 bits
    np.testing.assert_allclose(in_numpy(volume, transfer, SIDE, STEPS), picture, atol=1e-3)
    ratios = compare(
        ours,
        {"C -O3": in_c, "numpy": lambda: in_numpy(volume, transfer, SIDE, STEPS)},
        rounds=3,
        items=SIDE * SIDE * STEPS,
        unit="steps",
        target="C >= 0.05, numpy >= 1",
    )
    assert ratios["numpy"] > 0
    for handle in handles:
        bl.destroy_image_handle(handle, queue)


def test_loading(compare: Compare, reference_queue: bl.Queue) -> None:
    """A module of the built-in kernels from its bytes, compared with a copy of them by Python."""
    from bindless import kernels

    module = kernels.source("sample_2d_array_f", "spirv")

    def ours() -> None:
        bl.load_kernel_bundle(module, reference_queue).close()

    compare(
        ours, {"bytearray": lambda: bytearray(module)}, calls=3, items=len(module), unit="B", target="100 kB in 20 ms"
    )


def test_launch(compare: Compare, reference_queue: bl.Queue) -> None:
    """One work-item and its wait, compared with the driver's own function for one item."""
    queue = reference_queue
    out = bl.usm_empty((1,), np.int32, queue)
    kernel = bl.load_kernel_bundle(compiled("simple", "spirv"), queue).get_kernel("fill")
    compare(
        lambda: queue.parallel_for(1, kernel, out, 5).wait(),
        {"queue.fill": lambda: queue.fill(out, np.int32(5), 1).wait()},
        calls=200,
    )
