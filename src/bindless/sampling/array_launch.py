"""``ArrayLaunch``: the launch of a kernel from one array to another, at any addresses; ``LaunchPair``: of two;
``SpareLaunch``: of two, or of others that need less memory."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ..bindless_images.scratch_memory import array_in, leave, take
from ..model.errors import MemoryAllocationError
from ..model.ranges import NdRange
from ..submission.event import Event
from ..sycl.kernel.kernel import Kernel
from ..sycl.queue.queue import Queue

__all__ = ["ArrayLaunch", "LaunchPair", "SpareLaunch"]


class ArrayLaunch(NamedTuple):
    """The launch of a kernel over packed arrays of one shape and types.

    Attributes
    ----------
    queue : Queue
        Does the work.
    space : NdRange
        The range.
    kernel : Kernel
        The kernel; its arguments are the array that it reads, ``before``, the one that it writes and ``behind``.
    before, behind : tuple[object, ...]
        Tables and plain numbers.
    """

    queue: Queue
    space: NdRange
    kernel: Kernel
    before: tuple[object, ...]
    behind: tuple[object, ...]

    def submit(self, map_: object, source: object, values: object, coords: object = None, /, after: Any = ()) -> Event:
        """Run it; the map and the coordinates have no meaning here."""
        return self.queue.parallel_for(
            self.space, self.kernel, source, *self.before, values, *self.behind, depends_on=after
        )


class LaunchPair(NamedTuple):
    """Two launches, the second of what the first writes: float32 of a shape, in memory of the queue.

    Attributes
    ----------
    first, second : ArrayLaunch | LaunchPair | SpareLaunch
        Of one queue.
    shape : tuple[int, ...]
        Of the array between them.
    """

    first: ArrayLaunch | LaunchPair | SpareLaunch
    second: ArrayLaunch | LaunchPair | SpareLaunch
    shape: tuple[int, ...]

    @property
    def queue(self) -> Queue:
        """Does the work."""
        return self.second.queue

    def submit(self, map_: object, source: object, values: object, coords: object = None, /, after: Any = ()) -> Event:
        """As that of ``ArrayLaunch``."""
        block = take(self.queue, max(math.prod(self.shape), 1) * 4)
        between = array_in(self.queue, block, 0, self.shape, np.dtype(np.float32))
        event = self.second.submit(map_, between, values, after=self.first.submit(map_, source, between, after=after))
        leave(self.queue, block)
        return event


class SpareLaunch(NamedTuple):
    """Two launches, or others where the device has no memory for the array between them.

    Attributes
    ----------
    pair : LaunchPair
        Of launches that take no memory.
    spare : Callable[[], ArrayLaunch | LaunchPair]
        Makes the others, of the same queue.
    """

    pair: LaunchPair
    spare: Callable[[], ArrayLaunch | LaunchPair]

    @property
    def queue(self) -> Queue:
        """Does the work."""
        return self.pair.queue

    def submit(self, map_: object, source: object, values: object, coords: object = None, /, after: Any = ()) -> Event:
        """As that of ``ArrayLaunch``."""
        try:
            return self.pair.submit(map_, source, values, after=after)
        except MemoryAllocationError:  # before anything was submitted
            return self.spare().submit(map_, source, values, after=after)
