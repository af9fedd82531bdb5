"""The kernels that compute whole pictures: warps, and levels of mipmaps."""

from __future__ import annotations

import ctypes
from fractions import Fraction

import numpy as np
import pytest

from bindless.image.area_filter import shrink, sums_need_double
from tests.builtin_kernels.host_kernels import CHANNEL_TYPES, STORAGE, HostKernels, format_word, surface_of
from tests.builtin_kernels.test_sampled import CLASSES, IMAGE, hash_of
from tests.builtin_kernels.test_unsampled import class_of, random_texels, value_of

MATRICES = {
    "identity": np.eye(3),
    "affine": np.array([[0.3, -0.7, 5], [1.1, 0.2, -3], [0, 0, 1]]),
    "projective": np.array([[1, 0.1, 0], [0.2, 0.9, 4], [0.01, -0.02, 1.5]]),
}
UNITS = np.array([37.0, 53.0, 2.0**-22, 2.0**-21], np.float32)


def mapped(m: np.ndarray, width: int, height: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return coordinates of every pixel, and their change to the next column and row: (height, width, 2) in float64."""
    y, x = np.mgrid[:height, :width] + 0.5
    u, v, w = (row[0] * x + (row[1] * y + row[2]) for row in m)
    at = np.stack([u / w, v / w], -1)
    steps = [np.stack([(m[k, axis] - at[..., k] * m[2, axis]) / w for k in (0, 1)], -1) for axis in (0, 1)]
    return at, steps[0], steps[1]


@pytest.mark.parametrize("letter", CLASSES)
@pytest.mark.parametrize("matrix", MATRICES)
@pytest.mark.parametrize("kernel", ["warp_2d", "warp_2d_array", "warp_grad_2d"])
def test_warp_samples_at_the_mapped_centres(host_kernels: HostKernels, kernel: str, matrix: str, letter: str) -> None:
    width, height, layer = 39, 17, 5
    m = MATRICES[matrix]
    dtype = {"f": np.float32, "i": np.int32, "u": np.uint32}[letter]
    out = np.zeros((height, width, 4), dtype)
    layered, graded = kernel.endswith("array"), "grad" in kernel
    host_kernels.launch(
        f"bindless_{kernel}_{letter}", ctypes.c_uint64(IMAGE), *((ctypes.c_uint32(layer),) if layered else ()),
        *map(ctypes.c_double, m.ravel().tolist()), *map(ctypes.c_float, UNITS.tolist()), out,
        ctypes.c_uint32(width), ctypes.c_uint32(height),
        ctypes.c_uint32(format_word(out.dtype.str[1:], 4, CLASSES[letter], 4)), work_items=96, group=32,
    )  # fmt: skip
    at, dx, dy = (part.astype(np.float32).reshape(-1, 2) / UNITS[:2] for part in mapped(m, width, height))
    numbers = np.zeros((height * width, 9), np.float32)
    numbers[:, :2] = at + UNITS[2:]
    if graded:
        numbers[:, 3:5], numbers[:, 6:8] = dx, dy
    layers = np.full(height * width, layer if layered else 0)
    expected = hash_of("sample_grad" if graded else "sample", layers, numbers).astype(dtype)
    np.testing.assert_array_equal(out.reshape(-1, 4), expected)


@pytest.mark.parametrize("letter", ["f"])
def test_warp_writes_codes_of_normalized_images(host_kernels: HostKernels, letter: str) -> None:
    """The substitute for the texture gives numbers far above 1: each code is the largest."""
    for channel_type in ("unorm_int8", "unorm_int16", "snorm_int8", "snorm_int16"):
        out = np.zeros((3, 40, 3), STORAGE[CHANNEL_TYPES.index(channel_type)])
        host_kernels.launch(
            "bindless_warp_2d_f", ctypes.c_uint64(IMAGE), *map(ctypes.c_double, np.eye(3).ravel().tolist()),
            *map(ctypes.c_float, (1, 1, 0, 0)), out, ctypes.c_uint32(40), ctypes.c_uint32(3),
            ctypes.c_uint32(format_word(out.dtype.str[1:], 3, channel_type, 4)), work_items=32, group=32,
        )  # fmt: skip
        assert (out == np.iinfo(out.dtype).max).all()


def area_mean(values: np.ndarray, size: int, axis: int) -> np.ndarray:
    """Return means in float64 by a matrix of overlaps."""
    length = values.shape[axis]
    edges = np.arange(size + 1) * length / size
    k = np.arange(length)
    shares = np.minimum(edges[1:, None], k + 1) - np.maximum(edges[:-1, None], k)
    return np.moveaxis(
        np.tensordot(np.maximum(shares, 0) * size / length, values.astype(np.float64), (1, axis)), 0, axis
    )


@pytest.mark.parametrize("dtype", ["u1", "i1", "u2", "i2", "u4", "i4", "f2", "f4"])
@pytest.mark.parametrize(("length", "size"), [(12, 4), (13, 5), (9, 9), (7, 1), (200, 3), (200, 2)])
def test_area_takes_means_of_what_pixels_cover(host_kernels: HostKernels, dtype: str, length: int, size: int) -> None:
    generator = np.random.default_rng(5)
    pixels = (
        generator.standard_normal((3, length, 6)).astype(dtype)
        if dtype[0] == "f"
        else generator.integers(np.iinfo(dtype).min, np.iinfo(dtype).max, (3, length, 6), dtype, endpoint=True)
    )
    wide = dtype in ("u4", "i4")
    kernel = "area_f64" if wide else "area_f32_long" if sums_need_double(length, size) else "area_f32"
    numbers = {"i1": 0, "u1": 1, "i2": 2, "u2": 3, "i4": 4, "u4": 5, "f2": 6, "f4": 7, "f8": 8}
    limits = (float(np.iinfo(dtype).min), float(np.iinfo(dtype).max)) if dtype[0] != "f" else (0.0, 0.0)
    exact = area_mean(pixels, size, 1)
    by_processor = shrink(pixels, (3, size))
    for to in ("f8" if wide else "f4", dtype):
        out = np.zeros((3, size, 6), to)
        host_kernels.launch(
            f"bindless_{kernel}", pixels, ctypes.c_uint32(numbers[dtype]), out, ctypes.c_uint32(numbers[to]),
            ctypes.c_uint64(3), ctypes.c_uint32(length), ctypes.c_uint32(size), ctypes.c_uint32(6),
            *map(ctypes.c_double, limits),
        )  # fmt: skip
        if to[0] == "f":
            np.testing.assert_array_equal(out, by_processor.astype(to))
            share = 1e-3 if to == "f2" else 1e-6
            np.testing.assert_allclose(out, exact, rtol=share, atol=share * float(np.abs(exact).max()))
        else:
            np.testing.assert_array_equal(out, np.rint(by_processor).astype(to))
            assert np.abs(out - exact).max() <= 0.5 * (1 + 1e-4)


def overlaps(length: int) -> np.ndarray:
    """Return exact (target, source) weights of the old pixels in each new pixel, as an object array."""
    target = max(1, length // 2)
    step = Fraction(length, target)
    shares = np.empty((target, length), object)
    for i in range(target):
        for j in range(length):
            shares[i, j] = max(Fraction(0), min((i + 1) * step, Fraction(j + 1)) - max(i * step, Fraction(j))) / step
    return shares


def exact_level(values: np.ndarray, dimensions: int, layered: bool) -> np.ndarray:
    """Return means of (slices, rows, width, channels) over the area of each new pixel, as fractions."""
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
