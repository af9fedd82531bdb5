"""Texture and surface instructions of PTX as inline assembly, for handles that LLVM's own instructions do not support.

LLVM's handle pass accepts a parameter or a plain load. For any other origin (a selection, a vector element) builds with
assertions abort, and other builds have undefined behaviour. This module passes all handles except parameters as
operands of inline assembly, which the pass ignores.
"""

from __future__ import annotations

import re

__all__ = ["with_assembly"]

_FUNCTION = re.compile(r"^define [^\n]*?@[\w.$\"]+\(([^\n]*)\)[^)\n]*\{\n.*?^\}", re.MULTILINE | re.DOTALL)
_CALL = re.compile(
    r"^(?P<before>  (?:%[\w.]+ = )?)(?:tail )?call (?P<result>void|i\d+|\{[^}]*\}|[\w%.]+) "
    r"@llvm\.nvvm\.(?P<what>tex\.unified|suld|sust\.b)\.(?P<how>[\w.]+)\((?P<given>[^\n]*?)\)(?: #\d+)?"
    r"(?P<rest>[^\n]*)$",
    re.MULTILINE,
)
_TEXTURE = re.compile(r"(\dd|cube)(\.array)?(?:\.(level|grad))?\.v4(f32|s32|u32)\.(f32|s32)$")
_SURFACE = re.compile(r"(\dd)(\.array)?\.(?:v([24]))?i(8|16|32)\.zero$")
_REGISTERS = {"float": "f", "i32": "r", "i16": "h", "i64": "l"}


def with_assembly(text: str) -> str:
    """Return optimised LLVM IR for NVIDIA GPUs in which LLVM sees only handles that are parameters."""

    def function(match: re.Match[str]) -> str:
        parameters = set(re.findall(r"(%[\w.]+)(?:,|$)", match[1]))

        def call(match: re.Match[str]) -> str:
            parts = [part.strip().rsplit(" ", 1) for part in match["given"].split(",")]
            if parts[0][1] in parameters:
                return match[0]
            arguments = [(type_.split()[0], value) for type_, value in parts]
            assembly = _texture(match, arguments) if match["what"] == "tex.unified" else _surface(match, arguments)
            return f"{match['before']}{assembly}{match['rest']}"

        return _CALL.sub(call, match[0])

    return _FUNCTION.sub(function, text) if "@llvm.nvvm.tex.unified" in text or "@llvm.nvvm.su" in text else text


def _texture(call: re.Match[str], arguments: list[tuple[str, str]]) -> str:
    match = _TEXTURE.match(call["how"])
    assert match is not None, call["how"]
    geometry, array, form, channel, coordinate = match.groups()
    axes = {"1d": 1, "2d": 2, "3d": 3, "cube": 3}[geometry]
    operands = [f"${number}" for number in range(4, 4 + len(arguments))]
    count = axes + (array is not None)
    where, rest = operands[1 : 1 + count], operands[1 + count :]
    more = f", {rest[0]}" if form == "level" else ""
    if form == "grad":
        more = f", {_vector(rest[:axes])}, {_vector(rest[axes:])}"
    name = f"tex{f'.{form}' if form else ''}.{'a' if array else ''}{geometry}.v4.{channel}.{coordinate}"
    code = f"{name} {{$0, $1, $2, $3}}, [$4, {_vector(where)}]{more};"
    return _assembly(call["result"], code, "float" if channel == "f32" else "i32", 4, arguments, effects=False)


def _surface(call: re.Match[str], arguments: list[tuple[str, str]]) -> str:
    match = _SURFACE.match(call["how"])
    assert match is not None, call["how"]
    geometry, array, count, bits = match.groups()
    load = call["what"] == "suld"
    number = int(count or 1)
    first = number if load else 0
    operands = [f"${place}" for place in range(first, first + len(arguments))]
    coordinates = int(geometry[0]) + (array is not None)
    where = _vector(operands[1 : 1 + coordinates])
    values = [f"${place}" for place in range(number)] if load else operands[1 + coordinates :]
    texel = f"{{{', '.join(values)}}}"
    verb = "suld" if load else "sust"
    name = f"{verb}.b.{'a' if array else ''}{geometry}{f'.v{count}' if count else ''}.b{bits}"
    place = f"[{operands[0]}, {where}]"
    code = f"{name}.zero {texel}, {place};" if load else f"{name}.zero {place}, {texel};"
    scalar = "i32" if bits == "32" else "i16"
    return _assembly(call["result"], code, scalar, number if load else 0, arguments, effects=True)


def _vector(operands: list[str]) -> str:
    """Three coordinates take the space of four."""
    components = [*operands, operands[-1]] if len(operands) == 3 else operands
    return f"{{{', '.join(components)}}}"


def _assembly(
    result: str, code: str, scalar: str, results: int, arguments: list[tuple[str, str]], *, effects: bool
) -> str:
    outputs = [f"={_REGISTERS[scalar]}"] * results
    inputs = [_REGISTERS[type_] for type_, _ in arguments]
    constraints = ",".join([*outputs, *inputs, *(["~{memory}"] if effects else [])])
    operands = ", ".join(f"{type_} {value}" for type_, value in arguments)
    return f'call {result} asm {"sideeffect " if effects else ""}"{code}", "{constraints}"({operands})'
