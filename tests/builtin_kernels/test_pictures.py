"""The kernels that compute whole pictures: warps, reductions, and levels of mipmaps."""

from __future__ import annotations

import ctypes
import math

import numpy as np
import pytest

from tests.builtin_kernels.host_kernels import CHANNEL_TYPES, STORAGE, HostKernels, format_word, surface_of
from tests.builtin_kernels.test_sampled import CLASSES, IMAGE, hash_of
from tests.builtin_kernels.test_unsampled import random_texels
from tests.oracle.area_means import area_means, level_below

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


ELEMENTS = {"i1": 0, "u1": 1, "i2": 2, "u2": 3, "i4": 4, "u4": 5, "f2": 6, "f4": 7, "sum": 8}


@pytest.mark.parametrize("dtype", ["u1", "i1", "u2", "i2", "f2", "f4"])
@pytest.mark.parametrize("channels", [(1, 1), (2, 2), (3, 3), (4, 3), (4, 4)])
@pytest.mark.parametrize(
    ("extent", "size"),
    [((12, 9, 1), (4, 3, 1)), ((13, 7, 3), (5, 7, 3)), ((9, 9, 5), (9, 4, 2)), ((70, 6, 2), (1, 1, 1))],
)
def test_area_takes_means_of_what_pixels_cover(
    host_kernels: HostKernels,
    dtype: str,
    channels: tuple[int, int],
    extent: tuple[int, int, int],
    size: tuple[int, int, int],
) -> None:
    generator = np.random.default_rng(5)
    shape = (*extent[::-1], channels[0])
    pixels = (
        generator.standard_normal(shape).astype(dtype)
        if dtype[0] == "f"
        else generator.integers(np.iinfo(dtype).min, np.iinfo(dtype).max, shape, dtype, endpoint=True)
    )
    expected = area_means(pixels[..., : channels[1]], size[::-1], normalized=True)
    ratios = [(new // math.gcd(old, new), old // math.gcd(old, new)) for old, new in zip(extent, size)]
    divisor = math.prod(total for _, total in ratios)

    def reduce(
        source: np.ndarray, kind: str, means: np.ndarray, made: str, old: tuple, new: tuple, steps: list
    ) -> None:
        numbers = (*new, *(part for step in steps for part in step), int(dtype[0] == "i"))
        host_kernels.launch(
            "bindless_area_reals" if dtype[0] == "f" else "bindless_area_codes", source,
            *map(ctypes.c_uint32, (ELEMENTS[kind], source.shape[-1], *old[:2])), means,
            *map(ctypes.c_uint32, (ELEMENTS[made], means.shape[-1], *numbers)), ctypes.c_uint64(divisor),
        )  # fmt: skip

    means = np.zeros_like(expected)
    reduce(pixels, dtype, means, dtype, extent, size, ratios)
    np.testing.assert_array_equal(means, expected)
    sums = np.float64 if dtype[0] == "f" else np.uint64
    along_x = np.zeros((extent[2], extent[1], size[0], channels[1]), sums)
    along_y = np.zeros((extent[2], size[1], size[0], channels[1]), sums)
    means = np.zeros_like(expected)
    old, new = (size[0], *extent[1:]), (*size[:2], extent[2])
    reduce(pixels, dtype, along_x, "sum", extent, old, [ratios[0], (1, 1), (1, 1)])
    reduce(along_x, "sum", along_y, "sum", old, new, [(1, 1), ratios[1], (1, 1)])
    reduce(along_y, "sum", means, dtype, new, size, [(1, 1), (1, 1), ratios[2]])
    np.testing.assert_array_equal(means, expected)


SHAPES = [
    ("1d", (1, 1, 13)), ("1d", (1, 1, 8)), ("2d", (1, 7, 6)), ("2d", (1, 1, 5)), ("2d", (1, 5, 1)), ("2d", (1, 11, 15)),
    ("3d", (5, 4, 3)), ("3d", (7, 9, 6)),
]  # fmt: skip


@pytest.mark.parametrize("levels", [1, 2])
@pytest.mark.parametrize(("geometry", "shape"), SHAPES)
@pytest.mark.parametrize("channel_type", CHANNEL_TYPES)
def test_downsample_takes_means_of_what_pixels_cover(
    host_kernels: HostKernels,
    channel_type: str,
    geometry: str,
    shape: tuple[int, int, int],
    levels: int,
) -> None:
    source = random_texels(np.random.default_rng(11), channel_type, (*shape, 2))
    wanted = [source]
    for _ in range(levels):
        above = wanted[-1]
        wanted.append(level_below(above, 3, normalized="norm" in channel_type))
    made = [np.zeros_like(level) for level in wanted[1:]]
    surfaces = [surface_of(source), *map(surface_of, made)]
    host_kernels.launch(
        f"bindless_downsample_{geometry}_u", *surfaces, *([ctypes.c_uint64(0)] if levels == 1 else []),
        *map(ctypes.c_uint32, shape[::-1]), ctypes.c_uint32(format_word("f4", 4, channel_type, 2)),
    )  # fmt: skip
    for level, expected in zip(made, wanted[1:], strict=True):
        np.testing.assert_array_equal(level, expected)
