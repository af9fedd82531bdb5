"""Pictures and maps of the tests, and OpenCV's results in float64."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from tests.oracle.samples import sample

__all__ = ["BORDERS", "DTYPES", "HOMOGRAPHY", "MATRIX", "check", "expected", "grid", "inverse", "pixels"]

Array = npt.NDArray[Any]

DTYPES = ("uint8", "uint16", "int16", "float32")
MATRIX = np.array([[0.9, 0.2, 3.3], [-0.15, 1.05, 4.7]])
HOMOGRAPHY = np.array([[0.9, 0.2, 3.3], [-0.15, 1.05, 4.7], [1e-3, -5e-4, 1.0]])
BORDERS = {0: "border", 1: "edge", 2: "mirrored_repeat", 3: "repeat", 4: "mirror"}
INTERPOLATIONS = {0: "nearest", 1: "linear", 2: "bicubic"}


def pixels(dtype: str, channels: int = 3, size: tuple[int, int] = (37, 53)) -> Array:
    """Random ones over the whole range; without an axis for one channel."""
    rng = np.random.default_rng(channels)
    shape = size if channels == 1 else (*size, channels)
    if dtype == "float32":
        return (rng.random(shape) * 255).astype(np.float32)
    limits = np.iinfo(dtype)
    return rng.integers(limits.min, limits.max, shape, np.dtype(dtype), endpoint=True)


def inverse(matrix: Array) -> Array:
    """(3, 3), from pixels of the result to those of the picture."""
    return np.linalg.inv(np.vstack([matrix, [0, 0, 1]]) if len(matrix) == 2 else matrix)


def grid(matrix: Array, size: tuple[int, int]) -> Array:
    """Positions (height, width, 2), (x, y), of the pixels of a result of a size (width, height)."""
    x, y = np.meshgrid(np.arange(size[0], dtype=float), np.arange(size[1], dtype=float))
    rows = [row[0] * x + (row[1] * y + row[2]) for row in matrix]
    return np.stack(rows[:2], -1) / rows[2][..., None]


def check(found: Array, values: Array, dtype: str) -> None:
    """Integers are the nearest ones of the values, within their range; floats of single precision are near."""
    assert found.dtype == dtype and found.shape == values.shape
    if found.dtype.kind == "f":
        np.testing.assert_allclose(found, values, rtol=0, atol=2e-6 * max(np.abs(values).max(), 1))
        return
    limits = np.iinfo(found.dtype)
    away = np.abs(found - np.clip(values, limits.min, limits.max))
    assert away.max() <= 0.5 + 1e-9  # less than float64 loses of a 16-bit code is left to the order of sums


def expected(
    picture: Array, places: Array, interpolation: int, border: int, values: Any = 0.0, *, ties_to_even: bool = True
) -> Array:
    """The values in float64, before they are rounded and clamped."""
    channels = picture[..., None] if picture.ndim == 2 else picture
    fills = np.broadcast_to(values, channels.shape[-1:])
    options: dict[str, Any] = {"interpolation": INTERPOLATIONS[interpolation], "boundary": BORDERS[border]}
    planes = [
        sample(channels[..., [n]], places, fill=float(fill), ties_to_even=ties_to_even, **options)
        for n, fill in enumerate(fills)
    ]
    result = np.concatenate(planes, -1)
    return result[..., 0] if picture.ndim == 2 else result
