"""Reversals of bits and bytes of integers whose size is not that of a type of SPIR-V.

LLVM finds them in loops and in sums of shifted parts: it truncates a value to 5 bits, say, reverses these, and extends
the result. Its SPIR-V translator reverses 8 bits and leaves the result at their upper end, or does not know the size.
This module truncates to 8 bits, reverses these and shifts the result down.
"""

from __future__ import annotations

import re

__all__ = ["with_whole_reversals"]

_SIZES = (8, 16, 32, 64)
_NAME = r'%(?:"[^"\n]*"|[\w.$-]+)'
_CALL = re.compile(
    rf"^  (?P<name>{_NAME}) = (?:tail )?call [^@\n]*\bi(?P<bits>\d+) @llvm\.(?P<what>bitreverse|bswap)\.i(?P=bits)"
    rf"\(i(?P=bits) (?:noundef )?(?P<value>{_NAME})\)[^\n]*$",
    re.MULTILINE,
)
_FUNCTION = re.compile(r"^define [^\n]*\{\n.*?^\}", re.MULTILINE | re.DOTALL)


def with_whole_reversals(text: str) -> str:
    """Return LLVM IR that reverses integers of 8, 16, 32 and 64 bits alone."""
    text = _FUNCTION.sub(_function, text)
    for function in sorted(set(re.findall(r"i\d+ @llvm\.(?:bitreverse|bswap)\.i(?:8|16|32|64)(?=\()", text))):
        if f"declare {function}(" not in text:
            text += f"\ndeclare {function}({function.split()[0]})\n"
    return text


def _function(function: re.Match[str]) -> str:
    text = function[0]
    for number, call in enumerate(_CALL.finditer(text)):
        bits = int(call["bits"])
        whole = min((size for size in _SIZES if size >= bits), default=bits)
        if whole != bits:
            text = _with_whole(text, call, bits, whole, number)
    return text


def _with_whole(text: str, call: re.Match[str], bits: int, whole: int, number: int) -> str:
    """Replace one call, the truncation of its value, and the extensions of its result."""
    wide, reversal, result = (f"%bindless.{part}.{number}" for part in ("wide", "turned", "placed"))
    widening = re.search(
        rf"^  {re.escape(call['value'])} = trunc [^\n]*?i(\d+) ({_NAME}) to i{bits}\b", text, re.MULTILINE
    )
    if widening is None or int(widening[1]) not in _SIZES:
        start = f"zext i{bits} {call['value']} to i{whole}"
    elif int(widening[1]) == whole:
        start = f"freeze i{whole} {widening[2]}"
    else:
        start = f"trunc i{widening[1]} {widening[2]} to i{whole}"
    lines = (
        f"  {wide} = {start}",
        f"  {reversal} = call i{whole} @llvm.{call['what']}.i{whole}(i{whole} {wide})",
        f"  {result} = lshr i{whole} {reversal}, {whole - bits}",
        f"  {call['name']} = trunc i{whole} {result} to i{bits}",
    )
    text = text.replace(call[0], "\n".join(lines))

    def extension(match: re.Match[str]) -> str:
        size = int(match[2])
        return f"{match[1]}{'freeze' if size == whole else 'zext'} i{whole} {result}" + (
            "" if size == whole else f" to i{size}"
        )

    return re.sub(
        rf"(?m)^(  {_NAME} = )zext (?:nneg )?i{bits} {re.escape(call['name'])} to i({'|'.join(map(str, _SIZES))})\b",
        extension,
        text,
    )
