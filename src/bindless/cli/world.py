"""Options of ``bindless resample`` that speak of the world: grids by spacing or by another file, transforms of ITK."""

from __future__ import annotations

import argparse
import math
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ..model.arrays import Array
from ..model.errors import InvalidError
from ..model.grid import Grid
from ..model.transforms import Affine, Transform, parts_of
from ..space import from_sitk
from .extras import require
from .matrix_file import matrix_in
from .nifti import grid_of_nifti, is_nifti, open_nifti

if TYPE_CHECKING:
    from ..dask.ome_zarr import Axis, InputImage

__all__ = [
    "affine_of",
    "axes_on",
    "grid_of_zarr",
    "reversed_axes",
    "target_of",
    "transform_of",
]


def target_of(args: argparse.Namespace, source: Grid) -> Grid:
    """The grid of ``--spacing`` or ``--like``, or the source's.

    Raises
    ------
    InvalidError
        The option does not fit.
    """
    if args.like is not None:
        target = _grid_in(args.like)
        if target.dimensions != source.dimensions:
            raise InvalidError(
                f"--like {args.like} has {target.dimensions} axes in space, the input {source.dimensions}"
            )
        return target
    return source if args.spacing is None else _spaced(source, args.spacing)


def _grid_in(path: str) -> Grid:
    if is_nifti(path):
        return grid_of_nifti(open_nifti(path))
    from ..dask.ome_zarr import opened

    return grid_of_zarr(path, opened(path))


def grid_of_zarr(path: str, image: InputImage) -> Grid:
    """Where the elements of an image of zarr lie along its axes in space.

    Raises
    ------
    InvalidError
        Those are not its last axes, up to three.
    """
    dims = len([axis for axis in image.axes if axis.kind == "space"])
    axes = image.axes[len(image.axes) - dims :]
    if not 1 <= dims <= 3 or any(axis.kind != "space" for axis in axes):
        names = [axis.name for axis in image.axes]
        raise InvalidError(f"{path} has the axes {names}: the last ones, up to three, are in space")
    return Grid(
        image.array.shape[len(image.axes) - dims :],
        [axis.scale for axis in reversed(axes)],
        [axis.translation for axis in reversed(axes)],
    )


def axes_on(grid: Grid, axes: Sequence[Axis]) -> tuple[Axis, ...]:
    """The axes of an image whose last ones lie on a grid."""
    count, lies = len(axes) - grid.dimensions, zip(grid.spacing[::-1], grid.origin[::-1])
    space = [replace(axis, scale=scale, translation=place) for axis, (scale, place) in zip(axes[count:], lies)]
    return (*axes[:count], *space)


def _spaced(grid: Grid, text: str) -> Grid:
    """The box of a grid with other distances of its pixels, from the same corner."""
    try:
        steps = np.array([float(word) for word in text.split(",")])
    except ValueError:
        steps = np.zeros(0)
    if len(steps) != grid.dimensions or not all(0 < step < math.inf for step in steps):
        raise InvalidError(f"--spacing {text}: {grid.dimensions} positive numbers with commas, z first")
    sizes = [max(round(size * old / new), 1) for size, old, new in zip(grid.shape, grid.spacing[::-1], steps)]
    matrix = grid.matrix
    matrix[:-1, :-1] = grid.direction * steps[::-1]
    return Grid.from_matrix(matrix, sizes)


def transform_of(args: argparse.Namespace, dims: int) -> Transform | None:
    """The transform of ``--transform``, or of a ``--matrix`` in units of the world, whose points are (x, y, z).

    Raises
    ------
    InvalidError
        A file has none, or one of other dimensions.
    """
    path = args.transform
    if path is None:
        return Affine(matrix_in(args.matrix)) if args.matrix is not None and args.matrix_units == "world" else None
    require("SimpleITK", "transforms of ITK are read with SimpleITK", "space")
    import SimpleITK

    read: Any = SimpleITK.ReadTransform
    try:
        transform = read(path)
    except RuntimeError as error:
        raise InvalidError(f"--transform {path} is no transform of ITK: {error}") from error
    if transform.GetDimension() != dims:
        raise InvalidError(f"--transform {path} has {transform.GetDimension()} dimensions, and the image {dims}")
    return from_sitk(transform)


def affine_of(transform: Transform | None, source: Grid, target: Grid) -> Array:
    """The matrix from indices of a result to those of the input, in the order of the arrays' axes.

    Raises
    ------
    InvalidError
        The transform has fields.
    """
    matrix = target.index_matrix
    for part in parts_of(transform):
        if not isinstance(part, Affine):
            raise InvalidError(
                f"the transform has a field, {part!r}: arrays of zarr take matrices and --displacement; "
                "bindless.space.resample, and files of NIfTI, take fields in memory"
            )
        matrix = part.matrix @ matrix
    return reversed_axes(np.linalg.inv(source.index_matrix) @ matrix)


def reversed_axes(matrix: Array) -> Array:
    """A matrix (d + 1, d + 1) of points (x, y, z) as one of (z, y, x), or the other way round."""
    dims = len(matrix) - 1
    order = [*reversed(range(dims)), dims]
    return np.array(matrix[np.ix_(order, order)])
