"""Access modes, and their combination within a command group (ARCH, SYCL application memory model)."""

from __future__ import annotations

from dataclasses import dataclass

from ...model.enums import AccessMode, coerce
from ...model.errors import InvalidError

__all__ = ["NRW", "NWO", "OF_MODE", "RO", "RW", "WO", "Requirement", "combined", "requirement_of"]


@dataclass(frozen=True, eq=False)
class Requirement:
    """An access mode, ``no_init`` included.

    Attributes
    ----------
    name : str
        As the specification writes it.
    needs : bool
        Whether the contents must be there first.
    writes : bool
        Whether the command changes the contents.
    """

    name: str
    needs: bool
    writes: bool

    def __repr__(self) -> str:
        return self.name


RO = Requirement("RO", needs=True, writes=False)
WO = Requirement("WO", needs=True, writes=True)  # what is not written stays
RW = Requirement("RW", needs=True, writes=True)
NWO = Requirement("NWO", needs=False, writes=True)
NRW = Requirement("NRW", needs=False, writes=True)

# The table of combined requirements, row by row.
_UNION = {
    (RO, WO): RW,
    (RO, RW): RW,
    (WO, RW): RW,
    (NWO, NRW): NRW,
    (NWO, WO): WO,
    (NWO, RO): RW,
    (NWO, RW): RW,
    (NRW, WO): RW,
    (NRW, RO): RW,
    (NRW, RW): RW,
}
_UNION |= {(right, left): both for (left, right), both in _UNION.items()}


def combined(left: Requirement, right: Requirement) -> Requirement:
    """The one requirement of two accessors of the same memory and target in one command group."""
    return left if left is right else _UNION[left, right]


OF_MODE: dict[tuple[AccessMode | str, bool], Requirement] = {
    (AccessMode.read, False): RO,
    (AccessMode.write, False): WO,
    (AccessMode.read_write, False): RW,
    (AccessMode.write, True): NWO,
    (AccessMode.read_write, True): NRW,
}


def requirement_of(mode: AccessMode | str, no_init: bool) -> Requirement:
    """The requirement of an access mode.

    Raises
    ------
    InvalidError
        No such mode, or contents that are to be read and discarded at once.
    """
    mode = coerce(AccessMode, mode, "mode")
    if no_init and mode is AccessMode.read:
        raise InvalidError("no_init=True with mode='read': there would be nothing to read; leave no_init out")
    return OF_MODE[mode, bool(no_init)]
