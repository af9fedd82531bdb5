"""Pictures: positions of their elements, values as codes, and whole ones with the options that ``Image`` takes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from tests.oracle.boundary import BOUNDARIES
from tests.oracle.samples import sample
from tests.oracle.splines import solved

__all__ = ["codes", "expected_picture", "map_of", "positions", "random_pixels", "spline_of", "stored"]

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]

IDENTITY = tuple(np.eye(4).ravel().tolist())
MARGIN = 40


def positions(
    shape: Sequence[int],
    matrix: Sequence[float] = IDENTITY,
    coords: npt.ArrayLike | None = None,
    *,
    centre: float = 0.5,
) -> Floats:
    """Positions in units of texels, where the centre of texel (i, j, k) is at (i, j, k).

    Parameters
    ----------
    shape : Sequence[int]
        (width, height, depth) of the picture.
    matrix : Sequence[float]
        Sixteen numbers, by rows.
    coords : npt.ArrayLike | None
        Vectors (x, y, z) to add, shape (depth, height, width, 3), or what broadcasts to it.
    centre : float
        Of picture elements and texels, relative to their indices.

    Returns
    -------
    Floats
        Shape (depth, height, width, 3), the last axis (x, y, z).
    """
    width, height, depth = shape
    z, y, x = (index + centre for index in np.indices((depth, height, width)).astype(np.float64))
    rows = np.asarray(matrix, np.float64).reshape(4, 4)
    along = [row[0] * x + (row[1] * y + (row[2] * z + row[3])) for row in rows]
    place = np.stack(along[:3], -1)
    if rows[3].tolist() != [0.0, 0.0, 0.0, 1.0]:
        with np.errstate(divide="ignore", invalid="ignore"):
            place = place / along[3][..., None]
    if coords is not None:
        place = place + np.asarray(coords, np.float64)
    return place - centre


def stored(
    values: npt.ArrayLike, dtype: npt.DTypeLike, *, largest: float | None = None, rounding: str = "even"
) -> Array:
    """Values in the type of a picture.

    Parameters
    ----------
    values : npt.ArrayLike
        As ``sample`` gives them.
    dtype : npt.DTypeLike
        An integer or floating-point type.
    largest : float | None
        The largest code of a normalized image, if it is one and the type is an integer.
    rounding : str
        ``even`` or ``away``.
    """
    values, kind = np.asarray(values, np.float64), np.dtype(dtype)
    if kind.kind == "f":
        with np.errstate(over="ignore"):
            return values.astype(kind)
    values = codes(values, kind, largest=largest)
    rounded = np.rint(values) if rounding == "even" else np.copysign(np.floor(np.abs(values) + 0.5), values)
    return rounded.astype(kind)


def codes(values: npt.ArrayLike, dtype: npt.DTypeLike, *, largest: float | None = None) -> Floats:
    """Values as codes of an integer type, clamped to its range and not rounded."""
    values, kind = np.asarray(values, np.float64), np.dtype(dtype)
    low, high = float(np.iinfo(kind).min), float(np.iinfo(kind).max)
    if largest is not None:
        values, high = values * largest, largest
        low = max(low, -largest)
    return np.clip(np.nan_to_num(values, nan=0.0, posinf=high, neginf=low), low, high)


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
    values = sample(texels, places, interpolation=filtering, boundary=boundary, fill=fill, ignore_nan=ignore_nan)
    kind = np.dtype(pixels.dtype if dtype is None else dtype)
    largest = float(np.iinfo(kind).max) if kind.kind in "iu" else None
    found = values if largest is None else values / largest
    result = stored(found, kind, largest=largest)
    return result.reshape(*reversed(sizes), pixels.shape[-1])
