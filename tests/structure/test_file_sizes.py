"""Sizes of the repository: no file above 600 lines, no folder above 40 modules, C files included."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

ROOT = next(folder for folder in Path(__file__).parents if (folder / "pyproject.toml").is_file())
PLACES = ("src/bindless", "csrc", "include", "tests")
SUFFIXES = {".py", ".pyi", ".c", ".h"}
MOST_LINES, MOST_MODULES = 600, 40

GENERATED_FOLDERS = {"generated", "__pycache__", "build"}
GENERATED = {"_bindings.pyi", "_enums.py", "_error_table.py"}  # one set per driver

# Files above the limit, with the permitted number of lines.
LONGER = {
    "reference.h": 911,  # the whole API, read by the bindings generator
}


def sources() -> list[Path]:
    """The hand-written source files."""
    found = []
    for place in PLACES:
        for file in (ROOT / place).rglob("*"):
            inside = file.relative_to(ROOT)
            generated = file.name in GENERATED or not GENERATED_FOLDERS.isdisjoint(inside.parts)
            if file.suffix in SUFFIXES and not generated and file.is_file():
                found.append(inside)
    return sorted(found)


def test_every_place_is_read() -> None:
    counted = Counter(next(place for place in PLACES if file.is_relative_to(place)) for file in sources())
    assert set(counted) == set(PLACES)
    assert sum(counted.values()) > 500


def test_files_are_short() -> None:
    lines = {str(file): len((ROOT / file).read_bytes().splitlines()) for file in sources()}
    assert {file: count for file, count in lines.items() if count > LONGER.get(Path(file).name, MOST_LINES)} == {}


def test_folders_are_small() -> None:
    modules = Counter(str(file.parent) for file in sources())
    assert {folder: count for folder, count in modules.items() if count > MOST_MODULES} == {}
