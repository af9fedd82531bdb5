"""Event pools: events that a program signals, resets and waits for itself (L0, "Events"), also in two processes."""

from __future__ import annotations

from collections.abc import Callable

from ..backends.contract import require_group
from ..backends.contract.low_level import EventPoolProtocol
from ..backends.contract.native_objects import NativeEvent, NativePool
from ..core import ownership
from ..model.enums import Backend
from ..model.errors import BackendMismatchError, InvalidError
from ..model.message_values import shown
from ..model.single_owner import SingleOwner
from ..submission.event import Event
from ..sycl.device.context import Context
from ..sycl.device.device_context import resolve
from ..sycl.queue.queue import Events, Queue
from .capability import nanoseconds, require_queue

__all__ = ["EventPool", "IpcEventPoolHandle", "PoolEvent"]

_WHAT = "event pools"


def _calls_of(context: Context) -> EventPoolProtocol:
    return require_group(context._backend.event_pools, _WHAT, context.backend)


class IpcEventPoolHandle:
    """Handle of an event pool for other processes. It can be pickled and sent.

    Attributes
    ----------
    backend : Backend | str
        Whose driver opens it.
    data : bytes
        The driver's handle.
    count : int
        Events of the pool.
    """

    __slots__ = ("backend", "count", "data")

    def __init__(self, backend: Backend | str, data: bytes, count: int) -> None:
        self.backend = Backend(backend)
        self.data = data
        self.count = count

    def __reduce__(self) -> tuple[object, ...]:
        return IpcEventPoolHandle, (str(self.backend), self.data, self.count)

    def __repr__(self) -> str:
        return f"<IpcEventPoolHandle {self.backend} of {self.count} events>"


class EventPool(SingleOwner):
    """A pool of ``count`` events, at first not signalled: ``pool[0]`` to ``pool[count - 1]``.

    Parameters
    ----------
    count : int
        Events, at least 1.
    where : object
        A queue, or a device and a context: the pool is of the context.
    shared : bool, default False
        Whether other processes may open it.

    Raises
    ------
    InvalidError
        ``count`` or ``where`` is none.
    FeatureNotSupportedError
        The driver has no event pools.
    """

    __slots__ = ("__weakref__", "_native", "_resource", "context", "count")

    def __init__(self, count: int, *where: object, shared: bool = False) -> None:
        if isinstance(count, bool) or not isinstance(count, int) or not 1 <= count < 2**32:
            raise InvalidError(f"count={shown(count)}: a pool has 1 to 2**32 - 1 events")
        _, context = resolve(where)
        create = _calls_of(context).create_event_pool
        self._own(context, count, create(context._native, count, shared=bool(shared), timed=False))

    def _own(self, context: Context, count: int, native: NativePool) -> None:
        self.context = context
        self.count = count
        self._native = native
        close = _calls_of(context).close_event_pool
        self._resource: ownership.Resource | None = ownership.Resource(
            ownership.Rank.EVENT, context._resource, close, native
        )

    @classmethod
    def open(cls, handle: IpcEventPoolHandle, *where: object) -> EventPool:
        """A pool of another process.

        Parameters
        ----------
        handle : IpcEventPoolHandle
            As received.
        where : object
            A queue, or a device and a context.

        Returns
        -------
        EventPool
            The pool, which shares the events of the other process.

        Raises
        ------
        InvalidError
            No handle, or one that the driver does not know; not every driver reports a destroyed pool.
        BackendMismatchError
            A handle of another backend.
        """
        if not isinstance(handle, IpcEventPoolHandle):
            raise InvalidError(f"handle={shown(handle)} is no IpcEventPoolHandle")
        device, context = resolve(where)
        if context.backend is not handle.backend:
            raise BackendMismatchError(f"{handle!r} is opened by {handle.backend}, not on {device!r}")
        pool = cls.__new__(cls)
        native = _calls_of(context).open_event_pool(context._native, handle.data)
        pool._own(context, handle.count, native)
        return pool

    def export(self) -> IpcEventPoolHandle:
        """The handle for other processes; close the pool here after all of them.

        Returns
        -------
        IpcEventPoolHandle
            The handle, to be sent to another process.

        Raises
        ------
        InvalidError
            It was made without ``shared=True``, is another process's, or was closed.
        """
        self._require_open()
        data = _calls_of(self.context).export_event_pool(self._native)
        return IpcEventPoolHandle(self.context.backend, data, self.count)

    def __len__(self) -> int:
        return self.count

    def __getitem__(self, index: int) -> PoolEvent:
        if isinstance(index, bool) or not isinstance(index, int):
            raise InvalidError(f"index={shown(index)}: it is an int")
        if not 0 <= index < self.count:
            raise IndexError(f"index {index}: the pool has events 0 to {self.count - 1}")
        self._require_open()
        return PoolEvent(self, index)

    def close(self) -> None:
        """Ends the use of it and its events; a second call does nothing. They are destroyed after the commands of this
        process that use them, which are not waited for: one may wait for an event that nobody signals."""
        shares = [self._resource]
        if shares[0] is not None:
            self._resource = None
            error = ownership.let_go(shares, 0)
            if error is not None:
                raise error

    def _require_open(self) -> None:
        if self._resource is None:
            raise InvalidError("this event pool was closed: make a new one")

    def __enter__(self) -> EventPool:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class PoolEvent(SingleOwner):
    """One event of a pool, which it keeps alive.

    Attributes
    ----------
    pool : EventPool
        Where it belongs.
    index : int
        Its place there.
    """

    __slots__ = ("_native", "index", "pool")

    def __init__(self, pool: EventPool, index: int) -> None:
        self.pool = pool
        self.index = index
        self._native = _calls_of(pool.context).pool_event(pool._native, index)

    def _calls(self) -> EventPoolProtocol:
        self.pool._require_open()
        return _calls_of(self.pool.context)

    def signal(self) -> None:
        """Signals it now, from the host."""
        self._calls().signal_event(self._native)

    def reset(self) -> None:
        """Makes it unsignalled now, from the host."""
        self._calls().reset_event(self._native)

    def wait(self, timeout: float | None = None) -> bool:
        """Waits until it is signalled, by whomever. Interruptible.

        Parameters
        ----------
        timeout : float, optional
            Seconds; None for no limit.

        Returns
        -------
        bool
            Whether it is signalled.
        """
        limit = nanoseconds(timeout)
        return bool(self._calls().wait_pool_event(self._native, limit))

    @property
    def is_signalled(self) -> bool:
        """Whether it is signalled now."""
        return self.wait(0)

    def _enqueue(self, queue: Queue, call: Callable[..., NativeEvent], depends_on: Events | Event) -> Event:
        native = self._native
        if require_queue(queue).context is not self.pool.context:
            raise InvalidError(f"{queue!r} is of another context than the event's pool")
        target = queue._native
        return queue._enqueue(lambda waits: call(target, native, waits), depends_on, (self.pool._resource,))

    def signal_on(self, queue: Queue, *, depends_on: Events | Event = ()) -> Event:
        """Has a queue signal it, of an in-order queue after the commands before.

        Parameters
        ----------
        queue : Queue
            The queue that executes the command.
        depends_on : Events | Event, default ()
            Events to wait for first.

        Returns
        -------
        Event
            Complete when the command is.

        Raises
        ------
        InvalidError
            A queue of another context.
        """
        return self._enqueue(queue, self._calls().enqueue_signal, depends_on)

    def reset_on(self, queue: Queue, *, depends_on: Events | Event = ()) -> Event:
        """Has a queue reset it; see ``signal_on``.

        Parameters
        ----------
        queue : Queue
            The queue that executes the command.
        depends_on : Events | Event, default ()
            Events to wait for first.

        Returns
        -------
        Event
            Complete when the command is.
        """
        return self._enqueue(queue, self._calls().enqueue_reset, depends_on)

    def wait_on(self, queue: Queue, *, depends_on: Events | Event = ()) -> Event:
        """Has a queue wait for it: the event returned completes when it is signalled, and later commands of an
        in-order queue come after.

        Parameters
        ----------
        queue : Queue
            The queue that executes the command.
        depends_on : Events | Event, default ()
            Events to wait for first.

        Returns
        -------
        Event
            Complete when the command is.
        """
        return self._enqueue(queue, self._calls().enqueue_wait, depends_on)
