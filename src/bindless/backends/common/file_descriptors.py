"""File descriptors whose ownership passes to drivers."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

from ...model.errors import MemoryAllocationError
from ...model.external import Resource, ResourceFd

__all__ = ["KeptResource", "handed_over"]


class KeptResource:
    """A handle that an import keeps until its end, for drivers that take ownership with each object made from it.

    Attributes
    ----------
    resource
        the handle; a duplicate for a file descriptor.
    """

    __slots__ = ("resource",)

    def __init__(self, resource: Resource) -> None:
        if isinstance(resource, ResourceFd):
            resource = ResourceFd(_duplicate(resource.file_descriptor))
        self.resource = resource

    def close(self) -> None:
        """Close the duplicate."""
        if isinstance(self.resource, ResourceFd):
            os.close(self.resource.file_descriptor)


@contextmanager
def handed_over(number: int) -> Iterator[int]:
    """A duplicate of a file descriptor; the driver owns it if the block ends without an error."""
    duplicate = _duplicate(number)
    try:
        yield duplicate
    except BaseException:
        _take_back(duplicate, number)
        raise


def _duplicate(number: int) -> int:
    """Duplicate an open file descriptor.

    Raises
    ------
    MemoryAllocationError
        the process has reached its limit of file descriptors.
    """
    try:
        return os.dup(number)
    except OSError as error:
        raise MemoryAllocationError(f"file descriptor {number} cannot be duplicated: {error.strerror}") from None


def _take_back(duplicate: int, original: int) -> None:
    """Close a duplicate that a driver refused, unless the driver has closed it: NVIDIA's driver does that for some
    kinds of files.
    """
    try:
        is_open = os.path.sameopenfile(duplicate, original)
    except OSError:
        is_open = False
    if is_open:
        os.close(duplicate)
