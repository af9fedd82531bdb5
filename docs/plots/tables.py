"""Tables of docs/measurements/performance.md, from the ``bindless bench --json`` documents of this folder.

python docs/plots/tables.py
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any


def _short(number: float) -> str:
    return f"{number:.0f}" if number >= 100 else f"{number:.3g}"


def _speed(row: dict[str, Any], seconds: float) -> str:
    if row["amount"]:
        scale, unit = (1e9, "GB/s") if row["unit"] == "bytes" else (1e6, f"M{row['unit']}/s")
        return f"{_short(row['amount'] / seconds / scale)} {unit}"
    return f"{_short(seconds * 1e6)} \u00b5s" if seconds < 1e-3 else f"{_short(seconds * 1e3)} ms"


def _target(row: dict[str, Any]) -> str:
    if row["reached"] is None:
        return ""
    wanted = f"{row['wanted']:.2f}"
    if row["wanted_seconds"]:
        wanted = f"at most {_speed({**row, 'amount': 0}, row['wanted_seconds'])}"
    elif row["wanted_percent"]:
        wanted = f"{row['wanted_percent']:.0f} % of the bound"
    return wanted if row["reached"] else f"**{wanted}: missed**"


def table(document: dict[str, Any]) -> str:
    """Return a Markdown table: one line per operation, with the ratio to every peer."""
    rows: dict[str, list[dict[str, Any]]] = {}
    for row in document["rows"]:
        rows.setdefault(row["operation"], []).append(row)
    told = any("includes" in row for row in document["rows"])  # which documents of older versions do not say
    header = ["operation", *(["includes"] if told else []), "ours", "times as fast as", "of the bound", "target"]
    lines = [f"| {' | '.join(header)} |", "|" + "---|" * len(header)]
    for operation, group in rows.items():
        peers = ", ".join(f"{row['peer']} {row['ratio']:.2f}" for row in group if row["peer"])
        percent = group[0]["percent_of_bound"]
        bound = "" if percent is None else f"{percent:.0f} %"
        targets = ", ".join(text for text in map(_target, group) if text)
        includes = [group[0].get("includes", "")] if told else []
        cells = [operation, *includes, _speed(group[0], group[0]["seconds"]), peers, bound, targets]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def write(page: Path) -> None:
    """Write the table of each document of this folder between its marks in a page."""
    text = page.read_text(encoding="utf-8")
    for path in sorted(Path(__file__).parent.glob("*.json")):
        document = json.loads(path.read_text(encoding="utf-8"))
        machine = document["machine"]
        told = (
            f"`{document['device']}`,\n{document['date'][:10]}; {machine['processors']} processors, "
            f"Python {machine['python']}, numpy {machine['numpy']}; {document['samples'] / 1e6:.1f} M samples a call, "
            f"{document['clock']} time."
        )
        start, end = f"<!-- {path.stem} -->", f"<!-- end of {path.stem} -->"
        before, _, rest = text.partition(start)
        _, mark, after = rest.partition(end)
        if not mark:
            raise SystemExit(f"{page} has no marks {start} and {end}")
        text = f"{before}{start}\n{told}\n\n{table(document)}\n{end}{after}"
    page.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    write(Path(__file__).parent.parent / "measurements" / "performance.md")
