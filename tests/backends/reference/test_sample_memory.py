"""``blrSampleMemory``: samples of images in the memory of the process."""

from __future__ import annotations

import ctypes
import mmap
import sys
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from bindless.drivers import reference

reference.load()
ffi, lib = reference.ffi, reference.lib


def described(pixels: int, image: npt.NDArray[Any], coords: npt.NDArray[Any], values: npt.NDArray[Any]) -> Any:
    """A call for the image at an address: linear, clamped to the edge."""
    call = ffi.new("blr_memory_samples_t *")
    call.desc.width, call.desc.height, call.desc.depth = (*image.shape[-2::-1], 0, 0)[:3]
    call.desc.num_channels, call.desc.num_levels, call.desc.array_size = image.shape[-1], 1, 1
    call.desc.channel_type = lib.BLR_CHANNEL_FP16 if image.dtype == np.float16 else lib.BLR_CHANNEL_FP32
    call.sampler.filtering = lib.BLR_FILTERING_LINEAR
    call.sampler.addressing = [lib.BLR_ADDRESSING_CLAMP_TO_EDGE] * 3
    call.scale, call.bias = [1.0] * 3, [0.0] * 3
    call.images, call.samples = 1, len(coords)
    call.pixels = ffi.cast("void *", pixels)
    call.coordinates = ffi.cast("float *", coords.ctypes.data)
    call.values = ffi.cast("void *", values.ctypes.data)
    return call


def random_call(channels: int, dtype: Any, dims: int) -> tuple[Any, ...]:
    rng = np.random.default_rng(3)
    image = rng.normal(size=(*(3, 5, 7)[3 - dims :], channels)).astype(dtype)
    coords = rng.uniform(-2, 9, (3000, dims)).astype(np.float32)
    return image, coords, np.empty((len(coords), channels), dtype)


@pytest.mark.skipif(sys.platform != "linux", reason="protects a page with Linux' mprotect")
@pytest.mark.parametrize("channels", [1, 2, 3, 4])
@pytest.mark.parametrize("dtype", [np.float32, np.float16])
@pytest.mark.parametrize("dims", [1, 2, 3])
def test_nothing_around_the_image_is_read(channels: int, dtype: Any, dims: int) -> None:
    """The pages before and after it cannot be read."""
    image, coords, values = random_call(channels, dtype, dims)
    page = mmap.PAGESIZE
    memory = mmap.mmap(-1, 3 * page)
    start = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    libc = ctypes.CDLL(None)
    for guard in (0, 2):
        assert libc.mprotect(ctypes.c_void_p(start + guard * page), ctypes.c_size_t(page), 0) == 0
    expected = values.copy()
    reference.check(lib.blrSampleMemory(described(image.ctypes.data, image, coords, expected)), "blrSampleMemory")
    for place in (start + page, start + 2 * page - image.nbytes):
        ctypes.memmove(place, image.ctypes.data, image.nbytes)
        reference.check(lib.blrSampleMemory(described(place, image, coords, values)), "blrSampleMemory")
        np.testing.assert_array_equal(values, expected)


def test_scale_and_bias() -> None:
    image, coords, values = random_call(1, np.float32, 2)
    call = described(image.ctypes.data, image, coords, values)
    call.scale, call.bias = [2.0, 4.0, 1.0], [0.25, -1.0, 0.0]
    reference.check(lib.blrSampleMemory(call), "blrSampleMemory")
    moved = (coords.astype(np.float64) / [2, 4] + [0.25, -1]).astype(np.float32)
    expected = np.empty_like(values)
    reference.check(lib.blrSampleMemory(described(image.ctypes.data, image, moved, expected)), "blrSampleMemory")
    np.testing.assert_array_equal(values, expected)


@pytest.mark.parametrize(
    ("field", "value", "code"),
    [
        ("pixels", 0, "INVALID_ARGUMENT"),
        ("coordinates", 0, "INVALID_ARGUMENT"),
        ("values", 0, "INVALID_ARGUMENT"),
        ("samples", 1 << 60, "INVALID_SIZE"),
        ("desc.width", 0, "INVALID_SIZE"),
        ("desc.num_channels", 5, "INVALID_FORMAT"),
        ("desc.channel_type", 7, "INVALID_FORMAT"),
        ("desc.type", 3, "INVALID_ARGUMENT"),
        ("sampler.filtering", 9, "INVALID_ARGUMENT"),
    ],
)
def test_refused_arguments(field: str, value: int, code: str) -> None:
    image, coords, values = random_call(1, np.float32, 2)
    call = described(image.ctypes.data, image, coords, values)
    owner, _, name = field.rpartition(".")
    setattr(getattr(call, owner) if owner else call, name, value if value or owner else ffi.NULL)
    assert lib.blrSampleMemory(call) == getattr(lib, f"BLR_RESULT_{code}")
    assert lib.blrSampleMemory(ffi.NULL) == lib.BLR_RESULT_INVALID_ARGUMENT


def test_nothing_to_do() -> None:
    image, coords, values = random_call(1, np.float32, 2)
    call = described(image.ctypes.data, image, coords, values)
    call.images = 0
    reference.check(lib.blrSampleMemory(call), "blrSampleMemory")
