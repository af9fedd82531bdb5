"""The functions that allocate and free unified shared memory (SYCL 2020 section 4.8.3)."""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from typing import SupportsIndex

import numpy.typing as npt

from ...model.arrays import DType
from ...model.aspects import Aspect
from ...model.enums import UsmKind, coerce
from ...model.errors import InvalidError
from ...model.message_values import shown
from ..device.device_context import resolve
from ..device.queue_base import QueueBase
from .allocation import Allocation
from .array import UsmArray, array_shape, element_dtype
from .pointer import UsmPointer, size_of

__all__ = ["allocate", "free", "malloc_device", "malloc_host", "malloc_shared", "new_array", "usm_empty"]

_LARGEST_ALIGNMENT = 2**63

_ASPECTS = {
    UsmKind.device: Aspect.usm_device_allocations,
    UsmKind.host: Aspect.usm_host_allocations,
    UsmKind.shared: Aspect.usm_shared_allocations,
}


def allocate(kind: UsmKind | str, nbytes: int, where: tuple[object, ...], alignment: int = 0) -> Allocation:
    """Memory of a kind that the device has."""
    kind = coerce(UsmKind, kind, "kind")
    if kind is UsmKind.unknown:
        raise InvalidError("kind='unknown': memory is allocated as 'device', 'host' or 'shared'")
    alignment = _alignment_of(alignment)
    device, context = resolve(where)
    device._require(_ASPECTS[kind], f"{kind} memory")
    return Allocation.make(context, device, kind, nbytes, alignment)


def _alignment_of(value: object) -> int:
    """A power of two that an address can have, or 0."""
    try:
        number = operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        number = -1
    if number < 0 or number & (number - 1):
        raise InvalidError(f"alignment={shown(value)}: it is a power of two, or 0 for the driver's own")
    if number > _LARGEST_ALIGNMENT:
        raise InvalidError(f"alignment=2**{number.bit_length() - 1}: addresses have 64 bits, so it is at most 2**63")
    return number


def malloc_device(nbytes: int, *where: object, alignment: int = 0) -> UsmPointer:
    """Memory of a device, which the host cannot read.

    Parameters
    ----------
    nbytes : int
        Size in bytes, at least 1.
    alignment : int, default 0
        Of the address in bytes, a power of two; 0 for the driver's own.
    where : object
        A queue, or a device and a context.

    Returns
    -------
    UsmPointer
        The memory.

    Raises
    ------
    InvalidError
        ``nbytes`` or ``where`` is none.
    MemoryAllocationError
        There is not enough memory.
    FeatureNotSupportedError
        The device has no such memory.

    Notes
    -----
    SYCL 2020, 4.8.3, "Unified shared memory allocations".

    Examples
    --------
    >>> queue = bindless.Queue("reference")
    >>> pointer = bindless.malloc_device(256, queue)
    >>> print(pointer.kind)
    device
    >>> bindless.free(pointer, queue)
    """
    return UsmPointer(allocate(UsmKind.device, size_of(nbytes), where, alignment))


def malloc_host(nbytes: int, *where: object, alignment: int = 0) -> UsmPointer:
    """Memory of the host that the context's devices reach; see ``malloc_device``.

    Parameters
    ----------
    nbytes : int
        Size in bytes, at least 1.
    alignment : int, default 0
        Alignment of the address in bytes, a power of two; 0 for that of the driver.
    where : object
        A queue, or a device and a context.

    Returns
    -------
    UsmPointer
        The memory.

    Notes
    -----
    SYCL 2020, 4.8.3, "Unified shared memory allocations".

    Examples
    --------
    >>> queue = bindless.Queue("reference")
    >>> pointer = bindless.malloc_host(256, queue)
    >>> print(pointer.kind)
    host
    >>> bindless.free(pointer, queue)
    """
    return UsmPointer(allocate(UsmKind.host, size_of(nbytes), where, alignment))


def malloc_shared(nbytes: int, *where: object, alignment: int = 0) -> UsmPointer:
    """Memory that moves between the host and a device; see ``malloc_device``.

    Parameters
    ----------
    nbytes : int
        Size in bytes, at least 1.
    alignment : int, default 0
        Alignment of the address in bytes, a power of two; 0 for that of the driver.
    where : object
        A queue, or a device and a context.

    Returns
    -------
    UsmPointer
        The memory.

    Notes
    -----
    SYCL 2020, 4.8.3, "Unified shared memory allocations".

    Examples
    --------
    >>> queue = bindless.Queue("reference")
    >>> pointer = bindless.malloc_shared(256, queue)
    >>> print(pointer.kind)
    shared
    >>> bindless.free(pointer, queue)
    """
    return UsmPointer(allocate(UsmKind.shared, size_of(nbytes), where, alignment))


def free(pointer: object, *where: object) -> None:
    """Frees an allocation, after the work that uses it and was submitted through this package.

    Parameters
    ----------
    pointer : object
        What ``malloc_*`` or ``usm_empty`` returned.
    where : object
        A queue, or a device and a context, of the allocation; may be left out.

    Raises
    ------
    InvalidError
        Not a pointer, one into the middle of an allocation, memory that was freed already, that belongs to someone
        else, or to another context.

    Notes
    -----
    SYCL 2020, 4.8.3, "Unified shared memory allocations".

    Examples
    --------
    >>> queue = bindless.Queue("reference")
    >>> pointer = bindless.malloc_device(256, queue)
    >>> print(pointer.kind)
    device
    >>> bindless.free(pointer, queue)
    """
    if not isinstance(pointer, (UsmPointer, UsmArray)):
        raise InvalidError(f"pointer={shown(pointer)}: free takes what malloc_* or usm_empty returned")
    first = pointer.pointer
    owner = first._owner
    owner.require_open()
    if where:
        _, context = resolve(where)
        if context is not owner.context:
            raise InvalidError(f"{first!r} was allocated in another context: {owner.context!r}")
    if first._offset:
        raise InvalidError(f"{first!r} points {first._offset} bytes into an allocation: free its first byte")
    if not owner.owned:
        raise InvalidError(
            f"{first!r} was not allocated by malloc_* or usm_empty: whoever made it releases it, "
            "unmap_external_linear_memory what was mapped of external memory"
        )
    owner.close()


def usm_empty(
    shape: SupportsIndex | Sequence[SupportsIndex],
    dtype: npt.DTypeLike,
    *where: object,
    kind: UsmKind | str = UsmKind.device,
    alignment: int = 0,
) -> UsmArray:
    """A new array whose elements are not initialised.

    Parameters
    ----------
    shape : SupportsIndex | Sequence[SupportsIndex]
        Elements by dimension; an int for one dimension.
    dtype : DTypeLike
        Of an element, structured ones too.
    kind : UsmKind | str, default UsmKind.device
        ``device``, ``host`` or ``shared``.
    alignment : int, default 0
        Of the address in bytes, a power of two; 0 for the driver's own.
    where : object
        A queue, or a device and a context.

    Returns
    -------
    UsmArray
        The array, with undefined contents.

    Raises
    ------
    InvalidError
        A shape, dtype, kind or place that is none.
    MemoryAllocationError
        There is not enough memory.
    FeatureNotSupportedError
        The device has no memory of this kind.

    Notes
    -----
    SYCL 2020, 4.8.3, "Unified shared memory allocations".

    Examples
    --------
    >>> array = bindless.usm_empty((2, 3), np.float32, bindless.Queue("reference"))
    >>> array.shape, array.nbytes
    ((2, 3), 24)
    """
    sizes, element = array_shape(shape), element_dtype(dtype)
    nbytes = math.prod(sizes) * element.itemsize
    return UsmArray(allocate(kind, max(nbytes, 1), where, alignment), sizes, element)


def new_array(shape: tuple[int, ...], dtype: DType, queue: QueueBase) -> UsmArray:
    """``usm_empty`` of a shape and a dtype that are right, on the device of an open queue, which has such memory."""
    nbytes = max(math.prod(shape) * dtype.itemsize, 1)
    return UsmArray(Allocation.make(queue.context, queue.device, UsmKind.device, nbytes), shape, dtype)
