"""``MemoryObject``: base class of buffers and images, with write-back (SYCL 2020 section 4.7)."""

from __future__ import annotations

import math
from types import TracebackType
from typing import Any, TypeVar

import numpy as np

from ...core import ownership
from ...model.arrays import Array, DType
from ...model.errors import InvalidError
from ...model.single_owner import SingleOwner
from ...submission.worker_threads import pool
from . import storage as _storage
from .storage import Storage
from .write_back import finish, finish_quietly

__all__ = ["MemoryObject"]

_Self = TypeVar("_Self", bound="MemoryObject")


class MemoryObject(SingleOwner):
    """Elements that move by themselves to where commands use them.

    Attributes
    ----------
    shape : tuple[int, ...]
        Elements by dimension.
    dtype : np.dtype
        Of an element.
    """

    __slots__ = ("__weakref__", "_final", "_root", "_span", "_storage", "dtype", "shape")

    _noun = "buffer"

    # Where the elements go at the end.
    _final: Array | None
    # What this is a part of.
    _root: MemoryObject | None
    # Its bytes in the storage.
    _span: tuple[int, int]
    _storage: Storage
    dtype: DType
    shape: tuple[int, ...]

    def _start(self, storage: Storage, final: Array | None) -> None:
        """It has contents of its own now."""
        self._storage, self._final, self._root = storage, final, None
        self._span = (0, storage.nbytes)
        storage.noun = self._noun
        if final is not None or storage.waits:
            pool.prepare()
            _storage.unfinished.add(storage)

    @property
    def ndim(self) -> int:
        """Number of dimensions, 1 to 3 for a buffer."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """Number of elements."""
        return math.prod(self.shape)

    @property
    def nbytes(self) -> int:
        """Bytes of the elements."""
        return self._span[1] - self._span[0]

    @property
    def closed(self) -> bool:
        """Whether the memory object was closed."""
        return not self._storage.open

    # ------------------------------------------------------------------ end

    def set_final_data(self, target: Array | None) -> None:
        """Target of the write-back at the end; None for no write-back.

        Parameters
        ----------
        target : Array | None
            A writable array of the same dtype with as many elements.

        Raises
        ------
        InvalidError
            No such array, or this is part of another buffer.
        """
        self._storage.require_open()
        self._require_whole("set_final_data")
        if target is not None:
            if not isinstance(target, np.ndarray):
                raise InvalidError(f"target: a {type(target).__name__} is no numpy array")
            if not target.flags.writeable:
                raise InvalidError("target: the array is read-only")
            if target.dtype != self.dtype or target.size != self.size:
                raise InvalidError(
                    f"target: {target.size} elements of {target.dtype}; "
                    f"the {self._noun} has {self.size} of {self.dtype}"
                )
            pool.prepare()
        with _storage.lock:
            storage = self._storage
            if storage.origin is None or target is None or target is not storage.origin.memory:
                storage.protect_origin()
            if target is None and not storage.waits:
                _storage.unfinished.discard(storage)
            else:
                _storage.unfinished.add(storage)
        self._final = target

    def set_write_back(self, flag: bool = True) -> None:
        """Whether the elements are written back when it ends, where there is an array for them."""
        storage = self._storage
        storage.require_open()
        self._require_whole("set_write_back")
        if not flag:
            self.set_final_data(None)
        elif self._final is None and storage.origin is not None:
            array = storage.origin.memory
            if isinstance(array, np.ndarray) and array.flags.writeable:
                self.set_final_data(array)

    def _require_whole(self, what: str) -> None:
        if self._root is not None:
            raise InvalidError(f"{what}: this is part of another buffer, which decides")

    def close(self) -> None:
        """Writes back what there is to write back, waiting for the commands that use it; then it is over.

        A second call does nothing, nor does closing a sub-buffer or a reinterpreted one. What commands still use
        is freed after them.

        Raises
        ------
        Error
            A command that it waits for failed, and its queue has no ``async_handler``. Then nothing is written back.
        """
        if self._root is None:
            finish(self._storage, self._final, self.shape, self.dtype, report=True)

    def __del__(self, ownership: Any = ownership, _finish: Any = finish_quietly) -> None:
        storage = getattr(self, "_storage", None)
        if storage is None or self._root is not None or not storage.open or storage.forked or ownership.is_finished():
            return
        rest = storage, self._final, self.shape, self.dtype
        if not (ownership.events_wait or _storage.lock.is_mine):
            _finish(*rest)
        elif self._final is not None or storage.waits:  # in a collection, or amid a submission: nothing may wait here
            pool.later(lambda: _finish(*rest))

    def __enter__(self: _Self) -> _Self:
        self._storage.require_open()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
