"""Gathers: the four pixels of a linear sample, over arrays of coordinates and in kernels, compared with numpy."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import bindless as bl
from tests.oracle.boundary import BOUNDARIES, texel
from tests.support.pixels import require

needs_llvm = pytest.mark.skipif(
    not bl.kernels_available() and not os.environ.get("BINDLESS_TEST_KERNELS"),
    reason="needs a kernel compiler: pip install 'bindless[kernels]'",
)

Array = npt.NDArray[Any]
WIDTH, HEIGHT = 11, 6
MODES = ["clamp_to_edge", "clamp_to_border", "repeat", "mirrored_repeat", "none"]
TYPES = {"fp32": "f4", "unorm_int8": "u1", "signed_int16": "i2", "unsigned_int32": "u4", "fp16": "f2"}


def wanted(pixels: Array, coords: Array, mode: str, normalized: bool, component: int) -> Array:
    """The four pixels of a sample; coordinates must be at least 1/256 away from a pixel centre."""
    mode = "repeat" if mode == "none" else mode  # as all drivers do, though undefined
    if not normalized and mode in ("repeat", "mirrored_repeat"):
        mode = "clamp_to_edge"
    texels = coords.astype(np.float64) * ((WIDTH, HEIGHT) if normalized else (1, 1)) - 0.5
    padded = np.concatenate([pixels, np.zeros((HEIGHT, WIDTH, 4 - pixels.shape[2]), pixels.dtype)], -1)
    result = np.zeros((len(coords), 4), pixels.dtype)
    for k, corner in enumerate(((0, 1), (1, 1), (1, 0), (0, 0))):
        x, y = (texel(BOUNDARIES[mode], *pair) for pair in zip((WIDTH, HEIGHT), (np.floor(texels) + corner).T))
        result[:, k] = np.where((x >= 0) & (y >= 0), padded[y, x, component], 0)
    return result


def coordinates(normalized: bool, seed: int = 1) -> Array:
    """Coordinates inside the image, on its border and far outside, away from the pixel centres."""
    rng = np.random.default_rng(seed)
    whole = rng.integers(-2 * WIDTH, 3 * WIDTH, (300, 2))
    places = whole + rng.uniform(0.02, 0.98, whole.shape) + 0.5
    corners = np.array([[0, 0], [0.25, 0.25], [WIDTH - 0.25, HEIGHT - 0.25], [WIDTH / 2 + 0.1, HEIGHT / 2 + 0.1]])
    return (np.concatenate([places, corners]) / ((WIDTH, HEIGHT) if normalized else (1, 1))).astype(np.float32)


def pixels_of(channel_type: str, channels: int) -> tuple[Array, Array]:
    """Stored pixels and the values that kernels read from them."""
    rng = np.random.default_rng(2)
    dtype = np.dtype(TYPES[channel_type])
    if dtype.kind == "f":
        stored = rng.normal(0, 9, (HEIGHT, WIDTH, channels)).astype(dtype)
    else:
        limits = np.iinfo(dtype)
        stored = rng.integers(limits.min, limits.max, (HEIGHT, WIDTH, channels), dtype, endpoint=True)
    return stored, (stored / np.float32(255)).astype(np.float32) if channel_type == "unorm_int8" else stored


@contextmanager
def sampled(queue: bl.Queue, stored: Array, channel_type: str, *sampler: str) -> Iterator[bl.SampledImageHandle]:
    desc = bl.ImageDescriptor(WIDTH, HEIGHT, num_channels=stored.shape[2], channel_type=channel_type)
    with bl.ImageMem(desc, queue) as memory:
        queue.ext_oneapi_copy(stored, memory).wait()
        handle = bl.create_image(memory, desc, queue, sampler=bl.BindlessImageSampler(*sampler))
        yield handle
        bl.destroy_image_handle(handle, queue)


@pytest.mark.filterwarnings("ignore::bindless.SamplerWarning")
@pytest.mark.parametrize("normalized", [False, True])
@pytest.mark.parametrize("mode", MODES)
def test_every_addressing(queue: bl.Queue, mode: str, normalized: bool) -> None:
    require(queue.device, bl.Aspect.ext_oneapi_bindless_sampled_image_fetch_2d)
    stored, values = pixels_of("fp32", 4)
    coords = coordinates(normalized)
    with sampled(queue, stored, "fp32", mode, "normalized" if normalized else "unnormalized", "linear") as handle:
        for component in range(4):
            found = bl.gather_image(queue, handle, coords, component)
            np.testing.assert_array_equal(found, wanted(values, coords, mode, normalized, component))


@pytest.mark.parametrize("channels", [1, 2, 4])
@pytest.mark.parametrize("channel_type", TYPES)
def test_every_type(queue: bl.Queue, channel_type: str, channels: int) -> None:
    require(queue.device, bl.Aspect.ext_oneapi_bindless_sampled_image_fetch_2d)
    native = queue.device._record.native
    if not queue.device._backend.supports_format(native, bl.ImageChannelType(channel_type), channels):
        pytest.skip(f"no images of {channels} channels of {channel_type}")
    stored, values = pixels_of(channel_type, channels)
    coords = coordinates(False)
    with sampled(queue, stored, channel_type, "clamp_to_edge") as handle:
        for component in (0, channels - 1, 3):
            found = bl.gather_image(queue, handle, coords, component)
            assert found.dtype == values.dtype
            expected = wanted(values, coords, "clamp_to_edge", False, component)
            np.testing.assert_allclose(found, expected, rtol=2e-7 if found.dtype.kind == "f" else 0)


def test_coordinates_are_rounded_to_256ths(queue: bl.Queue) -> None:
    require(queue.device, bl.Aspect.ext_oneapi_bindless_sampled_image_fetch_2d)
    stored, _ = pixels_of("fp32", 1)
    near = np.float32([[2.5 - 1 / 1024, 2.6], [2.5 - 3 / 512, 2.6], [np.nan, 2.6], [np.inf, -np.inf]])
    same = np.float32([[2.5, 2.6], [2.49, 2.6], [0, 2.6], [99, -99]])
    with sampled(queue, stored, "fp32", "clamp_to_edge") as handle:
        found = bl.gather_image(queue, handle, near)
        np.testing.assert_array_equal(found, bl.gather_image(queue, handle, same))
        np.testing.assert_array_equal(found[0], stored[[3, 3, 2, 2], [2, 3, 3, 2], 0])
        np.testing.assert_array_equal(found[1], stored[[3, 3, 2, 2], [1, 2, 2, 1], 0])
        assert bl.gather_image(queue, handle, np.zeros((0, 2), np.float32)).shape == (0, 4)


def test_what_is_not_gathered(queue: bl.Queue) -> None:
    stored, _ = pixels_of("fp32", 1)
    coords = np.zeros((3, 2), np.float32)
    line = bl.ImageDescriptor(8)
    with sampled(queue, stored, "fp32", "clamp_to_edge") as handle, bl.ImageMem(line, queue) as memory:
        flat = bl.create_image(memory, line, queue, sampler=bl.BindlessImageSampler("clamp_to_edge"))
        plain = bl.create_image(memory, line, queue)
        for arguments in (
            (queue, handle, coords.astype(np.float64)),
            (queue, handle, coords[:, :1]),
            (queue, handle, coords[0]),
            (queue, handle, coords, 4),
            (queue, handle, coords, 1.0),
            (queue, flat, coords),
            (queue, plain, coords),
            (queue, bl.SampledImageHandle(12345678), coords),
            ("queue", handle, coords),
        ):
            with pytest.raises(bl.InvalidError):
                bl.gather_image(*arguments)  # type: ignore[arg-type]
        bl.destroy_image_handle(flat, queue)
        bl.destroy_image_handle(plain, queue)


# ---------------------------------------------------------------------- in kernels

SOURCE = """
#include <bindless/device.h>
#define GATHER(T) \\
    kernel void gather_##T(sampled_image_handle image, global const float2 *at, global T *out, uint component) \\
    { \\
        const size_t i = get_global_id(0), n = get_global_size(0); \\
        out[i] = gather_image_##T(image, at[i], 0); \\
        out[i + n] = gather_image_##T(image, at[i], 1); \\
        out[i + 2 * n] = gather_image_##T(image, at[i], component); \\
    }
GATHER(float4) GATHER(int4) GATHER(uint4) GATHER(short4)
"""


def has_gathers(device: bl.Device) -> bool:
    """Devices with the aspect, including the package's own driver behind Level Zero's loader."""
    return device.has(bl.Aspect.ext_oneapi_bindless_images_gather) or device.name.startswith("bindless reference")


@needs_llvm
@pytest.mark.filterwarnings("ignore::bindless.SamplerWarning")
@pytest.mark.parametrize("normalized", [False, True])
@pytest.mark.parametrize(
    ("channel_type", "result", "mode"),
    [
        ("fp32", "float4", "clamp_to_border"),
        ("fp16", "float4", "mirrored_repeat"),
        ("unorm_int8", "float4", "repeat"),
        ("signed_int16", "int4", "clamp_to_edge"),
        ("signed_int16", "short4", "none"),
        ("unsigned_int32", "uint4", "repeat"),
    ],
)
def test_kernels_gather(queue: bl.Queue, channel_type: str, result: str, mode: str, normalized: bool) -> None:
    if not has_gathers(queue.device):
        pytest.skip(f"{queue.device.name} has no {bl.Aspect.ext_oneapi_bindless_images_gather}")
    kernel = bl.load_kernel_bundle(bl.build(SOURCE, targets=("spirv", "ptx")), queue).get_kernel(f"gather_{result}")
    stored, values = pixels_of(channel_type, 2)
    coords = coordinates(normalized, 3)
    dtype = {"float4": "f4", "int4": "i4", "uint4": "u4", "short4": "i2"}[result]
    out = bl.usm_empty((3, len(coords), 4), dtype, queue)
    at = bl.usm_empty(coords.shape, np.float32, queue).copy_from(coords, queue)
    with sampled(queue, stored, channel_type, mode, "normalized" if normalized else "unnormalized") as handle:
        for last in (1, 3):
            queue.parallel_for(len(coords), kernel, handle, at, out, np.uint32(last)).wait()
            found = out.numpy(queue)
            for k, component in enumerate((0, 1, last)):
                expected = wanted(values, coords, mode, normalized, component).astype(dtype)
                np.testing.assert_array_equal(found[k], expected)
                if k == 0:
                    np.testing.assert_array_equal(found[k], bl.gather_image(queue, handle, coords, 0).astype(dtype))


@needs_llvm
def test_opencl_has_no_such_instruction() -> None:
    with pytest.raises(bl.BuildError):
        bl.build(SOURCE, targets="opencl_c")
    file = bl.build(SOURCE)
    assert {section.language for section in file.sections} == {"spirv", "ptx"}
    ptx = next(section.data.decode() for section in file.sections if section.language == "ptx")
    for component in "rgba":
        for kind in ("f32", "s32", "u32"):
            assert f"tld4.{component}.2d.v4.{kind}.f32" in ptx


@needs_llvm
@pytest.mark.parametrize("wrong", ["geometry", "operands"])
def test_gathers_that_the_reference_refuses(wrong: str) -> None:
    file = bl.build(SOURCE, targets="spirv")
    data = np.frombuffer(file.sections[0].data, np.uint32).tolist()
    image_type, gather = 25, 96
    at = 5
    while at < len(data):
        length, opcode = data[at] >> 16, data[at] & 0xFFFF
        if wrong == "geometry" and opcode == image_type:
            data[at + 3] = 2  # three dimensions
        if wrong == "operands" and opcode == gather:
            data[at] = (length + 1) << 16 | gather
            data.insert(at + length, 0)
            length += 1
        at += length
    with bl.Queue("reference") as queue, pytest.raises(bl.BuildError):
        bl.load_kernel_bundle(np.array(data, np.uint32).tobytes(), queue)
