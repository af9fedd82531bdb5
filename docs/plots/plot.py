"""Plots of ``bindless bench --json`` results: throughput against size, for copies and for sampling.

python docs/plots/plot.py    for every document of this folder: copies_NAME.png, and sampling.png

Needs matplotlib: pip install 'bindless[plots]'.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")
from matplotlib import pyplot

_KINDS = ("numpy to image", "image to numpy", "image to image", "image to device memory")
_FOLDER = Path(__file__).parent
_OURS, _THEIRS, _BOUND = "#1f6feb", "#8b949e", "#d0d7de"


def _name(document: dict[str, Any]) -> str:
    """Return the device's own name, which follows its platform in the line of ``bindless ls``."""
    line = re.sub(r"^(\[[^]]*\])+ | \[[^]]*\]$", "", document["device"])
    return line.partition(", ")[2] or line


def _series(rows: list[dict[str, Any]], kind: str) -> list[dict[str, Any]]:
    """Return one row per copy size, smallest first."""
    found = [row for row in rows if re.fullmatch(rf"{kind}, \d+ [KM]iB", row["operation"])]
    return sorted(found, key=lambda row: row["size"])


def plot_copies(document: dict[str, Any], target: Path) -> None:
    """Plot GB/s against size, one panel per direction: this package, the peer and the bandwidth of the memory."""
    figure, panels = pyplot.subplots(1, len(_KINDS), figsize=(14, 3.6), sharex=True, layout="constrained")
    for panel, kind in zip(panels, _KINDS):
        rows = _series(document["rows"], kind)
        sizes = [row["size"] / 2**20 for row in rows]
        panel.plot(sizes, [row["amount"] / row["seconds"] / 1e9 for row in rows], "o-", color=_OURS, label="bindless")
        beside = [row for row in rows if row["peer"]]
        if beside:
            speeds = [row["amount"] / row["peer_seconds"] / 1e9 for row in beside]
            peers = [row["size"] / 2**20 for row in beside]
            panel.plot(peers, speeds, "s--", color=_THEIRS, label=beside[0]["peer"])
        if rows and rows[0]["bound"]:
            bound = [row["amount"] / row["bound_seconds"] / 1e9 for row in rows]
            panel.plot(sizes, bound, ":", color="black", linewidth=1, label="what memory allows")
        panel.set_xscale("log", base=2)
        panel.set_xticks(sizes, [f"{size:g}" if size >= 1 else f"1/{1 / size:.0f}" for size in sizes])
        panel.set_ylim(bottom=0)
        panel.set_title(kind, fontsize=10)
        panel.set_xlabel("MiB")
        panel.grid(color=_BOUND, linewidth=0.5)
        panel.legend(fontsize=8)
    panels[0].set_ylabel("GB/s")
    figure.suptitle(f"Copies: {_name(document)}", fontsize=10)
    figure.savefig(target, dpi=100)
    pyplot.close(figure)


def plot_sampling(documents: list[dict[str, Any]], target: Path) -> None:
    """Plot samples per second against the side of a square image of 4 bytes per pixel, one panel per device."""
    figure, axes = pyplot.subplots(
        1, len(documents), figsize=(5.2 * len(documents), 3.8), layout="constrained", squeeze=False
    )
    for panel, document in zip(axes[0], documents):
        pattern = re.compile(r"sample 2D unorm_int8 x4, image of (\d+) x \d+")
        matches = [(pattern.fullmatch(row["operation"]), row) for row in document["rows"]]
        points = sorted((int(match[1]), row["amount"] / row["seconds"] / 1e9) for match, row in matches if match)
        panel.plot(*zip(*points), "o-", color=_OURS, label="bindless, unorm8 x 4")
        beside = [
            row
            for row in document["rows"]
            if row["operation"] == "sample 2D unorm_int8 x4, neighbouring" and row["peer"]
        ]
        for row in beside:
            if row["peer"].startswith(("OpenCV", "torch", "CuPy")):
                speed = row["amount"] / row["peer_seconds"] / 1e9
                panel.axhline(speed, linestyle="--", color=_THEIRS)
                panel.annotate(
                    f"{row['peer']}, {document['samples'] / 1e6:.0f} M samples",
                    (points[0][0], speed),
                    fontsize=8,
                    va="bottom",
                )
        panel.set_xscale("log", base=2)
        panel.set_xticks([side for side, _ in points], [f"{side}\u00b2" for side, _ in points])
        panel.set_ylim(bottom=0)
        panel.set_xlabel("pixels of the image")
        panel.set_ylabel("Gsamples/s")
        panel.set_title(_name(document), fontsize=9)
        panel.grid(color=_BOUND, linewidth=0.5)
        panel.legend(fontsize=8, loc="lower left")
    figure.savefig(target, dpi=100)
    pyplot.close(figure)


def main() -> None:
    documents = {path.stem: json.loads(path.read_text(encoding="utf-8")) for path in sorted(_FOLDER.glob("*.json"))}
    of_sizes = {name: document for name, document in documents.items() if any(row["size"] for row in document["rows"])}
    for name, document in of_sizes.items():
        plot_copies(document, _FOLDER / f"copies_{name}.png")
    plot_sampling(list(of_sizes.values()), _FOLDER / "sampling.png")


if __name__ == "__main__":
    main()
