"""``Image.warp`` with displacements on coarse grids, beside float64."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import bindless as bl
from bindless.space import BSpline, Displacement, Grid
from tests.oracle.samples import sample
from tests.oracle.space import apply, indices, sums

Array = npt.NDArray[Any]

SHAPES = {1: (41,), 2: (29, 37), 3: (11, 13, 15)}  # of images and of pictures
NODES = {1: (7,), 2: (6, 8), 3: (5, 6, 7)}
MATRICES = {
    1: np.array([[0.9, 1.3]]),
    2: np.array([[0.9, 0.1, 1.3], [-0.08, 1.05, 0.4]]),
    3: np.array([[0.9, 0.1, 0.02, 1.3], [-0.08, 1.05, 0.05, 0.4], [0.03, -0.04, 0.95, 0.2]]),
}


def grid_of(dims: int, *, inner: bool = False) -> Grid:
    """One whose outer vectors lie at the centres of the outer pixels; or, ``inner``, well inside of them."""
    sizes, nodes = np.array(SHAPES[dims][::-1]), np.array(NODES[dims][::-1])
    spacing = (sizes - 1) / (nodes - 1) * (0.6 if inner else 1.0)
    return Grid(NODES[dims], spacing=spacing, origin=0.2 * sizes if inner else 0.5)


def vectors_of(dims: int) -> Array:
    return np.random.default_rng(dims).uniform(-2, 2, (*NODES[dims], dims)).astype(np.float32)


def image_of(dims: int) -> Array:
    at = indices(SHAPES[dims])
    return (100 * np.cos(0.4 * at).prod(-1)).astype(np.float32)


def expected(image: Array, vectors: Array, grid: Grid, matrix: Array, degree: int) -> Array:
    """The picture of an image with its edges, in float64."""
    dims = image.ndim
    points = indices(image.shape) + 0.5
    at = apply(np.linalg.inv(grid.index_matrix), points)
    nodes = np.array(grid.shape[::-1])
    low, high = (-0.5, nodes - 0.5) if degree == 1 else (1.0, nodes - 2.0)
    inside = ((at >= low - 1e-9) & (at <= high + 1e-9)).all(-1)
    moves = np.where(inside[..., None], sums(vectors, at, degree), 0.0)
    places = points @ matrix[:, :dims].T + matrix[:, dims] + moves
    return sample(image[..., None], places - 0.5)[..., 0]


@pytest.mark.parametrize("inner", [False, True])
@pytest.mark.parametrize("degree", [1, 3])
@pytest.mark.parametrize("dims", [1, 2, 3])
def test_grids(queue: bl.Queue, dims: int, degree: int, inner: bool) -> None:
    image, vectors, grid, matrix = image_of(dims), vectors_of(dims), grid_of(dims, inner=inner), MATRICES[dims]
    wanted = expected(image, vectors, grid, matrix, degree)
    options: dict[str, Any] = (
        {"displacement": vectors, "grid": grid} if degree == 1 else {"displacement": BSpline(vectors, grid)}
    )
    with bl.Image(image, dimensions=dims, precision="exact", queue=queue) as one:
        picture = one.warp(matrix, image.shape, **options)
        np.testing.assert_allclose(picture, wanted, rtol=0, atol=1e-3)
        out = np.empty_like(image)
        assert one.warp(matrix, image.shape, out=out, **options) is out
        np.testing.assert_array_equal(out, picture)
        there = bl.usm_empty(vectors.shape, vectors.dtype, queue)
        there[...] = vectors
        moved = {"displacement": there, "grid": grid} if degree == 1 else {"displacement": BSpline(there, grid)}
        on_device = one.warp(matrix, image.shape, **moved)
        np.testing.assert_allclose(np.asarray(on_device), picture, rtol=0, atol=1e-4)
    with bl.Image(image, dimensions=dims, queue=queue) as one:
        np.testing.assert_allclose(one.warp(matrix, image.shape, **options), wanted, rtol=0, atol=0.8)


def test_normalized_coordinates(queue: bl.Queue) -> None:
    """Matrix and vectors lead to the image's own coordinates."""
    image, vectors, grid, size = image_of(2), vectors_of(2), grid_of(2), np.array(SHAPES[2][::-1])
    wanted = expected(image, vectors, grid, MATRICES[2], 1)
    with bl.Image(image, coordinate="normalized", precision="exact", queue=queue) as one:
        picture = one.warp(MATRICES[2] / size[:, None], image.shape, displacement=vectors / size, grid=grid)
    np.testing.assert_allclose(picture, wanted, rtol=0, atol=1e-3)


def test_layers_and_repeated_calls(queue: bl.Queue) -> None:
    """Arrays of the picture's shape, with a grid and without, are read in turn."""
    image = image_of(2)
    stack, shape = np.stack([image, -image]), image.shape
    vectors = np.random.default_rng(5).uniform(-2, 2, (*shape, 2)).astype(np.float32)
    grid = Grid(shape, spacing=2.0, origin=0.5)
    with bl.Image(stack, layers=True, precision="exact", queue=queue) as one:
        for _ in range(3):
            plain = one.warp(MATRICES[2], shape, displacement=vectors)
            fine = one.warp(MATRICES[2], shape, displacement=vectors, grid=Grid(shape, origin=0.5))
            coarse = one.warp(MATRICES[2], shape, displacement=vectors, grid=grid)
            np.testing.assert_allclose(fine, plain, rtol=0, atol=1e-3)
            wanted = expected(image, vectors, grid, MATRICES[2], 1)
            np.testing.assert_allclose(coarse, np.stack([wanted, -wanted]), rtol=0, atol=1e-3)


def test_wrong_grids(queue: bl.Queue) -> None:
    vectors, grid = vectors_of(2), grid_of(2)
    with bl.Image(image_of(2), queue=queue) as one:
        for matrix, options in (
            (MATRICES[2], {"displacement": vectors, "grid": 3}),
            (MATRICES[2], {"displacement": None, "grid": grid}),
            (MATRICES[2], {"displacement": vectors[1:], "grid": grid}),
            (MATRICES[2], {"displacement": vectors.astype(complex), "grid": grid}),
            (MATRICES[2], {"displacement": Displacement(vectors_of(3), grid_of(3))}),
            (np.vstack([MATRICES[2], [0.1, 0, 1]]), {"displacement": vectors, "grid": grid}),
            (MATRICES[3], {"displacement": vectors, "grid": grid}),
        ):
            with pytest.raises(bl.ArgumentError):
                one.warp(matrix, (5, 6), **options)  # type: ignore[arg-type]
