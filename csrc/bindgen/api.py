"""The declarations of one driver's API, as plain records."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

__all__ = ["Api", "Constant", "Enumeration", "Field", "Function", "Parameter", "Record"]


@dataclass(frozen=True)
class Parameter:
    """A parameter: its C declaration, its name, and its Python type."""

    declaration: str
    name: str
    python: str


@dataclass(frozen=True)
class Function:
    """A function: its public name, its exported symbol, and its header."""

    name: str
    symbol: str
    result: str
    result_python: str
    parameters: tuple[Parameter, ...]
    group: str


@dataclass(frozen=True)
class Field:
    """A member of a struct, by its path, with its offset and size in bytes."""

    path: str
    offset: int
    size: int


@dataclass(frozen=True)
class Record:
    """A struct or union with the layout that the compiler reports for the real header."""

    name: str
    c_name: str
    size: int
    alignment: int
    fields: tuple[Field, ...]


@dataclass(frozen=True)
class Enumeration:
    """An enum, or a group of macros that acts as one."""

    name: str
    members: tuple[tuple[str, int], ...]
    flags: bool
    c_type: str = ""


@dataclass(frozen=True)
class Constant:
    """A macro constant."""

    name: str
    value: int | float | str


@dataclass
class Api:
    """All generated declarations of one driver, in header order."""

    name: str
    version: str
    declarations: list[str] = field(default_factory=list)
    functions: list[Function] = field(default_factory=list)
    records: list[Record] = field(default_factory=list)
    enumerations: list[Enumeration] = field(default_factory=list)
    macro_enumerations: list[Enumeration] = field(default_factory=list)
    constants: list[Constant] = field(default_factory=list)
    structure_types: dict[str, int] = field(default_factory=dict)
    skipped: list[tuple[str, str]] = field(default_factory=list)

    def enumerators(self) -> Iterator[tuple[str, int]]:
        """Every enumerator of every C enum."""
        for enumeration in self.enumerations:
            yield from enumeration.members

    def value_of(self, name: str) -> int:
        """The value of an enumerator or integer macro."""
        for member, value in self.enumerators():
            if member == name:
                return value
        for constant in self.constants:
            if constant.name == name and isinstance(constant.value, int):
                return constant.value
        raise KeyError(name)
