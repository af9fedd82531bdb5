"""``memcpy``, ``memset`` and ``fill`` as values: checked once, for queues and command groups alike."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ...backends.contract import BackendProtocol, NativeEvent, NativeQueue
from ...model.arrays import DType
from ...model.enums import UsmKind
from ...model.errors import InvalidError
from ...model.message_values import shown
from ...submission.command_stream import Operation
from ..buffer.accessor import Accessor
from ..device.peer_access import memory_out_of_reach
from ..usm.array import UsmArray
from ..usm.array_import import foreign_array
from ..usm.host_memory import host_span
from ..usm.pointer import UsmPointer
from .accessor_pieces import Pieces, chained, copied, cut, pieces_of

if TYPE_CHECKING:
    from ..device.queue_base import QueueBase

__all__ = ["ByteCopy", "Command", "plan_copy", "plan_fill", "plan_memcpy", "plan_memset"]

# What submits a command, and what must live until it is complete.
Command = tuple[Operation, tuple[object, ...]]

_PATTERN_SIZES = (1, 2, 4, 8, 16)


@dataclass(frozen=True)
class ByteCopy:
    """The operation of a copy of contiguous bytes."""

    backend: BackendProtocol
    native: NativeQueue
    to: int
    from_: int
    nbytes: int

    def __call__(self, waits: Sequence[NativeEvent]) -> NativeEvent:
        return self.backend.copy(self.native, self.to, self.from_, self.nbytes, waits)


class _Span(NamedTuple):
    """Contiguous memory: the address of its first byte, its bytes, and who keeps it alive."""

    address: int
    nbytes: int
    keep: object
    dtype: DType | None = None


def _span(queue: QueueBase, value: object, name: str, *, written: bool) -> _Span:
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
    host = host_span(name, value, written=written)
    if host is None:
        raise InvalidError(
            f"{name}: a {type(value).__name__} is no memory; it is an accessor, a UsmPointer, a UsmArray, a numpy "
            "array or another buffer"
        )
    return _Span(*host)


def _count(value: object, name: str) -> int:
    try:
        number = operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        raise InvalidError(f"{name}={shown(value)} is not an integer") from None
    if number < 0:
        raise InvalidError(f"{name}={shown(number)} is negative")
    return number


def _require_room(span: _Span, nbytes: int, name: str) -> None:
    if nbytes > span.nbytes:
        raise InvalidError(f"{shown(nbytes)} bytes leave the {name}, which has {span.nbytes}")


def plan_memcpy(queue: QueueBase, dst: object, src: object, nbytes: int | None) -> Command | None:
    """A copy of bytes; None if there is nothing to copy."""
    if isinstance(dst, Accessor) or isinstance(src, Accessor):
        return _plan_accessors(queue, dst, src, nbytes)
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
    copy = ByteCopy(queue._backend, queue._native, target.address, source.address, size)
    return copy, (target.keep, source.keep)


def _plan_accessors(queue: QueueBase, dst: object, src: object, nbytes: int | None) -> Command | None:
    """A copy from or to an accessor: all of its elements, where nothing else is said."""
    sides: list[tuple[Pieces, object]] = []
    for side, name in ((dst, "dst"), (src, "src")):
        if isinstance(side, Accessor):
            sides.append(pieces_of(side, name, written=side is dst))
        else:
            span = _span(queue, side, name, written=side is dst)
            sides.append(([(span.address, span.nbytes)], span.keep))
    (target, to_keep), (source, from_keep) = sides
    if nbytes is None:
        accessor = src if isinstance(src, Accessor) else dst
        assert isinstance(accessor, Accessor)
        size = accessor.nbytes
    else:
        size = _count(nbytes, "nbytes")
    for pieces, name in ((target, "dst"), (source, "src")):
        room = pieces[0][1] if len(pieces) == 1 else sum(piece[1] for piece in pieces)
        if size > room:
            raise InvalidError(f"{size} bytes leave the {name}, which has {room}")
    if not size:
        return None
    backend, native = queue._backend, queue._native
    if len(target) == len(source) == 1:
        return ByteCopy(backend, native, target[0][0], source[0][0], size), (to_keep, from_keep)
    commands = [ByteCopy(backend, native, *step) for step in copied(target, source, size)]
    return chained(queue, commands), (to_keep, from_keep)


def plan_copy(queue: QueueBase, src: object, dst: object, count: int | None) -> Command | None:
    """A copy of ``count`` elements of the typed side; None copies all of them."""
    if isinstance(src, Accessor) or isinstance(dst, Accessor):
        itemsize = next(side for side in (src, dst) if isinstance(side, Accessor)).dtype.itemsize
        return _plan_accessors(queue, dst, src, None if count is None else _count(count, "count") * itemsize)
    array = next((side for side in (src, dst) if isinstance(side, (UsmArray, np.ndarray))), None)
    if count is None:
        return plan_memcpy(queue, dst, src, None if array is None else array.nbytes)
    itemsize = 1 if array is None else array.dtype.itemsize
    return plan_memcpy(queue, dst, src, _count(count, "count") * itemsize)


def plan_memset(queue: QueueBase, pointer: object, value: int, nbytes: int | None) -> Command | None:
    """Sets bytes to one value, 0 to 255."""
    byte = _count(value, "value")
    if byte > 255:
        raise InvalidError(f"value={shown(byte)}: memset writes one byte, 0 to 255; fill writes larger patterns")
    if isinstance(pointer, Accessor):
        size = pointer.nbytes if nbytes is None else _count(nbytes, "nbytes")
        return _fill_accessor(queue, pointer, bytes([byte]), size)
    target = _device_span(queue, pointer, "pointer")
    size = target.nbytes if nbytes is None else _count(nbytes, "nbytes")
    _require_room(target, size, "memory")
    if not size:
        return None
    return _fill(queue, target, bytes([byte]), size)


def plan_fill(queue: QueueBase, pointer: object, pattern: object, count: int | None) -> Command | None:
    """Writes ``count`` copies of a pattern; None fills the memory."""
    if isinstance(pointer, Accessor):
        data = _pattern(pattern, None if isinstance(pattern, (bytes, bytearray)) else pointer.dtype)
        return _fill_accessor(queue, pointer, data, pointer.size if count is None else _count(count, "count"))
    target = _device_span(queue, pointer, "pointer")
    data = _pattern(pattern, target.dtype)
    number = target.nbytes // len(data) if count is None else _count(count, "count")
    _require_room(target, number * len(data), "memory")
    if not number:
        return None
    return _fill(queue, target, data, number)


def plan_prefetch(queue: QueueBase, pointer: object, nbytes: int | None) -> Command | None:
    """Moves memory to the device; None means all of it."""
    target, size = _part(queue, pointer, nbytes)
    if not size:
        return None
    backend, native, address = queue._backend, queue._native, target.address
    return (lambda waits: backend.prefetch(native, address, size, waits)), (target.keep,)


def plan_advise(queue: QueueBase, pointer: object, nbytes: int | None, advice: int) -> Command | None:
    """Tells how memory will be used."""
    number = _count(advice, "advice")
    target, size = _part(queue, pointer, nbytes)
    if not size:
        return None
    backend, native, address = queue._backend, queue._native, target.address
    return (lambda waits: backend.advise(native, address, size, number, waits)), (target.keep,)


def _part(queue: QueueBase, pointer: object, nbytes: int | None) -> tuple[_Span, int]:
    """Memory of the device and how many of its bytes a command is about."""
    target = _device_span(queue, pointer, "pointer", written=False)
    size = target.nbytes if nbytes is None else _count(nbytes, "nbytes")
    _require_room(target, size, "memory")
    return target, size


def _device_span(queue: QueueBase, pointer: object, name: str, *, written: bool = True) -> _Span:
    memory = foreign_array(pointer, queue)
    if not isinstance(memory, (UsmPointer, UsmArray)):
        raise InvalidError(f"{name}: a {type(pointer).__name__} is no UsmPointer or UsmArray")
    return _span(queue, memory, name, written=written)


def _fill(queue: QueueBase, target: _Span, data: bytes, count: int) -> Command:
    owner = target.keep._owner  # type: ignore[attr-defined]
    if queue.context._unreached and (reason := memory_out_of_reach(owner, queue)):
        raise InvalidError(f"{target.keep!r} is not filled from here: {reason}, or fill it by a queue of its own")
    operation, tiled = _filling(queue, target.address, data, count)
    return operation, (target.keep,) if tiled is None else (target.keep, tiled)


def _filling(queue: QueueBase, to: int, data: bytes, count: int) -> tuple[Operation, object]:
    """Writes copies of a pattern; of a size that drivers do not know it is copied, and has to be kept."""
    backend, native = queue._backend, queue._native
    if len(data) in _PATTERN_SIZES:
        return (lambda waits: backend.fill(native, to, data, count, waits)), None
    tiled = np.frombuffer(data * count, np.uint8)
    return (lambda waits: backend.copy(native, to, tiled.__array_interface__["data"][0], tiled.nbytes, waits)), tiled


def _fill_accessor(queue: QueueBase, accessor: Accessor, data: bytes, count: int) -> Command | None:
    pieces, keep = pieces_of(accessor, "pointer", written=True)
    parts = cut(pieces, len(data) * count, "accessor")
    if not parts:
        return None
    if len(parts) > 1 and any(size % len(data) for _, size in parts):
        raise InvalidError(
            f"pattern of {len(data)} bytes: it does not fit the rows of {parts[0][1]} bytes of a ranged accessor; pass "
            f"one element of {accessor.dtype}"
        )
    fillings = [_filling(queue, to, data, size // len(data)) for to, size in parts]
    return chained(queue, [operation for operation, _ in fillings]), (keep, *(tiled for _, tiled in fillings))


def _pattern(pattern: object, dtype: DType | None) -> bytes:
    if isinstance(pattern, (bytes, bytearray)):
        if not pattern:
            raise InvalidError("pattern=b'': it has at least one byte")
        return bytes(pattern)
    if isinstance(pattern, np.generic) or (isinstance(pattern, np.ndarray) and pattern.ndim == 0):
        if pattern.dtype.hasobject or not pattern.nbytes:
            raise InvalidError(f"pattern={shown(pattern)} is no plain memory")
        if dtype is not None and pattern.dtype != dtype:
            raise InvalidError(f"pattern={shown(pattern)} is {pattern.dtype}, the array {dtype}: convert with .astype")
        return pattern.tobytes()
    if isinstance(pattern, (bool, int, float, complex)):
        if dtype is None:
            raise InvalidError(
                f"pattern={shown(pattern)} does not say its size: pass a numpy scalar such as numpy.float32(1), "
                "or fill a UsmArray"
            )
        try:
            if isinstance(pattern, int) and dtype.kind in "iu":
                if _fits(pattern, dtype):
                    return np.array(pattern, dtype).tobytes()
            else:
                return np.array(pattern).astype(dtype, casting="same_kind").tobytes()
        except (TypeError, OverflowError, ValueError):
            pass
        raise InvalidError(f"pattern={shown(pattern)} does not go into {dtype} elements")
    raise InvalidError(f"pattern={shown(pattern)}: it is a number, a numpy scalar or bytes")


def _fits(pattern: int, dtype: DType) -> bool:
    """Whether an integer lies in the range of an integer dtype."""
    limits = np.iinfo(dtype)
    return int(limits.min) <= pattern <= int(limits.max)
