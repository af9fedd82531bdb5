"""``UsmPointer`` and the functions that allocate and free unified shared memory (SYCL 2020 section 4.8.3)."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, SupportsIndex

from ..model.aspects import Aspect
from ..model.enums import UsmKind, coerce
from ..model.errors import InvalidError
from ._allocation import Allocation

if TYPE_CHECKING:
    from .context import Context
    from .device import Device

__all__ = ["UsmPointer", "allocate", "free", "malloc_device", "malloc_host", "malloc_shared"]

_ASPECTS = {
    UsmKind.device: Aspect.usm_device_allocations,
    UsmKind.host: Aspect.usm_host_allocations,
    UsmKind.shared: Aspect.usm_shared_allocations,
}


class UsmPointer:
    """An address in unified shared memory that keeps the memory alive.

    It counts as a number: ``int(pointer)``, ``pointer + nbytes``. The memory ends with ``free(pointer)``, or when the
    last pointer or array of it is dropped; work that uses it ends first.
    """

    __slots__ = ("__weakref__", "_offset", "_owner", "_packed")

    def __init__(self, _owner: Allocation, _offset: int = 0) -> None:
        self._owner = _owner
        self._offset = _offset
        # What a kernel receives.
        self._packed = (_owner.address + _offset).to_bytes(8, "little")

    @classmethod
    def _adopt(
        cls,
        address: int,
        nbytes: int,
        kind: UsmKind,
        device: Device,
        context: Context,
        *,
        owned: bool = True,
        lender: object = None,
    ) -> UsmPointer:
        """A pointer to memory that the caller has from the backend.

        Args:
            owned: whether the memory is freed with its last pointer.
            lender: what must live as long as memory that is not owned.
        """
        return cls(Allocation(context, device, kind, address, nbytes, owned=owned, lender=lender))

    @property
    def address(self) -> int:
        """First byte. Raises ``InvalidError`` once the memory has been freed."""
        self._owner.require_open()
        return self._owner.address + self._offset

    @property
    def nbytes(self) -> int:
        """Bytes from here to the end of the allocation."""
        return self._owner.nbytes - self._offset

    @property
    def kind(self) -> UsmKind:
        return self._owner.kind

    @property
    def context(self) -> Context:
        return self._owner.context

    @property
    def device(self) -> Device:
        """The device that it was asked for."""
        return self._owner.device

    @property
    def pointer(self) -> UsmPointer:
        """Itself: what pointers and arrays have in common."""
        return self

    @property
    def closed(self) -> bool:
        """Whether the memory has been freed."""
        return not self._owner.open

    def close(self) -> None:
        """Frees the whole allocation, after the work that uses it; a second call does nothing."""
        self._owner.close()

    def __index__(self) -> int:
        return self.address

    __int__ = __index__

    def __add__(self, nbytes: SupportsIndex) -> UsmPointer:
        try:
            offset = self._offset + operator.index(nbytes)
        except TypeError:
            return NotImplemented
        if not 0 <= offset <= self._owner.nbytes:
            raise InvalidError(
                f"{self!r} + {operator.index(nbytes)} leaves the allocation of {self._owner.nbytes} bytes"
            )
        return UsmPointer(self._owner, offset)

    def __sub__(self, nbytes: SupportsIndex) -> UsmPointer:
        try:
            return self + -operator.index(nbytes)
        except TypeError:
            return NotImplemented

    def __bool__(self) -> bool:
        return self._owner.open

    def __eq__(self, other: object) -> bool:
        return isinstance(other, UsmPointer) and other._owner is self._owner and other._offset == self._offset

    def __hash__(self) -> int:
        return hash((id(self._owner), self._offset))

    def __repr__(self) -> str:
        state = "" if self._owner.open else ", freed"
        return f"<UsmPointer {self._owner.address + self._offset:#x} {self.kind}, {self.nbytes} bytes{state}>"


def size_of(value: object, name: str = "nbytes") -> int:
    """A size in bytes, at least 1.

    Raises:
        InvalidError: no integer, zero or negative.
    """
    try:
        number = operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        raise InvalidError(f"{name}={value!r} is not an integer") from None
    if number < 1:
        raise InvalidError(f"{name}={number}: memory has at least 1 byte")
    return number


def allocate(kind: UsmKind | str, nbytes: int, where: tuple[object, ...], alignment: int = 0) -> Allocation:
    """Memory of a kind that the device has."""
    from ._where import resolve_where

    kind = coerce(UsmKind, kind, "kind")
    if kind is UsmKind.unknown:
        raise InvalidError("kind='unknown': memory is allocated as 'device', 'host' or 'shared'")
    if not isinstance(alignment, int) or alignment < 0 or alignment & (alignment - 1):
        raise InvalidError(f"alignment={alignment!r}: it is a power of two, or 0 for the driver's own")
    device, context = resolve_where(*where)
    device._require(_ASPECTS[kind], f"{kind} memory")
    return Allocation.make(context, device, kind, nbytes, alignment)


def malloc_device(nbytes: int, *where: object, alignment: int = 0) -> UsmPointer:
    """Memory of a device, which the host cannot read.

    Args:
        nbytes: size in bytes, at least 1.
        where: a queue, or a device and a context.
        alignment: of the address in bytes, a power of two; 0 for the driver's own.

    Raises:
        InvalidError: ``nbytes`` or ``where`` is none.
        MemoryAllocationError: there is not enough memory.
        FeatureNotSupportedError: the device has no such memory.
    """
    return UsmPointer(allocate(UsmKind.device, size_of(nbytes), where, alignment))


def malloc_host(nbytes: int, *where: object, alignment: int = 0) -> UsmPointer:
    """Memory of the host that the context's devices reach; see ``malloc_device``."""
    return UsmPointer(allocate(UsmKind.host, size_of(nbytes), where, alignment))


def malloc_shared(nbytes: int, *where: object, alignment: int = 0) -> UsmPointer:
    """Memory that moves between the host and a device; see ``malloc_device``."""
    return UsmPointer(allocate(UsmKind.shared, size_of(nbytes), where, alignment))


def free(pointer: object, *where: object) -> None:
    """Frees an allocation, after the work that uses it and was submitted through this package.

    Args:
        pointer: what ``malloc_*`` or ``usm_empty`` returned.
        where: a queue, or a device and a context, of the allocation; may be left out.

    Raises:
        InvalidError: not a pointer, one into the middle of an allocation, memory that was freed already, that belongs
            to someone else, or to another context.
    """
    from ._usm_array import UsmArray

    if not isinstance(pointer, (UsmPointer, UsmArray)):
        raise InvalidError(f"pointer={pointer!r}: free takes what malloc_* or usm_empty returned")
    first = pointer.pointer
    owner = first._owner
    owner.require_open()
    if where:
        from ._where import resolve_where

        _, context = resolve_where(*where)
        if context is not owner.context:
            raise InvalidError(f"{first!r} was allocated in another context: {owner.context!r}")
    if first._offset:
        raise InvalidError(f"{first!r} points {first._offset} bytes into an allocation: free its first byte")
    if owner.resource is None:
        raise InvalidError(f"{first!r} was not allocated by malloc_* or usm_empty: whoever made it releases it")
    owner.close()
