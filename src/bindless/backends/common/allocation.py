"""Checks of unified memory: sizes of allocations, and addresses to free."""

from __future__ import annotations

from ...model.errors import MemoryAllocationError

__all__ = ["require_rows", "require_size", "unknown_allocation"]


def require_size(nbytes: int, backend: str) -> None:
    """Raises ``MemoryAllocationError`` for a size that no allocation has."""
    if not 0 < nbytes < 2**63:
        raise MemoryAllocationError(f"nbytes={nbytes}: an allocation has 1 to 2**63 - 1 bytes", backend=backend)


def require_rows(width_in_bytes: int, height: int, backend: str) -> None:
    """Raises ``MemoryAllocationError`` for pitched memory without bytes or rows."""
    if width_in_bytes < 1 or height < 1:
        raise MemoryAllocationError(
            f"{width_in_bytes} bytes x {height} rows: both are at least 1 (a one-dimensional image is one row)",
            backend=backend,
        )


def unknown_allocation(address: int, backend: str) -> MemoryAllocationError:
    """The error of an address to free at which the context has no allocation."""
    return MemoryAllocationError(
        f"{address:#x} is not the address of an allocation of this context: it was freed before, lies inside an "
        "allocation, or belongs to another context or library",
        backend=backend,
    )
