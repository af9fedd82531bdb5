""".dds files: those of Pillow, those built here byte by byte from Microsoft's description, and those of ``save``."""

from __future__ import annotations

import io
import struct
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from PIL import Image as Picture

import bindless as bl
from bindless.image.picture_files.dds import read_dds
from tests.support.error_checks import raises

Array = npt.NDArray[Any]


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(20261130)


def header(
    size: tuple[int, int],
    *,
    levels: int = 0,
    pixels: tuple[int, bytes, int, int, int, int, int] = (4, b"DX10", 0, 0, 0, 0, 0),
    caps: int = 0,
    depth: int = 0,
    ten: tuple[int, int, int, int] | None = None,
) -> bytes:
    """The head of a file: DDS_HEADER, and DDS_HEADER_DXT10 of (format, dimension, flags, layers)."""
    width, height = size
    words = struct.pack("<7I", 124, 0x1007, height, width, 0, depth, levels) + bytes(44)
    words += struct.pack("<II4s5I", 32, *pixels) + struct.pack("<4I4x", 0x1000, caps, 0, 0)
    return b"DDS " + words + (struct.pack("<5I", *ten, 0) if ten else b"")


def levels_of(rng: np.random.Generator, shape: tuple[int, ...], dtype: str, levels: int, channels: int) -> list[Array]:
    """Random pixels of a picture and its levels."""
    shapes = [tuple(max(n >> level, 1) for n in shape) for level in range(levels)]
    return [rng.integers(0, 200, (*size, channels)).astype(dtype) for size in shapes]


@pytest.mark.parametrize("mode", ["L", "LA", "RGB", "RGBA"])
def test_plain_files_of_pillow(rng: np.random.Generator, queue: bl.Queue, tmp_path: Path, mode: str) -> None:
    picture = Picture.fromarray(rng.integers(0, 256, (5, 7, 4)).astype(np.uint8)).convert(mode)
    picture.save(tmp_path / "picture.dds")
    with bl.Image.open(tmp_path / "picture.dds", queue=queue) as image:
        assert image.num_levels == 1 and image.descriptor.channel_type == "unorm_int8"
        np.testing.assert_array_equal(image.numpy(), np.asarray(picture))


@pytest.mark.parametrize(
    ("pixel_format", "name", "size"),
    [
        ("DXT1", "bc1_unorm", 8),
        ("DXT3", "bc2_unorm", 16),
        ("DXT5", "bc3_unorm", 16),
        ("BC2", "bc2_unorm", 16),
        ("BC3", "bc3_unorm", 16),
        ("BC5", "bc5_unorm", 16),
    ],
)
def test_blocks_of_pillow(rng: np.random.Generator, pixel_format: str, name: str, size: int) -> None:
    picture = Picture.fromarray(rng.integers(0, 256, (9, 13, 3 if pixel_format == "BC5" else 4)).astype(np.uint8))
    file = io.BytesIO()
    picture.save(file, "DDS", pixel_format=pixel_format)
    texture = read_dds(file.getvalue())
    assert (texture.format.channel_type, texture.kind, texture.shape) == (name, "standard", (9, 13))
    (blocks,) = texture.levels
    assert blocks.shape == (1, 3, 4, size) and blocks.tobytes() == file.getvalue()[-12 * size :]


# The flags, bits and masks of a pixel; what becomes of the words; a word, and its colour by Direct3D's rule.
MASKS = {
    "R8G8B8": ((0x40, 24, 0xFF0000, 0xFF00, 0xFF, 0), 0x102030, (0x10, 0x20, 0x30)),
    "B8G8R8": ((0x40, 24, 0xFF, 0xFF00, 0xFF0000, 0), 0x102030, (0x30, 0x20, 0x10)),
    "A8R8G8B8": ((0x41, 32, 0xFF0000, 0xFF00, 0xFF, 0xFF000000), 0x40102030, (0x10, 0x20, 0x30, 0x40)),
    "A8B8G8R8": ((0x41, 32, 0xFF, 0xFF00, 0xFF0000, 0xFF000000), 0x40102030, (0x30, 0x20, 0x10, 0x40)),
    "X8R8G8B8": ((0x40, 32, 0xFF0000, 0xFF00, 0xFF, 0), 0x40102030, (0x10, 0x20, 0x30)),
    "R5G6B5": ((0x40, 16, 0xF800, 0x7E0, 0x1F, 0), 0xFC10, (255, round(255 * 32 / 63), round(255 * 16 / 31))),
    "A1R5G5B5": ((0x41, 16, 0x7C00, 0x3E0, 0x1F, 0x8000), 0x8001, (0, 0, round(255 / 31), 255)),
    "A4R4G4B4": ((0x41, 16, 0xF00, 0xF0, 0xF, 0xF000), 0x4321, (0x33, 0x22, 0x11, 0x44)),
    "L8": ((0x20000, 8, 0xFF, 0, 0, 0), 0x77, (0x77,)),
    "A8L8": ((0x20001, 16, 0xFF, 0, 0, 0xFF00), 0x4277, (0x77, 0x42)),
    "A8": ((0x2, 8, 0, 0, 0, 0xFF), 0x99, (0x99,)),
    "L16": ((0x20000, 16, 0xFFFF, 0, 0, 0), 0x1234, (0x1234,)),
    "G16R16": ((0x40, 32, 0xFFFF, 0xFFFF0000, 0, 0), 0x12345678, (0x5678, 0x1234)),
    "A2R10G10B10": (
        (0x41, 32, 0x3FF00000, 0xFFC00, 0x3FF, 0xC0000000),
        0x80000001 | 0x3FF << 10,
        (0, 65535, round(65535 / 1023), round(65535 * 2 / 3)),
    ),
}


@pytest.mark.parametrize("name", MASKS)
def test_masks(queue: bl.Queue, name: str) -> None:
    (flags, bits, *masks), word, colour = MASKS[name]
    body = (b"\0" * (bits // 8) + word.to_bytes(bits // 8, "little")) * 2
    file = header((2, 2), pixels=(flags, b"\0" * 4, bits, *masks)) + body
    expected = np.zeros((2, 2, len(colour)), np.uint16 if max(colour) > 255 else np.uint8)
    expected[:, 1] = colour
    with bl.Image.open(io.BytesIO(file), queue=queue) as image:
        np.testing.assert_array_equal(image.numpy().reshape(expected.shape), expected)


# DXGI's number, dtype, channels, channel type.
FORMATS = [
    (61, "u1", 1, "unorm_int8"),
    (49, "u1", 2, "unorm_int8"),
    (28, "u1", 4, "unorm_int8"),
    (63, "i1", 1, "snorm_int8"),
    (32, "i1", 4, "signed_int8"),
    (50, "u1", 2, "unsigned_int8"),
    (56, "<u2", 1, "unorm_int16"),
    (11, "<u2", 4, "unorm_int16"),
    (13, "<i2", 4, "snorm_int16"),
    (54, "<f2", 1, "fp16"),
    (34, "<f2", 2, "fp16"),
    (10, "<f2", 4, "fp16"),
    (41, "<f4", 1, "fp32"),
    (16, "<f4", 2, "fp32"),
    (6, "<f4", 3, "fp32"),
    (2, "<f4", 4, "fp32"),
    (42, "<u4", 1, "unsigned_int32"),
    (4, "<i4", 4, "signed_int32"),
]


@pytest.mark.parametrize(("number", "dtype", "channels", "name"), FORMATS)
def test_formats_of_direct3d_10(
    rng: np.random.Generator, queue: bl.Queue, number: int, dtype: str, channels: int, name: str
) -> None:
    (pixels,) = levels_of(rng, (3, 5), dtype, 1, channels)
    file = header((5, 3), ten=(number, 3, 0, 1)) + pixels.tobytes()
    with bl.Image.open(io.BytesIO(file), queue=queue, filtering="nearest") as image:
        assert image.descriptor.channel_type == name and image.dtype == np.dtype(dtype).newbyteorder("=")
        np.testing.assert_array_equal(image.numpy().reshape(pixels.shape), pixels)


@pytest.mark.parametrize(("number", "channels"), [(87, 4), (88, 3)])
def test_blue_comes_first(rng: np.random.Generator, queue: bl.Queue, number: int, channels: int) -> None:
    pixels = rng.integers(0, 256, (3, 5, 4)).astype(np.uint8)
    file = header((5, 3), ten=(number, 3, 0, 1)) + pixels.tobytes()
    with bl.Image.open(io.BytesIO(file), queue=queue) as image:
        np.testing.assert_array_equal(image.numpy(), pixels[..., [2, 1, 0, 3]][..., :channels])


@pytest.mark.parametrize("letters", [b"\x71\0\0\0", b"\x24\0\0\0"])
def test_numbers_of_direct3d_9(rng: np.random.Generator, queue: bl.Queue, letters: bytes) -> None:
    (pixels,) = levels_of(rng, (2, 3), "f2" if letters[0] == 0x71 else "u2", 1, 4)
    file = header((3, 2), pixels=(4, letters, 0, 0, 0, 0, 0)) + pixels.tobytes()
    with bl.Image.open(io.BytesIO(file), queue=queue) as image:
        np.testing.assert_array_equal(image.numpy(), pixels)


def test_levels_are_those_of_the_file(rng: np.random.Generator, queue: bl.Queue) -> None:
    levels = levels_of(rng, (5, 6), "u1", 3, 3)
    masks = (0x40, b"\0" * 4, 24, 0xFF, 0xFF00, 0xFF0000, 0)
    body = b"".join(level.tobytes() for level in levels)
    for count, size in ((3, len(body)), (2, levels[0].size + levels[1].size)):
        file = io.BytesIO(header((6, 5), levels=count, pixels=masks) + body[:size])
        with bl.Image.open(file, queue=queue) as image:
            assert image.num_levels == 3
            for number in range(count):
                np.testing.assert_array_equal(image.numpy(number), levels[number])
    file.seek(0)
    with bl.Image.open(file, mipmaps=False, queue=queue) as image:
        assert image.num_levels == 1
        np.testing.assert_array_equal(image.numpy(), levels[0])


def test_layers_and_faces(rng: np.random.Generator, queue: bl.Queue) -> None:
    faces = [levels_of(rng, (4, 4), "<f4", 3, 1) for _ in range(6)]
    body = b"".join(level.tobytes() for face in faces for level in face)
    whole = [np.stack([face[level] for face in faces])[..., 0] for level in range(3)]
    files = {
        "array": header((4, 4), levels=3, ten=(41, 3, 0, 6)) + body,
        "cubemap": header((4, 4), levels=3, ten=(41, 3, 4, 1)) + body,
        "old cubemap": header((4, 4), levels=3, pixels=(4, b"\x72\0\0\0", 0, 0, 0, 0, 0), caps=0xFE00) + body,
    }
    for name, data in files.items():
        for options in ({}, {"layers": True}, {"cubemap": True}):
            with bl.Image.open(io.BytesIO(data), queue=queue, **options) as image:
                is_cubemap = "cubemap" in options or ("cubemap" in name and not options)
                assert image.num_layers == 6 and (image.descriptor.type == "cubemap") == is_cubemap
                for level in range(3):
                    np.testing.assert_array_equal(image.numpy(level), whole[level])
        with bl.Image.open(io.BytesIO(data), queue=queue, layers=False, cubemap=False, mipmaps=False) as image:
            np.testing.assert_array_equal(image.numpy(), whole[0][0])


def test_volumes_and_lines(rng: np.random.Generator, queue: bl.Queue) -> None:
    levels = levels_of(rng, (4, 2, 3), "u1", 3, 1)
    body = b"".join(level.tobytes() for level in levels)
    for data in (
        header((3, 2), levels=3, depth=4, ten=(61, 4, 0, 1)) + body,
        header((3, 2), levels=3, depth=4, pixels=(0x20000, b"\0" * 4, 8, 0xFF, 0, 0, 0), caps=0x200000) + body,
    ):
        with bl.Image.open(io.BytesIO(data), queue=queue) as image:
            assert image.size == (3, 2, 4)
            for number, level in enumerate(levels):
                np.testing.assert_array_equal(image.numpy(number), level[..., 0])
    line = rng.integers(0, 256, (7, 4)).astype(np.uint8)
    file = io.BytesIO(header((7, 1), ten=(28, 2, 0, 1)) + line.tobytes())
    with bl.Image.open(file, queue=queue) as image:
        assert image.size == (7,)
        np.testing.assert_array_equal(image.numpy(), line)


SAVED: list[tuple[tuple[int, ...], str, dict[str, Any]]] = [
    ((5, 6), "uint8", {}),
    ((5, 6, 2), "uint8", {}),
    ((5, 6, 3), "uint8", {"mipmaps": True}),
    ((5, 6, 4), "int16", {"channel_type": "signed_int16"}),
    ((5, 6, 4), "float16", {"mipmaps": True}),
    ((5, 6, 3), "float32", {}),
    ((3, 8, 4, 4), "float32", {"layers": True, "mipmaps": True}),
    ((6, 4, 4, 4), "float16", {"cubemap": True, "mipmaps": True}),
    ((6, 4, 4, 3), "uint8", {"cubemap": True}),
    ((4, 5, 6), "uint16", {"mipmaps": True}),
    ((4, 5, 6, 3), "uint8", {}),
    ((9, 4), "uint8", {"dimensions": 1}),
]


@pytest.mark.parametrize(("shape", "dtype", "options"), SAVED)
def test_saved_images_are_opened_again(
    rng: np.random.Generator, queue: bl.Queue, tmp_path: Path, shape: tuple[int, ...], dtype: str, options: Any
) -> None:
    pixels = rng.integers(0, 127, shape).astype(dtype)
    options = {"filtering": "nearest", "queue": queue, **options}
    with bl.Image(pixels, **options) as image:
        image.save(tmp_path / "image.dds")
        with bl.Image.open(tmp_path / "image.dds", filtering="nearest", queue=queue) as copy:
            assert copy.shape == image.shape and copy.dtype == image.dtype and copy.size == image.size
            assert copy.descriptor.channel_type == image.descriptor.channel_type
            assert copy.num_levels == image.num_levels
            assert (copy._options.layers, copy._options.cubemap) == (image._options.layers, image._options.cubemap)
            for level in range(image.num_levels):
                np.testing.assert_array_equal(copy.numpy(level), image.numpy(level))


def test_pillow_reads_what_is_saved(rng: np.random.Generator, queue: bl.Queue) -> None:
    for channels in (3, 4):
        file, pixels = io.BytesIO(), rng.integers(0, 256, (5, 7, channels)).astype(np.uint8)
        with bl.Image(pixels, mipmaps=True, queue=queue) as image:
            image.save(file, format="dds")
            np.testing.assert_array_equal(np.asarray(Picture.open(file)), pixels)
            file = io.BytesIO()
            image.save(file, format="dds", level=1)
            np.testing.assert_array_equal(np.asarray(Picture.open(file)), image.numpy(1))


def test_open_files_are_read_from_their_start(rng: np.random.Generator, queue: bl.Queue) -> None:
    pixels = rng.random((6, 4, 4)).astype(np.float32)
    with bl.Image(pixels, cubemap=True, queue=queue) as image:
        image.save(file := io.BytesIO(), format="dds")
    with bl.Image.open(file, queue=queue) as image:
        assert image.descriptor.type == "cubemap"
        np.testing.assert_array_equal(image.numpy(), pixels)


def test_what_a_dds_file_does_not_hold_is_refused(queue: bl.Queue, tmp_path: Path) -> None:
    path = tmp_path / "picture.dds"
    cases: list[tuple[tuple[int, ...], str, dict[str, Any]]] = [
        ((4, 4, 3), "uint16", {}),
        ((4, 4, 3), "float16", {}),
        ((2, 4, 4, 3), "uint8", {"layers": True}),
    ]
    for shape, dtype, options in cases:
        with bl.Image(np.zeros(shape, dtype), queue=queue, **options) as image:
            with raises(bl.InvalidError, names="picture.dds"):
                image.save(path)
            with raises(bl.InvalidError, names="quality"):
                image.save(path, quality=3)
    assert not path.exists()


def test_lying_and_unknown_files_are_refused(queue: bl.Queue, tmp_path: Path) -> None:
    plain = header((4, 4), ten=(28, 3, 0, 1)) + bytes(64)
    with bl.Image.open(io.BytesIO(plain), queue=queue) as image:
        assert not image.numpy().any()
    many = 2**32 - 1
    cases = {
        "cut head": plain[:100],
        "cut second head": plain[:140],
        "cut pixels": plain[:-1],
        "no width": header((0, 4), ten=(28, 3, 0, 1)) + bytes(64),
        "vast": header((many, many), ten=(28, 3, 0, 1)) + bytes(64),
        "vast volume": header((many, many), depth=many, ten=(2, 4, 0, 1)) + bytes(64),
        "many layers": header((1, 1), ten=(61, 3, 0, many)) + bytes(64),
        "many cubes": header((1, 1), ten=(61, 3, 4, many)) + bytes(64),
        "two cubes": header((1, 1), ten=(61, 3, 4, 2)) + bytes(12),
        "many levels": header((4, 4), levels=4, ten=(28, 3, 0, 1)) + bytes(999),
        "very many levels": header((4, 4), levels=many, ten=(28, 3, 0, 1)) + bytes(999),
        "no format": header((4, 4), ten=(0, 3, 0, 1)) + bytes(999),
        "video": header((4, 4), ten=(103, 3, 0, 1)) + bytes(999),
        "no dimension": header((4, 4), ten=(28, 9, 0, 1)) + bytes(999),
        "letters": header((4, 4), pixels=(4, b"PVR4", 0, 0, 0, 0, 0)) + bytes(999),
        "palette": header((4, 4), pixels=(0x20, bytes(4), 8, 0, 0, 0, 0)) + bytes(999),
        "gap in a mask": header((4, 4), pixels=(0x40, bytes(4), 16, 0xF0F, 0xF0, 0xF000, 0)) + bytes(999),
        "wide mask": header((4, 4), pixels=(0x40, bytes(4), 8, 0xFF00, 0, 0, 0)) + bytes(999),
        "no bits": header((4, 4), pixels=(0x40, bytes(4), 0, 0xFF, 0, 0, 0)) + bytes(999),
        "half a cube": header((4, 4), pixels=(0x20000, bytes(4), 8, 0xFF, 0, 0, 0), caps=0x600) + bytes(999),
    }
    for name, data in cases.items():
        path = tmp_path / f"{name}.dds"
        path.write_bytes(data)
        with raises(bl.InvalidError, names=path.name if name != "two cubes" else 12):
            bl.Image.open(path, queue=queue)
