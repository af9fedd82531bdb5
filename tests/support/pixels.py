"""Random pixels, the values of a fetch, coordinates, and images that hold pixels."""

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


def tolerance(device: bl.Device) -> float:
    """Tolerance of linear filtering of values in -2..2, against 8-bit weights: texture units differ in theirs."""
    exact = os.environ.get("BINDLESS_REFERENCE_FILTERING") == "exact"
    return 4e-6 if device.backend == "cuda" or (device.backend == "reference" and not exact) else 0.03


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
