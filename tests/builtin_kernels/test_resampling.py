"""The kernels that resample, as PTX gets them: every element of a picture once, wherever its block lies."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest

from tests.builtin_kernels.host_kernels import HostKernels, format_word
from tests.builtin_kernels.test_sampled import CLASSES, IMAGE, hash_of
from tests.oracle.pictures import positions

LINE, PLANE, VOLUME = range(3)
# Pictures (width, height, depth): smaller than a block, a whole number of blocks, and more.
PICTURES = [
    (LINE, (1, 1, 1)), (LINE, (37, 1, 1)), (LINE, (1025, 1, 1)), (LINE, (70, 3, 2)),
    (PLANE, (1, 5, 1)), (PLANE, (32, 16, 1)), (PLANE, (33, 17, 1)), (PLANE, (70, 35, 2)),
    (VOLUME, (8, 8, 8)), (VOLUME, (5, 6, 7)), (VOLUME, (17, 9, 10)), (VOLUME, (24, 16, 9)),
]  # fmt: skip
GUARD = 3


def word_of(tile: int, **bits: int) -> int:
    """The argument ``mode`` (csrc/kernels/include/mode.h), with all boundaries `edge`."""
    places = {
        "interpolation": 0,
        "vectors": 14,
        "doubles": 15,
        "projective": 16,
        "scaled": 17,
        "centred": 20,
        "window": 21,
    }
    return tile << 18 | 0o222 << 3 | sum(value << places[name] for name, value in bits.items())


def launch(
    host_kernels: HostKernels,
    name: str,
    shape: tuple[int, int, int],
    mode: int,
    *,
    matrix: np.ndarray,
    own: tuple[object, ...],
    coords: np.ndarray | None = None,
    strides: tuple[int, int] = (0, 0),
    centre: float = 0.5,
    first: tuple[int, int, int] = (0, 0, 0),
    groups: int = 1,
) -> np.ndarray:
    """Return the picture (depth, height, width, 4); the memory around it stays what it was."""
    letter = name[-1]
    dtype = {"f": np.float32, "i": np.int32, "u": np.uint32}[letter]
    count = int(np.prod(shape))
    memory = np.full((count + 2 * GUARD, 4), 77, dtype)
    out = memory[GUARD:-GUARD]
    host_kernels.launch(
        f"bindless_{name}", ctypes.c_uint64(IMAGE), *((ctypes.c_uint32(5),) if "array" in name else ()),
        *map(ctypes.c_double, matrix.ravel().tolist()), ctypes.c_double(centre), coords,
        *map(ctypes.c_long, strides), *map(ctypes.c_uint32, first), *own, out, *map(ctypes.c_uint32, shape),
        ctypes.c_uint32(format_word(out.dtype.str[1:], 4, CLASSES[letter], 4)), ctypes.c_uint32(mode),
        work_items=128 * groups, group=128,
    )  # fmt: skip
    assert (memory[:GUARD] == 77).all() and (memory[-GUARD:] == 77).all()
    return out.reshape(*shape[::-1], 4)


def window_of(*numbers: int, fill: float = 1.0) -> tuple[object, ...]:
    """Arguments for the origin and the larger image of a window, and the fill value."""
    return (*map(ctypes.c_int, numbers or (0,) * 6), ctypes.c_double(fill))


def matrix_of(seed: int) -> np.ndarray:
    matrix = np.eye(4)
    matrix[:3] = np.random.default_rng(seed).random((3, 4)) * 4 - 1
    return matrix


@pytest.mark.parametrize("letter", CLASSES)
@pytest.mark.parametrize("groups", [1, 3])
@pytest.mark.parametrize(("tile", "shape"), PICTURES)
def test_samples_are_at_the_mapped_centres(
    host_kernels: HostKernels, tile: int, shape: tuple[int, int, int], groups: int, letter: str
) -> None:
    matrix, count = matrix_of(1), int(np.prod(shape))
    units = np.array([7.0, 3.0, 5.0, 0.25, -0.5, 2.0], np.float32)
    mode = word_of(tile, interpolation=1, scaled=1, centred=1)
    own = (*map(ctypes.c_float, units.tolist()), *window_of())
    made = launch(host_kernels, f"resample_3d_{letter}", shape, mode, matrix=matrix, own=own, groups=groups)
    # The oracle's positions have texels at 0; both steps are exact here for none: the kernel's own order is repeated.
    z, y, x = (index + 0.5 for index in np.indices(shape[::-1]).astype(np.float64))
    rows = [row[0] * x + (row[1] * y + (row[2] * z + row[3])) for row in matrix[:3]]
    numbers = np.zeros((count, 9), np.float32)
    numbers[:, :3] = np.stack(rows, -1).reshape(-1, 3).astype(np.float32) / units[:3] + units[3:]
    expected = hash_of("sample", np.zeros(count), numbers).astype(made.dtype)
    np.testing.assert_array_equal(made.reshape(-1, 4), expected)


@pytest.mark.parametrize(("tile", "shape"), PICTURES[2::4])
def test_samples_of_a_part_in_a_window(host_kernels: HostKernels, tile: int, shape: tuple[int, int, int]) -> None:
    matrix, count, first = matrix_of(5), int(np.prod(shape)), (11, 7, 5)
    own = (*map(ctypes.c_float, (1, 1, 1, 0, 0, 0)), *window_of(3, 2, -1, 1000, 1000, 1000))
    mode = word_of(tile, interpolation=1, window=1)
    made = launch(host_kernels, "resample_3d_f", shape, mode, matrix=matrix, own=own, centre=0.0, first=first)
    z, y, x = (index + start for index, start in zip(np.indices(shape[::-1]).astype(np.float64), first[::-1]))
    rows = [row[0] * x + (row[1] * y + (row[2] * z + row[3])) for row in matrix[:3]]
    numbers = np.zeros((count, 9), np.float32)
    coordinates = (np.stack(rows, -1).reshape(-1, 3) + 0.5).astype(np.float32).astype(np.float64)
    numbers[:, :3] = np.floor(coordinates * 256 + 0.5) / 256 - (3, 2, -1)
    np.testing.assert_array_equal(made.reshape(-1, 4), hash_of("sample", np.zeros(count), numbers).astype(made.dtype))


@pytest.mark.parametrize(("tile", "shape"), PICTURES[2::4])
def test_fetches_of_a_part_in_a_window(host_kernels: HostKernels, tile: int, shape: tuple[int, int, int]) -> None:
    matrix, count, first = matrix_of(6), int(np.prod(shape)), (11, 7, 5)
    own = (*map(ctypes.c_int, (30, 40, 50)), *window_of(3, 2, 1, 100, 100, 100))
    mode = word_of(tile, window=1)
    made = launch(host_kernels, "resample_fetch_3d_f", shape, mode, matrix=matrix, own=own, centre=0.0, first=first)
    z, y, x = (index + start for index, start in zip(np.indices(shape[::-1]).astype(np.float64), first[::-1]))
    rows = [row[0] * x + (row[1] * y + (row[2] * z + row[3])) for row in matrix[:3]]
    numbers = np.zeros((count, 9), np.float32)
    texels = np.clip(np.floor(np.stack(rows, -1).reshape(-1, 3) + 0.5), 0, 99) - (3, 2, 1)
    texels[texels < 0] += 100
    numbers[:, :3] = np.minimum(texels, (29, 39, 49))
    expected = hash_of("fetch_sampled", np.zeros(count), numbers).astype(made.dtype)
    np.testing.assert_array_equal(made.reshape(-1, 4), expected)


@pytest.mark.parametrize("geometry", ["1d", "2d", "3d", "1d_array", "2d_array", "1d_linear"])
@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize(("tile", "shape"), PICTURES[3::4])
def test_fetches_are_of_the_nearest_texels(
    host_kernels: HostKernels, tile: int, shape: tuple[int, int, int], dtype: str, geometry: str
) -> None:
    """Vectors in scipy's order: one plane a component, the last one first."""
    matrix, count = matrix_of(2), int(np.prod(shape))
    matrix[3] = (0.01, 0.02, 0.03, 1.5)
    dims = int(geometry[0])
    planes = (np.random.default_rng(3).random((dims, count)) * 5).astype(dtype)
    size = (90, 80, 70)
    own = (*map(ctypes.c_int, size), *window_of())
    mode = word_of(tile, vectors=1, doubles=int(dtype == "f8"), projective=1)
    made = launch(
        host_kernels, f"resample_fetch_{geometry}_u", shape, mode, matrix=matrix, own=own, coords=planes[-1:],
        strides=(1, -count), centre=0.0,
    )  # fmt: skip
    vectors = np.zeros((*shape[::-1], 3))
    vectors[..., :dims] = planes[::-1].T.reshape(*shape[::-1], dims)
    places = positions(shape, matrix.ravel(), vectors, centre=0.0).reshape(-1, 3)[:, :dims]
    numbers = np.zeros((count, 9), np.float32)
    numbers[:, :dims] = np.clip(np.floor(places + 0.5), 0, np.array(size[:dims]) - 1)
    layer = np.full(count, 5 if "array" in geometry else 0)
    np.testing.assert_array_equal(made.reshape(-1, 4), hash_of("fetch_sampled", layer, numbers))


@pytest.mark.parametrize(("tile", "shape"), PICTURES[2::4])
def test_linear_sums_of_fetches(host_kernels: HostKernels, tile: int, shape: tuple[int, int, int]) -> None:
    matrix, count = matrix_of(4), int(np.prod(shape))
    own = (*map(ctypes.c_int, (40, 40, 40)), *window_of())
    mode = word_of(tile, interpolation=1, centred=1)
    made = launch(host_kernels, "resample_fetch_3d_f", shape, mode, matrix=matrix, own=own).reshape(-1, 4)
    places = positions(shape, matrix.ravel()).reshape(-1, 3)
    total = np.zeros((count, 4))
    for corner in np.ndindex(2, 2, 2):
        index = np.floor(places) + corner
        weight = np.prod(np.where(corner, places - np.floor(places), 1 - (places - np.floor(places))), 1)
        numbers = np.zeros((count, 9), np.float32)
        numbers[:, :3] = np.clip(index, 0, 39)
        total += weight[:, None] * hash_of("fetch_sampled", np.zeros(count), numbers)
    np.testing.assert_allclose(made, total, rtol=1e-6, atol=1e-6 * 2**24)
