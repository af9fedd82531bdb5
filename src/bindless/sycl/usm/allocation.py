"""``Allocation``: ownership of one allocation of unified shared memory."""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING

from ...core import ownership
from ...core._submission import Openable
from ...core.lock import Lock
from ...model.enums import UsmKind
from ...model.errors import InvalidError, MemoryAllocationError
from ...model.message_values import shown
from ...model.single_owner import SingleOwner
from ...submission.active_streams import make_room, sweep, wait_for_users

if TYPE_CHECKING:
    from ..device.context import Context
    from ..device.device import Device

__all__ = ["Allocation", "Lease"]

_LARGEST = 2**63 - 1


class Allocation(Openable, SingleOwner):
    """Memory that pointers and arrays share; it ends with the last of them, or when it is freed.

    What other libraries look at through a ``Lease`` stays as long as they do: freeing it ends its use here at once,
    and the memory with the last lease.

    Attributes
    ----------
    address : int
        First byte, in the address space of its context.
    nbytes : int
        Size.
    kind : UsmKind
        Device, host or shared.
    context, device
        Where it was made; the device is the one it was asked for.
    owned : bool
        Whether it is freed here; else it belongs to someone else.
    resource : ownership.Resource | None
        The memory, if it is owned; of ordinary host memory the right of kernels to it, where they need one.
    lender : object | None
        What keeps the memory of someone else alive.
    read_only : bool
        Whether its owner lent it for reading alone.
    ordinary : bool
        Whether it is host memory that the context's driver does not know as an allocation.
    """

    __slots__ = (
        "__weakref__",
        "_leases",
        "address",
        "context",
        "device",
        "kind",
        "lender",
        "nbytes",
        "ordinary",
        "owned",
        "read_only",
        "resource",
    )

    open = Openable._open

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
        read_only: bool = False,
        ordinary: bool = False,
    ) -> None:
        self.context = context
        self.device = device
        self.kind = kind
        self.address = address
        self.nbytes = nbytes
        self.lender = lender
        self.read_only = read_only
        self.ordinary = ordinary
        self.open = True
        self.owned = owned
        self._leases: weakref.WeakSet[Lease] | None = None
        self.resource: ownership.Resource | None = None
        if owned:
            self.resource = ownership.Resource(
                ownership.Rank.MEMORY, context._resource, context._backend.free, context._native, address
            )
        elif ordinary and nbytes > 0:
            self.resource = _lender_resource(context, address, nbytes, not read_only, lender)

    @classmethod
    def make(cls, context: Context, device: Device, kind: UsmKind, nbytes: int, alignment: int = 0) -> Allocation:
        """New memory of ``nbytes`` bytes, at least 1.

        Raises
        ------
        MemoryAllocationError
            There is not enough, also after what completed commands used has been freed.
        """
        if nbytes > _LARGEST:
            raise MemoryAllocationError(
                f"nbytes={shown(nbytes)}: no device has that much memory; {device.name!r} has "
                f"{device.get_info('global_mem_size')} bytes"
            )
        backend, native = context._backend, context._native
        target = None if kind is UsmKind.host else device._record.native
        sweep()
        try:
            address = backend.allocate(native, target, kind, nbytes, alignment)
        except MemoryAllocationError:
            make_room()
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
            "or malloc_*, or import the array again if it is another library's"
        )

    def require_writable(self, name: str) -> None:
        """Raises ``InvalidError`` if the memory was lent for reading alone."""
        if self.read_only:
            raise InvalidError(
                f"{name}: this memory was imported from another library, which lent it for reading alone: write into a "
                "copy, array.copy()"
            )

    def lease(self) -> Lease:
        """The right of another library to the memory; raises ``InvalidError`` if it has been freed."""
        lease = Lease(self)
        with _lock:
            if self._leases is None:
                self._leases = weakref.WeakSet()
            self._leases.add(lease)
        self.require_open()  # last: whoever closes it from now on sees the lease
        return lease

    def close(self) -> None:
        """Frees it after the work that uses it; a second call does nothing.

        With leases the memory itself ends with the last of them.
        """
        if not self.open:
            return
        self.open = False
        wait_for_users(self)
        if not self._leases:
            for owner in (self.resource, self.lender):  # another thread may close it, too
                if isinstance(owner, ownership.Resource):
                    owner.close()
        self.resource = self.lender = None


def _lender_resource(
    context: Context, address: int, nbytes: int, writable: bool, lender: object
) -> ownership.Resource | None:
    """The right of kernels to ordinary host memory, which its lender outlives; None where they need none."""
    calls = context._backend.host_memory
    if calls is None:
        return None
    row = (context._native, address, nbytes, writable)
    calls.lend_memory(*row)
    holder = ownership.Holder(context._resource, lender)
    return ownership.Resource(ownership.Rank.LENT_MEMORY, holder, calls.return_memory, *row)


class Lease:
    """Lease of an allocation to another library: it keeps the memory alive, whatever happens to the array.

    Memory on lease at interpreter exit is left to the end of the process.
    """

    __slots__ = ("__weakref__", "lender", "resource")

    def __init__(self, owner: Allocation) -> None:
        self.resource = owner.resource
        self.lender = owner.lender
        _leases.add(self)

    def abandon(self) -> None:
        """Leaves the memory, and the native objects that it lies in, to the end of the process."""
        for holder in (self.resource, self.lender):
            while isinstance(holder, ownership.Resource):
                holder.detach()
                holder = holder.parent


_leases: weakref.WeakSet[Lease] = weakref.WeakSet()
_lock = Lock()  # of the leases of one allocation


def _finish() -> None:
    for lease in ownership.snapshot(_leases):
        lease.abandon()


def _after_fork() -> None:
    """Another thread of the parent may have held the lock."""
    global _lock
    _lock = Lock()


ownership.at_exit(_finish)
ownership.after_fork(_after_fork)
