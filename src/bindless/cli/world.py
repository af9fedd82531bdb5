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

if TYPE_CHECKING:
    from ..dask.ome_zarr import Axis, InputImage

__all__ = [
    "affine_of",
    "axes_on",
    "grid_of_nifti",
    "grid_of_zarr",
    "is_nifti",
    "open_nifti",
    "target_of",
    "transform_of",
]


def is_nifti(path: str) -> bool:
    """Whether the name of a file is one of NIfTI."""
    return path.endswith((".nii", ".nii.gz"))


def open_nifti(path: str) -> Any:
    """The volume of a file.

    Raises
    ------
    InvalidError
        It is none, or has other than three axes.
    """
    require("nibabel", "NIfTI is read and written with nibabel", "space")
    import nibabel

    if not is_nifti(path):
        raise InvalidError(f"{path} is no file of NIfTI (.nii, .nii.gz)")
    try:
        image: Any = nibabel.load(path)
    except (nibabel.filebasedimages.ImageFileError, OSError) as error:
        raise InvalidError(f"{path} is no file of NIfTI: {error}") from error
    if len(image.shape) != 3:
        raise InvalidError(f"{path} has shape {image.shape}; a volume has three axes")
    return image


def grid_of_nifti(image: Any) -> Grid:
    """Where the voxels of a volume of nibabel lie, for its array with the axes (z, y, x): the last one of the file
    first."""
    grid = Grid.from_nibabel(image)
    matrix = grid.index_matrix[:, [2, 1, 0, 3]]
    return Grid.from_matrix(_of_corners(matrix), grid.shape[::-1])


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

    image = opened(path)
    return grid_of_zarr(image, len([axis for axis in image.axes if axis.kind == "space"]))


def grid_of_zarr(image: InputImage, dims: int) -> Grid:
    """Where the elements of the last axes of an image of zarr lie."""
    axes = image.axes[len(image.axes) - dims :]
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
    whole = np.linalg.inv(source.index_matrix) @ matrix
    order = [*reversed(range(source.dimensions)), source.dimensions]
    return np.array(whole[np.ix_(order, order)])


def _of_corners(matrix: Array) -> Array:
    """``Grid.matrix`` of an ``index_matrix``."""
    whole: Array = matrix.copy()
    whole[:-1, -1] -= 0.5 * matrix[:-1, :-1].sum(axis=1)
    return whole
