"""``DirectLaunch``: a launch as one call of a function of the driver's, for backends that can tell it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NoReturn

from ...core._submission import Lane, Mark

__all__ = ["DirectLaunch"]


@dataclass(frozen=True)
class DirectLaunch:
    """What ``prepare_launch`` gives where the driver itself can be called without Python in between.

    Attributes:
        submit: address of a C function, ``int submit(const void *description)``, which gives 0, the driver's error, or
            -2**31 where ``launch`` has to make this launch, for Python has to see to something first.
        descriptions: addresses of what it is given, by lane.
        lanes: streams that commands which depend on nothing go round.
        mark: the type of their events.
        places: by argument, where its bytes lie while the function runs; None of local memory.
        sizes: by argument, how many bytes these are.
        settle: given a lane whose last event somebody keeps, before another command goes there; not called of lanes
            where the driver makes an event of each.
        refused: given the driver's error, raises what it means.
        keep: what the addresses point into.
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
