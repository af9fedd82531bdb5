"""Contexts: the devices that share memory, and the objects created in them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ...core.lock import Lock
from ...drivers import level_zero as driver
from ...drivers.common.cffi_types import CData
from ...kernels.load import Library
from ...model.enums import Errc, UsmKind
from ...model.errors import InvalidError
from ..common.context import member, require_devices, require_one_owner
from .device import Device
from .driver import Driver
from .errors import check, release
from .event_pool import EventPool
from .fork_guard import in_fork, refuse_in_fork

if TYPE_CHECKING:
    from .image_objects import ImageStorage, View
    from .kernel import Kernel

__all__ = ["Allocation", "Context", "NativeContext"]

lib, ffi = driver.lib, driver.ffi


@dataclass(frozen=True)
class Allocation:
    """One allocation of unified memory.

    Attributes
    ----------
    kind
        device, host or shared.
    device
        device of the allocation; None for host memory.
    base
        address from the driver.
    size
        requested bytes.
    """

    kind: UsmKind
    device: Device | None
    base: int
    size: int


class NativeContext:
    """A ze_context_handle_t and the state that its users share: event pools, and loaded built-in kernels.

    Attributes
    ----------
    driver
        driver of the context.
    handle
        ze_context_handle_t.
    owned
        whether its last user destroys it.
    pools
        event pools without and with timestamps.
    library
        built-in kernels.
    """

    def __init__(self, owner: Driver, handle: CData, owned: bool) -> None:
        self.driver = owner
        self.handle = handle
        self.owned = owned
        self.pools = EventPool(handle, timed=False), EventPool(handle, timed=True)
        self.library: Library[Kernel] = Library("spirv", "level_zero")
        self._users = 0

    @staticmethod
    def of(owner: Driver) -> NativeContext:
        """The driver's default context, which other libraries of the process share; a new one if the driver has no
        default.
        """
        refuse_in_fork()
        with _lock:
            context = _defaults.get(owner)
            if context is None:
                handle = _default_of(owner)
                if handle == ffi.NULL:
                    context = NativeContext(owner, _create(owner), True)
                else:
                    context = _defaults[owner] = NativeContext(owner, handle, False)
            context._users += 1
            return context

    @staticmethod
    def adopt(owner: Driver, handle: CData, owned: bool) -> NativeContext:
        """Adopt a context of another owner, with one use.

        Raises
        ------
        InvalidError
            the handle is not a context, or ownership of the driver's default context is requested.
        """
        refuse_in_fork()
        check(lib.zeContextGetStatus(handle), "zeContextGetStatus", "the handle is no context", Errc.invalid)
        if owned and is_default(owner, handle):
            raise InvalidError(
                "ownership='transfer' of the driver's default context: the driver owns it; give ownership='keep'",
                backend="level_zero",
            )
        context = NativeContext(owner, handle, owned)
        context._users = 1
        return context

    def leave(self) -> None:
        """End one use; the last use destroys the objects of the context."""
        with _lock:
            self._users -= 1
            if self._users or in_fork():
                return
            if _defaults.get(self.driver) is self:
                del _defaults[self.driver]
        for kernel in self.library.drain():
            kernel.module.close()
        for pool in self.pools:
            pool.close()
        if self.owned:
            release(lib.zeContextDestroy(self.handle), "zeContextDestroy")


_lock = Lock()  # A garbage collection while the lock is held may close another context.
_defaults: dict[Driver, NativeContext] = {}


def _default_of(owner: Driver) -> CData:
    return lib.zeDriverGetDefaultContext(owner.handle) if driver.has("zeDriverGetDefaultContext") else ffi.NULL


def is_default(owner: Driver, handle: CData) -> bool:
    """Whether it is the driver's default context, which all libraries of the process share."""
    return bool(handle == _default_of(owner))


def _create(owner: Driver) -> CData:
    slot = ffi.new("ze_context_handle_t *")
    check(lib.zeContextCreate(owner.handle, driver.make_struct("ze_context_desc_t"), slot), "zeContextCreate")
    return slot[0]


class Context:
    """Some devices of one driver, with a record of the objects created for them.

    Attributes
    ----------
    devices
        as given.
    native
        the driver's context.
    allocations
        by address.
    images
        image memory by raw handle.
    sampled, unsampled
        images by handle.
    """

    def __init__(self, devices: Sequence[Device], native: NativeContext | None = None) -> None:
        """Take the driver's default context, or a ``native`` one together with its use."""
        require_devices(devices, "level_zero")
        self.devices = tuple(devices)
        require_one_owner(devices, lambda device: device.driver, "driver", "level_zero")
        self.native = NativeContext.of(devices[0].driver) if native is None else native
        self.allocations: dict[int, Allocation] = {}
        self.images: dict[int, ImageStorage] = {}
        self.sampled: dict[int, View] = {}
        self.unsampled: dict[int, View] = {}
        self._open = True

    @property
    def handle(self) -> CData:
        """ze_context_handle_t."""
        return self.native.handle

    @property
    def driver(self) -> Driver:
        return self.native.driver

    def device(self, device: Device | None) -> Device:
        """One of the devices; the first if None."""
        return member(self.devices, device, "level_zero")

    def close(self) -> None:
        """End the use of the driver's context; no further objects are created in it."""
        if self._open:
            self._open = False
            self.native.leave()
