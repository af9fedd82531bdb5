"""Contract of every backend's device functions: values read and written, compared with numpy in float64.

Filtered values are compared within the tolerance of eight-bit weights; ``tests/numerics`` has the exact comparison.
"""

from __future__ import annotations

import numpy as np
import pytest

from bindless.model.aspects import Aspect
from bindless.model.enums import UsmKind
from bindless.model.errors import Error
from bindless.model.image_descriptor import ImageDescriptor
from bindless.model.sampler import BindlessImageSampler
from tests.backends.contract.contract_rig import Array, Rig, pixels_of
from tests.backends.contract.test_contract_images import MIPMAPS, SHAPES, formatted
from tests.oracle.samples import sample_pixels
from tests.support.channel_kinds import PLAIN
from tests.support.tolerances import equal

COUNT = 500
NEAREST = BindlessImageSampler("clamp_to_edge")
LINEAR = BindlessImageSampler("clamp_to_edge", filtering="linear")


def values_of(desc: ImageDescriptor, pixels: Array) -> Array:
    """Values that a fetch returns: normalized codes divided by the largest code and clamped to -1."""
    if not desc.channel.normalized:
        return pixels
    largest = np.iinfo(pixels.dtype).max
    return np.maximum(pixels.astype("float64") / largest, -1.0).astype("float32")


def grid(desc: ImageDescriptor) -> Array:
    """Indices (z, y, x) of every pixel, shape (N, 3)."""
    x, y, z = desc.extent
    return np.stack(np.meshgrid(np.arange(z), np.arange(y), np.arange(x), indexing="ij"), -1).reshape(-1, 3)


def split(desc: ImageDescriptor, index: Array) -> tuple[Array, Array | None]:
    """Coordinates (x, y, z, as many as the image has) and layers of pixel indices."""
    dims = 2 if desc.type == "cubemap" else desc.dimensions
    return index[:, ::-1][:, :dims].copy(), index[:, 0].copy() if desc.is_layered else None


def at(desc: ImageDescriptor, pixels: Array, index: Array) -> Array:
    x, y, z = desc.extent
    return pixels.reshape(z, y, x, desc.num_channels)[index[:, 0], index[:, 1], index[:, 2]]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("channel_type", PLAIN)
def test_function_fetch_reads_every_pixel(rig: Rig, shape: str, channel_type: str) -> None:  # R58, R59, R69
    for channels in rig.counts(channel_type):
        desc = formatted(SHAPES[shape], channel_type, channels)
        pixels = pixels_of(desc)
        memory = rig.image(desc, pixels)
        index = grid(desc)
        coords, layers = split(desc, index)
        expected = at(desc, values_of(desc, pixels), index)
        found = rig.call("fetch", rig.unsampled(memory, desc), desc, coords, sampled=False, layers=layers)
        assert equal(found, expected, rig.backend.backend)
        if shape != "cubemap":
            image = rig.sampled(memory, desc, BindlessImageSampler("repeat", "normalized", "nearest"))
            found = rig.call("fetch", image, desc, coords, sampled=True, layers=layers)
            assert equal(found, expected, rig.backend.backend)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("channel_type", PLAIN)
def test_function_write_reaches_the_pixels(rig: Rig, shape: str, channel_type: str) -> None:  # R62, R64
    for channels in rig.counts(channel_type):
        desc = formatted(SHAPES[shape], channel_type, channels)
        before, after = pixels_of(desc, 1), pixels_of(desc, 2)
        memory = rig.image(desc, before)
        index = np.random.default_rng(4).permutation(grid(desc))[:COUNT]
        coords, layers = split(desc, index)
        colours = np.ascontiguousarray(at(desc, values_of(desc, after), index))
        rig.call("write", rig.unsampled(memory, desc), desc, coords, sampled=False, values=colours, layers=layers)
        x, y, z = desc.extent
        view = before.reshape(z, y, x, channels)
        written = at(desc, after, index)
        if desc.channel.normalized and desc.dtype.kind == "i":
            written = np.maximum(written, -np.iinfo(desc.dtype).max)
        view[index[:, 0], index[:, 1], index[:, 2]] = written
        assert np.array_equal(rig.read(memory, desc), before)


def test_function_write_of_codes(rig: Rig) -> None:
    desc = formatted(SHAPES["2d"], "unorm_int8", 4)
    memory = rig.image(desc, pixels_of(desc))
    codes = pixels_of(desc, 9)
    coords, _ = split(desc, grid(desc))
    rig.call("write", rig.unsampled(memory, desc), desc, coords, sampled=False, values=codes.reshape(-1, 4))
    assert np.array_equal(rig.read(memory, desc), codes)


@pytest.mark.parametrize("shape", [s for s in SHAPES if s != "cubemap"])
@pytest.mark.parametrize("mode", ["clamp_to_edge", "border"])
@pytest.mark.parametrize("normalized", [False, True])
def test_function_sample_nearest(rig: Rig, shape: str, mode: str, normalized: bool) -> None:
    desc = formatted(SHAPES[shape], "fp32", 4)
    pixels = pixels_of(desc)
    sampler = BindlessImageSampler(
        "ext_oneapi_clamp_to_border" if mode == "border" else mode, "normalized" if normalized else "unnormalized"
    )
    image = rig.sampled(rig.image(desc, pixels), desc, sampler)
    random = np.random.default_rng(3)
    dims = desc.dimensions
    sizes = np.array([desc.width, desc.height, desc.depth][:dims])
    texel = np.stack([random.integers(-3, n + 3, COUNT) for n in sizes], 1)
    coords = texel + random.uniform(0.1, 0.9, texel.shape)
    layers = random.integers(0, desc.array_size, COUNT) if desc.is_layered else None
    found = rig.call("sample", image, desc, coords / sizes if normalized else coords, sampled=True, layers=layers)
    inside = np.clip(texel, 0, sizes - 1)
    index = np.zeros((COUNT, 3), int)
    for axis in range(dims):
        index[:, 2 - axis] = inside[:, axis]
    if layers is not None:
        index[:, 0] = layers
    expected = at(desc, pixels, index)
    if mode == "border":
        expected = np.where((inside == texel).all(1)[:, None], expected, 0)
    assert equal(found, expected, rig.backend.backend)


@pytest.mark.parametrize("mode", ["repeat", "mirrored_repeat", "none"])
def test_function_sample_repeats(rig: Rig, mode: str) -> None:  # R38, R39
    desc = formatted(SHAPES["2d"], "unorm_int16", 2)
    pixels = pixels_of(desc)
    image = rig.sampled(rig.image(desc, pixels), desc, BindlessImageSampler(mode, "normalized"))
    random = np.random.default_rng(6)
    sizes = np.array([desc.width, desc.height])
    texel = np.stack([random.integers(-3 * n, 4 * n, COUNT) for n in sizes], 1)
    found = rig.call("sample", image, desc, (texel + 0.5) / sizes, sampled=True)
    if mode == "mirrored_repeat":
        folded = texel % (2 * sizes)
        inside = np.minimum(folded, 2 * sizes - 1 - folded)
    else:
        inside = texel % sizes
    assert equal(found, values_of(desc, pixels)[inside[:, 1], inside[:, 0]], rig.backend.backend)


def linear(desc: ImageDescriptor, values: Array, coords: Array, layer: Array | None = None) -> Array:
    """Exact samples at coordinates in pixels, whose centres are at one half."""
    layers = () if layer is None else (desc.array_size,)
    texels = values.reshape(*layers, *reversed(desc.extent[: coords.shape[1]]), -1)
    return np.asarray(sample_pixels(texels, coords, layer=layer))


@pytest.mark.parametrize("shape", [s for s in SHAPES if s != "cubemap"])
@pytest.mark.parametrize("channel_type", ["fp32", "fp16", "unorm_int8", "snorm_int16"])
def test_function_sample_linear(rig: Rig, shape: str, channel_type: str) -> None:  # R66
    desc = formatted(SHAPES[shape], channel_type, 4)
    pixels = pixels_of(desc)
    image = rig.sampled(rig.image(desc, pixels), desc, LINEAR)
    random = np.random.default_rng(8)
    sizes = [n for n in (desc.width, desc.height, desc.depth) if n]
    coords = np.stack([random.uniform(-1, n + 1, COUNT) for n in sizes], 1).astype("float32")
    layers = random.integers(0, desc.array_size, COUNT) if desc.is_layered else None
    found = rig.call("sample", image, desc, coords, sampled=True, layers=layers, dtype="float32")
    values = values_of(desc, pixels)
    expected = linear(desc, values, coords.astype("float64"), layers)
    spread = float(values.max()) - float(values.min())
    assert np.abs(found - expected).max() <= spread * len(sizes) * 2.5 / 512
    middle = np.stack([random.integers(0, n, COUNT) + 0.5 for n in sizes], 1)
    exact = rig.call("sample", image, desc, middle, sampled=True, layers=layers, dtype="float32")
    assert np.allclose(exact, linear(desc, values, middle, layers), atol=1e-4 if channel_type == "snorm_int16" else 0)


def test_function_half_results(rig: Rig) -> None:  # R60
    desc = formatted(SHAPES["2d"], "unorm_int8", 4)
    pixels = pixels_of(desc)
    memory = rig.image(desc, pixels)
    index = grid(desc)
    coords, _ = split(desc, index)
    expected = values_of(desc, pixels).reshape(-1, 4).astype("float16")
    image = rig.sampled(memory, desc, NEAREST)
    assert np.array_equal(rig.call("sample", image, desc, coords + 0.5, sampled=True, dtype="float16"), expected)
    found = rig.call("fetch", rig.unsampled(memory, desc), desc, coords, sampled=False, dtype="float16")
    assert equal(found, expected, rig.backend.backend)


def test_function_channels_that_are_missing_read_zero(rig: Rig) -> None:
    desc = formatted(SHAPES["2d"], "fp32", 1)
    pixels = pixels_of(desc)
    memory = rig.image(desc, pixels)
    coords, _ = split(desc, grid(desc))
    for image, sampled in ((rig.unsampled(memory, desc), False), (rig.sampled(memory, desc, NEAREST), True)):
        found = rig.call("fetch", image, desc, coords, sampled=sampled, channels=4)
        assert np.array_equal(found[:, :1], pixels.reshape(-1, 1))
        assert not found[:, 1:].any()


@pytest.mark.parametrize("kind", [UsmKind.device, UsmKind.host, UsmKind.shared])
def test_function_images_over_linear_memory(rig: Rig, kind: UsmKind) -> None:
    unit = rig.backend.device_info(rig.device, "image_row_pitch_align")
    for channel_type, channels in (("fp32", 4), ("unorm_int8", 4), ("unsigned_int16", 2)):
        if Aspect.ext_oneapi_bindless_images_1d_usm in rig.backend.aspects(rig.device):
            desc = formatted(SHAPES["1d"], channel_type, channels)
            pixels = pixels_of(desc)
            image = rig.sampled_usm(rig.upload(pixels, kind), 0, desc, NEAREST)
            coords, _ = split(desc, grid(desc))
            found = rig.call("fetch", image, desc, coords, sampled=True, usm=True)
            assert equal(found, values_of(desc, pixels), rig.backend.backend)
        flat = ImageDescriptor(64, 23, num_channels=channels, channel_type=channel_type)
        pitch = -(-flat.row_size // unit) * unit
        pixels = pixels_of(flat)
        rows = np.zeros((23, pitch), "uint8")
        rows[:, : flat.row_size] = pixels.view("uint8").reshape(23, -1)
        image = rig.sampled_usm(rig.upload(rows, kind), pitch, flat, LINEAR if channels == 4 else NEAREST)
        coords, _ = split(flat, grid(flat))
        expected = values_of(flat, pixels).reshape(-1, channels)
        found = rig.call("fetch", image, flat, coords, sampled=True, usm=True)
        assert equal(found, expected, rig.backend.backend)
        found = rig.call("sample", image, flat, coords + 0.5, sampled=True, usm=True)
        assert np.allclose(found, expected, atol=0)


@pytest.mark.parametrize("shape", MIPMAPS)
def test_function_levels(rig: Rig, shape: str) -> None:  # R68
    desc = formatted(MIPMAPS[shape], "fp32", 4)
    memory = rig.image(desc)
    levels = [desc.get_mip_level_desc(level) for level in range(desc.num_levels)]
    for number, level in enumerate(levels):
        pixels = np.full(level.shape, number * 10.0, "float32")
        rig.write(rig.backend.image_level(rig.context, memory, number), level, pixels)
    random = np.random.default_rng(2)
    coords = random.uniform(0, 1, (COUNT, desc.dimensions))
    last = desc.num_levels - 1
    for filtering in ("nearest", "linear"):
        sampler = BindlessImageSampler(
            "clamp_to_edge", "normalized", "linear", mipmap_filtering=filtering, max_mipmap_level_clamp=float(last)
        )
        image = rig.sampled(memory, desc, sampler)
        wanted = random.uniform(-1, last + 2, COUNT).astype("float32")
        inside = np.clip(np.trunc(wanted * 256) / 256, 0, last)
        expected = 10 * (np.floor(inside + 0.5) if filtering == "nearest" else inside)
        found = rig.call("sample_lod", image, desc, coords, sampled=True, levels=wanted)
        assert np.abs(found - expected[:, None]).max() <= 10 / 256
        found = rig.call("sample_lod", image, desc, coords, sampled=True, level=1.25)
        assert np.allclose(found, 12.5 if filtering == "linear" else 10.0, atol=1e-5)
        for step in range(desc.num_levels):
            gradient = np.zeros((COUNT, desc.dimensions), "float32")
            gradient[:, 0] = 2.0**step / desc.width
            found = rig.call("sample_grad", image, desc, coords, sampled=True, dx=gradient, dy=np.zeros_like(gradient))
            assert np.abs(found - 10.0 * step).max() <= 0.8


def test_function_cube_directions_choose_the_face(rig: Rig) -> None:  # R69
    desc = formatted(SHAPES["cubemap"], "fp32", 1)
    pixels = np.zeros(desc.shape, "float32")
    for face in range(6):
        pixels[face] = face
    for filtering in ("disjointed", "seamless"):
        image = rig.sampled(
            rig.image(desc, pixels), desc, BindlessImageSampler("clamp_to_edge", cubemap_filtering=filtering)
        )
        random = np.random.default_rng(1)
        directions = random.uniform(-0.9, 0.9, (600, 3))
        face = np.arange(600) % 6
        axis, sign = face // 2, 1 - 2 * (face % 2)
        directions[np.arange(600), axis] = sign
        directions *= random.uniform(0.01, 100, (600, 1))
        found = rig.call("sample", image, desc, directions, sampled=True)
        assert np.array_equal(found[:, 0], face)


def test_function_waits_and_counts(rig: Rig) -> None:
    desc = formatted(SHAPES["2d"], "fp32", 4)
    image = rig.unsampled(rig.image(desc, pixels_of(desc)), desc)
    empty = rig.call("fetch", image, desc, np.zeros((0, 2)), sampled=False, values=np.zeros((0, 4), "float32"))
    assert empty.shape == (0, 4)
    pixels = pixels_of(desc)
    for count in (1, 2, 3, 255, 511, 513, 70_001):
        index = np.random.default_rng(count).integers(0, [1, desc.height, desc.width], (count, 3))
        coords, _ = split(desc, index)
        found = rig.call("fetch", image, desc, coords, sampled=False)
        assert equal(found, at(desc, pixels, index), rig.backend.backend)


def test_function_that_does_not_fit_the_image(rig: Rig) -> None:  # R63
    desc = formatted(SHAPES["2d"], "fp32", 4)
    memory = rig.image(desc, pixels_of(desc))
    coords = np.zeros((4, 2))
    with pytest.raises(Error):
        rig.call("write", rig.sampled(memory, desc, NEAREST), desc, coords, sampled=True)
    with pytest.raises(Error):
        rig.call("sample", rig.unsampled(memory, desc), desc, coords, sampled=False)
