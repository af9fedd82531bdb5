"""Cache of device memory for calls with host arrays on devices that cannot access host memory."""

from __future__ import annotations

import math
import weakref
from typing import TYPE_CHECKING, Any

from ..core.lock import Lock
from ..core.ownership import Rank, Resource, after_fork
from ..model.arrays import DType
from ..model.enums import UsmKind
from ..sycl.usm import UsmArray
from ..sycl.usm.allocation import Allocation

if TYPE_CHECKING:
    from ..sycl.device.context import Context
    from ..sycl.queue.queue import Queue

__all__ = ["Block", "array_in", "give_back", "room", "take"]

_ALIGNMENT = 512  # where arguments that are buffers may begin; of OpenCL drivers, Mesa's ask for the most
_SMALLEST = 1 << 16
_KEPT_BYTES = 1 << 28  # of one device of a context


class Block(Resource):
    """Device memory, freed with the object."""

    __slots__ = ("address", "nbytes")

    address: int
    nbytes: int


_free: weakref.WeakKeyDictionary[Context, dict[Any, list[Block]]] = weakref.WeakKeyDictionary()
_lock = Lock()


def take(queue: Queue, nbytes: int) -> Block:
    """A block of at least ``nbytes`` that nothing uses."""
    context, device = queue.context, queue.device
    with _lock:
        blocks = _free.setdefault(context, {}).setdefault(device._record.index, [])
        for block in tuple(blocks):
            if nbytes <= block.nbytes <= max(4 * nbytes, _SMALLEST) and block in blocks:
                blocks.remove(block)
                return block
    size = max(_SMALLEST, 1 << (nbytes - 1).bit_length())
    backend, native = context._backend, context._native
    address = backend.allocate(native, device._record.native, UsmKind.device, size)
    block = Block(Rank.MEMORY, context._resource, backend.free, native, address)
    block.address, block.nbytes = address, size
    return block


def give_back(queue: Queue, block: Block) -> None:
    """Keeps a block whose work is complete for the next call, or frees it."""
    with _lock:
        blocks = _free.setdefault(queue.context, {}).setdefault(queue.device._record.index, [])
        if sum(other.nbytes for other in blocks) + block.nbytes <= _KEPT_BYTES:
            blocks.append(block)


def room(nbytes: int) -> int:
    """Bytes of a block for an array that another one follows."""
    return -(-nbytes // _ALIGNMENT) * _ALIGNMENT


def array_in(queue: Queue, block: Block, start: int, shape: tuple[int, ...], dtype: DType) -> UsmArray:
    """An array in a part of a block, which it keeps."""
    size, kind = math.prod(shape) * dtype.itemsize, UsmKind.device
    memory = Allocation(queue.context, queue.device, kind, block.address + start, size, owned=False, lender=block)
    return UsmArray(memory, shape, dtype)


def _after_fork() -> None:
    """Another thread of the parent may have held the lock."""
    global _lock
    _lock = Lock()
    _free.clear()


after_fork(_after_fork)
