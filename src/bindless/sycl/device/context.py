"""``Context``: devices of one platform and the memory that they share (SYCL 2020 section 4.6.3)."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterable, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any

from ...backends.contract import BackendProtocol, NativeContext, NativeDevice
from ...backends.registry import require_unforked
from ...core import ownership
from ...core.lock import Lock
from ...core.ownership import ENDED, FORKED
from ...kernels.load import Library
from ...model import info
from ...model.enums import Backend, coerce
from ...model.errors import Error, InvalidError, SyclRuntimeError
from ...model.message_values import shown
from ...model.single_owner import SingleOwner
from ...submission.async_errors import ErrorLog, Unclaimed
from ...submission.command_stream import AsyncHandler, CommandStream
from ...submission.handle_table import Table
from .device import Device

if TYPE_CHECKING:
    from .platform import Platform
    from .queue_base import QueueBase

__all__ = ["Context", "contexts", "default_context"]


class Context(SingleOwner):
    """Devices of one platform, for which queues and memory are created.

    Closing it closes its queues, whose work goes on. Memory made in it stays valid until it is itself released; the
    driver's own context ends with the last of it.

    Parameters
    ----------
    devices : Device | Iterable[Device] | str, optional
        One device or several of the same platform; None is the default device.
    async_handler : AsyncHandler, optional
        Takes the asynchronous errors of queues that have no handler of their own.

    Raises
    ------
    InvalidError
        No device, not devices, or devices of different platforms.

    Notes
    -----
    SYCL 2020, 4.6.3, "Context class".

    Examples
    --------
    >>> context = bindless.Context(bindless.Device("reference"))
    >>> len(context.get_devices())
    1
    """

    _instead = "share the context; another process makes its own"

    def __init__(
        self,
        devices: Device | Iterable[Device] | str | None = None,
        *,
        async_handler: AsyncHandler | None = None,
        _adopt: Callable[[Sequence[NativeDevice]], NativeContext] | None = None,
    ) -> None:
        if devices is None or isinstance(devices, str):
            devices = Device(devices)
        try:
            members = (devices,) if isinstance(devices, Device) else tuple(devices)
        except TypeError:
            raise InvalidError(f"devices={shown(devices)}: it takes a Device or several") from None
        if not members:
            raise InvalidError("devices=(): a context has at least one device")
        for device in members:
            if not isinstance(device, Device):
                raise InvalidError(f"devices contains {device!r}: it takes Device objects")
            if device.platform != members[0].platform:
                raise InvalidError(
                    f"{members[0]!r} and {device!r} are of different platforms: a context spans one platform"
                )
        if async_handler is not None and not callable(async_handler):
            raise InvalidError(f"async_handler={shown(async_handler)} cannot be called")
        require_unforked(members[0].backend)
        self.devices: tuple[Device, ...] = tuple(dict.fromkeys(members))
        self.async_handler = async_handler
        self._backend: BackendProtocol = members[0]._backend
        self._lock = Lock()
        # Registries of the layers above: what lives in this context, by raw handle.
        self._images: dict[int, Any] = {}
        self._handles: dict[int, Any] = {}
        self._library: Library[object] = Library(self._backend.traits.build_target)
        # Variants of kernels in Python, by the kernels' tokens.
        self._kernels: dict[Any, Any] = {}
        # Arrays that small images are uploaded from, by the identity of their descriptors.
        self._uploads: dict[int, Any] = {}
        self._transfer: dict[Device, QueueBase] = {}
        # Where buffers keep their contents here.
        self._homes: dict[Device, object] = {}
        self._streams: weakref.WeakSet[CommandStream] = weakref.WeakSet()
        # Errors of queues that were dropped before anyone asked for them.
        self._unclaimed = Unclaimed(async_handler)
        self._reason: str | None = None
        make = self._backend.create_context if _adopt is None else _adopt
        self._native_context: NativeContext = make([device._record.native for device in self.devices])
        self._resource = ownership.Resource(
            ownership.Rank.CONTEXT, None, self._backend.release_context, self._native_context
        )
        # Pairs of devices of which the first does not reach memory of the second.
        self._unreached = _unreached(self._backend, self._native_context, self.devices)
        rest = self._backend, self._native_context
        self._tables = (
            Table(ownership.Rank.IMAGE_HANDLE, self._resource, self._handles, *rest),
            Table(ownership.Rank.IMAGE_MEMORY, self._resource, self._images, *rest),
        )
        _contexts.add(self)

    @property
    def _native(self) -> NativeContext:
        """The backend's context; raises if this one has ended."""
        if self._reason is not None:
            raise self._unusable()
        return self._native_context

    def _unusable(self) -> Error:
        what = f"the context on {', '.join(device._label for device in self.devices)} {self._reason}"
        return SyclRuntimeError(what) if self._reason is FORKED else InvalidError(f"{what}: make a new Context")

    @property
    def platform(self) -> Platform:
        """The platform of the devices (``info::context::platform``)."""
        return self.devices[0].platform

    @property
    def backend(self) -> Backend:
        """The backend of the devices."""
        return self._backend.backend

    @property
    def closed(self) -> bool:
        """Whether the context was closed."""
        return self._reason is not None

    def get_devices(self) -> tuple[Device, ...]:
        """The devices of the context (``info::context::devices``).

        Returns
        -------
        tuple[Device, ...]
            The devices, in the order given to the constructor.
        """
        return self.devices

    def get_info(self, descriptor: info.context | str) -> Any:
        """The answer to a member of ``info.context``.

        Parameters
        ----------
        descriptor : info.context | str
            A member of the ``info`` enumeration of this class, or its name.

        Returns
        -------
        Any
            The value.

        Raises
        ------
        InvalidError
            There is no such descriptor.
        """
        name = str(coerce(info.context, descriptor, "descriptor"))
        if hasattr(self, name):
            return getattr(self, name)
        first, *others = (device.get_info(name) for device in self.devices)
        return tuple(value for value in first if all(value in other for other in others))

    def close(self) -> None:
        """Closes its queues; a second call does nothing. As the destructor of ``sycl::context`` it does not wait.

        Work submitted before goes on, and memory stays until it is released itself. Leaving a ``with`` block is the
        same.

        Raises
        ------
        Error
            The asynchronous errors of its queues found so far, as ``Queue.close`` does; the first of them.
        """
        with self._lock:
            if self._reason is not None:
                return
            self._reason = "was closed"
        first: Error | None = None
        for stream in ownership.snapshot(self._streams):
            try:
                stream.close()
                stream.log.report()  # of a queue that was closed before: what was found since
            except Error as error:
                first = first or error
        try:
            ErrorLog(self, None).report()  # what queues left that are gone
        except Error as error:
            first = first or error
        self._transfer.clear()
        self._uploads.clear()
        if first is not None:
            raise first

    def __enter__(self) -> Context:
        self._native  # noqa: B018  raises if it has ended
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        state = "" if self._reason is None else f" ({self._reason})"
        return f"<Context of {', '.join(device._label for device in self.devices)}{state}>"


def _unreached(
    backend: BackendProtocol, native: NativeContext, devices: Sequence[Device]
) -> frozenset[tuple[Device, Device]]:
    """Pairs of devices of a native context of which the first does not reach device memory of the second."""
    reach = backend.reach
    if len(devices) == 1 or reach is None:
        return frozenset()
    return frozenset(
        (device, other)
        for device in devices
        for other in devices
        if device is not other and not reach.reaches_memory(native, device._record.native, other._record.native)
    )


_contexts: weakref.WeakSet[Context] = weakref.WeakSet()
_defaults: dict[Device, Context] = {}
_defaults_lock = Lock()


def default_context(device: Device) -> Context:
    """The context that queues on a device share when none is given; made on first use."""
    context = _defaults.get(device)
    if context is None or context.closed:
        with _defaults_lock:
            context = _defaults.get(device)
            if context is None or context.closed:
                context = _defaults[device] = Context(device)
    return context


def contexts() -> list[Context]:
    """The contexts that exist."""
    return ownership.snapshot(_contexts)


def _finish() -> None:
    for context in ownership.snapshot(_contexts):
        context._reason = context._reason or ENDED
    _defaults.clear()


def _after_fork() -> None:
    global _defaults_lock
    _defaults_lock = Lock()
    for context in ownership.snapshot(_contexts):
        context._lock = Lock()
        context._reason = FORKED
    _defaults.clear()


ownership.at_exit(_finish)
ownership.after_fork(_after_fork)
