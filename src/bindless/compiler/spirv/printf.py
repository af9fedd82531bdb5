"""Calls of ``printf``, for LLVM's SPIR-V translator, which reads a declared parameter for each argument.

A variadic function declares only the format, so that the translator reads out of bounds, and builds of LLVM with
assertions abort. Each list of argument types therefore gets its own declaration; the translator recognises the function
by the first part of the mangled name.
"""

from __future__ import annotations

import re

__all__ = ["with_plain_printf"]

_CALL = re.compile(r"call spir_func i32 \(ptr addrspace\(2\), \.\.\.\) @printf\((.*)\)(?=[^()]*$)", re.MULTILINE)
_ARGUMENT = re.compile(r"\s*(ptr(?: addrspace\(\d+\))?|<[^>]*>|\w+)\b")
_PARTS = re.compile(r"(?:[^,<({\[]|<[^>]*>|\((?:[^()]|\([^()]*\))*\))+")
_LETTERS = {"i1": "b", "i8": "c", "i16": "s", "i32": "i", "i64": "l", "half": "Dh", "float": "f", "double": "d"}


def with_plain_printf(text: str) -> str:
    """Return the LLVM IR of a source in which calls of ``printf`` have declarations with all parameters."""
    declarations: dict[str, None] = {}

    def call(match: re.Match[str]) -> str:
        matches = (_ARGUMENT.match(part) for part in _PARTS.findall(match[1]))
        types = [argument[1] for argument in matches if argument]
        name = "_Z6printf" + "".join(map(_mangled, types))
        declarations[f"declare spir_func i32 @{name}({', '.join(types)})"] = None
        return f"call spir_func i32 @{name}({match[1]})"

    return "\n".join([_CALL.sub(call, text), *declarations, ""]) if "@printf(" in text else text


def _mangled(type_: str) -> str:
    vector = re.match(r"<(\d+) x (\w+)>", type_)
    if vector:
        return f"Dv{vector[1]}_{_LETTERS[vector[2]]}"
    space = re.match(r"ptr(?: addrspace\((\d+)\))?", type_)
    if space:
        return f"PU3AS{space[1]}c" if space[1] else "Pc"
    return _LETTERS[type_]
