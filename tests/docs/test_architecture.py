"""Checks of internals/architecture.md: the drawing matches the imports, and the stations of the example call exist."""

from __future__ import annotations

import re
from pathlib import Path
from types import ModuleType

import pytest

from tests.support.plot_programs import plot_program

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "internals" / "architecture.md").read_text(encoding="utf-8")
STATION = re.compile(r"^\| \d \| `([^`]+)` \| `([^`]+)` \|", re.MULTILINE)
CALLS = [
    stations for table in PAGE.split("| station |")[1:] if (stations := STATION.findall(table.partition("\n\n")[0]))
]
FOLDERS = re.findall(r"^\| `((?:csrc|include)/[\w/]+)` \|", PAGE, re.MULTILINE)


@pytest.fixture(scope="module")
def layers() -> ModuleType:
    """The module docs/plots/layers.py."""
    return plot_program("layers")


def test_the_drawing_shows_the_imports(layers: ModuleType) -> None:
    drawn = (ROOT / "docs" / "internals" / "architecture.svg").read_text(encoding="utf-8")
    assert drawn == layers.svg(), "run python docs/plots/layers.py"


def test_every_package_is_drawn_once(layers: ModuleType) -> None:
    packages = [path.parent.name for path in (ROOT / "src" / "bindless").glob("*/__init__.py")]
    drawn = [box.package for box in layers.LAYERS]
    assert len(drawn) == len(set(drawn))
    assert sorted({name.split("/")[0] for name in drawn}) == sorted(packages)


def test_imports_go_downwards(layers: ModuleType) -> None:
    """The two known exceptions go away with the import-linter contract."""
    assert layers.upward() <= {("core", "backends/common"), ("sycl/usm", "sycl/queue")}


def test_arrows_are_the_fewest_that_keep_the_order(layers: ModuleType) -> None:
    pairs = {(a.package, b.package) for a, b in layers.arrows()}
    assert ("sycl/usm", "sycl/device") in pairs  # sycl/usm also imports model, which is below sycl/device
    assert ("sycl/usm", "model") not in pairs
    assert {a.row < b.row for a, b in layers.arrows()} == {True}


def test_arrows_reach_everything_that_is_imported(layers: ModuleType) -> None:
    """A second reader, with regular expressions, checks a few imports between distant layers."""
    reached: dict[str, set[str]] = {}
    for source, target in sorted(((a, b) for a, b in layers.arrows()), key=lambda pair: -pair[0].row):
        reached.setdefault(source.package, set()).update({target.package}, reached.get(target.package, set()))
    for path in (ROOT / "src" / "bindless" / "image").glob("*.py"):
        for package in re.findall(r"^from \.\.(\w+)", path.read_text(encoding="utf-8"), re.MULTILINE):
            assert package in {room.split("/")[0] for room in reached["image"]}, (path.name, package)


def test_an_example_call_has_at_most_eight_stations() -> None:
    assert len(CALLS) == 2 and all(5 <= len(stations) <= 8 for stations in CALLS)


@pytest.mark.parametrize(("file", "function"), [station for stations in CALLS for station in stations])
def test_stations_exist(file: str, function: str) -> None:
    text = (ROOT / file).read_text(encoding="utf-8")
    definition = rf"def {function}\(" if file.endswith(".py") else rf"^(?:static|kernel) .*\b{re.escape(function)}\("
    assert re.search(definition, text, re.MULTILINE)


def test_every_folder_of_c_code_is_described() -> None:
    folders = {path.parent.relative_to(ROOT / "csrc").parts for path in (ROOT / "csrc").rglob("*.[ch]")}
    described = {tuple(Path(folder).parts[1:]) for folder in FOLDERS if folder.startswith("csrc/")}
    tops = {parts[:2] if parts[0] == "reference" else parts[:1] for parts in folders}
    assert tops <= described
