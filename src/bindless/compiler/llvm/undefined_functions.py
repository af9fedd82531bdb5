"""Undefined functions of an LLVM IR module: their names in the source, and their types."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

__all__ = ["Declaration", "undefined"]

_TYPE = r"(?:ptr(?: addrspace\(\d+\))?|<[^>]*>|[\w%.\"]+)"
_ATTRIBUTES = r"(?:(?:dso_local|noundef|zeroext|signext|nofpclass\([^)]*\)|range\([^)]*\)) )*"
_DECLARATION = re.compile(rf'^declare {_ATTRIBUTES}({_TYPE}) @"?([\w.$]+)"?\(([^\n]*)\)[^)\n]*$', re.MULTILINE)
_DEFINED = re.compile(r'^define [^@\n]*@"?([\w.$]+)"?\(', re.MULTILINE)
_MANGLED = re.compile(r"_Z(\d+)(.*)")
_PARAMETER = re.compile(rf"{_TYPE}|\.\.\.")
_PARTS = re.compile(r"(?:[^,<(]|<[^>]*>|\([^)]*\))+")


@dataclass(frozen=True)
class Declaration:
    """A function without a body.

    Attributes
    ----------
    symbol
        Its name in the module.
    function
        Its name in the source.
    letters
        Mangled types of its parameters; empty for C functions.
    result
        Its result type in LLVM IR.
    parameters
        Types of its parameters in LLVM IR.
    """

    symbol: str
    function: str
    letters: str
    result: str
    parameters: tuple[str, ...]


def undefined(text: str) -> list[Declaration]:
    """Return the declared and undefined functions of a module by name, without intrinsics."""
    bodies = set(_DEFINED.findall(text))
    return sorted(
        (each for each in _declarations(text) if each.symbol not in bodies and not each.symbol.startswith("llvm.")),
        key=lambda each: each.symbol,
    )


def _declarations(text: str) -> Iterator[Declaration]:
    for result, symbol, parameters in _DECLARATION.findall(text):
        mangled = _MANGLED.match(symbol)
        length = int(mangled[1]) if mangled else 0
        function, letters = (mangled[2][:length], mangled[2][length:]) if mangled else (symbol, "")
        parts = (_PARAMETER.match(part.strip()) for part in _PARTS.findall(parameters))
        yield Declaration(symbol, function, letters, result, tuple(part[0] for part in parts if part))
