"""Pictures of an ``Image`` computed in float64 with numpy: the oracle with the options that ``Image`` takes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from tests.support.resample_oracle import positions, resampled, stored
from tests.support.spline_coefficients import solved

__all__ = ["expected_picture", "map_of", "random_pixels", "spline_of"]

Array = npt.NDArray[Any]

BOUNDARIES = {
    "clamp_to_edge": "edge",
    "clamp": "border",
    "repeat": "repeat",
    "mirrored_repeat": "mirrored_repeat",
}
MARGIN = 40


def random_pixels(dtype: str, shape: tuple[int, ...], seed: int = 8) -> Array:
    """Pixels over the whole range of a dtype."""
    rng = np.random.default_rng(seed)
    if dtype.startswith("float"):
        return rng.standard_normal(shape).astype(dtype)
    limits = np.iinfo(dtype)
    return rng.integers(limits.min, limits.max, shape, dtype, endpoint=True)


def map_of(dims: int, *, projective: bool = False, seed: int = 3) -> Array:
    """A matrix (dims + 1, dims + 1) that turns, shears, scales and shifts a little."""
    rng = np.random.default_rng(seed + dims)
    matrix = np.eye(dims + 1)
    matrix[:dims, :dims] += rng.uniform(-0.3, 0.3, (dims, dims))
    matrix[:dims, dims] = rng.uniform(-2, 3, dims)
    if projective:
        matrix[dims, :dims] = rng.uniform(-0.01, 0.02, dims)
        matrix[dims, dims] = 1.25
    return matrix


def spline_of(pixels: Array, boundary: Sequence[str], fill: float) -> tuple[Array, int]:
    """B-spline coefficients of (..., channels) pixels, and the margin around these.

    What lies outside is there as a margin, wide enough for the ends to have no effect.
    """
    values = pixels.astype(np.float64)
    dims = values.ndim - 1
    modes = {"edge": "edge", "repeat": "wrap", "mirrored_repeat": "symmetric"}
    for axis in range(dims):
        around, mode = [(0, 0)] * values.ndim, boundary[dims - 1 - axis]
        around[axis] = (MARGIN, MARGIN)
        if mode == "border":
            values = np.pad(values, around, constant_values=fill)
        else:
            values = np.pad(values, around, modes[mode])
    return solved(values, range(dims), ["mirror"] * dims), MARGIN


def expected_picture(
    pixels: Array,
    matrix: Array,
    sizes: Sequence[int],
    *,
    filtering: str = "linear",
    addressing: str = "clamp_to_edge",
    fill: float = 0.0,
    vectors: Array | None = None,
    ignore_nan: bool = False,
    dtype: npt.DTypeLike | None = None,
) -> Array:
    """The picture of pixels ([depth, [height,]] width, channels), in their dtype or another.

    Parameters
    ----------
    matrix : Array
        (dims + 1, dims + 1), to pixels, with centres at one half.
    sizes : Sequence[int]
        Of the picture, in (x, y, z) order.
    vectors : Array | None
        (*reversed(sizes), dims), added to the positions.
    """
    dims = pixels.ndim - 1
    full = np.eye(4)
    full[:dims, :dims], full[:dims, 3] = matrix[:dims, :dims], matrix[:dims, dims]
    full[3, :dims], full[3, 3] = matrix[dims, :dims], matrix[dims, dims]
    shape = (*sizes, 1, 1)[:3]
    moves = None
    if vectors is not None:
        moves = np.zeros((*reversed(shape), 3))
        moves[..., :dims] = vectors.reshape(*reversed(shape), dims)
    places = positions(shape, full.ravel().tolist(), moves)
    boundary = [BOUNDARIES[addressing]] * 3
    texels: Array = pixels.astype(np.float64)
    if pixels.dtype.kind == "i":
        texels = np.maximum(texels, -np.iinfo(pixels.dtype).max) if filtering != "cubic" else texels
    if filtering == "cubic":
        texels, margin = spline_of(pixels, boundary, fill)
        places = places + margin
        boundary = ["edge"] * 3
        inside = np.clip(places, -1e6, 1e6)
        if addressing in ("repeat", "mirrored_repeat"):  # of a few periods the margin has enough
            assert inside[..., :dims].min() > 4
            assert all(inside[..., axis].max() < texels.shape[dims - 1 - axis] - 5 for axis in range(dims))
    values = resampled(texels, places, interpolation=filtering, boundary=boundary, fill=fill, ignore_nan=ignore_nan)
    kind = np.dtype(pixels.dtype if dtype is None else dtype)
    largest = float(np.iinfo(kind).max) if kind.kind in "iu" else None
    found = values if largest is None else values / largest
    result = stored(found, kind, largest=largest)
    return result.reshape(*reversed(sizes), pixels.shape[-1])
