"""Reflection of SPIR-V modules: kernels with their parameters, and specialization constants (SPIR-V sections 2.3 and
3).
"""

from __future__ import annotations

import struct
from collections.abc import Iterator

from ..errors import BuildError
from .description import Constant, KernelSignature, ModuleDescription
from .spirv_types import LEAST, Types

__all__ = ["BINDLESS_IMAGES", "capabilities", "describe", "is_spirv"]

BINDLESS_IMAGES = 6528  # the capability of image handles in memory

_MAGIC = 0x07230203
_HEADER = 5  # words

_OP_NAME = 5
_OP_STRING = 7
_OP_ENTRY_POINT = 15
_OP_EXECUTION_MODE = 16
_OP_CAPABILITY = 17
_OP_TYPE_INT = 21
_OP_TYPE_FLOAT = 22
_OP_SPEC_CONSTANT_TRUE = 48
_OP_SPEC_CONSTANT_FALSE = 49
_OP_SPEC_CONSTANT = 50
_OP_FUNCTION = 54
_OP_FUNCTION_PARAMETER = 55
_OP_FUNCTION_END = 56
_OP_DECORATE = 71
_LOCAL_SIZE = 17
_LOCAL_SIZE_HINT = 18
_SPEC_ID = 1
_MODEL_KERNEL = 6


def is_spirv(source: bytes) -> bool:
    """Return whether the bytes start with SPIR-V's magic number, in either byte order."""
    return source[:4] in (struct.pack("<I", _MAGIC), struct.pack(">I", _MAGIC))


def capabilities(source: bytes) -> frozenset[int]:
    """Return the capabilities that a module declares; they are its first instructions."""
    order, begin = "<" if source[:4] == struct.pack("<I", _MAGIC) else ">", 4 * _HEADER
    numbers = set()
    while len(source) >= begin + 8:
        first, number = struct.unpack_from(f"{order}2I", source, begin)
        if first != 2 << 16 | _OP_CAPABILITY:
            break
        numbers.add(number)
        begin += 8
    return frozenset(numbers)


def describe(source: bytes) -> ModuleDescription:
    """Return names and signatures of the kernels, and the specialization constants, in the order of the module.

    Raises
    ------
    BuildError
        The bytes are not SPIR-V, or end within an instruction or a function.
    """
    if not is_spirv(source):
        raise BuildError(f"the source begins with {source[:8]!r}: it is no SPIR-V, whose first word is 0x{_MAGIC:08x}")
    order = "<" if source[:4] == struct.pack("<I", _MAGIC) else ">"
    words = struct.unpack(f"{order}{len(source) // 4}I", source[: len(source) // 4 * 4])
    kernels: dict[int, str] = {}  # name by id
    texts: dict[int, str] = {}  # OpName by id
    strings: list[str] = []
    modes: dict[int, dict[int, tuple[int, ...]]] = {}
    parameters: dict[int, list[tuple[int, int]]] = {}  # type and id, by function
    function = 0
    sizes = Types()
    numbers: dict[int, int] = {}  # result id to the constant's number
    types: dict[int, tuple[str, int]] = {}
    defaults: list[tuple[int, tuple[str, int], bytes]] = []
    for code, operands in _instructions(words):
        if code == _OP_ENTRY_POINT and operands[0] == _MODEL_KERNEL:
            kernels[operands[1]] = _text(operands[2:])
        elif code == _OP_NAME:
            texts[operands[0]] = _text(operands[1:])
        elif code == _OP_STRING:
            strings.append(_text(operands[1:]))
        elif code == _OP_EXECUTION_MODE and operands[1] in (_LOCAL_SIZE, _LOCAL_SIZE_HINT):
            modes.setdefault(operands[0], {})[operands[1]] = operands[2:5]
        elif code == _OP_FUNCTION:
            function = operands[1]
        elif code == _OP_FUNCTION_END:
            function = 0
        elif code == _OP_FUNCTION_PARAMETER:
            parameters.setdefault(function, []).append((operands[0], operands[1]))
        elif code == _OP_DECORATE and operands[1] == _SPEC_ID:
            numbers[operands[0]] = operands[2]
        elif code in (_OP_TYPE_INT, _OP_TYPE_FLOAT):
            types[operands[0]] = ("int" if code == _OP_TYPE_INT else "float", operands[1] // 8)
        elif code in (_OP_SPEC_CONSTANT_TRUE, _OP_SPEC_CONSTANT_FALSE):
            defaults.append((operands[1], ("bool", 1), bytes([code == _OP_SPEC_CONSTANT_TRUE])))
        elif code == _OP_SPEC_CONSTANT and operands[0] in types:
            kind = types[operands[0]]
            defaults.append((operands[1], kind, struct.pack(f"<{len(operands) - 2}I", *operands[2:])[: kind[1]]))
        sizes.take(code, operands)
    if function:
        raise _damaged("it ends within a function")
    constants = {
        numbers[result]: Constant(numbers[result], kind, size, default, texts.get(result, ""))
        for result, (kind, size), default in defaults
        if result in numbers
    }
    signatures = {
        name: KernelSignature(
            name,
            sizes.parameters(parameters.get(kernel, ()), texts, _words(strings, name)),
            modes.get(kernel, {}).get(_LOCAL_SIZE),
            modes.get(kernel, {}).get(_LOCAL_SIZE_HINT),
        )
        for kernel, name in kernels.items()
    }
    return ModuleDescription(tuple(kernels.values()), constants, signatures)


def _words(strings: list[str], kernel: str) -> dict[str, list[str]]:
    """Parse the argument lists that clang and LLVM write: ``kernel_arg_type.NAME.float*,uint,`` and so on."""
    lists: dict[str, list[str]] = {}
    for text in strings:
        for what in ("kernel_arg_type", "kernel_arg_name"):
            begin = f"{what}.{kernel}."
            if text.startswith(begin):
                lists[what] = text[len(begin) :].rstrip(",").split(",")
    return lists


def _instructions(words: tuple[int, ...]) -> Iterator[tuple[int, tuple[int, ...]]]:
    """Yield opcode and operands of each instruction; those that this module reads are complete."""
    minimums = {_OP_ENTRY_POINT: 3, _OP_DECORATE: 2, _OP_TYPE_INT: 3, _OP_TYPE_FLOAT: 2, _OP_SPEC_CONSTANT: 3}
    minimums |= {_OP_SPEC_CONSTANT_TRUE: 2, _OP_SPEC_CONSTANT_FALSE: 2, _OP_NAME: 2, _OP_STRING: 2}
    minimums |= {_OP_EXECUTION_MODE: 2, _OP_FUNCTION: 4, _OP_FUNCTION_PARAMETER: 2, **LEAST}
    place = _HEADER
    while place < len(words):
        length, code = words[place] >> 16, words[place] & 0xFFFF
        operands = words[place + 1 : place + length]
        needs = minimums.get(code, 0)
        if code == _OP_DECORATE and len(operands) > 1 and operands[1] == _SPEC_ID:
            needs = 3
        if length == 0 or place + length > len(words) or len(operands) < needs:
            raise _damaged(f"instruction {code} at word {place} is not complete")
        yield code, operands
        place += length


def _damaged(why: str) -> BuildError:
    text = f"the SPIR-V module is damaged: {why}"
    return BuildError(text, log=text)


def _text(words: tuple[int, ...]) -> str:
    return struct.pack(f"<{len(words)}I", *words).partition(b"\0")[0].decode("utf-8", "replace")
