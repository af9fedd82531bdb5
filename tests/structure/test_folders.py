"""Layout of the tests: one importable package and unique file names. Sizes: ``test_file_sizes``."""

from __future__ import annotations

import ast
from collections import Counter
from pathlib import Path

import pytest

from tests.support import pixels

TESTS = Path(__file__).parents[1]
FILES = sorted(TESTS.rglob("*.py"))
IN_EACH_FOLDER = ("__init__.py", "__main__.py", "conftest.py")


def extensions_of_the_path(source: str) -> list[int]:
    """Lines that add a folder to ``sys.path``."""
    added = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call) and ast.unparse(node.func) in (
            "sys.path.insert",
            "sys.path.append",
            "sys.path.extend",
        ):
            added.append(node.lineno)
        targets = (
            node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AugAssign) else []
        )
        added += [node.lineno for target in targets if ast.unparse(target).startswith("sys.path")]
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and "\nsys.path" in node.value:
            added.append(node.lineno)
    return sorted(added)


def test_every_folder_is_a_package() -> None:
    folders = {TESTS, *(folder for file in FILES for folder in file.relative_to(TESTS).parents)}
    assert [str(folder) for folder in folders if not (TESTS / folder / "__init__.py").is_file()] == []


def test_helpers_are_imported_from_one_package() -> None:
    assert pixels.__name__ == "tests.support.pixels"
    assert __name__ == "tests.structure.test_folders"


def test_file_names_occur_once() -> None:
    counted = Counter(file.name for file in FILES if file.name not in IN_EACH_FOLDER)
    assert len(counted) > 200
    assert [name for name, times in counted.items() if times > 1] == []


def test_no_file_extends_the_path() -> None:
    found = {
        file.name: extensions_of_the_path(file.read_text(encoding="utf-8")) for file in FILES if file != Path(__file__)
    }
    assert {name: lines for name, lines in found.items() if lines} == {}


@pytest.mark.parametrize(
    "source",
    [
        "sys.path.insert(0, folder)",
        "sys.path[:0] = [folder]",
        "sys.path += [folder]",
        "PROGRAM = '''\nsys.path = []\n'''",
    ],
)
def test_extensions_are_found(source: str) -> None:
    assert extensions_of_the_path(f"import sys\n{source}\n") == [2]
