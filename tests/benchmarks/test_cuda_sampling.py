"""Built-in device functions on an NVIDIA GPU, compared with memory bandwidth, the texture unit, PyTorch and CuPy.

The bandwidth bound is a device-to-device copy of as many bytes as coordinates, results and the image itself; the
texture unit bound is a handwritten kernel that computes its coordinates (``texture_unit.py``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import numpy as np
import pytest

import bindless as bl
from tests.benchmarks.texture_unit import unit_kernel

Compare = Callable[..., Any]
SIZE = 4096
SAMPLES = 1 << 24
LAUNCHES = 20


@pytest.fixture(autouse=True)
def images(device: Any, queue: Any) -> Iterator[ExitStack]:
    """Keep a test's images until all measurements are complete, after the test's end."""
    if device.backend != "cuda":
        pytest.skip("measures an NVIDIA GPU: run with --device cuda")
    with ExitStack() as stack:
        yield stack
        queue.wait()


def _unit(handle: Any, desc: bl.ImageDescriptor, out: Any, shape: tuple[int, int, int]) -> Callable[[], object]:
    """Sample every pixel of an image, 0.37 beyond its corner, into ``out``."""
    import cupy

    launch = unit_kernel(
        f"sample_{desc.dimensions}d",
        handle.raw_handle,
        out.pointer.address,
        shape,
        texel_bytes=desc.pixel_size,
        channels=out.shape[1],
    )

    def run() -> None:
        for _ in range(LAUNCHES):
            launch()
        cupy.cuda.Device().synchronize()

    return run


def _torch(pixels: np.ndarray, coords: np.ndarray, channel_type: str) -> Callable[[], object]:
    """Return ``grid_sample`` of (..., channels) pixels in two or three dimensions, at the same coordinates."""
    torch = pytest.importorskip("torch", reason="pip install torch")
    kind = {"fp32": torch.float32, "fp16": torch.float16}[channel_type]
    dims = pixels.ndim - 1
    image = torch.from_numpy(pixels).cuda().movedim(-1, 0)[None].to(kind)
    grid = (torch.from_numpy(coords).cuda() / pixels.shape[0] * 2 - 1).to(kind)
    grid = grid.reshape(1, *(256,) * (dims - 1), -1, dims)

    def run() -> None:
        for _ in range(LAUNCHES):
            torch.nn.functional.grid_sample(image, grid, mode="bilinear", padding_mode="border", align_corners=False)
        torch.cuda.synchronize()

    return run


def _cupy(pixels: np.ndarray, coords: np.ndarray) -> Callable[[], object]:
    """Return ``map_coordinates`` of one channel."""
    cupy = pytest.importorskip("cupy", reason="pip install cupy-cuda13x")
    from cupyx.scipy.ndimage import map_coordinates

    plane, rows = cupy.asarray(pixels[..., 0]), cupy.asarray(coords.T[::-1].copy())

    def run() -> None:
        for _ in range(LAUNCHES):
            map_coordinates(plane, rows, order=1, mode="nearest")
        cupy.cuda.Device().synchronize()

    return run


def _coords(kind: str, dims: int, size: int) -> np.ndarray:
    """Return SAMPLES random coordinates, or one in every pixel, 0.37 beyond its corner."""
    rng = np.random.default_rng(5)
    if kind == "random":
        return (rng.random((SAMPLES, dims)) * size).astype(np.float32)
    grid = np.empty((size,) * dims + (dims,), np.float32)
    axis = np.arange(size, dtype=np.float32) + np.float32(0.37)
    for k in range(dims):
        grid[..., k] = axis.reshape((-1,) + (1,) * k)
    return grid.reshape(-1, dims)


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
def test_sample_2d(
    compare: Compare, queue: Any, images: ExitStack, kind: str, channel_type: str, channels: int
) -> None:
    desc = bl.ImageDescriptor(SIZE, SIZE, num_channels=channels, channel_type=channel_type)
    pixels = (np.random.default_rng(1).random((SIZE, SIZE, channels)) * 100).astype(desc.dtype)
    sampler = bl.BindlessImageSampler("clamp_to_edge", "unnormalized", "linear")
    host_coords = _coords(kind, 2, SIZE)
    memory = images.enter_context(bl.ImageMem(desc, queue))
    queue.ext_oneapi_copy(pixels, memory).wait()
    handle = bl.create_image(memory, desc, queue, sampler=sampler)
    images.callback(bl.destroy_image_handle, handle, queue)
    coords = bl.usm_empty(host_coords.shape, np.float32, queue)
    out = bl.usm_empty((len(host_coords), channels), np.float32, queue)
    queue.memcpy(coords, host_coords, host_coords.nbytes).wait()
    nbytes = host_coords.nbytes + out.nbytes + desc.nbytes
    peers: dict[str, Callable[[], object]] = {"bandwidth bound": _copy_of(queue, nbytes)}
    if kind == "coherent":
        peers["texture unit"] = _unit(handle, desc, out, (1, SIZE, SIZE))
    if channel_type != "unorm_int8":
        peers["torch grid_sample"] = _torch(pixels, host_coords, channel_type)
    if channels == 1:
        peers["CuPy map_coordinates"] = _cupy(pixels, host_coords)
    ratios = compare(
        _repeat(queue, lambda: bl.sample_image(queue, handle, coords, out=out)),
        peers,
        name=f"cuda sample 2D {channel_type} x{channels} {kind}",
        items=len(host_coords) * LAUNCHES,
        unit="samples",
        target="coherent: 0.85 of the lower of the two limits",
    )
    assert ratios


@pytest.mark.parametrize(("channel_type", "channels"), [("fp32", 4), ("unorm_int8", 4), ("fp16", 4), ("fp32", 1)])
def test_sample_cached_image(compare: Compare, queue: Any, images: ExitStack, channel_type: str, channels: int) -> None:
    """An image that stays in the cache: only coordinates and results pass through the device's memory."""
    size = 1024
    desc = bl.ImageDescriptor(size, size, num_channels=channels, channel_type=channel_type)
    pixels = (np.random.default_rng(1).random((size, size, channels)) * 100).astype(desc.dtype)
    sampler = bl.BindlessImageSampler("clamp_to_edge", "unnormalized", "linear")
    tile = _coords("coherent", 2, size)
    host_coords = np.tile(tile, (SAMPLES // len(tile), 1))
    memory = images.enter_context(bl.ImageMem(desc, queue))
    queue.ext_oneapi_copy(pixels, memory).wait()
    handle = bl.create_image(memory, desc, queue, sampler=sampler)
    images.callback(bl.destroy_image_handle, handle, queue)
    coords = bl.usm_empty(host_coords.shape, np.float32, queue)
    out = bl.usm_empty((len(host_coords), channels), np.float32, queue)
    queue.memcpy(coords, host_coords, host_coords.nbytes).wait()
    compare(
        _repeat(queue, lambda: bl.sample_image(queue, handle, coords, out=out)),
        {
            "bandwidth bound": _copy_of(queue, host_coords.nbytes + out.nbytes),
            "texture unit": _unit(handle, desc, out, (SAMPLES // size**2, size, size)),
        },
        name=f"cuda sample 2D {channel_type} x{channels}, image in cache",
        items=len(host_coords) * LAUNCHES,
        unit="samples",
        target="0.85 of the lower of the two limits",
    )


@pytest.mark.parametrize("kind", ["coherent", "random"])
def test_sample_3d(compare: Compare, queue: Any, images: ExitStack, kind: str) -> None:
    size = 512
    desc = bl.ImageDescriptor(size, size, size, num_channels=1, channel_type="fp32")
    volume = np.random.default_rng(1).random((size, size, size, 1)).astype(np.float32)
    host_coords = _coords(kind, 3, size)
    memory = images.enter_context(bl.ImageMem(desc, queue))
    queue.ext_oneapi_copy(volume, memory).wait()
    sampler = bl.BindlessImageSampler("clamp_to_edge", "unnormalized", "linear")
    handle = bl.create_image(memory, desc, queue, sampler=sampler)
    images.callback(bl.destroy_image_handle, handle, queue)
    coords = bl.usm_empty(host_coords.shape, np.float32, queue)
    out = bl.usm_empty((len(host_coords), 1), np.float32, queue)
    queue.memcpy(coords, host_coords, host_coords.nbytes).wait()
    nbytes = host_coords.nbytes + out.nbytes + desc.nbytes
    peers = {"bandwidth bound": _copy_of(queue, nbytes)}
    if kind == "coherent":
        peers["texture unit"] = _unit(handle, desc, out, (size, size, size))
    peers["torch grid_sample"] = _torch(volume, host_coords, "fp32")
    peers["CuPy map_coordinates"] = _cupy(volume, host_coords)
    compare(
        _repeat(queue, lambda: bl.sample_image(queue, handle, coords, out=out)),
        peers,
        name=f"cuda sample 3D fp32 x1 {kind}",
        items=len(host_coords) * LAUNCHES,
        unit="samples",
        target="coherent: 0.85 of the lower of the two limits",
    )


@pytest.mark.parametrize("operation", ["fetch", "write"])
@pytest.mark.parametrize(("channel_type", "channels"), [("fp32", 4), ("unorm_int8", 4)])
def test_unsampled(
    compare: Compare, queue: Any, images: ExitStack, operation: str, channel_type: str, channels: int
) -> None:
    side = 4096
    desc = bl.ImageDescriptor(side, side, num_channels=channels, channel_type=channel_type)
    y, x = np.mgrid[0:side, 0:side]
    host_coords = np.stack([x.ravel(), y.ravel()], 1).astype(np.int32)
    memory = images.enter_context(bl.ImageMem(desc, queue))
    handle = bl.create_image(memory, desc, queue)
    images.callback(bl.destroy_image_handle, handle, queue)
    coords = bl.usm_empty(host_coords.shape, np.int32, queue)
    values = bl.usm_empty((len(host_coords), channels), np.float32, queue)
    rng = np.random.default_rng(1)
    queue.ext_oneapi_copy((rng.random((side, side, channels)) * 100).astype(desc.dtype), memory).wait()
    queue.memcpy(coords, host_coords, host_coords.nbytes).wait()
    queue.memcpy(values, rng.random(values.shape, np.float32), values.nbytes).wait()
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
