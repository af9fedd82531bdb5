"""File descriptors that drivers take over."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

from ...model.errors import MemoryAllocationError
from ...model.external import Resource, ResourceFd

__all__ = ["KeptResource", "handed_over"]


class KeptResource:
    """What an import keeps until its end, where the driver takes a handle over each time something is made of it.

    Attributes:
        resource: the handle: of a file descriptor a duplicate.
    """

    __slots__ = ("resource",)

    def __init__(self, resource: Resource) -> None:
        if isinstance(resource, ResourceFd):
            resource = ResourceFd(_duplicate(resource.file_descriptor))
        self.resource = resource

    def close(self) -> None:
        """Gives the duplicate back."""
        if isinstance(self.resource, ResourceFd):
            os.close(self.resource.file_descriptor)


@contextmanager
def handed_over(number: int) -> Iterator[int]:
    """A duplicate of a file descriptor, which is the driver's where the block ends without an error."""
    given = _duplicate(number)
    try:
        yield given
    except BaseException:
        _take_back(given, number)
        raise


def _duplicate(number: int) -> int:
    """Another number of an open file descriptor.

    Raises:
        MemoryAllocationError: the process has as many as it may have.
    """
    try:
        return os.dup(number)
    except OSError as error:
        raise MemoryAllocationError(f"file descriptor {number} cannot be duplicated: {error.strerror}") from None


def _take_back(duplicate: int, original: int) -> None:
    """Closes the duplicate of a file descriptor that a driver was given and refused, where the driver has not closed it
    all the same: NVIDIA's does that with files of some kinds."""
    try:
        is_open = os.path.sameopenfile(duplicate, original)
    except OSError:
        is_open = False
    if is_open:
        os.close(duplicate)
