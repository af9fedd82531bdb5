"""The package's own OpenCL C library for NVIDIA GPUs, used where libclc is not installed.

``library`` holds scalar functions with the prefix ``bl_``. This module generates the functions that a source uses from
them: the name, the types, and for vectors one call per component. Geometric functions round like libclc's: the second
product is rounded, and all others are fused into the sum.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

from ..llvm.undefined_functions import Declaration
from .half import result_of, types_of

__all__ = ["definition", "scalar_functions"]

_FOLDER = Path(__file__).parent / "library"
_HEAD = "#define INLINE static inline __attribute__((overloadable, always_inline))\n"
_RELATIONS = {
    "isequal": "a0 == a1", "isnotequal": "a0 != a1", "isgreater": "a0 > a1", "isgreaterequal": "a0 >= a1",
    "isless": "a0 < a1", "islessequal": "a0 <= a1", "islessgreater": "(a0 < a1) | (a0 > a1)", "isnan": "a0 != a0",
    "isordered": "(a0 == a0) & (a1 == a1)", "isunordered": "(a0 != a0) | (a1 != a1)",
    "isinf": "__builtin_elementwise_abs(a0) == INFINITE", "isfinite": "__builtin_elementwise_abs(a0) < INFINITE",
    "isnormal": "(__builtin_elementwise_abs(a0) < INFINITE) & (__builtin_elementwise_abs(a0) >= SMALLEST)",
}  # fmt: skip
_SMALLEST = {"float": "0x1p-126f", "double": "0x1p-1022"}
_NAMES = re.compile(r"INLINE \w+ bl_(\w+)\(|SAME\((\w+)\)")
_SHUFFLE = re.compile(r"shuffle2?$")


def definition(function: Declaration) -> tuple[list[str], str] | None:
    """Return the definitions that the function needs, and the function in OpenCL C; None for an unknown function."""
    types, result = types_of(function.letters), result_of(function.result)
    if not types or result is None:
        return None
    return _of_whole_vectors(function.function, types, result) or _by_components(function.function, types, result)


@cache
def scalar_functions() -> str:
    """Return the library: scalar functions of all types."""
    text = [_HEAD, (_FOLDER / "integer.h").read_text()]
    for real, double in (("double", 1), ("float", 0)):
        text += [f"#define REAL {real}\n#define DOUBLE {double}\n"]
        text += [(_FOLDER / name).read_text() for name in ("real.h", "angles.h", "common.h")]
        text += [f"#undef {name}\n" for name in _MACROS]
        if real == "float":
            text.append((_FOLDER / "special.h").read_text())
    return "".join(text)


_MACROS = (
    "REAL", "DOUBLE", "BITS", "SIGNED", "FRACTION", "TOP", "TAYLOR", "SPLIT", "EPSILON", "EXP_MOST", "EXP_LEAST",
    "FMA", "INFINITE", "NOT_A_NUMBER", "C", "NAME3", "NAME2", "PAIR",
)  # fmt: skip


@cache
def _names() -> frozenset[str]:
    names = set()
    for plain, same in _NAMES.findall(scalar_functions()):
        names.update([plain] if plain else [f"half_{same}", f"native_{same}"])
    return frozenset(names)


def _count(type_: str) -> int:
    """Return the number of components."""
    digits = re.search(r"(\d*)( \*)?$", type_.replace("* ", "*"))
    return int(digits[1]) if digits and digits[1] else 1


def _by_components(name: str, types: list[str], result: str) -> tuple[list[str], str] | None:
    if name not in _names():
        return None
    if result[0] in "csil" and (types[0].startswith("u") or name in ("abs", "abs_diff")):
        result = f"u{result}"  # LLVM's integer types have no sign
    scalar, element = f"bl_{name}", re.sub(r"\d+$", "", result)
    count = max(_count(type_) for type_ in types)
    lines, values = [], []
    for number, type_ in enumerate(types):
        if type_.endswith("*"):
            lines.append(f"{_pointee(type_)} p{number};")
    for k in range(count):
        at = "" if count == 1 else f".s{k:x}"
        arguments = []
        for number, type_ in enumerate(types):
            if type_.endswith("*"):
                lines.append(f"{re.sub(r'[0-9]+$', '', _pointee(type_))} p{number}_{k};")
                arguments.append(f"&p{number}_{k}")
            else:
                arguments.append(f"a{number}{at if _count(type_) > 1 else ''}")
        lines.append(f"const {element} r{k} = {scalar}({', '.join(arguments)});")
        values.append(f"r{k}")
        lines += [f"p{n}{at} = p{n}_{k};" for n, type_ in enumerate(types) if type_.endswith("*")]
    lines += [f"*a{n} = p{n};" for n, type_ in enumerate(types) if type_.endswith("*")]
    lines.append(f"return ({result})({', '.join(values)});")
    return [scalar_functions()], f"{_head(name, types, result)} {{ {' '.join(lines)} }}"


def _of_whole_vectors(name: str, types: list[str], result: str) -> tuple[list[str], str] | None:
    head, count = _head(name, types, result), _count(types[0]) if types else 1
    element = re.sub(r"\d+$", "", types[0]) if types else ""
    if name in ("select", "bitselect"):  # LLVM's integer types have no sign
        head = _head(name, types, types[0])
    if name in _RELATIONS:
        infinite = "INFINITY" if element == "float" else "(double)INFINITY"
        body = _RELATIONS[name].replace("INFINITE", infinite).replace("SMALLEST", _SMALLEST.get(element, ""))
        return [], f"{head} {{ return {body}; }}"
    if name == "signbit":
        integer = {"float": "int", "double": "long"}.get(element, "short") + (str(count) if count > 1 else "")
        return [], f"{head} {{ return __builtin_astype(a0, {integer}) < 0; }}"
    if name in ("any", "all"):
        parts = [f"a0{f'.s{k:x}' if count > 1 else ''} < 0" for k in range(count)]
        return [], f"{head} {{ return {(' | ' if name == 'any' else ' & ').join(f'({part})' for part in parts)}; }}"
    if name == "bitselect":
        unsigned = {"float": "uint", "double": "ulong"}.get(element, element) + (str(count) if count > 1 else "")
        bits = [f"__builtin_astype(a{k}, {unsigned})" for k in range(3)]
        selection = f"({bits[0]} & ~{bits[2]}) | ({bits[1]} & {bits[2]})"
        return [], f"{head} {{ return __builtin_astype(({unsigned})({selection}), {types[0]}); }}"
    if name == "select":
        zero = f"({types[2].removeprefix('u')})0"
        signed = f"__builtin_astype(a2, {types[2].removeprefix('u')})"
        condition = f"{signed} < {zero}" if count > 1 else "a2"
        return [], f"{head} {{ return {condition} ? a1 : a0; }}"
    if _SHUFFLE.match(name):
        return _shuffle(head, name, types, result)
    if name in ("dot", "length", "distance", "normalize", "cross", "fast_length", "fast_distance", "fast_normalize"):
        return _geometric(head, name, types, element, count)
    return None


def _shuffle(head: str, name: str, types: list[str], result: str) -> tuple[list[str], str]:
    """Select components by a mask, whose high bits are ignored."""
    count, mask = _count(types[0]), types[-1]  # vectors of 2, 4, 8 or 16
    element = re.sub(r"\d+$", "", types[0])
    components = [f"a{n}.s{k:x}" for n in range(len(types) - 1) for k in range(count)]
    picks = [f"all[a{len(types) - 1}.s{k:x} & {len(components) - 1}]" for k in range(_count(mask))]
    body = f"const {element} all[] = {{{', '.join(components)}}}; return ({result})({', '.join(picks)});"
    return [], f"{head} {{ {body} }}"


def _geometric(head: str, name: str, types: list[str], element: str, count: int) -> tuple[list[str], str]:
    parts = [f".s{k:x}" for k in range(count)] if count > 1 else [""]

    def products(a: str, b: str) -> str:
        """Return a sum of products: the second product is rounded, the remaining ones are fused into the sum."""
        if count == 1:
            return f"{a} * {b}"
        text = f"__builtin_elementwise_fma({a}{parts[0]}, {b}{parts[0]}, {a}{parts[1]} * {b}{parts[1]})"
        for part in parts[2:]:
            text = f"__builtin_elementwise_fma({a}{part}, {b}{part}, {text})"
        return text

    small, up, down, rows = {
        "float": ("0x1p-126f", "0x1p86f", "0x1p-65f", "0x1p-66f"),
        "double": ("0x1p-1022", "0x1p563", "0x1p-513", "0x1p-514"),
    }[element]
    kind = name.removeprefix("fast_")
    lines: list[str]
    if kind == "dot":
        lines = [f"return {products('a0', 'a1')};"]
    elif kind == "cross":
        of = [f"__builtin_elementwise_fma(a0.{i}, a1.{j}, -(a0.{j} * a1.{i}))" for i, j in ("yz", "zx", "xy")]
        lines = [f"return ({types[0]})({', '.join(of)}{', 0' if count == 4 else ''});"]
    elif kind in ("length", "distance"):
        vector = "a0 - a1" if kind == "distance" else "a0"
        lines = [f"{types[0]} v = {vector};"]
        if count == 1:
            lines.append("return __builtin_elementwise_abs(v);")
        else:
            lines += [
                f"{element} sum = {products('v', 'v')};",
                f"if (sum < {small}) {{ v *= {up}; return __builtin_elementwise_sqrt({products('v', 'v')}) / {up}; }}",
                f"if (sum == INFINITY) {{ v *= {down};",
                f"return __builtin_elementwise_sqrt({products('v', 'v')}) / {down}; }}",
                "return __builtin_elementwise_sqrt(sum);",
            ]
    elif count == 1:
        lines = [f"return __builtin_elementwise_copysign(({element})(a0 < 0 || a0 > 0 ? 1 : 0), a0);"]
    else:
        zeros = " && ".join(f"a0{part} == 0" for part in parts)
        ends = ", ".join(
            f"__builtin_elementwise_copysign(({element})(__builtin_elementwise_abs(v{part}) == INFINITY), v{part})"
            for part in parts
        )
        lines = [
            f"if ({zeros}) return a0;",
            f"{types[0]} v = a0;",
            f"{element} sum = {products('v', 'v')};",
            f"if (sum < {small}) {{ v *= {up}; sum = {products('v', 'v')}; }}",
            f"else if (sum == INFINITY) {{ v *= {rows}; sum = {products('v', 'v')};",
            f"if (sum == INFINITY) {{ v = ({types[0]})({ends}); sum = {products('v', 'v')}; }} }}",
            "return v * (1 / __builtin_elementwise_sqrt(sum));",
        ]
    return [], f"{head} {{ {' '.join(lines)} }}"


def _head(name: str, types: list[str], result: str) -> str:
    return f"{result} FUNCTION {name}({', '.join(f'{type_} a{number}' for number, type_ in enumerate(types))})"


def _pointee(type_: str) -> str:
    """Return the type that a pointer points to, without its address space."""
    return type_.rpartition(" *")[0].split()[-1]
