"""Grids: their matrices, their errors, and those of other libraries' images."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import bindless as bl
from bindless.space import Affine, BSpline, Displacement, Grid, Sequence, resample
from tests.oracle.space import apply, world_of

TURN = np.array([[0.0, -1.0], [1.0, 0.0]])


def test_the_matrix_of_a_grid() -> None:
    grid = Grid((3, 5), spacing=(0.5, 2.0), origin=(10.0, -4.0), direction=TURN)
    expected = world_of((3, 5), (0.5, 2.0), (10.0, -4.0), TURN)
    np.testing.assert_allclose(grid.index_matrix, expected)
    np.testing.assert_allclose(grid.matrix @ (0.5, 0.5, 1), (10.0, -4.0, 1))
    np.testing.assert_allclose(grid.matrix @ (1.5, 2.5, 1), [*apply(expected, np.array([1.0, 2.0])), 1])
    again = Grid.from_matrix(grid.matrix, grid.shape)
    np.testing.assert_allclose(again.index_matrix, grid.index_matrix)
    assert again.shape == (3, 5) and grid.dimensions == 2
    np.testing.assert_allclose(again.spacing, (0.5, 2.0))


def test_numbers_for_all_axes() -> None:
    grid = Grid((4, 3, 2), 1.5, 7)
    assert grid.spacing == (1.5, 1.5, 1.5) and grid.origin == (7.0, 7.0, 7.0)
    assert Grid(6).shape == (6,)
    assert not grid.direction.flags.writeable


@pytest.mark.parametrize(
    "options",
    [
        {"shape": ()},
        {"shape": (2, 0)},
        {"shape": (2, 2, 2, 2)},
        {"shape": (2.5, 2)},
        {"spacing": 0},
        {"spacing": (1.0, -1.0)},
        {"spacing": (1.0, float("nan"))},
        {"spacing": (1.0, 1.0, 1.0)},
        {"spacing": "wide"},
        {"origin": (0.0, float("inf"))},
        {"direction": [[1.0, 2.0], [2.0, 4.0]]},
        {"direction": np.eye(3)},
    ],
)
def test_grids_that_are_none(options: dict[str, Any]) -> None:
    with pytest.raises(bl.ArgumentError, match=next(iter(options))):
        Grid(**({"shape": (4, 4)} | options))


def test_grids_of_singular_matrices() -> None:
    for matrix in (np.zeros((2, 3)), [[1, 1, 0], [1, 1, 0]], [[1, 0, 0], [0, 1, 0], [1, 0, 1]], np.eye(5)):
        with pytest.raises(bl.ArgumentError):
            Grid.from_matrix(matrix, (4, 4))


def test_images_of_simpleitk() -> None:
    image = SimpleNamespace(
        GetDimension=lambda: 2,
        GetSize=lambda: (5, 3),
        GetSpacing=lambda: (0.5, 2.0),
        GetOrigin=lambda: (10.0, -4.0),
        GetDirection=lambda: (0.0, -1.0, 1.0, 0.0),
    )
    grid = Grid.from_sitk(image)
    assert grid.shape == (3, 5)
    np.testing.assert_allclose(grid.index_matrix, world_of((3, 5), (0.5, 2.0), (10.0, -4.0), TURN))


def test_images_of_nibabel() -> None:
    affine = np.array([[0.0, 2.0, 0.0, 5.0], [-1.0, 0.0, 0.0, 6.0], [0.0, 0.0, 3.0, 7.0], [0.0, 0.0, 0.0, 1.0]])
    grid = Grid.from_nibabel(SimpleNamespace(affine=affine, shape=(4, 5, 6, 9)))
    assert grid.shape == (4, 5, 6)
    voxel = np.array([1.0, 2.0, 3.0])  # i, j, k
    expected = affine @ (*voxel, 1)
    np.testing.assert_allclose(grid.index_matrix @ (*voxel[::-1], 1), expected * (-1, -1, 1, 1))


@pytest.mark.parametrize("inside", [False, True])
def test_groups_of_ome_zarr(inside: bool) -> None:
    described = {
        "multiscales": [
            {
                "axes": [
                    {"name": "c", "type": "channel"},
                    {"name": "z", "type": "space"},
                    {"name": "y", "type": "space"},
                    {"name": "x", "type": "space"},
                ],
                "coordinateTransformations": [{"type": "scale", "scale": [1, 2, 2, 2]}],
                "datasets": [
                    {
                        "path": "1",
                        "coordinateTransformations": [
                            {"type": "scale", "scale": [1, 3.0, 0.5, 0.25]},
                            {"type": "translation", "translation": [0, 10.0, 20.0, 30.0]},
                        ],
                    }
                ],
            }
        ]
    }

    class Group(dict[str, Any]):
        attrs = {"ome": described} if inside else described

    group = Group({"1": SimpleNamespace(shape=(2, 7, 8, 9))})
    grid = Grid.from_ome_zarr(group)
    assert grid.shape == (7, 8, 9)
    assert grid.spacing == (0.5, 1.0, 6.0) and grid.origin == (60.0, 40.0, 20.0)
    with pytest.raises(bl.ArgumentError):
        Grid.from_ome_zarr(group, level=1)
    group.attrs = {}
    with pytest.raises(bl.ArgumentError):
        Grid.from_ome_zarr(group)


def test_transforms_that_do_not_fit() -> None:
    plane, space = Grid((4, 4)), Grid((4, 4, 4))
    image = np.zeros((4, 4), np.float32)
    for make in (
        lambda: Displacement(np.zeros((4, 4, 3)), plane),
        lambda: Displacement(np.zeros((4, 4, 2)), "grid"),  # type: ignore[arg-type]
        lambda: BSpline(np.zeros((5, 4, 2)), plane),
        lambda: Affine(np.zeros((2, 2))),
        lambda: Affine([[1, 0, 0], [0, float("nan"), 0]]),
        lambda: Affine.rotation((1, 2), (0, 0)),
        lambda: Sequence([]),
        lambda: Sequence([Affine(np.eye(3)), Affine(np.eye(4))]),
        lambda: resample(image, plane, space),
        lambda: resample(image, plane, plane, Affine(np.eye(4))),
        lambda: resample(image, plane, plane, Displacement(np.zeros((4, 4, 4, 3)), space)),
        lambda: resample(image, plane, plane, Displacement(np.zeros((4, 4, 2), "c8"), plane)),
        lambda: resample(image, plane, plane, "identity"),
        lambda: resample(image, Grid((4, 5)), plane),
        lambda: resample(image, plane, (4, 4)),  # type: ignore[arg-type]
        lambda: resample(image, plane, plane, filtering="sharp"),
        lambda: resample(image, plane, plane, addressing="far"),
        lambda: resample(image, plane, plane, precision="hardware"),
        lambda: resample(image, plane, plane, fill="none"),  # type: ignore[arg-type]
        lambda: resample(image, plane, plane, out=np.zeros((4, 5), np.float32)),
    ):
        with pytest.raises(bl.ArgumentError):
            make()
