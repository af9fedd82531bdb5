"""``resampled``: what ``Resampling`` means with exact precision, computed independently in float64 with numpy.

Slow and plain: each picture element is a sum over the texels that its filter touches.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["positions", "resampled", "stored"]

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]

IDENTITY = tuple(np.eye(4).ravel().tolist())


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


def resampled(
    pixels: npt.ArrayLike,
    places: Floats,
    *,
    interpolation: str = "linear",
    boundary: Sequence[str] = ("edge", "edge", "edge"),
    fill: float = 0.0,
    ignore_nan: bool = False,
) -> Floats:
    """The values of a picture.

    A place with a coordinate that is not finite has the fill value. A texel that is NaN makes the sum NaN even where
    its weight is zero, as long as the filter touches it.

    Parameters
    ----------
    pixels : npt.ArrayLike
        ([depth, [height,]] width, channels) values of texels, those of normalized formats as fractions of the largest
        code; coefficients of B-splines for ``cubic``.
    places : Floats
        As ``positions`` gives them; axes that the image lacks are ignored.
    interpolation, boundary, fill, ignore_nan : Any
        Of ``Resampling``; ``boundary`` for (x, y, z).

    Returns
    -------
    Floats
        Shape of ``places`` with the channels in the last axis.
    """
    texels = np.asarray(pixels, np.float64)
    dims = texels.ndim - 1
    flat = places.reshape(-1, places.shape[-1])[:, :dims]
    finite = np.isfinite(flat).all(1)
    flat = np.where(finite[:, None], flat, 0.0)
    sizes = texels.shape[dims - 1 :: -1] if dims > 1 else texels.shape[:1]
    taps = [_taps(interpolation, mode, size, place) for mode, size, place in zip(boundary, sizes, flat.T)]
    total, weights = np.zeros((len(flat), texels.shape[-1])), np.zeros((len(flat), texels.shape[-1]))
    with np.errstate(invalid="ignore", over="ignore"):
        for chosen in itertools.product(*taps):
            index = np.stack([tap[0] for tap in chosen])
            weight = np.prod([tap[1] for tap in chosen], 0)[:, None]
            inside = (index >= 0).all(0)
            values = np.where(inside[:, None], texels[tuple(np.where(inside, index, 0)[::-1])], fill)
            counted = ~np.isnan(values) if ignore_nan else np.ones(values.shape, bool)
            total += np.where(counted, weight * values, 0.0)
            weights += np.where(counted, weight, 0.0)
        if ignore_nan:
            total = np.where(weights != 0, total / np.where(weights != 0, weights, 1.0), np.nan)
    beyond = ~finite
    for mode, size, place in zip(boundary, sizes, flat.T):
        if mode in ("constant", "extent"):
            reach = 0.5 if mode == "extent" else 0.0
            beyond |= (place < -reach) | (place > size - 1 + reach)
    total[beyond] = fill
    return total.reshape(*places.shape[:-1], -1)


def stored(
    values: npt.ArrayLike, dtype: npt.DTypeLike, *, largest: float | None = None, rounding: str = "even"
) -> Array:
    """Values in the type of a picture.

    Parameters
    ----------
    values : npt.ArrayLike
        As ``resampled`` gives them.
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


def _taps(interpolation: str, mode: str, size: int, place: Floats) -> list[tuple[npt.NDArray[np.int64], Floats]]:
    """Of each texel that a filter touches along one axis, its index, -1 for those outside, and its weight."""
    place = _folded(mode, size, place)
    if interpolation == "nearest":
        return [(_texel(mode, size, np.floor(place + 0.5)), np.ones(place.shape))]
    first = np.floor(place)
    t = place - first
    if interpolation == "linear":
        return [(_texel(mode, size, first), 1 - t), (_texel(mode, size, first + 1), t)]
    kernel = _KERNELS[interpolation]
    return [(_texel(mode, size, first + number), kernel(np.abs(t - number))) for number in (-1, 0, 1, 2)]


def _folded(mode: str, size: int, place: Floats) -> Floats:
    """The place inside that stands for one outside, where the values continue periodically; nearest rounds that one.

    ``wrap`` has two texels for one place at its seams: from below it is the last texel, from above the first.
    """
    last = size - 1.0
    if mode in ("edge", "extent"):
        return np.clip(place, -2.0, size + 1.0)
    if mode in ("border", "constant"):
        return np.clip(place, -3.0, size + 2.0)
    if size == 1:
        return np.zeros(place.shape)
    outside = (place < 0) | (place > last)
    if mode == "repeat":
        found = np.mod(place, size)
    elif mode == "wrap":
        found = np.where(place < 0, last - np.mod(-place, last), np.mod(place, last))
    elif mode == "mirror":
        found = last - np.abs(np.mod(place, 2 * last) - last)
    else:
        found = size - 0.5 - np.abs(np.mod(place + 0.5, 2.0 * size) - size)
    return np.where(outside, found, place)


def _texel(mode: str, size: int, index: Floats) -> npt.NDArray[np.int64]:
    """The texel that has the value at an index, -1 for the fill value."""
    whole = index.astype(np.int64)
    if mode == "border":
        return np.where((whole >= 0) & (whole < size), whole, -1)
    if mode == "edge":
        return np.clip(whole, 0, size - 1)
    if mode == "repeat":
        return np.mod(whole, size)
    if mode in ("mirrored_repeat", "extent"):
        return np.minimum(np.mod(whole, 2 * size), np.mod(-1 - whole, 2 * size))
    if size == 1:
        return np.zeros(whole.shape, np.int64)
    period = 2 * (size - 1)  # constant, wrap, mirror
    return np.minimum(np.mod(whole, period), np.mod(-whole, period))


def _spline(x: Floats) -> Floats:
    return np.where(x < 1, 2 / 3 - x**2 + x**3 / 2, np.where(x < 2, (2 - x) ** 3 / 6, 0.0))


def _convolution(a: float, x: Floats) -> Floats:
    near = (a + 2) * x**3 - (a + 3) * x**2 + 1
    far = a * x**3 - 5 * a * x**2 + 8 * a * x - 4 * a
    return np.where(x < 1, near, np.where(x < 2, far, 0.0))


_KERNELS = {
    "cubic": _spline,
    "catmull_rom": lambda x: _convolution(-0.5, x),
    "bicubic": lambda x: _convolution(-0.75, x),
}
