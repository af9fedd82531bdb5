"""Virtual address ranges and physical memory (L0, "Reserved Device Allocations")."""

from __future__ import annotations

import operator
from typing import Any, SupportsIndex

from ..backends.contract import BackendProtocol, require_group
from ..backends.contract.low_level import VirtualMemoryProtocol
from ..core import ownership
from ..core.lock import Lock
from ..model.errors import Error, InvalidError
from ..model.message_values import shown
from ..model.single_owner import SingleOwner
from ..submission.command_stream import wait_for_all
from ..sycl.device.context import Context
from ..sycl.device.device import Device
from ..sycl.device.device_context import resolve

__all__ = ["PhysicalMemory", "VirtualRange", "get_page_size"]

_WHAT = "virtual memory"
_ACCESS = ("read_write", "read", "none")


def _calls(backend: BackendProtocol) -> VirtualMemoryProtocol:
    return require_group(backend.virtual_memory, _WHAT, backend.backend)


def _bytes(value: SupportsIndex, name: str) -> int:
    try:
        size = operator.index(value)
    except TypeError:
        size = 0
    if isinstance(value, bool) or not 0 < size < 2**63:
        raise InvalidError(f"{name}={shown(value)}: it is 1 to 2**63 - 1 bytes")
    return size


def get_page_size(nbytes: SupportsIndex, *where: object) -> int:
    """Bytes of which sizes and addresses have to be multiples, for a reservation or physical memory of a size.

    Parameters
    ----------
    nbytes : SupportsIndex
        Size in bytes, at least 1.
    where : object
        A queue, or a device and a context.

    Returns
    -------
    int
        Size in bytes.

    Raises
    ------
    InvalidError
        ``nbytes`` or ``where`` is none.
    FeatureNotSupportedError
        The driver has no virtual memory.
    """
    device, context = resolve(where)
    size = _bytes(nbytes, "nbytes")
    ask = _calls(context._backend).virtual_page_size
    return int(ask(context._native, device._record.native, size))


def _pages(nbytes: SupportsIndex, device: Device, context: Context) -> int:
    """A size, as whole pages."""
    size = _bytes(nbytes, "nbytes")
    page = get_page_size(size, device, context)
    return -(-size // page) * page


class PhysicalMemory(SingleOwner):
    """Memory of a device without an address: it is used where it is mapped.

    Parameters
    ----------
    nbytes : SupportsIndex
        Size in bytes, which is raised to whole pages.
    where : object
        A queue, or a device and a context.

    Attributes
    ----------
    nbytes : SupportsIndex
        Its size.
    device, context
        Where it is.

    Raises
    ------
    InvalidError
        ``nbytes`` or ``where`` is none.
    MemoryAllocationError
        There is not enough memory.
    FeatureNotSupportedError
        The driver has no virtual memory.
    """

    __slots__ = ("__weakref__", "_native", "_resource", "context", "device", "nbytes")

    def __init__(self, nbytes: SupportsIndex, *where: object) -> None:
        self.device, self.context = resolve(where)
        backend = self.context._backend
        self.nbytes = _pages(nbytes, self.device, self.context)
        create = _calls(backend).create_physical
        self._native = create(self.context._native, self.device._record.native, self.nbytes)
        destroy = _calls(backend).destroy_physical
        self._resource = ownership.Resource(
            ownership.Rank.MEMORY, self.context._resource, destroy, self.context._native, self._native
        )


class _Reservation(SingleOwner):
    """Mappings of a range of addresses, which ``end`` undoes."""

    def __init__(self, backend: BackendProtocol, native: Any, address: int, nbytes: int) -> None:
        self.backend, self.native, self.address, self.nbytes = backend, native, address, nbytes
        # By first address: bytes, and the memory there.
        self.mapped: dict[int, tuple[int, PhysicalMemory]] = {}

    def end(self) -> None:
        """Unmaps everything and gives the addresses back."""
        unmap = _calls(self.backend).unmap
        first: Error | None = None
        while self.mapped:
            address, (nbytes, memory) = self.mapped.popitem()
            try:
                unmap(self.native, address, nbytes)
            except Error as error:  # the others go nevertheless
                first = first or error
            del memory
        _calls(self.backend).release_addresses(self.native, self.address, self.nbytes)
        if first is not None:
            raise first


class VirtualRange(SingleOwner):
    """Addresses of a context, behind which physical memory can be put.

    It keeps the memory that is mapped in it. ``close``, or dropping it and what was made over it, unmaps that.

    Parameters
    ----------
    nbytes : SupportsIndex
        Size in bytes, which is raised to whole pages.
    where : object
        A queue, or a device and a context.

    Attributes
    ----------
    address : int
        The first.
    nbytes : SupportsIndex
        How many.
    device, context
        Where it is.

    Raises
    ------
    InvalidError
        ``nbytes`` or ``where`` is none.
    MemoryAllocationError
        There is no room for so many addresses.
    FeatureNotSupportedError
        The driver has no virtual memory.
    """

    __slots__ = ("__weakref__", "_held", "_lock", "_resource", "address", "context", "device", "nbytes")

    def __init__(self, nbytes: SupportsIndex, *where: object) -> None:
        self.device, self.context = resolve(where)
        backend, native = self.context._backend, self.context._native
        self.nbytes = _pages(nbytes, self.device, self.context)
        reserve = _calls(backend).reserve_addresses
        self.address: int = reserve(native, self.device._record.native, self.nbytes)
        self._held = _Reservation(backend, native, self.address, self.nbytes)
        self._lock = Lock()
        # Before the memory that is mapped, where both end together.
        self._resource = ownership.Resource(ownership.Rank.IMAGE_MEMORY, self.context._resource, self._held.end)

    def _require(self, offset: int, nbytes: int) -> None:
        if self._resource.closed:
            raise InvalidError("this range of addresses was closed")
        page = get_page_size(nbytes, self.device, self.context)
        if offset < 0 or nbytes < 1 or offset + nbytes > self.nbytes or offset % page or nbytes % page:
            raise InvalidError(
                f"offset={offset}, nbytes={nbytes}: they are multiples of {page} bytes within the range's {self.nbytes}"
            )

    def map(
        self,
        memory: PhysicalMemory,
        offset: int = 0,
        *,
        memory_offset: int = 0,
        nbytes: int | None = None,
        access: str = "read_write",
    ) -> int:
        """Puts memory behind addresses.

        Parameters
        ----------
        memory : PhysicalMemory
            Of the same context.
        offset : int, default 0
            Bytes from the start of the range.
        memory_offset : int, default 0
            Bytes from the start of the memory.
        nbytes : int, optional
            None is everything from there on.
        access : str, default "read_write"
            ``"read_write"``, ``"read"`` or ``"none"``.

        Returns
        -------
        int
            The first of the addresses.

        Raises
        ------
        InvalidError
            No whole pages, places outside the range or the memory, or something is mapped there.
        """
        if not isinstance(memory, PhysicalMemory) or memory.context is not self.context:
            raise InvalidError(f"memory={shown(memory)} is no PhysicalMemory of {self.context!r}")
        if access not in _ACCESS:
            raise InvalidError(f"access={shown(access)}: it is one of {', '.join(_ACCESS)}")
        size = memory.nbytes - memory_offset if nbytes is None else nbytes
        self._require(offset, size)
        if memory_offset < 0 or memory_offset + size > memory.nbytes:
            raise InvalidError(f"memory_offset={memory_offset}, nbytes={size}: the memory has {memory.nbytes} bytes")
        place = self.address + offset
        with self._lock:
            for other, (length, _) in list(self._held.mapped.items()):
                if other < place + size and place < other + length:
                    raise InvalidError(
                        f"offset={offset}, nbytes={size}: {length} bytes are mapped at offset {other - self.address}; "
                        "unmap them first"
                    )
            _calls(self.context._backend).map_physical(
                self.context._native, self.device._record.native, place, size, memory._native, memory_offset, access
            )
            self._held.mapped[place] = size, memory
        return place

    def unmap(self, offset: int) -> None:
        """Takes away what was mapped at an offset, as a whole, after all unfinished work.

        Parameters
        ----------
        offset : int
            Bytes from the start of the range, where something was mapped.

        Raises
        ------
        InvalidError
            Nothing was mapped to begin there.
        """
        wait_for_all()
        with self._lock:
            mapping = self._held.mapped.get(self.address + offset)
            if mapping is None:
                listed = ", ".join(str(place - self.address) for place in sorted(self._held.mapped)) or "nowhere"
                raise InvalidError(f"offset={offset}: memory is mapped at {listed}")
            _calls(self.context._backend).unmap(self.context._native, self.address + offset, mapping[0])
            del self._held.mapped[self.address + offset]

    def set_access(self, offset: int, nbytes: int, access: str) -> None:
        """Changes what may be done at addresses behind which there is memory.

        Parameters
        ----------
        offset, nbytes : int
            Whole pages.
        access : str
            ``"read_write"``, ``"read"`` or ``"none"``.
        """
        if access not in _ACCESS:
            raise InvalidError(f"access={shown(access)}: it is one of {', '.join(_ACCESS)}")
        self._require(offset, nbytes)
        _calls(self.context._backend).set_access(
            self.context._native, self.device._record.native, self.address + offset, nbytes, access
        )

    @property
    def mapped(self) -> tuple[tuple[int, int], ...]:
        """Offset and bytes of what is mapped, in order."""
        with self._lock:
            mappings = sorted(self._held.mapped.items())
        return tuple((place - self.address, size) for place, (size, _) in mappings)

    def close(self) -> None:
        """Unmaps everything after all unfinished work, and gives the addresses back; a second call does nothing."""
        if not self._resource.closed:
            wait_for_all()
            self._resource.close()

    def __enter__(self) -> VirtualRange:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
