"""Damaged .dds and .ktx2 files: whatever their bytes, readers raise errors of the package alone."""

from __future__ import annotations

import io
import struct
import zlib

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image as Picture

import bindless as bl
from bindless.image.picture_files.dds import read_dds
from bindless.image.picture_files.ktx2 import read_ktx2
from bindless.model.errors import Error
from tests.image.test_dds_files import header
from tests.image.test_ktx2_files import DATA, MAGIC, ktx2

MOST = 1 << 22  # bytes of the pixels of a small file


def plain_files() -> list[bytes]:
    """Small files of every kind."""
    body = bytes(range(256)) * 2
    files = [
        header((5, 3), levels=3, ten=(28, 3, 0, 1)) + body,
        header((5, 3), levels=2, ten=(98, 3, 0, 3)) + body,
        header((4, 4), levels=3, ten=(71, 3, 4, 1)) + body,
        header((4, 2), depth=3, ten=(54, 4, 0, 1), caps=0x200000) + body,
        header((7, 1), ten=(41, 2, 0, 1)) + body,
        header((5, 3), levels=3, pixels=(0x41, bytes(4), 16, 0xF00, 0xF0, 0xF, 0xF000)) + body,
        header((4, 4), levels=3, pixels=(4, b"DXT5", 0, 0, 0, 0, 0), caps=0xFE00) + body,
        ktx2(37, (4, 4, 0), [body[:64], body[:16], body[:4]]),
        ktx2(37, (4, 4, 0), [body[:128], body[:32]], layers=2, scheme=3, pack=zlib.compress),
        ktx2(9, (4, 4, 0), [body[:16]], scheme=2, pack=zlib.compress),
    ]
    file = io.BytesIO()
    Picture.new("RGBA", (6, 5)).save(file, "DDS", pixel_format="DXT5")
    return [*files, file.getvalue(), *(path.read_bytes() for path in sorted(DATA.iterdir()))]


FILES = plain_files()
WORDS = [0, 1, 2, 3, 4, 6, 37, 98, 0x200, 0xFE00, 0x200000, 2**16, 2**31 - 1, 2**31, 2**32 - 1]
CHANGES = st.lists(
    st.one_of(
        st.tuples(st.just("word"), st.integers(0, 60), st.sampled_from(WORDS) | st.integers(0, 2**32 - 1)),
        st.tuples(st.just("byte"), st.integers(4, 600), st.integers(0, 255)),
        st.tuples(st.just("cut"), st.integers(0, 600), st.just(0)),
        st.tuples(st.just("insert"), st.integers(4, 600), st.integers(1, 40)),
    ),
    min_size=1,
    max_size=6,
)


def changed(data: bytes, changes: list[tuple[str, int, int]]) -> bytes:
    result = bytearray(data)
    for kind, place, value in changes:
        if kind == "word":
            result[4 * place : 4 * place + 4] = struct.pack("<I", value)
        elif kind == "byte":
            result[place : place + 1] = bytes([value])
        elif kind == "cut":
            del result[place:]
        else:
            result[place:place] = bytes(value)
    return bytes(result)


def read(data: bytes) -> None:
    """Read a file; what comes of it fits into it, or is refused."""
    try:
        texture = (read_ktx2 if data.startswith(MAGIC[:4]) else read_dds)(data)
    except Error:
        return
    nbytes = sum(level.size * level.itemsize for level in texture.levels)
    assert nbytes <= max(MOST, 4 * len(data))
    for level in texture.levels:
        np.add.reduce(level.reshape(-1).view(np.uint8) if level.dtype.kind == "f" else level, axis=None)


@settings(max_examples=600, deadline=None)
@given(st.sampled_from(FILES), CHANGES)
def test_readers_raise_errors_of_the_package(data: bytes, changes: list[tuple[str, int, int]]) -> None:
    read(changed(data, changes))


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(FILES), CHANGES, st.sampled_from([{}, {"layers": True}, {"cubemap": True}, {"mipmaps": True}]))
def test_open_raises_errors_of_the_package(
    data: bytes, changes: list[tuple[str, int, int]], options: dict[str, bool]
) -> None:
    queue = bl.Queue("reference")
    try:
        bl.Image.open(io.BytesIO(data[:4] + changed(data, changes)[4:]), queue=queue, **options).close()
    except bl.Error as error:
        assert isinstance(error, (bl.InvalidError, bl.MemoryAllocationError, bl.FeatureNotSupportedError))
