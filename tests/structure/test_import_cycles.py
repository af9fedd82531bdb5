"""Modules that name one another's classes: cycles of imports, those for type checkers included."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2] / "src"
MOST = 3
# Larger cycles, by one of their modules, and the most modules that they may have.
LARGER = {"bindless.image.image": 23, "bindless.submission.event": 9}


def modules() -> dict[str, Path]:
    """The modules of the package by name, stubs of C modules among them."""
    names: dict[str, Path] = {}
    for suffix in ("*.pyi", "*.py"):
        for path in (ROOT / "bindless").rglob(suffix):
            parts = path.relative_to(ROOT).with_suffix("").parts
            names[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return names


def imports(name: str, path: Path, known: dict[str, Path]) -> Iterator[str]:
    """The modules of the package that one imports anywhere."""
    package = name.split(".") if path.stem == "__init__" else name.split(".")[:-1]
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in known)
        elif isinstance(node, ast.ImportFrom):
            above = package[: len(package) - node.level + 1] if node.level else []
            source = ".".join([*above, *([node.module] if node.module else [])])
            for alias in node.names:
                target = f"{source}.{alias.name}"
                if target in known or source in known:
                    yield target if target in known else source


def reachable(start: str, graph: dict[str, set[str]]) -> set[str]:
    found: set[str] = set()
    todo = [start]
    while todo:
        for name in graph[todo.pop()] - found:
            found.add(name)
            todo.append(name)
    return found


def cycles(graph: dict[str, set[str]]) -> list[frozenset[str]]:
    """Modules that reach one another."""
    reach = {name: reachable(name, graph) for name in graph}
    groups = {frozenset(other for other in reach[name] if name in reach[other]) for name in graph}
    return [group for group in groups if len(group) > 1]


def test_cycles_of_types_are_small() -> None:
    known = modules()
    graph = {name: set(imports(name, path, known)) - {name} for name, path in known.items()}
    assert len(graph) > 600
    for group in cycles(graph):
        most = max((size for name, size in LARGER.items() if name in group), default=MOST)
        assert len(group) <= most, sorted(group)


def test_cycles_are_found() -> None:
    graph = {"a": {"b"}, "b": {"c"}, "c": {"b", "d"}, "d": set()}
    assert cycles(graph) == [frozenset("bc")]
