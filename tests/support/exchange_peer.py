"""A library with DLPack's C exchange functions (DLPack 1.3), in ctypes, from the standard alone."""

from __future__ import annotations

import ctypes
from ctypes import CFUNCTYPE, POINTER, Structure, c_char_p, c_int, c_int32, c_int64, c_uint32, c_void_p, py_object
from typing import Any, ClassVar

import numpy as np

from tests.support.dlpack_peer import CODES, Producer, Tensor, Versioned, _api, _lent

__all__ = ["Exchanged"]

_KINDS = {code: kind for kind, code in CODES.items()}

SET_ERROR = CFUNCTYPE(None, c_void_p, c_char_p, c_char_p)
ALLOCATE = CFUNCTYPE(c_int, POINTER(Tensor), POINTER(c_void_p), c_void_p, SET_ERROR)
EXPORT_OWNING = CFUNCTYPE(c_int, py_object, POINTER(c_void_p))
IMPORT = CFUNCTYPE(c_int, c_void_p, POINTER(c_void_p))
EXPORT = CFUNCTYPE(c_int, py_object, POINTER(Tensor))
STREAM = CFUNCTYPE(c_int, c_int32, c_int32, POINTER(c_void_p))


class Functions(Structure):
    _fields_: ClassVar[Any] = [
        ("major", c_uint32),
        ("minor", c_uint32),
        ("previous", c_void_p),
        ("allocate", ALLOCATE),
        ("export_owning", EXPORT_OWNING),
        ("import_", IMPORT),
        ("export", EXPORT),
        ("stream", STREAM),
    ]


class Exchanged(Producer):
    """An array of the library.

    Attributes
    ----------
    reads
        Number of calls of the exporting functions, of all arrays.
    current
        The library's current stream.
    asked_for_stream
        Devices of the calls for the current stream.
    refuses
        Whether the exporting functions fail.
    refused
        Number of the next arrays for which the allocator has no room.
    """

    reads = 0
    current = 0
    asked_for_stream: ClassVar[list[tuple[int, int]]] = []
    refuses = False
    refused = 0
    requires_grad = False
    __dlpack_c_exchange_api__: ClassVar[object]

    @classmethod
    def new(cls, shape: tuple[int, ...], dtype: np.dtype[Any], device: tuple[int, int]) -> Exchanged:
        """An array for the allocator; subclasses take memory of a device."""
        return cls(np.empty(shape, dtype), device=device)

    @property
    def shape(self) -> tuple[int, ...]:
        return self.array.shape

    def owning(self) -> int:
        """The address of an owning structure."""
        capsule = Producer.__dlpack__(self)
        return int(_api.PyCapsule_GetPointer(capsule, b"dltensor_versioned"))


def _shape_of(tensor: Any) -> tuple[int, ...]:
    return tuple(tensor.shape[: tensor.ndim])


@ALLOCATE
def _allocate(prototype: Any, made: Any, context: int, set_error: Any) -> int:
    tensor = prototype.contents
    if Exchanged.refused:
        Exchanged.refused -= 1
        return -1
    if tensor.ndim and tensor.shape[0] > 1 << 40:
        set_error(context, b"MemoryError", b"no such array")
        return -1
    dtype = np.dtype(f"{_KINDS[tensor.code]}{tensor.bits // 8}")
    made[0] = Exchanged.new(_shape_of(tensor), dtype, (tensor.device_type, tensor.device_id)).owning()
    return 0


@EXPORT_OWNING
def _export_owning(array: Exchanged, made: Any) -> int:
    Exchanged.reads += 1
    if Exchanged.refuses:
        return -1
    made[0] = array.owning()
    return 0


@IMPORT
def _import(tensor: int, made: Any) -> int:
    producer, _ = _lent.pop(tensor)
    ctypes.pythonapi.Py_IncRef(py_object(producer))
    made[0] = id(producer)
    return 0


@EXPORT
def _export(array: Exchanged, tensor: Any) -> int:
    Exchanged.reads += 1
    if Exchanged.refuses:
        return -1
    managed = Versioned.from_address(array.owning())
    ctypes.memmove(tensor, ctypes.byref(managed.tensor), ctypes.sizeof(Tensor))
    _lent.pop(ctypes.addressof(managed))  # shape and strides belong to the array
    return 0


@STREAM
def _stream(device_type: int, device_id: int, stream: Any) -> int:
    Exchanged.asked_for_stream.append((device_type, device_id))
    stream[0] = Exchanged.current
    return 0


# Consumers may call the functions as long as the process lives.
_FUNCTIONS = Functions(1, 3, None, _allocate, _export_owning, _import, _export, _stream)
_LATER = Functions(2, 0, ctypes.addressof(_FUNCTIONS))
_NAME = b"dlpack_exchange_api"
# The newest structure comes first: a consumer goes back to the version that it knows.
Exchanged.__dlpack_c_exchange_api__ = _api.PyCapsule_New(ctypes.addressof(_LATER), _NAME, None)
_keep = c_int64, _LATER
