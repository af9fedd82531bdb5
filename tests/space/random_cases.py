"""Grids and transforms of random numbers, for the package and for the computation in ``tests.oracle.space``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from bindless.space import Affine, BSpline, Displacement, Grid

Generator = np.random.Generator

EXTENT = 60.0  # of the images


def direction(random: Generator, dims: int) -> npt.NDArray[np.float64]:
    turn, _ = np.linalg.qr(random.normal(size=(dims, dims)))
    return np.asarray(turn)


def grid(random: Generator, dims: int, shape: Sequence[int] = (), extent: float = EXTENT) -> Grid:
    """A turned grid about the origin of the world."""
    sizes = tuple(shape) or tuple(random.integers(9, 40 if dims < 3 else 20, dims).tolist())
    spacing = extent / np.array(sizes[::-1]) * random.uniform(0.9, 1.1, dims)
    turn = direction(random, dims)
    return Grid(sizes, spacing, random.normal(size=dims) - turn @ (spacing * sizes[::-1]) / 2, turn)


def affine(random: Generator, dims: int) -> npt.NDArray[np.float64]:
    matrix = np.eye(dims + 1)
    matrix[:dims, :dims] += random.normal(size=(dims, dims)) * 0.1
    matrix[:dims, dims] = random.normal(size=dims) * 3
    return matrix


def transform(random: Generator, dims: int, kinds: str) -> tuple[list[Any], list[Any]]:
    """Parts for the package and for the oracle: ``a`` affine, ``d`` displacement, ``b`` B-spline."""
    parts: list[Any] = []
    expected: list[Any] = []
    for kind in kinds:
        if kind == "a":
            matrix = affine(random, dims)
            parts.append(Affine(matrix))
            expected.append(matrix)
            continue
        sizes = tuple(random.integers(5, 9, dims).tolist())
        lies = grid(random, dims, sizes, EXTENT * random.choice([0.8, 1.5]))
        vectors = (random.normal(size=(*sizes, dims)) * 4).astype(random.choice([np.float32, np.float64]))
        parts.append(Displacement(vectors, lies) if kind == "d" else BSpline(vectors, lies))
        expected.append((vectors, lies.index_matrix, 1 if kind == "d" else 3))
    return parts, expected
