""".ktx2 files, Khronos's format of textures: all levels, layers and faces, blocks as they are; zstd and zlib."""

from __future__ import annotations

import struct
import zlib
from importlib.util import find_spec

from ...model.errors import InvalidError
from .texture_formats import VULKAN
from .textures import Texture, level_shape, level_view, require_growth, require_levels

__all__ = ["KTX1_MAGIC", "KTX2_MAGIC", "read_ktx2"]

KTX1_MAGIC, KTX2_MAGIC = b"\xabKTX 11\xbb\r\n\x1a\n", b"\xabKTX 20\xbb\r\n\x1a\n"

_HEADER = struct.Struct("<12s9I16x16x")
_LEVEL = struct.Struct("<3Q")
_NONE, _BASIS, _ZSTD, _ZLIB = range(4)
_TRANSCODE = "ktx transcode --target bc7 IN.ktx2 OUT.ktx2 makes blocks for GPUs of it"


def read_ktx2(data: bytes) -> Texture:
    """What a .ktx2 file holds.

    Raises
    ------
    InvalidError
        The file is damaged, of a format that the package does not know, or needs a library that is not installed.
    """
    if len(data) < _HEADER.size:
        raise InvalidError(f"the file is cut: it has {len(data)} bytes, and a .ktx2 header {_HEADER.size}")
    _, number, _, width, height, depth, layers, faces, levels, scheme = _HEADER.unpack_from(data)
    if scheme == _BASIS:
        raise InvalidError(f"its pixels are compressed by BasisLZ, which is not read here: {_TRANSCODE}")
    if scheme not in (_NONE, _ZSTD, _ZLIB):
        raise InvalidError(f"its supercompression {scheme} is not read here; {_NONE}, {_ZSTD} and {_ZLIB} are")
    if number not in VULKAN:
        way = f"{_TRANSCODE} if it is UASTC" if number == 0 else "write it as BC7 or R8G8B8A8, for example"
        raise InvalidError(f"its format VkFormat {number} is not read here: {way}")
    form = VULKAN[number]
    shape = (depth, height, width)[2 if not height else 1 if not depth else 0 :]
    levels, count = max(levels, 1), max(layers, 1) * faces
    is_line = len(shape) == 1
    if faces not in (1, 6) or (faces == 6 and len(shape) != 2) or (is_line and form.is_compressed):
        raise InvalidError(f"the file is damaged: {faces} faces of {len(shape)} dimensions in format {number}")
    if layers and len(shape) == 3:
        raise InvalidError(f"it has {layers} layers of volumes, which no image has: write one file for each")
    require_levels(shape, levels)
    kind = "cubemap" if faces == 6 else "array" if layers else "standard"
    end = _HEADER.size + levels * _LEVEL.size
    if end > len(data):
        raise InvalidError(f"the file is cut: its index ends at byte {end}, and it has {len(data)}")
    rows = [_LEVEL.unpack_from(data, _HEADER.size + level * _LEVEL.size) for level in range(levels)]
    sizes = [level_shape(shape, level) for level in range(levels)]
    total = sum(count * form.nbytes(size) for size in sizes)
    if scheme != _NONE:
        require_growth(total, len(data))
    views = []
    for level, ((begin, stored, whole), size) in enumerate(zip(rows, sizes)):
        nbytes = form.nbytes(size)
        if whole != count * nbytes or begin + stored > len(data) or (scheme == _NONE and stored != whole):
            raise InvalidError(
                f"the file is damaged or cut: level {level} has {count * nbytes} bytes, of which the index says "
                f"{whole}, {stored} at byte {begin} of {len(data)}"
            )
        part = memoryview(data)[begin : begin + stored]
        pixels = part if scheme == _NONE else _unpack(part, whole, scheme)
        views.append(level_view(pixels, 0, nbytes, count, form, size))
    return Texture(form, kind, shape, tuple(views))


def _unpack(data: memoryview, whole: int, scheme: int) -> bytes:
    """The bytes of a level."""
    try:
        pixels = _zstd(data, whole) if scheme == _ZSTD else zlib.decompressobj().decompress(data, whole + 1)
    except (InvalidError, MemoryError):
        raise
    except Exception as error:  # each library has its own
        raise InvalidError(f"the file is damaged: a level is not compressed as it says: {error}") from None
    if len(pixels) != whole:
        raise InvalidError(f"the file is damaged: a level is compressed from other than {whole} bytes")
    return pixels


def _zstd(data: memoryview, whole: int) -> bytes:
    """The bytes of a frame of zstd, at most one more than the whole."""
    if find_spec("compression") is not None:  # of Python 3.14
        from compression import zstd

        result: bytes = zstd.ZstdDecompressor().decompress(data, whole + 1)
        return result
    if find_spec("zstandard") is None:
        raise InvalidError("it is compressed by zstd, and zstandard is not installed: pip install 'bindless[ktx2]'")
    import zstandard

    size = zstandard.frame_content_size(data)  # for which it takes memory; -1 where the frame does not say
    if size not in (-1, whole):
        raise InvalidError(f"the file is damaged: a frame of zstd has {size} bytes of {whole}")
    result = zstandard.ZstdDecompressor().decompress(data, max_output_size=whole)
    return result
