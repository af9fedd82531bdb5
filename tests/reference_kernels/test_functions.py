"""Functions of OpenCL.std, compared with numpy and scipy within stated units in the last place."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import bindless as bl

Array = npt.NDArray[Any]

PRAGMA = "#pragma OPENCL EXTENSION cl_khr_fp16 : enable\n#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n"
COUNT = 512


def _each(function: Callable[[float], float]) -> Callable[..., Array]:
    return np.vectorize(function, otypes=[np.float64])


def _by_magnitude(a: Array, b: Array, sign: int) -> Array:
    """Return the operand of larger (1) or smaller (-1) magnitude; of equal magnitudes the larger or smaller operand."""
    first = np.where(np.abs(a) == np.abs(b), sign * a > sign * b, sign * np.abs(a) > sign * np.abs(b))
    return np.where(first, a, b)


def _smooth_step(low: Array, high: Array, x: Array) -> Array:
    t = np.clip((x - low) / (high - low), 0, 1)
    return t * t * (3 - 2 * t)


# Name: lowest and highest argument of each operand, and the result in double precision.
FUNCTIONS: dict[str, tuple[list[tuple[float, float]], Callable[..., Array]]] = {
    "acos": ([(-1, 1)], np.arccos),
    "acosh": ([(1, 50)], np.arccosh),
    "acospi": ([(-1, 1)], lambda a: np.arccos(a) / math.pi),
    "asin": ([(-1, 1)], np.arcsin),
    "asinh": ([(-50, 50)], np.arcsinh),
    "asinpi": ([(-1, 1)], lambda a: np.arcsin(a) / math.pi),
    "atan": ([(-50, 50)], np.arctan),
    "atan2": ([(-5, 5), (-5, 5)], np.arctan2),
    "atanh": ([(-0.99, 0.99)], np.arctanh),
    "atanpi": ([(-50, 50)], lambda a: np.arctan(a) / math.pi),
    "cbrt": ([(-90, 90)], np.cbrt),
    "cos": ([(-30, 30)], np.cos),
    "cosh": ([(-5, 5)], np.cosh),
    "cospi": ([(-1, 1)], lambda a: np.cos(math.pi * a)),
    "erf": ([(-3, 3)], _each(math.erf)),
    "erfc": ([(-3, 3)], _each(math.erfc)),
    "exp": ([(-9, 9)], np.exp),
    "exp2": ([(-9, 9)], np.exp2),
    "exp10": ([(-4, 4)], lambda a: 10.0**a),
    "expm1": ([(-2, 2)], np.expm1),
    "fdim": ([(-5, 5), (-5, 5)], lambda a, b: np.maximum(a - b, 0)),
    "hypot": ([(-5, 5), (-5, 5)], np.hypot),
    "lgamma": ([(0.5, 20)], _each(math.lgamma)),
    "log": ([(0.01, 90)], np.log),
    "log2": ([(0.01, 90)], np.log2),
    "log10": ([(0.01, 90)], np.log10),
    "log1p": ([(-0.9, 9)], np.log1p),
    "logb": ([(0.01, 90)], lambda a: np.floor(np.log2(a))),
    "maxmag": ([(-5, 5), (-5, 5)], lambda a, b: _by_magnitude(a, b, 1)),
    "minmag": ([(-5, 5), (-5, 5)], lambda a, b: _by_magnitude(a, b, -1)),
    "pow": ([(0.1, 9), (-3, 3)], np.power),
    "powr": ([(0.1, 9), (-3, 3)], np.power),
    "rsqrt": ([(0.01, 90)], lambda a: 1 / np.sqrt(a)),
    "sin": ([(-30, 30)], np.sin),
    "sinh": ([(-5, 5)], np.sinh),
    "sinpi": ([(-1, 1)], lambda a: np.sin(math.pi * a)),
    "tan": ([(-1.5, 1.5)], np.tan),
    "tanh": ([(-5, 5)], np.tanh),
    "tgamma": ([(0.5, 8)], _each(math.gamma)),
    "degrees": ([(-9, 9)], np.degrees),
    "radians": ([(-90, 90)], np.radians),
    "step": ([(-5, 5), (-5, 5)], lambda a, b: np.where(b < a, 0.0, 1.0)),
    "sign": ([(-5, 5)], np.sign),
    "clamp": ([(-9, 9), (-4, -1), (1, 4)], lambda a, b, c: np.clip(a, b, c)),
    "smoothstep": ([(-4, -1), (1, 4), (-5, 5)], _smooth_step),
    "fma": ([(-9, 9), (-9, 9), (-9, 9)], lambda a, b, c: a * b + c),
}
# Units in the last place of the result. numpy's own double functions differ from the C library's by some.
ULP = {"half": 1, "float": 1, "double": 8}
# OpenCL C's limits for single precision (relative error in ULPs), which GPUs meet; lgamma has no limit.
ULP_OF_OPENCL = {
    "acos": 4, "acosh": 4, "acospi": 5, "asin": 4, "asinh": 4, "asinpi": 5, "atan": 5, "atan2": 6, "atanh": 5,
    "atanpi": 5, "cbrt": 2, "cos": 4, "cosh": 4, "cospi": 4, "erf": 16, "erfc": 16, "exp": 3, "exp2": 3, "exp10": 3,
    "expm1": 3, "hypot": 4, "lgamma": 16, "log": 3, "log2": 3, "log10": 3, "log1p": 2, "pow": 16, "powr": 16,
    "rsqrt": 2, "sin": 4, "sinh": 4, "sinpi": 4, "tan": 5, "tanh": 5, "tgamma": 16, "degrees": 2, "radians": 2,
}  # fmt: skip
DTYPES = {"half": np.float16, "float": np.float32, "double": np.float64}


def _source(name: str) -> str:
    kernels = []
    for function, (ranges, _) in FUNCTIONS.items():
        inputs = ", ".join(f"global const {name} *{letter}" for letter in "abc"[: len(ranges)])
        call = ", ".join(f"{letter}[i]" for letter in "abc"[: len(ranges)])
        kernels.append(
            f"kernel void test_{function}({inputs}, global {name} *out) "
            f"{{ const size_t i = get_global_id(0); out[i] = {function}({call}); }}"
        )
    return PRAGMA + "\n".join(kernels)


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("name", DTYPES)
def test_functions(run: Any, device: bl.Device, name: str, function: str) -> None:
    ranges, model = FUNCTIONS[function]
    generator = np.random.default_rng(len(function))
    inputs = [generator.uniform(low, high, COUNT).astype(DTYPES[name]) for low, high in ranges]
    out = run(_source(name), f"test_{function}", COUNT, *inputs, np.zeros(COUNT, DTYPES[name]))[-1]
    exact = model(*(array.astype(np.float64) for array in inputs))
    wanted = exact.astype(DTYPES[name])
    distance = np.abs(out.astype(np.float64) - wanted.astype(np.float64))
    # Single precision, as on GPUs; test_geometry_is_that_of_gpus checks its bits.
    limit = 4 if (name, function) == ("float", "smoothstep") else ULP[name]
    if device.backend is not bl.Backend.reference and name == "float":
        limit = max(limit, ULP_OF_OPENCL.get(function, 0))
    # Where terms cancel, the error of double itself matters: a unit of the largest term.
    slack = 1e-14 * (10 + np.abs(exact)) if name == "double" else 0
    assert (distance <= limit * np.spacing(np.abs(wanted)).astype(np.float64) + slack).all()


TWO_RESULTS = """
kernel void test(global const float *in, global float *out, global int *whole)
{
    const size_t i = get_global_id(0);
    const float x = in[i];
    float second;
    int n;
    out[i * 12 + 0] = fract(x, &second); out[i * 12 + 1] = second;
    out[i * 12 + 2] = modf(x, &second);  out[i * 12 + 3] = second;
    out[i * 12 + 4] = sincos(x, &second); out[i * 12 + 5] = second;
    out[i * 12 + 6] = frexp(x, &n); whole[i * 4] = n;
    out[i * 12 + 7] = remquo(x, 0.75f, &n); whole[i * 4 + 1] = n;
    whole[i * 4 + 2] = ilogb(x);
    out[i * 12 + 8] = ldexp(x, 3);
    out[i * 12 + 9] = pown(x, 3);
    out[i * 12 + 10] = rootn(x, 3);
    out[i * 12 + 11] = nextafter(x, 100.0f);
    whole[i * 4 + 3] = isnan(nan(5u));
}"""


def test_functions_of_several_types(run: Any) -> None:
    x = np.random.default_rng(8).uniform(-20, 20, 200).astype(np.float32)
    wide = x.astype(np.float64)
    _, out, whole = run(TWO_RESULTS, "test", 200, x, np.zeros((200, 12), np.float32), np.zeros((200, 4), np.int32))
    mantissa, exponent = np.frexp(x)
    quotient = np.round(wide / 0.75).astype(int)
    wanted = [
        x - np.floor(x), np.floor(x), np.modf(x)[0], np.modf(x)[1], np.sin(wide), np.cos(wide), mantissa,
        wide - quotient * 0.75, x * 8, wide**3, np.cbrt(wide), np.nextafter(x, np.float32(100)),
    ]  # fmt: skip
    for number, column in enumerate(wanted):
        np.testing.assert_allclose(
            out[:, number], column, rtol=1.2e-7, atol=1e-7 if number == 7 else 0, err_msg=str(number)
        )
    np.testing.assert_array_equal(whole[:, 0], exponent)
    np.testing.assert_array_equal(whole[:, 1], quotient)
    np.testing.assert_array_equal(whole[:, 2], np.floor(np.log2(np.abs(x))))
    assert whole[:, 3].all()


def test_neighbours_of_halves(run: Any) -> None:
    text = (
        PRAGMA
        + """kernel void test(global const half *a, global const half *b, global half *out)
    { const size_t i = get_global_id(0); out[i] = nextafter(a[i], b[i]); }"""
    )
    numbers = np.array([0, -0.0, 1, -1, 65504, -65504, 6e-8, -6e-8, 0.333, np.inf, -np.inf, np.nan], np.float16)
    a, b = (n.ravel().copy() for n in np.meshgrid(numbers, numbers))
    out = run(text, "test", a.size, a, b, np.zeros_like(a))[-1]
    with np.errstate(over="ignore"):
        np.testing.assert_array_equal(out, np.nextafter(a, b))


def test_vectors_as_a_whole(run: Any) -> None:
    text = """kernel void test(global const float4 *a, global const float4 *b, global float *out, global float4 *vector)
    {
        const size_t i = get_global_id(0);
        out[i * 4] = dot(a[i], b[i]); out[i * 4 + 1] = length(a[i]); out[i * 4 + 2] = distance(a[i], b[i]);
        out[i * 4 + 3] = fast_length(a[i]);
        vector[i * 4] = normalize(a[i]); vector[i * 4 + 1] = cross(a[i], b[i]);
        vector[i * 4 + 2] = mix(a[i], b[i], 0.25f);
        vector[i * 4 + 3] = a[i] * b[i].x;
    }"""
    a, b = np.random.default_rng(9).uniform(-3, 3, (2, 90, 4)).astype(np.float32)
    _, _, out, vector = run(text, "test", 90, a, b, np.zeros((90, 4), np.float32), np.zeros((90, 4, 4), np.float32))
    length = np.linalg.norm(a.astype(np.float64), axis=1)
    wanted = [(a * b).sum(1), length, np.linalg.norm(a.astype(np.float64) - b, axis=1), length]
    for number, column in enumerate(wanted):
        np.testing.assert_allclose(out[:, number], column, rtol=2e-6, atol=1e-6)
    crossed = np.zeros_like(a)
    crossed[:, :3] = np.cross(a[:, :3], b[:, :3])
    for number, rows in enumerate([a / length[:, None], crossed, a + (b - a) * 0.25, a * b[:, :1]]):
        np.testing.assert_allclose(vector[:, number], rows, rtol=1e-6, atol=1e-6)


def _fused(a: Any, b: Any, c: Any) -> Any:
    """Compute a * b + c of floats, rounded once: the product is exact in 64 bits, and the sum nearly."""
    return (np.longdouble(a) * b + c).astype(np.float32)


GEOMETRY = """kernel void test(global const float4 *a, global const float4 *b, global float *out)
{
    const size_t i = get_global_id(0);
    global float *o = out + 16 * i;
    o[0] = dot(a[i].xy, b[i].xy); o[1] = dot(a[i].xyz, b[i].xyz); o[2] = dot(a[i], b[i]); o[3] = length(a[i].xyz);
    o[4] = distance(a[i], b[i]); vstore3(normalize(a[i].xyz), 0, o + 5); vstore3(cross(a[i].xyz, b[i].xyz), 0, o + 8);
    o[11] = mix(a[i].x, b[i].x, b[i].y); o[12] = smoothstep(a[i].x, b[i].x, b[i].y);
    o[13] = mad(a[i].x, b[i].x, b[i].y); o[14] = length(a[i].x); o[15] = normalize(b[i].x);
}"""


def test_geometry_is_that_of_gpus(run: Any) -> None:
    """Bitwise equal to LLVM's library on NVIDIA GPUs: all products but the second are fused; also at extreme
    magnitudes.
    """
    a, b = np.random.default_rng(12).uniform(-3, 3, (2, 600, 4)).astype(np.float32)
    a[200:300] *= np.float32(2.0**-70)
    a[300:400] *= np.float32(2.0**70)
    a[400] = 0

    def dot(x: Any, y: Any) -> Any:
        total = _fused(x[:, 0], y[:, 0], x[:, 1] * y[:, 1])
        for c in range(2, x.shape[1]):
            total = _fused(x[:, c], y[:, c], total)
        return total

    def scaled(x: Any, up: float, down: float) -> Any:
        """Scale vectors whose squares leave the range of floats; return them and the power of two."""
        squares = dot(x, x)
        power = np.where(squares < np.finfo(np.float32).tiny, up, np.where(np.isinf(squares), down, 1))
        return x * power[:, None].astype(np.float32), power.astype(np.float32)

    def length(x: Any) -> Any:
        near, power = scaled(x, 2.0**86, 2.0**-65)
        return np.sqrt(dot(near, near)) / power

    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        near, _ = scaled(a[:, :3], 2.0**86, 2.0**-66)
        unit = np.where(a[:, :1] == 0, 0, near * (np.float32(1) / np.sqrt(dot(near, near)))[:, None])
        crossed = [_fused(a[:, j], b[:, k], -(a[:, k] * b[:, j])) for j, k in ((1, 2), (2, 0), (0, 1))]
        t = np.clip((b[:, 1] - a[:, 0]) / (b[:, 0] - a[:, 0]), np.float32(0), np.float32(1))
        wanted = [
            dot(a[:, :2], b[:, :2]), dot(a[:, :3], b[:, :3]), dot(a, b), length(a[:, :3]), length(a - b), *unit.T,
            *crossed, _fused(b[:, 0] - a[:, 0], b[:, 1], a[:, 0]), t * t * _fused(t, np.float32(-2), np.float32(3)),
            _fused(a[:, 0], b[:, 0], b[:, 1]), np.abs(a[:, 0]), np.sign(b[:, 0]),
        ]  # fmt: skip
    out = run(GEOMETRY, "test", 600, a, b, np.zeros((600, 16), np.float32))[-1]
    np.testing.assert_array_equal(out, np.stack(wanted, 1).astype(np.float32))


def test_integer_functions(run: Any) -> None:
    text = """kernel void test(global const int *x, global const int *y, global int *out, global ulong *wide,
                     global int *saturated)
    {
        const size_t i = get_global_id(0);
        const int a = x[i], b = y[i];
        const uint u = (uint)a, v = (uint)b;
        int k = (int)i * 20;
        out[k++] = (int)abs(a); out[k++] = (int)abs_diff(a, b); out[k++] = add_sat(a, b); out[k++] = (int)add_sat(u, v);
        out[k++] = hadd(a, b); out[k++] = (int)rhadd(u, v); out[k++] = clamp(a, -5, 9); out[k++] = mul_hi(a, b);
        out[k++] = (int)mul_hi(u, v); out[k++] = (int)rotate(u, v); out[k++] = sub_sat(a, b);
        out[k++] = (int)sub_sat(u, v);
        out[k++] = mad24(a >> 9, b >> 9, 7); out[k++] = mul24(a >> 9, b >> 9); out[k++] = ctz(a);
        out[k++] = mad_hi(a, b, 3);
        out[k++] = bitselect(a, b, 0x0f0f0f0f); out[k++] = select(a, b, a > 0); out[k++] = (int)min(u, v);
        out[k++] = (int)max((ushort)u, (ushort)v);
        saturated[2 * i] = mad_sat(a >> (b & 31), b >> (a & 15), a);
        saturated[2 * i + 1] = (int)mad_sat((ushort)(u >> 24), (ushort)(v >> 22), (ushort)u);
        wide[i] = upsample(u, v);
    }"""
    generator = np.random.default_rng(10)
    x, y = generator.integers(-(2**31), 2**31, (2, 300)).astype(np.int32)
    x[:4], y[:4] = [2**31 - 1, -(2**31), 1, -1], [1, -1, 2**31 - 1, -(2**31)]
    outputs = np.zeros((300, 20), np.int32), np.zeros(300, np.uint64), np.zeros((300, 2), np.int32)
    _, _, out, wide, saturated = run(text, "test", 300, x, y, *outputs)
    a, b = [int(n) for n in x], [int(n) for n in y]
    low, high, ones = -(2**31), 2**31 - 1, 2**32 - 1
    rows, sums = [], []
    for p, q in zip(a, b):
        u, v = p & ones, q & ones
        shift = v % 32
        short = min((u >> 24) * (v >> 22) + (u & 0xFFFF), 0xFFFF)
        sums.append([min(max((p >> (q & 31)) * (q >> (p & 15)) + p, low), high), short])
        rows.append([
            abs(p), abs(p - q), min(max(p + q, low), high), min(u + v, ones), (p + q) >> 1, (u + v + 1) >> 1,
            min(max(p, -5), 9), (p * q) >> 32, (u * v) >> 32, (u << shift | u >> (32 - shift)) & ones,
            min(max(p - q, low), high), max(u - v, 0), (p >> 9) * (q >> 9) + 7, (p >> 9) * (q >> 9),
            (u & -u).bit_length() - 1 if u else 32, ((p * q) >> 32) + 3,
            (u & 0xF0F0F0F0) | (v & 0x0F0F0F0F), q if p > 0 else p, min(u, v), max(u & 0xFFFF, v & 0xFFFF),
        ])  # fmt: skip
    wanted = np.array([[n & ones for n in row] for row in rows], np.uint32)
    np.testing.assert_array_equal(out.view(np.uint32), wanted)
    np.testing.assert_array_equal(saturated, sums)
    np.testing.assert_array_equal(wide, x.view(np.uint32).astype(np.uint64) << np.uint64(32) | y.view(np.uint32))


def test_vectors_in_memory(run: Any) -> None:
    """Vectors at addresses that are not multiples of their size, and halves."""
    text = """kernel void test(global const float *in, global float *out, global half *halves, global const half *from)
    {
        const size_t i = get_global_id(0);
        float3 v = vload3(i, in + 1) * 2.0f;
        vstore3(v, i, out);
        vstore_half(v.x, 4 * i, halves);
        vstore_half3(v.yzx, i, halves + 1000);
        out[600 + i] = vload_half(i, from);
        vstore4(vload_half4(i, from), i, out + 800);
    }"""
    x = np.random.default_rng(11).standard_normal(400).astype(np.float32)
    h = np.random.default_rng(12).standard_normal(400).astype(np.float16)
    _, out, halves, _ = run(text, "test", 100, x, np.zeros(1300, np.float32), np.zeros(1400, np.float16), h)
    v = x[1:301].reshape(100, 3) * 2
    np.testing.assert_array_equal(out[:300], v.ravel())
    np.testing.assert_array_equal(halves[:400:4], v[:, 0].astype(np.float16))
    np.testing.assert_array_equal(halves[1000:1300].reshape(100, 3), v[:, [1, 2, 0]].astype(np.float16))
    np.testing.assert_array_equal(out[600:700], h[:100].astype(np.float32))
    np.testing.assert_array_equal(out[800:1200], h.astype(np.float32))


def test_shuffles(run: Any) -> None:
    text = """kernel void test(global const int4 *a, global const int4 *b, global const uint4 *m, global int4 *out)
    {
        const size_t i = get_global_id(0);
        out[2 * i] = shuffle(a[i], m[i]);
        out[2 * i + 1] = shuffle2(a[i], b[i], m[i]);
    }"""
    generator = np.random.default_rng(13)
    a, b = generator.integers(-99, 99, (2, 70, 4)).astype(np.int32)
    m = generator.integers(0, 50, (70, 4)).astype(np.uint32)
    out = run(text, "test", 70, a, b, m, np.zeros((70, 2, 4), np.int32))[-1]
    np.testing.assert_array_equal(out[:, 0], np.take_along_axis(a, (m % 4).astype(int), 1))
    np.testing.assert_array_equal(out[:, 1], np.take_along_axis(np.hstack([a, b]), (m % 8).astype(int), 1))


def test_overflow_of_sums_and_products(run: Any) -> None:
    text = """kernel void test(global const uint *x, global const uint *y, global uint *out)
    {
        const size_t i = get_global_id(0);
        uint r;
        out[4 * i] = __builtin_add_overflow(x[i], y[i], &r); out[4 * i + 1] = r;
        out[4 * i + 2] = __builtin_sub_overflow(x[i], y[i], &r); out[4 * i + 3] = r;
    }"""
    x, y = np.random.default_rng(14).integers(0, 2**32, (2, 100)).astype(np.uint32)
    out = run(text, "test", 100, x, y, np.zeros((100, 4), np.uint32))[-1]
    wide = x.astype(np.uint64) + y
    np.testing.assert_array_equal(out, np.stack([wide >> np.uint64(32), x + y, x < y, x - y], 1))
