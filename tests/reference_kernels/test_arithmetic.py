"""Every arithmetic instruction on every type, compared with numpy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

Array = npt.NDArray[Any]

INTEGERS = {
    "char": np.int8,
    "uchar": np.uint8,
    "short": np.int16,
    "ushort": np.uint16,
    "int": np.int32,
    "uint": np.uint32,
    "long": np.int64,
    "ulong": np.uint64,
}
FLOATS = {"half": np.float16, "float": np.float32, "double": np.float64}
PRAGMA = "#pragma OPENCL EXTENSION cl_khr_fp16 : enable\n#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n"
COUNT = 1000  # not a multiple of the number of lanes


def _quotient(a: Array, b: Array) -> Array:
    """Divide with truncation towards zero, as in C."""
    if a.dtype.kind == "u":
        return a // b
    magnitude = np.abs(a.astype(object)) // np.abs(b.astype(object))
    return np.where((a < 0) != (b < 0), -magnitude, magnitude).astype(a.dtype)


def _shift(b: Array) -> Array:
    return b & np.array(8 * b.dtype.itemsize - 1, b.dtype)


INTEGER_OPERATIONS: dict[str, tuple[str, Callable[[Array, Array], Array]]] = {
    "add": ("a + b", lambda a, b: a + b),
    "subtract": ("a - b", lambda a, b: a - b),
    "multiply": ("a * b", lambda a, b: a * b),
    "divide": ("a / b", _quotient),
    "remainder": ("a % b", lambda a, b: a - _quotient(a, b) * b),
    "both": ("a & b", lambda a, b: a & b),
    "either": ("a | b", lambda a, b: a | b),
    "differ": ("a ^ b", lambda a, b: a ^ b),
    "complement": ("~a", lambda a, b: ~a),
    "negate": ("-a", lambda a, b: np.zeros_like(a) - a),
    "shift_left": ("a << (b & (T)(8 * sizeof(T) - 1))", lambda a, b: a << _shift(b)),
    "shift_right": ("a >> (b & (T)(8 * sizeof(T) - 1))", lambda a, b: a >> _shift(b)),
    "smaller": ("min(a, b)", np.minimum),
    "larger": ("max(a, b)", np.maximum),
    "less": ("a < b", lambda a, b: (a < b).astype(a.dtype)),
    "less_equal": ("a <= b", lambda a, b: (a <= b).astype(a.dtype)),
    "greater": ("a > b", lambda a, b: (a > b).astype(a.dtype)),
    "greater_equal": ("a >= b", lambda a, b: (a >= b).astype(a.dtype)),
    "equal": ("a == (a / b) * b", lambda a, b: (a == _quotient(a, b) * b).astype(a.dtype)),
    "unequal": ("a != (a / b) * b", lambda a, b: (a != _quotient(a, b) * b).astype(a.dtype)),
    "chosen": ("a < b && a != 0 ? a : b", lambda a, b: np.where((a < b) & (a != 0), a, b)),
    "bits": ("popcount(a)", lambda a, b: np.array([bin(int(n) & _mask(a)).count("1") for n in a], a.dtype)),
    "zeros": ("clz(a)", lambda a, b: np.array([_bits(a) - (int(n) & _mask(a)).bit_length() for n in a], a.dtype)),
}


def _bits(a: Array) -> int:
    return 8 * a.dtype.itemsize


def _mask(a: Array) -> int:
    return (1 << _bits(a)) - 1


def _source(types: str, operations: dict[str, tuple[str, Any]], extra: str = "") -> str:
    kernels = "".join(
        f"kernel void {name}(global const T *x, global const T *y, global T *out) "
        f"{{ const size_t i = get_global_id(0); const T a = x[i], b = y[i]; (void)b; out[i] = (T)({expression}); }}\n"
        for name, (expression, _) in operations.items()
    )
    return f"{PRAGMA}#define T {types}\n{extra}{kernels}"


def _integers(dtype: type[np.integer[Any]], seed: int) -> Array:
    generator = np.random.default_rng(seed)
    limits = np.iinfo(dtype)
    numbers = generator.integers(limits.min, limits.max, COUNT, dtype, endpoint=True)
    edges = np.array([limits.min, limits.max, 0, 1, 2, 3], dtype)
    numbers[: edges.size] = edges
    numbers[200:400] = generator.integers(0, 50, 200, dtype)
    return numbers


@pytest.mark.parametrize("operation", INTEGER_OPERATIONS)
@pytest.mark.parametrize("name", INTEGERS)
def test_integers(run: Any, name: str, operation: str) -> None:
    a, b = _integers(INTEGERS[name], 1), _integers(INTEGERS[name], 2)[::-1].copy()
    b[b == 0] = 7
    if np.iinfo(INTEGERS[name]).min < 0:
        b[b == -1] = 5  # the smallest number divided by -1 overflows
    out = run(_source(name, INTEGER_OPERATIONS), operation, COUNT, a, b, np.zeros_like(a))[-1]
    with np.errstate(over="ignore"):
        np.testing.assert_array_equal(out, INTEGER_OPERATIONS[operation][1](a, b))


FLOAT_OPERATIONS: dict[str, tuple[str, Callable[[Array, Array], Array]]] = {
    "add": ("a + b", lambda a, b: a + b),
    "subtract": ("a - b", lambda a, b: a - b),
    "multiply": ("a * b", lambda a, b: a * b),
    "divide": ("a / b", lambda a, b: a / b),
    "negate": ("-a", lambda a, b: -a),
    "less": ("a < b", lambda a, b: a < b),
    "less_equal": ("a <= b", lambda a, b: a <= b),
    "greater": ("a > b", lambda a, b: a > b),
    "greater_equal": ("a >= b", lambda a, b: a >= b),
    "equal": ("a == b", lambda a, b: a == b),
    "unequal": ("a != b", lambda a, b: a != b),
    "not_less": ("!(a < b)", lambda a, b: ~(a < b)),
    "not_greater": ("!(a > b)", lambda a, b: ~(a > b)),
    "magnitude": ("fabs(a)", lambda a, b: np.abs(a)),
    "floored": ("floor(a)", lambda a, b: np.floor(a)),
    "ceiling": ("ceil(a)", lambda a, b: np.ceil(a)),
    "truncated": ("trunc(a)", lambda a, b: np.trunc(a)),
    "even": ("rint(a)", lambda a, b: np.rint(a)),
    "root": ("sqrt(fabs(a))", lambda a, b: np.sqrt(np.abs(a))),
    "copied_sign": ("copysign(a, b)", np.copysign),
    "larger": ("fmax(a, b)", np.fmax),
    "smaller": ("fmin(a, b)", np.fmin),
    "remainder": ("fmod(a, b)", np.fmod),
}


def _floats(dtype: type[np.floating[Any]], seed: int) -> Array:
    generator = np.random.default_rng(seed)
    numbers = (generator.standard_normal(COUNT) * 10.0 ** generator.integers(-3, 4, COUNT)).astype(dtype)
    info = np.finfo(dtype)
    edges = [np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0, -1.0, 0.5, 1.5, 2.5, -2.5, info.max, info.tiny, info.tiny / 4]
    numbers[: len(edges)] = np.array(edges, dtype)
    return numbers


@pytest.mark.parametrize("operation", FLOAT_OPERATIONS)
@pytest.mark.parametrize("name", FLOATS)
def test_floats(run: Any, name: str, operation: str) -> None:
    a, b = _floats(FLOATS[name], 1), np.roll(_floats(FLOATS[name], 2), 3)
    out = run(_source(name, FLOAT_OPERATIONS), operation, COUNT, a, b, np.zeros_like(a))[-1]
    with np.errstate(all="ignore"):
        wanted = FLOAT_OPERATIONS[operation][1](a, b).astype(a.dtype)
    np.testing.assert_array_equal(out, wanted)


@pytest.mark.parametrize("to", [*INTEGERS, *FLOATS])
@pytest.mark.parametrize("name", [*INTEGERS, *FLOATS])
def test_conversions(run: Any, name: str, to: str) -> None:
    types = {**INTEGERS, **FLOATS}
    source, target = types[name], types[to]
    text = PRAGMA + "".join(
        f"kernel void to_{other}(global const {name} *in, global {other} *out)"
        f"{{ out[get_global_id(0)] = ({other})in[get_global_id(0)]; }}\n"
        for other in types
    )
    if name in INTEGERS:
        values = _integers(source, 3)
        if to == "half":
            low, high = max(np.iinfo(source).min, -60000), min(np.iinfo(source).max, 60000)
            values = np.clip(values, low, high).astype(source)
    else:
        values = _floats(source, 3)[14:]
        if to in INTEGERS:
            limits = np.iinfo(target)
            values = values[(values > max(limits.min, -60000)) & (values < min(limits.max, 60000))]
    with np.errstate(over="ignore"):
        wanted = values.astype(target)
    out = run(text, f"to_{to}", values.size, values, np.zeros(values.size, target))[-1]
    np.testing.assert_array_equal(out, wanted)


def test_conversions_that_do_not_fit(run: Any) -> None:
    """Floats outside of an integer's range give the nearest integer, and not-a-number gives 0, as on GPUs."""
    values = np.array([3e9, -3e9, 1e30, -1e30, np.inf, -np.inf, np.nan, 2147483520.0, -0.5], np.float32)
    text = """kernel void convert(global const float *in, global int *s, global uint *u)
        { const size_t i = get_global_id(0); s[i] = convert_int_sat(in[i]); u[i] = convert_uint_sat(in[i]); }"""
    _, signed, unsigned = run(text, "convert", values.size, values, np.zeros(9, np.int32), np.zeros(9, np.uint32))
    high, low = 2**31 - 1, -(2**31)
    np.testing.assert_array_equal(signed, [high, low, high, low, high, low, 0, 2147483520, 0])
    np.testing.assert_array_equal(unsigned, [3000000000, 0, 2**32 - 1, 0, 2**32 - 1, 0, 0, 2147483520, 0])


@pytest.mark.parametrize("width", [2, 3, 4, 8, 16])
def test_vectors(run: Any, width: int) -> None:
    """Arithmetic, swizzles and components of every width."""
    lanes = 4 if width == 3 else width
    text = f"""
    kernel void mix(global const float{width} *x, global const int{width} *y, global float{width} *out, int pick)
    {{
        const size_t i = get_global_id(0);
        float{width} v = x[i] * 2.0f + convert_float{width}(y[i]);
        v = y[i] > 0 ? v : -v;
        v.s0 = v.s1;
        v[pick] += 100.0f;
        out[i] = v;
    }}"""
    generator = np.random.default_rng(width)
    x = generator.integers(-50, 50, (100, lanes)).astype(np.float32)
    y = generator.integers(-50, 50, (100, lanes)).astype(np.int32)
    out = run(text, "mix", 100, x, y, np.zeros_like(x), 1)[-1]
    wanted = x * 2 + y
    wanted = np.where(y > 0, wanted, -wanted).astype(np.float32)
    wanted[:, 0] = wanted[:, 1]
    wanted[:, 1] += 100
    np.testing.assert_array_equal(out[:, :width], wanted[:, :width])


def test_bits_of_other_types(run: Any) -> None:
    text = """kernel void cast(global const float *f, global uint *u, global ushort2 *s, global ulong *l)
    {
        const size_t i = get_global_id(0);
        u[i] = as_uint(f[i]); s[i] = as_ushort2(f[i]); l[i] = as_ulong((float2)(f[i], f[i] + 1.0f));
    }"""
    f = np.random.default_rng(0).standard_normal(77).astype(np.float32)
    _, u, s, wide = run(
        text, "cast", 77, f, np.zeros(77, np.uint32), np.zeros((77, 2), np.uint16), np.zeros(77, np.uint64)
    )
    np.testing.assert_array_equal(u, f.view(np.uint32))
    np.testing.assert_array_equal(s, f.view(np.uint16).reshape(-1, 2))
    np.testing.assert_array_equal(wide, np.stack([f, f + np.float32(1)], 1).copy().view(np.uint64)[:, 0])
