"""``memcpy``, ``memset`` and ``fill`` as values: checked once, for queues and command groups alike."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..model.enums import UsmKind
from ..model.errors import InvalidError
from ._stream import Operation
from ._usm_array import UsmArray
from ._usm_import import foreign_array
from ._usm_pointer import UsmPointer

if TYPE_CHECKING:
    from .queue import Queue

__all__ = ["Command", "plan_copy", "plan_fill", "plan_memcpy", "plan_memset"]

# What submits a command, and what must live until it is complete.
Command = tuple[Operation, tuple[object, ...]]

_PATTERN_SIZES = (1, 2, 4, 8, 16)


class _Span(NamedTuple):
    """Contiguous memory: the address of its first byte, its bytes, and who keeps it alive."""

    address: int
    nbytes: int
    keep: object
    dtype: np.dtype[Any] | None = None


def _span(queue: Queue, value: object, name: str, *, written: bool) -> _Span:
    if isinstance(value, (UsmPointer, UsmArray)):
        dtype = None
        if isinstance(value, UsmArray):
            if not value._contiguous:
                value._require_contiguous(name)
            dtype = value.dtype
        owner = value._owner
        if not owner.open:
            raise owner.freed()
        if owner.context is not queue.context and owner.kind is not UsmKind.host:
            raise InvalidError(f"{name}: {value!r} was allocated in another context than the queue's")
        if written and owner.read_only:
            owner.require_writable(name)
        return _Span(owner.address + value._offset, value.nbytes, value, dtype)
    if not isinstance(value, np.ndarray):
        value = foreign_array(value, queue)
        if isinstance(value, UsmArray):
            return _span(queue, value, name, written=written)
    return _host_span(value, name, written)


def _host_span(value: object, name: str, written: bool) -> _Span:
    """The bytes of a numpy array or another buffer, in place.

    Raises:
        InvalidError: no buffer, not contiguous, or not writable where it is written.
    """
    if isinstance(value, np.ndarray):
        if not value.flags.c_contiguous:
            raise InvalidError(
                f"{name}: an array of shape {value.shape} with strides {value.strides} is not contiguous: pass "
                "numpy.ascontiguousarray(array)"
            )
        if written and not value.flags.writeable:
            raise InvalidError(f"{name}: the array is read-only, and the copy writes it")
        if value.dtype.hasobject:
            raise InvalidError(f"{name}: an array of Python objects is no plain memory")
        return _Span(value.__array_interface__["data"][0], value.nbytes, value)
    try:
        view = memoryview(value)  # type: ignore[arg-type]
    except TypeError:
        raise InvalidError(
            f"{name}: a {type(value).__name__} is no memory; it is a UsmPointer, a UsmArray, a numpy array or another "
            "buffer"
        ) from None
    if written and view.readonly:
        raise InvalidError(f"{name}: the buffer is read-only, and the copy writes it")
    if not view.c_contiguous:
        raise InvalidError(f"{name}: the buffer is not contiguous")
    data = np.frombuffer(view.cast("B") if view.nbytes else b"\0", np.uint8)
    return _Span(data.__array_interface__["data"][0], view.nbytes, data)


def _count(value: object, name: str) -> int:
    try:
        number = operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        raise InvalidError(f"{name}={value!r} is not an integer") from None
    if number < 0:
        raise InvalidError(f"{name}={number} is negative")
    return number


def _require_room(span: _Span, nbytes: int, name: str) -> None:
    if nbytes > span.nbytes:
        raise InvalidError(f"{nbytes} bytes leave the {name}, which has {span.nbytes}")


def plan_memcpy(queue: Queue, dst: object, src: object, nbytes: int | None) -> Command | None:
    """A copy of bytes; None if there is nothing to copy."""
    target = _span(queue, dst, "dst", written=True)
    source = _span(queue, src, "src", written=False)
    if nbytes is None:
        if target.nbytes != source.nbytes:
            raise InvalidError(f"dst has {target.nbytes} bytes, src {source.nbytes}: say how many with nbytes=")
        size = source.nbytes
    else:
        size = _count(nbytes, "nbytes")
    _require_room(target, size, "dst")
    _require_room(source, size, "src")
    if not size:
        return None
    backend, native = queue._backend, queue._native
    to, origin = target.address, source.address
    return (lambda waits: backend.copy(native, to, origin, size, waits)), (target.keep, source.keep)


def plan_copy(queue: Queue, src: object, dst: object, count: int | None) -> Command | None:
    """A copy of ``count`` elements of the typed side; None copies all of them."""
    typed = next((side for side in (src, dst) if isinstance(side, (UsmArray, np.ndarray))), None)
    if count is None:
        return plan_memcpy(queue, dst, src, None if typed is None else typed.nbytes)
    itemsize = 1 if typed is None else typed.dtype.itemsize
    return plan_memcpy(queue, dst, src, _count(count, "count") * itemsize)


def plan_memset(queue: Queue, pointer: object, value: int, nbytes: int | None) -> Command | None:
    """Sets bytes to one value, 0 to 255."""
    byte = _count(value, "value")
    if byte > 255:
        raise InvalidError(f"value={byte}: memset writes one byte, 0 to 255; fill writes larger patterns")
    target = _device_span(queue, pointer, "pointer")
    size = target.nbytes if nbytes is None else _count(nbytes, "nbytes")
    _require_room(target, size, "memory")
    if not size:
        return None
    return _fill(queue, target, bytes([byte]), size)


def plan_fill(queue: Queue, pointer: object, pattern: object, count: int | None) -> Command | None:
    """Writes ``count`` copies of a pattern; None fills the memory."""
    target = _device_span(queue, pointer, "pointer")
    data = _pattern(pattern, target.dtype)
    number = target.nbytes // len(data) if count is None else _count(count, "count")
    _require_room(target, number * len(data), "memory")
    if not number:
        return None
    if len(data) in _PATTERN_SIZES:
        return _fill(queue, target, data, number)
    tiled = np.frombuffer(data * number, np.uint8)
    backend, native, to = queue._backend, queue._native, target.address
    return (lambda waits: backend.copy(native, to, tiled.__array_interface__["data"][0], tiled.nbytes, waits)), (
        target.keep,
        tiled,
    )


def plan_prefetch(queue: Queue, pointer: object, nbytes: int | None) -> Command | None:
    """Moves memory to the device; None means all of it."""
    target, size = _part(queue, pointer, nbytes)
    if not size:
        return None
    backend, native, address = queue._backend, queue._native, target.address
    return (lambda waits: backend.prefetch(native, address, size, waits)), (target.keep,)


def plan_advise(queue: Queue, pointer: object, nbytes: int | None, advice: int) -> Command | None:
    """Tells how memory will be used."""
    number = _count(advice, "advice")
    target, size = _part(queue, pointer, nbytes)
    if not size:
        return None
    backend, native, address = queue._backend, queue._native, target.address
    return (lambda waits: backend.advise(native, address, size, number, waits)), (target.keep,)


def _part(queue: Queue, pointer: object, nbytes: int | None) -> tuple[_Span, int]:
    """Memory of the device and how many of its bytes a command is about."""
    target = _device_span(queue, pointer, "pointer", written=False)
    size = target.nbytes if nbytes is None else _count(nbytes, "nbytes")
    _require_room(target, size, "memory")
    return target, size


def _device_span(queue: Queue, pointer: object, name: str, *, written: bool = True) -> _Span:
    found = foreign_array(pointer, queue)
    if not isinstance(found, (UsmPointer, UsmArray)):
        raise InvalidError(f"{name}: a {type(pointer).__name__} is no UsmPointer or UsmArray")
    return _span(queue, found, name, written=written)


def _fill(queue: Queue, target: _Span, data: bytes, count: int) -> Command:
    backend, native, to = queue._backend, queue._native, target.address
    return (lambda waits: backend.fill(native, to, data, count, waits)), (target.keep,)


def _pattern(pattern: object, dtype: np.dtype[Any] | None) -> bytes:
    if isinstance(pattern, (bytes, bytearray)):
        if not pattern:
            raise InvalidError("pattern=b'': it has at least one byte")
        return bytes(pattern)
    if isinstance(pattern, np.generic) or (isinstance(pattern, np.ndarray) and pattern.ndim == 0):
        if pattern.dtype.hasobject or not pattern.nbytes:
            raise InvalidError(f"pattern={pattern!r} is no plain memory")
        if dtype is not None and pattern.dtype != dtype:
            raise InvalidError(f"pattern={pattern!r} is {pattern.dtype}, the array {dtype}: convert with .astype")
        return pattern.tobytes()
    if isinstance(pattern, (bool, int, float, complex)):
        if dtype is None:
            raise InvalidError(
                f"pattern={pattern!r} does not say its size: pass a numpy scalar such as numpy.float32({pattern!r}), "
                "or fill a UsmArray"
            )
        try:
            return np.array(pattern).astype(dtype, casting="same_kind").tobytes() if _fits(pattern, dtype) else b""
        except (TypeError, OverflowError, ValueError):
            pass
        raise InvalidError(f"pattern={pattern!r} does not go into {dtype} elements")
    raise InvalidError(f"pattern={pattern!r}: it is a number, a numpy scalar or bytes")


def _fits(pattern: complex, dtype: np.dtype[Any]) -> bool:
    """Whether an integer lies in the range of the dtype; raises ``OverflowError`` if not."""
    if isinstance(pattern, int) and dtype.kind in "iu":
        limits = np.iinfo(dtype)
        if not limits.min <= pattern <= limits.max:
            raise OverflowError
    return True
