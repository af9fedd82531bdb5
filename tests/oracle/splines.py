"""Coefficients of B-splines, computed independently: a dense system of equations for each axis, in float64."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["padded", "solved", "spline_matrix"]

Array = npt.NDArray[Any]

_WEIGHTS = {2: (1, 6, 1), 3: (1, 4, 1), 4: (1, 76, 230, 76, 1), 5: (1, 26, 66, 26, 1)}  # of neighbours, by the order


def spline_matrix(n: int, boundary: str, order: int = 3) -> npt.NDArray[np.float64]:
    """(n, n): the samples of coefficients, as weights of neighbours; boundary in the names of ``Boundary``."""
    cycle = {
        "mirror": [*range(n), *range(n - 2, 0, -1)],
        "mirrored_repeat": [*range(n), *reversed(range(n))],
        "repeat": [*range(n)],
    }[boundary]
    matrix = np.zeros((n, n))
    for i in range(n):
        weights = _WEIGHTS[order]
        for step, weight in enumerate(weights, -(len(weights) // 2)):
            matrix[i, cycle[(i + step) % len(cycle)]] += weight / sum(weights)
    return matrix


def solved(samples: Array, axes: Sequence[int], boundaries: Sequence[str], order: int = 3) -> npt.NDArray[np.float64]:
    """The coefficients along some axes, each with its boundary."""
    values = samples.astype(np.float64)
    for axis, boundary in zip(axes, boundaries, strict=True):
        lines = np.moveaxis(values, axis, 0)
        system = spline_matrix(len(lines), boundary, order)
        values = np.moveaxis(np.linalg.solve(system, lines.reshape(len(lines), -1)).reshape(lines.shape), 0, axis)
    return values


def padded(samples: Array, margins: dict[int, int], fill: float | None) -> Array:
    """Samples within margins along some axes, of a value or of the outermost samples."""
    widths = [(margins.get(axis, 0),) * 2 for axis in range(samples.ndim)]
    if fill is None:
        return np.pad(samples, widths, mode="edge")
    return np.pad(samples, widths, constant_values=fill)
