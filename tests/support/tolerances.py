"""What the results of a device may differ by from exact ones: nothing, except where OpenCL is behind it.

OpenCL defines bounds, not bits (its sections on conversion rules and on addressing and filtering): normalized codes
read as floats within 1.5 units in the last place, floats become codes within 0.6 of one, and of coordinates at a
texel's very edge either texel may be taken. Filters have weights of full precision, so that what such a device gives is
compared with the reference in the mode ``exact``, or with numpy in float64.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["assert_equal", "away_from_edges", "equal", "filter_error", "is_bounded"]

Array = npt.NDArray[Any]


def is_bounded(backend: object) -> bool:
    """Whether results are held to bounds instead of bits."""
    return str(backend) == "opencl"


def equal(found: Array, wanted: Array, backend: object, units: float = 2.0) -> bool:
    """Whether values are what they have to be: the same, or floats within so many units in the last place."""
    if not is_bounded(backend) or found.dtype.kind != "f":
        return np.array_equal(found, wanted)
    if found.shape != wanted.shape:
        return False
    least = np.finfo(found.dtype).smallest_normal  # denormals may be zero
    with np.errstate(invalid="ignore", over="ignore"):
        unit = np.spacing(np.maximum(np.abs(wanted.astype(found.dtype)), least)).astype("float64")
        near = np.abs(found.astype("float64") - wanted.astype("float64")) <= units * unit + float(least)
    return bool(np.all(near | (found == wanted) | (np.isnan(found) & np.isnan(wanted))))


def assert_equal(found: Array, wanted: Array, backend: object, message: str = "") -> None:
    """Fails unless ``equal``, and shows where."""
    if not equal(found, wanted, backend):
        np.testing.assert_array_equal(found, wanted, err_msg=message)


def filter_error(pixels: Array, sizes: tuple[int, ...], dtype: npt.DTypeLike = "float32") -> float:
    """How far a filtered value may be from the exact one: coordinates have 24 bits, sums those of the result."""
    spread, largest = float(pixels.max() - pixels.min()), float(np.abs(pixels).max())
    return spread * (1e-4 + max(sizes) * 2.0**-20) + largest * 4 * float(np.finfo(np.dtype(dtype)).eps)


def away_from_edges(coords: Array, sizes: tuple[int, ...], normalized: bool) -> Array:
    """Which coordinates (N, dims) have one answer: finite, of a moderate size, and not at a texel's edge."""
    extent = np.array(sizes, "float64")
    with np.errstate(invalid="ignore", over="ignore"):
        units = coords.astype("float64") * extent if normalized else coords.astype("float64")
        margin = 1e-3 + extent * 2.0**-20
        fraction = units - np.floor(units)
        inside = (np.abs(units) < 1e6) & (fraction > margin) & (fraction < 1 - margin)
    return np.asarray(inside.all(1))
