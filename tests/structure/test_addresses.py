"""``ffi.addressof`` keeps nothing alive: what it is given needs a name that lasts as long as the address."""

from __future__ import annotations

import ast
from pathlib import Path

import bindless as bl

PACKAGE = Path(bl.__file__).parent


def test_no_address_is_of_a_result() -> None:
    found = []
    for file in sorted(PACKAGE.rglob("*.py")):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if (
                isinstance(node, ast.Call)
                and isinstance(node.func, ast.Attribute)
                and ast.unparse(node.func).endswith("ffi.addressof")
                and isinstance(node.args[0], ast.Call)
            ):
                found.append(f"{file.relative_to(PACKAGE)}:{node.lineno}")
    assert found == []
