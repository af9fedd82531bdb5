"""No test returns before its first check: a test that cannot run is skipped with a reason."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

FOLDER = Path(__file__).parents[1]
_CHECKS = ("raises", "warns", "skip", "fail", "lacks")


def _own_nodes(function: ast.FunctionDef) -> Iterator[ast.AST]:
    """The nodes of a function without those of nested functions, in source order."""
    waiting: list[ast.AST] = list(reversed(function.body))
    while waiting:
        node = waiting.pop()
        yield node
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)):
            waiting.extend(reversed(list(ast.iter_child_nodes(node))))


def _is_check(node: ast.AST) -> bool:
    if not isinstance(node, ast.Call):
        return isinstance(node, ast.Assert)
    name = getattr(node.func, "attr", getattr(node.func, "id", ""))
    return name in _CHECKS or name.startswith("assert_")


def early_returns(source: str) -> list[str]:
    """``name:line`` of each bare ``return`` before the first check of a test."""
    found = []
    for function in ast.walk(ast.parse(source)):
        if isinstance(function, ast.FunctionDef) and function.name.startswith("test_"):
            for node in _own_nodes(function):
                if _is_check(node):
                    break
                if isinstance(node, ast.Return) and node.value is None:
                    found.append(f"{function.name}:{node.lineno}")
                    break
    return found


def test_no_test_returns_before_its_first_check() -> None:
    files = [*FOLDER.rglob("test_*.py"), *FOLDER.rglob("recorded_*.py")]
    assert len(files) > 100
    found = {str(file.relative_to(FOLDER)): early_returns(file.read_text(encoding="utf-8")) for file in files}
    found = {file: names for file, names in found.items() if names}
    assert not found, f"{found}: call pytest.skip with a reason instead, or assert in every case"


def test_early_returns_are_found() -> None:
    source = """
def test_early(x):
    if x:
        return
    assert x

def test_late(x):
    with pytest.raises(ValueError):
        x()
    if x:
        return
    assert x

def test_skipped(x):
    if x:
        pytest.skip("no x")
    return

def test_inner(x):
    def inner():
        return
    np.testing.assert_array_equal(inner(), x)

def helper(x):
    return
"""
    assert early_returns(source) == ["test_early:4"]
