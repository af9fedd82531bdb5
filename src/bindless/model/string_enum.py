"""``StringEnum``: base class of the enumerations of the specifications. ``AliasedEnum``: with members of two names."""

from __future__ import annotations

from enum import Enum

__all__ = ["AliasedEnum", "StringEnum"]


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


class AliasedEnum(StringEnum):
    """An enum whose members are equal to each of their names: ``Backend.level_zero == "ext_oneapi_level_zero"``.

    Sets and dictionaries know a member by its value.
    """

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, str) and type(self).__members__.get(str(other)) is self)

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = str.__hash__
