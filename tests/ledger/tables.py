"""What the ledger is made of: one part for each specification, and its rows.

A part is two files beside this one. ``NAME.csv`` is the table: chapter, name, forms, python, tests. What it must cover
is taken from the specification's text: ``NAME.txt`` lists every identifier and how many declarations it has; for a
specification that is told in paragraphs ``NAME_sections.txt`` lists the number and title of its sections instead, a
row's name is what its paragraphs ask for, and its forms are how many paragraphs it stands for.
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

    Args:
        chapter: where in the specification it is.
        name: the identifier as it is spelt there and, in parentheses, which of its forms.
        forms: declarations that this row stands for.
        python: attribute path below ``bindless`` such as ``ImageMem.close``, keyword parameters in parentheses:
            ``create_image(sampler=, pitch=)``, several separated by ``; ``; ``planned`` where there is none yet, and
            ``none: REASON`` for a paragraph that asks nothing of a Python package; ``driver: REASON`` for one that the
            package's own driver fulfils where no Python name reaches it. A row whose name is wider than its tests ends
            with ``; stretch: WHAT IS NOT SHOWN``.
        tests: ``path::function`` each, paths below ``tests``.
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
        """Whether it is still to come."""
        return self.python == PLANNED

    @property
    def reason(self) -> str:
        """Why a paragraph has neither Python name nor test, or nothing."""
        return self.python.removeprefix(NONE) if self.python.startswith(NONE) else ""

    @property
    def is_drivers(self) -> bool:
        """Whether the package's own driver alone fulfils it."""
        return self.python.startswith(DRIVER)

    @property
    def stretch(self) -> str:
        """What its tests do not show of it, or nothing."""
        return self.python.partition(STRETCH)[2]

    @property
    def names(self) -> tuple[str, ...]:
        """Its Python names."""
        if self.is_planned or self.is_drivers or self.reason:
            return ()
        return tuple(self.python.partition(STRETCH)[0].split("; "))


@dataclass(frozen=True)
class Part:
    """One specification.

    Args:
        title: its name.
        rows: in the order of its chapters.
        identifiers: each with the number of its declarations; None where it is told in paragraphs.
        sections: title to the number of paragraphs; None where it is told in declarations.
        planned: chapters in which rows may be planned.
    """

    title: str
    rows: tuple[Row, ...]
    identifiers: dict[str, int] | None
    sections: dict[str, int] | None
    planned: frozenset[str]

    @property
    def chapters(self) -> dict[str, list[Row]]:
        """Title to rows, in order."""
        found: dict[str, list[Row]] = {}
        for row in self.rows:
            found.setdefault(row.chapter, []).append(row)
        return found


def read_part(name: str, title: str, planned: frozenset[str] = frozenset()) -> Part:
    """The part in ``name.csv``, with ``name.txt`` or ``name_sections.txt``.

    Raises:
        ValueError: the table has other columns, or a count is no number.
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
    """What a list counts, or None if there is no list."""
    if not listed.exists():
        return None
    found = {}
    for line in listed.read_text(encoding="utf-8").splitlines():
        first, _, last = line.partition(" ")
        key, number = (last, first) if number_first else (first, last)
        found[key] = int(number)
    return found
