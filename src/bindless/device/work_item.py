"""The work-item that interprets a kernel in plain Python, and the group that it belongs to."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from types import CodeType
from typing import Any, TypeVar

from ..model.arrays import Array
from ..model.errors import NdRangeError

__all__ = ["Group", "WorkItem", "current", "interpreting"]

_LOCAL = threading.local()
_Value = TypeVar("_Value")


class Group:
    """Work-items of a group, one of which runs at a time.

    Parameters
    ----------
    size
        How many.
    is_named
        Whether an ``NdRange`` names it; a plain range has no work-groups.

    Attributes
    ----------
    memory
        Arrays in local memory, by the place of their creation.
    values
        What the work-items contribute to a function of the group.
    """

    def __init__(self, size: int, is_named: bool) -> None:
        self.size = size
        self.is_named = is_named
        self.memory: dict[tuple[CodeType, int], Array] = {}
        self.values: list[Any] = [None] * size
        self.meeting: Callable[[], None] = _alone if size == 1 else _unmet


def _alone() -> None:
    """A group of one work-item waits for nobody."""


def _unmet() -> None:
    raise RuntimeError("the interpreter did not see that the kernel waits for its group")


@dataclass
class WorkItem:
    """One work-item.

    Attributes
    ----------
    item, item_range
        Place in the launch, and its range.
    local, local_range
        Place in the group, and its range.
    group
        The group.
    """

    item: tuple[int, ...]
    item_range: tuple[int, ...]
    local: tuple[int, ...]
    local_range: tuple[int, ...]
    group: Group = field(repr=False)

    @property
    def number(self) -> int:
        """Place in the group, counted along the last dimension first."""
        number = 0
        for place, size in zip(self.local, self.local_range):
            number = number * size + place
        return number

    @property
    def name(self) -> str:
        """As in the faults of the reference driver: ``item_id (row 3, column 5)``."""
        names = [""] if len(self.item) == 1 else ["plane ", "row ", "column "][-len(self.item) :]
        return f"item_id ({', '.join(f'{name}{place}' for name, place in zip(names, self.item))})"

    @property
    def named_group(self) -> Group:
        """The group, for functions that its work-items call together.

        Raises
        ------
        NdRangeError
            A plain range, which has no work-groups.
        """
        if not self.group.is_named:
            raise NdRangeError(
                "the kernel calls a function of work-groups, and a plain range names none: run it over "
                "NdRange(global_range, local_range)"
            )
        return self.group

    def barrier(self) -> None:
        """Wait for the other work-items of the group."""
        self.named_group.meeting()

    def gather(self, value: _Value) -> list[_Value]:
        """Return the values of all work-items of the group, in their order."""
        group = self.named_group
        group.values[self.number] = value
        group.meeting()
        values = list(group.values)
        group.meeting()
        return values


def current() -> WorkItem:
    """Return the work-item of this thread.

    Raises
    ------
    RuntimeError
        No kernel runs: functions of ``bindless.device`` are called by kernels.
    """
    item: WorkItem | None = getattr(_LOCAL, "item", None)
    if item is None:
        raise RuntimeError(
            "functions of bindless.device are called by kernels: launch one with queue.parallel_for(range, kernel, "
            "...), or kernel.run_in_python(range, ...)"
        )
    return item


def interpreting(item: WorkItem | None) -> None:
    """Make a work-item the one of this thread."""
    _LOCAL.item = item
