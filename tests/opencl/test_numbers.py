"""Arithmetic, conversions and functions: bit-exact where the result is exact, else within the specified ulp."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import bindless as bl
from tests.opencl.peers import OpenCLPeer

pytestmark = [
    pytest.mark.opencl,
    pytest.mark.skipif(not bl.kernels_available(), reason="needs a kernel compiler: pip install 'bindless[kernels]'"),
]

Array = npt.NDArray[Any]
COUNT = 1000
INTEGERS = {
    "char": "i1", "uchar": "u1", "short": "i2", "ushort": "u2", "int": "i4", "uint": "u4", "long": "i8", "ulong": "u8",
}  # fmt: skip
FLOATS = {"half": "f2", "float": "f4", "double": "f8"}

_INTEGER = (
    "a + b", "a - b", "a * b", "a / d", "a % d", "a & b", "a | b", "a ^ b", "~a", "-a", "a << s", "a >> s",
    "a < b ? a : b", "mul_hi(a, b)", "mad_hi(a, b, c)", "add_sat(a, b)", "sub_sat(a, b)", "mad_sat(a, b, c)",
    "(T)abs(a)",
    "(T)abs_diff(a, b)", "hadd(a, b)", "rhadd(a, b)", "rotate(a, b)", "clz(a)", "popcount(a)", "min(a, b)", "max(a, b)",
    "clamp(a, min(b, c), max(b, c))", "bitselect(a, b, c)", "(T)(a == b) + (T)(a >= c)",
)  # fmt: skip
_EXACT = (
    "a + b", "a - b", "a * b", "a / b", "-a", "fabs(a)", "sqrt(fabs(a))", "fma(a, b, c)", "floor(a)", "ceil(a)",
    "trunc(a)", "rint(a)", "round(a)", "fmin(a, b)", "fmax(a, b)", "fmod(a, b)", "copysign(a, b)", "nextafter(a, b)",
    "ldexp(a, (int)e)", "(T)ilogb(a)", "a < b ? a : b", "(T)isgreater(a, b)", "(T)signbit(a)", "clamp(a, (T)-1, (T)1)",
    "sign(a)", "step(a, b)", "remainder(a, b)",
)  # fmt: skip


def _source(kernel: str, scalar: str, parts: Sequence[str], operands: str) -> str:
    """A kernel with scalar type T; row k of its result is expression k."""
    lines = "".join(f"    out[{k} * n + i] = (T)({part});\n" for k, part in enumerate(parts))
    return (
        "#undef T\n#define T " + scalar + f"\nkernel void {kernel}_{scalar}(global T *out, global const T *in)\n{{\n"
        f"    const size_t i = get_global_id(0), n = get_global_size(0);\n{operands}\n{lines}}}\n"
    )


def _lacks(peer: OpenCLPeer, scalar: str) -> bool:
    """Whether the OpenCL device lacks a type; a module that uses the type does not build there."""
    extension = {"half": "cl_khr_fp16", "double": "cl_khr_fp64"}.get(scalar)
    return extension is not None and not peer.has(extension)


@pytest.fixture(scope="module")
def module(peer: OpenCLPeer) -> bytes:
    text = "#pragma OPENCL EXTENSION cl_khr_fp16 : enable\n"
    for scalar, code in INTEGERS.items():
        bits = 8 * int(code[1])
        operands = (
            f"    const T a = in[i], b = in[n + i], c = in[2 * n + i], s = b & {bits - 1};\n"
            "    const T d = b == 0 || b == (T)-1 ? 3 : b;"
        )
        text += _source("integer", scalar, _INTEGER, operands)
    for scalar in FLOATS:
        if _lacks(peer, scalar):
            continue
        operands = "    const T a = in[i], b = in[n + i], c = in[2 * n + i], e = (T)((int)i % 20 - 10);"
        text += _source("exact", scalar, _EXACT, operands)
    return bl.build(text, targets="spirv").sections[0].data


@pytest.mark.parametrize("scalar", INTEGERS)
def test_integers(scalar: str, module: bytes, both: Any) -> None:
    dtype = np.dtype(INTEGERS[scalar])
    limits = np.iinfo(dtype)
    values = np.random.default_rng(1).integers(limits.min, limits.max, (3, COUNT), dtype, endpoint=True)
    values[:, :8] = np.array([limits.min, limits.max, 0, 1, limits.max, limits.min, 0, 1], dtype)
    out = np.zeros((len(_INTEGER), COUNT), dtype)
    here, there = both(module, f"integer_{scalar}", COUNT, out, values)
    for part, mine, theirs in zip(_INTEGER, here[0], there[0]):
        np.testing.assert_array_equal(mine, theirs, err_msg=part)
    assert np.count_nonzero(here[0]) > COUNT * len(_INTEGER) / 3


def _bits(values: Array) -> Array:
    """Bit patterns with all NaNs made equal."""
    kept = values.copy()
    kept[np.isnan(kept)] = np.nan
    return kept.view(f"u{values.itemsize}")


@pytest.mark.parametrize("scalar", FLOATS)
def test_exact_operations_of_floats(scalar: str, peer: OpenCLPeer, module: bytes, both: Any) -> None:
    if _lacks(peer, scalar):
        pytest.skip(f"the OpenCL device has no {scalar}")
    dtype = np.dtype(FLOATS[scalar])
    rng = np.random.default_rng(2)
    values = (rng.standard_normal((3, COUNT)) * 10.0 ** rng.integers(-3, 4, (3, COUNT))).astype(dtype)
    info = np.finfo(dtype)
    special = [0, -0.0, np.inf, -np.inf, info.max, info.tiny, info.smallest_subnormal, 1, -1, 0.5, 1.5, 2.5, -2.5]
    values[0, : len(special)] = special
    values[1, 5 : 5 + len(special)] = special
    out = np.zeros((len(_EXACT), COUNT), dtype)
    here, there = both(module, f"exact_{scalar}", COUNT, out, values)
    for part, mine, theirs in zip(_EXACT, here[0], there[0]):
        np.testing.assert_array_equal(_bits(mine), _bits(theirs), err_msg=part)


# ------------------------------------------------------------------ functions

# Largest difference between the devices, in ulp, and the range of the arguments.
APART = 5
FUNCTIONS: dict[str, tuple[float, float]] = {
    "sin": (-30, 30), "cos": (-30, 30), "tan": (-1.5, 1.5), "asin": (-1, 1), "acos": (-1, 1), "atan": (-50, 50),
    "sinh": (-5, 5), "cosh": (-5, 5), "tanh": (-5, 5), "asinh": (-50, 50), "acosh": (1, 50), "atanh": (-0.99, 0.99),
    "exp": (-9, 9), "exp2": (-9, 9), "exp10": (-4, 4), "expm1": (-2, 2), "log": (0.01, 90), "log2": (0.01, 90),
    "log10": (0.01, 90), "log1p": (-0.9, 9), "rsqrt": (0.01, 90), "cbrt": (-90, 90), "erf": (-3, 3), "erfc": (-3, 3),
    "tgamma": (0.5, 8), "sinpi": (-1, 1), "cospi": (-1, 1), "tanpi": (-0.4, 0.4), "asinpi": (-1, 1), "acospi": (-1, 1),
    "atanpi": (-9, 9), "radians": (-90, 90), "degrees": (-9, 9),
}  # fmt: skip
BINARY: dict[str, tuple[float, float]] = {
    "pow": (0.1, 9), "powr": (0.1, 9), "atan2": (-5, 5), "atan2pi": (-5, 5), "hypot": (-5, 5),
}  # fmt: skip
VECTORS = ("dot(a, b)", "length(a)", "distance(a, b)", "normalize(a).y", "cross(a, b).z", "mix(a, b, c).w")


@pytest.fixture(scope="module")
def functions() -> bytes:
    calls = [f"{name}(a)" for name in FUNCTIONS] + [f"{name}(a, b)" for name in BINARY]
    text = "#pragma OPENCL EXTENSION cl_khr_fp16 : enable\n"
    for scalar in ("float", "double"):
        for call in calls:
            name = call.partition("(")[0]
            text += (
                f"kernel void f_{name}_{scalar}(global {scalar} *out, global const {scalar} *in)\n"
                "{ size_t i = get_global_id(0); "
                f"{scalar} a = in[i], b = in[get_global_size(0) + i]; out[i] = {call}; }}\n"
            )
    rows = "".join(f"    out[{k} * n + i] = {part};\n" for k, part in enumerate(VECTORS))
    text += (
        "kernel void vectors(global float *out, global const float4 *in)\n{\n"
        f"    const size_t i = get_global_id(0), n = get_global_size(0);\n"
        f"    const float4 a = in[i], b = in[n + i], c = fabs(in[2 * n + i]);\n{rows}}}\n"
    )
    return bl.build(text, targets="spirv").sections[0].data


def _ulps(mine: Array, theirs: Array) -> float:
    spacing = np.spacing(np.maximum(np.abs(theirs), np.finfo(theirs.dtype).tiny))
    return float(np.max(np.abs(mine.astype(np.float64) - theirs) / spacing))


@pytest.mark.parametrize("name", [*FUNCTIONS, *BINARY])
@pytest.mark.parametrize("scalar", ["float", "double"])
def test_functions(name: str, scalar: str, functions: bytes, both: Any) -> None:
    values = np.random.default_rng(3).uniform(*(FUNCTIONS | BINARY)[name], (2, COUNT)).astype(FLOATS[scalar])
    if name in ("pow", "powr"):
        values[1] = np.random.default_rng(4).uniform(-3, 3, COUNT)
    here, there = both(functions, f"f_{name}_{scalar}", COUNT, np.zeros(COUNT, FLOATS[scalar]), values)
    assert _ulps(here[0], there[0]) <= APART


def test_functions_of_vectors(functions: bytes, both: Any) -> None:
    """Sums of products: the error bound is one rounding per term, relative to the largest term."""
    values = np.random.default_rng(5).uniform(0.1, 5, (3, COUNT, 4)).astype(np.float32)
    here, there = both(functions, "vectors", COUNT, np.zeros((len(VECTORS), COUNT), np.float32), values)
    for part, mine, theirs in zip(VECTORS, here[0], there[0]):
        largest = np.float32(np.abs(theirs).max())
        assert np.abs(mine - theirs).max() <= 4 * np.spacing(largest), part


# ------------------------------------------------------------------ conversions

_SCALARS = {**INTEGERS, **FLOATS}


def _modes(source: str, target: str) -> tuple[str, ...]:
    exact = ("",) if source in INTEGERS and target in INTEGERS else ()
    return exact + (("_sat", "_sat_rte", "_sat_rtn") if target in INTEGERS else ("", "_rtz", "_rtp"))


def test_conversions(peer: OpenCLPeer, both: Any) -> None:
    scalars = {scalar: code for scalar, code in _SCALARS.items() if not _lacks(peer, scalar)}
    text = "#pragma OPENCL EXTENSION cl_khr_fp16 : enable\n"
    for source in scalars:
        for target in scalars:
            parts = [f"convert_{target}{mode}(a)" for mode in _modes(source, target)]
            lines = "".join(f"    out[{k} * n + i] = {part};\n" for k, part in enumerate(parts))
            text += (
                f"kernel void {source}_{target}(global {target} *out, global const {source} *in)\n{{\n"
                f"    const size_t i = get_global_id(0), n = get_global_size(0);\n"
                f"    const {source} a = in[i];\n{lines}}}\n"
            )
    module = bl.build(text, targets="spirv").sections[0].data
    rng = np.random.default_rng(6)
    for source, code in scalars.items():
        dtype = np.dtype(code)
        if dtype.kind == "f":
            values = (rng.standard_normal(COUNT) * 10.0 ** rng.integers(-2, 4, COUNT)).astype(dtype)
            values[:6] = [0.5, 1.5, 2.5, -0.5, -1.5, 300]
        else:
            limits = np.iinfo(dtype)
            values = rng.integers(limits.min, limits.max, COUNT, dtype, endpoint=True)
            values[:2] = limits.min, limits.max
        for target in scalars:
            modes = _modes(source, target)
            out = np.zeros((len(modes), COUNT), scalars[target])
            here, there = both(module, f"{source}_{target}", COUNT, out, values)
            for mode, mine, theirs in zip(modes, here[0], there[0]):
                np.testing.assert_array_equal(mine, theirs, err_msg=f"convert_{target}{mode}({source})")
