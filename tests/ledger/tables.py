"""Tables of the ledger: one part for each specification, and its rows.

A part consists of two files in this folder. ``NAME.csv`` is the table: chapter, name, forms, python, tests. The second
file lists the required coverage, taken from the specification's text. ``NAME.txt`` lists every identifier with its
number of declarations. ``NAME_sections.txt`` serves a specification written in paragraphs: it lists each section with
its title and number of paragraphs; a row's name is then the requirement of its paragraphs, and its forms their number.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass
from pathlib import Path

__all__ = ["DRIVER", "NONE", "PLANNED", "STRETCH", "Part", "Row", "read_part"]

PLANNED = "planned"
NONE = "none: "
DRIVER = "driver: "
STRETCH = "; stretch: "
_COLUMNS = ["chapter", "name", "forms", "python", "tests"]


@dataclass(frozen=True)
class Row:
    """One name of a specification, its Python name, and the tests that exercise it.

    Parameters
    ----------
    chapter
        The chapter of the specification.
    name
        The identifier as spelt in the specification and, in parentheses, the form.
    forms
        The number of declarations that the row covers.
    python
        Attribute paths below ``bindless`` such as ``ImageMem.close``, separated by ``; ``, with keyword parameters in
        parentheses: ``create_image(sampler=, pitch=)``. ``planned`` marks a missing name, ``none: REASON`` a paragraph
        without a requirement on a Python package, ``driver: REASON`` a paragraph that the package's own driver fulfils
        without a Python name. A row whose name is wider than its tests ends with ``; stretch: WHAT IS NOT SHOWN``.
    tests
        ``path::function`` of each test, with paths relative to ``tests``.
    """

    chapter: str
    name: str
    forms: int
    python: str
    tests: tuple[str, ...]

    @property
    def identifier(self) -> str:
        """The name without its form."""
        return self.name.partition(" ")[0]

    @property
    def is_planned(self) -> bool:
        """Whether the Python name does not exist yet."""
        return self.python == PLANNED

    @property
    def reason(self) -> str:
        """The reason why a paragraph has neither Python name nor test, or an empty string."""
        return self.python.removeprefix(NONE) if self.python.startswith(NONE) else ""

    @property
    def is_drivers(self) -> bool:
        """Whether only the package's own driver fulfils the row."""
        return self.python.startswith(DRIVER)

    @property
    def stretch(self) -> str:
        """The part of the row that its tests do not show, or an empty string."""
        return self.python.partition(STRETCH)[2]

    @property
    def names(self) -> tuple[str, ...]:
        """The row's Python names."""
        if self.is_planned or self.is_drivers or self.reason:
            return ()
        return tuple(self.python.partition(STRETCH)[0].split("; "))


@dataclass(frozen=True)
class Part:
    """One specification.

    Parameters
    ----------
    title
        The specification's name.
    rows
        The rows in the order of the chapters.
    identifiers
        Each identifier with its number of declarations; None for a specification in paragraphs.
    sections
        Each section's title with its number of paragraphs; None for a specification in declarations.
    planned
        Chapters in which rows may be planned.
    """

    title: str
    rows: tuple[Row, ...]
    identifiers: dict[str, int] | None
    sections: dict[str, int] | None
    planned: frozenset[str]

    @property
    def chapters(self) -> dict[str, list[Row]]:
        """Map each chapter's title to its rows, in order."""
        found: dict[str, list[Row]] = {}
        for row in self.rows:
            found.setdefault(row.chapter, []).append(row)
        return found


def read_part(name: str, title: str, planned: frozenset[str] = frozenset()) -> Part:
    """Read a part from ``name.csv`` and ``name.txt`` or ``name_sections.txt``.

    Raises
    ------
    ValueError
        The table has the wrong columns, or a count is not a number.
    """
    here = Path(__file__).parent
    with (here / f"{name}.csv").open(newline="", encoding="utf-8") as file:
        reader = csv.DictReader(file)
        if reader.fieldnames != _COLUMNS:
            raise ValueError(f"{name}.csv has the columns {reader.fieldnames}; they are {_COLUMNS}")
        rows = tuple(
            Row(row["chapter"], row["name"], int(row["forms"]), row["python"], tuple(row["tests"].split()))
            for row in reader
        )
    identifiers = _numbers(here / f"{name}.txt", number_first=False)
    return Part(title, rows, identifiers, _numbers(here / f"{name}_sections.txt", number_first=True), planned)


def _numbers(listed: Path, *, number_first: bool) -> dict[str, int] | None:
    """The counts in a list file, or None if the file does not exist."""
    if not listed.exists():
        return None
    found = {}
    for line in listed.read_text(encoding="utf-8").splitlines():
        first, _, last = line.partition(" ")
        key, number = (last, first) if number_first else (first, last)
        found[key] = int(number)
    return found
