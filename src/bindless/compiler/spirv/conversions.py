"""Conversions of OpenCL C that LLVM's SPIR-V translator lacks or translates incorrectly.

The translator does not support ``convert_half`` and ``convert_double`` in any form, but supports calls of the SPIR-V
instructions by name: this module emits those calls. For integers the translator uses the sign of the result for that of
the argument, and for equal widths it emits instructions that SPIR-V forbids: this module defines these functions.
"""

from __future__ import annotations

import re

__all__ = ["with_conversions"]

_NAME = r"_Z\d+convert_(u?(?:char|short|int|long)|half|float|double)(\d*)(_sat)?(_rt[eznp])?((?:Dv\d+_)?(?:Dh|[a-z]))\b"
_CALL = re.compile(_NAME)
_DECLARATION = re.compile(rf"^declare spir_func ([^@\n]*?) ?(@{_NAME})\([^\n]*$", re.MULTILINE)
_LETTERS = {
    "char": "c", "uchar": "h", "short": "s", "ushort": "t", "int": "i", "uint": "j", "long": "l", "ulong": "m",
    "half": "Dh", "float": "f", "double": "d",
}  # fmt: skip
_SIGNED, _UNSIGNED = "csil", "htjm"
_BITS = {letter: 8 << number // 2 for number, letter in enumerate("chstijlm")}


def with_conversions(text: str) -> str:
    """Return the LLVM IR of a source with conversions that translate to SPIR-V."""
    return _with_intrinsics(_CALL.sub(_instruction, _DECLARATION.sub(_definition, text)))


def _definition(declaration: re.Match[str]) -> str:
    """Return the definition for a conversion between integers or to the same type; else the unchanged declaration."""
    type_, name, target, count, saturated, _, source = declaration.groups()
    a, b = _LETTERS[target], source.rpartition("_")[2]
    if a == b:
        type_ = re.sub(r"\b(?:noundef|zeroext|signext|nofpclass\([^)]*\))\s*", "", type_)
        return f"define internal spir_func {type_} {name}({type_} %value) {{\n  ret {type_} %value\n}}"
    if a not in _BITS or b not in _BITS:
        return declaration[0]
    lines, last = [], "%value"
    operand, result = (f"<{count} x i{_BITS[letter]}>" if count else f"i{_BITS[letter]}" for letter in (b, a))
    for function, limit in _limits(a, b).items() if saturated else ():
        tag = f"{'s' if b in _SIGNED else 'u'}{function}.{f'v{count}' if count else ''}i{_BITS[b]}"
        constant = f"<{', '.join([f'i{_BITS[b]} {limit}'] * int(count))}>" if count else str(limit)
        lines.append(f"  %{function} = call {operand} @llvm.{tag}({operand} {last}, {operand} {constant})\n")
        last = f"%{function}"
    if _BITS[a] != _BITS[b]:
        how = "trunc" if _BITS[a] < _BITS[b] else "sext" if b in _SIGNED else "zext"
        lines.append(f"  %result = {how} {operand} {last} to {result}\n")
        last = "%result"
    return f"define internal spir_func {result} {name}({operand} %value) {{\n{''.join(lines)}  ret {result} {last}\n}}"


def _range(letter: str) -> tuple[int, int]:
    bits = _BITS[letter]
    return (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if letter in _SIGNED else (0, (1 << bits) - 1)


def _limits(target: str, source: str) -> dict[str, int]:
    """Return the target's bounds that lie within the source's range, for saturation, by clamping function."""
    (low, high), (minimum, maximum) = _range(target), _range(source)
    return {**({"max": low} if low > minimum else {}), **({"min": high} if high < maximum else {})}


def _instruction(call: re.Match[str]) -> str:
    """Return a call of the named instruction, for functions that the translator does not support."""
    target, count, _, rounding, source = call.groups()
    scalar = source.rpartition("_")[2]
    if target not in ("half", "double") or scalar == _LETTERS[target]:
        return call[0]
    kind = "ConvertSToF" if scalar in _SIGNED else "ConvertUToF" if scalar in _UNSIGNED else "FConvert"
    name = f"__spirv_{kind}_R{target}{count}{rounding or ''}"
    return f"_Z{len(name)}{name}{source}"


def _with_intrinsics(text: str) -> str:
    """Add declarations of the comparisons that the definitions call."""
    calls = set(re.findall(r"call (\S+|<[^>]*>) (@llvm\.[su](?:min|max)\.\w+)\(", text))
    missing = [
        (type_, name) for type_, name in sorted(calls) if not re.search(rf"^declare .*{name}\(", text, re.MULTILINE)
    ]
    return text + "".join(f"\ndeclare {type_} {name}({type_}, {type_})\n" for type_, name in missing)
