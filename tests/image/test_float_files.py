""".exr and .hdr files: those of other programs, and those built here byte by byte from their descriptions."""

from __future__ import annotations

import io
import random
import struct
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import bindless as bl
from tests.support.error_checks import raises

Array = npt.NDArray[Any]


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(20261130)


@pytest.fixture
def library() -> None:
    pytest.importorskip("OpenImageIO", reason="pip install 'bindless[exr]'")


def exr(channels: dict[str, Array], *, corner: tuple[int, int] = (0, 0), sampling: int = 1) -> bytes:
    """A file of scan lines without compression; its display window has 20 x 20 pixels."""
    height, width = next(iter(channels.values())).shape
    kinds = {"uint32": 0, "float16": 1, "float32": 2}
    names = sorted(channels)
    rows = b"".join(
        name.encode() + b"\0" + struct.pack("<4I", kinds[str(channels[name].dtype)], 0, sampling, sampling)
        for name in names
    )
    x, y = corner
    attributes = [
        ("channels", "chlist", rows + b"\0"),
        ("compression", "compression", b"\0"),
        ("dataWindow", "box2i", struct.pack("<4i", x, y, x + width - 1, y + height - 1)),
        ("displayWindow", "box2i", struct.pack("<4i", 0, 0, 19, 19)),
        ("lineOrder", "lineOrder", b"\0"),
        ("pixelAspectRatio", "float", struct.pack("<f", 1)),
        ("screenWindowCenter", "v2f", bytes(8)),
        ("screenWindowWidth", "float", struct.pack("<f", 1)),
    ]
    head = b"\x76\x2f\x31\x01" + struct.pack("<I", 2)
    for name, kind, value in attributes:
        head += name.encode() + b"\0" + kind.encode() + b"\0" + struct.pack("<I", len(value)) + value
    lines = []
    for row in range(height):
        body = b"".join(channels[name][row].tobytes() for name in names)
        lines.append(struct.pack("<iI", y + row, len(body)) + body)
    begin = len(head) + 1 + 8 * height
    places = [begin + sum(map(len, lines[:row])) for row in range(height)]
    return head + b"\0" + struct.pack(f"<{height}Q", *places) + b"".join(lines)


@pytest.mark.usefixtures("library")
@pytest.mark.parametrize("dtype", ["float16", "float32"])
@pytest.mark.parametrize("names", ["RGB", "RGBA", "Z", "YA", "XYZ", "RG"])
def test_channels_of_exr(rng: np.random.Generator, queue: bl.Queue, tmp_path: Path, dtype: str, names: str) -> None:
    channels = {name: rng.normal(0, 9, (4, 6)).astype(dtype) for name in names}
    expected = np.stack([channels[name] for name in names], -1)
    (tmp_path / "picture.exr").write_bytes(exr(channels))
    for source in (tmp_path / "picture.exr", io.BytesIO(exr(channels))):
        with bl.Image.open(source, queue=queue) as image:
            assert image.dtype == dtype and image.shape == (expected.shape if len(names) > 1 else (4, 6))
            np.testing.assert_array_equal(image.numpy().reshape(expected.shape), expected)


@pytest.mark.usefixtures("library")
def test_mixed_and_other_channels_of_exr(rng: np.random.Generator, queue: bl.Queue) -> None:
    half = {name: rng.random((3, 5)).astype(np.float16) for name in "RGB"}
    colours = np.stack([half[name] for name in "RGB"], -1)
    depth = {"Z": rng.random((3, 5)).astype(np.float32), "N.X": half["R"], "id": np.zeros((3, 5), np.uint32)}
    with bl.Image.open(io.BytesIO(exr({**half, **depth})), queue=queue) as image:
        assert image.dtype == np.float16
        np.testing.assert_array_equal(image.numpy(), colours)
    alpha = {"A": rng.random((3, 5)).astype(np.float32)}
    with bl.Image.open(io.BytesIO(exr({**half, **alpha})), queue=queue) as image:
        assert image.dtype == np.float32
        np.testing.assert_array_equal(image.numpy(), np.dstack([colours.astype(np.float32), alpha["A"]]))
    numbers = rng.integers(0, 2**32, (3, 5)).astype(np.uint32)
    with bl.Image.open(io.BytesIO(exr({"id": numbers})), filtering="nearest", queue=queue) as image:
        np.testing.assert_array_equal(image.numpy(), numbers)
    five = dict.fromkeys("klmno", half["R"])
    for channels, value in (({"a": half["R"], "id": numbers}, "id"), (five, "k, l, m, n, o")):
        with raises(bl.InvalidError, names=value):
            bl.Image.open(io.BytesIO(exr(channels)), queue=queue)


@pytest.mark.usefixtures("library")
def test_data_window_of_exr(rng: np.random.Generator, queue: bl.Queue) -> None:
    pixels = {"Y": rng.random((3, 5)).astype(np.float32)}
    with bl.Image.open(io.BytesIO(exr(pixels, corner=(-2, 7))), mipmaps=True, queue=queue) as image:
        assert image.num_levels == 3
        np.testing.assert_array_equal(image.numpy(), pixels["Y"])


@pytest.mark.usefixtures("library")
def test_files_of_openexr(rng: np.random.Generator, queue: bl.Queue, tmp_path: Path) -> None:
    theirs = pytest.importorskip("OpenEXR", reason="pip install OpenEXR")
    pixels = rng.normal(0, 9, (40, 50, 4)).astype(np.float16)
    for compression in ("NO", "RLE", "ZIPS", "ZIP", "PIZ"):
        for storage in ("scanlineimage", "tiledimage"):
            options = {"compression": getattr(theirs, f"{compression}_COMPRESSION"), "type": getattr(theirs, storage)}
            if storage == "tiledimage":
                options["tiles"] = theirs.TileDescription()
            path = tmp_path / "picture.exr"
            theirs.File(options, {"RGBA": pixels}).write(str(path))
            with bl.Image.open(path, queue=queue) as image:
                np.testing.assert_array_equal(image.numpy(), pixels)
    parts = [theirs.Part({"name": str(n)}, {"Z": rng.random((4, 5)).astype(np.float32)}) for n in range(3)]
    theirs.File(parts).write(str(tmp_path / "parts.exr"))
    for layers in (False, True):
        with bl.Image.open(tmp_path / "parts.exr", layers=layers, queue=queue) as image:
            expected = np.stack([part.channels["Z"].pixels for part in parts])
            np.testing.assert_array_equal(image.numpy(), expected if layers else expected[0])


def rgbe(codes: Array) -> Array:
    """Radiance's colours: mantissas times 2^(exponent - 136)."""
    exponents = codes[..., 3:].astype(int)
    return np.where(exponents == 0, 0, codes[..., :3] * np.exp2(exponents - 136.0)).astype(np.float32)


def runs(codes: Array) -> bytes:
    """Scan lines with lengths of runs, as Radiance writes them: each channel in runs and in other bytes."""
    body = b""
    for row in codes:
        body += struct.pack(">BBH", 2, 2, len(row))
        for channel in row.T:
            at = 0
            while at < len(channel):
                same = next((n for n in range(1, 127) if at + n >= len(channel) or channel[at + n] != channel[at]), 127)
                body += bytes([128 + same, channel[at]]) if same > 2 else bytes([same, *channel[at : at + same]])
                at += same
    return body


def hdr(size: str, body: bytes, form: str = "32-bit_rle_rgbe") -> bytes:
    return f"#?RADIANCE\n# a picture\nFORMAT={form}\n\n{size}\n".encode() + body


@pytest.mark.usefixtures("library")
def test_hdr(rng: np.random.Generator, queue: bl.Queue, tmp_path: Path) -> None:
    codes = rng.integers(0, 256, (5, 40, 4)).astype(np.uint8)
    codes[:, 10:30] = codes[:, 10:11]
    codes[..., 3] = rng.integers(120, 140, (5, 40))
    codes[0, :3, 3] = 0
    codes[0, :3] = 0
    (tmp_path / "picture.hdr").write_bytes(hdr("-Y 5 +X 40", runs(codes)))
    with bl.Image.open(tmp_path / "picture.hdr", queue=queue) as image:
        assert image.dtype == np.float32
        np.testing.assert_array_equal(image.numpy(), rgbe(codes))


@pytest.mark.usefixtures("library")
@pytest.mark.parametrize("y", "+-")
@pytest.mark.parametrize("x", "+-")
@pytest.mark.parametrize("columns", [False, True])
def test_orientations_of_hdr(queue: bl.Queue, y: str, x: str, columns: bool) -> None:
    codes = np.arange(24, dtype=np.uint8).reshape(2, 3, 4) + 100
    order = codes[:: 1 if y == "-" else -1, :: 1 if x == "+" else -1]
    size = f"{x}X 3 {y}Y 2" if columns else f"{y}Y 2 {x}X 3"
    body = (order.swapaxes(0, 1) if columns else order).tobytes()
    with bl.Image.open(io.BytesIO(hdr(size, body)), queue=queue) as image:
        np.testing.assert_array_equal(image.numpy(), rgbe(codes))


@pytest.mark.usefixtures("library")
def test_lying_and_unknown_files_are_refused(rng: np.random.Generator, queue: bl.Queue, tmp_path: Path) -> None:
    half = rng.random((4, 6)).astype(np.float16)
    whole = exr({"Y": half})
    at = whole.index(b"box2i") + 10
    cases = {
        "cut.exr": whole[:-9],
        "cut head.exr": whole[:60],
        "vast.exr": whole[:at] + struct.pack("<4i", 0, 0, 2**20 - 1, 2**20 - 1) + whole[at + 16 :],
        "large.exr": whole[:at] + struct.pack("<4i", 0, 0, 32767, 32767) + whole[at + 16 :],
        "negative.exr": whole[:at] + struct.pack("<4i", 5, 5, 0, 0) + whole[at + 16 :],
        "subsamples.exr": exr({"RY": half}, sampling=2),
        "xyz.hdr": hdr("-Y 2 +X 3", bytes(24), "32-bit_rle_xyze"),
        "cut.hdr": hdr("-Y 2 +X 3", bytes(23)),
        "no size.hdr": hdr("-Y 2", bytes(24)),
        "vast.hdr": hdr("-Y 20000 +X 20000", bytes(24)),
        "negative.hdr": hdr("-Y -2 +X 3", bytes(24)),
    }
    for name, data in cases.items():
        (tmp_path / name).write_bytes(data)
        with raises(bl.InvalidError, names=name):
            bl.Image.open(tmp_path / name, queue=queue)


@pytest.mark.usefixtures("library")
def test_damaged_files_raise_errors_of_the_package(rng: np.random.Generator, queue: bl.Queue) -> None:
    chance, refused = random.Random(20261130), 0
    files = [exr({name: rng.random((4, 6)).astype(np.float16) for name in "RGBA"}), hdr("-Y 2 +X 3", bytes(24))]
    for number in range(300):
        data = bytearray(files[number % 2])
        for _ in range(chance.choice([1, 2, 4])):
            place = chance.randrange(4, len(data))
            data[place : place + chance.choice([0, 1, 4])] = chance.choice(
                [b"", b"\0\0", b"\xff" * 4, b"99", b"\1\0\0\0"]
            )
        try:
            bl.Image.open(io.BytesIO(data[: chance.choice([len(data), chance.randrange(len(data))])]), queue=queue)
        except (bl.InvalidError, bl.MemoryAllocationError):
            refused += 1
    assert refused > 150


def test_a_library_is_needed(queue: bl.Queue, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bindless.image.picture_files.float_pictures.find_spec", lambda name: None)
    for data in (exr({"Y": np.zeros((1, 1), np.float16)}), hdr("-Y 1 +X 1", bytes(4))):
        with raises(bl.InvalidError, names="bindless[exr]"):
            bl.Image.open(io.BytesIO(data), queue=queue)
