"""Constant offsets into program-scope and local variables, rewritten for LLVM's SPIR-V translator.

LLVM writes such an address as one constant expression with an offset in bytes. The translator uses that number as an
index of elements of the accessed type: a wrong address. This module replaces each by an instruction at the beginning of
its function with a non-constant offset, which the translator handles correctly. The format string of ``printf`` gets
the same treatment, because the translator would pass it as a pointer to an array instead of characters.
"""

from __future__ import annotations

import re

__all__ = ["with_instructions"]

_FUNCTION = re.compile(r"^define [^\n]*\{\n(?:[\w.$\"-]+:[^\n]*\n)?(.*?)^\}$", re.MULTILINE | re.DOTALL)
_PLACE = re.compile(r'getelementptr ([a-z ]*)\((\w+), ptr addrspace\((\d)\) (@"[^"]*"|@[\w.$-]+), i64 (-?\d+)\)')
_FORMAT = re.compile(r'(@(?:_Z6)?printf\w*\(ptr addrspace\((\d)\)[a-z ]*) (@"[^"]*"|@[\w.$-]+)(?=[,)])')
_CAST = re.compile(r"(addrspacecast|ptrtoint) \((ptr addrspace\(\d\)) (%bindless\.place\d+) to ([^()]+(?:\(\d\))?)\)")


def with_instructions(text: str) -> str:
    """Return LLVM IR whose functions have no such constant expressions."""
    return _FUNCTION.sub(_function, text)


def _function(function: re.Match[str]) -> str:
    lines: list[str] = []
    name_of: dict[str, str] = {}

    def place(match: re.Match[str]) -> str:
        if match[0] not in name_of:
            number = len(name_of)
            name = name_of[match[0]] = f"%bindless.place{number}"
            flags, type_, space, variable, offset = match.groups()
            lines.append(f"  %bindless.offset{number} = freeze i64 {offset}\n")
            operands = f"{flags}{type_}, ptr addrspace({space}) {variable}, i64 %bindless.offset{number}"
            lines.append(f"  {name} = getelementptr {operands}\n")
        return name_of[match[0]]

    def cast(match: re.Match[str]) -> str:
        if match[0] not in name_of:
            name = name_of[match[0]] = f"%bindless.place{len(name_of)}"
            lines.append(f"  {name} = {match[1]} {match[2]} {match[3]} to {match[4]}\n")
        return name_of[match[0]]

    def text_of(match: re.Match[str]) -> str:
        whole = _PLACE.match(f"getelementptr inbounds (i8, ptr addrspace({match[2]}) {match[3]}, i64 0)")
        assert whole is not None
        return f"{match[1]} {place(whole)}"

    body = _FORMAT.sub(text_of, _CAST.sub(cast, _PLACE.sub(place, function[1])))
    at = function.start(1) - function.start()
    return function[0][:at] + "".join(lines) + body + "}"
