"""``Allocation``: one piece of unified shared memory and its end."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..model.enums import UsmKind
from ..model.errors import InvalidError, MemoryAllocationError
from . import _lifetime
from ._stream import sweep, wait_for_all, wait_for_users

if TYPE_CHECKING:
    from .context import Context
    from .device import Device

__all__ = ["Allocation"]

_LARGEST = 2**63 - 1


class Allocation:
    """Memory that pointers and arrays share; it ends with the last of them, or when it is freed.

    Attributes:
        address: first byte, in the address space of its context.
        nbytes: size.
        kind: device, host or shared.
        context, device: where it was made; the device is the one it was asked for.
        resource: None for memory that belongs to someone else.
    """

    __slots__ = ("__weakref__", "address", "context", "device", "kind", "lender", "nbytes", "open", "resource")

    def __init__(
        self,
        context: Context,
        device: Device,
        kind: UsmKind,
        address: int,
        nbytes: int,
        *,
        owned: bool = True,
        lender: object = None,
    ) -> None:
        self.context = context
        self.device = device
        self.kind = kind
        self.address = address
        self.nbytes = nbytes
        self.lender = lender
        self.open = True
        self.resource = (
            _lifetime.Resource(
                _lifetime.Rank.MEMORY, context._resource, context._backend.free, context._native, address
            )
            if owned
            else None
        )

    @classmethod
    def make(cls, context: Context, device: Device, kind: UsmKind, nbytes: int, alignment: int = 0) -> Allocation:
        """New memory of ``nbytes`` bytes, at least 1.

        Raises:
            MemoryAllocationError: there is not enough, also after what completed commands used has been freed.
        """
        if nbytes > _LARGEST:
            raise MemoryAllocationError(
                f"nbytes={nbytes}: no device has that much memory; {device.name!r} has "
                f"{device.get_info('global_mem_size')} bytes"
            )
        backend, native = context._backend, context._native
        target = None if kind is UsmKind.host else device._record.native
        sweep()
        try:
            address = backend.allocate(native, target, kind, nbytes, alignment)
        except MemoryAllocationError:
            wait_for_all()
            address = backend.allocate(native, target, kind, nbytes, alignment)
        return cls(context, device, kind, address, nbytes)

    def require_open(self) -> None:
        """Raises ``InvalidError`` if the memory has been freed."""
        if not self.open:
            raise self.freed()

    def freed(self) -> InvalidError:
        """The error of a use after the end."""
        return InvalidError(
            f"{self.nbytes} bytes of {self.kind} memory at {self.address:#x} were freed: allocate anew with usm_empty "
            "or malloc_*"
        )

    def close(self) -> None:
        """Frees it after the work that uses it; a second call does nothing."""
        if not self.open:
            return
        self.open = False
        wait_for_users(self)
        if self.resource is not None:
            self.resource.close()
        self.lender = None
