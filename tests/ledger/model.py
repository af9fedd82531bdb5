"""What the ledger is made of: one part for each specification, and its rows.

A part is two files beside this one. ``NAME.csv`` is the table: chapter, name, forms, python, tests. ``NAME.txt`` lists
every identifier of the specification and how many declarations it has, taken from its text; a specification that is
told in sections instead has none.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass
from pathlib import Path

__all__ = ["PLANNED", "Part", "Row", "read_part"]

PLANNED = "planned"
_COLUMNS = ["chapter", "name", "forms", "python", "tests"]


@dataclass(frozen=True)
class Row:
    """One name of a specification, its Python name, and the tests that exercise it.

    Args:
        chapter: where in the specification it is.
        name: the identifier as it is spelt there and, in parentheses, which of its forms.
        forms: declarations that this row stands for.
        python: attribute path below ``bindless`` such as ``ImageMem.close``, keyword parameters in parentheses:
            ``create_image(sampler=, pitch=)``; ``planned`` where there is none yet.
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


@dataclass(frozen=True)
class Part:
    """One specification.

    Args:
        title: its name.
        rows: in the order of its chapters.
        identifiers: each with the number of its declarations; None where it is told in sections.
        planned: chapters in which rows may be planned.
    """

    title: str
    rows: tuple[Row, ...]
    identifiers: dict[str, int] | None
    planned: frozenset[str]

    @property
    def chapters(self) -> dict[str, list[Row]]:
        """Title to rows, in order."""
        found: dict[str, list[Row]] = {}
        for row in self.rows:
            found.setdefault(row.chapter, []).append(row)
        return found


def read_part(name: str, title: str, planned: frozenset[str] = frozenset()) -> Part:
    """The part in ``name.csv`` and, where it exists, ``name.txt``.

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
    listed = here / f"{name}.txt"
    identifiers = None
    if listed.exists():
        pairs = (line.split(" ") for line in listed.read_text(encoding="utf-8").splitlines())
        identifiers = {identifier: int(count) for identifier, count in pairs}
    return Part(title, rows, identifiers, planned)
