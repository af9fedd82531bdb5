"""Built-in device functions on an NVIDIA GPU beside the memory's bandwidth, PyTorch and CuPy.

The bound is a device-to-device copy that moves as many bytes as the coordinates and results take.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import bindless as bl

Compare = Callable[..., Any]
SIZE = 4096
SAMPLES = 1 << 24
LAUNCHES = 20


@pytest.fixture(autouse=True)
def _only_cuda(device: Any) -> None:
    if device.backend != "cuda":
        pytest.skip("measures an NVIDIA GPU: run with --device cuda")


def _coords(kind: str, dims: int, size: int) -> np.ndarray:
    rng = np.random.default_rng(5)
    if kind == "random":
        return (rng.random((SAMPLES, dims)) * size).astype(np.float32)
    side = round(SAMPLES ** (1 / dims))
    axes = np.meshgrid(*[(np.arange(side) + 0.37) * (size / side)] * dims, indexing="ij")
    grid = np.stack([axis.ravel() for axis in reversed(axes)], 1).astype(np.float32)
    return np.resize(grid, (SAMPLES, dims))


def _repeat(queue: Any, work: Callable[[], object]) -> Callable[[], object]:
    def run() -> None:
        for _ in range(LAUNCHES):
            work()
        queue.wait()

    return run


def _copy_of(queue: Any, nbytes: int) -> Callable[[], object]:
    half = nbytes // 2
    source, target = (bl.malloc_device(half, queue) for _ in range(2))
    return _repeat(queue, lambda: queue.memcpy(target, source, half))


@pytest.mark.parametrize("kind", ["coherent", "random"])
@pytest.mark.parametrize(("channel_type", "channels"), [("fp32", 4), ("unorm_int8", 4), ("fp16", 4), ("fp32", 1)])
def test_sample_2d(compare: Compare, queue: Any, kind: str, channel_type: str, channels: int) -> None:
    desc = bl.ImageDescriptor(SIZE, SIZE, num_channels=channels, channel_type=channel_type)
    pixels = (np.random.default_rng(1).random((SIZE, SIZE, channels)) * 100).astype(desc.dtype)
    sampler = bl.BindlessImageSampler("clamp_to_edge", "unnormalized", "linear")
    host_coords = _coords(kind, 2, SIZE)
    with bl.ImageMem(desc, queue) as memory:
        queue.ext_oneapi_copy(pixels, memory).wait()
        handle = bl.create_image(memory, desc, queue, sampler=sampler)
        coords = bl.usm_empty(host_coords.shape, np.float32, queue)
        out = bl.usm_empty((SAMPLES, channels), np.float32, queue)
        queue.memcpy(coords, host_coords, host_coords.nbytes).wait()
        nbytes = host_coords.nbytes + out.nbytes
        peers: dict[str, Callable[[], object]] = {"bandwidth bound": _copy_of(queue, nbytes)}
        torch = pytest.importorskip("torch", reason="pip install torch")
        if channel_type != "unorm_int8":
            kind_of = {"fp32": torch.float32, "fp16": torch.float16}[channel_type]
            image = torch.from_numpy(pixels).cuda().permute(2, 0, 1)[None].to(kind_of)
            grid = (torch.from_numpy(host_coords).cuda() / SIZE * 2 - 1).to(kind_of).reshape(1, 4096, -1, 2)
            sample = torch.nn.functional.grid_sample

            def peer() -> None:
                for _ in range(LAUNCHES):
                    sample(image, grid, mode="bilinear", padding_mode="border", align_corners=False)
                torch.cuda.synchronize()

            peers["torch grid_sample"] = peer
        if channels == 1:
            cupy = pytest.importorskip("cupy", reason="pip install cupy-cuda13x")
            from cupyx.scipy.ndimage import map_coordinates

            plane, rows = cupy.asarray(pixels[..., 0]), cupy.asarray(host_coords.T[::-1].copy())

            def cupy_peer() -> None:
                for _ in range(LAUNCHES):
                    map_coordinates(plane, rows, order=1, mode="nearest")
                cupy.cuda.Device().synchronize()

            peers["CuPy map_coordinates"] = cupy_peer
        ratios = compare(
            _repeat(queue, lambda: bl.sample_image(queue, handle, coords, out=out)),
            peers,
            name=f"cuda sample 2D {channel_type} x{channels} {kind}",
            items=SAMPLES * LAUNCHES,
            unit="samples",
            target="coherent: 0.80 of the bound, 0.85 later",
        )
        assert ratios
        bl.destroy_image_handle(handle, queue)


@pytest.mark.parametrize("kind", ["coherent", "random"])
def test_sample_3d(compare: Compare, queue: Any, kind: str) -> None:
    size = 512
    desc = bl.ImageDescriptor(size, size, size, num_channels=1, channel_type="fp32")
    volume = np.random.default_rng(1).random((size, size, size, 1)).astype(np.float32)
    host_coords = _coords(kind, 3, size)
    with bl.ImageMem(desc, queue) as memory:
        queue.ext_oneapi_copy(volume, memory).wait()
        sampler = bl.BindlessImageSampler("clamp_to_edge", "unnormalized", "linear")
        handle = bl.create_image(memory, desc, queue, sampler=sampler)
        coords = bl.usm_empty(host_coords.shape, np.float32, queue)
        out = bl.usm_empty((SAMPLES, 1), np.float32, queue)
        queue.memcpy(coords, host_coords, host_coords.nbytes).wait()
        compare(
            _repeat(queue, lambda: bl.sample_image(queue, handle, coords, out=out)),
            {"bandwidth bound": _copy_of(queue, host_coords.nbytes + out.nbytes)},
            name=f"cuda sample 3D fp32 x1 {kind}",
            items=SAMPLES * LAUNCHES,
            unit="samples",
            target="coherent: 0.80 of the bound; the texture unit gives 163 Gsamples/s here",
        )
        bl.destroy_image_handle(handle, queue)


@pytest.mark.parametrize("operation", ["fetch", "write"])
@pytest.mark.parametrize(("channel_type", "channels"), [("fp32", 4), ("unorm_int8", 4)])
def test_unsampled(compare: Compare, queue: Any, operation: str, channel_type: str, channels: int) -> None:
    side = 4096
    desc = bl.ImageDescriptor(side, side, num_channels=channels, channel_type=channel_type)
    y, x = np.mgrid[0:side, 0:side]
    host_coords = np.stack([x.ravel(), y.ravel()], 1).astype(np.int32)
    with bl.ImageMem(desc, queue) as memory:
        handle = bl.create_image(memory, desc, queue)
        coords = bl.usm_empty(host_coords.shape, np.int32, queue)
        values = bl.usm_empty((len(host_coords), channels), np.float32, queue)
        queue.memcpy(coords, host_coords, host_coords.nbytes)
        queue.memset(values, 0, values.nbytes).wait()
        work = (
            (lambda: bl.fetch_image(queue, handle, coords, out=values))
            if operation == "fetch"
            else (lambda: bl.write_image(queue, handle, coords, values))
        )
        compare(
            _repeat(queue, work),
            {"bandwidth bound": _copy_of(queue, host_coords.nbytes + values.nbytes + desc.nbytes)},
            name=f"cuda {operation} 2D {channel_type} x{channels}",
            items=len(host_coords) * LAUNCHES,
            unit="pixels",
            target="0.85 of the bound",
        )
        bl.destroy_image_handle(handle, queue)
