"""Correction of null events in SPIR-V: LLVM 22 writes them with a surplus word, which validators refuse."""

from __future__ import annotations

import struct

__all__ = ["with_plain_nulls"]

_HEADER = 5
_CONSTANT_NULL, _WORDS = 46, 3


def with_plain_nulls(module: bytes) -> bytes:
    """Return the module with ``OpConstantNull`` instructions of a type and a result only."""
    words = struct.unpack(f"<{len(module) // 4}I", module)
    result = list(words[:_HEADER])
    at = _HEADER
    while at < len(words):
        length = words[at] >> 16
        if words[at] & 0xFFFF == _CONSTANT_NULL and length > _WORDS:
            result += [_WORDS << 16 | _CONSTANT_NULL, *words[at + 1 : at + _WORDS]]
        else:
            result += words[at : at + length]
        at += length
    return struct.pack(f"<{len(result)}I", *result)
