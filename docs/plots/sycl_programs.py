"""Table of docs/guide/sycl_device.md: programs of others on the Level Zero driver, from ``docs/measurements``.

python docs/plots/sycl_programs.py
"""

from __future__ import annotations

import json
from pathlib import Path

HERE = Path(__file__).resolve().parent
PAGE = HERE.parent / "guide" / "sycl_device.md"
HEAD = "| program | identity | passed / failed / skipped | remarks |\n|---|---|---|---|\n"


def write(page: Path) -> None:
    """Replace the page's table by that of the document."""
    rows = json.loads((HERE.parent / "measurements" / "sycl_programs.json").read_text(encoding="utf-8"))
    table = HEAD + "".join(
        f"| {row['program']} | {row['identity']} | {' / '.join(map(str, row['counts']))} | {row['remarks']} |\n"
        for row in rows
    )
    before, _, after = page.read_text(encoding="utf-8").partition(HEAD)
    rest = after.splitlines(keepends=True)
    while rest and rest[0].startswith("|"):
        rest.pop(0)
    page.write_text(before + table + "".join(rest), encoding="utf-8")


if __name__ == "__main__":
    write(PAGE)
