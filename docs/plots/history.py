"""History of five rows of ``bindless bench``: docs/measurements/history.json, and the tables of history.md.

python docs/plots/history.py                       writes the tables
python docs/plots/history.py DOCUMENT.json ...     adds documents of ``bindless bench --json``, then writes the tables
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

__all__ = ["ROWS", "add", "page", "tables"]

MEASUREMENTS = Path(__file__).parents[1] / "measurements"
ROWS = (
    "sample 2D fp32 x4, neighbouring",
    "sample 2D fp32 x4, random",
    "sample 3D fp32 x1",
    "fetch 2D fp16 x4",
    "write 2D fp32 x4",
)
START, END = "<!-- history -->", "<!-- end of history -->"


def add(history: list[dict[str, Any]], document: dict[str, Any]) -> None:
    """Append the five rows of a document, in millions a second; a run that is there already is replaced."""
    speeds: dict[str, float] = {}
    for row in document["rows"]:
        if row["operation"] in ROWS and row["amount"]:
            speeds.setdefault(row["operation"], round(row["amount"] / row["seconds"] / 1e6, 1))
    if not speeds:
        return  # a run of other parts
    run = {
        "device": document["device"],
        "date": document["date"][:19],
        "processors": document["machine"]["processors"],
        "samples": document["samples"],
        "speeds": speeds,
    }
    history[:] = [entry for entry in history if (entry["device"], entry["date"]) != (run["device"], run["date"])]
    history.append(run)
    history.sort(key=lambda entry: (_name_and_driver(entry["device"])[0], entry["date"]))


def _name_and_driver(device: str) -> tuple[str, str]:
    """A device's name, and the version of its driver, which ends the text."""
    name, _, rest = device.rpartition(" [")
    return name.rpartition(" ")[0], rest.removesuffix("]")


def tables(history: list[dict[str, Any]]) -> str:
    """One table for each device, one line for each run."""
    parts = []
    for device in sorted({_name_and_driver(entry["device"])[0] for entry in history}):
        lines = [f"`{device}`", "", f"| date | driver | processors | samples | {' | '.join(ROWS)} |", "|" + "---|" * 9]
        for entry in history:
            name, driver = _name_and_driver(entry["device"])
            if name == device:
                cells = (f"{entry['speeds'][row]:,.0f}" if row in entry["speeds"] else "" for row in ROWS)
                head = f"{entry['date'][:10]} | {driver} | {entry['processors']} | {entry['samples']:,}"
                lines.append(f"| {head} | {' | '.join(cells)} |")
        parts.append("\n".join(lines))
    return "\n\n".join(parts)


def page(text: str, history: list[dict[str, Any]]) -> str:
    """The text of the page with new tables between its marks."""
    before, _, rest = text.partition(START)
    _, _, after = rest.partition(END)
    return f"{before}{START}\n{tables(history)}\n{END}{after}"


def main(documents: list[str]) -> None:
    kept, target = MEASUREMENTS / "history.json", MEASUREMENTS / "history.md"
    history = json.loads(kept.read_text(encoding="utf-8"))
    for document in documents:
        add(history, json.loads(Path(document).read_text(encoding="utf-8")))
    kept.write_text(json.dumps(history, indent=1) + "\n", encoding="utf-8")
    target.write_text(page(target.read_text(encoding="utf-8"), history), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
