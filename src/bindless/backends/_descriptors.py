"""File descriptors that drivers take over."""

from __future__ import annotations

import os

from ..model.errors import MemoryAllocationError

__all__ = ["duplicate", "take_back"]


def duplicate(number: int) -> int:
    """Another number of an open file descriptor.

    Raises:
        MemoryAllocationError: the process has as many as it may have.
    """
    try:
        return os.dup(number)
    except OSError as error:
        raise MemoryAllocationError(f"file descriptor {number} cannot be duplicated: {error.strerror}") from None


def take_back(duplicate: int, original: int) -> None:
    """Closes the duplicate of a file descriptor that a driver was given and refused, where the driver has not closed it
    all the same: NVIDIA's does that with files of some kinds."""
    try:
        is_open = os.path.sameopenfile(duplicate, original)
    except OSError:
        is_open = False
    if is_open:
        os.close(duplicate)
