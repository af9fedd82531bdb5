"""``float_frames``: .exr and .hdr files, pictures of halves and floats, by OpenImageIO."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO, Any

from ...model.arrays import Array
from ...model.errors import InvalidError
from ...model.message_values import shown
from .open_files import File
from .textures import require_growth

__all__ = ["EXR_MAGIC", "HDR_MAGIC", "float_frames"]

EXR_MAGIC, HDR_MAGIC = b"\x76\x2f\x31\x01", b"#?"

_HEAD = 1 << 16  # bytes that have the header of a .hdr file
_RESOLUTION = re.compile(rb"\n([-+])([XY]) +\d+ +([-+])([XY]) +\d+\n")
_COLOURS = (("R", "G", "B", "A"), ("R", "G", "B"))
_MOST_CHANNELS = 4


def float_frames(path: File, file: IO[bytes], kind: str, every: bool) -> list[Array]:
    """The pictures (height, width[, channels]) of a file: float16, float32 or uint32.

    Parameters
    ----------
    path : str | os.PathLike | IO[bytes]
        The file's name, or the open file.
    file : IO[bytes]
        The open file at its start, which can seek.
    kind : str
        ``"exr"`` or ``"hdr"``.
    every : bool
        Whether to read all parts of the file, or the first one.

    Raises
    ------
    InvalidError
        OpenImageIO is not installed, or reads no picture from the file, or it has other channels than a picture.
    """
    if find_spec("OpenImageIO") is None:
        raise InvalidError(
            f".{kind} files are read by OpenImageIO, which is not installed: pip install 'bindless[exr]'"
        )
    import OpenImageIO

    head = file.read(_HEAD)
    stored = file.seek(0, os.SEEK_END)
    file.seek(0)
    with _named(path, file, kind) as name:
        source = OpenImageIO.ImageInput.open(name)
        if source is None:
            raise InvalidError(f"OpenImageIO reads no picture from it: {shown(OpenImageIO.geterror())}")
        try:
            frames = [_frame(OpenImageIO, source, 0, stored)]
            while every and source.seek_subimage(len(frames), 0):
                frames.append(_frame(OpenImageIO, source, len(frames), stored))
        finally:
            source.close()
    return frames if kind == "exr" else [_upright(frame, head) for frame in frames]


@contextmanager
def _named(path: File, file: IO[bytes], kind: str) -> Iterator[str]:
    """The name of a file with the picture: OpenImageIO takes no open ones."""
    if isinstance(path, (str, bytes, os.PathLike)):
        yield os.fsdecode(path)
        return
    with TemporaryDirectory() as folder:
        copy = Path(folder) / f"picture.{kind}"
        copy.write_bytes(file.read())
        yield str(copy)


def _frame(library: Any, source: Any, number: int, stored: int) -> Array:
    """The colours of a part of the file: the pixels of its data window."""
    spec = source.spec()
    if spec.deep or spec.depth != 1:
        raise InvalidError("it has deep pixels, or a volume: flatten it, for example by oiiotool --flatten")
    channels = _channels(spec.channelnames)
    kinds = {str(spec.channelformat(channel)) for channel in channels}
    if len(kinds) > 1 and not kinds <= {"half", "float"}:
        names = ", ".join(spec.channelnames[channel] for channel in channels)
        raise InvalidError(f"its channels {names} are both integers and floats: store those in another file")
    form = spec.channelformat(channels[0]) if len(kinds) == 1 else library.TypeDesc("float")
    first, end = min(channels), max(channels) + 1
    require_growth(spec.width * spec.height * (end - first) * form.size(), stored)
    pixels: Array | None = source.read_image(number, 0, first, end, form)
    if pixels is None:
        raise InvalidError(f"the file is damaged: {shown(source.geterror())}")
    if channels != list(range(first, end)):
        pixels = pixels[..., [channel - first for channel in channels]]
    return pixels if len(channels) > 1 else pixels[..., 0]


def _channels(names: Sequence[str]) -> list[int]:
    """The numbers of the channels of a picture: red, green, blue and alpha, or all of at most four others."""
    for colours in _COLOURS:
        if set(colours) <= set(names):
            return [names.index(name) for name in colours]
    if len(names) > _MOST_CHANNELS:
        raise InvalidError(
            f"it has the channels {', '.join(names)}: read those that you need by OpenImageIO, and make an Image of up "
            f"to {_MOST_CHANNELS}"
        )
    return list(range(len(names)))


def _upright(pixels: Array, head: bytes) -> Array:
    """The pixels of a .hdr file with the upper row first, and in it the left column."""
    header = head.partition(b"\n\n")[0]
    if b"32-bit_rle_xyze" in header:
        raise InvalidError("its colours are XYZ: convert them, for example by Radiance's ra_xyze -r")
    axes = _RESOLUTION.search(head)
    if axes is None:
        raise InvalidError(f"the file is damaged: no line of the first {_HEAD} bytes has its size")
    signs = {axes[2]: axes[1], axes[4]: axes[3]}
    if axes[2] == b"X":
        pixels = pixels.swapaxes(0, 1)
    return pixels[:: 1 if signs.get(b"Y") == b"-" else -1, :: 1 if signs.get(b"X") == b"+" else -1]
