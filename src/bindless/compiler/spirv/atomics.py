"""Definitions of OpenCL C's atomic functions that LLVM's SPIR-V translator lacks, by instructions that it supports.

The functions of OpenCL C 1 are relaxed. Minimum and maximum of later versions are sequentially consistent, which
satisfies every requested order. Later versions take generic pointers, for which some drivers' compilers have no atomic
functions: where a pointer was cast to generic for the call alone, the call takes the original pointer.
"""

from __future__ import annotations

import re

__all__ = ["in_their_memory", "with_atomics"]

_DECLARATION = re.compile(
    r"^declare spir_func [^@\n]*(@_Z\d+(?:atom(?:ic)?_(xchg|min|max|inc|dec)|atomic_fetch_(min|max)(?:_explicit)?)"
    r"PU3AS(\d)VU?(?:7_Atomic)?([ijlmf])[^(\n]*)\(([^\n]*)\)[^\n]*$",
    re.MULTILINE,
)
_FUNCTION = re.compile(r"^define .*?^}", re.MULTILINE | re.DOTALL)
_CAST = re.compile(r"^  (%[\w.]+) = addrspacecast ptr addrspace\(([13])\) (\S+) to ptr addrspace\(4\)$", re.MULTILINE)
_OF_VARIABLE = r"addrspacecast \(ptr addrspace\(([13])\) (@[\w.]+) to ptr addrspace\(4\)\)"
_POINTER = rf"ptr addrspace\(4\) ((?:noundef )?)(%[\w.]+|{_OF_VARIABLE})"
_CALL = re.compile(r"(@_Z\d+atomic_\w+?)PU3AS4(V\w*)\(" + _POINTER)
_INSTRUCTION = re.compile(r"((?:atomicrmw|cmpxchg) (?:\w+ )*?)" + _POINTER)
_TYPES = {"i": "i32", "j": "i32", "l": "i64", "m": "i64", "f": "float"}


def with_atomics(text: str) -> str:
    """Return the LLVM IR of a source with its atomic functions defined or replaced by supported ones."""
    return _DECLARATION.sub(_definition, text)


def _definition(declaration: re.Match[str]) -> str:
    name, old, fetch, space, letter, parameter_list = declaration.groups()
    type_ = _TYPES[letter]
    parameters = [f"ptr addrspace({space}) %p"]
    # Only the types of orders and scopes, which are numbers, matter.
    others = [part.split()[0] for part in parameter_list.split(",")[1:]]
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


def in_their_memory(text: str) -> str:
    """Return optimised LLVM IR whose atomic operations on global and local memory use pointers to that memory."""
    declarations: dict[str, None] = {}

    def function(match: re.Match[str]) -> str:
        casts = {name: (space, pointer) for name, space, pointer in _CAST.findall(match[0])}

        def plain(name: str, space: str | None, variable: str | None) -> tuple[str, str] | None:
            return (space, variable) if space and variable else casts.get(name)

        def call(call_match: re.Match[str]) -> str:
            begin, rest, words, *pointer = call_match.groups()
            own = plain(*pointer)
            if own is None:
                return call_match[0]
            known_as, own_name = f"{begin}PU3AS4{rest}", f"{begin}PU3AS{own[0]}{rest}"
            line = re.search(rf"^declare .*{re.escape(known_as)}\(.*$", text, re.MULTILINE)
            assert line is not None
            declaration = line[0].replace(known_as, own_name).replace("addrspace(4)", f"addrspace({own[0]})", 1)
            declarations[declaration] = None
            return f"{own_name}(ptr addrspace({own[0]}) {words}{own[1]}"

        def instruction(instruction_match: re.Match[str]) -> str:
            begin, words, *pointer = instruction_match.groups()
            own = plain(*pointer)
            return instruction_match[0] if own is None else f"{begin}ptr addrspace({own[0]}) {words}{own[1]}"

        return _INSTRUCTION.sub(instruction, _CALL.sub(call, match[0]))

    result = _FUNCTION.sub(function, text)
    there = set(text.splitlines())
    return "\n".join([result, *(line for line in declarations if line not in there), ""])
