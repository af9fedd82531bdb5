"""Names are nouns and verbs: nothing in Python or C code is named by a participle such as ``found``."""

from __future__ import annotations

import ast
import re
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

C_SOURCES = Path(__file__).parents[2] / "csrc"
_NO_CODE = re.compile(r"""/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])'""", re.DOTALL)

EXAMPLE_IN_C = """
/* found: the rest is made */
static int *take(struct row *kept, const char *text)
{
    size_t left = 2, taken[2] = {left}; // known
    kept->_seen = strcmp(text, "given");
    return moved_by(taken);
}
"""

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


def participles_in_c(source: str) -> list[str]:
    """Return ``name:line`` of each participle in C code; ``left`` is one where nothing is ``right``."""
    code = _NO_CODE.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), source)
    words = PARTICIPLES if re.search(r"\bright\b", code) else PARTICIPLES | {"left"}
    lines = enumerate(code.split("\n"), 1)
    rows = [(word, line) for line, text in lines for word in dict.fromkeys(re.findall(r"[A-Za-z_]\w*", text))]
    return [f"{word}:{line}" for word, line in rows if word.strip("_") in words]


def in_c(place: Path) -> list[str]:
    """Return ``file:name:line`` of each participle of a C file, or of the C files of a folder."""
    files = (
        [place] if place.is_file() else sorted(file for file in place.rglob("*") if file.suffix in (".c", ".h", ".cl"))
    )
    assert files, place
    return [
        f"{file.relative_to(C_SOURCES)}:{row}" for file in files for row in participles_in_c(file.read_text("utf-8"))
    ]


PACKAGES = sorted(folder.name for folder in SOURCES.iterdir() if (folder / "__init__.py").is_file())


def test_each_kind_of_binding_is_read() -> None:
    assert participles(EXAMPLE) == [
        "made:3", "kept:5", "told:5", "found:6", "wanted:6", "_seen:7", "given:7", "known:8", "resampled:12",
    ]  # fmt: skip


def test_packages_are_looked_at() -> None:
    assert len(PACKAGES) > 15


@pytest.mark.parametrize("name", PACKAGES)
def test_no_name_is_a_participle(name: str) -> None:
    assert in_package(name) == [], "name the thing: match, shape, descriptor, maximum"


def test_code_alone_is_read_in_c() -> None:
    assert participles_in_c(EXAMPLE_IN_C) == ["kept:3", "left:5", "taken:5", "kept:6", "_seen:6", "taken:7"]
    assert participles_in_c("int left = 1, right = left;") == []


def test_no_name_is_a_participle_in_c() -> None:
    assert in_c(C_SOURCES) == [], "name the thing: rest, room, index, operand"
