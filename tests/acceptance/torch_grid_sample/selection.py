"""``selected``: the tests of ``grid_sample`` in the text of torch's ``test/test_nn.py``, as a module of their own.

The file of one release of torch imports and generates much that other releases do not have. Kept are the imports, the
functions of the module, the methods that call ``grid_sample``, and the instantiation of the classes that have such
methods. A name that the installed torch lacks becomes a decorator that does nothing.
"""

from __future__ import annotations

import ast

__all__ = ["selected"]


def selected(text: str) -> str:
    """The text of the module of selected tests."""
    kept: list[ast.stmt] = []
    classes: set[str] = set()
    for statement in ast.parse(text).body:
        if isinstance(statement, (ast.Import, ast.ImportFrom)):
            kept += _imports(statement)
        elif isinstance(statement, (ast.FunctionDef, ast.If)):  # scipy is imported under a condition
            kept.append(statement)
        elif isinstance(statement, ast.ClassDef):
            methods = [part for part in statement.body if isinstance(part, ast.FunctionDef) and _calls(part)]
            if methods:
                classes.add(statement.name)
                statement.body = [*methods]
                kept.append(statement)
        elif isinstance(statement, ast.Expr) and ast.unparse(statement).startswith("instantiate_"):
            kept += [statement] if classes & {ast.unparse(part) for part in ast.walk(statement)} else []
    return "\n\n".join(ast.unparse(ast.fix_missing_locations(part)) for part in kept) + "\n"


def _calls(function: ast.FunctionDef) -> bool:
    names = {part.attr for part in ast.walk(function) if isinstance(part, ast.Attribute)}
    return function.name.startswith("test_") and "grid_sample" in names


def _imports(statement: ast.Import | ast.ImportFrom) -> list[ast.stmt]:
    """One import for each name."""
    found: list[ast.stmt] = []
    for alias in statement.names:
        one = ast.unparse(ast.Import([alias]) if isinstance(statement, ast.Import) else _from(statement, alias))
        name = (alias.asname or alias.name).partition(".")[0]
        absent = f"{name} = lambda *arguments, **options: lambda function: function"
        found += ast.parse(f"try:\n    {one}\nexcept ImportError:\n    {absent}").body
    return found


def _from(statement: ast.ImportFrom, alias: ast.alias) -> ast.ImportFrom:
    return ast.ImportFrom(statement.module, [alias], statement.level)
