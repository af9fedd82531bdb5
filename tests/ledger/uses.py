"""The words of a test: in its own source, and in the helpers, fixtures and constants that it refers to."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path

from .sources import TESTS

__all__ = ["uses", "words"]

_WORD = re.compile(r"\w+")
_C_FUNCTION = re.compile(r"^(?:static )?\w[\w ]*?[ *](\w+)\([^;{]*\)\n\{\n(.*?)^\}", re.MULTILINE | re.DOTALL)


def uses(name: str, found: frozenset[str]) -> bool:
    """Whether a name is among the words, or matches a formatted string of at least ten letters."""
    return name in found or any(fnmatchcase(name, word) for word in found if "*" in word and len(word) > 10)


def words(test: str, root: Path = TESTS) -> frozenset[str]:
    """Identifiers and words of strings in ``path::function`` and in the test sources that it reaches.

    An asterisk replaces each inserted value of a formatted string.

    A test reaches the functions, classes and constants at the top level of its own file and of the test modules that it
    imports, and the fixtures of each ``conftest.py`` above it. A test in C reaches the functions of its own file.
    """
    path, _, name = test.partition("::")
    if path.endswith(".c"):
        return _reached(name, _c_functions(root / path))
    return _reached(name, _definitions(root / path, root))


def _reached(name: str, definitions: dict[str, frozenset[str]]) -> frozenset[str]:
    found: set[str] = set()
    seen: set[str] = set()
    waiting = [name]
    while waiting:
        current = waiting.pop()
        if current in seen or current not in definitions:
            continue
        seen.add(current)
        found |= definitions[current]
        waiting += definitions[current]
    return frozenset(found)


@cache
def _c_functions(path: Path) -> dict[str, frozenset[str]]:
    return {
        name: frozenset(_WORD.findall(body)) for name, body in _C_FUNCTION.findall(path.read_text(encoding="utf-8"))
    }


@cache
def _definitions(path: Path, root: Path) -> dict[str, frozenset[str]]:
    """Map each name at the top level of a file, or available to it from other files, to the name's words."""
    found: dict[str, frozenset[str]] = {}
    for file in _sources(path, root):
        for name, used in _own(file).items():
            found[name] = found.get(name, frozenset()) | used
    return found


def _sources(path: Path, root: Path) -> set[Path]:
    """A file, each ``conftest.py`` above it, and the test files that these import, directly or indirectly."""
    found: set[Path] = set()
    waiting = [path, *(folder / "conftest.py" for folder in path.parents if folder.is_relative_to(root))]
    while waiting:
        file = waiting.pop()
        if file not in found and file.is_file():
            found.add(file)
            waiting += _imported(file, root)
    return found


@cache
def _imported(path: Path, root: Path) -> tuple[Path, ...]:
    return tuple(dict.fromkeys(_found(path, root)))


def _found(path: Path, root: Path) -> Iterator[Path]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom):
            modules = [node.module or "", *(f"{node.module}.{alias.name}" for alias in node.names)]
        elif isinstance(node, ast.Import):
            modules = [alias.name for alias in node.names]
        else:
            continue
        yield from (file for module in modules if (file := _file_of(module, path.parent, root)) is not None)


@cache
def _file_of(module: str, folder: Path, root: Path) -> Path | None:
    """The file of a module that a test imports: by its full name, or from its own folder."""
    places = (folder, root, root.parent)
    files = (place / f"{module.replace('.', '/')}.py" for place in places if module)
    return next((file for file in files if file.is_file()), None)


@cache
def _own(path: Path) -> dict[str, frozenset[str]]:
    found: dict[str, frozenset[str]] = {}
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            names = [node.name]
        elif isinstance(node, ast.Assign):
            names = [target.id for target in node.targets if isinstance(target, ast.Name)]
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            names = [node.target.id]
        elif isinstance(node, ast.ImportFrom):
            names = [alias.asname or alias.name for alias in node.names]
        else:
            continue
        for name in names:
            found[name] = found.get(name, frozenset()) | _words_of(node)
    return found


def _words_of(tree: ast.AST) -> frozenset[str]:
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            found.add(node.id)
        elif isinstance(node, ast.Attribute):
            found.add(node.attr)
        elif isinstance(node, ast.arg | ast.keyword) and node.arg:
            found.add(node.arg)
        elif isinstance(node, ast.alias):
            found |= set(node.name.split("."))
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            found |= set(_WORD.findall(node.value))
        elif isinstance(node, ast.JoinedStr):
            parts = (part.value if isinstance(part, ast.Constant) else "*" for part in node.values)
            found |= set(re.findall(r"[\w*]*\w\*[\w*]*|\*\w[\w*]*", "".join(map(str, parts))))
        elif isinstance(node, ast.Eq | ast.NotEq):
            found.add("__eq__")
    return frozenset(found)
