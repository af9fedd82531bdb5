"""Tables of docs/measurements/performance.md, and of docs/guide/performance.md a selection of their rows, from the
``bindless bench --json`` documents of this folder.

python docs/plots/tables.py
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

# Rows of the guide: a description, and the operation on a GPU and on a processor, each with its document.
GUIDE = (
    ("`Image` of a 4K RGB picture", "cuda_user", "Image(4K RGB)", "reference_user", "Image(4K RGB)"),
    (
        "`Image` and `warp`, RGB: 4K; 1080p",
        "cuda_user", "Image(4K RGB) and warp",
        "reference_user", "Image(1080p RGB) and warp",
    ),
    (
        "`warp` of such an `Image`",
        "cuda_user", "warp of an Image of 4K RGB",
        "reference_user", "warp of an Image of 1080p RGB",
    ),
    (
        "area `resize` of it to a third",
        "cuda_user", "resize to a third, areas of an Image of 4K RGB",
        "reference_user", "resize to a third, areas of an Image of 1080p RGB",
    ),
    (
        "its enlargement by 1.5",
        "cuda_user", "resize to one and a half of an Image of 4K RGB",
        "reference_user", "resize to one and a half of an Image of 1080p RGB",
    ),
    (
        "rotation of a float32 volume: 512³; 256³",
        "cuda_volumes", "512^3 float32 rotation",
        "reference_user", "256^3 float32 rotation",
    ),
    (
        "the same with cubic filters, exact",
        "cuda_volumes", "512^3 float32 cubic rotation, exact",
        "reference_user", "256^3 float32 cubic rotation, exact",
    ),
    (
        "256³ int16, `Image` and a displacement field",
        "cuda_volumes", "Image(256^3 int16) and deformation",
        "reference_user", "Image(256^3 int16) and deformation",
    ),
    (
        "1,000 samples at torch tensors",
        "cuda_user", "sample_image, 1000 coordinates, torch tensors",
        "reference_user", "sample_image, 1000 coordinates, torch tensors",
    ),
    (
        "samples, 2D fp32 x4",
        "cuda", "sample 2D fp32 x4, neighbouring",
        "reference", "sample 2D fp32 x4, neighbouring",
    ),
    (
        "samples, 2D unorm_int8 x4",
        "cuda", "sample 2D unorm_int8 x4, neighbouring",
        "reference", "sample 2D unorm_int8 x4, neighbouring",
    ),
    ("samples, 3D fp32 x1", "cuda", "sample 3D fp32 x1", "reference", "sample 3D fp32 x1"),
    ("`Image.warp` uint8 x4, numpy to numpy", "cuda", "Image.warp uint8 x4", "reference", "Image.warp uint8 x4"),
    ("numpy to image, 64 MiB", "cuda", "numpy to image, 64 MiB", "reference", "numpy to image, 64 MiB"),
    (
        "200 launches with four arguments, and a wait",
        "cuda_user", "200 launches with four arguments, and a wait",
        "reference", "200 launches with four arguments, and a wait",
    ),
)  # fmt: skip


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


def _documents() -> dict[str, dict[str, Any]]:
    """The documents of this folder by the names of their files."""
    paths = sorted(Path(__file__).parent.glob("*.json"))
    return {path.stem: json.loads(path.read_text(encoding="utf-8")) for path in paths}


def _about(document: dict[str, Any]) -> str:
    name = document["device"].rpartition(" [")[0].rpartition(" ")[0].partition(", ")[2]
    return f"{name}, {document['machine']['processors']} processors, {document['date'][:10]}"


def _summed_up(document: dict[str, Any], operation: str) -> str:
    """One cell of the guide: our speed, and the peers' times divided by ours."""
    rows = [row for row in document["rows"] if row["operation"] == operation]
    ratios = {row["peer"]: row["ratio"] for row in rows if row["peer"]}
    peers = ", ".join(f"{peer} {ratio:.0f}" if ratio >= 10 else f"{peer} {ratio:.1f}" for peer, ratio in ratios.items())
    return f"{_speed(rows[0], rows[0]['seconds'])}{'; ' if peers else ''}{peers}"


def selection(documents: dict[str, dict[str, Any]]) -> str:
    """The table of the guide, and the documents that its rows come from."""
    lines = ["| operation | GPU | processor | runs |", "|---|---|---|---|"]
    runs: list[str] = []
    for name, gpu, on_gpu, processor, on_processor in GUIDE:
        for document in (gpu, processor):
            if _about(documents[document]) not in runs:
                runs.append(_about(documents[document]))
        numbers = [runs.index(_about(documents[document])) + 1 for document in (gpu, processor)]
        cells = _summed_up(documents[gpu], on_gpu), _summed_up(documents[processor], on_processor)
        lines.append(f"| {name} | {' | '.join(cells)} | {numbers[0]}, {numbers[1]} |")
    return "\n".join([*lines, "", "Runs:", "", *(f"{number}. {run}" for number, run in enumerate(runs, 1))])


def write_selection(page: Path) -> None:
    """Write the table of the guide between its marks."""
    text = page.read_text(encoding="utf-8")
    before, start, rest = text.partition("<!-- selection -->\n")
    _, end, after = rest.partition("<!-- end of selection -->")
    if not end:
        raise SystemExit(f"{page} has no marks of the selection")
    page.write_text(f"{before}{start}{selection(_documents())}\n{end}{after}", encoding="utf-8")


def write(page: Path) -> None:
    """Write the table of each document of this folder between its marks in a page."""
    text = page.read_text(encoding="utf-8")
    for stem, document in _documents().items():
        machine = document["machine"]
        told = (
            f"`{document['device']}`,\n{document['date'][:10]}; {machine['processors']} processors, "
            f"Python {machine['python']}, numpy {machine['numpy']}; {document['samples'] / 1e6:.1f} M samples a call, "
            f"{document['clock']} time."
        )
        start, end = f"<!-- {stem} -->", f"<!-- end of {stem} -->"
        before, _, rest = text.partition(start)
        _, mark, after = rest.partition(end)
        if not mark:
            raise SystemExit(f"{page} has no marks {start} and {end}")
        text = f"{before}{start}\n{told}\n\n{table(document)}\n{end}{after}"
    page.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    write(Path(__file__).parent.parent / "measurements" / "performance.md")
    write_selection(Path(__file__).parent.parent / "guide" / "performance.md")
