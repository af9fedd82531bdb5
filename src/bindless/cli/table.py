"""Tables on the terminal: with rich where it is installed and somebody looks, plain text otherwise."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.util import find_spec

__all__ = ["show_table"]


def show_table(title: str, header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Prints a table; the first column is left-aligned, the others right-aligned."""
    if sys.stdout.isatty() and find_spec("rich") is not None:
        from rich.console import Console
        from rich.table import Table

        table = Table(title=title, title_justify="left")
        for index, name in enumerate(header):
            table.add_column(name, justify="right" if index else "left")
        for row in rows:
            table.add_row(*row)
        Console().print(table)
        return
    widths = [max(len(row[index]) for row in (header, *rows)) for index in range(len(header))]
    print(title)
    for row in (header, *rows):
        cells = [
            cell.rjust(width) if index else cell.ljust(width) for index, (cell, width) in enumerate(zip(row, widths))
        ]
        print("  " + "  ".join(cells).rstrip())
