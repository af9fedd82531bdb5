"""A second DLPack implementation, in ctypes, from the standard alone: reads and creates capsules."""

from __future__ import annotations

import ctypes
from ctypes import c_char_p, c_int32, c_int64, c_uint8, c_uint16, c_uint32, c_uint64, c_void_p, py_object
from typing import Any

import numpy as np

VERSIONED, LEGACY = b"dltensor_versioned", b"dltensor"
READ_ONLY, COPIED = 1, 2
CODES = {"i": 0, "u": 1, "f": 2, "c": 5, "b": 6}


class Tensor(ctypes.Structure):
    _fields_ = [
        ("data", c_void_p),
        ("device_type", c_int32),
        ("device_id", c_int32),
        ("ndim", c_int32),
        ("code", c_uint8),
        ("bits", c_uint8),
        ("lanes", c_uint16),
        ("shape", ctypes.POINTER(c_int64)),
        ("strides", ctypes.POINTER(c_int64)),
        ("byte_offset", c_uint64),
    ]


class Legacy(ctypes.Structure):
    _fields_ = [("tensor", Tensor), ("context", c_void_p), ("deleter", c_void_p)]


class Versioned(ctypes.Structure):
    _fields_ = [
        ("major", c_uint32),
        ("minor", c_uint32),
        ("context", c_void_p),
        ("deleter", c_void_p),
        ("flags", c_uint64),
        ("tensor", Tensor),
    ]


DELETER = ctypes.CFUNCTYPE(None, c_void_p)

_api = ctypes.pythonapi
_api.PyCapsule_GetPointer.restype, _api.PyCapsule_GetPointer.argtypes = c_void_p, (py_object, c_char_p)
_api.PyCapsule_GetName.restype, _api.PyCapsule_GetName.argtypes = c_char_p, (py_object,)
_api.PyCapsule_SetName.argtypes = (py_object, c_char_p)
_api.PyCapsule_New.restype, _api.PyCapsule_New.argtypes = py_object, (c_void_p, c_char_p, c_void_p)


def name_of(capsule: object) -> bytes:
    return _api.PyCapsule_GetName(capsule)


def managed_of(capsule: object) -> Any:
    """The structure in an unconsumed capsule."""
    name = name_of(capsule)
    kind = Versioned if name == VERSIONED else Legacy
    return kind.from_address(_api.PyCapsule_GetPointer(capsule, name))


def take(capsule: object) -> Any:
    """Consume a capsule: the caller owns the structure and must call its deleter."""
    managed = managed_of(capsule)
    _api.PyCapsule_SetName(capsule, _USED[name_of(capsule)])
    return managed


_USED = {VERSIONED: b"used_dltensor_versioned", LEGACY: b"used_dltensor"}


def delete(managed: Any) -> None:
    """Call the deleter, without the GIL."""
    DELETER(managed.deleter)(ctypes.addressof(managed))


def layout(managed: Any) -> dict[str, Any]:
    tensor = managed.tensor
    return {
        "address": (tensor.data or 0) + tensor.byte_offset,
        "device": (tensor.device_type, tensor.device_id),
        "type": (tensor.code, tensor.bits, tensor.lanes),
        "shape": tuple(tensor.shape[: tensor.ndim]),
        "strides": tuple(tensor.strides[: tensor.ndim]) if tensor.strides else None,
    }


def described(array: Any, **options: Any) -> dict[str, Any]:
    """The description in an array's capsule; the capsule is dropped."""
    capsule = array.__dlpack__(**options)
    return layout(managed_of(capsule))


def numpy_view(array: Any) -> np.ndarray:
    """A numpy view of host-accessible memory; for oneAPI devices numpy requests the host's device type."""
    if array.device.backend in ("level_zero", "opencl"):
        return np.from_dlpack(array, device="cpu", copy=False)
    return np.from_dlpack(array)


# Producers and structures in use by consumers, and those whose deleter was called, by the structure's address.
# A later export frees them. The deleter cannot: it is a function that they own.
_lent: dict[int, tuple[Producer, Any]] = {}
_ended: list[int] = []


class Producer:
    """Exports a numpy array's memory as configured; lives until the deleters of its exports are called.

    Attributes
    ----------
    deleted
        Number of calls of the deleter.
    asked
        Keyword arguments of the calls of ``__dlpack__``.
    """

    def __init__(
        self,
        array: np.ndarray,
        *,
        version: tuple[int, int] | None = (1, 0),
        device: tuple[int, int] = (1, 0),
        strides: bool = True,
        offset: int = 0,
        flags: int = 0,
        type_: tuple[int, int, int] | None = None,
        knows_versions: bool = True,
        **fields: Any,
    ) -> None:
        self.array, self.version, self.device, self.flags = array, version, device, flags
        self.knows_versions, self.fields = knows_versions, fields
        self.deleted = 0
        self.asked: list[dict[str, Any]] = []
        self._deleter = DELETER(self._delete)
        self._shape = (c_int64 * array.ndim)(*array.shape)
        self._strides = (c_int64 * array.ndim)(*(stride // array.itemsize for stride in array.strides))
        self._with_strides, self._offset = strides, offset
        self._type = type_ or (CODES[array.dtype.kind], array.itemsize * 8, 1)

    def _delete(self, address: int) -> None:
        self.deleted += 1
        _ended.append(address)

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.device

    def __dlpack__(self, **options: Any) -> object:
        if "max_version" in options and not self.knows_versions:
            raise TypeError("__dlpack__() got an unexpected keyword argument 'max_version'")
        self.asked.append(options)
        tensor = Tensor(
            self.array.ctypes.data - self._offset,
            *self.device,
            self.array.ndim,
            *self._type,
            ctypes.cast(self._shape, ctypes.POINTER(c_int64)),
            ctypes.cast(self._strides, ctypes.POINTER(c_int64)) if self._with_strides else None,
            self._offset,
        )
        for name, value in self.fields.items():
            setattr(tensor, name, value)
        deleter = ctypes.cast(self._deleter, c_void_p)
        if self.version is None:
            return self._lend(Legacy(tensor, None, deleter), LEGACY)
        return self._lend(Versioned(*self.version, None, deleter, self.flags, tensor), VERSIONED)

    def _lend(self, managed: Any, name: bytes) -> object:
        while _ended:
            del _lent[_ended.pop()]
        address = ctypes.addressof(managed)
        _lent[address] = self, managed
        return _api.PyCapsule_New(address, name, None)
