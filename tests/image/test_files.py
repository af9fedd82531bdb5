"""``Image.open`` and ``Image.save`` against Pillow and numpy."""

from __future__ import annotations

import io
import struct
import sys
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from PIL import Image as Picture
from PIL import ImageOps

import bindless as bl
from tests.support.error_checks import raises

Array = npt.NDArray[Any]


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(20261123)


@pytest.mark.parametrize("channels", [None, 2, 3, 4])
def test_bytes_go_through_png(rng: np.random.Generator, queue: bl.Queue, tmp_path: Path, channels: int | None) -> None:
    pixels = rng.integers(0, 256, (5, 7) if channels is None else (5, 7, channels)).astype(np.uint8)
    file = tmp_path / "picture.png"
    with bl.Image(pixels, queue=queue) as image:
        image.save(file)
    np.testing.assert_array_equal(np.asarray(Picture.open(file)), pixels)
    with bl.Image.open(str(file), queue=queue) as image:
        assert image.queue is queue
        np.testing.assert_array_equal(image.numpy(), pixels)


@pytest.mark.parametrize("channels", [None, 2, 3, 4])
def test_sixteen_bits_go_through_png(
    rng: np.random.Generator, queue: bl.Queue, tmp_path: Path, channels: int | None
) -> None:
    pixels = rng.integers(0, 65536, (5, 7) if channels is None else (5, 7, channels)).astype(np.uint16)
    file = tmp_path / "deep.png"
    with bl.Image(pixels, queue=queue) as image:
        image.save(file)
    with bl.Image.open(file, queue=queue) as image:
        np.testing.assert_array_equal(image.numpy(), pixels)


def paeth(left: int, above: int, corner: int) -> int:
    guess = left + above - corner
    return min((abs(guess - left), 0, left), (abs(guess - above), 1, above), (abs(guess - corner), 2, corner))[2]


def filtered_png(pixels: Array) -> bytes:
    """A PNG file of 16-bit RGB(A) whose rows use the filters 0 to 4 in turn, as the specification defines them."""
    height, width, channels = pixels.shape
    size = 2 * channels
    raw = pixels.astype(">u2").reshape(height, -1).view(np.uint8).astype(int)
    body = bytearray()
    for y in range(height):
        body.append(y % 5)
        for x in range(width * size):
            left = raw[y, x - size] if x >= size else 0
            above = raw[y - 1, x] if y else 0
            corner = raw[y - 1, x - size] if y and x >= size else 0
            guess = (0, left, above, (left + above) // 2, paeth(left, above, corner))[y % 5]
            body.append((raw[y, x] - guess) & 255)

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", width, height, 16, {2: 4, 3: 2, 4: 6}[channels], 0, 0, 0)
    packed = zlib.compress(bytes(body))
    parts = chunk(b"IDAT", packed[:20]) + chunk(b"IDAT", packed[20:])
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + parts + chunk(b"IEND", b"")


@pytest.mark.parametrize("shape", [(11, 6, 3), (6, 11, 4), (7, 1, 2), (1, 7, 3)])
def test_every_filter_of_deep_png_files(rng: np.random.Generator, shape: tuple[int, int, int]) -> None:
    pixels = rng.integers(0, 65536, shape).astype(np.uint16)
    data = filtered_png(pixels)
    assert Picture.open(io.BytesIO(data)).size == (shape[1], shape[0])
    with bl.Image.open(io.BytesIO(data)) as image:
        np.testing.assert_array_equal(image.numpy(), pixels)


def test_damaged_files_are_refused(rng: np.random.Generator, tmp_path: Path) -> None:
    data = filtered_png(rng.integers(0, 65536, (9, 8, 3)).astype(np.uint16))
    (tmp_path / "text.png").write_text("no picture")
    (tmp_path / "short.png").write_bytes(data[: len(data) // 2])
    eight = io.BytesIO()
    Picture.fromarray(rng.integers(0, 256, (90, 80, 3)).astype(np.uint8)).save(eight, "PNG")
    (tmp_path / "half.png").write_bytes(eight.getvalue()[:3000])
    for name in ("text.png", "short.png", "half.png"):
        with raises(bl.InvalidError):
            bl.Image.open(tmp_path / name)
    with pytest.raises(FileNotFoundError):
        bl.Image.open(tmp_path / "none.png")


def test_palettes_and_other_modes_are_expanded(rng: np.random.Generator, tmp_path: Path) -> None:
    colours = Picture.fromarray(rng.integers(0, 256, (6, 5, 3)).astype(np.uint8))
    palette = colours.quantize(8)
    cases = {
        "palette.png": (palette, "RGB"),
        "bits.png": (colours.convert("1"), "L"),
        "cmyk.tiff": (colours.convert("CMYK"), "RGB"),
        "floats.tiff": (colours.convert("F"), "F"),
    }
    for name, (picture, mode) in cases.items():
        picture.save(tmp_path / name)
        with bl.Image.open(tmp_path / name) as image:
            np.testing.assert_array_equal(image.numpy(), np.asarray(picture.convert(mode)), err_msg=name)
    palette.save(tmp_path / "clear.gif", transparency=int(np.asarray(palette)[0, 0]))
    with bl.Image.open(tmp_path / "clear.gif") as image:
        assert image.shape == (6, 5, 4) and image.numpy()[0, 0, 3] == 0 and image.numpy()[..., 3].max() == 255
    grey = colours.convert("L")
    grey.save(tmp_path / "clear.png", transparency=int(np.asarray(grey)[0, 0]))
    with bl.Image.open(tmp_path / "clear.png") as image:
        assert image.shape == (6, 5, 2) and image.numpy()[0, 0, 1] == 0


@pytest.mark.parametrize("orientation", range(1, 9))
def test_exif_orientation(rng: np.random.Generator, tmp_path: Path, orientation: int) -> None:
    exif = Picture.Exif()
    exif[0x0112] = orientation
    picture = Picture.fromarray(rng.integers(0, 256, (4, 6, 3)).astype(np.uint8))
    picture.save(tmp_path / "turned.png", exif=exif)
    expected = np.asarray(ImageOps.exif_transpose(Picture.open(tmp_path / "turned.png")))
    with bl.Image.open(tmp_path / "turned.png") as image:
        np.testing.assert_array_equal(image.numpy(), expected)
    # The same chunk in a file of 16 bits, which the package decodes itself.
    data = (tmp_path / "turned.png").read_bytes()
    at = data.index(b"eXIf") - 4
    chunk = data[at : at + 12 + struct.unpack(">I", data[at : at + 4])[0]]
    deep = np.asarray(picture).astype(np.uint16) * 257
    file = filtered_png(deep)
    with bl.Image.open(io.BytesIO(file[:33] + chunk + file[33:])) as image:
        np.testing.assert_array_equal(image.numpy(), expected.astype(np.uint16) * 257)


def test_frames_are_layers(rng: np.random.Generator, tmp_path: Path) -> None:
    frames = rng.integers(0, 65536, (3, 4, 5)).astype(np.uint16)
    first, *rest = map(Picture.fromarray, frames)
    first.save(tmp_path / "stack.tiff", save_all=True, append_images=rest)
    with bl.Image.open(tmp_path / "stack.tiff", layers=True) as image:
        np.testing.assert_array_equal(image.numpy(), frames)
    with bl.Image.open(tmp_path / "stack.tiff") as image:
        np.testing.assert_array_equal(image.numpy(), frames[0])


def test_levels_options_and_open_files(tmp_path: Path) -> None:
    pixels = np.arange(64, dtype=np.uint8).reshape(8, 8)
    with bl.Image(pixels, mipmaps=True) as image:
        image.save(tmp_path / "level.png", level=1)
        np.testing.assert_array_equal(np.asarray(Picture.open(tmp_path / "level.png")), image.numpy(1))
        file = io.BytesIO()
        image.save(file, format="png", compress_level=1)
        np.testing.assert_array_equal(np.asarray(Picture.open(file)), pixels)
    with bl.Image(pixels.astype(np.float32)) as image:
        image.save(tmp_path / "floats.tiff")
        np.testing.assert_array_equal(np.asarray(Picture.open(tmp_path / "floats.tiff")), pixels)


def test_what_a_format_cannot_hold_is_refused(tmp_path: Path) -> None:
    plain = np.zeros((4, 4, 4), np.uint8)
    cases: list[tuple[Array, dict[str, Any], str]] = [
        (plain, {}, "alpha.jpg"),
        (plain.astype(np.float32), {}, "floats.png"),
        (plain[..., 0].astype(np.float32), {}, "floats.png"),
        (plain[..., 0].astype(np.int16), {}, "signed.png"),
        (plain.astype(np.uint16), {}, "deep.jpg"),
        (plain, {"layers": True, "dimensions": 2}, "layers.png"),
        (plain, {"dimensions": 3}, "volume.png"),
        (plain, {}, "picture.none"),
        (plain, {}, "picture"),
    ]
    for pixels, options, name in cases:
        with bl.Image(pixels, **options) as image, raises(bl.InvalidError):
            image.save(tmp_path / name)
        assert not (tmp_path / name).exists(), name
    with bl.Image(plain) as image, pytest.raises(FileNotFoundError):
        image.save(tmp_path / "none" / "picture.png")


def test_png_is_written_without_pillow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pixels = np.arange(48, dtype=np.uint8).reshape(4, 4, 3)
    with bl.Image(pixels) as image, monkeypatch.context() as patch:
        patch.setattr("bindless.image.files.find_spec", lambda name: None)
        image.save(tmp_path / "picture.png")
        with raises(bl.InvalidError, names="bindless[image]"):
            image.save(tmp_path / "picture.jpg")
        with raises(bl.InvalidError, names="bindless[image]"):
            bl.Image.open(tmp_path / "picture.png")
        with bl.Image(pixels.astype(np.float32)) as floats, raises(bl.InvalidError, names="float32"):
            floats.save(tmp_path / "floats.png")  # Pillow would not write it either
    assert "PIL" in sys.modules
    np.testing.assert_array_equal(np.asarray(Picture.open(tmp_path / "picture.png")), pixels)
