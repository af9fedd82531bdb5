"""Contexts: the devices that share memory, and the objects created in them."""

from __future__ import annotations

import bisect
import itertools
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ...core.lock import Lock
from ...drivers import opencl as driver
from ...drivers.common.cffi_types import CData
from ...kernels.load import Library
from ...model.enums import UsmKind
from ..common.context import member, require_devices, require_one_owner
from .device import Device, Platform
from .errors import create, release
from .fork_guard import in_fork, refuse_in_fork

if TYPE_CHECKING:
    from ..common.kernel import KernelBase
    from .external_ownership import Handover
    from .image_objects import ImageStorage, View

__all__ = ["WHOLE", "Allocation", "Context", "new_lock"]

lib, ffi = driver.lib, driver.ffi


def new_lock() -> CData:
    """A bindless_lock_t for C code."""
    lock = lib.bindless_lock_create()
    if lock == ffi.NULL:
        raise MemoryError("no memory for a lock")
    return ffi.gc(lock, lib.bindless_lock_destroy)


# Key among the parts of an allocation with an address: a buffer over all of it.
WHOLE = -1


@dataclass(frozen=True)
class Allocation:
    """One allocation of memory with an address, or with a number in place of an address.

    Attributes
    ----------
    kind
        device, host or shared.
    device
        device of the allocation; None for host memory.
    base
        the address.
    size
        requested bytes.
    buffer
        cl_mem if the address is only a number; None for a real address.
    owned
        whether this context frees it.
    parts
        sub-buffers of it, by offset; and ``WHOLE``.
    start
        start of the driver's own allocation, if not the address.
    """

    kind: UsmKind
    device: Device | None
    base: int
    size: int
    buffer: CData = None
    owned: bool = True
    parts: dict[int, CData] = field(default_factory=dict)
    start: int = 0


class Context:
    """A cl_context with a record of the objects created in it.

    Attributes
    ----------
    devices
        devices of the context, of one platform.
    handle
        cl_context; None after its release.
    owned
        whether ``close`` releases its reference.
    allocations
        by address.
    state
        bindless_context_t: its generation (see ``change``), and the list of its shared virtual memory.
    images
        image memory by raw handle.
    sampled, unsampled
        images by handle.
    samplers
        cl_sampler by addressing, filtering and coordinates. They live as long as the context: a driver may read a
        sampler until the kernel that uses it has run, and there are few.
    library
        built-in kernels.
    loading
        lock of the creation of a sampler.
    launching
        bindless_lock_t, held during the launch of a kernel that lists shared virtual memory, and during the allocation
        and release of such memory; never while Python runs.
    handover
        ownership of its external memory objects; None without such objects.
    """

    def __init__(self, devices: Sequence[Device], native: CData = None, owned: bool = True) -> None:
        """Create a context, or adopt a ``native`` one."""
        require_devices(devices, "opencl")
        self.devices = tuple(devices)
        require_one_owner(devices, lambda device: device.platform, "platform", "opencl")
        refuse_in_fork()
        self.handle = self._create() if native is None else native
        self.owned = owned
        self.allocations: dict[int, Allocation] = {}
        self.state = ffi.new("bindless_context_t *")
        self.state.handle = self.handle
        self._generations = itertools.count(1)
        self.images: dict[int, ImageStorage] = {}
        self.sampled: dict[int, View] = {}
        self.unsampled: dict[int, View] = {}
        self.samplers: dict[tuple[int, int, int], CData] = {}
        self.library: Library[KernelBase[CData]] = Library("opencl_c", "opencl")
        self.loading = Lock()
        self.launching = self.state.lock = new_lock()
        self.handover: Handover | None = None
        self._bases: list[int] = []

    @property
    def platform(self) -> Platform:
        return self.devices[0].platform

    def _create(self) -> CData:
        properties = ffi.new(
            "cl_context_properties[]",
            [lib.CL_CONTEXT_PLATFORM, int(ffi.cast("intptr_t", self.platform.handle)), 0],
        )
        handles = ffi.new("cl_device_id[]", [device.handle for device in self.devices])
        names = ", ".join(device.name for device in self.devices)
        return create("clCreateContext", properties, len(handles), handles, ffi.NULL, ffi.NULL, details=f"for {names}")

    def device(self, device: Device | None) -> Device:
        """One of the devices; the first if None."""
        return member(self.devices, device, "opencl")

    # ------------------------------------------------------------------ memory

    def change(self) -> None:
        """Begin another generation: addresses and handles may have another meaning than in the previous one."""
        self.state.generation = next(self._generations)

    def add(self, allocation: Allocation) -> None:
        """Record an allocation."""
        self.allocations[allocation.base] = allocation
        bisect.insort(self._bases, allocation.base)

    def remove(self, address: int) -> Allocation | None:
        """Remove the record of the allocation that begins at an address, if there is one."""
        allocation = self.allocations.pop(address, None)
        if allocation is not None:
            self._bases.remove(address)
            self.change()
        return allocation

    def allocation_of(self, address: int) -> Allocation | None:
        """The allocation that contains an address, or None."""
        allocation = self.allocations.get(address)
        if allocation is not None:
            return allocation
        try:
            place = bisect.bisect_right(self._bases, address) - 1
            allocation = self.allocations[self._bases[place]] if place >= 0 else None
        except (IndexError, KeyError):  # Another thread has freed it just now.
            return None
        return allocation if allocation is not None and address < allocation.base + allocation.size else None

    # ------------------------------------------------------------------ end

    def close(self) -> None:
        """Release the driver's context; no further objects are created in it."""
        native, self.handle = self.handle, None
        if native is None or in_fork():
            return
        for kernel in self.library.drain():
            kernel.module.close()
        for sampler in self.samplers.values():
            release(lib.clReleaseSampler(sampler), "clReleaseSampler")
        self.samplers.clear()
        lib.bindless_end_shared_virtual(self.state)
        if self.owned:
            release(lib.clReleaseContext(native), "clReleaseContext")
