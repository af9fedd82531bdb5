"""File descriptors that drivers take over."""

from __future__ import annotations

import os

__all__ = ["take_back"]


def take_back(duplicate: int, original: int) -> None:
    """Closes the duplicate of a file descriptor that a driver was given and refused, where the driver has not closed it
    all the same: NVIDIA's does that with files of some kinds."""
    try:
        is_open = os.path.sameopenfile(duplicate, original)
    except OSError:
        is_open = False
    if is_open:
        os.close(duplicate)
