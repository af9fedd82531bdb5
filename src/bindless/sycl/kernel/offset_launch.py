"""Launches whose global ids begin at an offset, which SYCL 2020 deprecates; submitted like other commands."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from ...backends.contract import NativeEvent
from ...model.errors import FeatureNotSupportedError
from ...model.ranges import NdRange

if TYPE_CHECKING:
    from ..device.queue_base import QueueBase
    from .kernel import Kernel

__all__ = ["has_offset", "launch_operation"]


def has_offset(index_space: object) -> bool:
    """Whether it is a range that begins elsewhere than at 0."""
    return isinstance(index_space, NdRange) and any(index_space.offset)


def launch_operation(
    queue: QueueBase,
    index_space: NdRange,
    here: Kernel,
    sizes: tuple[tuple[int, ...], tuple[int, ...] | None],
    packed: Sequence[bytes | int],
) -> Callable[[Sequence[NativeEvent]], NativeEvent]:
    """The command, as a queue's ``_enqueue`` takes it.

    Parameters
    ----------
    here, sizes, packed
        As ``plan_launch`` gives them.

    Raises
    ------
    FeatureNotSupportedError
        The driver has no offsets.
    """
    group = queue._backend.offset_launch
    if group is None:
        raise FeatureNotSupportedError(
            f"offset={tuple(index_space.offset)}: {queue.device.name} runs kernels from 0 on; add the offset in the "
            "kernel, as an argument",
            backend=str(queue.device.backend),
        )
    native, target, offset = queue._native, here._native, tuple(reversed(tuple(index_space.offset)))
    launch, values = group.launch_with_offset, tuple(packed)
    return lambda waits: launch(native, target, *sizes, offset, values, waits)
