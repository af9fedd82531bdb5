"""Data flow of handles in LLVM IR: the parameters that each function passes to primitives and to other functions.

The line of its beginning identifies a function, so the source is compiled with line tables. LLVM's pass ``sroa`` keeps
its variables in registers.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from ..prelude import opencl_c_images

__all__ = ["Function", "FunctionCall", "read_functions"]

_DEFINE = re.compile(
    r'^define [^@\n]*@"?([\w.$]+)"?\(([^\n]*)\)[^\n]*?!dbg (!\d+)[^\n]*\{\n(.*?)^\}', re.MULTILINE | re.DOTALL
)
_LINE = re.compile(r"^(!\d+) = distinct !DISubprogram\([^\n]*?\bline: (\d+)", re.MULTILINE)
_CALL = re.compile(r'\bcall\b[^@\n]*@"?([\w.$]+)"?\(')
_RESULT = re.compile(r"^\s*%([\w.$-]+) = (.*)$", re.MULTILINE)
_VALUE = re.compile(r"%([\w.$-]+)")


@dataclass
class FunctionCall:
    """A call of a primitive or of a function of the source.

    Attributes
    ----------
    primitive
        Its name, or empty.
    line
        Line of the called function, or 0.
    arguments
        For each argument, the name of the caller's parameter if it is one, or None.
    origins
        For each argument, the caller's parameters that it depends on.
    """

    primitive: str
    line: int
    arguments: list[str | None]
    origins: list[tuple[str, ...]]


@dataclass
class Function:
    """A function of the source.

    Attributes
    ----------
    line
        First line.
    parameters
        Their names.
    calls
        Calls of primitives with handles, and of the source's functions.
    """

    line: int
    parameters: list[str]
    calls: list[FunctionCall] = field(default_factory=list)


def read_functions(text: str) -> dict[int, Function]:
    """Return the functions by line. A kernel and its body, which clang splits into two functions, count as one."""
    lines = {node: int(line) for node, line in _LINE.findall(text)}
    definitions = list(_DEFINE.finditer(text))
    line_of = {match[1]: lines[match[3]] for match in definitions}
    functions: dict[int, Function] = {}
    for match in definitions:
        parameter_list, node, body = match[2], match[3], match[4]
        line = lines[node]
        parameters = [_last(part) for part in _split(parameter_list)]
        function = functions.setdefault(line, Function(line, parameters))
        origins = _Origins(parameters, body)
        for name, arguments in _calls(body):
            primitive = name if opencl_c_images.parse(name) else ""
            target = line_of.get(name, 0)
            if primitive or (target and target != line):
                values = [_last(argument) for argument in arguments]
                straight = [value if value in parameters else None for value in values]
                origin = [origins.of(value) for value in values]
                function.calls.append(FunctionCall(primitive, target, straight, origin))
    return functions


class _Origins:
    """The parameters that values of a function depend on."""

    def __init__(self, parameters: list[str], body: str) -> None:
        self._parameters = parameters
        self._operands = {name: _VALUE.findall(rest) for name, rest in _RESULT.findall(body)}

    def of(self, value: str) -> tuple[str, ...]:
        result, visited, pending = [], set(), [value]
        while pending:
            name = pending.pop(0)
            if name in visited:
                continue
            visited.add(name)
            if name in self._parameters:
                result.append(name)
            else:
                pending += self._operands.get(name, [])
        return tuple(result)


def _calls(body: str) -> Iterator[tuple[str, list[str]]]:
    for match in _CALL.finditer(body):
        depth, place = 1, match.end()
        while depth:
            depth += {"(": 1, ")": -1}.get(body[place], 0)
            place += 1
        yield match[1], _split(body[match.end() : place - 1])


def _split(text: str) -> list[str]:
    parts, depth, first = [], 0, 0
    for place, letter in enumerate(text):
        depth += letter in "(<[{"
        depth -= letter in ")>]}"
        if letter == "," and depth == 0:
            parts.append(text[first:place])
            first = place + 1
    last = text[first:]
    return [*parts, last] if last.strip() else parts


def _last(part: str) -> str:
    """Return the value at the end of an argument, without its sign; a constant gives an unused name."""
    value = part.split()[-1]
    return value[1:] if value.startswith("%") else ""
