"""What a SPIR-V module says of itself: its kernels and its specialization constants (SPIR-V sections 2.3 and 3)."""

from __future__ import annotations

import struct
from collections.abc import Iterator

from .errors import BuildError
from .module import Constant, ModuleDescription

__all__ = ["describe", "is_spirv"]

_MAGIC = 0x07230203
_HEADER = 5  # words

_OP_ENTRY_POINT = 15
_OP_TYPE_INT = 21
_OP_TYPE_FLOAT = 22
_OP_SPEC_CONSTANT_TRUE = 48
_OP_SPEC_CONSTANT_FALSE = 49
_OP_SPEC_CONSTANT = 50
_OP_DECORATE = 71
_SPEC_ID = 1
_MODEL_KERNEL = 6


def is_spirv(source: bytes) -> bool:
    """Whether it begins as a SPIR-V module does, in either byte order."""
    return source[:4] in (struct.pack("<I", _MAGIC), struct.pack(">I", _MAGIC))


def describe(source: bytes) -> ModuleDescription:
    """Names of the kernels and the specialization constants, in the order of the module.

    Raises:
        BuildError: it is no SPIR-V, or ends within an instruction.
    """
    if not is_spirv(source):
        raise BuildError(f"the source begins with {source[:8]!r}: it is no SPIR-V, whose first word is 0x{_MAGIC:08x}")
    order = "<" if source[:4] == struct.pack("<I", _MAGIC) else ">"
    words = struct.unpack(f"{order}{len(source) // 4}I", source[: len(source) // 4 * 4])
    names: list[str] = []
    numbers: dict[int, int] = {}  # result id to the constant's number
    types: dict[int, tuple[str, int]] = {}
    defaults: list[tuple[int, tuple[str, int], bytes]] = []
    for code, operands in _instructions(words):
        if code == _OP_ENTRY_POINT and operands[0] == _MODEL_KERNEL:
            names.append(_text(operands[2:]))
        elif code == _OP_DECORATE and operands[1] == _SPEC_ID:
            numbers[operands[0]] = operands[2]
        elif code in (_OP_TYPE_INT, _OP_TYPE_FLOAT):
            types[operands[0]] = ("int" if code == _OP_TYPE_INT else "float", operands[1] // 8)
        elif code in (_OP_SPEC_CONSTANT_TRUE, _OP_SPEC_CONSTANT_FALSE):
            defaults.append((operands[1], ("bool", 1), bytes([code == _OP_SPEC_CONSTANT_TRUE])))
        elif code == _OP_SPEC_CONSTANT and operands[0] in types:
            kind = types[operands[0]]
            defaults.append((operands[1], kind, struct.pack(f"<{len(operands) - 2}I", *operands[2:])[: kind[1]]))
    constants = {
        numbers[result]: Constant(numbers[result], kind, size, default)
        for result, (kind, size), default in defaults
        if result in numbers
    }
    return ModuleDescription(tuple(names), constants)


def _instructions(words: tuple[int, ...]) -> Iterator[tuple[int, tuple[int, ...]]]:
    """Code and operands of each; those that this module looks at are complete."""
    least = {_OP_ENTRY_POINT: 3, _OP_DECORATE: 2, _OP_TYPE_INT: 3, _OP_TYPE_FLOAT: 2, _OP_SPEC_CONSTANT: 3}
    least |= {_OP_SPEC_CONSTANT_TRUE: 2, _OP_SPEC_CONSTANT_FALSE: 2}
    place = _HEADER
    while place < len(words):
        length, code = words[place] >> 16, words[place] & 0xFFFF
        operands = words[place + 1 : place + length]
        needs = least.get(code, 0)
        if code == _OP_DECORATE and len(operands) > 1 and operands[1] == _SPEC_ID:
            needs = 3
        if length == 0 or place + length > len(words) or len(operands) < needs:
            raise BuildError(f"the SPIR-V module is damaged: instruction {code} at word {place} is not complete")
        yield code, operands
        place += length


def _text(words: tuple[int, ...]) -> str:
    return struct.pack(f"<{len(words)}I", *words).partition(b"\0")[0].decode("utf-8", "replace")
