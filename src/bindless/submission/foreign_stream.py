"""Streams of the driver that other libraries made, given by the ``__cuda_stream__`` protocol."""

from __future__ import annotations

import operator
import weakref
from collections.abc import Iterable
from typing import TYPE_CHECKING

from ..backends.contract import NativeEvent
from ..model.errors import InvalidError
from ..model.message_values import shown
from .event import Event

if TYPE_CHECKING:
    from .owners import StreamContext, StreamDevice

__all__ = [
    "STREAM_PROTOCOL",
    "Arrival",
    "has_exchange_functions",
    "order_stream_after",
    "place_stream_after",
    "stream_handle",
]

STREAM_PROTOCOL = 0
"""Version of the ``__cuda_stream__`` protocol."""

_LEGACY_DEFAULT = 1


def stream_handle(stream: object) -> int:
    """The CUstream behind a number, or behind an object with ``__cuda_stream__``, ``cuda_stream`` or ``ptr``.

    The attributes are those of PyTorch's and CuPy's streams, whose 0 is the legacy default stream. The number 1 is the
    legacy default stream, 2 the calling thread's default stream, any other number an address.

    Raises
    ------
    InvalidError
        Neither, or 0, which does not say which of the default streams is meant.
    """
    protocol = getattr(stream, "__cuda_stream__", None)
    if protocol is not None:
        answer = protocol() if callable(protocol) else protocol
        try:
            version, handle = map(operator.index, answer)
        except (TypeError, ValueError):
            raise InvalidError(
                f"stream={shown(stream)}: its __cuda_stream__ gives {shown(answer)}, not (version, handle)"
            ) from None
        if version != STREAM_PROTOCOL or handle < 0:
            raise InvalidError(
                f"stream={shown(stream)}: its __cuda_stream__ gives {shown(answer)}; version {STREAM_PROTOCOL} is known"
            )
        return handle or _LEGACY_DEFAULT  # the driver's own name of it
    for name in ("cuda_stream", "ptr"):
        number = getattr(stream, name, None)
        if type(number) is int and number >= 0:
            return number or _LEGACY_DEFAULT
    if isinstance(stream, bool):
        raise InvalidError(f"stream={shown(stream)}: it is a number or an object with __cuda_stream__")
    try:
        number = operator.index(stream)  # type: ignore[arg-type]
    except TypeError:
        raise InvalidError(
            f"stream={shown(stream)}: a {type(stream).__name__} has no __cuda_stream__, cuda_stream or ptr; pass the "
            "address of the CUstream"
        ) from None
    if number < 1:
        raise InvalidError(
            f"stream={number}: it is 1 for the legacy default stream, 2 for the thread's default stream, or the "
            "address of a CUstream; 0 does not say which default stream is meant"
        )
    return number


def has_exchange_functions(value: object) -> bool:
    """Whether C code may read an array by its library's exchange functions (DLPack 1.3)."""
    return hasattr(type(value), "__dlpack_c_exchange_api__")


class Arrival:
    """Says of a command that memory is another library's until then, so that whoever uses it comes later.

    It does not keep the memory.
    """

    __slots__ = ("_memory",)

    def __init__(self, memory: object) -> None:
        self._memory = weakref.ref(memory)

    @property
    def _owner(self) -> object:
        return self._memory()


def order_stream_after(stream: object, events: Event | Iterable[Event]) -> None:
    """Orders everything submitted to a stream of another library from now on after events of this package.

    Nobody waits here for commands of the CUDA backend: the device does. What the stream cannot wait for, such as a host
    task or a command of another backend, is waited for here.

    Parameters
    ----------
    stream : object
        An object with ``__cuda_stream__``, or the address of a CUstream; 1 and 2 are the default streams, of the
        device of each event.
    events : Event | Iterable[Event]
        An event or several.

    Raises
    ------
    InvalidError
        No stream, or not events.
    """
    handle = stream_handle(stream)
    sequence = (events,) if isinstance(events, Event) else tuple(events)
    for event in sequence:
        if not isinstance(event, Event):
            raise InvalidError(f"events contains {shown(event)}: it takes an Event or several")
        for part in event._parts or (event,):
            stream_of_event = part._stream
            if stream_of_event is not None and stream_of_event.backend.traits.orders_streams:
                place_stream_after(stream_of_event.context, stream_of_event.device, handle, (part,))
            else:
                part.wait()


def place_stream_after(context: StreamContext, device: StreamDevice, handle: int, events: Iterable[Event]) -> None:
    """Makes a native stream wait for events of the same backend, and the host for those of host tasks."""
    natives: list[NativeEvent] = []
    for event in events:
        for part in event._parts or (event,):
            part._check_process()
            if part._native is not None:
                natives.append(part._native)
            else:
                part._settle()
    if natives:
        context._backend.make_stream_wait(context._native, device._record.native, handle, natives)
