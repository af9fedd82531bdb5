"""``Lut3D`` against float64, on the queue's device: types, channels, layouts, arrays on the device and on the host."""

from __future__ import annotations

from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import bindless as bl

Array = npt.NDArray[Any]
INTERPOLATIONS = "trilinear", "tetrahedral"
# Of values from 0 to 1 in tables of up to 33 entries an axis: a position has 2^-23 of 32.
CLOSE = 33 * 2.0**-22


def places(values: Array, size: int, low: Array, high: Array) -> tuple[Array, Array]:
    """Index of the lower entry, and the share of the upper one."""
    at = np.clip((np.nan_to_num(values, nan=-np.inf) - low) / (high - low), 0, 1) * (size - 1)
    index = np.minimum(at.astype(np.int64), size - 2)
    return index, at - index


def oracle(table: Array, colours: Array, interpolation: str, low: Any = 0.0, high: Any = 1.0) -> Array:
    """The mapped colours (..., 3) in float64; of a tetrahedron by sums over all six."""
    index, share = places(colours.astype(np.float64), len(table), np.asarray(low), np.asarray(high))
    table = table.astype(np.float64)

    def corner(*step: int) -> Array:
        r, g, b = (index[..., axis] + step[axis] for axis in range(3))
        return table[b, g, r]

    result = np.zeros(colours.shape)
    if interpolation == "trilinear":
        for step in np.ndindex(2, 2, 2):
            weight = np.prod([share[..., axis] if step[axis] else 1 - share[..., axis] for axis in range(3)], 0)
            result += weight[..., None] * corner(*step)
        return result
    done = np.zeros(colours.shape[:-1], bool)
    for first, second, third in permutations(range(3)):
        here = (share[..., first] >= share[..., second]) & (share[..., second] >= share[..., third]) & ~done
        done |= here
        at, path = [0, 0, 0], [corner(0, 0, 0)]
        for axis in (first, second, third):
            at[axis] = 1
            path.append(corner(*at))
        value = path[0] + sum(
            share[..., axis, None] * (path[n + 1] - path[n]) for n, axis in enumerate((first, second, third))
        )
        result[here] = value[here]
    return result


@pytest.fixture
def random() -> np.random.Generator:
    return np.random.default_rng(11)


@pytest.mark.parametrize("interpolation", INTERPOLATIONS)
@pytest.mark.parametrize("size", [2, 3, 17, 33])
def test_floats(queue: bl.Queue, random: np.random.Generator, size: int, interpolation: str) -> None:
    table = random.random((size, size, size, 3), np.float32)
    colours = random.random((37, 41, 3), np.float32) * 1.4 - np.float32(0.2)
    colours[0, :4] = [[0, 0, 0], [1, 1, 1], [np.nan, 0.5, 2], [-np.inf, np.inf, 0.25]]
    values = bl.Lut3D(table)(colours, interpolation, queue=queue)
    assert values.dtype == np.float32
    assert np.abs(values - oracle(table, colours, interpolation)).max() < CLOSE


@pytest.mark.parametrize("interpolation", INTERPOLATIONS)
def test_entries_are_themselves(queue: bl.Queue, random: np.random.Generator, interpolation: str) -> None:
    """A picture of all entries' positions is the table; greys stay grey in a table that keeps them."""
    table = random.random((9, 9, 9, 3), np.float32)
    ends = np.linspace(0, 1, 9, dtype=np.float32)
    b, g, r = np.meshgrid(ends, ends, ends, indexing="ij")
    assert np.array_equal(bl.Lut3D(table)(np.stack([r, g, b], -1), interpolation, queue=queue), table)
    diagonal = np.arange(9)
    table[diagonal, diagonal, diagonal] = (ends**2)[:, None]
    greys = np.repeat(random.random((50, 1), np.float32), 3, 1)
    values = bl.Lut3D(table)(greys, "tetrahedral", queue=queue)
    assert np.array_equal(values[:, 0], values[:, 1]) and np.array_equal(values[:, 0], values[:, 2])


@pytest.mark.parametrize("channels", [3, 4])
@pytest.mark.parametrize("interpolation", INTERPOLATIONS)
@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.float16])
def test_types(queue: bl.Queue, random: np.random.Generator, dtype: type, interpolation: str, channels: int) -> None:
    """Integers are rounded once; a fourth channel stays; the result may have another type."""
    table = random.random((5, 5, 5, 3), np.float32)
    largest = np.iinfo(dtype).max if np.dtype(dtype).kind == "u" else 1
    picture = (random.random((40, 30, channels)) * largest).astype(dtype)
    lut = bl.Lut3D(table)
    values = lut(picture, interpolation, queue=queue)
    exact = oracle(table, picture[..., :3] / largest, interpolation) * largest
    assert values.dtype == dtype and values.shape == picture.shape
    assert np.abs(values[..., :3] - exact).max() <= (0.5 + 0.01 * largest / 255 if largest > 1 else 2.0**-11)
    assert np.array_equal(values[..., 3:], picture[..., 3:])
    floats = lut(picture, interpolation, out=np.float32, queue=queue)
    assert np.abs(floats[..., :3] - exact / largest).max() < CLOSE
    assert np.allclose(floats[..., 3:], picture[..., 3:] / largest, rtol=0, atol=1e-7)


def test_codes_of_all_bytes(queue: bl.Queue) -> None:
    """The table of the identity changes no code of uint8 and uint16."""
    b, g, r = np.meshgrid(*[np.array([0.0, 1.0])] * 3, indexing="ij")
    same = bl.Lut3D(np.stack([r, g, b], -1))
    for dtype, count in ((np.uint8, 1 << 8), (np.uint16, 1 << 16)):
        codes = np.arange(count, dtype=dtype)
        picture = np.stack([codes, codes[::-1], np.roll(codes, 7)], -1)
        for interpolation in INTERPOLATIONS:
            assert np.array_equal(same(picture, interpolation, queue=queue), picture)


@pytest.mark.parametrize("interpolation", INTERPOLATIONS)
def test_domains_and_shaper(queue: bl.Queue, random: np.random.Generator, interpolation: str) -> None:
    table, shaper = random.random((4, 4, 4, 3), np.float32), np.sort(random.random((20, 3), np.float32), 0)
    low, high = np.array([-1.0, 0.0, 0.5]), np.array([1.0, 4.0, 1.5])
    colours = (random.random((300, 3)) * 6 - 2).astype(np.float32)
    lut = bl.Lut3D(table, domain=(low, high))
    exact = oracle(table, colours, interpolation, low, high)
    assert np.abs(lut(colours, interpolation, queue=queue) - exact).max() < 2e-6
    index, share = places(colours.astype(np.float64), len(shaper), low, high)
    channel = np.arange(3)
    shaped = (1 - share) * shaper[index, channel] + share * shaper[index + 1, channel]
    alone = bl.Lut3D(None, shaper=shaper, shaper_domain=(low, high))
    assert np.abs(alone(colours, queue=queue) - shaped).max() < CLOSE
    both = bl.Lut3D(table, shaper=shaper, shaper_domain=(low, high))
    assert np.abs(both(colours, interpolation, queue=queue) - oracle(table, shaped, interpolation)).max() < CLOSE


def test_arrays_on_the_device(queue: bl.Queue, random: np.random.Generator) -> None:
    """Strides, results in the caller's memory, and results on the device; on a device nothing goes to the host."""
    table = random.random((6, 6, 6, 3), np.float32)
    lut = bl.Lut3D(table)
    picture = random.random((24, 31, 4), np.float32)
    exact = lut(picture, queue=queue)
    there: bl.UsmArray = bl.usm_empty(picture.shape, picture.dtype, queue)
    there.copy_from(picture)
    result = lut(there)
    assert isinstance(result, bl.UsmArray) and np.array_equal(result.numpy(), exact)
    part = lut(there[::2, 3:, :3])
    assert np.array_equal(part.numpy(), exact[::2, 3:, :3])
    out: bl.UsmArray = bl.usm_empty(picture.shape, picture.dtype, queue)
    assert lut(there, out=out) is out and np.array_equal(out.numpy(), exact)
    host = np.zeros((48, 31, 4), np.float32)
    window = host[::2]
    assert lut(picture, out=window, queue=queue) is window
    assert np.array_equal(window, exact) and not host[1::2].any()
    assert np.array_equal(lut(picture[::-1, :, :3], queue=queue), exact[::-1, :, :3])


def test_calls_that_come_again(queue: bl.Queue, random: np.random.Generator) -> None:
    """Other pictures of the same layouts, other layouts, the result in the picture, and arrays that overlap."""
    table = random.random((6, 6, 6, 3), np.float32)
    lut = bl.Lut3D(table)
    with bl.Queue(queue.device, in_order=True) as own:
        for run in (None, own):
            here = own if run is None else run
            for shape in ((20, 30, 3), (20, 30, 4), (40, 10, 3), (20, 30, 3)):
                pictures = random.random((3, *shape), np.float32)
                exact = [lut(one, queue=here) for one in pictures]
                there: bl.UsmArray = bl.usm_empty(pictures.shape, pictures.dtype, here)
                there.copy_from(pictures)
                out: bl.UsmArray = bl.usm_empty(shape, np.float32, here)
                for one, wanted in zip(there, exact, strict=True):
                    assert np.array_equal(lut(one, queue=run).numpy(), wanted)
                    assert np.array_equal(lut(one, queue=run, out=out).numpy(), wanted)
                    assert lut(one, "trilinear", queue=run).numpy().tolist() != wanted.tolist()
                assert np.array_equal(lut(there[0], out=there[0], queue=run).numpy(), exact[0])
                with pytest.raises(bl.ArgumentError):
                    lut(there[1:], out=there[:2], queue=run)
                host = pictures.copy()
                lut(host[1], out=host[1], queue=run)
                assert np.array_equal(host[1], exact[1]) and np.array_equal(host[2], pictures[2])
                with pytest.raises(bl.ArgumentError):
                    lut(host[1:], out=host[:2], queue=run)


def test_arguments() -> None:
    table = np.zeros((3, 3, 3, 3))
    for wrong in (np.zeros((3, 3, 3)), np.zeros((3, 3, 2, 3)), np.zeros((1, 1, 1, 3)), table * np.nan, None):
        with pytest.raises(bl.ArgumentError):
            bl.Lut3D(wrong)
    for domain in ((0, 0), (1, 0), (0, np.inf), (0, 1, 2), 1.0, ((0, 0), (1, 1))):
        with pytest.raises(bl.ArgumentError):
            bl.Lut3D(table, domain=domain)  # type: ignore[arg-type]
    with pytest.raises(bl.ArgumentError):
        bl.Lut3D(table, shaper=np.zeros((5, 4)))
    lut = bl.Lut3D(table)
    for shape, dtype in (((4, 2), np.float32), ((4, 5), np.uint8), ((4, 3), np.float64), ((4, 3), np.int16)):
        with pytest.raises(bl.ArgumentError):
            lut(np.zeros(shape, dtype))
    with pytest.raises(bl.ArgumentError):
        lut(np.zeros((4, 3), np.float32), "cubic")
    with pytest.raises(bl.ArgumentError):
        lut(np.zeros((4, 3), np.float32), out=np.zeros((5, 3), np.float32))
    assert lut.table is not lut.table and repr(lut) == "<Lut3D 3x3x3>"


WHOLE = "\n".join(f"{r} {g} {b}" for b in (0, 1) for g in (0, 1) for r in (0, 1))
FILES = {
    "three": f'TITLE "a # b"\n# comment\nLUT_3D_SIZE 2\nDOMAIN_MIN 0 0 0\nDOMAIN_MAX 2 2 2\n\n{WHOLE}\n',
    "one": "LUT_1D_SIZE 3\nLUT_1D_INPUT_RANGE -1 1\n0 0 0\n.5 .25 1e-1\n1 1 1\n",
    "both": f"LUT_1D_SIZE 2\nLUT_1D_INPUT_RANGE 0 4\nLUT_3D_SIZE 2\nLUT_3D_INPUT_RANGE 0 1\n1 1 1\n0 0 0\n{WHOLE}\n",
}
COLOUR = np.float32([[0.5, 0.0, 1.0]])
RESULTS = {"three": [0.25, 0.0, 0.5], "one": [0.75, 0.25, 1.0], "both": [0.875, 1.0, 0.75]}


@pytest.mark.parametrize("name", FILES)
def test_cube_files(tmp_path: Path, name: str) -> None:
    path = tmp_path / "colours.cube"
    path.write_text(FILES[name])
    assert np.allclose(bl.Lut3D.open(path)(COLOUR), RESULTS[name], rtol=0, atol=1e-6)


@pytest.mark.parametrize(
    "text",
    [
        "", "hello", WHOLE, f"LUT_3D_SIZE 3\n{WHOLE}", f"LUT_3D_SIZE 2\n{WHOLE}\n0 0 0", "LUT_3D_SIZE 1\n0 0 0",
        "LUT_3D_SIZE x", "LUT_3D_SIZE 100000", f"LUT_3D_SIZE 2 2\n{WHOLE}", f"LUT_3D_SIZE 2\nDOMAIN_MIN 0 0\n{WHOLE}",
        f"LUT_3D_SIZE 2\nDOMAIN_MIN 2 0 0\n{WHOLE}", "LUT_1D_SIZE 2\n0 0 0\n1 1 nan", "LUT_1D_SIZE 2\n0 0 0\n1 1 a",
        "LUT_1D_SIZE 2\n0 0 0\n1 1", "LUT_1D_SIZE 2\nLUT_1D_INPUT_RANGE 0 inf\n0 0 0\n1 1 1", "\0\1\2",
    ],
)  # fmt: skip
def test_damaged_cube_files(tmp_path: Path, text: str) -> None:
    path = tmp_path / "colours.cube"
    path.write_text(text)
    with pytest.raises(bl.InvalidError):
        bl.Lut3D.open(path)
    with pytest.raises(OSError):
        bl.Lut3D.open(tmp_path / "none.cube")
