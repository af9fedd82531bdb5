"""Queues and native streams: a queue as a CUDA stream, and a queue ordered after streams of other libraries."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from ...backends.contract import AdoptedQueue
from ...core._submission import Openable, stream_of_foreign
from ...model.errors import FeatureNotSupportedError, InvalidError
from ...model.native_handle import NativeHandle
from ...submission.event import Event
from ...submission.foreign_stream import (
    STREAM_PROTOCOL,
    Arrival,
    place_stream_after,
    stream_handle,
)
from .context import Context, default_context
from .device import Device, Selector
from .queue_base import QueueBase

__all__ = ["adopt_stream", "cuda_stream_of", "order_after_stream", "order_libraries_after", "place_queue_after"]


def cuda_stream_of(queue: QueueBase) -> Callable[[], tuple[int, int]]:
    """``queue.__cuda_stream__``; see there."""
    if not queue._backend.traits.orders_streams:
        raise AttributeError(f"a queue of the {queue.backend} backend is no CUDA stream")

    def __cuda_stream__() -> tuple[int, int]:
        if not queue.is_in_order:
            raise InvalidError(
                f"{queue!r} has several streams, between which only events make order: make it with Queue(..., "
                "in_order=True), or order a stream of your own with order_after_stream and order_stream_after"
            )
        return STREAM_PROTOCOL, queue._backend.native_handle(queue._lend())

    return __cuda_stream__


def order_after_stream(queue: QueueBase, stream: object) -> Event:
    """Orders everything submitted to a queue from now on after what a stream of another library holds now.

    Nobody waits here: the device does.

    Parameters
    ----------
    queue : QueueBase
        Of the CUDA backend, in order or out of order.
    stream : object
        An object with ``__cuda_stream__``, or the address of a CUstream; 1 and 2 are the default streams, of the
        queue's device.

    Returns
    -------
    Event
        An event that completes when the stream has got so far.

    Raises
    ------
    InvalidError
        No stream, or the queue was closed.
    FeatureNotSupportedError
        The queue's backend knows no streams.
    """
    queue._native  # noqa: B018  raises if it has ended
    backend = queue._backend
    if not backend.traits.orders_streams:
        raise FeatureNotSupportedError(
            f"a queue of the {backend.backend} backend cannot wait for a CUDA stream: synchronize the stream "
            "on the host",
            backend=str(backend.backend),
        )
    return place_queue_after(queue, stream_handle(stream))


def place_queue_after(queue: QueueBase, handle: int, *arrivals: Arrival) -> Event:
    """Makes a queue wait for what a native stream of its backend holds now."""
    backend, native = queue._backend, queue._native
    return queue._stream.submit(lambda _: backend.wait_for_stream(native, handle), (), arrivals, not queue.is_in_order)


def adopt_stream(stream: object, device: Selector) -> tuple[Device, Context, AdoptedQueue]:
    """Make a native queue of another library's stream; see ``Queue.from_stream``."""
    handle = stream_handle(stream)
    if device is None:
        index = getattr(stream, "device_index", getattr(stream, "device_id", None))
        device = f"cuda:*:{index}" if type(index) is int and index >= 0 else "cuda"
    chosen = device if isinstance(device, Device) else Device(device)
    context = default_context(chosen)
    backend = context._backend
    if not backend.traits.orders_streams or backend.interop is None:
        raise FeatureNotSupportedError(
            f"{chosen!r} has no CUDA streams: give a device of the cuda backend", backend=str(backend.backend)
        )
    native = NativeHandle(handle, "CUstream")
    return chosen, context, backend.interop.adopt_queue(context._native, chosen._record.native, native, False)


def order_libraries_after(queue: QueueBase, values: Iterable[object], event: Event) -> None:
    """Order later work of other libraries after an event, for arrays whose library's current stream C code knows: by
    DLPack's exchange functions, or the stream of the CUDA array interface.

    The arrays of this package have that interface too; it is not read, for it would wait for host tasks. A stream of
    another library cannot wait for a command that the driver does not have yet: where one of its arrays is among the
    values, a command that comes after a host task is waited for until the driver has it.

    Parameters
    ----------
    queue
        queue of the event.
    values
        arguments of the command, arrays of other libraries among them.
    event
        event of the command.
    """
    if not queue._backend.traits.orders_streams:
        return
    foreign = [value for value in values if not isinstance(getattr(value, "_owner", None), Openable)]
    for stream in set(map(stream_of_foreign, foreign)) - {None, 0}:
        assert stream is not None
        place_stream_after(queue.context, queue.device, stream, (event,))
