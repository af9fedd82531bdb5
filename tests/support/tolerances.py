"""Tolerances of a device's results against exact ones: zero, except on OpenCL.

OpenCL defines bounds, not bits (its sections on conversion rules and on addressing and filtering): normalized codes
become floats within 1.5 units in the last place, floats become codes within 0.6 of a code, and coordinates exactly at a
texel's edge may select either texel. Filter weights have full precision, so the expected results come from the
reference in the mode ``exact``, or from numpy in float64.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["assert_equal", "away_from_edges", "equal", "filter_error", "is_bounded"]

Array = npt.NDArray[Any]


def is_bounded(backend: object) -> bool:
    """Whether results are compared within bounds instead of bit for bit."""
    return str(backend) == "opencl"


def equal(found: Array, wanted: Array, backend: object, units: float = 2.0) -> bool:
    """Whether values are equal, or floats within a number of units in the last place."""
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
    """Fail unless ``equal``, and show the differences."""
    if not equal(found, wanted, backend):
        np.testing.assert_array_equal(found, wanted, err_msg=message)


def filter_error(pixels: Array, sizes: tuple[int, ...], dtype: npt.DTypeLike = "float32") -> float:
    """Tolerance of a filtered value: coordinates have 24 bits, sums have the result's precision."""
    spread, largest = float(pixels.max() - pixels.min()), float(np.abs(pixels).max())
    return spread * (1e-4 + max(sizes) * 2.0**-20) + largest * 4 * float(np.finfo(np.dtype(dtype)).eps)


def away_from_edges(coords: Array, sizes: tuple[int, ...], normalized: bool) -> Array:
    """Mask of the coordinates (N, dims) with a unique result: finite, of moderate size, not at a texel's edge."""
    extent = np.array(sizes, "float64")
    with np.errstate(invalid="ignore", over="ignore"):
        units = coords.astype("float64") * extent if normalized else coords.astype("float64")
        margin = 1e-3 + extent * 2.0**-20
        fraction = units - np.floor(units)
        inside = (np.abs(units) < 1e6) & (fraction > margin) & (fraction < 1 - margin)
    return np.asarray(inside.all(1))
