"""Every error that the code of a back end raises names the back end in ``.backend``."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import bindless
from bindless.model import errors

FOLDER = Path(bindless.__file__).parent / "backends"
CLASSES = {name for name, cls in vars(errors).items() if isinstance(cls, type) and issubclass(cls, errors.Error)}
CLASSES.remove("ExceptionList")  # Its errors name their back ends.


def unnamed(source: str) -> list[int]:
    """Lines of calls of an error class without ``backend=``."""
    return [
        node.lineno
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id in CLASSES
        and not {None, "backend"} & {keyword.arg for keyword in node.keywords}
    ]


def test_a_call_without_the_name_is_found() -> None:
    assert unnamed('InvalidError("a", backend="cuda")\nraise InvalidError("b")') == [2]


@pytest.mark.parametrize("name", ["cuda", "level_zero", "opencl", "reference"])
def test_errors_name_their_backend(name: str) -> None:
    files = sorted((FOLDER / name).glob("*.py"))
    assert files
    assert [f"{file.name}:{line}" for file in files for line in unnamed(file.read_text())] == []
