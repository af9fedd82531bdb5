"""Functions that the package generates for NVIDIA GPUs without libclc, compared with the reference device's own.

A source calls functions of OpenCL C. For PTX the package defines them; the tests rename these definitions, build them
for SPIR-V, and run them next to the functions of the reference, which are written in C: the bits must be equal.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import bindless as bl
from bindless.compiler.llvm.find_toolchain import find_toolchain
from bindless.compiler.llvm.toolchain import TARGETS
from bindless.compiler.llvm.undefined_functions import Declaration, undefined
from bindless.compiler.ptx import conversion_functions
from bindless.compiler.ptx import scalar_functions as ptx_library
from bindless.compiler.ptx.missing_functions import features
from bindless.compiler.ptx.scalar_functions import scalar_functions

pytestmark = pytest.mark.skipif(
    not bl.kernels_available(), reason="needs a kernel compiler: pip install 'bindless[kernels]'"
)
COUNT = 256
INTEGERS = ("char", "uchar", "short", "ushort", "int", "uint", "long", "ulong")
NUMPY = dict(zip(INTEGERS, ("i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8")), float="f4", double="f8")
TWO = ["abs_diff", "add_sat", "sub_sat", "hadd", "rhadd", "rotate", "min", "max", "mul_hi"]
THREE = ["clamp", "mad_hi", "mad_sat"]
RELATIONS = ("isequal", "isnotequal", "isgreater", "isgreaterequal", "isless", "islessequal", "islessgreater")


def _integers() -> list[tuple[str, list[str]]]:
    """Return calls by their text, and the types of a, b and c."""
    calls: list[tuple[str, list[str]]] = []
    for type_ in INTEGERS:
        calls += [(f"{name}(a)", [type_]) for name in ("abs", "clz", "ctz", "popcount")]
        calls += [(f"{name}(a, b)", [type_] * 2) for name in TWO]
        calls += [(f"{name}(a, b, c)", [type_] * 3) for name in THREE]
        calls += [("bitselect(a, b, c)", [type_] * 3), ("select(a, b, c)", [type_] * 3)]
    calls += [(f"{name}(a, b)", [type_] * 2) for name in ("mul24",) for type_ in ("int", "uint")]
    calls += [("mad24(a, b, c)", [type_] * 3) for type_ in ("int", "uint")]
    calls += [("upsample(a, b)", [type_, f"u{type_}"]) for type_ in ("char", "short", "int")]
    calls += [("upsample(a, b)", [f"u{type_}"] * 2) for type_ in ("char", "short", "int")]
    calls += [("any(a)", ["char"]), ("all(a)", ["int"])]
    return calls


def _reals() -> list[tuple[str, list[str]]]:
    calls: list[tuple[str, list[str]]] = []
    for type_ in ("float", "double"):
        calls += [(f"{name}(a, b)", [type_] * 2) for name in (*RELATIONS, "isordered", "isunordered")]
        calls += [(f"{name}(a)", [type_]) for name in ("isnan", "isinf", "isfinite", "isnormal", "signbit")]
        calls += [("bitselect(a, b, c)", [type_] * 3), ("step(a, b)", [type_] * 2), ("sign(a)", [type_])]
        calls += [("mix(a, b, c)", [type_] * 3), ("mad(a, b, c)", [type_] * 3), ("clamp(a, b, c)", [type_] * 3)]
    calls += [(f"{name}(a)", ["float"]) for name in ("length", "normalize")]
    calls += [(f"{name}(a, b)", ["float"] * 2) for name in ("dot", "distance")]
    calls += [("smoothstep(a, b, c)", ["float"] * 3)]
    return calls


def _conversions(source: str) -> list[tuple[str, list[str]]]:
    """Return conversions from one type. Only saturating conversions receive values that do not fit."""
    calls: list[tuple[str, list[str]]] = []
    for target in INTEGERS:
        calls += [(f"convert_{target}_sat{rounding}(a)", [source]) for rounding in ("", "_rte", "_rtp", "_rtn")]
    for target in ("float", "double"):
        calls += [(f"convert_{target}{rounding}(a)", [source]) for rounding in ("", "_rtz", "_rtp", "_rtn")]
    return calls


def _results(calls: list[tuple[str, list[str]]], count: int, tmp_path: Path) -> list[npt.NDArray[Any]]:
    """Return the results of each call, by both kinds of functions: two arrays of bytes."""
    width = "" if count == 1 else str(count)
    kernels = []
    for number, (call, types) in enumerate(calls):
        call = re.sub(r"^(convert_\w+?)((?:_sat)?(?:_rt\w)?)\(", rf"\g<1>{width}\2(", call)
        loads = " ".join(f"const {t}{width} {n} = p{n}[i];" for n, t in zip("abc", types))
        given = ", ".join(f"global const {t}{width} *p{n}" for n, t in zip("abc", types))
        kernels.append(
            f"kernel void k{number}({given}, global __typeof__({_example(call, types, width)}) *out)\n"
            f"{{ const size_t i = get_global_id(0); {loads} out[i] = {call}; }}\n"
        )
    source = tmp_path / "calls.cl"
    source.write_text("".join(kernels))
    with find_toolchain() as tools:
        options = (*features(tmp_path), "-w")
        text = tools.compile(source, tmp_path / "calls.ll", TARGETS["ptx"], [], {}, options).read_text()
    made = [_definition(function) for function in undefined(text) if not function.function.startswith("get_")]
    needed = dict.fromkeys(part for parts, _ in made for part in parts)
    own = re.sub(r"\b(out\[i\] = )(\w+)\(", r"\1own_\2(", "".join(kernels)).replace("kernel void k", "kernel void own")
    inline = "__attribute__((overloadable, always_inline))"
    head = f"#define FUNCTION {inline}\n#define INLINE static inline {inline}\n"
    library = "" if scalar_functions() in needed else scalar_functions()
    whole = "\n".join([head, library, *needed, *(function for _, function in made), "".join(kernels), own])
    queue = bl.Queue(next(d for d in bl.get_devices() if d.backend is bl.Backend.reference), in_order=True)
    bundle = bl.load_kernel_bundle(bl.build(whole, targets="spirv", options=["-w"], optimization=0), queue)
    found = []
    for number, (_, types) in enumerate(calls):
        inputs = [_inputs(type_, count, seed) for seed, type_ in enumerate(types)]
        pair = []
        for name in ("k", "own"):
            out = bl.usm_empty((COUNT * 8 * 4 * 4,), np.uint8, queue)
            out.copy_from(np.zeros(out.shape, np.uint8))
            given = [bl.as_usm_array(values, queue) for values in inputs]
            queue.parallel_for(COUNT, bundle.get_kernel(f"{name}{number}"), *given, out).wait()
            pair.append(out.numpy(queue))
        found.append(np.stack(pair))
    return found


def _example(call: str, types: list[str], width: str) -> str:
    """Return the call with values, for the type of its result."""
    for name, type_ in zip("abc", types):
        call = re.sub(rf"\b{name}\b", f"({type_}{width})0", call)
    return call


def _definition(function: Declaration) -> tuple[list[str], str]:
    made = conversion_functions.definition(function) or ptx_library.definition(function)
    assert made is not None, function
    return made[0], made[1].replace(f"FUNCTION {function.function}(", f"FUNCTION own_{function.function}(")


def _inputs(type_: str, count: int, seed: int) -> npt.NDArray[Any]:
    rng = np.random.default_rng(seed)
    kind = np.dtype(NUMPY[type_])
    size = COUNT * (4 if count == 3 else count)
    if kind.kind == "f":
        values = (rng.standard_normal(size) * 10.0 ** rng.integers(-3, 12, size)).astype(kind)
        ends = np.array([0, -0.0, 1, -1, 0.5, 1.5, 2.5, -2.5, 255.5, 3e9, -3e9, 1e20, -1e20, np.inf, -np.inf, np.nan])
        places = rng.integers(0, size, size // 8)
        values[places] = rng.choice(ends, len(places)).astype(kind)
        return values
    info = np.iinfo(kind)
    values = rng.integers(info.min, info.max, size, dtype=kind, endpoint=True)
    small = rng.integers(max(info.min, -9), 10, size).astype(kind)
    ends = np.array([info.min, info.max, 0, 1], kind)
    return np.where(rng.random(size) < 0.5, values, np.where(rng.random(size) < 0.5, small, rng.choice(ends, size)))


def _assert_same(calls: list[tuple[str, list[str]]], count: int, folder: Path) -> None:
    wrong = [
        f"{call} of {types}: {int((pair[0] != pair[1]).sum())} bytes differ"
        for (call, types), pair in zip(calls, _results(calls, count, folder))
        if not np.array_equal(pair[0], pair[1]) or not pair[0].any()
    ]
    assert not wrong


@pytest.mark.parametrize("count", [1, 4])
def test_integers(count: int, tmp_path: Path) -> None:
    _assert_same(_integers(), count, tmp_path)


@pytest.mark.parametrize("count", [1, 3])
def test_reals(count: int, tmp_path: Path) -> None:
    _assert_same(_reals(), count, tmp_path)


@pytest.mark.parametrize(("source", "count"), [(source, 1 + 3 * (n % 2)) for n, source in enumerate(NUMPY)])
def test_conversions(source: str, count: int, tmp_path: Path) -> None:
    _assert_same(_conversions(source), count, tmp_path)
