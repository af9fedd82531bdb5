"""Single instructions on arrays, compared with Python's numbers and numpy."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from tests.ptx.conftest import Load

Array = npt.NDArray[Any]
GENERATOR = np.random.default_rng(37)

KERNEL = """.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 a, .param .u64 b, .param .u64 c, .param .u64 out)
{
.reg .b16 %h<9>; .reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .f32 %f<9>; .reg .f64 %fd<9>; .reg .pred %p<9>;
ld.param.u64 %rd1, [a]; ld.param.u64 %rd2, [b]; ld.param.u64 %rd3, [c]; ld.param.u64 %rd4, [out];
mov.u32 %r4, %tid.x; mov.u32 %r5, %ctaid.x; mov.u32 %r6, %ntid.x; mad.lo.u32 %r7, %r5, %r6, %r4;
mul.wide.u32 %rd5, %r7, 4;
add.u64 %rd1, %rd1, %rd5; add.u64 %rd2, %rd2, %rd5; add.u64 %rd3, %rd3, %rd5; add.u64 %rd4, %rd4, %rd5;
ld.global.u32 %r1, [%rd1]; ld.global.u32 %r2, [%rd2]; ld.global.u32 %r3, [%rd3];
INSTRUCTIONS
st.global.u32 [%rd4], %r0;
ret;
}
"""


def execute(load: Load, instructions: str, *inputs: Array) -> Array:
    """``%r0`` of what instructions make of ``%r1``, ``%r2``, ``%r3``, bits of three arrays."""
    words = [np.ascontiguousarray(array).view(np.uint32) for array in inputs]
    words += [np.zeros_like(words[0])] * (3 - len(words))
    module = load(KERNEL.replace("INSTRUCTIONS", instructions))
    return module.launch("k", len(words[0]) // 64, 64, *words, np.zeros_like(words[0]))[3]


def _place_of_bit(mask: int, base: int, offset: int) -> int:
    if base > 31:
        return 2**32 - 1
    if offset == 0:
        return base if mask >> base & 1 else 2**32 - 1
    places = range(base, 32) if offset > 0 else range(base, -1, -1)
    bits = [place for place in places if mask >> place & 1]
    return bits[abs(offset) - 1] if abs(offset) <= len(bits) else 2**32 - 1


def _signed(value: int, bits: int = 32) -> int:
    value &= 2**bits - 1
    return value - 2**bits if value >> bits - 1 else value


def _positive_pairs(x: int, y: int) -> int:
    return sum(max(0, min(_signed(x >> k, 16), _signed(y >> k, 16))) << k for k in (0, 16))


WORDS: dict[str, Callable[[int, int, int], int]] = {
    "fns.b32 %r0, %r1, %r2, %r3;": lambda x, y, z: _place_of_bit(x, y, _signed(z)),
    "max.s32.relu %r0, %r1, %r2;": lambda x, y, z: max(_signed(x), _signed(y), 0),
    "min.s16x2.relu %r0, %r1, %r2;": lambda x, y, z: _positive_pairs(x, y),
}


@pytest.mark.parametrize("text", WORDS)
def test_instructions_of_words(load: Load, text: str) -> None:
    x, y, z = GENERATOR.integers(0, 2**32, (3, 512), np.uint32)
    if text.startswith("fns"):
        y, z = y % 33, (z % 13 - 6).astype(np.int32).view(np.uint32)
    expected = [WORDS[text](int(a), int(b), int(c)) for a, b, c in zip(x, y, z, strict=True)]
    np.testing.assert_array_equal(execute(load, text, x, y, z), np.array(expected, np.uint32))


def _bfloats() -> Array:
    """All bfloats but NaNs and the largest, as singles."""
    values = np.arange(2**16, dtype=np.uint32) << 16
    singles = values.view(np.float32)
    return singles[np.abs(singles) < 2.0**127]


@pytest.mark.parametrize("mode", ["rm", "rp"])
def test_bfloats_in_a_direction(load: Load, mode: str) -> None:
    """The last bfloat that is not above, or the first that is not below."""
    table = np.unique(_bfloats().astype(np.float64))
    values = (GENERATOR.normal(size=1024) * 2.0 ** GENERATOR.integers(-120, 120, 1024)).astype(np.float32)
    values[:64] = table[GENERATOR.integers(0, table.size, 64)]
    bits = execute(load, f"mov.b32 %f1, %r1; cvt.{mode}.bf16.f32 %h1, %f1; cvt.u32.u16 %r0, %h1;", values)
    if mode == "rm":
        expected = table[np.searchsorted(table, values.astype(np.float64), "right") - 1]
    else:
        expected = table[np.searchsorted(table, values.astype(np.float64), "left")]
    np.testing.assert_array_equal((bits << 16).view(np.float32), expected)


@pytest.mark.parametrize(
    ("mode", "function"), [("rni", np.rint), ("rzi", np.trunc), ("rmi", np.floor), ("rpi", np.ceil)]
)
def test_whole_bfloats(load: Load, mode: str, function: Callable[[Array], Array]) -> None:
    values = np.resize(_bfloats(), 65536)
    text = f"cvt.u16.u32 %h1, %r1; cvt.{mode}.bf16.bf16 %h2, %h1; cvt.u32.u16 %r0, %h2;"
    bits = execute(load, text, values.view(np.uint32) >> 16)
    np.testing.assert_array_equal((bits << 16).view(np.float32), function(values))


OCTETS = ["e4m3x2", "e5m2x2"]


def _octets(kind: str) -> Array:
    """The finite numbers of 8 bits that are not negative, by their bits."""
    fraction, bias = (3, 7) if kind == "e4m3x2" else (2, 15)
    code = np.arange(0x7F if kind == "e4m3x2" else 0x7C)
    exponent = np.maximum(code >> fraction, 1)
    whole = (code & 2**fraction - 1) + ((code >> fraction > 0) << fraction)
    return whole * 2.0 ** (exponent - bias - fraction)


def _nearest_octets(kind: str, values: Array, relu: bool) -> Array:
    """Bits of the nearest numbers, of two the even one; NaN is 0x7f."""
    table, sizes = _octets(kind), np.abs(values.astype(np.float64))
    middles = (table[1:] + table[:-1]) / 2
    code = np.searchsorted(middles, sizes, "left")
    ties = (code < middles.size) & (middles[np.minimum(code, middles.size - 1)] == sizes)
    code += ties & (code % 2 == 1)
    code = np.where(np.signbit(values), 0 if relu else code | 0x80, code)
    return np.where(np.isnan(values), 0x7F, code).astype(np.uint32)


def _values_near_octets(kind: str) -> Array:
    table = _octets(kind)
    middles = ((table[1:] + table[:-1]) / 2).astype(np.float32)
    near = [middles, np.nextafter(middles, np.float32(0)), np.nextafter(middles, np.float32(np.inf)), table]
    special = np.float32([np.inf, np.nan, 1e30, 449, 464, 465, 61439, 61440, 1e-40])
    values = np.concatenate([*near, special]).astype(np.float32)
    more = (GENERATOR.normal(size=512) * 2.0 ** GENERATOR.integers(-24, 17, 512)).astype(np.float32)
    return np.resize(np.concatenate([values, -values, more]), 2048)


@pytest.mark.parametrize("relu", ["", ".relu"])
@pytest.mark.parametrize("kind", OCTETS)
def test_numbers_of_8_bits_from_singles(load: Load, kind: str, relu: str) -> None:
    x = _values_near_octets(kind)
    y = GENERATOR.permutation(x)
    text = f"mov.b32 %f1, %r1; mov.b32 %f2, %r2; cvt.rn.satfinite{relu}.{kind}.f32 %h1, %f1, %f2; cvt.u32.u16 %r0, %h1;"
    expected = _nearest_octets(kind, x, bool(relu)) << 8 | _nearest_octets(kind, y, bool(relu))
    np.testing.assert_array_equal(execute(load, text, x, y), expected)


@pytest.mark.parametrize("relu", ["", ".relu"])
@pytest.mark.parametrize("kind", OCTETS)
def test_numbers_of_8_bits_from_all_halves(load: Load, kind: str, relu: str) -> None:
    low = np.arange(2**16, dtype=np.uint16)
    high = GENERATOR.permutation(low)
    text = f"cvt.rn.satfinite{relu}.{kind}.f16x2 %h1, %r1; cvt.u32.u16 %r0, %h1;"
    bits = execute(load, text, high.astype(np.uint32) << 16 | low)
    one, two = (_nearest_octets(kind, half.view(np.float16), bool(relu)) for half in (low, high))
    np.testing.assert_array_equal(bits, two << 8 | one)


@pytest.mark.parametrize("relu", ["", ".relu"])
@pytest.mark.parametrize("kind", OCTETS)
def test_halves_of_all_numbers_of_8_bits(load: Load, kind: str, relu: str) -> None:
    pairs = np.arange(2**16, dtype=np.uint32)
    bits = execute(load, f"cvt.u16.u32 %h1, %r1; cvt.rn{relu}.f16x2.{kind} %r0, %h1;", pairs)
    table = _octets(kind)
    every = np.full(128, np.nan)
    every[: table.size] = table
    if kind == "e5m2x2":
        every[0x7C] = np.inf
    halves = np.concatenate([every, np.where(np.isnan(every), np.nan, 0) if relu else -every])
    expected = halves.astype(np.float16).view(np.uint16)
    expected[np.isnan(halves)] = 0x7FFF
    np.testing.assert_array_equal(bits & 0xFFFF, expected[pairs & 255])
    np.testing.assert_array_equal(bits >> 16, expected[pairs >> 8])


ORDERS = (
    "global.cta.add.u32",
    "add.relaxed.gpu.u32",
    "add.global.u32",
    "relaxed.sys.global.add.u32",
    "acq_rel.global.gpu.add.u32",
)


@pytest.mark.parametrize("form", ORDERS)
def test_modifiers_of_atomics_have_any_order(load: Load, form: str) -> None:
    a = GENERATOR.integers(0, 2**32, 128, np.uint32)
    sums = execute(load, f"atom.{form} %r3, [%rd2], %r1; ld.global.u32 %r0, [%rd2];", a, a)
    np.testing.assert_array_equal(sums, a + a)


# ---------------------------------------------------------------- approximations

RECORDS = np.load(Path(__file__).parents[1] / "data" / "golden_ptx_approximations.npz")
QUOTIENTS = np.load(Path(__file__).parents[1] / "data" / "golden_ptx_quotients.npz")
HALVES = np.arange(5, 2**16, 16, np.uint32)
ENTER, LEAVE = "mov.b32 %f1, %r1;", "mov.b32 %r0, %f0;"


@pytest.mark.parametrize("name", [name for name in RECORDS.files if name.split("_")[0] not in ("inputs", "tanh")])
def test_approximations_have_the_bits_of_an_h200(load: Load, name: str) -> None:
    """Recorded there: any bit patterns, and numbers of usual size."""
    function, _, kind = name.partition("_")
    if "f16" in kind:
        form = f"{function}.approx.ftz.bf16" if kind == "bf16" else f"{function}.approx.f16"
        inputs, text = HALVES, f"cvt.u16.u32 %h1, %r1; {form} %h2, %h1; cvt.u32.u16 %r0, %h2;"
    else:
        form = f"{function}.approx.{kind}.f32".replace("..", ".")
        inputs, text = RECORDS["inputs"], f"{ENTER} {form} %f0, %f1; {LEAVE}"
    records = RECORDS[name]
    np.testing.assert_array_equal(execute(load, text, inputs[: len(records)]), records)


@pytest.mark.parametrize("form", QUOTIENTS)
def test_quotients_have_the_bits_of_an_h200(load: Load, form: str) -> None:
    """Columns: dividend, divisor, quotient; a few of usual size, the others of any bits."""
    dividends, divisors, records = QUOTIENTS[form].T
    text = f"{ENTER} mov.b32 %f2, %r2; {form} %f0, %f1, %f2; {LEAVE}"
    np.testing.assert_array_equal(execute(load, text, dividends, divisors), records)


def test_tanh_is_near_an_h200(load: Load) -> None:
    """The nearest result: the hardware computes some 20 bits of it."""
    values = execute(load, f"{ENTER} tanh.approx.f32 %f0, %f1; {LEAVE}", RECORDS["inputs"]).view(np.float32)
    np.testing.assert_allclose(values, RECORDS["tanh"].view(np.float32), rtol=2.0**-16)
