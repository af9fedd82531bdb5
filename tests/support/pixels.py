"""Random pixels and the expected results of reading them, computed with numpy alone."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import numpy.typing as npt

import bindless as bl
from tests.support.channel_storage import STORAGE

Array = npt.NDArray[Any]

CHANNEL_TYPES = tuple(STORAGE)
NORMALIZED = tuple(name for name, (_, one) in STORAGE.items() if one is not None)
INTEGERS = tuple(name for name, (kind, one) in STORAGE.items() if one is None and "int" in kind)


def random_pixels(desc: bl.ImageDescriptor, seed: int = 0) -> Array:
    """Random codes over the full range of the type; floats in -2..2."""
    rng = np.random.default_rng(seed)
    dtype = np.dtype(STORAGE[str(desc.channel_type)][0])
    if dtype.kind == "f":
        return (rng.random(desc.shape) * 4 - 2).astype(dtype)
    limits = np.iinfo(dtype)
    return rng.integers(limits.min, limits.max, desc.shape, dtype, endpoint=True)


def values_of(pixels: Array, channel_type: str) -> Array:
    """The values of a fetch: normalized codes become float32."""
    one = STORAGE[channel_type][1]
    if one is None:
        return pixels
    return np.maximum(pixels.astype(np.float64) / one, -1).astype(np.float32)


def every_coordinate(*sizes: int) -> Array:
    """(N, dims) int32 (x, y, z) of every pixel, in the order of a numpy array of reversed sizes."""
    grid = np.indices(tuple(reversed(sizes))).reshape(len(sizes), -1)
    return np.ascontiguousarray(grid[::-1].T.astype(np.int32))


def sizes_of(desc: bl.ImageDescriptor) -> tuple[int, ...]:
    """(width, height, depth), without unused dimensions."""
    return tuple(n for n in (desc.width, desc.height, desc.depth) if n)


def linear(pixels: Array, coords: Array, mode: str = "clamp_to_edge") -> Array:
    """Linear filtering at unnormalized coordinates with the weights of a texture unit: integers that sum to 256.

    Parameters
    ----------
    pixels
        ([depth,] [height,] width, channels) values.
    coords
        (N, dims) in (x, y, z), in texels.
    mode
        clamp_to_edge, repeat, mirrored_repeat or ext_oneapi_clamp_to_border, for every dimension.
    """
    dims = coords.shape[1]
    sizes = pixels.shape[:dims][::-1]
    fixed = np.floor(coords.astype(np.float64) * 256 + 0.5).astype(np.int64) - 128
    if mode == "clamp_to_edge":
        fixed = np.clip(fixed, 0, 256 * (np.array(sizes) - 1))
    first, fraction = fixed >> 8, fixed & 255
    total = np.zeros((len(coords), pixels.shape[-1]))
    for corner, weight in _weights(fraction).items():
        found = [wrapped(first[:, axis] + corner[axis], sizes[axis], mode) for axis in range(dims)]
        inside = np.logical_and.reduce([valid for _, valid in found])
        texels = pixels[tuple(place for place, _ in reversed(found))].astype(np.float64)
        total += np.where(inside[:, None], texels, 0) * weight[:, None]
    return total / 256


def _weights(fraction: Array) -> dict[tuple[int, ...], Array]:
    """Weight of each corner (x, y, z), from fractions in 1/256."""
    dims = fraction.shape[1]
    a = fraction[:, 0]
    b = fraction[:, 1] if dims > 1 else np.zeros_like(a)
    slices = [256 - fraction[:, 2], fraction[:, 2]] if dims > 2 else [np.full_like(a, 256)]
    found: dict[tuple[int, ...], Array] = {}
    for z, share in enumerate(slices):
        right = (a * share + 128) >> 8
        left = share - right
        top_left = (left * (256 - b) + 128) >> 8
        low_right = (right * b + 128) >> 8
        quad = {(0, 0): top_left, (1, 0): right - low_right, (0, 1): left - top_left, (1, 1): low_right}
        found.update({(*corner, z)[:dims]: weight for corner, weight in quad.items() if dims > 1 or not corner[1]})
    return found


def tolerance(device: bl.Device) -> float:
    """Tolerance of linear filtering of values in -2..2 against ``linear``: texture units differ in their weights."""
    exact = os.environ.get("BINDLESS_REFERENCE_FILTERING") == "exact"
    return 4e-6 if device.backend == "cuda" or (device.backend == "reference" and not exact) else 0.03


def nearest(pixels: Array, coords: Array, modes: str = "clamp_to_edge") -> Array:
    """Nearest filtering at unnormalized coordinates."""
    dims = coords.shape[1]
    sizes = pixels.shape[:dims][::-1]
    found = [wrapped(np.floor(coords[:, axis]).astype(np.int64), sizes[axis], modes) for axis in range(dims)]
    inside = np.logical_and.reduce([valid for _, valid in found])
    texels = pixels[tuple(place for place, _ in reversed(found))]
    return np.where(inside[:, None], texels, 0)


def wrapped(index: Array, size: int, mode: str) -> tuple[Array, Array]:
    """The texel for an index in one dimension, and whether it lies inside the image."""
    if mode in ("repeat", "none"):
        return index % size, np.ones(index.shape, bool)
    if mode == "mirrored_repeat":
        folded = index % (2 * size)
        return np.where(folded < size, folded, 2 * size - 1 - folded), np.ones(index.shape, bool)
    clipped = np.clip(index, 0, size - 1)
    return clipped, (index == clipped) | (mode == "clamp_to_edge")


def require(device: bl.Device, *aspects: bl.Aspect) -> None:
    """Skip a test whose feature the device does not report; other tests check that the device refuses it."""
    import pytest

    for aspect in aspects:
        if not device.has(aspect):
            pytest.skip(f"{device.name} has no {aspect}")


def upload(queue: bl.Queue, desc: bl.ImageDescriptor, pixels: Array) -> bl.ImageMem:
    """Image memory with the pixels; for a mipmap, in level 0."""
    memory = bl.ImageMem(desc, queue)
    if desc.type == "mipmap":
        handle, level = memory.get_mip_level_mem_handle(0), desc.get_mip_level_desc(0)
        queue.ext_oneapi_copy(pixels, handle, dst_desc=level).wait()
    else:
        queue.ext_oneapi_copy(pixels, memory).wait()
    return memory


def usm(queue: bl.Queue, array: Array) -> bl.UsmArray:
    """A copy of the array in device memory."""
    return bl.usm_empty(array.shape, array.dtype, queue).copy_from(array, queue)
