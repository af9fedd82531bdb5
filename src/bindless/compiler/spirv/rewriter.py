"""Instructions of SPIR-V modules, and what rewriting a module takes: new ids and types, capabilities, words."""

from __future__ import annotations

import struct
from collections.abc import Collection, Iterable, Sequence

__all__ = ["Instruction", "Rewriter", "imports", "instructions", "text_words"]

Instruction = tuple[int, tuple[int, ...]]

HEADER = 5
_CAPABILITY, _CAPABILITY_LINKAGE = 17, 5
_FUNCTION, _FUNCTION_PARAMETER, _FUNCTION_END = 54, 55, 56
_NAME, _DECORATE, _LINKAGE_ATTRIBUTES, _IMPORT = 5, 71, 41, 1


def instructions(words: Sequence[int]) -> list[Instruction]:
    """Return the instructions of a module: code and operands of each."""
    result: list[Instruction] = []
    at = HEADER
    while at < len(words):
        length = words[at] >> 16
        result.append((words[at] & 0xFFFF, tuple(words[at + 1 : at + length])))
        at += length
    return result


def imports(code: Sequence[Instruction]) -> dict[int, str]:
    """Return the names of undefined functions by id."""
    functions = {rest[1] for op, rest in code if op == _FUNCTION}  # built-in variables are imports too
    return {
        rest[0]: struct.pack(f"<{len(rest) - 3}I", *rest[2:-1]).partition(b"\0")[0].decode("utf-8", "replace")
        for op, rest in code
        if op == _DECORATE and rest[1] == _LINKAGE_ATTRIBUTES and rest[-1] == _IMPORT and rest[0] in functions
    }


def text_words(text: str) -> tuple[int, ...]:
    """Return a literal text as operands."""
    data = text.encode() + b"\0"
    data += bytes(-len(data) % 4)
    return struct.unpack(f"<{len(data) // 4}I", data)


class Rewriter:
    """A module that gets other instructions.

    Attributes
    ----------
    header
        Words before the instructions; the fourth is the number of ids.
    code
        The instructions.
    new_types
        Types and constants that the module lacks.
    """

    def __init__(self, words: Sequence[int], code: list[Instruction]) -> None:
        self.header, self.code = list(words[:HEADER]), code
        self.new_types: list[Instruction] = []

    def _new(self) -> int:
        self.header[3] += 1
        return self.header[3] - 1

    def _type(self, op: int, *operands: int) -> int:
        """Return the id of a type, which a module declares once."""
        for code, rest in (*self.code, *self.new_types):
            if code == op and rest[1:] == operands:
                return rest[0]
        number = self._new()
        self.new_types.append((op, (number, *operands)))
        return number

    def _without(self, functions: Collection[int], others: Iterable[int] = ()) -> list[Instruction]:
        """Return the instructions without declarations of functions, and without names and decorations of these, of
        their parameters and of other ids.
        """
        result: list[Instruction] = []
        dropped = {*functions, *others}
        within = False  # a declaration to remove
        for op, rest in self.code:
            if op == _FUNCTION:
                within = rest[1] in functions
            if not within:
                result.append((op, rest))
            elif op == _FUNCTION_PARAMETER:
                dropped.add(rest[1])
            within = within and op != _FUNCTION_END
        return [(op, rest) for op, rest in result if not (op in (_NAME, _DECORATE) and rest[0] in dropped)]

    def _module(self, body: list[Instruction], capabilities: Iterable[int]) -> bytes:
        """Return the module of instructions, with capabilities, and without that of linkage if nothing is linked."""
        linkage = any(op == _DECORATE and rest[1] == _LINKAGE_ATTRIBUTES for op, rest in body)
        body = [line for line in body if linkage or line != (_CAPABILITY, (_CAPABILITY_LINKAGE,))]
        for capability in capabilities:
            if (_CAPABILITY, (capability,)) not in body:
                body.insert(0, (_CAPABILITY, (capability,)))
        words = list(self.header)
        for op, rest in body:
            words += [(len(rest) + 1) << 16 | op, *rest]
        return struct.pack(f"<{len(words)}I", *words)
