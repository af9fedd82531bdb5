"""Half functions for NVIDIA GPUs, in OpenCL C: libclc lacks them, except loads and stores of halves as floats.

Each function calls the float function and rounds the result once more; functions that would lose accuracy compute in
half.
"""

from __future__ import annotations

import re

from ..llvm.undefined_functions import Declaration

__all__ = ["definition", "half_rounding", "result_of", "types_of"]

_TYPES = {
    "c": "char", "h": "uchar", "s": "short", "t": "ushort", "i": "int", "j": "uint", "l": "long", "m": "ulong",
    "Dh": "half", "f": "float", "d": "double", "v": "void",
}  # fmt: skip
_SPACES = {"": "", "1": "global ", "3": "local ", "4": "constant "}
_TOKEN = re.compile(r"S(\d*)_|Dv(\d+)_(Dh|[a-z])|P(?:U3AS(\d))?(V?K?)|(Dh|[a-z])")
_CONVERSION = re.compile(r"convert_(half|u?(?:char|short|int|long)|float|double)(\d*)(_sat)?(_rt[eznp])?$")
_MEMORY = re.compile(r"v(load|store)(\d+)$")
_OF_LIBCLC = re.compile(r"v(load|store)a?_half")
_CLOSED = {
    "fma": "__builtin_elementwise_fma(a0, a1, a2)",
    "mad": "__builtin_elementwise_fma(a0, a1, a2)",
    "bitselect": "AS((A(a0) & ~A(a2)) | (A(a1) & A(a2)))",
}
_NEXT = """
INLINE half next_half(half x, half y)
{
    const short bits = __builtin_astype(x, short);
    if (x != x || y != y) return x + y;
    if (x == y) return y;
    if (x == 0) return __builtin_astype((short)(y > 0 ? 1 : 0x8001), half);
    return __builtin_astype((short)((x < y) == (bits > 0) ? bits + 1 : bits - 1), half);
}
"""


def definition(function: Declaration) -> tuple[list[str], str] | None:
    """Return the definitions that the function needs, and the function in OpenCL C; None if no half is involved."""
    types = types_of(function.letters)
    result = result_of(function.result)
    if not types or result is None or not any("half" in type_ for type_ in (*types, result)):
        return None
    name = function.function
    if _OF_LIBCLC.match(name):
        return None
    parameters = ", ".join(f"{type_} a{number}" for number, type_ in enumerate(types))
    conversion, memory = _CONVERSION.match(name), _MEMORY.match(name)
    if conversion is not None:  # the name contains the sign
        result = conversion[1] + conversion[2]
    head = f"{result} FUNCTION {name}({parameters})"
    count = "".join(filter(str.isdigit, types[0]))
    if conversion is not None:
        return _conversion(conversion, types[0], result, head)
    if memory is not None:
        lines = range(int(memory[2]))
        at = f"a{len(types) - 2} * {memory[2]} + "
        if memory[1] == "load":
            values = ", ".join(f"a1[{at}{k}]" for k in lines)
            return [], f"{head} {{ return ({result})({values}); }}"
        stores = " ".join(f"a2[{at}{k}] = a0.s{k:x};" for k in lines)
        return [], f"{head} {{ {stores} }}"
    if name in _CLOSED:
        body = re.sub(r"\bA\((a\d)\)", rf"__builtin_astype(\1, short{count})", _CLOSED[name])
        body = re.sub(r"\bAS(\(.*\))$", rf"__builtin_astype(\1, {types[0]})", body)
        return [], f"{head} {{ return {body}; }}"
    if name == "select":
        selection = "a2 ? a1 : a0" if not count else f"__builtin_astype(a2, short{count}) < (short{count})0 ? a1 : a0"
        return [], f"{head} {{ return {selection}; }}"
    if name == "nextafter":
        return [_NEXT], f"{head} {{ {_each(result, count, 'next_half(a0@, a1@)')} }}"
    if name in ("shuffle", "shuffle2"):
        return _shuffle(name, types, result, head)
    if name == "nan":
        value = f"__builtin_astype((ushort{count})(a0 | (ushort{count})0x7e00), {result})"
        return [], f"{head} {{ return {value}; }}"
    return _by_floats(name, types, result, head)


def _shuffle(name: str, types: list[str], result: str, head: str) -> tuple[list[str], str]:
    """Shuffle halves as shorts with the same bits."""
    short = [type_.replace("half", "short") for type_ in (result, *types)]
    declaration = f"{short[0]} __attribute__((overloadable)) {name}({', '.join(short[1:])});\n"
    arguments = [f"__builtin_astype(a{number}, {type_})" for number, type_ in enumerate(short[1:])]
    return [declaration], f"{head} {{ return __builtin_astype({name}({', '.join(arguments)}), {result}); }}"


def _by_floats(name: str, types: list[str], result: str, head: str) -> tuple[list[str], str]:
    """Call the float function and round its result."""
    wide = [type_.replace("half", "float") for type_ in types]
    of_floats = re.sub(r"^short", "int", result).replace("half", "float")
    own = [re.sub(r"^(global|local|constant) ", "", type_) for type_ in wide]
    declaration = f"{of_floats} __attribute__((overloadable)) {name}({', '.join(own)});\n"
    before, after, arguments = [], [], []
    for number, (type_, other) in enumerate(zip(types, own)):
        if other.endswith("*"):
            before.append(f"{other[:-1]}p{number};")
            back = _convert(f"p{number}", other[:-1].strip(), type_.split()[-2])
            after.append(f"*a{number} = {back};")
            arguments.append(f"&p{number}")
        else:
            arguments.append(_convert(f"a{number}", type_, other))
    value = _convert(f"{name}({', '.join(arguments)})", of_floats, result)
    if name == "fract":  # the result stays below one after rounding
        value = f"__builtin_elementwise_min({value}, ({result})0x1.ffcp-1f)"
    ends = " ".join([f"{result} r = {value};", *after, "return r;"])
    return [declaration], f"{head} {{ {' '.join([*before, ends])} }}"


def _conversion(conversion: re.Match[str], argument: str, result: str, head: str) -> tuple[list[str], str] | None:
    target, count, saturated, rounding = conversion.groups()
    if target != "half":  # every half is a float
        if target == "float" or (target == "double"):
            return [], f"{head} {{ return {_convert('a0', argument, result)}; }}"
        name = f"convert_{target}{count}{saturated or ''}{rounding or ''}"
        declaration = f"{result} __attribute__((overloadable)) {name}(float{count});\n"
        return [declaration], f"{head} {{ return {name}({_convert('a0', argument, f'float{count}')}); }}"
    if rounding in (None, "_rte") or argument == result:
        return [], f"{head} {{ return {_convert('a0', argument, result)}; }}"
    # One step from the nearest half in the rounding direction, if the nearest lies on the other side.
    back = re.sub(r"^[a-z]+", "double", argument.replace(count, "") if count else argument)
    if re.match(r"u?long", argument):
        return None
    step = half_rounding(rounding, back)
    return step, f"{head} {{ {_each(result, count, f'half{rounding}((double)a0@)')} }}"


def half_rounding(rounding: str, real: str) -> list[str]:
    """Return the function that rounds a number to half in one direction; its name ends in the direction."""
    wrong = {
        "_rtp": "(double)r < x ? next_half(r, (half)INFINITY) : r",
        "_rtn": "(double)r > x ? next_half(r, -(half)INFINITY) : r",
        "_rtz": "__builtin_fabs((double)r) > __builtin_fabs(x) ? next_half(r, (half)0) : r",
    }[rounding]
    return [_NEXT, f"INLINE half half{rounding}({real} x) {{ const half r = (half)x; return {wrong}; }}\n"]


def _each(type_: str, count: str, expression: str) -> str:
    if not count:
        return f"return {expression.replace('@', '')};"
    elements = ", ".join(expression.replace("@", f".s{k:x}") for k in range(int(count)))
    return f"return ({type_})({elements});"


def _convert(value: str, source: str, target: str) -> str:
    if source == target:
        return value
    vector = target[-1].isdigit()
    return f"__builtin_convertvector({value}, {target})" if vector else f"({target})({value})"


def result_of(type_: str) -> str | None:
    """Convert a type of LLVM IR to OpenCL C, for result types of such functions."""
    match = re.match(r"(?:<(\d+) x )?(void|half|float|double|i\d+)>?$", type_)
    if match is None:
        return None
    scalar = {"i8": "char", "i16": "short", "i32": "int", "i64": "long"}.get(match[2], match[2])
    return scalar + (match[1] or "")


def types_of(letters: str) -> list[str] | None:
    """Parse parameter types from their mangled names, which refer to each other; None for an unknown one."""
    substitutions: list[str] = []

    def one(at: int) -> tuple[str, int]:
        token = _TOKEN.match(letters, at)
        if token is None:
            raise ValueError(letters)
        again, count, element, space, kinds, builtin = token.groups()
        if again is not None:
            return substitutions[int(again) + 1 if again else 0], token.end()
        if builtin:
            return _TYPES[builtin], token.end()
        if count:
            substitutions.append(_TYPES[element] + count)
            return substitutions[-1], token.end()
        to, end = one(token.end())
        if kinds or space:
            substitutions.append(to)
        to = f"{_SPACES[space or '']}{'const ' if 'K' in kinds else ''}{'volatile ' if 'V' in kinds else ''}{to} *"
        substitutions.append(to)
        return to, end

    types, at = [], 0
    try:
        while at < len(letters):
            type_, at = one(at)
            types.append(type_)
    except (ValueError, KeyError, IndexError):
        return None
    return types
