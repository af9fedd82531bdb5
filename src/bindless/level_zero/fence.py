"""``Fence``: signalled by a command queue when all earlier commands are complete (L0, "Fences")."""

from __future__ import annotations

from ..backends.contract import require_group
from ..backends.contract.low_level import FenceProtocol
from ..core import ownership
from ..model.errors import InvalidError
from ..model.single_owner import SingleOwner
from ..sycl.queue.queue import Queue
from .capability import nanoseconds, require_queue

__all__ = ["Fence"]


class Fence(SingleOwner):
    """A fence of a queue, at first not signalled. It is used again after ``reset``.

    Parameters
    ----------
    queue : Queue
        In order, over a command queue: ``Queue(..., in_order=True, no_immediate_command_list=True)``, or
        ``create_queue(..., immediate=False)``. Close the fence before the queue.

    Raises
    ------
    InvalidError
        Not a queue, or one that was closed.
    FeatureNotSupportedError
        The queue, or its driver, has no fences.
    """

    __slots__ = ("__weakref__", "_native", "_resource", "queue")

    def __init__(self, queue: Queue) -> None:
        self.queue = require_queue(queue)
        backend = queue._backend
        calls = require_group(backend.fences, "fences", backend.backend)
        self._native, destroy = calls.create_fence(queue._native), calls.destroy_fence
        self._resource = ownership.Resource(ownership.Rank.EVENT, queue._stream.resource, destroy, self._native)

    def _calls(self) -> FenceProtocol:
        if self._resource.closed:
            raise InvalidError("this fence was closed: make a new one")
        self.queue._native  # noqa: B018  raises if it has ended
        backend = self.queue._backend
        return require_group(backend.fences, "fences", backend.backend)

    def signal(self) -> None:
        """Has it signalled when everything submitted to the queue so far is complete. Returns at once.

        Raises
        ------
        InvalidError
            It was closed, or its queue.
        """
        self._calls().signal_fence(self._native)

    def wait(self, timeout: float | None = None) -> bool:
        """Waits until it is signalled. Interruptible.

        Parameters
        ----------
        timeout : float, optional
            Seconds; None for no limit.

        Returns
        -------
        bool
            Whether it is signalled.

        Raises
        ------
        Error
            Of the work, if that failed.
        """
        limit = nanoseconds(timeout)
        return bool(self._calls().wait_fence(self._native, limit))

    @property
    def is_signalled(self) -> bool:
        """Whether it is signalled now."""
        return self.wait(0)

    def reset(self) -> None:
        """Makes it not signalled. Without effect before it is: what is to signal it still does."""
        self._calls().reset_fence(self._native)

    def close(self) -> None:
        """Ends its use without waiting for what is to signal it; a second call does nothing."""
        self._resource.close()

    def __enter__(self) -> Fence:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
