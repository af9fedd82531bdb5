"""``StoredChunks``: a zarr array of which blocks read parts of chunks.

zarr reads and decodes a whole chunk for each part of it, and neighbouring blocks need the same ones. Here chunks that
are stored as they are in local files are mapped into memory, so that only the part is read. Others are kept after they
were decoded, up to 256 MiB in each process.
"""

from __future__ import annotations

import math
import stat
import uuid
from collections import OrderedDict
from pathlib import Path
from typing import Any

import numpy as np

from ..core.lock import Lock
from ..model.arrays import Array
from ..model.errors import InvalidError
from .chunks import EmptyLike, Number, empty_like, read_chunks, starts_in

__all__ = ["StoredChunks", "has_plain_chunks", "is_zarr"]

_MOST_BYTES = 256 << 20


def is_zarr(array: Any) -> bool:
    """Whether it is an array of the library zarr, with a regular grid of chunks."""
    own = type(array).__module__.partition(".")[0] == "zarr" and hasattr(array, "metadata")
    return own and isinstance(getattr(array, "chunks", None), tuple) and len(array.chunks) == len(array.shape) > 0


def has_plain_chunks(array: Any) -> bool:
    """Whether parts of chunks are read without the rest of them: they are local files without compression."""
    return _folder_of_plain_chunks(array) is not None


class _Decoded:
    """Decoded chunks of this process, the latest ones."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._chunks: OrderedDict[tuple[str, Number], Array] = OrderedDict()
        self._bytes = 0

    def get(self, key: tuple[str, Number]) -> Array | None:
        with self._lock:
            chunk = self._chunks.get(key)
            if chunk is not None:
                self._chunks.move_to_end(key)
            return chunk

    def put(self, key: tuple[str, Number], chunk: Array) -> None:
        with self._lock:
            before = self._chunks.pop(key, None)
            self._bytes += chunk.nbytes - (0 if before is None else before.nbytes)
            self._chunks[key] = chunk
            while self._bytes > _MOST_BYTES and len(self._chunks) > 1:
                self._bytes -= self._chunks.popitem(last=False)[1].nbytes


_decoded = _Decoded()


class StoredChunks:
    """A zarr array.

    Parameters
    ----------
    array : array
        Of the library zarr. Its values do not change while it is read.
    """

    def __init__(self, array: Any) -> None:
        self._array = array
        self.shape, self.dtype, self.chunks = tuple(array.shape), np.dtype(array.dtype), tuple(array.chunks)
        self.store_path = str(array.store_path)
        self._token = uuid.uuid4().hex
        self._starts = starts_in(self.shape, self.chunks)
        self._folder = _folder_of_plain_chunks(array)
        self._root = _folder_of(array)
        shards = getattr(array, "shards", None)
        self._file_shape = self.chunks if shards is None else tuple(shards)
        self._described = _file_of_metadata(array)

    @property
    def ndim(self) -> int:
        return len(self.shape)

    def __getitem__(self, part: Any) -> Any:
        return self.read(part)

    def read(self, part: Any, empty_like: EmptyLike = empty_like) -> Any:
        """A part; where several chunks hold it, in an array that ``empty_like`` makes."""
        plain = isinstance(part, tuple) and len(part) == self.ndim and all(map(_is_plain, part, self.shape))
        return read_chunks(self._starts, _Grid(self), empty_like, part) if plain else self._array[part]

    def chunk(self, number: Number) -> Array:
        """A chunk; read-only.

        Raises
        ------
        InvalidError
            Something other than a file is in its place, such as a pipe, which may have no end.
        """
        if self._root is not None:
            self._require_file(self._root, number)
        if self._folder is not None:
            path = self._folder / self._array.metadata.encode_chunk_key(number)
            size = math.prod(self.chunks) * self.dtype.itemsize
            if path.is_file() and path.stat().st_size == size:  # others are missing or damaged: zarr knows
                return np.memmap(path, self.dtype, "r", 0, self.chunks)
        key = (self._token, number)
        chunk = _decoded.get(key) if self._folder is None else None
        if chunk is None:
            chunk = np.asarray(
                self._array[tuple(slice(along[n], along[n + 1]) for along, n in zip(self._starts, number))]
            )
            if (
                self._described is not None and not self._described.is_file()
            ):  # chunks that are missing read as fill values
                raise FileNotFoundError(f"{self._described} is gone")
            if self._folder is None:
                _decoded.put(key, chunk)
        return chunk

    def _require_file(self, root: Path, number: Number) -> None:
        of_file = tuple(n * part // whole for n, part, whole in zip(number, self.chunks, self._file_shape))
        path = root / self._array.metadata.encode_chunk_key(of_file)
        try:
            mode = path.stat().st_mode
        except OSError:  # it is missing, or zarr says what is wrong
            return
        if not stat.S_ISREG(mode):
            raise InvalidError(f"chunk {number}: {path} is no regular file")


class _Grid:
    """The chunks of an array by their numbers."""

    def __init__(self, array: StoredChunks) -> None:
        self._array = array

    def __getitem__(self, number: Number) -> Array:
        return self._array.chunk(number)


def _is_plain(part: Any, size: int) -> bool:
    return isinstance(part, slice) and part.step in (None, 1) and 0 <= (part.start or 0) < (part.stop or 0) <= size


def _folder_of(array: Any) -> Path | None:
    """The folder of an array of a local store, or None."""
    root = getattr(array.store, "root", None)
    return Path(root) / array.path if type(array.store).__name__ == "LocalStore" and root is not None else None


def _file_of_metadata(array: Any) -> Path | None:
    """The file that a local store has as long as it is there, or None."""
    folder = _folder_of(array)
    files = [] if folder is None else [folder / name for name in ("zarr.json", ".zarray")]
    return next((file for file in files if file.is_file()), None)


def _folder_of_plain_chunks(array: Any) -> Path | None:
    """The folder of an array whose chunks are files of its elements in their order and nothing else, or None."""
    folder = _folder_of(array)
    if folder is None:
        return None
    described = array.metadata.to_dict()
    if described.get("zarr_format") == 2:
        plain = described.get("compressor") is None and not described.get("filters") and described.get("order") == "C"
        byte_order = np.dtype(described["dtype"]).str[0] if plain else ">"
    else:
        codecs: Any = described.get("codecs") or ()
        plain = len(codecs) == 1 and codecs[0].get("name") == "bytes"
        plain = plain and "sharding_indexed" not in str(codecs)
        configured = (codecs[0].get("configuration") or {}).get("endian", "little") if plain else "big"
        byte_order = "<" if configured == "little" else ">"
    native = np.dtype(array.dtype).isnative and np.dtype(array.dtype).kind in "biuf"
    return folder if plain and byte_order in "<|" and native else None
