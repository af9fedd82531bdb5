"""The package's own OpenCL C functions for NVIDIA GPUs: their sources run on the reference device as SPIR-V.

The tests compare results with numpy's in a wider type, within the errors that OpenCL C's full profile allows.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import bindless as bl
from bindless.compiler.ptx.scalar_functions import scalar_functions

pytestmark = pytest.mark.skipif(
    not bl.kernels_available(), reason="needs a kernel compiler: pip install 'bindless[kernels]'"
)
COUNT = 4096
Wide = npt.NDArray[np.longdouble]
PI = np.longdouble("3.14159265358979323846264338327950288")


def _half_turns(x: Wide) -> tuple[Wide, Wide]:
    """Return sine and cosine of pi x; the remainder after whole quarters is exact."""
    turned = np.fmod(x, 2)
    quarter = np.rint(2 * turned)
    sine, cosine = np.sin((turned - quarter / 2) * PI), np.cos((turned - quarter / 2) * PI)
    index = np.mod(quarter, 4).astype(int)
    return np.choose(index, [sine, cosine, -sine, -cosine]), np.choose(index, [cosine, -sine, -cosine, sine])


def _each(function: Callable[[float], float]) -> Callable[[Wide], Wide]:
    return lambda x: np.array([function(float(value)) for value in x], np.longdouble)


def _gamma(x: float) -> float:
    try:
        return math.gamma(x)
    except OverflowError:
        return math.copysign(math.inf, x)


# Name: error in ulp, the function in a wider type, and the interval.
UNARY: dict[str, tuple[float, Callable[[Wide], Wide], tuple[float, float]]] = {
    "acos": (4, np.arccos, (-1, 1)),
    "acosh": (4, np.arccosh, (1, 1e6)),
    "acospi": (5, lambda x: np.arccos(x) / PI, (-1, 1)),
    "asin": (4, np.arcsin, (-1, 1)),
    "asinh": (4, np.arcsinh, (-1e6, 1e6)),
    "asinpi": (5, lambda x: np.arcsin(x) / PI, (-1, 1)),
    "atan": (5, np.arctan, (-20, 20)),
    "atanh": (5, np.arctanh, (-1, 1)),
    "atanpi": (5, lambda x: np.arctan(x) / PI, (-20, 20)),
    "cbrt": (2, np.cbrt, (-1e6, 1e6)),
    "cos": (4, np.cos, (-1e4, 1e4)),
    "cosh": (4, np.cosh, (-80, 80)),
    "cospi": (4, lambda x: _half_turns(x)[1], (-100, 100)),
    "degrees": (2, lambda x: x * 180 / PI, (-1e6, 1e6)),
    "radians": (2, lambda x: x * PI / 180, (-1e6, 1e6)),
    "erf": (16, _each(math.erf), (-6, 6)),
    "erfc": (16, _each(math.erfc), (-6, 9)),
    "exp": (3, np.exp, (-87, 88)),
    "exp10": (3, lambda x: np.power(np.longdouble(10), x), (-37, 38)),
    "exp2": (3, np.exp2, (-126, 127)),
    "expm1": (3, np.expm1, (-20, 88)),
    "log": (3, np.log, (0, 1e3)),
    "log10": (3, np.log10, (0, 1e3)),
    "log1p": (2, np.log1p, (-1, 1e3)),
    "log2": (3, np.log2, (0, 1e3)),
    "rsqrt": (2, lambda x: 1 / np.sqrt(x), (0, 1e3)),
    "sin": (4, np.sin, (-1e4, 1e4)),
    "sinh": (4, np.sinh, (-80, 80)),
    "sinpi": (4, lambda x: _half_turns(x)[0], (-100, 100)),
    "sqrt": (0.5, np.sqrt, (0, 1e3)),
    "tan": (5, np.tan, (-1e4, 1e4)),
    "tanh": (5, np.tanh, (-20, 20)),
    "tanpi": (6, lambda x: _half_turns(x)[0] / _half_turns(x)[1], (-100, 100)),
    "tgamma": (16, _each(_gamma), (-30, 33)),
    "rint": (0, np.rint, (-1e6, 1e6)),
    "trunc": (0, np.trunc, (-1e6, 1e6)),
    "floor": (0, np.floor, (-1e6, 1e6)),
    "ceil": (0, np.ceil, (-1e6, 1e6)),
    "round": (0, lambda x: np.copysign(np.floor(np.abs(x) + 0.5), x), (-1e6, 1e6)),
    "fabs": (0, np.abs, (-1e6, 1e6)),
}
BINARY: dict[str, tuple[float, Callable[[Wide, Wide], Wide], tuple[float, float], tuple[float, float]]] = {
    "atan2": (6, np.arctan2, (-10, 10), (-10, 10)),
    "atan2pi": (6, lambda y, x: np.arctan2(y, x) / PI, (-10, 10), (-10, 10)),
    "fdim": (0, lambda x, y: np.where(x > y, x - y, np.longdouble(0)), (-9, 9), (-9, 9)),
    "fmax": (0, np.fmax, (-9, 9), (-9, 9)),
    "fmin": (0, np.fmin, (-9, 9), (-9, 9)),
    "fmod": (0, np.fmod, (-1e9, 1e9), (-3, 3)),
    "hypot": (4, np.hypot, (-1e9, 1e9), (-1e9, 1e9)),
    "pow": (16, np.power, (0, 50), (-20, 20)),
    "powr": (16, np.power, (0, 50), (-20, 20)),
    "copysign": (0, np.copysign, (-9, 9), (-9, 9)),
}


@functools.cache
def _file() -> bl.KernelFile:
    kernels = []
    for name in (*UNARY, "lgamma", "logb"):
        kernels += [
            f"""kernel void {name}_{t}(global const {t} *x, global {t} *out)
        {{ const size_t i = get_global_id(0); out[i] = bl_{name}(x[i]); }}"""
            for t in ("float", "double")
        ]
    for name in (*BINARY, "remainder", "nextafter", "maxmag", "minmag"):
        kernels += [
            f"""kernel void {name}_{t}(global const {t} *x, global const {t} *y, global {t} *out)
        {{ const size_t i = get_global_id(0); out[i] = bl_{name}(x[i], y[i]); }}"""
            for t in ("float", "double")
        ]
    for name in ("ldexp", "pown", "rootn"):
        kernels += [
            f"""kernel void {name}_{t}(global const {t} *x, global const int *y, global {t} *out)
        {{ const size_t i = get_global_id(0); out[i] = bl_{name}(x[i], y[i]); }}"""
            for t in ("float", "double")
        ]
    for name, more in {"frexp": "int", "sincos": "", "modf": "", "fract": "", "lgamma_r": "int"}.items():
        kernels += [
            f"""kernel void {name}_{t}(global const {t} *x, global {t} *out, global {more or t} *second)
        {{ const size_t i = get_global_id(0); {more or t} p; out[i] = bl_{name}(x[i], &p); second[i] = p; }}"""
            for t in ("float", "double")
        ]
    for t in ("float", "double"):
        kernels.append(f"""
kernel void remquo_{t}(global const {t} *x, global const {t} *y, global {t} *out, global int *second)
{{ const size_t i = get_global_id(0); int p; out[i] = bl_remquo(x[i], y[i], &p); second[i] = p; }}""")
    return bl.build("\n".join([scalar_functions(), *kernels]), targets="spirv", options=["-w"])


@pytest.fixture(scope="module")
def run() -> Callable[..., Any]:
    """Return results of a library kernel on the reference device: one array, or one per output."""
    queue = bl.Queue(next(d for d in bl.get_devices() if d.backend is bl.Backend.reference), in_order=True)
    bundle = bl.load_kernel_bundle(_file(), queue)

    def call(name: str, *inputs: npt.NDArray[Any], outputs: tuple[type, ...] = ()) -> Any:
        type_ = inputs[0].dtype
        kernel = bundle.get_kernel(f"{name}_{'float' if type_ == np.float32 else 'double'}")
        given = [bl.as_usm_array(np.ascontiguousarray(values), queue) for values in inputs]
        results = [np.zeros(len(inputs[0]), kind) for kind in (type_, *outputs)]
        arrays = [bl.as_usm_array(result, queue) for result in results]
        queue.parallel_for(len(inputs[0]), kernel, *given, *arrays).wait()
        return results if outputs else results[0]

    return call


def _inputs(type_: type, interval: tuple[float, float], seed: int, count: int = COUNT) -> npt.NDArray[Any]:
    """Return inputs: half of them spread evenly, half by their magnitudes."""
    rng = np.random.default_rng(seed)
    low, high = interval
    even = rng.uniform(low, high, count // 2)
    most = max(abs(low), abs(high))
    small = np.ldexp(rng.uniform(0.5, 1, count - count // 2), rng.integers(-40, math.frexp(most)[1] + 1, count // 2))
    small = np.where(rng.random(len(small)) < 0.5, small, -small)
    if low >= 1:
        small = low + np.abs(small) * 1e-3
    return np.clip(np.concatenate([even, small]), low, high).astype(type_)


def _ulps(result: npt.NDArray[Any], exact: Wide) -> npt.NDArray[Any]:
    """Return distances in units of the last place of the exact value; 0 where both are the same infinity or not a
    number.
    """
    info = np.finfo(result.dtype)
    wide = result.astype(np.longdouble)
    with np.errstate(all="ignore"):
        nearest = exact.astype(result.dtype).astype(np.longdouble)
        _, exponent = np.frexp(np.where(np.isfinite(exact), exact, 1))
        unit = np.ldexp(np.longdouble(1), np.maximum(exponent - 1, info.minexp) - info.nmant)
        same = (np.isnan(wide) & np.isnan(exact)) | (wide == nearest)
        return np.where(same, 0.0, np.abs(wide - exact) / unit)


def _assert_close(result: npt.NDArray[Any], exact: Wide, bound: float, *inputs: npt.NDArray[Any]) -> None:
    error = _ulps(result, exact)
    worst = int(np.argmax(np.where(np.isnan(error), np.inf, error)))
    shown = [values[worst] for values in inputs]
    assert error[worst] <= bound, f"{error[worst]} ulp at {shown}: {result[worst]!r} for {exact[worst]!r}"


TYPES = pytest.mark.parametrize("type_", [np.float32, np.float64])


@TYPES
@pytest.mark.parametrize("name", UNARY)
def test_functions_of_one_number(run: Callable[..., Any], name: str, type_: type) -> None:
    bound, exact, interval = UNARY[name]
    x = _inputs(type_, interval, 1)
    if name == "tgamma":
        x = x[(x > 0) | (np.abs(x - np.rint(x)) > 1e-3)]
    with np.errstate(all="ignore"):
        # The C library's functions of double have an error below one unit in the last place.
        slack = 1 if type_ is np.float64 and name in ("erf", "erfc", "tgamma") else 0
        _assert_close(run(name, x), exact(x.astype(np.longdouble)), bound - slack, x)


@TYPES
@pytest.mark.parametrize("name", ["sin", "cos", "tan"])
def test_angles_of_many_turns(run: Callable[..., Any], name: str, type_: type) -> None:
    rng = np.random.default_rng(2)
    top = 127 if type_ is np.float32 else 1023
    x = np.ldexp(rng.uniform(0.5, 1, COUNT), rng.integers(10, top, COUNT)).astype(type_)
    # numpy's longdouble has 64 bits: enough for the C library's argument reduction, which uses all bits of pi.
    _assert_close(run(name, x), UNARY[name][1](x.astype(np.longdouble)), 5 if name == "tan" else 4, x)


@TYPES
@pytest.mark.parametrize("name", BINARY)
def test_functions_of_two_numbers(run: Callable[..., Any], name: str, type_: type) -> None:
    bound, exact, first, second = BINARY[name]
    x, y = _inputs(type_, first, 3), _inputs(type_, second, 4)[::-1].copy()
    with np.errstate(all="ignore"):
        _assert_close(run(name, x, y), exact(x.astype(np.longdouble), y.astype(np.longdouble)), bound, x, y)


@TYPES
def test_powers_by_integers(run: Callable[..., Any], type_: type) -> None:
    x = _inputs(type_, (-3, 3), 5)
    n = np.random.default_rng(6).integers(-40, 40, len(x)).astype(np.int32)
    wide = x.astype(np.longdouble)
    with np.errstate(all="ignore"):
        _assert_close(run("pown", x, n), np.power(wide, n.astype(np.longdouble)), 16, x, n)
        n[n == 0] = 3
        root = np.copysign(np.power(np.abs(wide), 1 / n.astype(np.longdouble)), wide)
        root[(x < 0) & (n % 2 == 0)] = np.nan
        _assert_close(run("rootn", x, n), root, 16, x, n)


@TYPES
def test_parts_of_numbers(run: Callable[..., Any], type_: type) -> None:
    x = np.concatenate([_inputs(type_, (-1e6, 1e6), 7), np.array([0, -0.0, np.inf, -np.inf], type_)])
    tiny = np.finfo(type_).smallest_subnormal
    x = np.concatenate([x, (np.arange(1, 9) * tiny).astype(type_)])
    fraction, exponent = run("frexp", x, outputs=(np.int32,))
    finite = np.isfinite(x)
    np.testing.assert_array_equal(fraction, np.frexp(x)[0])
    np.testing.assert_array_equal(exponent[finite], np.frexp(x)[1][finite])
    n = np.random.default_rng(8).integers(-1200, 1200, len(x)).astype(np.int32)
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(run("ldexp", x, n), np.ldexp(x, n))
        after, part = run("modf", x, outputs=(type_,))
        np.testing.assert_array_equal(part, np.trunc(x))
        np.testing.assert_array_equal(after, np.modf(x)[0])
        after, part = run("fract", x, outputs=(type_,))
        np.testing.assert_array_equal(part, np.floor(x))
        assert np.all((after < 1) & (after >= 0))
        other = x[::-1].copy()
        np.testing.assert_array_equal(run("nextafter", x, other), np.nextafter(x, other))
        np.testing.assert_array_equal(run("logb", x[finite & (x != 0)]), np.frexp(x[finite & (x != 0)])[1] - 1)


@TYPES
def test_remainders(run: Callable[..., Any], type_: type) -> None:
    x, y = _inputs(type_, (-1e9, 1e9), 9), _inputs(type_, (-3, 3), 10)[::-1].copy()
    rest, quotient = run("remquo", x, y, outputs=(np.int32,))
    exact = np.array([math.remainder(float(a), float(b)) for a, b in zip(x, y)], type_)
    np.testing.assert_array_equal(rest, exact)
    np.testing.assert_array_equal(run("remainder", x, y), exact)
    whole = [round((Fraction(float(a)) - Fraction(float(r))) / Fraction(float(b))) for a, r, b in zip(x, rest, y)]
    signs = [-1 if (a < 0) != (b < 0) else 1 for a, b in zip(x, y)]
    np.testing.assert_array_equal(quotient, [sign * (abs(q) & 127) for sign, q in zip(signs, whole)])


@TYPES
def test_sines_with_cosines_and_logarithms_of_gamma(run: Callable[..., Any], type_: type) -> None:
    x = _inputs(type_, (-30, 30), 11)
    wide = x.astype(np.longdouble)
    sine, cosine = run("sincos", x, outputs=(type_,))
    _assert_close(sine, np.sin(wide), 4, x)
    _assert_close(cosine, np.cos(wide), 4, x)
    x = x[np.abs(x - np.rint(x)) > 1e-3]
    value, sign = run("lgamma_r", x, outputs=(np.int32,))
    exact = np.array([math.lgamma(float(a)) for a in x])
    np.testing.assert_allclose(value, exact, rtol=8 * np.finfo(type_).eps, atol=8 * np.finfo(type_).eps)
    np.testing.assert_array_equal(value, run("lgamma", x))
    np.testing.assert_array_equal(sign, [1 if a > 0 or math.floor(a) % 2 == 0 else -1 for a in x])


SPECIAL = {
    "acos": {2.0: math.nan, 1.0: 0.0},
    "asin": {2.0: math.nan},
    "atan": {math.inf: math.pi / 2, -math.inf: -math.pi / 2},
    "cbrt": {math.inf: math.inf, -8.0: -2.0},
    "cos": {math.inf: math.nan, 0.0: 1.0},
    "cosh": {-math.inf: math.inf},
    "cospi": {0.5: 0.0, math.inf: math.nan, 1e30: 1.0},
    "erf": {math.inf: 1.0, -math.inf: -1.0},
    "erfc": {math.inf: 0.0, -math.inf: 2.0},
    "exp": {math.inf: math.inf, -math.inf: 0.0, 1e4: math.inf, -1e4: 0.0},
    "exp2": {math.inf: math.inf, -math.inf: 0.0, 10.0: 1024.0},
    "expm1": {-math.inf: -1.0, math.inf: math.inf},
    "log": {0.0: -math.inf, -1.0: math.nan, math.inf: math.inf, 1.0: 0.0},
    "log1p": {-1.0: -math.inf, -2.0: math.nan},
    "rsqrt": {0.0: math.inf, math.inf: 0.0},
    "sinpi": {1.0: 0.0, 0.5: 1.0, math.inf: math.nan},
    "tanh": {math.inf: 1.0, -math.inf: -1.0},
    "tgamma": {0.0: math.inf, -1.0: math.nan, 5.0: 24.0, math.inf: math.inf, -math.inf: math.nan, 200.0: math.inf},
    "log2": {8.0: 3.0, 0.0: -math.inf},
    "log10": {0.0: -math.inf},
    "round": {0.5: 1.0, -0.5: -1.0, 2.5: 3.0},
    "acosh": {1.0: 0.0, 0.5: math.nan, math.inf: math.inf},
    "atanh": {1.0: math.inf, -1.0: -math.inf, 2.0: math.nan},
}


@TYPES
@pytest.mark.parametrize("name", SPECIAL)
def test_ends_and_what_has_no_value(run: Callable[..., Any], name: str, type_: type) -> None:
    x = np.array([*SPECIAL[name], math.nan], type_)
    np.testing.assert_allclose(run(name, x), [*SPECIAL[name].values(), math.nan], rtol=2 * np.finfo(type_).eps)


@TYPES
def test_powers_of_zero_one_and_infinity(run: Callable[..., Any], type_: type) -> None:
    listed = np.array([0, -0.0, 1, -1, 2, -2, 0.5, -0.5, 3, -3, np.inf, -np.inf, np.nan, 2.5], type_)
    x, y = (part.ravel() for part in np.meshgrid(listed, listed))
    with np.errstate(all="ignore"):
        exact = np.power(x.astype(np.longdouble), y.astype(np.longdouble))
        _assert_close(run("pow", x, y), exact, 16, x, y)
        _assert_close(run("atan2", x, y), np.arctan2(x.astype(np.longdouble), y.astype(np.longdouble)), 6, x, y)
        _assert_close(run("hypot", x, y), np.hypot(x.astype(np.longdouble), y.astype(np.longdouble)), 4, x, y)
        _assert_close(run("fmod", x, y), np.fmod(x.astype(np.longdouble), y.astype(np.longdouble)), 0, x, y)
