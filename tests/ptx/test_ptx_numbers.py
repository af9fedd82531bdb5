"""Arithmetic of integers and floats, compared with Python's numbers and numpy."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from tests.ptx.conftest import Load

Array = npt.NDArray[Any]
COUNT = 1024
WORD = 2**32 - 1
GENERATOR = np.random.default_rng(1)
WORDS = GENERATOR.integers(0, 2**32, (2, COUNT), np.uint32)
LONGS = GENERATOR.integers(0, 2**64, (2, COUNT), np.uint64)
WORDS[:, :4] = [0, 1, 2**31, WORD]
LONGS[:, :4] = [0, 1, 2**63, 2**64 - 1]
SMALL = GENERATOR.integers(0, 64, COUNT, np.uint32)


def _signed(value: int, bits: int = 32) -> int:
    value &= 2**bits - 1
    return value - 2**bits if value >> bits - 1 else value


def _lanes(value: int, bits: int, signed: bool) -> list[int]:
    pieces = [value >> bits * k & 2**bits - 1 for k in range(32 // bits)]
    return [_signed(piece, bits) for piece in pieces] if signed else pieces


def _joined(pieces: list[int], bits: int) -> int:
    return sum((piece & 2**bits - 1) << bits * k for k, piece in enumerate(pieces))


def _pairs(function: Callable[[int, int], int], x: int, y: int, bits: int, signed: bool) -> int:
    return _joined([function(a, b) for a, b in zip(_lanes(x, bits, signed), _lanes(y, bits, signed))], bits)


def _quotient(x: int, y: int) -> int:
    return abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1)


def _permuted(x: int, y: int, control: int) -> int:
    both = y << 32 | x
    return _joined([both >> 8 * (control >> 4 * k & 7) & 255 for k in range(4)], 8)


WORD_ROWS: list[Callable[[int, int, int], int]] = [
    lambda x, y, z: x.bit_count(),
    lambda x, y, z: 32 - x.bit_length(),
    lambda x, y, z: int(f"{x:032b}"[::-1], 2),
    lambda x, y, z: (x & -x).bit_length(),
    lambda x, y, z: x * y >> 32,
    lambda x, y, z: x << (z & 31) | y >> (z & 31),
    lambda x, y, z: ((y << 32 | x) << (z & 31) >> 32 & WORD) ^ ((y << 32 | x) >> min(z, 32) & WORD),
    lambda x, y, z: _permuted(x, y, z * 0x1357),
    lambda x, y, z: abs(x - y) + z,
    lambda x, y, z: sum(map(operator.mul, _lanes(x, 8, False), _lanes(y, 8, False))) + z,
    lambda x, y, z: sum(map(operator.mul, _lanes(x, 8, True), _lanes(y, 8, True))) + z,
    lambda x, y, z: _quotient(_signed(x), _signed(y | 1)),
    lambda x, y, z: _signed(x) - _quotient(_signed(x), _signed(y | 1)) * _signed(y | 1),
    lambda x, y, z: _pairs(max, x, y, 16, True),
    lambda x, y, z: _pairs(lambda a, b: max(-(2**15), min(a + b, 2**15 - 1)), x, y, 16, True),
    lambda x, y, z: _pairs(lambda a, b: abs(a - b), x, y, 8, False),
    lambda x, y, z: _signed(x << (z & 15)) >> 20,
    lambda x, y, z: _signed(x, 24) * _signed(y, 24),
    lambda x, y, z: (_signed(x) + _signed(y)) >> 1,
    lambda x, y, z: _signed(x, 8) + (y & 0xFFFF) * _signed(z, 16),
]
LONG_ROWS: list[Callable[[int, int, int], int]] = [
    lambda x, y, z: x * y >> 64,
    lambda x, y, z: _signed(x, 64) * _signed(y, 64) >> 64,
    lambda x, y, z: x // (y | 1),
    lambda x, y, z: x % (y | 1),
    lambda x, y, z: (x * y + z) >> 64,
    lambda x, y, z: x.bit_count() + (64 - y.bit_length()) * 100,
]


@pytest.mark.parametrize(("kernel", "inputs", "rows"), [("words", WORDS, WORD_ROWS), ("longs", LONGS, LONG_ROWS)])
def test_integers(load: Load, kernel: str, inputs: Array, rows: list[Callable[[int, int, int], int]]) -> None:
    out = np.zeros((len(rows), COUNT), inputs.dtype)
    found = load("integers").launch(kernel, COUNT // 128, 128, *inputs, SMALL, out, np.int32(COUNT))[3]
    mask = 2 ** (8 * inputs.itemsize) - 1
    for row, function in enumerate(rows):
        wanted = [function(int(x), int(y), int(z)) & mask for x, y, z in zip(*inputs, SMALL)]
        np.testing.assert_array_equal(found[row], np.array(wanted, inputs.dtype), err_msg=f"row {row}")


# ---------------------------------------------------------------- floats


def _is_rounded(found: Any, x: Fraction, compare: Callable[[Fraction], int], mode: str, dtype: type) -> bool:
    """Whether a float is the neighbour in a direction; compare: the sign of a number minus the exact result."""
    value = Fraction(float(found))
    if mode == "rz":
        mode = "rd" if compare(Fraction(0)) <= 0 else "ru"
    toward = np.nextafter(found, dtype(math.inf if mode == "rd" else -math.inf))
    if mode == "rd":
        return compare(value) <= 0 < compare(Fraction(float(toward)))
    return compare(value) >= 0 > compare(Fraction(float(toward)))


def _compare(name: str, x: Fraction, y: Fraction) -> Callable[[Fraction], int]:
    exact = {"add": x + y, "mul": x * y, "div": x / y, "fma": x * y + x}.get(name)
    if exact is not None:
        return lambda value: (value > exact) - (value < exact)
    return lambda value: -1 if value < 0 else (value * value > abs(x)) - (value * value < abs(x))  # a root


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_directed_rounding(load: Load, dtype: type) -> None:
    """Checked with fractions."""
    count = 256
    x, y = (GENERATOR.standard_normal((2, count)) * np.exp2(GENERATOR.integers(-30, 30, (2, count)))).astype(dtype)
    kernel = "directed_float" if dtype is np.float32 else "directed_double"
    out = np.zeros((15, count), dtype)
    found = load("floats").launch(kernel, 2, 128, x, y, np.zeros(count, np.uint32), out, np.int32(count))[3]
    cases = [(name, mode) for mode in ("rz", "ru", "rd") for name in ("add", "mul", "div", "fma", "sqrt")]
    for row, (name, mode) in enumerate(cases):
        for value, a, b in zip(found[row], x, y):
            exact = _compare(name, Fraction(float(a)), Fraction(float(b)))
            assert _is_rounded(value, Fraction(float(a)), exact, mode, dtype), (name, mode, a, b, value)


def test_single_floats(load: Load) -> None:
    bits = GENERATOR.integers(0, 2**32, (2, COUNT), np.uint32)
    bits[:, :8] = [0, 1 << 31, 0x7F800000, 0xFF800000, 0x7FC00000, 1, 0x3F800000, 0xC0200000]
    x, y = bits.view(np.float32)
    y = GENERATOR.permutation(y)
    out = np.zeros((14, COUNT), np.float32)
    found = load("floats").launch("singles", 8, 128, x, y, np.zeros(COUNT, np.uint32), out, np.int32(COUNT))[3]
    with np.errstate(all="ignore"):
        whole = np.clip(np.nan_to_num(np.trunc(x.astype(np.float64)), nan=0), -(2.0**31), 2.0**31 - 1)
        near = np.clip(np.nan_to_num(np.rint(y.astype(np.float64)), nan=0), -(2.0**31), 2.0**31 - 1)
        positive = np.clip(np.nan_to_num(np.trunc(y.astype(np.float64)), nan=0), 0, 2.0**32 - 1)
        rows = [x + y, x * y, x / y, np.sqrt(x), np.fmin(x, y), np.fmax(x, y), whole, near, np.rint(x), np.floor(x)]
        rows += [np.ceil(y), np.copysign(x, y), np.clip(np.nan_to_num(x, nan=0), 0, 1), positive]
        for row, wanted in enumerate(rows):
            np.testing.assert_array_equal(found[row], wanted.astype(np.float32), err_msg=f"row {row}")


def test_halves_and_bfloats(load: Load) -> None:
    module = load("floats")
    a, b = GENERATOR.standard_normal((2, 2 * COUNT)).astype(np.float16)
    wanted = a * b + (a.astype(np.float64) * b + a).astype(np.float16)
    found = module.launch("halves", COUNT // 128, 128, a, b, np.zeros_like(a), np.int32(COUNT))[2]
    np.testing.assert_array_equal(found, wanted)
    x, y = GENERATOR.standard_normal((2, COUNT)).astype(np.float32)

    def bfloat(values: Array) -> Array:
        bits = values.view(np.uint32).astype(np.uint64)
        return ((bits + 0x7FFF + (bits >> 16 & 1)) >> 16 << 16).astype(np.uint32).view(np.float32)

    found = module.launch("bfloats", COUNT // 128, 128, x, y, np.zeros_like(x), np.int32(COUNT))[2]
    np.testing.assert_array_equal(found, bfloat(bfloat(x) * bfloat(y)) + (bfloat(x) < bfloat(y)))
