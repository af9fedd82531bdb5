"""Results of ``cmpxchg`` in optimised LLVM IR for SPIR-V: loop variables of the pair of value and success become two.

LLVM's optimiser carries the pair around loops that exchange until they succeed; its code generator for SPIR-V takes
pairs in ``extractvalue`` alone.
"""

from __future__ import annotations

import re

__all__ = ["with_single_results"]

_FUNCTION = re.compile(r"^define [^\n]*\{\n.*?^\}", re.MULTILINE | re.DOTALL)
_NAME = r'%(?:"[^"\n]*"|[\w.$-]+)'
_PAIR = r"\{ (i\d+), i1 \}"
_EXCHANGE = re.compile(rf"^  ({_NAME}) = cmpxchg [^\n]*?, (i\d+) [^\n]*$", re.MULTILINE)
_VARIABLE = re.compile(rf"^  ({_NAME}) = (phi|select|freeze) ([^\n]*?){_PAIR}([^\n]*)$", re.MULTILINE)
_PART = re.compile(rf"^  ({_NAME}) = extractvalue {_PAIR} ({_NAME}), ([01])[^\n]*\n", re.MULTILINE)
_ANY = re.compile(_NAME)


def with_single_results(text: str) -> str:
    """Return the module without variables of pairs."""
    if "cmpxchg" not in text or not _VARIABLE.search(text):
        return text
    return _FUNCTION.sub(lambda match: _without_pairs(match[0]), text)


def _without_pairs(text: str) -> str:
    pairs = {match[1] for match in _VARIABLE.finditer(text)}
    if not pairs:
        return text
    exchanges = {match[1]: match[2] for match in _EXCHANGE.finditer(text)}
    names: dict[str, str] = {}

    def part(match: re.Match[str]) -> str:
        if match[3] not in pairs:
            return match[0]
        names[match[1]] = _part_of(match[3], int(match[4]))
        return ""

    def variable(match: re.Match[str]) -> str:
        return "\n".join(_variable(match, number, pairs | exchanges.keys()) for number in (0, 1))

    def exchange(match: re.Match[str]) -> str:
        parts = (
            f"  {_part_of(match[1], number)} = extractvalue {{ {match[2]}, i1 }} {match[1]}, {number}"
            for number in (0, 1)
        )
        return "\n".join((match[0], *parts))

    text = _PART.sub(part, text)
    text = _EXCHANGE.sub(exchange, _VARIABLE.sub(variable, text))
    return _ANY.sub(lambda match: names.get(match[0], match[0]), text)


def _variable(match: re.Match[str], number: int, names: set[str]) -> str:
    """The line of a variable for one part of its pairs."""
    name, verb, before, kind, rest = match.groups()
    type_ = (kind, "i1")[number]
    rest = rest.replace(f"{{ {kind}, i1 }}", type_)
    rest = _ANY.sub(lambda use: _part_of(use[0], number) if use[0] in names else use[0], rest)
    return f"  {_part_of(name, number)} = {verb} {before}{type_}{rest}"


def _part_of(name: str, number: int) -> str:
    word = ("value", "done")[number]
    return f'{name[:-1]}.{word}"' if name.endswith('"') else f"{name}.{word}"
