"""DLPack's numbers of devices, flags and element types, and the numpy dtypes of the latter."""

from __future__ import annotations

from enum import IntEnum, IntFlag

import numpy as np

from .arrays import DType

__all__ = ["DLDeviceType", "DLFlag", "dlpack_type", "dtype_of_dlpack"]


class DLDeviceType(IntEnum):
    """Kind of memory, as DLPack numbers it."""

    cpu = 1
    cuda = 2
    cuda_host = 3
    opencl = 4
    vulkan = 7
    metal = 8
    rocm = 10
    rocm_host = 11
    cuda_managed = 13
    one_api = 14


class DLFlag(IntFlag):
    """Flags of a versioned tensor."""

    read_only = 1
    copied = 2


_BITS_OF_BYTE = 8
# Kind of a numpy dtype, DLPack's code of the type, sizes in bits.
_TYPES = (
    ("i", 0, (8, 16, 32, 64)),
    ("u", 1, (8, 16, 32, 64)),
    ("f", 2, (16, 32, 64)),
    ("c", 5, (64, 128)),
    ("b", 6, (8,)),
)


def dlpack_type(dtype: DType) -> tuple[int, int] | None:
    """Return DLPack's code and bits of a dtype; None for a dtype without one."""
    bits = dtype.itemsize * _BITS_OF_BYTE
    if not dtype.isnative or dtype.fields is not None:
        return None
    return next(((code, bits) for kind, code, sizes in _TYPES if dtype.kind == kind and bits in sizes), None)


def dtype_of_dlpack(code: int, bits: int, lanes: int) -> DType | None:
    """Return the dtype of elements that DLPack describes; None where numpy has none."""
    if lanes != 1:
        return None
    for kind, kind_code, sizes in _TYPES:
        if code == kind_code and bits in sizes:
            return np.dtype(f"{kind}{bits // _BITS_OF_BYTE}")
    return None
