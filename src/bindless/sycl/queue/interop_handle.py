"""``InteropHandle``: the driver's own objects for a host task (SYCL 2020 section 4.10.2)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ...model.enums import Backend
from ...model.errors import AccessorError
from ...model.single_owner import SingleOwner

if TYPE_CHECKING:
    from ..buffer.accessor import Accessor
    from ..buffer.replica import Place
    from ..device.queue_base import QueueBase

__all__ = ["InteropHandle"]


class InteropHandle(SingleOwner):
    """Given to a host task that takes an argument; of use while it runs.

    The handles are the driver's own, as integers, also after the queue was closed. Work that the task
    submits to them is its own to wait for.
    """

    __slots__ = ("_places", "_queue")

    def __init__(self, _queue: QueueBase, _places: Sequence[tuple[Accessor, Place]]) -> None:
        self._queue = _queue
        self._places = _places

    def get_backend(self) -> Backend:
        """The backend of the handles."""
        return self._queue.backend

    def get_native_queue(self) -> int:
        """Return the queue that the group was submitted to: a CUstream, a blr_queue_t, ..."""
        stream = self._queue._stream
        stream.is_alone = False
        return self._queue._backend.native_handle(stream.native)

    def get_native_device(self) -> int:
        """Return the handle of the queue's device."""
        return self._queue._backend.native_handle(self._queue.device._record.native)

    def get_native_context(self) -> int:
        """Return the handle of the queue's context."""
        return self._queue._backend.native_handle(self._queue.context._native_context)

    def get_native_mem(self, accessor: Accessor) -> int:
        """Address of a buffer's first element in the queue's context; on ``opencl`` the cl_mem, where the memory of the
        buffer is one. Of an image the number that kernels and the device functions take.

        Parameters
        ----------
        accessor : Accessor
            One of the command group, of target ``device``.

        Raises
        ------
        AccessorError
            It is not.
        """
        for own, place in self._places:
            if own is accessor and place.home is not None:
                address = place.address + accessor.buffer._span[0]
                counted = self._queue._backend.counted
                if counted is None:
                    return address
                return counted.memory_or_address(self._queue.context._native_context, address)
        raise AccessorError(f"{accessor!r} is no accessor of this host task with target 'device'")
