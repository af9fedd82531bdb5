"""Call frames of XLA's interface, made in Python: what XLA passes to a handler."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from ctypes import POINTER, Structure, c_char_p, c_int, c_int64, c_size_t, c_uint32, c_void_p, cast, pointer, sizeof
from typing import Any

import numpy as np
import numpy.typing as npt

INITIALIZE, EXECUTE = 2, 3


class Version(Structure):
    _fields_ = [("size", c_size_t), ("extensions", c_void_p), ("major", c_int), ("minor", c_int)]


class Metadata(Structure):
    _fields_ = [("size", c_size_t), ("version", Version), ("traits", c_uint32)]


class MetadataExtension(Structure):
    _fields_ = [("size", c_size_t), ("type", c_int), ("next", c_void_p), ("metadata", POINTER(Metadata))]


class ErrorRequest(Structure):
    _fields_ = [("size", c_size_t), ("extensions", c_void_p), ("message", c_char_p), ("code", c_int)]


class StreamRequest(Structure):
    _fields_ = [("size", c_size_t), ("extensions", c_void_p), ("context", c_void_p), ("stream", c_void_p)]


CREATE_ERROR = ctypes.CFUNCTYPE(c_void_p, POINTER(ErrorRequest))
GET_STREAM = ctypes.CFUNCTYPE(c_void_p, POINTER(StreamRequest))


class Api(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("extensions", c_void_p),
        ("version", Version),
        ("internal", c_void_p),
        ("create_error", CREATE_ERROR),
        ("unused", c_void_p * 3),
        ("get_stream", GET_STREAM),
    ]


class Buffer(Structure):
    _fields_ = [
        ("size", c_size_t), ("extensions", c_void_p), ("type", c_int), ("data", c_void_p), ("rank", c_int64),
        ("extents", POINTER(c_int64)),
    ]  # fmt: skip


class Buffers(Structure):
    _fields_ = [
        ("size", c_size_t), ("extensions", c_void_p), ("count", c_int64), ("kinds", POINTER(c_int)),
        ("items", POINTER(c_void_p)),
    ]  # fmt: skip


class Text(Structure):
    _fields_ = [("text", c_char_p), ("length", c_size_t)]


class Integers(Structure):
    _fields_ = [("type", c_int), ("count", c_size_t), ("data", c_void_p)]


class Attributes(Structure):
    _fields_ = [
        ("size", c_size_t), ("extensions", c_void_p), ("count", c_int64), ("kinds", POINTER(c_int)),
        ("names", POINTER(POINTER(Text))), ("values", POINTER(c_void_p)),
    ]  # fmt: skip


class Frame(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("extensions", c_void_p),
        ("api", POINTER(Api)),
        ("context", c_void_p),
        ("stage", c_int),
        ("arguments", Buffers),
        ("results", Buffers),
        ("attributes", Attributes),
        ("future", c_void_p),
    ]


def function_of(capsule: object) -> Callable[[Any], int | None]:
    """The handler in a capsule."""
    get = ctypes.pythonapi.PyCapsule_GetPointer
    get.restype, get.argtypes = c_void_p, (ctypes.py_object, c_char_p)
    return ctypes.CFUNCTYPE(c_void_p, POINTER(Frame))(get(capsule, None))


def version_of(capsule: object, major: int | None, minor: int = 0) -> tuple[int, int, int]:
    """The version and the traits that a handler reports; XLA's own version comes first, None before it was passed."""
    metadata = Metadata(sizeof(Metadata))
    extension = MetadataExtension(24, 1, None, pointer(metadata))
    api = Api(version=Version(sizeof(Version), None, major or 0, minor))
    frame = Frame(sizeof(Frame), cast(pointer(extension), c_void_p), None if major is None else pointer(api))
    assert function_of(capsule)(pointer(frame)) is None
    return metadata.version.major, metadata.version.minor, metadata.traits


def call(
    capsule: object,
    arguments: Sequence[npt.NDArray[Any]],
    results: Sequence[npt.NDArray[Any]],
    program: Sequence[int],
    names: str,
    *,
    stage: int = EXECUTE,
    stream: int = 0,
) -> str | None:
    """Call a handler. Returns the message of its error."""
    messages: list[str] = []

    def fail(request: Any) -> int:
        messages.append(request.contents.message.decode())
        return 1

    def give_stream(request: Any) -> None:
        request.contents.stream = stream

    callbacks = CREATE_ERROR(fail), GET_STREAM(give_stream)
    api = Api(sizeof(Api), None, Version(sizeof(Version), None, 0, 3), None, *callbacks[:1], get_stream=callbacks[1])
    kept: list[Any] = []

    def buffers(arrays: Sequence[npt.NDArray[Any]]) -> Buffers:
        items = [Buffer(sizeof(Buffer), None, 0, array.ctypes.data, array.ndim, None) for array in arrays]
        addresses = (c_void_p * len(arrays))(*(ctypes.addressof(item) for item in items))
        kinds = (c_int * len(arrays))(*[1] * len(arrays))
        kept.extend((items, addresses, kinds))
        return Buffers(sizeof(Buffers), None, len(arrays), kinds, addresses)

    words = np.array(program, np.int64)
    integers = Integers(5, len(words), words.ctypes.data)
    text = Text(names.encode(), len(names))
    labels = (POINTER(Text) * 2)(pointer(Text(b"names", 5)), pointer(Text(b"program", 7)))
    values = (c_void_p * 2)(ctypes.addressof(text), ctypes.addressof(integers))
    attributes = Attributes(sizeof(Attributes), None, 2, (c_int * 2)(4, 1), labels, values)
    frame = Frame(
        sizeof(Frame), None, pointer(api), None, stage, buffers(arguments), buffers(results), attributes, None
    )
    failed = function_of(capsule)(pointer(frame))
    assert bool(failed) == bool(messages)
    return messages[0] if messages else None
