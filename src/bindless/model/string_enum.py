"""``StringEnum``: the base class of the enumerations of the specifications."""

from __future__ import annotations

from enum import Enum

__all__ = ["StringEnum"]


class StringEnum(str, Enum):
    """An enum whose members are equal to, and print as, their names in the specification."""

    def __init__(self, *_: object) -> None:
        self._number = len(type(self)._member_names_)

    @property
    def number(self) -> int:
        """Position among the members: the number that the package's driver and kernels have for it."""
        return self._number

    def __str__(self) -> str:
        return str(self.value)

    @classmethod
    def _missing_(cls, value: object) -> StringEnum | None:
        """Return the member of an older name, such as ``AddressingMode("clamp")``."""
        return cls.__members__.get(value) if isinstance(value, str) else None
