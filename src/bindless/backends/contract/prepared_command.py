"""``PreparedCommand``: a launch, a copy or a device function as one call of a C function."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NoReturn

from ...core._submission import Lane, Mark

__all__ = ["PreparedCommand"]


@dataclass(frozen=True)
class PreparedCommand:
    """The result of ``prepare_launch`` if C can submit the launch without Python.

    Attributes
    ----------
    submit
        address of a C function, ``int submit(const void *description)``, which returns 0, the driver's error, or -2**31
        if ``launch`` has to make this launch, because Python has work to do first.
    descriptions
        addresses of its arguments, by lane.
    lanes
        streams that share the commands without dependencies in turn.
    mark
        type of their events.
    places
        address of the bytes of each argument during the call; None for local memory.
    sizes
        bytes of each argument.
    settle
        function of a lane whose last event is still referenced, called before another command on that lane; not called
        for lanes whose driver creates an event for each command.
    refused
        function that raises the exception of the driver's error.
    keep
        objects that own the memory behind the addresses.
    """

    submit: int
    descriptions: tuple[int, ...]
    lanes: tuple[Lane, ...]
    mark: type[Mark]
    places: tuple[int | None, ...]
    sizes: tuple[int, ...]
    settle: Callable[[Any], object]
    refused: Callable[[int], NoReturn]
    keep: object
