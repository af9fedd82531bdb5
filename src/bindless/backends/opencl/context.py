"""Contexts: the devices that share memory, and what was made in them."""

from __future__ import annotations

import bisect
import itertools
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ...drivers import opencl as driver
from ...model.enums import UsmKind
from ...model.errors import InvalidError
from .device import Device, Platform
from .errors import made, release
from .fork_guard import in_fork, refuse_in_fork

if TYPE_CHECKING:
    from .external_ownership import Handover
    from .image_memory import ImageStorage, View
    from .kernel import Kernel

__all__ = ["WHOLE", "Allocation", "Context", "new_lock"]

lib, ffi = driver.lib, driver.ffi


def new_lock() -> Any:
    """A bindless_lock_t for what C does."""
    lock = lib.bindless_lock_create()
    if lock == ffi.NULL:
        raise MemoryError("no memory for a lock")
    return ffi.gc(lock, lib.bindless_lock_destroy)


# Key among an allocation's parts of a buffer over all of it, where it is memory.
WHOLE = -1


@dataclass(frozen=True)
class Allocation:
    """One piece of memory behind addresses.

    Attributes:
        kind: device, host or shared.
        device: where it was made; None for host memory.
        base: the address.
        size: bytes asked for.
        buffer: cl_mem where the address is only a number; None where it is memory.
        owned: whether it is freed here.
        parts: sub-buffers of it, by offset; and ``WHOLE``.
        start: where the driver's own allocation begins, if not at the address.
    """

    kind: UsmKind
    device: Device | None
    base: int
    size: int
    buffer: Any = None
    owned: bool = True
    parts: dict[int, Any] = field(default_factory=dict)
    start: int = 0


class Context:
    """A cl_context with a record of what was made in it.

    Attributes:
        devices: as given, of one platform.
        handle: cl_context; None once released.
        owned: whether its reference is given back at the end.
        allocations: by address.
        now: its generation, uint64_t *; see ``change``.
        images: image memory by raw handle.
        sampled, unsampled: images by their handles.
        samplers: cl_sampler by addressing, filtering and coordinates. They stay until the context ends: a driver may
            look at a sampler until the kernel that uses it has run, and there are few.
        functions: built-in kernels by device and name.
        loading: held while one is loaded.
        launching: bindless_lock_t, held while a kernel that lists shared virtual memory is launched, and while such
            memory is allocated or freed; never while Python runs.
        anchor: shared virtual memory that is listed where there is no other; None until then.
        handover: the memory in it that others use too; None as long as there is none.
    """

    def __init__(self, devices: Sequence[Device], native: Any = None, owned: bool = True) -> None:
        """Makes a context, or takes a ``native`` one."""
        if not devices:
            raise InvalidError("devices=(): a context has at least one device", backend="opencl")
        self.devices = tuple(devices)
        if any(device.platform is not devices[0].platform for device in devices):
            names = ", ".join(map(repr, devices))
            raise InvalidError(
                f"the devices of a context have one platform; these have several: {names}", backend="opencl"
            )
        refuse_in_fork()
        self.handle = self._create() if native is None else native
        self.owned = owned
        self.allocations: dict[int, Allocation] = {}
        self.now = ffi.new("uint64_t *")
        self._generations = itertools.count(1)
        self.images: dict[int, ImageStorage] = {}
        self.sampled: dict[int, View] = {}
        self.unsampled: dict[int, View] = {}
        self.samplers: dict[tuple[int, int, int], Any] = {}
        self.functions: dict[tuple[Device, str], Kernel] = {}
        self.loading = threading.RLock()
        self.launching = new_lock()
        self.anchor: Any = None
        self.handover: Handover | None = None
        self._bases: list[int] = []

    @property
    def platform(self) -> Platform:
        return self.devices[0].platform

    def _create(self) -> Any:
        properties = ffi.new(
            "cl_context_properties[]",
            [lib.CL_CONTEXT_PLATFORM, int(ffi.cast("intptr_t", self.platform.handle)), 0],
        )
        handles = ffi.new("cl_device_id[]", [device.handle for device in self.devices])
        names = ", ".join(device.name for device in self.devices)
        return made("clCreateContext", properties, len(handles), handles, ffi.NULL, ffi.NULL, details=f"for {names}")

    def device(self, device: Device | None) -> Device:
        """One of the devices; the first if None."""
        if device is None:
            return self.devices[0]
        if device not in self.devices:
            names = ", ".join(map(repr, self.devices))
            raise InvalidError(f"{device!r} does not belong to this context, which has {names}", backend="opencl")
        return device

    # ------------------------------------------------------------------ memory

    def change(self) -> None:
        """Begins another generation: an address or a handle may mean something else than in the one before."""
        self.now[0] = next(self._generations)

    def add(self, allocation: Allocation) -> None:
        """Notes an allocation."""
        self.allocations[allocation.base] = allocation
        bisect.insort(self._bases, allocation.base)
        self.change()

    def remove(self, address: int) -> Allocation | None:
        """Forgets the allocation that begins at an address, if there is one."""
        found = self.allocations.pop(address, None)
        if found is not None:
            self._bases.remove(address)
            self.change()
        return found

    def allocation_of(self, address: int) -> Allocation | None:
        """The allocation that an address lies in, or None."""
        found = self.allocations.get(address)
        if found is not None:
            return found
        try:
            place = bisect.bisect_right(self._bases, address) - 1
            found = self.allocations[self._bases[place]] if place >= 0 else None
        except (IndexError, KeyError):  # it was freed at this moment
            return None
        return found if found is not None and address < found.base + found.size else None

    # ------------------------------------------------------------------ end

    def close(self) -> None:
        """Gives the driver's context back; nothing more is made in it."""
        native, self.handle = self.handle, None
        if native is None or in_fork():
            return
        for kernel in self.functions.values():
            kernel.module.close()
        self.functions.clear()
        for sampler in self.samplers.values():
            release(lib.clReleaseSampler(sampler), "clReleaseSampler")
        self.samplers.clear()
        anchor, self.anchor = self.anchor, None
        if anchor is not None:
            lib.bindless_free_shared_virtual(self.launching, native, anchor)
        if self.owned:
            release(lib.clReleaseContext(native), "clReleaseContext")
