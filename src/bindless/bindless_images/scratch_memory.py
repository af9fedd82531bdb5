"""Cache of device memory for calls with host arrays on devices that cannot access host memory, and for images.

Most calls are complete when they give a block back. The commands that use a block of an image may not be: it stays with
their queue, whose next commands come after them.
"""

from __future__ import annotations

import math
import weakref
from typing import TYPE_CHECKING, Any

from ..core.lock import Lock
from ..core.ownership import Rank, Resource, after_fork
from ..model.arrays import DType
from ..model.enums import UsmKind
from ..model.errors import MemoryAllocationError
from ..submission.active_streams import active, make_room, spare
from ..sycl.usm import UsmArray
from ..sycl.usm.allocation import Allocation

if TYPE_CHECKING:
    from ..submission.command_stream import CommandStream
    from ..sycl.device.context import Context
    from ..sycl.queue.queue import Queue

__all__ = ["Block", "array_in", "give_back", "leave", "leave_array", "room", "take"]

_ALIGNMENT = 512  # where arguments that are buffers may begin; of OpenCL drivers, Mesa's ask for the most
_SMALLEST = 1 << 16
_KEPT_BYTES = 1 << 28  # of one device of a context


class Block(Resource):
    """Device memory, freed with the object.

    Attributes
    ----------
    address, nbytes : int
        Where it begins, and its size.
    user : weakref.ref[CommandStream] | None
        The stream in order whose earlier commands may use it.
    """

    __slots__ = ("address", "nbytes", "user")

    address: int
    nbytes: int
    user: weakref.ref[CommandStream] | None

    def serves(self, stream: CommandStream) -> bool:
        """Whether nothing uses it but earlier commands of a stream in order."""
        user = None if self.user is None else self.user()
        return user is None or user is stream or user not in active


_free: weakref.WeakKeyDictionary[Context, dict[Any, list[Block]]] = weakref.WeakKeyDictionary()
_lock = Lock()


def take(queue: Queue, nbytes: int) -> Block:
    """The smallest block of at least ``nbytes`` that nothing uses but earlier commands of the queue, if it is in order;
    or a new one."""
    context, device, stream = queue.context, queue.device, queue._stream
    most = max(4 * nbytes, _SMALLEST)
    with _lock:
        blocks = _free.setdefault(context, {}).setdefault(device._record.index, [])
        fitting = [block for block in tuple(blocks) if nbytes <= block.nbytes <= most and block.serves(stream)]
        for block in sorted(fitting, key=lambda block: block.nbytes):
            if block in blocks:
                blocks.remove(block)
                return block
    size = max(_SMALLEST, 1 << (nbytes - 1).bit_length())
    backend, native = context._backend, context._native
    try:
        address = backend.allocate(native, device._record.native, UsmKind.device, size)
    except MemoryAllocationError:
        make_room()
        address = backend.allocate(native, device._record.native, UsmKind.device, size)
    block = Block(Rank.MEMORY, context._resource, backend.free, native, address)
    block.address, block.nbytes, block.user = address, size, None
    return block


def give_back(queue: Queue, block: Block) -> None:
    """Keeps a block whose work is complete for the next call, or frees it."""
    block.user = None
    _keep(queue, block)


def leave(queue: Queue, block: Block) -> None:
    """Keeps a block that nothing uses but commands of the queue, if this is in order; else it ends with them."""
    if queue._stream.in_order:
        block.user = weakref.ref(queue._stream)
        _keep(queue, block)


def leave_array(queue: Queue, array: object) -> None:
    """``leave`` for the block of an array of ``array_in``; nothing for others."""
    if isinstance(array, UsmArray) and isinstance(block := array._owner.lender, Block):
        leave(queue, block)


def _keep(queue: Queue, block: Block) -> None:
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


spare.append(_free.clear)
after_fork(_after_fork)
