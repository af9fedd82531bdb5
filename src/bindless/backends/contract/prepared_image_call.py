"""Optional: device functions over arrays that are prepared once and submitted repeatedly."""

from __future__ import annotations

from typing import Protocol

from ...model.image_call import ImageCall
from .native_objects import NativeQueue
from .prepared_command import PreparedCommand

__all__ = ["ALIGNMENT", "ARRAYS", "PreparedImageCallProtocol"]

ARRAYS = ("coords", "layers", "levels", "dx", "dy", "values")
"""Fields of ``ImageCall`` that hold addresses, in the order of the places of a prepared call."""

ALIGNMENT = 16
"""Bytes; all arrays of this alignment have the same kernel."""


class PreparedImageCallProtocol(Protocol):
    """Device functions that C code submits again with other arrays of the same shapes and dtypes."""

    def prepare_image_call(self, queue: NativeQueue, call: ImageCall) -> PreparedCommand | None:
        """The command of a call; None where each submission takes Python.

        ``places`` holds one entry for each of ``ARRAYS``: the position of the 8 bytes of the array's address, which C
        code may replace before each submission, or None where the call has no such array. ``sizes`` is 8 for each
        array, 0 for others.

        The kernel of a call depends on the alignment of its arrays. An address that replaces another is a multiple of
        ``ALIGNMENT``, or has the same remainder.
        """
