"""``DirectCopy``: a copy as one call of a function of the driver's, for backends that can tell it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NoReturn

from .direct_launch import DirectLaunch

__all__ = ["DirectCall", "DirectCopy"]


@dataclass(frozen=True)
class DirectCall:
    """A command of a driver that makes an event of each.

    Attributes:
        submit: address of a C function, as of ``DirectLaunch``.
        description: address of what it is given.
        made: gives the native event of the call just made; the queue's lock is held from before the call.
        refused: given the driver's error, raises what it means.
        keep: what the addresses point into.
    """

    submit: int
    description: int
    made: Callable[[], Any]
    refused: Callable[[int], NoReturn]
    keep: object


@dataclass(frozen=True)
class DirectCopy:
    """What ``prepare_copy`` gives.

    Attributes:
        command: submits it.
        places: of the source and of the destination, where in each description the address of an array, or the handle
            of an image, goes. Without any the side stays as it is: the copy is good for this image or memory alone.
        offsets: bytes from those addresses to what goes there.
    """

    command: DirectLaunch | DirectCall
    places: tuple[tuple[int, ...], tuple[int, ...]]
    offsets: tuple[int, int] = (0, 0)
