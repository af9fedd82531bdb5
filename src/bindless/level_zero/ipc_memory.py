"""Device memory that two processes share (L0, "Inter-Process Communication").

The owner exports an array and sends the handle, for instance through a ``multiprocessing.Pipe``; the other process
opens it and has an array over the same memory. Nothing orders the work of the two but what they tell each other: events
of a shared ``EventPool``, or messages after a wait.
"""

from __future__ import annotations

import math
import weakref
from typing import Protocol

from ..backends.contract import BackendProtocol, require_group
from ..backends.contract.low_level import IpcProtocol, SharedMemory
from ..core import ownership
from ..core.lock import Lock
from ..model.arrays import DType
from ..model.enums import Backend, UsmKind
from ..model.errors import BackendMismatchError, InvalidError
from ..model.message_values import shown
from ..sycl.device.device_context import resolve
from ..sycl.usm.allocation import Allocation
from ..sycl.usm.array import UsmArray
from .capability import memory_range

__all__ = ["IpcMemoryHandle", "export_memory", "open_memory"]


class IpcMemoryHandle:
    """Memory of a process as others open it. It can be pickled and sent.

    Where the driver's handle needs a file descriptor (``descriptor``, Intel's driver on Linux), pickling passes that on
    as ``multiprocessing`` does, from the living process to one that has its authentication key. Who sends the handle in
    another way passes the descriptor on by ``socket.send_fds`` and gives the receiver's own number to
    ``with_descriptor``.

    Attributes
    ----------
    backend : Backend
        Whose driver opens it.
    data : bytes
        The driver's handle.
    offset : int
        Bytes from where the handle opens to the array.
    shape, dtype
        Of the array.
    descriptor : int | None
        Number of the file descriptor in this process, or None.
    """

    __slots__ = ("__weakref__", "backend", "data", "descriptor", "dtype", "offset", "shape")

    def __init__(
        self,
        backend: Backend,
        data: bytes,
        offset: int,
        shape: tuple[int, ...],
        dtype: DType,
        descriptor: int | None = None,
    ) -> None:
        self.backend = backend
        self.data = data
        self.offset = offset
        self.shape = shape
        self.dtype = dtype
        self.descriptor = descriptor

    def with_descriptor(self, descriptor: int) -> IpcMemoryHandle:
        """The same handle with this process's number of the file descriptor, which opening it takes over."""
        return IpcMemoryHandle(self.backend, self.data, self.offset, self.shape, self.dtype, descriptor)

    def __reduce__(self) -> tuple[object, ...]:
        plain = (str(self.backend), self.data, self.offset, self.shape, self.dtype)
        if self.descriptor is None:
            return _receive, (*plain, None)
        from multiprocessing.reduction import DupFd

        return _receive, (*plain, DupFd(self.descriptor))

    def __repr__(self) -> str:
        return f"<IpcMemoryHandle {self.backend} {self.dtype} {self.shape}>"


class _Travelled(Protocol):
    """A file descriptor on its way to another process: ``multiprocessing.reduction.DupFd``."""

    def detach(self) -> int: ...


def _receive(
    backend: str, data: bytes, offset: int, shape: tuple[int, ...], dtype: DType, travelled: _Travelled | None
) -> IpcMemoryHandle:
    descriptor = None if travelled is None else travelled.detach()
    return IpcMemoryHandle(Backend(backend), data, offset, shape, dtype, descriptor)


# What is exported is given back to the driver with its memory.
_exported: weakref.WeakKeyDictionary[Allocation, ownership.Resource] = weakref.WeakKeyDictionary()
_lock = Lock()


def _after_fork() -> None:
    global _lock
    _lock = Lock()


ownership.after_fork(_after_fork)


def _calls(backend: BackendProtocol) -> IpcProtocol:
    return require_group(backend.ipc, "memory of two processes", backend.backend)


def export_memory(array: UsmArray) -> IpcMemoryHandle:
    """The handle by which other processes open the memory of an array.

    The memory stays this process's: it is to be freed when the others have closed theirs. Work that writes it is to be
    waited for before others read.

    Parameters
    ----------
    array : UsmArray
        Contiguous, in device memory made by ``usm_empty`` or ``malloc_device``.

    Returns
    -------
    IpcMemoryHandle
        The handle, to be sent to another process.

    Raises
    ------
    InvalidError
        Another kind of memory, a view that is not contiguous, memory of another process or library.
    FeatureNotSupportedError
        The driver shares no memory.
    """
    if not isinstance(array, UsmArray):
        raise InvalidError(f"array={shown(array)} is no UsmArray")
    owner, address, _ = memory_range(array, "array")
    if owner.kind is not UsmKind.device or owner.resource is None:
        whose = f"{owner.kind} memory" if owner.resource is not None else "memory that another one owns"
        raise InvalidError(f"array: {whose} cannot be shared; device memory made here can, usm_empty(..., queue)")
    backend = owner.context._backend
    shared = _calls(backend).export_memory(owner.context._native, address)
    with _lock:
        if owner not in _exported:
            end = _calls(backend).end_export
            _exported[owner] = ownership.Resource(
                ownership.Rank.IMAGE_HANDLE, owner.resource, end, owner.context._native, shared.data
            )
    return IpcMemoryHandle(backend.backend, shared.data, shared.offset, array.shape, array.dtype, shared.descriptor)


def open_memory(handle: IpcMemoryHandle, *where: object) -> UsmArray:
    """An array over memory of another process.

    Parameters
    ----------
    handle : IpcMemoryHandle
        As received; each is opened once where it brings a file descriptor.
    where : object
        A queue, or a device and a context, of the device that the memory is of.

    Returns
    -------
    UsmArray
        An array of the exporter's shape and dtype. Closing or dropping it ends its use here, after the work that uses
        it; the memory stays the exporter's, and is not to be used after that has freed it.

    Raises
    ------
    InvalidError
        No handle, or one that the driver does not know, of memory that was freed or of this process.
    BackendMismatchError
        A handle of another backend.
    FeatureNotSupportedError
        The driver shares no memory.
    """
    if not isinstance(handle, IpcMemoryHandle):
        raise InvalidError(f"handle={shown(handle)} is no IpcMemoryHandle")
    device, context = resolve(where)
    backend = context._backend
    if backend.backend is not handle.backend:
        raise BackendMismatchError(f"{handle!r} is opened by {handle.backend}, not on {device!r}")
    shared = SharedMemory(handle.data, handle.offset, handle.descriptor)
    base = _calls(backend).open_memory(context._native, device._record.native, shared)
    close = _calls(backend).close_memory
    lender = ownership.Resource(ownership.Rank.MEMORY, context._resource, close, context._native, base)
    nbytes = math.prod(handle.shape) * handle.dtype.itemsize
    memory = Allocation(context, device, UsmKind.device, base + handle.offset, nbytes, owned=False, lender=lender)
    return UsmArray(memory, handle.shape, handle.dtype)
