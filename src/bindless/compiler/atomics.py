"""Atomic functions of OpenCL C that LLVM's translator to SPIR-V does not know, by the instruction that it knows.

Those of OpenCL C 1 are relaxed. Minimum and maximum of later versions are as strong as any order that is asked for.
"""

from __future__ import annotations

import re

__all__ = ["with_atomics"]

_DECLARATION = re.compile(
    r"^declare spir_func [^@\n]*(@_Z\d+(?:atom(?:ic)?_(xchg|min|max|inc|dec)|atomic_fetch_(min|max)(?:_explicit)?)"
    r"PU3AS(\d)VU?(?:7_Atomic)?([ijlmf])[^(\n]*)\(([^\n]*)\)[^\n]*$",
    re.MULTILINE,
)
_TYPES = {"i": "i32", "j": "i32", "l": "i64", "m": "i64", "f": "float"}


def with_atomics(text: str) -> str:
    """LLVM IR of a source, whose atomic functions are defined or known."""
    return _DECLARATION.sub(_definition, text)


def _definition(declaration: re.Match[str]) -> str:
    name, old, fetch, space, letter, given = declaration.groups()
    type_ = _TYPES[letter]
    parameters = [f"ptr addrspace({space}) %p"]
    # Of orders and scopes, which are numbers, only the types matter.
    others = [part.split()[0] for part in given.split(",")[1:]]
    parameters += [f"{other} %{'v' if number == 0 else f'unused{number}'}" for number, other in enumerate(others)]
    operation, value = {"inc": ("add", "1"), "dec": ("sub", "1")}.get(old or fetch, (old or fetch, "%v"))
    if operation in ("min", "max") and letter in "jm":
        operation = f"u{operation}"
    order = "seq_cst" if fetch else "monotonic"
    return (
        f"define internal spir_func {type_} {name}({', '.join(parameters)}) {{\n"
        f'  %old = atomicrmw {operation} ptr addrspace({space}) %p, {type_} {value} syncscope("device") {order}\n'
        f"  ret {type_} %old\n}}"
    )
