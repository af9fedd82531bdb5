"""Formats that samplers alone read: samples have the bits that an H200 recorded; pixels, levels, copies and errors."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import bindless as bl
from bindless.model.channels import CHANNELS
from tests.support.channel_kinds import SAMPLED_ONLY, has_format

Array = npt.NDArray[Any]

RECORDS = Path(__file__).parents[1] / "data" / "golden_formats.npz"
SRGB_RECORDS = RECORDS.with_name("golden_srgb.npz")
BLOCKS = tuple(kind for kind in SAMPLED_ONLY if CHANNELS[kind].block)


@pytest.fixture(scope="module")
def records() -> Iterator[Any]:
    with np.load(RECORDS) as arrays:
        yield arrays


@pytest.fixture(scope="module")
def srgb_records() -> Iterator[Any]:
    """Red of samples of codes of sRGB, from the levels of mipmaps and along anisotropic footprints."""
    with np.load(SRGB_RECORDS) as arrays:
        yield arrays


def random_blocks(channel_type: str, shape: tuple[int, ...], seed: int = 0, layers: tuple[int, ...] = ()) -> Array:
    """Random bytes of memory for (height, width) pixels."""
    desc = bl.ImageDescriptor(shape, CHANNELS[bl.ImageChannelType(channel_type)].channels, channel_type)
    return np.random.default_rng(seed).integers(0, 256, (*layers, *desc.storage.shape), np.uint8)


def require(queue: bl.Queue, channel_type: str) -> None:
    """Skips where the device has no such format, which another test asserts to be refused."""
    if not has_format(queue, channel_type):
        pytest.skip(f"{queue.device.name} has no {channel_type}")


def decoded_bc1(block: Array) -> Array:
    """(4, 4, 4) codes of a block of 8 bytes; from the format's definition, with rounding to nearest."""
    ends = block[:4].view("<u2").astype(int)
    colours = []
    for end in ends:
        red, green, blue = end >> 11, end >> 5 & 63, end & 31
        colours.append(np.array([red << 3 | red >> 2, green << 2 | green >> 4, blue << 3 | blue >> 2, 255]))
    first, second = colours
    if ends[0] > ends[1]:
        table = [first, second, (2 * first + second + 1) // 3, (first + 2 * second + 1) // 3]
    else:
        table = [first, second, (first + second + 1) // 2, np.zeros(4, int)]
    indices = int(block[4:].view("<u4")[0])
    return np.array([table[indices >> 2 * texel & 3] for texel in range(16)]).reshape(4, 4, 4)


# ---------------------------------------------------------------------- bits


@pytest.mark.parametrize("filtering", ["nearest", "linear"])
@pytest.mark.parametrize("width", [60, 64])
@pytest.mark.parametrize("channel_type", SAMPLED_ONLY)
def test_samples_have_the_recorded_bits(
    queue: bl.Queue, records: Any, channel_type: str, width: int, filtering: str
) -> None:
    require(queue, channel_type)
    if not queue.device._backend.traits.has_texture_units:
        pytest.skip("weights of another precision")
    key, height = f"{channel_type} {width}", 36 if width == 60 else 64
    point = "pt" if filtering == "nearest" else "lin"
    values = records[f"{key} {point} values"]
    if f"{key} {point} coords" in records:
        coords = records[f"{key} {point} coords"]
    else:
        coords = np.stack(np.meshgrid(np.arange(width) + 0.5, np.arange(height) + 0.5), -1).astype(np.float32)
    blocks = records[f"{key} pixels"]
    with bl.Image.from_blocks(blocks, (height, width), channel_type, filtering=filtering, queue=queue) as image:
        samples = image.sample(coords)
    np.testing.assert_array_equal(samples.reshape(values.shape), values)


def red(codes: Array) -> Array:
    """Pixels of these red codes."""
    return np.stack([codes, np.zeros_like(codes), np.zeros_like(codes), np.full_like(codes, 255)], -1)


def require_recorded_mipmaps(queue: bl.Queue) -> None:
    require(queue, "unorm_int8_srgb")
    if not (queue.device._backend.traits.has_texture_units and queue.device.has(bl.Aspect.ext_oneapi_mipmap)):
        pytest.skip("no mipmaps, or weights of another precision")


@pytest.mark.parametrize("case", ["levels", "anisotropy 2", "anisotropy 4", "anisotropy 16"])
@pytest.mark.parametrize("filtering", ["nearest", "linear"])
@pytest.mark.parametrize("shape", [(64, 64), (61, 37)])
def test_levels_and_footprints_of_srgb_have_the_recorded_bits(
    queue: bl.Queue, srgb_records: Any, shape: tuple[int, int], filtering: str, case: str
) -> None:
    require_recorded_mipmaps(queue)
    key = f"{shape[0]}x{shape[1]}"
    codes, levels = srgb_records[f"{key} codes"], []
    height, width = shape
    while codes.size:
        levels.append(red(codes[: height * width].reshape(height, width)))
        codes, height, width = codes[height * width :], max(height // 2, 1), max(width // 2, 1)
    options: dict[str, Any] = {"filtering": filtering, "queue": queue}
    names = ["level"]
    if case != "levels":
        names, options["max_anisotropy"] = ["dx", "dy"], int(case.split()[1])
    places = {name: srgb_records[f"{key} {name}"] for name in names}
    with bl.Image.from_blocks(levels, shape, "unorm_int8_srgb", **options) as image:
        samples = image.sample(srgb_records[f"{key} coords"], **places)
    np.testing.assert_array_equal(samples[:, 0], srgb_records[f"{key} {filtering} {case}"])
    np.testing.assert_array_equal(samples[:, 3], 1)


@pytest.mark.parametrize("first, second", [(0, 255), (10, 200), (254, 255), (1, 0), (128, 64), (77, 213)])
def test_blends_of_two_codes_of_srgb_have_the_recorded_bits(
    queue: bl.Queue, srgb_records: Any, first: int, second: int
) -> None:
    """Levels of one code each, with all weights."""
    require_recorded_mipmaps(queue)
    levels = [red(np.full((2, 2), first, np.uint8)), red(np.full((1, 1), second, np.uint8))]
    with bl.Image.from_blocks(levels, (2, 2), "unorm_int8_srgb", queue=queue) as image:
        samples = image.sample(np.full((257, 2), 0.5, np.float32), level=np.arange(257, dtype=np.float32) / 256)
    np.testing.assert_array_equal(samples[:, 0], srgb_records[f"blend {first} {second}"])


@pytest.mark.parametrize("filtering", ["nearest", "linear"])
@pytest.mark.parametrize("channel_type", BLOCKS)
def test_texels_outside_are_zero_but_for_alpha_of_bc6h(queue: bl.Queue, channel_type: str, filtering: str) -> None:
    require(queue, channel_type)
    blocks = random_blocks(channel_type, (8, 8))
    options: dict[str, Any] = {"filtering": filtering, "addressing": "border", "queue": queue}
    with bl.Image.from_blocks(blocks, (8, 8), channel_type, **options) as image:
        outside, edge, inside = image.sample([[-5.0, -5.0], [0.0, 3.5], [0.5, 3.5]])
    border = [0, 0, 0, 1] if channel_type.startswith("bc6h") else 0
    np.testing.assert_array_equal(outside, border)
    if filtering == "linear":  # half of a texel
        np.testing.assert_allclose(edge, (inside + border) / 2, rtol=1e-3, atol=2e-5)


def test_alpha_of_bc6h_is_1_in_every_blend(queue: bl.Queue) -> None:
    """Also between levels and along footprints, inside and outside."""
    require(queue, "bc6h_ufloat")
    if not queue.device.has(bl.Aspect.ext_oneapi_mipmap):
        pytest.skip("no mipmaps")
    levels = [np.zeros_like(random_blocks("bc6h_ufloat", shape)) for shape in ((16, 16), (8, 8), (4, 4))]
    rng = np.random.default_rng(4)
    coords, level = (rng.random((500, 2)) * 32 - 8).astype(np.float32), (rng.random(500) * 2).astype(np.float32)
    dx, dy = (rng.normal(size=(2, 500, 2)) * 3).astype(np.float32)
    options: dict[str, Any] = {"addressing": "border", "max_anisotropy": 8, "queue": queue}
    with bl.Image.from_blocks(levels, (16, 16), "bc6h_ufloat", **options) as image:
        np.testing.assert_array_equal(image.sample(coords, level=level), np.tile([0, 0, 0, 1], (500, 1)))
        np.testing.assert_array_equal(image.sample(coords, dx=dx, dy=dy), np.tile([0, 0, 0, 1], (500, 1)))


@pytest.mark.parametrize("channel_type", SAMPLED_ONLY)
def test_a_device_without_the_format_refuses_it(queue: bl.Queue, channel_type: str) -> None:
    blocks = random_blocks(channel_type, (8, 8))
    if has_format(queue, channel_type):
        with bl.Image.from_blocks(blocks, (8, 8), channel_type, queue=queue) as image:
            assert image.descriptor.channel_type == channel_type
    else:
        with pytest.raises(bl.FeatureNotSupportedError):
            bl.Image.from_blocks(blocks, (8, 8), channel_type, queue=queue)


# ---------------------------------------------------------------------- pixels


@pytest.mark.parametrize("channel_type", [*BLOCKS, "unorm_10_10_10_2"])
def test_numpy_decodes(queue: bl.Queue, channel_type: str) -> None:
    require(queue, channel_type)
    height, width = 13, 10
    blocks = random_blocks(channel_type, (height, width))
    with bl.Image.from_blocks(blocks, (height, width), channel_type, filtering="nearest", queue=queue) as image:
        pixels, fetched = image.numpy(), image.fetch(np.stack(np.meshgrid(range(width), range(height)), -1))
    if channel_type.endswith("_srgb"):
        pixels, fetched = pixels[..., 3], fetched[..., 3]
    if pixels.dtype.kind != "f":
        limit = np.iinfo(pixels.dtype).max
        pixels = np.maximum(pixels.astype(np.float32) / np.float32(limit), -1)
    if channel_type == "unorm_10_10_10_2":  # ten bits are wider here
        np.testing.assert_allclose(pixels, fetched, atol=1 / 65535)
    else:
        np.testing.assert_array_equal(pixels.astype(np.float32), fetched)


def test_pixels_are_those_of_the_blocks(queue: bl.Queue) -> None:
    require(queue, "bc1_unorm")
    blocks = random_blocks("bc1_unorm", (16, 20))
    rows = [np.concatenate([decoded_bc1(block) for block in row], 1) for row in blocks]
    expected = np.concatenate(rows, 0)
    with bl.Image.from_blocks(blocks, (16, 20), "bc1_unorm", queue=queue) as image:
        difference = np.abs(image.numpy().astype(int) - expected)
    assert difference.max() <= 4  # texture units interpolate in their own way
    np.testing.assert_array_equal(difference[..., 3], 0)


def test_codes_of_srgb_are_read_as_linear_values(queue: bl.Queue) -> None:
    require(queue, "unorm_int8_srgb")
    codes = np.arange(256, dtype=np.uint8).reshape(16, 16)
    pixels = np.stack([codes, codes[::-1], codes.T, codes], -1)
    number = pixels / 255.0
    linear = np.where(number <= 0.04045, number / 12.92, ((number + 0.055) / 1.055) ** 2.4)
    linear[..., 3] = number[..., 3]
    with bl.Image(pixels, srgb=True, filtering="nearest", queue=queue) as image:
        values = image.fetch(np.stack(np.meshgrid(range(16), range(16)), -1))
        np.testing.assert_array_equal(image.numpy(), pixels)
        assert image.dtype == np.float32
    np.testing.assert_allclose(values, linear, atol=1 / 256)
    with bl.Image(pixels[..., :3], srgb=True, filtering="nearest", queue=queue) as image:
        np.testing.assert_array_equal(image.fetch(np.stack(np.meshgrid(range(16), range(16)), -1)), values[..., :3])


def test_mipmaps_of_srgb_are_linear_means(queue: bl.Queue) -> None:
    require(queue, "unorm_int8_srgb")
    if not queue.device.has(bl.Aspect.ext_oneapi_mipmap):
        pytest.skip("no mipmaps")
    pixels = np.zeros((8, 8, 4), np.uint8)
    pixels[::2] = 255
    with bl.Image(pixels, srgb=True, mipmaps=True, queue=queue) as image:
        assert image.num_levels == 4
        np.testing.assert_array_equal(image.numpy(1)[..., :3], 188)  # half the light
        np.testing.assert_array_equal(image.numpy(1)[..., 3], 128)
        image.update(np.full_like(pixels, 255))
        np.testing.assert_array_equal(image.numpy(3), 255)


@pytest.mark.parametrize("channels", [1, 3, 4])
def test_srgb_is_updated(queue: bl.Queue, channels: int) -> None:
    require(queue, "unorm_int8_srgb")
    shape = (70, 90, channels)[: 2 + (channels > 1)]
    frames = np.random.default_rng(1).integers(0, 256, (4, *shape), np.uint8)
    with bl.Image(frames[0], srgb=True, queue=queue) as image:
        for frame in frames:
            image.update(frame)
            np.testing.assert_array_equal(image.numpy(), frame)


# ---------------------------------------------------------------------- levels, layers, faces


def test_levels(queue: bl.Queue) -> None:
    require(queue, "bc3_unorm")
    if not queue.device.has(bl.Aspect.ext_oneapi_mipmap):
        pytest.skip("no mipmaps")
    shapes = [(20, 28), (10, 14), (5, 7), (2, 3), (1, 1)]
    levels = [random_blocks("bc3_unorm", shape, number) for number, shape in enumerate(shapes)]
    with bl.Image.from_blocks(levels, shapes[0], "bc3_unorm", filtering="nearest", queue=queue) as image:
        for number, (blocks, shape) in enumerate(zip(levels, shapes)):
            with bl.Image.from_blocks(blocks, shape, "bc3_unorm", filtering="nearest", queue=queue) as alone:
                np.testing.assert_array_equal(image.numpy(number), alone.numpy())
                places = np.stack(np.meshgrid(range(shape[1]), range(shape[0])), -1)
                np.testing.assert_array_equal(image.fetch(places, level=number), alone.fetch(places))
        again = [random_blocks("bc3_unorm", shape, 9) for shape in shapes]
        image.update(again)
        assert not np.array_equal(image.numpy(1), bl.Image.from_blocks(levels[1], shapes[1], "bc3_unorm").numpy())
    first, *others = levels
    with bl.Image.from_blocks(first, shapes[0], "bc3_unorm", mipmaps=others[:2], queue=queue) as image:
        assert image.num_levels == 3


@pytest.mark.parametrize("kind", ["layers", "cubemap"])
@pytest.mark.parametrize("levels", [1, 3])
def test_layers_and_faces(queue: bl.Queue, kind: str, levels: int) -> None:
    require(queue, "bc1_unorm")
    aspects = [bl.Aspect.ext_oneapi_cubemap] if kind == "cubemap" else []
    aspects += [bl.Aspect.ext_oneapi_mipmap] if levels > 1 and kind == "layers" else []
    if not all(queue.device.has(aspect) for aspect in aspects):
        pytest.skip("not on this device")
    arrays = [random_blocks("bc1_unorm", (16 >> n, 16 >> n), n, (6,)) for n in range(levels)]
    options: dict[str, Any] = {kind: True, "queue": queue}
    with bl.Image.from_blocks(arrays, (16, 16), "bc1_unorm", **options) as image:
        for number, array in enumerate(arrays):
            for layer, blocks in enumerate(array):
                with bl.Image.from_blocks(blocks, (16 >> number,) * 2, "bc1_unorm", queue=queue) as alone:
                    np.testing.assert_array_equal(image.numpy(number)[layer], alone.numpy())
        image.update([array[::-1] for array in arrays])
        with bl.Image.from_blocks(arrays[0][5], (16, 16), "bc1_unorm", queue=queue) as alone:
            np.testing.assert_array_equal(image.numpy()[0], alone.numpy())
        if levels == 1:
            with copy.copy(image) as other:
                np.testing.assert_array_equal(other.numpy(), image.numpy())


def test_copies_and_pickles(queue: bl.Queue) -> None:
    require(queue, "bc7_unorm")
    blocks = random_blocks("bc7_unorm", (8, 12))
    with bl.Image.from_blocks(blocks, (8, 12), "bc7_unorm", queue=queue) as image:
        with copy.copy(image) as other:
            np.testing.assert_array_equal(other.numpy(), image.numpy())
        restored = bl.Queue("reference").device == queue.device and pickle.loads(pickle.dumps(image))
        if restored:
            np.testing.assert_array_equal(restored.numpy(), image.numpy())


# ---------------------------------------------------------------------- pictures


@pytest.mark.parametrize("channel_type", ["bc1_unorm", "bc4_snorm", "bc6h_ufloat", "bc7_srgb", "unorm_10_10_10_2"])
def test_pictures(queue: bl.Queue, channel_type: str) -> None:
    """A resized, a warped and a remapped picture are samples at their places."""
    require(queue, channel_type)
    blocks = random_blocks(channel_type, (16, 16))
    if channel_type == "bc6h_ufloat":
        blocks[...] = np.random.default_rng(3).integers(0, 2, blocks.shape)  # no halves near infinity
    matrix = np.array([[0.9, 0.1, 1.0], [-0.1, 0.9, 2.0]])
    x, y = np.meshgrid(np.arange(11) + 0.5, np.arange(9) + 0.5)
    places = np.stack([x * 0.9 + y * 0.1 + 1, -x * 0.1 + y * 0.9 + 2], -1).astype(np.float32)
    with bl.Image.from_blocks(blocks, (16, 16), channel_type, queue=queue) as image:
        expected = image.sample(places)
        np.testing.assert_allclose(image.warp(matrix, (9, 11)), expected, rtol=0.02, atol=0.02)
        np.testing.assert_array_equal(image.remap(places), expected)
        assert image.resize((32, 32)).shape[:2] == (32, 32)
        pixels = image.fetch(np.stack(np.meshgrid(range(16), range(16)), -1)).reshape(4, 4, 4, 4, -1)
        means = image.resize((4, 4)).reshape(4, 4, -1)
    np.testing.assert_allclose(means, pixels.mean((1, 3)), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("channel_type", ["bc1_unorm", "bc5_snorm", "bc7_srgb", "unorm_int8_srgb"])
def test_exact_samples_are_those_of_the_pixels(queue: bl.Queue, channel_type: str) -> None:
    require(queue, channel_type)
    blocks = random_blocks(channel_type, (16, 16))
    coords = (np.random.default_rng(2).random((50, 2)) * 14 + 1).astype(np.float32)
    with bl.Image.from_blocks(blocks, (16, 16), channel_type, precision="exact", queue=queue) as image:
        pixels = image.fetch(np.stack(np.meshgrid(range(16), range(16)), -1)).astype(np.float64)
        values = image.sample(coords)
    corner = np.floor(coords.astype(np.float64) - 0.5).astype(int)
    weight = (coords - 0.5 - corner)[..., None]
    (x, y), (a, b) = corner.T, weight.transpose(1, 0, 2)
    above, below = (pixels[row, x] * (1 - a) + pixels[row, x + 1] * a for row in (y, y + 1))
    np.testing.assert_allclose(values, above * (1 - b) + below * b, atol=1e-5)


# ---------------------------------------------------------------------- errors


def test_wrong_blocks_are_refused(queue: bl.Queue) -> None:
    require(queue, "bc1_unorm")
    blocks = np.zeros((2, 2, 8), np.uint8)
    for wrong, shape in [
        (blocks, (9, 8)),
        (blocks[..., :4], (8, 8)),
        (blocks.astype(np.int8), (8, 8)),
        (blocks[0], (8, 8)),
        ([blocks, blocks], (8, 8)),
        ([], (8, 8)),
        ([blocks, *[np.zeros((1, 1, 8), np.uint8)] * 4], (8, 8)),
    ]:
        with pytest.raises(bl.InvalidError):
            bl.Image.from_blocks(wrong, shape, "bc1_unorm", queue=queue)
    with pytest.raises(bl.InvalidError):
        bl.Image.from_blocks(blocks, (8, 8), "bc1_unorm", mipmaps=True, queue=queue)
    with pytest.raises(bl.InvalidError):
        bl.Image(np.zeros((8, 8, 4), np.uint8), channel_type="bc1_unorm", queue=queue)
    with bl.Image.from_blocks(blocks, (8, 8), "bc1_unorm", queue=queue) as image:
        with pytest.raises(bl.InvalidError):
            image.update(np.zeros((1, 2, 8), np.uint8))
        with pytest.raises(bl.FeatureNotSupportedError):
            image.unsampled_handle()


def test_srgb_is_of_bytes(queue: bl.Queue) -> None:
    require(queue, "unorm_int8_srgb")
    for wrong in (np.zeros((4, 4, 4), np.float32), np.zeros((4, 4, 2), np.uint8)):
        with pytest.raises(bl.InvalidError):
            bl.Image(wrong, srgb=True, queue=queue)
    grey = np.arange(16, dtype=np.uint8).reshape(4, 4)
    with bl.Image(grey, srgb=True, queue=queue) as image:
        assert image.sample([[1.5, 2.5]]).shape == (1,)
    with pytest.raises(bl.InvalidError):
        bl.Image(np.zeros((4, 4, 4), np.uint8), srgb=True, channel_type="unorm_int8", queue=queue)
