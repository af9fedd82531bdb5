"""``any`` and ``all`` of OpenCL C by the sign bits; LLVM's SPIR-V translator tests booleans instead."""

from __future__ import annotations

import re

__all__ = ["with_relations"]

_DECLARATION = re.compile(
    r"^declare spir_func i32 (@_Z3(any|all)(?:Dv(\d+)_)?([csil]))\([^\n]*$",
    re.MULTILINE,
)
_BITS = {"c": 8, "s": 16, "i": 32, "l": 64}


def with_relations(text: str) -> str:
    """Return the LLVM IR of a source with relations of vectors defined."""
    return _DECLARATION.sub(_definition, text)


def _definition(declaration: re.Match[str]) -> str:
    name, which, count, letter = declaration.groups()
    bits, operation = _BITS[letter], "or" if which == "any" else "and"
    type_, last, lines = f"i{bits}", "%value", []
    if count:
        lines = [f"  %e{i} = extractelement <{count} x {type_}> %value, i32 {i}\n" for i in range(int(count))]
        last = "%e0"
        for i in range(1, int(count)):
            lines.append(f"  %o{i} = {operation} {type_} {last}, %e{i}\n")
            last = f"%o{i}"
    source_type = f"<{count} x {type_}>" if count else type_
    lines.append(f"  %sign = icmp slt {type_} {last}, 0\n  %result = zext i1 %sign to i32\n")
    return f"define internal spir_func i32 {name}({source_type} %value) {{\n{''.join(lines)}  ret i32 %result\n}}"
