"""Names are nouns and verbs: no variable, parameter, function or field is a participle such as ``found``."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

SOURCES = Path(__file__).parents[2] / "src" / "bindless"
PARTICIPLES = frozenset(
    (
        "asked", "bent", "found", "given", "joined", "kept", "known", "made", "moved", "numbered", "resampled", "seen",
        "taken", "told", "twice", "valued", "wanted",
    )
)  # fmt: skip
OPEN = frozenset(
    (
        "bench", "dask", "device", "image", "ndimage", "python_kernels", "submission",
    )
)  # fmt: skip
"""Packages that still have such names. A package leaves this list when it has none; none is added."""

EXAMPLE = """
class Kernel:
    made: int

    def find(self, told, *, kept=None):
        found = lambda wanted: wanted
        self._seen, rows = found, [given for given in told]
        for known in rows:
            pass
        return known.taken

def resampled(): ...
"""


def bindings(tree: ast.AST) -> Iterator[tuple[str, int]]:
    """Yield the names that a module binds, with their lines."""
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield node.name, node.lineno
        elif isinstance(node, ast.arg):
            yield node.arg, node.lineno
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id, node.lineno
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield node.attr, node.lineno


def participles(source: str) -> list[str]:
    """Return ``name:line`` of each participle that a source binds."""
    names = sorted(set(bindings(ast.parse(source))), key=lambda item: (item[1], item[0]))
    return [f"{name}:{line}" for name, line in names if name.strip("_") in PARTICIPLES]


def in_package(name: str) -> list[str]:
    """Return ``file:name:line`` of each participle of a package."""
    files = sorted((SOURCES / name).rglob("*.py"))
    assert files, name
    return [f"{file.relative_to(SOURCES)}:{row}" for file in files for row in participles(file.read_text("utf-8"))]


PACKAGES = sorted(folder.name for folder in SOURCES.iterdir() if (folder / "__init__.py").is_file())


def test_each_kind_of_binding_is_read() -> None:
    assert participles(EXAMPLE) == [
        "made:3", "kept:5", "told:5", "found:6", "wanted:6", "_seen:7", "given:7", "known:8", "resampled:12",
    ]  # fmt: skip


def test_the_list_has_packages_only() -> None:
    assert len(PACKAGES) > 15
    assert set(PACKAGES) >= OPEN


@pytest.mark.parametrize("name", [name for name in PACKAGES if name not in OPEN])
def test_no_name_is_a_participle(name: str) -> None:
    assert in_package(name) == [], "name the thing: match, shape, descriptor, maximum"


@pytest.mark.parametrize("name", sorted(OPEN))
def test_the_list_only_shrinks(name: str) -> None:
    assert in_package(name), f"{name} has no such name any more: remove it from OPEN"
