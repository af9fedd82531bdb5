"""Files of compressed blocks, sRGB and words of ten bits: they go to the device as they are."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from PIL import Image as Picture

import bindless as bl
from tests.image.test_dds_files import header
from tests.image.test_ktx2_files import DATA, ktx2
from tests.support.channel_kinds import has_format
from tests.support.error_checks import raises

Array = npt.NDArray[Any]


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(20261130)


def require(queue: bl.Queue, channel_type: str) -> None:
    if not has_format(queue, channel_type):
        pytest.skip(f"{queue.device.name} has no {channel_type}")


@pytest.mark.parametrize("letters", ["DXT1", "DXT3", "DXT5"])
def test_blocks_of_pillow(rng: np.random.Generator, queue: bl.Queue, tmp_path: Path, letters: str) -> None:
    """Pillow encodes and decodes; texture units and it round the colours in between otherwise."""
    name = {"DXT1": "bc1_unorm", "DXT3": "bc2_unorm", "DXT5": "bc3_unorm"}[letters]
    require(queue, name)
    colours = rng.integers(0, 256, (9, 13, 4)).astype(np.uint8)
    colours[..., 3] |= 128
    Picture.fromarray(colours).save(tmp_path / "picture.dds", pixel_format=letters)
    decoded = np.asarray(Picture.open(tmp_path / "picture.dds").convert("RGBA"))
    with bl.Image.open(tmp_path / "picture.dds", queue=queue) as image:
        assert image.descriptor.channel_type == name and image.shape == (9, 13, 4)
        assert np.abs(image.numpy().astype(int) - decoded).max() <= 4
        x, y = np.meshgrid(np.arange(13) + 0.5, np.arange(9) + 0.5)
        samples = image.sample(np.stack([x, y], -1).astype(np.float32))
        assert np.abs(samples * 255 - decoded).max() <= 4


NAMES = [
    ("bc1_unorm", 71, 8),
    ("bc4_unorm", 80, 8),
    ("bc5_snorm", 84, 16),
    ("bc6h_ufloat", 95, 16),
    ("bc7_srgb", 99, 16),
]


@pytest.mark.parametrize(("name", "number", "size"), NAMES)
@pytest.mark.parametrize("kind", ["standard", "array", "cubemap"])
def test_blocks_stay_as_they_are(
    rng: np.random.Generator, queue: bl.Queue, name: str, number: int, size: int, kind: str
) -> None:
    """A file, an image of it, and the file that is saved of that."""
    require(queue, name)
    count = {"standard": 1, "array": 3, "cubemap": 6}[kind]
    grids = [(2, 2), (1, 1), (1, 1), (1, 1)]
    pictures = [[rng.integers(0, 256, (*grid, size)).astype(np.uint8) for grid in grids] for _ in range(count)]
    ten = (number, 3, 4 if kind == "cubemap" else 0, count // 6 if kind == "cubemap" else count)
    file = header((8, 8), levels=4, ten=ten) + b"".join(level.tobytes() for picture in pictures for level in picture)
    with bl.Image.open(io.BytesIO(file), queue=queue) as image:
        assert image.num_levels == 4 and image.num_layers == count and image.descriptor.channel_type == name
        levels: list[Array] = [np.stack([picture[level] for picture in pictures]) for level in range(4)]
        if kind == "standard":
            levels = [level[0] for level in levels]
        kinds = {"layers": kind == "array", "cubemap": kind == "cubemap"}
        with bl.Image.from_blocks(levels, (8, 8), name, mipmaps=True, queue=queue, **kinds) as other:
            for level in range(4):
                np.testing.assert_array_equal(image.numpy(level), other.numpy(level))
        saved = io.BytesIO()
        image.save(saved, format="dds")
        assert saved.getvalue()[148:] == file[148:] and saved.getvalue()[128:144] == file[128:144]
        image.save(saved := io.BytesIO(), format="dds", level=1)
        with bl.Image.open(saved, queue=queue) as small:
            assert small.num_levels == 1 and small.size == (4, 4)
            np.testing.assert_array_equal(small.numpy(), image.numpy(1))
        with raises(bl.InvalidError, names=4):
            image.save(io.BytesIO(), format="dds", level=4)
    with (
        bl.Image.open(io.BytesIO(file), mipmaps=False, layers=False, cubemap=False, queue=queue) as first,
        bl.Image.from_blocks(pictures[0][0], (8, 8), name, queue=queue) as other,
    ):
        np.testing.assert_array_equal(first.numpy(), other.numpy())


def test_blocks_of_ktx2(queue: bl.Queue) -> None:
    require(queue, "bc7_srgb")
    for options in ({}, {"layers": True}):
        with bl.Image.open(DATA / "bc7_cubemap.ktx2", queue=queue, **options) as image:
            assert image.shape == (6, 8, 8, 4) and image.num_levels == 4
            assert (image.descriptor.type == "cubemap") == (not options)


def test_another_srgb(rng: np.random.Generator, queue: bl.Queue) -> None:
    require(queue, "bc1_srgb")
    require(queue, "unorm_int8_srgb")
    blocks = rng.integers(0, 256, (1, 1, 8)).astype(np.uint8)
    pixels = rng.integers(0, 256, (4, 4, 4)).astype(np.uint8)
    cases = {
        71: (blocks, "bc1_unorm", "bc1_srgb"),
        72: (blocks, "bc1_srgb", "bc1_unorm"),
        28: (pixels, "unorm_int8", "unorm_int8_srgb"),
        29: (pixels, "unorm_int8_srgb", "unorm_int8"),
    }
    for number, (data, name, other) in cases.items():
        file = header((4, 4), ten=(number, 3, 0, 1)) + data.tobytes()
        with bl.Image.open(io.BytesIO(file), queue=queue) as image:
            assert image.descriptor.channel_type == name
        with bl.Image.open(io.BytesIO(file), srgb=not name.endswith("srgb"), queue=queue) as image:
            assert image.descriptor.channel_type == other
    for number, size in ((80, 8), (41, 64)):
        with raises(bl.InvalidError, names="srgb"):
            file = header((4, 4), ten=(number, 3, 0, 1)) + bytes(size)
            bl.Image.open(io.BytesIO(file), srgb=True, queue=queue)


def test_levels_of_srgb_are_those_of_the_file(rng: np.random.Generator, queue: bl.Queue) -> None:
    require(queue, "unorm_int8_srgb")
    levels = [rng.integers(0, 256, (4 >> n, 4 >> n, 4)).astype(np.uint8) for n in range(3)]
    for file in (
        header((4, 4), levels=3, ten=(29, 3, 0, 1)) + b"".join(level.tobytes() for level in levels),
        ktx2(43, (4, 4, 0), [level.tobytes() for level in levels]),
    ):
        with bl.Image.open(io.BytesIO(file), queue=queue) as image:
            for number, level in enumerate(levels):
                np.testing.assert_array_equal(image.numpy(number), level)
            image.save(saved := io.BytesIO(), format="dds")
        assert saved.getvalue()[148:] == b"".join(level.tobytes() for level in levels)


@pytest.mark.parametrize("form", ["dxgi", "masks", "vulkan"])
def test_words_of_ten_bits(queue: bl.Queue, form: str) -> None:
    require(queue, "unorm_10_10_10_2")
    codes = np.array([[[1023, 0, 512, 3], [7, 8, 9, 1]]])
    words = (codes << [0, 10, 20, 30]).sum(-1).astype("<u4")
    if form == "vulkan":
        file = ktx2(64, (2, 1, 0), [words.tobytes()])
    elif form == "dxgi":
        file = header((2, 1), ten=(24, 3, 0, 1)) + words.tobytes()
    else:
        masks = (0x41, bytes(4), 32, 0x3FF, 0xFFC00, 0x3FF00000, 0xC0000000)
        file = header((2, 1), pixels=masks) + words.tobytes()
    with bl.Image.open(io.BytesIO(file), filtering="nearest", queue=queue) as image:
        samples = image.sample([[0.5, 0.5], [1.5, 0.5]])
        np.testing.assert_allclose(samples, codes[0] / [1023, 1023, 1023, 3], atol=1e-6)
        image.save(saved := io.BytesIO(), format="dds")
    assert saved.getvalue()[148:] == words.tobytes()


def test_volumes_of_blocks_are_refused(queue: bl.Queue) -> None:
    file = header((4, 4), depth=2, ten=(71, 4, 0, 1)) + bytes(16)
    with raises(bl.InvalidError, names="bc1_unorm"):
        bl.Image.open(io.BytesIO(file), queue=queue)


def test_levels_of_blocks_are_not_made(queue: bl.Queue) -> None:
    require(queue, "bc1_unorm")
    file = header((8, 8), ten=(71, 3, 0, 1)) + bytes(32)
    with raises(bl.InvalidError, names="mipmaps"):
        bl.Image.open(io.BytesIO(file), mipmaps=True, queue=queue)
