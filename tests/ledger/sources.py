"""All tests and the requirements that they name, read from their sources."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path

__all__ = ["TESTS", "by_requirement", "collect"]

TESTS = Path(__file__).resolve().parent.parent
_NAMES_REQUIREMENTS = re.compile(r"#\s*R\d+(?:[ ,]+R\d+)*$")
_RUN_BY_OTHERS = (
    ("c/level_zero/guide_*.c", re.compile(r"^void (section_\w+)\(void\)$", re.MULTILINE)),
    ("level_zero_driver/*_checks.py", re.compile(r"^def (check_\w+)\(rig: Rig\)", re.MULTILINE)),
)
_APART = {"benchmarks"}  # run only when named, never by plain pytest


def _requirements(source: str) -> dict[int, set[int]]:
    """Map each line number to the requirements in that line's comment: ``# R17 R24``."""
    found: dict[int, set[int]] = {}
    if re.search(r"#\s*R\d", source) is None:
        return found
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT and _NAMES_REQUIREMENTS.match(token.string):
            found[token.start[0]] = {int(number) for number in re.findall(r"R(\d+)", token.string)}
    return found


def _named(root: Path, pattern: str, name: re.Pattern[str]) -> Iterator[str]:
    for path in sorted(root.glob(pattern)):
        for match in name.finditer(path.read_text(encoding="utf-8")):
            yield f"{path.relative_to(root).as_posix()}::{match[1]}"


@cache
def collect(root: Path = TESTS) -> dict[str, frozenset[int]]:
    """Map ``path::function`` of every test, with paths relative to ``root``, to the requirements named in it.

    The checks in ``*_checks.py`` and the sections of the C guide, which neighbouring tests run, count as tests.
    """
    found = {test: frozenset[int]() for pattern, name in _RUN_BY_OTHERS for test in _named(root, pattern, name)}
    for path in sorted(root.rglob("test_*.py")):
        relative = path.relative_to(root)
        if relative.parts[0] in _APART or any(part.startswith(".") for part in relative.parts):
            continue
        source = path.read_text(encoding="utf-8")
        comments = _requirements(source)
        for node in ast.parse(source).body:
            if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
                lines = range(node.lineno, (node.end_lineno or node.lineno) + 1)
                named = frozenset().union(*(comments.get(line, set()) for line in lines))
                found[f"{relative.as_posix()}::{node.name}"] = named
    return found


def by_requirement(tests: dict[str, frozenset[int]]) -> dict[int, list[str]]:
    """Map each requirement to the tests that name it, from the result of ``collect``."""
    found = defaultdict(list)
    for test, numbers in tests.items():
        for number in numbers:
            found[number].append(test)
    return dict(found)
