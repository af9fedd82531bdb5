"""Arrays given by address, type of numbers, shape and strides."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ...model.arrays import Array
from ...model.errors import InvalidError
from ...model.message_values import shown

__all__ = ["ITEM_SIZES", "MemoryArray", "memory_array"]

ITEM_SIZES = {"e": 2, "f": 4, "d": 8}

_TORCH = {"torch.float16": "e", "torch.float32": "f", "torch.float64": "d"}
_torch_dtypes: dict[Any, str] = {}  # dtypes of PyTorch, which is not imported here


class MemoryArray(NamedTuple):
    """An array in memory.

    Attributes
    ----------
    pointer : int
        Address of its first number.
    dtype : str
        "e", "f" or "d": float16, float32 or float64.
    shape : tuple[int, ...]
    strides : tuple[int, ...]
        In numbers, not bytes; 0 repeats.
    """

    pointer: int
    dtype: str
    shape: tuple[int, ...]
    strides: tuple[int, ...]


def memory_array(array: Any) -> MemoryArray:
    """A numpy array or a PyTorch tensor by its address; a ``MemoryArray`` itself.

    Raises
    ------
    InvalidError
        The array is none of these, its numbers are no floats of 16, 32 or 64 bits, or not at multiples of their size.
    """
    if type(array) is MemoryArray:
        return array
    pointer = getattr(array, "data_ptr", None)
    if pointer is not None:
        dtype = _torch_dtypes.get(array.dtype) or _torch_dtype(array.dtype)
        return MemoryArray(pointer(), dtype, array.shape, array.stride())
    if isinstance(array, np.ndarray):
        return _numpy_view(array)
    raise InvalidError(f"{shown(array)} is no array of numpy or PyTorch and no MemoryArray")


def _torch_dtype(dtype: Any) -> str:
    name = _TORCH.get(str(dtype))
    if name is None:
        raise InvalidError(f"dtype {dtype}: float16, float32 or float64 is needed; convert the tensor")
    _torch_dtypes[dtype] = name
    return name


def _numpy_view(array: Array) -> MemoryArray:
    size = array.dtype.itemsize
    if array.dtype.char not in ITEM_SIZES or not array.dtype.isnative:
        raise InvalidError(f"dtype {array.dtype}: native float16, float32 or float64 is needed; convert the array")
    if not array.flags.aligned or any(stride % size for stride in array.strides):
        raise InvalidError(f"strides {array.strides} of {array.dtype}: numbers lie between multiples of their size")
    return MemoryArray(
        array.ctypes.data, array.dtype.char, array.shape, tuple(stride // size for stride in array.strides)
    )
