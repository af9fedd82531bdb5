"""Accessors: what a command group asks of memory. So far work-group local memory alone (SYCL 2020 section 4.7.6.11)."""

from __future__ import annotations

from ._usm_pointer import size_of

__all__ = ["LocalAccessor"]


class LocalAccessor:
    """Local memory of a work-group, as a kernel argument.

    Args:
        nbytes: bytes for each work-group, at least 1.

    Raises:
        InvalidError: ``nbytes`` is no positive integer.
    """

    __slots__ = ("nbytes",)

    def __init__(self, nbytes: int) -> None:
        self.nbytes = size_of(nbytes)

    def __repr__(self) -> str:
        return f"LocalAccessor({self.nbytes})"
