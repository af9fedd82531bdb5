"""Device, context, queue and event of the reference back end: driver handles and their properties."""

from __future__ import annotations

from collections.abc import Sequence

from ...core._submission import Lane, Mark
from ...drivers import reference as driver
from ...drivers.common.cffi_types import CData
from ...model.errors import InvalidError

__all__ = ["Context", "Device", "Event", "Queue", "address_of", "require_one_device"]

lib, ffi = driver.lib, driver.ffi

_number = lib.bindless_event_number


def address_of(of: CData) -> int:
    """The address of a C object."""
    return int(ffi.cast("uintptr_t", of))


_QUERY, _RELEASE, _WAIT = (
    address_of(ffi.addressof(lib, name))
    for name in ("bindless_event_query", "bindless_event_release", "bindless_queue_wait")
)


class Device:
    """A device and its blr_device_properties_t."""

    __slots__ = ("handle", "index", "properties")

    def __init__(self, handle: CData, index: int, properties: CData) -> None:
        self.handle, self.index, self.properties = handle, index, properties


class Context:
    """A context of one device; a context that is not ``owned`` is never destroyed here."""

    __slots__ = ("device", "handle", "owned")

    def __init__(self, handle: CData, device: Device, owned: bool = True) -> None:
        self.handle, self.device, self.owned = handle, device, owned


def require_one_device(devices: Sequence[object]) -> None:
    """Raises ``InvalidError`` for the devices of a context if they are not one."""
    if len(devices) != 1:
        raise InvalidError(f"a context of the reference driver has one device, not {len(devices)}", backend="reference")


class Queue(Lane):
    """A queue; a queue that is not ``owned`` is never destroyed here.

    Attributes
    ----------
    ends
        bindless_ends_t of the repeated commands.
    """

    __slots__ = ("context", "ends", "handle", "owned", "profiling")

    def __init__(self, handle: CData, context: Context, profiling: bool, owned: bool = True) -> None:
        self.handle, self.context, self.profiling, self.owned = handle, context, profiling, owned
        self.ends = ffi.new("bindless_ends_t *")
        self.waits = address_of(self.ends)
        self.last_event = address_of(ffi.addressof(self.ends, "event"))
        self.query, self.let_go = _QUERY, _RELEASE
        self.wait_for, self.driver_stream = _WAIT, address_of(handle)

    @property
    def streams(self) -> tuple[Queue]:
        """Its lanes: see the contract."""
        return (self,)


class Event(Mark):
    """A reference to an event, released with this object; the number 0 means released.

    Attributes
    ----------
    native
        its blr_event_t, if Python created it.
    profiling
        whether it has timestamps.
    """

    __slots__ = ("profiling",)

    profiling: bool

    def __init__(self, handle: CData, profiling: bool) -> None:
        """Take over a reference."""
        self.native, self.number, self.let_go = handle, _number(handle), _RELEASE
        if profiling:
            self.profiling = True

    def __getattr__(self, name: str) -> bool:
        if name == "profiling":
            return False
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    @property
    def handle(self) -> CData:
        """blr_event_t."""
        return self.native or ffi.cast("blr_event_t", self.number)

    def release(self) -> None:
        """Release the reference early."""
        number, self.number, self.native = self.number, 0, None
        if number:
            lib.blrEventRelease(ffi.cast("blr_event_t", number))
