"""Inputs of blocks: arrays with shape, dtype and slicing, in a form that other processes can open."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..model.errors import InvalidError
from ..model.message_values import shown
from .stored_chunks import StoredChunks, is_zarr

__all__ = ["source_of"]


class FileArray:
    """An array in a file, which pickles as the name of its place: a memory map or a data set of HDF5.

    Parameters
    ----------
    array : array
        Open in this process; other processes open the file themselves.
    place : tuple[str, ...]
        Arguments that open it again.
    """

    def __init__(self, array: Any, place: tuple[Any, ...]) -> None:
        self._array, self._place = array, place
        self.shape, self.dtype = tuple(array.shape), array.dtype

    @property
    def ndim(self) -> int:
        return len(self.shape)

    def __getitem__(self, part: Any) -> Any:
        if self._array is None:
            self._array = _opened(*self._place)
        return self._array[part]

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_array": None}


def _opened(kind: str, *place: Any) -> Any:
    if kind == "hdf5":
        import h5py

        file, name = place
        return h5py.File(file, "r")[name]
    file, dtype, offset, shape, order = place
    return np.memmap(file, dtype, "r", offset, shape, order)


def source_of(name: str, array: Any) -> Any:
    """An array that other processes can read.

    Raises
    ------
    InvalidError
        It has no shape, dtype or slicing.
    """
    if is_zarr(array):
        return StoredChunks(array)
    if isinstance(array, np.memmap) and array.filename is not None and _is_whole(array):
        order = "F" if array.flags.f_contiguous and not array.flags.c_contiguous else "C"
        return FileArray(array, ("memmap", str(array.filename), array.dtype.str, array.offset, array.shape, order))
    if type(array).__module__.partition(".")[0] == "h5py" and hasattr(array, "file"):
        return FileArray(array, ("hdf5", array.file.filename, array.name))
    if not all(hasattr(array, attribute) for attribute in ("shape", "dtype", "__getitem__")):
        try:
            return np.asarray(array)
        except (TypeError, ValueError):
            pass
        raise InvalidError(f"{name}={shown(array)}: it is an array, or has shape, dtype and slicing")
    return array


def _is_whole(array: np.memmap[Any, Any]) -> bool:
    """Whether it is the mapping itself and no view of a part, whose offset numpy does not keep."""
    mapping = getattr(array, "_mmap", None)
    base = array.base
    contiguous = array.flags.c_contiguous or array.flags.f_contiguous
    return mapping is not None and base is mapping and contiguous
