"""Drawing of the layers, docs/internals/architecture.svg, from the imports of the package.

python docs/plots/layers.py

An arrow points from a package to a package that its modules import, also inside functions, but not for type checkers
alone. Arrows implied by other arrows are left out. The drawing contains downward imports only; a test refuses the
result of ``upward``. The drawing has no counts: it changes only when a package gains or loses a dependency.
"""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

SOURCE = Path(__file__).parents[2] / "src" / "bindless"
DRAWING = Path(__file__).parents[1] / "internals" / "architecture.svg"

WIDTH, ROW, HEIGHT, TOP = 960, 70, 42, 28
MARGIN = 12  # pixels between a channel of arrows and a box


class Box(NamedTuple):
    """A package: its name, row from the top, centre and width in pixels, and contents."""

    package: str
    row: int
    centre: int
    width: int
    contents: str


DRIVERS = ("cuda", "level_zero", "opencl", "reference")
BACKENDS = "backends/" + "|".join(DRIVERS)

LAYERS = (
    Box("cli", 0, 400, 180, "the command bindless"),
    Box("demo", 1, 140, 160, "pictures"),
    Box("bench", 1, 400, 160, "measurements"),
    Box("prove", 1, 650, 180, "comparison of devices"),
    Box("viewer", 1, 865, 160, "pages that show volumes"),
    Box("bricks", 2, 400, 200, "bricks of any volume"),
    Box("dask", 3, 110, 170, "larger than memory"),
    Box("cv2", 3, 640, 130, "OpenCV's functions"),
    Box("space", 3, 295, 170, "grids in the world"),
    Box("tomography", 3, 475, 160, "rays through volumes"),
    Box("colour", 3, 865, 150, "tables of colours"),
    Box("ndimage", 4, 290, 150, "scipy's functions"),
    Box("torch", 4, 480, 170, "differentiable operators"),
    Box("jax", 4, 665, 160, "differentiable primitives"),
    Box("image", 5, 140, 200, "Image: numpy in and out"),
    Box("opencl", 5, 480, 170, "OpenCL's extras"),
    Box("python_kernels", 5, 865, 180, "kernels in Python: Numba"),
    Box("sampling", 6, 130, 170, "samples, derivatives"),
    Box("interop", 6, 330, 200, "other libraries' objects"),
    Box("level_zero", 6, 600, 180, "Level Zero's extras"),
    Box("device", 6, 800, 180, "functions of such kernels"),
    Box("bindless_images", 7, 180, 240, "image memory, handles, functions"),
    Box("sycl/queue", 7, 550, 220, "queues, handlers, host tasks"),
    Box("sycl/kernel", 8, 450, 190, "bundles, arguments"),
    Box("sycl/copy", 8, 660, 190, "ext_oneapi_copy"),
    Box("sycl/buffer", 9, 550, 240, "buffers, dependency graph"),
    Box("sycl/usm", 10, 550, 240, "unified shared memory, arrays"),
    Box("sycl/device", 11, 550, 240, "platforms, devices, contexts"),
    Box("submission", 12, 160, 220, "command streams, events"),
    Box("backends/registry", 12, 560, 220, "creation on first use"),
    Box(BACKENDS, 13, 560, 540, "equal file names in each"),
    Box("backends/common", 14, 560, 220, "shared implementation"),
    Box("backends/contract", 15, 400, 240, "protocols of a back end"),
    Box("camera", 15, 720, 170, "lenses between cameras"),
    Box("nvtx", 16, 180, 170, "ranges for profilers"),
    Box("kernels", 16, 620, 170, "from csrc/kernels"),
    Box("drivers", 16, 770, 110, "C: csrc/bindgen"),
    Box("compiler", 16, 890, 110, "OpenCL C"),
    Box("core", 16, 400, 200, "ownership; C: csrc/submission"),
    Box("model", 17, 580, 300, "values, checks, errors: no driver"),
)
FRAMES = (("sycl/", 7, 11, 340, 770), ("backends/", 12, 15, 270, 850))  # folders: rows, left and right edge

LIGHT = {
    "page": "#ffffff",
    "frame": "#f1f4f8",
    "box": "#dbe8f8",
    "line": "#35506e",
    "text": "#14202e",
    "soft": "#4a5b6e",
}
DARK = {
    "page": "#11161d",
    "frame": "#1a222d",
    "box": "#24405f",
    "line": "#9ab8d8",
    "text": "#f2f6fa",
    "soft": "#b9c8d8",
}
COLOURS = (
    "rect{{stroke:{line}}}.page{{fill:{page};stroke:none}}.frame{{fill:{frame};stroke:none}}.box{{fill:{box}}}"
    ".arrow,.cell{{stroke:{line}}}.head{{fill:{line}}}.name{{fill:{text}}}.contents,.folder{{fill:{soft}}}"
)
STYLE = (
    ".arrow{fill:none;stroke-width:1.3;marker-end:url(#head)}.cell{stroke-dasharray:2 3}"
    'text{font-family:system-ui,"DejaVu Sans",sans-serif;text-anchor:middle}.name{font-size:14px;font-weight:600}'
    ".contents,.folder{font-size:11px}.folder{text-anchor:end}\n"
    f"{COLOURS.format(**LIGHT)}\n@media (prefers-color-scheme:dark){{{COLOURS.format(**DARK)}}}"
)


def _box_of(module: tuple[str, ...]) -> str | None:
    """Return the box of a module; None for the package's own __init__ and __main__."""
    if not module or module == ("__main__",):
        return None
    if module[0] == "backends" and len(module) > 1:
        return BACKENDS if module[1] in DRIVERS else f"backends/{module[1]}"
    return "/".join(module[:2]) if module[0] == "sycl" and len(module) > 1 else module[0]


def _imports(node: ast.AST) -> Iterator[ast.ImportFrom]:
    """Return relative imports at run time."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.ImportFrom) and child.level:
            yield child
        elif not (isinstance(child, ast.If) and ast.unparse(child.test) == "TYPE_CHECKING"):
            yield from _imports(child)


def _dependencies() -> set[tuple[str, str]]:
    """Return pairs of boxes, importer and imported, and the back ends that the registry imports by name."""
    files = {path.relative_to(SOURCE).with_suffix("").parts: path for path in SOURCE.rglob("*.py")}
    modules = {parts[:-1] if parts[-1] == "__init__" else parts for parts in files}
    pairs = {("backends/registry", BACKENDS)}
    for parts, path in files.items():
        module = parts[:-1] if parts[-1] == "__init__" else parts
        for statement in _imports(ast.parse(path.read_text(encoding="utf-8"))):
            base = (*parts[: len(parts) - statement.level], *(statement.module or "").split("."))
            base = tuple(filter(None, base))
            for alias in statement.names:
                target = (*base, alias.name) if (*base, alias.name) in modules else base
                ends = _box_of(module), _box_of(target)
                if ends[0] is not None and ends[1] is not None and ends[0] != ends[1]:
                    pairs.add((ends[0], ends[1]))
    return pairs


@functools.cache
def _checked() -> tuple[dict[str, Box], set[tuple[str, str]]]:
    """Return the boxes by name, and the dependencies between them."""
    boxes = {box.package: box for box in LAYERS}
    dependencies = {pair for pair in _dependencies() if not {"sycl", "backends"} & set(pair)}
    if unknown := {name for pair in dependencies for name in pair} - set(boxes):
        raise KeyError(f"packages without a box in LAYERS of docs/plots/layers.py: {', '.join(sorted(unknown))}")
    return boxes, dependencies


def upward() -> set[tuple[str, str]]:
    """Return imports between packages that do not go downwards, by importing and imported package."""
    boxes, dependencies = _checked()
    return {(a, b) for a, b in dependencies if boxes[a].row >= boxes[b].row}


def arrows() -> list[tuple[Box, Box]]:
    """Return the downward dependencies between boxes without those implied by others.

    Raises
    ------
    KeyError
        A package has no box.
    """
    boxes, dependencies = _checked()
    pairs = {(a, b) for a, b in dependencies if boxes[a].row < boxes[b].row}
    below: dict[str, set[str]] = {}  # all boxes reachable from a box
    for box in sorted(LAYERS, key=lambda box: -box.row):
        next_ones = {b for a, b in pairs if a == box.package}
        below[box.package] = next_ones.union(*(below[name] for name in next_ones))
    direct = {(a, b) for a, b in pairs if not any(b in below[c] for d, c in pairs if d == a)}
    return [(boxes[a], boxes[b]) for a, b in sorted(direct)]


def _top(row: int) -> int:
    return TOP + row * ROW


def _channel(source: Box, target: Box, start: int, end: int) -> int:
    """Return the x coordinate, with the least detour, where an arrow passes all rows between two boxes."""
    between = [box for box in LAYERS if source.row < box.row < target.row]
    free = [
        x
        for x in range(MARGIN, WIDTH - MARGIN)
        if all(abs(x - box.centre) > box.width // 2 + MARGIN for box in between)
    ]
    return min(free, key=lambda x: (abs(x - start) + abs(x - end), abs(x - end)))


def _anchors(box: Box, others: list[Box]) -> dict[str, int]:
    """Return the end points of arrows on one side of a box, in the order of their opposite ends."""
    ordered = sorted(others, key=lambda other: (other.centre, other.row))
    step = min(36, (box.width - 24) // max(1, len(ordered)))
    return {other.package: box.centre + round((at - (len(ordered) - 1) / 2) * step) for at, other in enumerate(ordered)}


def _path(source: Box, target: Box, start: int, end: int) -> str:
    top, bottom = _top(source.row) + HEIGHT, _top(target.row) - 3
    gap = ROW - HEIGHT
    if target.row - source.row == 1:
        return f"M{start} {top}C{start} {top + gap * 0.6:.0f} {end} {bottom - gap * 0.6:.0f} {end} {bottom}"
    x = _channel(source, target, start, end)
    turn, last = top + gap, bottom + 3 - gap
    return (
        f"M{start} {top}C{start} {top + gap * 0.6:.0f} {x} {turn - gap * 0.6:.0f} {x} {turn}V{last}"
        f"C{x} {last + gap * 0.6:.0f} {end} {bottom - gap * 0.6:.0f} {end} {bottom}"
    )


def _drawn(box: Box) -> Iterator[str]:
    left, top = box.centre - box.width // 2, _top(box.row)
    yield f'<rect class="box" x="{left}" y="{top}" width="{box.width}" height="{HEIGHT}" rx="5"/>'
    if box.package == BACKENDS:
        cell = box.width // len(DRIVERS)
        for at, driver in enumerate(DRIVERS):
            if at:
                x = left + at * cell
                yield f'<path class="cell" d="M{x} {top}v{HEIGHT}"/>'
            yield f'<text class="name" x="{left + at * cell + cell // 2}" y="{top + 26}">{driver}</text>'
    else:
        yield f'<text class="name" x="{box.centre}" y="{top + 18}">{box.package}</text>'
        yield f'<text class="contents" x="{box.centre}" y="{top + 34}">{box.contents}</text>'


def svg() -> str:
    """Return the drawing."""
    pairs = arrows()
    height = _top(LAYERS[-1].row) + HEIGHT + TOP
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}">',
        "<title>Packages of bindless and their imports</title>",
        f"<style>\n{STYLE}\n</style>",
        '<marker id="head" viewBox="0 0 8 8" refX="6" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
        '<path class="head" d="M0 0L8 4L0 8Z"/></marker>',
        f'<rect class="page" width="{WIDTH}" height="{height}"/>',
    ]
    for folder, first, last, left, right in FRAMES:
        top, bottom = _top(first) - 12, _top(last) + HEIGHT + 8
        lines.append(
            f'<rect class="frame" x="{left}" y="{top}" width="{right - left}" height="{bottom - top}" rx="9"/>'
        )
        lines.append(f'<text class="folder" x="{right - 10}" y="{top + 18}">{folder}</text>')
    starts = {box.package: _anchors(box, [b for a, b in pairs if a == box]) for box in LAYERS}
    ends = {box.package: _anchors(box, [a for a, b in pairs if b == box]) for box in LAYERS}
    for a, b in pairs:
        path = _path(a, b, starts[a.package][b.package], ends[b.package][a.package])
        lines.append(f'<path class="arrow" d="{path}"/>')
    for box in LAYERS:
        lines.extend(_drawn(box))
    return "\n".join([*lines, "</svg>", ""])


if __name__ == "__main__":
    DRAWING.write_text(svg(), encoding="utf-8")
