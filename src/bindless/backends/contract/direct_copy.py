"""``DirectCopy``: a copy as one call of a C function, for back ends that support it."""

from __future__ import annotations

from dataclasses import dataclass

from .direct_launch import DirectLaunch

__all__ = ["DirectCopy"]


@dataclass(frozen=True)
class DirectCopy:
    """The result of ``prepare_copy``.

    Attributes
    ----------
    command
        launch that submits the copy.
    places
        positions in each description of the address of an array, or the handle of an image, for the source and for the
        destination. A side without positions is fixed: the copy is valid for this image or memory only.
    offsets
        bytes that are added to those addresses.
    """

    command: DirectLaunch
    places: tuple[tuple[int, ...], tuple[int, ...]]
    offsets: tuple[int, int] = (0, 0)
