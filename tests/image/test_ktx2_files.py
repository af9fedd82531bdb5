""".ktx2 files: those in ``tests/data/ktx2``, which the library ktx-parse wrote, and those built here byte by byte.

In the files of ktx-parse byte i of level n is (7 i + 31 n) mod 251.
"""

from __future__ import annotations

import io
import struct
import zlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import bindless as bl
from bindless.image.picture_files.ktx2 import read_ktx2
from tests.support.error_checks import raises

Array = npt.NDArray[Any]
DATA = Path(__file__).parents[1] / "data" / "ktx2"
MAGIC = b"\xabKTX 20\xbb\r\n\x1a\n"


def pattern(shape: tuple[int, ...], level: int, dtype: str = "u1") -> Array:
    count = int(np.prod(shape)) * np.dtype(dtype).itemsize
    return ((7 * np.arange(count) + 31 * level) % 251).astype(np.uint8).view(dtype).reshape(shape)


def ktx2(
    number: int,
    size: tuple[int, int, int],
    levels: Sequence[bytes],
    *,
    layers: int = 0,
    faces: int = 1,
    scheme: int = 0,
    pack: Callable[[bytes], bytes] = bytes,
    count: int | None = None,
) -> bytes:
    """A file; the smallest level comes first, as in files of Khronos's tools."""
    head = struct.pack("<9I", number, 1, *size, layers, faces, len(levels) if count is None else count, scheme)
    begin, index, body = 12 + len(head) + 32 + 24 * len(levels), [b""] * len(levels), b""
    for level in reversed(range(len(levels))):
        part = pack(levels[level])
        index[level] = struct.pack("<3Q", begin + len(body), len(part), len(levels[level]))
        body += part
    return MAGIC + head + bytes(32) + b"".join(index) + body


def test_files_of_another_program(queue: bl.Queue) -> None:
    with bl.Image.open(DATA / "rgba8_layers.ktx2", queue=queue) as image:
        assert image.shape == (3, 5, 6, 4) and image.num_levels == 3 and image.dtype == np.uint8
        for level, size in enumerate([(5, 6), (2, 3), (1, 1)]):
            np.testing.assert_array_equal(image.numpy(level), pattern((3, *size, 4), level))
    with bl.Image.open(DATA / "fp16_volume.ktx2", queue=queue) as image:
        assert image.size == (4, 3, 2)
        np.testing.assert_array_equal(image.numpy().view("u2"), pattern((2, 3, 4), 0, "u2"))
    texture = read_ktx2((DATA / "bc7_cubemap.ktx2").read_bytes())
    assert (texture.format.channel_type, texture.kind, texture.shape) == ("bc7_srgb", "cubemap", (8, 8))
    for level, side in enumerate([2, 1, 1, 1]):
        np.testing.assert_array_equal(texture.levels[level], pattern((6, side, side, 16), level))


@pytest.mark.parametrize("scheme", ["none", "zlib", "zstd"])
@pytest.mark.parametrize("faces", [1, 6])
def test_supercompression(queue: bl.Queue, scheme: str, faces: int) -> None:
    pack: Callable[[bytes], bytes] = bytes
    if scheme == "zlib":
        pack = zlib.compress
    elif scheme == "zstd":
        pack = pytest.importorskip("zstandard", reason="pip install 'bindless[ktx2]'").ZstdCompressor().compress
    levels = [pattern((faces, 8 >> n, 8 >> n, 2), n) for n in range(3)]
    file = ktx2(
        16, (8, 8, 0), [n.tobytes() for n in levels], faces=faces, scheme=("none", "", "zstd", "zlib").index(scheme),
        pack=pack,
    )  # fmt: skip
    with bl.Image.open(io.BytesIO(file), queue=queue) as image:
        assert (image.descriptor.type == "cubemap") == (faces == 6)
        for number, level in enumerate(levels):
            np.testing.assert_array_equal(image.numpy(number), level if faces == 6 else level[0])


def test_zstd_without_the_size_of_its_frame(queue: bl.Queue) -> None:
    zstandard = pytest.importorskip("zstandard", reason="pip install 'bindless[ktx2]'")
    pixels = pattern((8, 8, 4), 0)
    pack = zstandard.ZstdCompressor(write_content_size=False).compress
    file = ktx2(37, (8, 8, 0), [pixels.tobytes()], scheme=2, pack=pack)
    with bl.Image.open(io.BytesIO(file), queue=queue) as image:
        np.testing.assert_array_equal(image.numpy(), pixels)
    for other in (pixels.tobytes()[:-1], pixels.tobytes() + b"1", b""):  # the index says another size
        file = ktx2(37, (8, 8, 0), [pixels.tobytes()], scheme=2, pack=lambda _, other=other: pack(other))
        with raises(bl.InvalidError):
            bl.Image.open(io.BytesIO(file), queue=queue)


def test_zstd_needs_a_library(queue: bl.Queue, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bindless.image.picture_files.ktx2.find_spec", lambda name: None)
    with raises(bl.InvalidError, names="bindless[ktx2]"):
        bl.Image.open(io.BytesIO(ktx2(9, (2, 1, 0), [b"12"], scheme=2)), queue=queue)


# Vulkan's number, dtype, channels, channel type.
FORMATS = [
    (9, "u1", 1, "unorm_int8"),
    (23, "u1", 3, "unorm_int8"),
    (37, "u1", 4, "unorm_int8"),
    (10, "i1", 1, "snorm_int8"),
    (41, "u1", 4, "unsigned_int8"),
    (91, "<u2", 4, "unorm_int16"),
    (82, "<i2", 2, "signed_int16"),
    (76, "<f2", 1, "fp16"),
    (97, "<f2", 4, "fp16"),
    (100, "<f4", 1, "fp32"),
    (106, "<f4", 3, "fp32"),
    (109, "<f4", 4, "fp32"),
    (98, "<u4", 1, "unsigned_int32"),
]


@pytest.mark.parametrize(("number", "dtype", "channels", "name"), FORMATS)
def test_formats(queue: bl.Queue, number: int, dtype: str, channels: int, name: str) -> None:
    pixels = np.arange(15 * channels).astype(dtype).reshape(3, 5, channels)
    file = io.BytesIO(ktx2(number, (5, 3, 0), [pixels.tobytes()]))
    with bl.Image.open(file, queue=queue, filtering="nearest") as image:
        assert image.descriptor.channel_type == name
        np.testing.assert_array_equal(image.numpy().reshape(pixels.shape), pixels)


def test_blue_comes_first(queue: bl.Queue) -> None:
    pixels = pattern((3, 5, 4), 0)
    with bl.Image.open(io.BytesIO(ktx2(44, (5, 3, 0), [pixels.tobytes()])), queue=queue) as image:
        np.testing.assert_array_equal(image.numpy(), pixels[..., [2, 1, 0, 3]])


def test_lines(queue: bl.Queue) -> None:
    with bl.Image.open(io.BytesIO(ktx2(9, (5, 0, 0), [b"12345"])), queue=queue) as image:
        assert image.size == (5,) and image.numpy().tobytes() == b"12345"


def test_levels_to_be_made(queue: bl.Queue) -> None:
    """A file with 0 levels has one, and asks for the others."""
    file = ktx2(9, (2, 2, 0), [b"1234"], count=0)
    with bl.Image.open(io.BytesIO(file), mipmaps=True, queue=queue) as image:
        assert image.num_levels == 2 and image.numpy(0).tobytes() == b"1234"


def test_lying_and_unknown_files_are_refused(queue: bl.Queue, tmp_path: Path) -> None:
    many, whole = 2**32 - 1, bytes(64)
    cases = {
        "cut head": (ktx2(37, (4, 4, 0), [whole])[:79], None),
        "cut index": (ktx2(37, (4, 4, 0), [whole])[:100], None),
        "cut pixels": (ktx2(37, (4, 4, 0), [whole])[:-1], None),
        "basis": (ktx2(0, (4, 4, 0), [whole], scheme=1), "ktx transcode"),
        "uastc": (ktx2(0, (4, 4, 0), [whole]), "ktx transcode"),
        "astc": (ktx2(157, (4, 4, 0), [whole]), 157),
        "other scheme": (ktx2(37, (4, 4, 0), [whole], scheme=4), 4),
        "no width": (ktx2(37, (0, 4, 0), [whole]), None),
        "vast": (ktx2(109, (many, many, many), [whole]), None),
        "vast, compressed": (ktx2(109, (many, many, many), [whole], scheme=3, pack=zlib.compress), None),
        "many layers": (ktx2(37, (4, 4, 0), [whole], layers=many), None),
        "two faces": (ktx2(37, (4, 4, 0), [whole], faces=2), None),
        "cube of volumes": (ktx2(37, (4, 4, 4), [whole], faces=6), None),
        "layers of volumes": (ktx2(37, (4, 4, 1), [whole], layers=2), None),
        "many levels": (ktx2(37, (4, 4, 0), [whole], count=many), None),
        "four levels": (ktx2(37, (4, 4, 0), [whole] * 4), None),
        "another size": (ktx2(37, (4, 4, 0), [bytes(63)]), 63),
        "another size, compressed": (ktx2(37, (4, 4, 0), [bytes(63)], scheme=3, pack=zlib.compress), 63),
        "no zlib": (ktx2(37, (4, 4, 0), [whole], scheme=3), None),
        "less in zlib": (ktx2(37, (4, 4, 0), [whole], scheme=3, pack=lambda _: zlib.compress(bytes(63))), 64),
        "more in zlib": (ktx2(37, (4, 4, 0), [whole], scheme=3, pack=lambda _: zlib.compress(bytes(65))), 64),
        "two cubes": (ktx2(9, (1, 1, 0), [bytes(12)], layers=2, faces=6), 12),
        "first version": (b"\xabKTX 11\xbb\r\n\x1a\n" + whole, "ktx2ktx2"),
    }
    for name, (data, value) in cases.items():
        path = tmp_path / f"{name}.ktx2"
        path.write_bytes(data)
        with raises(bl.InvalidError, names=value if name == "two cubes" else (path.name, value or "")):
            bl.Image.open(path, queue=queue)
    two_cubes = io.BytesIO(cases["two cubes"][0])
    with bl.Image.open(two_cubes, layers=True, queue=queue) as image:
        assert image.num_layers == 12


def test_vast_zstd_frames_take_no_memory(queue: bl.Queue) -> None:
    """A frame of 2^50 bytes and an index that agrees."""
    pytest.importorskip("zstandard", reason="pip install 'bindless[ktx2]'")
    side = 1 << 24
    frame = b"\x28\xb5\x2f\xfd\xe0" + struct.pack("<Q", 4 * side * side) + b"\x03\0\0"
    head = MAGIC + struct.pack("<9I", 37, 1, side, side, 0, 0, 1, 1, 2) + bytes(32)
    for whole in (4 * side * side, 64):
        size = side if whole != 64 else 4
        head = MAGIC + struct.pack("<9I", 37, 1, size, size, 0, 0, 1, 1, 2) + bytes(32)
        with raises(bl.InvalidError, names=whole):
            bl.Image.open(io.BytesIO(head + struct.pack("<3Q", 104, len(frame), whole) + frame), queue=queue)
