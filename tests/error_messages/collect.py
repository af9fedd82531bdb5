"""The error texts of the package, read from its sources.

A text is the message argument of a call that creates an exception, anywhere under ``src/bindless``. Values computed at
run time appear as ``{...}``. A message from a function or a name of the same module is looked up there. Tables of
result codes provide the texts of drivers' errors.
"""

from __future__ import annotations

import ast
import builtins
import difflib
import re
from collections.abc import Iterator
from pathlib import Path

import bindless as bl
from bindless.model import errors

__all__ = ["SNAPSHOT", "SOURCES", "difference", "render"]

SNAPSHOT = Path(__file__).with_name("error_messages.txt")
SOURCES = Path(__file__).resolve().parents[2] / "src" / "bindless"
COMMAND = "python -m tests.error_messages --write"
COMPUTED = "{...}"

_CODES = {
    cls.__name__: cls.code.name
    for cls in vars(errors).values()
    if isinstance(cls, type) and cls.__module__ == errors.__name__ and issubclass(cls, bl.Error)
}
_CLASSES = {code.name: type(errors.error_of(code, "")).__name__ for code in bl.Errc}
_OTHERS = {name for name, value in vars(builtins).items() if isinstance(value, type) and issubclass(value, Exception)}


class _Module:
    """The texts of one module."""

    def __init__(self, tree: ast.Module) -> None:
        self.tree = tree
        self.functions = {node.name: node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
        self.codes: dict[str, str] = {}
        self.values: dict[str, list[ast.expr]] = {}
        for node in ast.walk(tree):
            if isinstance(node, ast.Assign):
                for target in node.targets:
                    if isinstance(target, ast.Name):
                        self.values.setdefault(target.id, []).append(node.value)
                        code = self._code(node.value)
                        if code:
                            self.codes[target.id] = code

    def lines(self) -> Iterator[tuple[str, str, str]]:
        """(class, code or "-", text) of each error."""
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Call):
                yield from self._call(node)
            elif isinstance(node, ast.Tuple) and len(node.elts) == 2:
                code, text = self._code(node.elts[0]), node.elts[1]
                if code and isinstance(text, ast.Constant) and isinstance(text.value, str):
                    yield _CLASSES[code], code, text.value

    def _call(self, node: ast.Call) -> Iterator[tuple[str, str, str]]:
        name = _last_name(node.func)
        if name == "error_of" and len(node.args) > 1:
            code = self._code(node.args[0])
            for text in self._texts(node.args[1]):
                yield (_CLASSES[code], code, text) if code else ("Error", COMPUTED, text)
        elif name in _CODES or name in _OTHERS:
            for text in self._texts(node.args[0]) if node.args else [""]:
                yield name, _CODES.get(name, "-"), text

    def _code(self, node: ast.expr) -> str:
        """The name of the ``Errc`` member in an expression, or an empty string."""
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "Errc":
            return node.attr
        return self.codes.get(node.id, "") if isinstance(node, ast.Name) else ""

    def _texts(self, node: ast.expr, depth: int = 0) -> list[str]:
        """All possible texts of a message, one for each branch."""
        if isinstance(node, ast.Constant):
            return [str(node.value)]
        if isinstance(node, ast.JoinedStr):
            parts = (str(part.value) if isinstance(part, ast.Constant) else COMPUTED for part in node.values)
            return ["".join(parts)]
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
            return [a + b for a in self._texts(node.left, depth) for b in self._texts(node.right, depth)]
        if isinstance(node, ast.Call) and _last_name(node.func) == "format" and isinstance(node.func, ast.Attribute):
            return [re.sub(r"\{[^}]*\}", COMPUTED, text) for text in self._texts(node.func.value, depth)]
        if isinstance(node, ast.IfExp):
            return self._texts(node.body, depth) + self._texts(node.orelse, depth)
        if depth < 3 and isinstance(node, ast.Name):
            return [text for value in self.values.get(node.id, ()) for text in self._texts(value, depth + 1)] or [
                COMPUTED
            ]
        if depth < 3 and isinstance(node, ast.Call) and _last_name(node.func) in self.functions:
            function = self.functions[_last_name(node.func)]
            returned = [each.value for each in ast.walk(function) if isinstance(each, ast.Return) and each.value]
            return [text for value in returned for text in self._texts(value, depth + 1)] or [COMPUTED]
        return [COMPUTED]


def _last_name(node: ast.expr) -> str:
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


def render(sources: Path = SOURCES) -> str:
    """The snapshot of the current sources: one line per text, in an order independent of the modules."""
    found: set[tuple[str, str, str]] = set()
    for file in sources.rglob("*.py"):
        found.update(_Module(ast.parse(file.read_text(encoding="utf-8"))).lines())
    found = {line for line in found if line[2] not in ("", COMPUTED)}
    return "".join(f"{name} {code}: {text!r}\n" for name, code, text in sorted(found))


def difference(snapshot: Path = SNAPSHOT) -> str:
    """The differences between the sources and the snapshot, line by line; empty if they agree."""
    kept = snapshot.read_text(encoding="utf-8").splitlines() if snapshot.exists() else []
    lines = difflib.unified_diff(kept, render().splitlines(), snapshot.name, "src/bindless", n=0, lineterm="")
    return "\n".join(lines)
