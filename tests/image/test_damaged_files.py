"""Damaged, lying and too large picture files: ``Image.open`` raises errors of the package alone."""

from __future__ import annotations

import io
import os
import random
import struct
import subprocess
import sys
import warnings
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image as Picture

import bindless as bl
from tests.support.error_checks import raises

FORMATS = {
    "PNG": ("RGB", "L", "P", "1", "RGBA", "LA"),
    "JPEG": ("RGB", "L", "CMYK"),
    "TIFF": ("RGB", "L", "P", "1", "F", "CMYK"),
    "GIF": ("P", "L"),
    "BMP": ("RGB", "L", "P", "1"),
    "WEBP": ("RGB", "RGBA"),
    "PPM": ("RGB", "L", "1"),
    "DDS": ("RGB", "RGBA"),
    "TGA": ("RGB", "P"),
    "PCX": ("RGB", "P"),
    "ICO": ("RGBA",),
    "ICNS": ("RGBA",),
    "SGI": ("RGB", "L"),
    "IM": ("RGB", "F"),
    "QOI": ("RGB",),
    "XBM": ("1",),
    "MSP": ("1",),
    "SPIDER": ("F",),
    "BLP": ("P",),
    "JPEG2000": ("RGB",),
}


def deep_png(width: int, height: int, body: bytes, colour: int = 2) -> bytes:
    """A PNG file of 16 bits that may lie about its size."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", width, height, 16, colour, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", body) + chunk(b"IEND", b"")


def encoded(picture: Picture.Image, codec: str, **options: Any) -> bytes:
    file = io.BytesIO()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of formats that Pillow will drop
        picture.save(file, codec, **options)
    return file.getvalue()


@pytest.fixture(scope="module")
def files() -> list[bytes]:
    """Small pictures of every format that the installed Pillow writes."""
    rng = np.random.default_rng(20261124)
    picture = Picture.fromarray(rng.integers(0, 256, (9, 13, 3)).astype(np.uint8))
    Picture.init()
    found = []
    for codec, modes in FORMATS.items():
        if codec in Picture.SAVE:
            found += [encoded(picture.convert(mode), codec) for mode in modes]
    for codec in ("PNG", "GIF", "TIFF"):
        found.append(encoded(picture, codec, save_all=True, append_images=[picture.rotate(9), picture.rotate(20)]))
    found.append(encoded(Picture.fromarray(rng.integers(0, 65536, (9, 13)).astype(np.uint16)), "PNG"))
    for channels, colour in ((2, 4), (3, 2), (4, 6)):
        rows = rng.integers(0, 256, (5, 1 + 2 * channels * 7)).astype(np.uint8)
        rows[:, 0] = np.arange(5)
        found.append(deep_png(7, 5, zlib.compress(rows.tobytes()), colour))
    return found


def damaged(chance: random.Random, data: bytes, others: list[bytes]) -> bytes:
    found = bytearray(data)
    for _ in range(chance.choice([1, 1, 2, 3, 6])):
        if not found:
            break
        at = chance.randrange(min(len(found), chance.choice([40, 200, len(found)])))
        kind = chance.randrange(7)
        if kind == 0:
            found[at] = chance.randrange(256)
        elif kind == 1:
            found[at] ^= 1 << chance.randrange(8)
        elif kind == 2:
            del found[at : at + chance.randrange(1, 9)]
        elif kind == 3:
            del found[at:]
        elif kind == 4:
            words = [b"\xff" * 4, b"\0" * 4, b"\x7f\xff\xff\xff", b"\0\0\0\1", b"\1\0\0\0", b"-1", b"99"]
            word = chance.choice(words)
            found[at : at + len(word)] = word
        else:
            other = chance.choice(others)
            begin = chance.randrange(len(other))
            found[at:at] = other[begin : begin + chance.randrange(1, 60)]
    return bytes(found)


@pytest.mark.parametrize("seed", range(4))
def test_damaged_files_raise_errors_of_the_package(queue: bl.Queue, files: list[bytes], seed: int) -> None:
    chance, other, refused = random.Random(seed), [], 0
    with warnings.catch_warnings():
        warnings.simplefilter("error" if seed % 2 else "ignore")
        for number in range(600):
            data = damaged(chance, chance.choice(files), files)
            try:
                bl.Image.open(io.BytesIO(data), queue=queue, layers=bool(number % 3 == 0)).close()
            except bl.Error:
                refused += 1
            except Exception as error:
                other.append((number, type(error).__name__, str(error)))
    assert other == []
    assert refused > 200  # of 600: the files are damaged


def test_errors_name_the_file_and_the_cause(queue: bl.Queue, files: list[bytes], tmp_path: Path) -> None:
    for number, data in enumerate(files):
        path = tmp_path / f"picture{number}.bin"
        path.write_bytes(data[: len(data) // 3])
        try:
            bl.Image.open(path, queue=queue).close()
        except bl.InvalidError as error:
            assert f"picture{number}.bin" in str(error) and len(str(error)) > len(repr(str(path))) + 10
    path.write_bytes(b"")
    with raises(bl.InvalidError, names=f"picture{number}.bin"):
        bl.Image.open(path, queue=queue)


@pytest.mark.parametrize("value", [3, None, 1.5, object(), ["a.png"], "nul\0.png", io.StringIO("text")])
def test_what_is_no_file_is_refused(value: Any) -> None:
    with raises(bl.InvalidError):
        bl.Image.open(value)


def test_a_closed_file_is_refused(files: list[bytes]) -> None:
    file = io.BytesIO(files[0])
    file.close()
    with raises(bl.InvalidError):
        bl.Image.open(file)


def test_a_folder_is_none(tmp_path: Path) -> None:
    with pytest.raises(IsADirectoryError):
        bl.Image.open(tmp_path)


def test_damaged_pictures_of_pillow_are_refused(queue: bl.Queue, files: list[bytes], tmp_path: Path) -> None:
    path = tmp_path / "half.png"
    path.write_bytes(files[0][: len(files[0]) // 2])
    with raises(bl.InvalidError, names="half.png"), Picture.open(path) as picture:
        bl.Image(picture, queue=queue)


def test_narrow_pictures_of_sixteen_bits_take_memory_in_proportion(queue: bl.Queue) -> None:
    """The most bytes that numpy holds while a picture of 1 x 16,000 pixels, of 96 kB, is read: it once was 6 GB."""
    import tracemalloc

    height = 16000
    data = deep_png(1, height, zlib.compress((b"\4" + b"\1" * 6) * height))
    tracemalloc.start()
    try:
        with bl.Image.open(io.BytesIO(data), queue=queue) as image:
            pixels = image.numpy()
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    steps = np.arange(1, height + 1) & 255  # the filter adds 1 to the byte above
    np.testing.assert_array_equal(pixels[:, 0, 0], steps * 257)
    assert most < 40 * pixels.nbytes


@pytest.mark.parametrize("size", [(9000, 9000), (9500, 9500), (60000, 60000), (2**31 - 1, 2**31 - 1)])
def test_lying_sizes_are_refused_before_memory_is_taken(tmp_path: Path, size: tuple[int, int]) -> None:
    """In a process that has 512 MiB more than after its first picture: 9000 x 9000 pixels of 16 bits have 486 MB."""
    small, lying = tmp_path / "small.png", tmp_path / "lying.png"
    small.write_bytes(deep_png(1, 1, zlib.compress(bytes(7))))
    lying.write_bytes(deep_png(*size, zlib.compress(bytes(1000))))
    code = """
import resource, sys, warnings
import bindless as bl
warnings.simplefilter("ignore")
queue = bl.Queue("reference")
bl.Image.open(sys.argv[1], queue=queue).close()
with open("/proc/self/statm") as file:
    now = int(file.read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (now + (256 << 20), now + (256 << 20)))
try:
    bl.Image.open(sys.argv[2], queue=queue)
except bl.InvalidError as error:
    print("refused", "lying.png" in str(error))
"""
    found = subprocess.run(
        [sys.executable, "-c", code, str(small), str(lying)], capture_output=True, text=True, timeout=120
    )
    assert found.stdout.split() == ["refused", "True"], found.stderr


def test_interlaced_files_of_sixteen_bits_are_read(queue: bl.Queue) -> None:
    """One pixel is in the first pass of the interlacing alone."""
    data = bytearray(deep_png(1, 1, zlib.compress(b"\0\1\2\3\4\5\6")))
    data[28] = 1
    data[29:33] = struct.pack(">I", zlib.crc32(data[12:29]))
    with bl.Image.open(io.BytesIO(bytes(data)), queue=queue) as image:
        np.testing.assert_array_equal(image.numpy(), [[[0x0102, 0x0304, 0x0506]]])


def test_a_save_that_fails_keeps_the_file(tmp_path: Path) -> None:
    path = tmp_path / "picture.jpg"
    path.write_bytes(b"precious")
    path.chmod(0o640)
    with bl.Image(np.zeros((4, 4, 4), np.uint8)) as image:
        with raises(bl.InvalidError):
            image.save(path)  # JPEG has no alpha channel
        assert path.read_bytes() == b"precious"
        image.save(path, format="png")
    assert path.read_bytes()[:4] == b"\x89PNG" and path.stat().st_mode & 0o777 == 0o640
    assert [entry.name for entry in tmp_path.iterdir()] == ["picture.jpg"]


@pytest.mark.parametrize("name", ["deep.png", "picture.tiff"])
def test_a_full_disk_keeps_the_file(tmp_path: Path, name: str) -> None:
    """A limit on the size of files ends a write half way, as a full disk does."""
    path = tmp_path / name
    path.write_bytes(b"precious")
    code = """
import resource, sys
import numpy as np
import bindless as bl
pixels = np.random.default_rng(1).integers(0, 65536, (50, 50, 3)).astype(np.uint16)
image = bl.Image(pixels if "deep" in sys.argv[1] else pixels.astype(np.uint8), queue=bl.Queue("reference"))
resource.setrlimit(resource.RLIMIT_FSIZE, (4000, resource.RLIM_INFINITY))
try:
    image.save(sys.argv[1])
except OSError as error:
    print(type(error).__name__)
"""
    found = subprocess.run([sys.executable, "-c", code, str(path)], capture_output=True, text=True, timeout=120)
    assert found.stdout.strip() == "OSError", found.stderr
    assert path.read_bytes() == b"precious" and [entry.name for entry in tmp_path.iterdir()] == [name]


def test_links_and_devices_keep_their_place(tmp_path: Path) -> None:
    (tmp_path / "real.png").write_bytes(b"old")
    (tmp_path / "link.png").symlink_to("real.png")
    with bl.Image(np.zeros((2, 2, 3), np.uint8)) as image:
        image.save(tmp_path / "link.png")
        image.save(os.devnull, format="png")
    assert (tmp_path / "link.png").is_symlink() and (tmp_path / "real.png").read_bytes()[:4] == b"\x89PNG"
    assert not Path(os.devnull).is_file()
