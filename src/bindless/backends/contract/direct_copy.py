"""``DirectCopy``: a copy as one call of a function of the driver's, for backends that can tell it."""

from __future__ import annotations

from dataclasses import dataclass

from .direct_launch import DirectLaunch

__all__ = ["DirectCopy"]


@dataclass(frozen=True)
class DirectCopy:
    """What ``prepare_copy`` gives.

    Attributes:
        command: submits it.
        places: of the source and of the destination, where in each description the address of an array, or the handle
            of an image, goes. Without any the side stays as it is: the copy is good for this image or memory alone.
        offsets: bytes from those addresses to what goes there.
    """

    command: DirectLaunch
    places: tuple[tuple[int, ...], tuple[int, ...]]
    offsets: tuple[int, int] = (0, 0)
