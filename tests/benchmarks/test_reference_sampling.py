"""Sampling on the processor, compared with scipy and OpenCV: 2048 x 2048 pixels, 4 M samples."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import bindless as bl

SIZE = 2048
SAMPLES = 4_000_000
Compare = Callable[..., Any]


@pytest.fixture(scope="module")
def reference_queue() -> Any:
    with bl.Queue("reference") as queue:
        yield queue


def _coords(kind: str) -> np.ndarray:
    rng = np.random.default_rng(7)
    if kind == "random":
        return (rng.random((SAMPLES, 2)) * SIZE).astype(np.float32)
    side = int(np.sqrt(SAMPLES))
    y, x = np.mgrid[0:side, 0:side].astype(np.float64) * (SIZE / side)
    turn = np.deg2rad(10.0)
    centre = SIZE / 2
    u = np.cos(turn) * (x - centre) - np.sin(turn) * (y - centre) + centre
    v = np.sin(turn) * (x - centre) + np.cos(turn) * (y - centre) + centre
    return np.stack([u.ravel(), v.ravel()], 1).astype(np.float32)


def _image(queue: Any, pixels: np.ndarray) -> tuple[Any, Any]:
    desc = bl.ImageDescriptor.from_array(pixels, dimensions=pixels.ndim - 1)
    memory = bl.ImageMem(desc, queue)
    queue.ext_oneapi_copy(pixels, memory).wait()
    return memory, bl.create_image(
        memory, desc, queue, sampler=bl.BindlessImageSampler("clamp_to_edge", "unnormalized", "linear")
    )


@pytest.mark.parametrize("kind", ["coherent", "random"])
@pytest.mark.parametrize(("dtype", "channels"), [("float32", 4), ("uint8", 4), ("float32", 1)])
def test_sample_2d(compare: Compare, reference_queue: Any, kind: str, dtype: str, channels: int) -> None:
    rng = np.random.default_rng(1)
    pixels = (rng.random((SIZE, SIZE, channels)) * (255 if dtype == "uint8" else 1)).astype(dtype)
    coords = _coords(kind)
    count = len(coords)
    out = np.empty((count, channels), np.float32)
    memory, handle = _image(reference_queue, pixels)

    def ours() -> None:
        bl.sample_image(reference_queue, handle, coords, out=out)

    peers: dict[str, Callable[[], object]] = {}
    cv2 = pytest.importorskip("cv2", reason="pip install opencv-python-headless")
    x, y = (np.ascontiguousarray(coords[:, axis].reshape(-1, 2000) - 0.5) for axis in (0, 1))

    def remap(source: np.ndarray) -> Callable[[], Any]:
        return lambda: cv2.remap(source, x, y, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)

    if dtype == "uint8":
        # The main peer gives the same results: unrounded floats. The remaining peers round to bytes.
        rounded = remap(pixels)
        peers["OpenCV remap"] = remap(pixels.astype(np.float32) / 255)
        peers["OpenCV remap, uint8 to uint8"] = rounded
        peers["OpenCV remap, uint8 to uint8, scaled"] = lambda: np.multiply(rounded(), np.float32(1 / 255))
    else:
        peers["OpenCV remap"] = remap(pixels)
    if kind == "coherent":
        from scipy.ndimage import map_coordinates

        plane = np.ascontiguousarray(pixels[..., 0], dtype=np.float32)
        rows = np.stack([coords[:, 1] - 0.5, coords[:, 0] - 0.5])
        peers[f"scipy one of {channels} channels"] = lambda: map_coordinates(plane, rows, order=1, mode="nearest")
    compare(
        ours,
        peers,
        name=f"reference sample 2D {dtype} x{channels} {kind}",
        rounds=5,
        items=count,
        unit="samples",
        target="fp32 x4 coherent: OpenCV >= 1.2, scipy per channel >= 3 / channels; fp32 x1: OpenCV >= 1; "
        "uint8: OpenCV, floats to floats, >= 1.5",
    )
    bl.destroy_image_handle(handle, reference_queue)
    memory.close()


def _mipmap(queue: Any, pixels: np.ndarray) -> tuple[Any, Any]:
    levels = int(np.log2(SIZE)) + 1
    desc = bl.ImageDescriptor(SIZE, SIZE, num_channels=4, channel_type="fp32", type="mipmap", num_levels=levels)
    memory = bl.ImageMem(desc, queue)
    for level in range(levels):
        part = np.ascontiguousarray(pixels[:: 1 << level, :: 1 << level])
        handle = memory.get_mip_level_mem_handle(level)
        queue.ext_oneapi_copy(part, handle, dst_desc=desc.get_mip_level_desc(level)).wait()
    return memory, desc


def test_sample_geometries(compare: Compare, reference_queue: Any) -> None:
    """Mip levels, gradients and cubes, relative to the plain image of the same pixels."""
    queue = reference_queue
    pixels = np.random.default_rng(1).random((SIZE, SIZE, 4), np.float32)
    texels = _coords("coherent")
    coords = texels / np.float32(SIZE)
    count = len(coords)
    out = np.empty((count, 4), np.float32)
    memory, handle = _image(queue, pixels)
    mipmap, mip_desc = _mipmap(queue, pixels)

    def mip_handle(anisotropy: float) -> Any:
        sampler = bl.BindlessImageSampler(
            "clamp_to_edge", "normalized", "linear", mipmap_filtering="linear", max_mipmap_level_clamp=11.0,
            max_anisotropy=anisotropy,
        )  # fmt: skip
        return bl.create_image(mipmap, mip_desc, queue, sampler=sampler)

    isotropic, anisotropic = mip_handle(0.0), mip_handle(16.0)
    cube_desc = bl.ImageDescriptor(512, 512, num_channels=4, channel_type="fp32", type="cubemap", array_size=6)
    cube_memory = bl.ImageMem(cube_desc, queue)
    queue.ext_oneapi_copy(pixels[:1536, :1024].reshape(6, 512, 512, 4), cube_memory).wait()
    seamless = bl.BindlessImageSampler("clamp_to_edge", "normalized", "linear", cubemap_filtering="seamless")
    cube = bl.create_image(cube_memory, cube_desc, queue, sampler=seamless)
    around, up = np.meshgrid(np.linspace(0, 2 * np.pi, 2000), np.linspace(-1.5, 1.5, 2000))
    directions = np.stack([np.cos(around) * np.cos(up), np.sin(up), np.sin(around) * np.cos(up)], -1)
    directions = directions.reshape(-1, 3).astype(np.float32)
    levels = np.full(count, 1.3, np.float32)
    dx, dy, far = (
        np.tile(np.array([[u, v]], np.float32) / SIZE, (count, 1)) for u, v in ((3.0, 0.2), (0.1, 2.9), (9.0, 0.2))
    )
    compare(
        lambda: bl.sample_image(queue, handle, texels, out=out),
        {
            "one level for all": lambda: bl.sample_mipmap(queue, isotropic, coords, level=1.3, out=out),
            "levels": lambda: bl.sample_mipmap(queue, isotropic, coords, level=levels, out=out),
            "gradients": lambda: bl.sample_mipmap(queue, isotropic, coords, dx=dx, dy=dy, out=out),
            "anisotropy": lambda: bl.sample_mipmap(queue, anisotropic, coords, dx=far, dy=dy, out=out),
            "seamless cube": lambda: bl.sample_cubemap(queue, cube, directions, out=out),
        },
        name="reference sample 2D float32 x4, and slower forms",
        rounds=5,
        items=count,
        unit="samples",
        target="all but anisotropy <= 4",
    )
    for each in (handle, isotropic, anisotropic, cube):
        bl.destroy_image_handle(each, queue)
    for each in (memory, mipmap, cube_memory):
        each.close()


KINDS = [
    (channel_type, channels)
    for channel_type in ("unorm_int8", "snorm_int8", "unorm_int16", "snorm_int16", "unsigned_int16", "fp16", "fp32")
    for channels in (1, 3, 4)
]


@pytest.mark.parametrize(("channel_type", "channels"), KINDS, ids=lambda value: str(value))
def test_sample_kind(compare: Compare, reference_queue: Any, channel_type: str, channels: int) -> None:
    """Each kind of texel, compared with four channels of 32-bit floats, for an image that stays in the cache."""
    queue, side = reference_queue, 256
    coords = _coords("coherent")[: SAMPLES // 4] / np.float32(SIZE / side)
    made = []

    def sampling(kind: str, number: int) -> Callable[[], object]:
        desc = bl.ImageDescriptor(side, side, num_channels=number, channel_type=kind)
        memory = bl.ImageMem(desc, queue)
        queue.ext_oneapi_copy(np.ones((side, side, number), desc.dtype), memory).wait()
        sampler = bl.BindlessImageSampler("clamp_to_edge", "unnormalized", "linear")
        handle = bl.create_image(memory, desc, queue, sampler=sampler)
        made.append((handle, memory))
        out = bl.sample_image(queue, handle, coords)
        return lambda: bl.sample_image(queue, handle, coords, out=out)

    compare(
        sampling(channel_type, channels),
        {"fp32 x4": sampling("fp32", 4)},
        name=f"reference sample 2D {channel_type} x{channels}",
        rounds=5,
        items=len(coords),
        unit="samples",
    )
    for handle, memory in made:
        bl.destroy_image_handle(handle, queue)
        memory.close()


def _trilinear_kernel(numba: Any) -> Any:
    """Return a handwritten ``kernel(volume, coords, out)``: clamp to edge, texel centres at one half."""

    @numba.njit(parallel=True, fastmath=True)
    def kernel(volume, coords, out):  # type: ignore[no-untyped-def]
        depth, height, width = volume.shape
        for item in numba.prange(coords.shape[0]):
            x = min(max(coords[item, 0] - 0.5, 0.0), width - 1.0)
            y = min(max(coords[item, 1] - 0.5, 0.0), height - 1.0)
            z = min(max(coords[item, 2] - 0.5, 0.0), depth - 1.0)
            x0, y0, z0 = int(x), int(y), int(z)
            x1, y1, z1 = min(x0 + 1, width - 1), min(y0 + 1, height - 1), min(z0 + 1, depth - 1)
            a, b, c = x - x0, y - y0, z - z0
            top = (1 - b) * ((1 - a) * volume[z0, y0, x0] + a * volume[z0, y0, x1])
            top += b * ((1 - a) * volume[z0, y1, x0] + a * volume[z0, y1, x1])
            low = (1 - b) * ((1 - a) * volume[z1, y0, x0] + a * volume[z1, y0, x1])
            low += b * ((1 - a) * volume[z1, y1, x0] + a * volume[z1, y1, x1])
            out[item] = (1 - c) * top + c * low

    return kernel


def test_sample_3d(compare: Compare, reference_queue: Any) -> None:
    numba = pytest.importorskip("numba", reason="pip install numba")
    size, count = 160, SAMPLES
    volume = np.random.default_rng(2).random((size, size, size)).astype(np.float32)
    line = np.linspace(0.5, size - 0.5, count, dtype=np.float64)
    coords = np.stack([line, (line * 1.7) % size, (line * 2.3) % size], 1).astype(np.float32)
    memory, handle = _image(reference_queue, volume[..., None])
    out = np.empty((count, 1), np.float32)
    peer_out = np.empty(count, np.float32)
    kernel = _trilinear_kernel(numba)
    compare(
        lambda: bl.sample_image(reference_queue, handle, coords, out=out),
        {"numba trilinear": lambda: kernel(volume, coords, peer_out)},
        name="reference sample 3D float32 x1",
        rounds=5,
        items=count,
        unit="samples",
        target="numba >= 2",
    )
    bl.destroy_image_handle(handle, reference_queue)
    memory.close()
