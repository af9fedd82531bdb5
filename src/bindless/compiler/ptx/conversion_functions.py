"""Conversions, loads and stores of OpenCL C for NVIDIA GPUs without libclc, in OpenCL C."""

from __future__ import annotations

import re

from ..llvm.undefined_functions import Declaration
from .half import half_rounding, result_of, types_of
from .scalar_functions import scalar_functions

__all__ = ["definition"]

_CONVERSION = re.compile(r"convert_(u?(?:char|short|int|long)|float|double)(\d*)(_sat)?(_rt[eznp])?$")
_VECTORS = re.compile(r"v(load|store)(\d+)$")
_HALVES = re.compile(r"v(load|store)(a?)_half(\d*)(_rt[eznp])?$")
_COPY = re.compile(r"async_work_group_(strided_)?copy$")
_EVENT = "9ocl_event"
_ROUND = {"_rte": "rint", "_rtz": "trunc", "_rtp": "ceil", "_rtn": "floor"}
_BITS = {"char": 8, "short": 16, "int": 32, "long": 64}


def definition(function: Declaration) -> tuple[list[str], str] | None:
    """Return the definitions that the function needs after the helpers of ``group_functions``, and the function; None
    for an unknown function.
    """
    name = function.function
    if name == "wait_group_events":
        space = {"1": "global ", "3": "local "}.get(function.letters.partition("U3AS")[2][:1], "private ")
        if function.letters.startswith("iP9"):
            space = "private "
        return [], f"void FUNCTION {name}(int n, {space}event_t *events) {{ barrier(3); }}"
    copy = _COPY.match(name)
    if copy is not None:
        return _copy(name, bool(copy[1]), types_of(function.letters.replace(_EVENT, "")))
    types, result = types_of(function.letters), result_of(function.result)
    if not types:
        return None
    head = f"{result} FUNCTION {name}({', '.join(f'{type_} a{number}' for number, type_ in enumerate(types))})"
    if name == "prefetch":
        return [], f"{head} {{ }}"
    conversion, vectors, halves = _CONVERSION.match(name), _VECTORS.match(name), _HALVES.match(name)
    if conversion is not None:
        return _conversion(conversion, name, types[0])
    if vectors is not None:
        if vectors[1] == "load" and types[1].split()[-2].startswith("u"):
            head, result = f"u{head}", f"u{result}"  # LLVM's integer types have no sign
        return [], _vectors(head, vectors[1], int(vectors[2]), str(result))
    if halves is not None:
        return _halves(head, halves, types, str(result))
    return None


def _copy(name: str, strided: bool, types: list[str] | None) -> tuple[list[str], str] | None:
    """Define a copy by all work-items of a group; wait_group_events has the barrier."""
    if types is None:
        return None
    parameters = ", ".join(f"{type_} a{number}" for number, type_ in enumerate(types))
    to, of = ("k * a3", "k") if strided and types[0].startswith("global") else ("k", "k * a3" if strided else "k")
    body = f"for (size_t k = item(); k < a2; k += items()) a0[{to}] = a1[{of}]; return e;"
    return [], f"event_t FUNCTION {name}({parameters}, event_t e) {{ {body} }}"


def _vectors(head: str, verb: str, count: int, result: str) -> str:
    if verb == "load":
        return f"{head} {{ return ({result})({', '.join(f'a1[a0 * {count} + {k}]' for k in range(count))}); }}"
    return f"{head} {{ {' '.join(f'a2[a1 * {count} + {k}] = a0.s{k:x};' for k in range(count))} }}"


def _halves(head: str, match: re.Match[str], types: list[str], result: str) -> tuple[list[str], str]:
    """Define loads and stores of floats as halves; an aligned vector of three takes the space of four."""
    verb, aligned, digits, rounding = match.groups()
    count = int(digits or 1)
    stride = 4 if aligned and count == 3 else count
    if verb == "load":
        values = ", ".join(f"(float)a1[a0 * {stride} + {k}]" for k in range(count))
        return [], f"{head} {{ return ({result})({values}); }}"
    rounds = rounding not in (None, "_rte")
    convert = f"half{rounding}((double)" if rounds else "((half)"
    stores = [f"a2[a1 * {stride} + {k}] = {convert}a0{f'.s{k:x}' if digits else ''});" for k in range(count)]
    return half_rounding(rounding, "double") if rounds else [], f"{head} {{ {' '.join(stores)} }}"


def _conversion(match: re.Match[str], name: str, argument: str) -> tuple[list[str], str]:
    """Define a conversion by one scalar function per component."""
    target, count, saturated, rounding = match.groups()
    source = re.sub(r"\d+$", "", argument)
    helper = f"to_{target}{saturated or ''}{rounding or ''}"
    helpers, body = _one(target, source, bool(saturated), rounding or "")
    one = f"INLINE {target} {helper}({source} x) {{ {body} }}\n"
    values = [f"{helper}(a0{f'.s{k:x}' if count else ''})" for k in range(int(count or 1))]
    result = f"{target}{count}"
    return [*helpers, one], f"{result} FUNCTION {name}({argument} a0) {{ return ({result})({', '.join(values)}); }}"


def _one(target: str, source: str, saturated: bool, rounding: str) -> tuple[list[str], str]:
    real = ("float", "double")
    if target == source or (target == "double" and source not in ("long", "ulong")):
        return [], f"return ({target})x;"
    if target in real:
        return _to_real(target, source, rounding)
    low, high = _range(target)
    if source in real:
        suffix = "f" if source == "float" else ""
        value = f"const {source} r = __builtin_elementwise_{_ROUND[rounding or '_rtz']}(x);"
        if not saturated:
            return [], f"{value} return ({target})r;"
        ends = f"r < {float(low).hex()}{suffix} ? {_constant(target, low)} : r >= {float(high + 1).hex()}{suffix} ?"
        return [], f"{value} return r != r ? ({target})0 : {ends} {_constant(target, high)} : ({target})r;"
    if not saturated:
        return [], f"return ({target})x;"
    minimum, maximum = _range(source)
    tests = [f"if (x < {_constant(source, low)}) return {_constant(target, low)};"] if low > minimum else []
    tests += [f"if (x > {_constant(source, high)}) return {_constant(target, high)};"] if high < maximum else []
    return [], f"{' '.join(tests)} return ({target})x;"


def _to_real(target: str, source: str, rounding: str) -> tuple[list[str], str]:
    """Define the conversion to the nearest number, or to its neighbour if that lies on the wrong side of the value."""
    value = f"const {target} r = ({target})x;"
    if rounding in ("", "_rte") or (source in ("char", "uchar", "short", "ushort")):
        return [], f"{value} return r;"
    if source in ("long", "ulong"):
        top = "0x1p63" if source == "long" else "0x1p64"
        suffix = "f" if target == "float" else ""
        value += f" const bool over = r >= {top}{suffix}; const {source} back = over ? 0 : ({source})r;"
        above, below = "(over || back > x)", "(!over && back < x)"
    else:
        above, below = "((double)r > x)", "((double)r < x)"
    down, up = (f"bl_nextafter(r, ({target}){sign}INFINITY)" for sign in ("-", ""))
    ways = {
        "_rtn": f"return {above} ? {down} : r;",
        "_rtp": f"return {below} ? {up} : r;",
        "_rtz": f"return x > 0 && {above} ? {down} : x < 0 && {below} ? {up} : r;",
    }
    return [scalar_functions()], f"{value} {ways[rounding]}"


def _range(type_: str) -> tuple[int, int]:
    bits = _BITS[type_.removeprefix("u")]
    return (0, (1 << bits) - 1) if type_.startswith("u") else (-(1 << (bits - 1)), (1 << (bits - 1)) - 1)


def _constant(type_: str, value: int) -> str:
    if value == -(1 << 63):
        return "LONG_MIN"
    return f"({type_}){value}{'ul' if type_.startswith('u') else 'l'}"
