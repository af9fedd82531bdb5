"""Check that a SPIR-V module is complete: some drivers' compilers end the process for a truncated one (SPIR-V sections
2.3 and 2.4).
"""

from __future__ import annotations

import struct

from ..errors import BuildError

__all__ = ["require_whole"]

_HEADER = 5  # words
_MEMORY_MODEL, _ENTRY_POINT, _FUNCTION, _FUNCTION_END, _LABEL = 14, 15, 54, 56, 248
# Branch, BranchConditional, Switch, Kill, Return, ReturnValue, Unreachable.
_TERMINATORS = frozenset((249, 250, 251, 252, 253, 254, 255))


def require_whole(source: bytes) -> None:
    """Check that instructions, blocks and functions are complete, and that every entry point exists.

    Raises
    ------
    BuildError
        A part is incomplete; the message gives its position.
    """
    order = "<" if source[:4] == b"\x03\x02\x23\x07" else ">"
    words = struct.unpack(f"{order}{len(source) // 4}I", source[: len(source) // 4 * 4])
    if len(source) % 4 or len(words) < _HEADER:
        raise _damaged(f"it has {len(source)} bytes, and is made of words of 4, {_HEADER} of them its header", 0)
    place, in_function, in_block = _HEADER, False, False
    pending: set[int] = set()
    modelled = False
    while place < len(words):
        length, code = words[place] >> 16, words[place] & 0xFFFF
        if not length or place + length > len(words):
            raise _damaged(f"instruction {code} is not complete", place)
        if code == _FUNCTION:
            if in_function or length < 5:
                raise _damaged("a function begins within another, or is not complete", place)
            in_function = True
            pending.discard(words[place + 2])
        elif code == _ENTRY_POINT and length >= 4:
            pending.add(words[place + 2])
        elif code == _MEMORY_MODEL:
            modelled = True
        elif code == _FUNCTION_END:
            if in_block or not in_function:
                raise _damaged("a function ends within a block, or none has begun", place)
            in_function = False
        elif code == _LABEL:
            if in_block or not in_function:
                raise _damaged("a block begins within another, or outside a function", place)
            in_block = True
        elif code in _TERMINATORS:
            if not in_block:
                raise _damaged("a block ends that has not begun", place)
            in_block = False
        place += length
    if in_function:
        raise _damaged("it ends within a function", place)
    if pending or not modelled:
        raise _damaged("it has no memory model, or an entry point without its function", place)


def _damaged(reason: str, place: int) -> BuildError:
    text = f"the SPIR-V module is damaged or cut off: {reason} (word {place})"
    return BuildError(text, log=text)
