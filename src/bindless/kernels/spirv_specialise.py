"""Replacement of a kernel argument in SPIR-V by a constant (SPIR-V sections 2.4 and 3)."""

from __future__ import annotations

import struct
from collections.abc import Iterator

__all__ = ["with_constant_argument"]

_HEADER = 5  # words; the fourth one is the bound of ids
_OP_NAME, _OP_ENTRY_POINT, _OP_CONSTANT, _OP_FUNCTION, _OP_FUNCTION_PARAMETER = 5, 15, 43, 54, 55
_OP_VARIABLE, _OP_DECORATE, _OP_COPY_OBJECT, _OP_LABEL, _OP_LINE = 59, 71, 83, 248, 8


def _instructions(words: list[int]) -> Iterator[tuple[int, list[int]]]:
    place = _HEADER
    while place < len(words):
        length = words[place] >> 16
        yield words[place] & 0xFFFF, words[place + 1 : place + length]
        place += length


def _instruction(code: int, *operands: int) -> list[int]:
    return [(len(operands) + 1) << 16 | code, *operands]


def with_constant_argument(source: bytes, kernel: str, index: int, value: int) -> bytes:
    """Return the module with a constant 32-bit argument: the parameter stays, and the kernel ignores it.

    Parameters
    ----------
    source
        SPIR-V in the processor's byte order, valid.
    kernel
        Name of the entry point.
    index
        Index of the argument, from 0.
    value
        Its bits.

    Raises
    ------
    ValueError
        The module has no such kernel or argument.
    """
    words = list(struct.unpack(f"={len(source) // 4}I", source))
    name = struct.pack(f"={len(kernel) // 4 + 1}I", *_text(kernel))
    function = next(
        (
            operands[1]
            for code, operands in _instructions(words)
            if code == _OP_ENTRY_POINT and struct.pack(f"={len(operands) - 2}I", *operands[2:]).startswith(name)
        ),
        None,
    )
    parameter = None if function is None else _parameter(words, function, index)
    if parameter is None:
        raise ValueError(f"the SPIR-V has no kernel {kernel!r} with an argument {index}")
    kind, own = parameter
    new_parameter, constant = words[3], words[3] + 1  # new ids: of the parameter, and of the constant
    out = [*words[:3], words[3] + 2, words[4]]
    functions, inside, before_body = 0, False, False
    for code, operands in _instructions(words):
        if code == _OP_FUNCTION:
            functions += 1
            inside = before_body = operands[1] == function
            if functions == 1:
                out += _instruction(_OP_CONSTANT, kind, constant, value & 0xFFFFFFFF)
        elif code == _OP_FUNCTION_PARAMETER and operands[1] == own:
            operands = [kind, new_parameter]
        elif code in (_OP_NAME, _OP_DECORATE) and operands[0] == own:
            operands = [new_parameter, *operands[1:]]
        elif inside and before_body and code not in (_OP_FUNCTION_PARAMETER, _OP_LABEL, _OP_VARIABLE, _OP_LINE):
            out += _instruction(_OP_COPY_OBJECT, kind, own, constant)
            before_body = False
        out += _instruction(code, *operands)
    return struct.pack(f"={len(out)}I", *out)


def _text(name: str) -> tuple[int, ...]:
    """Encode a literal string: words, the last with at least one zero byte."""
    data = name.encode().ljust(len(name) // 4 * 4 + 4, b"\0")
    return struct.unpack(f"={len(data) // 4}I", data)


def _parameter(words: list[int], function: int, index: int) -> tuple[int, int] | None:
    """Return type and id of a parameter."""
    inside = False
    for code, operands in _instructions(words):
        if code == _OP_FUNCTION:
            inside = operands[1] == function
        elif inside and code == _OP_FUNCTION_PARAMETER:
            if index == 0:
                return operands[0], operands[1]
            index -= 1
    return None
