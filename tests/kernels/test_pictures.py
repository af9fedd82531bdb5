"""The kernels that make whole pictures: warps, and levels of mipmaps."""

from __future__ import annotations

import ctypes
from fractions import Fraction

import numpy as np
import pytest
from host_kernels import CHANNEL_TYPES, STORAGE, HostKernels, format_word, surface_of
from test_sampled import CLASSES, IMAGE, hash_of
from test_unsampled import class_of, random_texels, value_of

MATRICES = {
    "identity": np.eye(3, dtype=np.float32),
    "affine": np.array([[0.3, -0.7, 5], [1.1, 0.2, -3], [0, 0, 1]], np.float32),
    "projective": np.array([[1, 0.1, 0], [0.2, 0.9, 4], [0.01, -0.02, 1.5]], np.float32),
}


@pytest.mark.parametrize("letter", CLASSES)
@pytest.mark.parametrize("matrix", MATRICES)
def test_warp_samples_at_the_mapped_centres(host_kernels: HostKernels, matrix: str, letter: str) -> None:
    width, height = 19, 7
    m = MATRICES[matrix]
    dtype = {"f": np.float32, "i": np.int32, "u": np.uint32}[letter]
    out = np.zeros((height, width, 4), dtype)
    host_kernels.launch(
        f"bindless_warp_2d_{letter}", ctypes.c_uint64(IMAGE), *map(ctypes.c_float, m.ravel().tolist()), out,
        ctypes.c_uint32(width), ctypes.c_uint32(height),
        ctypes.c_uint32(format_word(out.dtype.str[1:], 4, CLASSES[letter], 4)),
    )  # fmt: skip
    y, x = (axis.astype(np.float32) + np.float32(0.5) for axis in np.mgrid[:height, :width])
    u, v, w = (((row[0] * x) + (row[1] * y)) + row[2] for row in m)
    numbers = np.zeros((height * width, 9), np.float32)
    numbers[:, 0] = (u / w).ravel()
    numbers[:, 1] = (v / w).ravel()
    expected = hash_of("sample", np.zeros(height * width), numbers).astype(dtype)
    np.testing.assert_array_equal(out.reshape(-1, 4), expected)


def overlaps(length: int) -> np.ndarray:
    """(target, source) shares that each new pixel takes of the old ones, exact, as an object array."""
    target = max(1, length // 2)
    step = Fraction(length, target)
    shares = np.empty((target, length), object)
    for i in range(target):
        for j in range(length):
            shares[i, j] = max(Fraction(0), min((i + 1) * step, Fraction(j + 1)) - max(i * step, Fraction(j))) / step
    return shares


def exact_level(values: np.ndarray, dimensions: int, layered: bool) -> np.ndarray:
    """Means of (slices, rows, width, channels) over what each new pixel covers, as fractions."""
    exact = np.vectorize(Fraction, otypes=[object])(values.astype(np.float64))
    exact = np.einsum("ij,zyjc->zyic", overlaps(values.shape[2]), exact)
    if dimensions > 1:
        exact = np.einsum("ij,zjxc->zixc", overlaps(values.shape[1]), exact)
    if dimensions > 2 and not layered:
        exact = np.einsum("ij,jyxc->iyxc", overlaps(values.shape[0]), exact)
    return np.asarray(exact)


SHAPES = [
    ("1d", 1, False, (1, 1, 13)), ("1d", 1, False, (1, 1, 8)), ("2d", 2, False, (1, 7, 6)), ("2d", 2, False, (1, 1, 5)),
    ("2d", 2, False, (1, 5, 1)), ("3d", 3, False, (5, 4, 3)), ("1d_array", 1, True, (3, 1, 9)),
    ("2d_array", 2, True, (6, 5, 5)),
]  # fmt: skip


@pytest.mark.parametrize(("geometry", "dimensions", "layered", "shape"), SHAPES)
@pytest.mark.parametrize("channel_type", CHANNEL_TYPES)
def test_downsample_takes_means_of_what_pixels_cover(
    host_kernels: HostKernels,
    channel_type: str,
    geometry: str,
    dimensions: int,
    layered: bool,
    shape: tuple[int, int, int],
) -> None:
    generator = np.random.default_rng(11)
    channels = 2
    source = random_texels(generator, channel_type, (*shape, channels))
    values = value_of(source, channel_type)
    wanted = exact_level(values, dimensions, layered)
    target = np.zeros(wanted.shape, source.dtype)
    slices, rows, width = shape
    source_surface, target_surface = surface_of(source), surface_of(target)
    host_kernels.launch(
        f"bindless_downsample_{geometry}_{class_of(channel_type)}", source_surface, target_surface,
        ctypes.c_uint32(width), ctypes.c_uint32(rows), ctypes.c_uint32(slices),
        ctypes.c_uint32(format_word("f4", 4, channel_type, channels)),
    )  # fmt: skip
    scale = 1
    if channel_type in ("unorm_int8", "unorm_int16", "snorm_int8", "snorm_int16"):
        scale = int(np.iinfo(np.dtype(STORAGE[CHANNEL_TYPES.index(channel_type)])).max)
    error = np.array(
        [abs(Fraction(float(got)) - want * scale) for got, want in zip(target.flat, wanted.flat, strict=True)]
    )
    if source.dtype.kind == "f":
        limit = [
            Fraction(float(np.spacing(np.abs(np.asarray(float(want)).astype(source.dtype))))) for want in wanted.flat
        ]
        assert all(off <= bound for off, bound in zip(error, limit, strict=True))
    else:
        assert max(error) <= Fraction(1, 2) + Fraction(1, 100)
