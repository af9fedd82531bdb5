"""``Grid``: where the pixels of an array lie in the world."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from .errors import ArgumentError
from .message_values import shown

__all__ = ["Grid", "of_pixels"]

Floats = npt.NDArray[np.float64]

_SMALLEST = 1e-12  # determinant of directions


@dataclass(frozen=True, eq=False, init=False, repr=False)
class Grid:
    """The pixels of an array of one to three dimensions in the world.

    Spacing, origin and the components of points are in (x, y[, z]) order, shapes in numpy's. The world has any unit and
    any axes; SimpleITK's are millimetres to the left, to the back and upward of a patient (LPS).

    Parameters
    ----------
    shape : int | Sequence[int]
        ([depth,] height, width): that of the array, without stacks and channels.
    spacing : float | Sequence[float], default 1.0
        Distance of the centres of neighbours, along each axis.
    origin : float | Sequence[float], default 0.0
        Position of the centre of the first pixel.
    direction : ArrayLike, optional
        Shape (d, d): its columns are the directions of the axes x, y, z; default those of the world.

    Attributes
    ----------
    shape : tuple[int, ...]
        ([depth,] height, width).
    spacing, origin : tuple[float, ...]
        (x, y[, z]).
    direction : NDArray[np.float64]
        Shape (d, d).

    Raises
    ------
    ArgumentError
        A size or a spacing that is not positive, numbers that are not finite, or directions that are singular.

    Examples
    --------
    >>> from bindless.space import Grid
    >>> grid = Grid((40, 256, 256), spacing=(0.8, 0.8, 2.5), origin=(-102.0, -102.0, 30.0))
    >>> grid.matrix @ (0.5, 0.5, 0.5, 1)  # the centre of the first pixel
    array([-102., -102.,   30.,    1.])
    """

    shape: tuple[int, ...]
    spacing: tuple[float, ...]
    origin: tuple[float, ...]
    direction: Floats
    index_matrix: Floats = field(repr=False)
    """(d + 1, d + 1): from (i, j[, k], 1), x first, to the world."""

    def __init__(
        self,
        shape: int | Iterable[int],
        spacing: float | Iterable[float] = 1.0,
        origin: float | Iterable[float] = 0.0,
        direction: npt.ArrayLike | None = None,
    ) -> None:
        sizes = _sizes(shape)
        dims = len(sizes)
        steps, first = _numbers("spacing", spacing, dims), _numbers("origin", origin, dims)
        if not min(steps) > 0:
            raise ArgumentError(f"spacing={shown(spacing)}: distances are positive")
        axes = np.eye(dims) if direction is None else _matrix("direction", direction, (dims, dims))
        if abs(np.linalg.det(axes)) < _SMALLEST:
            raise ArgumentError(f"direction={axes.tolist()} is singular: its columns are the directions of the axes")
        matrix = np.eye(dims + 1)
        matrix[:dims, :dims], matrix[:dims, dims] = axes * steps, first
        for name, value in (
            ("shape", sizes),
            ("spacing", steps),
            ("origin", first),
            ("direction", _constant(axes)),
            ("index_matrix", _constant(matrix)),
        ):
            object.__setattr__(self, name, value)

    def __repr__(self) -> str:
        return f"Grid({self.shape}, {self.spacing}, {self.origin}, {self.direction.tolist()})"

    @property
    def dimensions(self) -> int:
        """Axes of the grid."""
        return len(self.shape)

    @cached_property
    def _to_indices(self) -> Floats:
        """The inverse of ``index_matrix``."""
        return _constant(np.asarray(np.linalg.inv(self.index_matrix), np.float64))

    @property
    def matrix(self) -> Floats:
        """(d + 1, d + 1): from pixel coordinates, in which the centre of the first pixel is at 0.5, to the world."""
        return of_pixels(self.index_matrix)

    # ------------------------------------------------------------------ other libraries' images

    @classmethod
    def from_matrix(cls, matrix: npt.ArrayLike, shape: int | Iterable[int]) -> Grid:
        """The grid whose ``matrix`` is given.

        Parameters
        ----------
        matrix : ArrayLike
            (d, d + 1) or (d + 1, d + 1), affine: from pixel coordinates to the world.
        shape : int | Sequence[int]
            ([depth,] height, width).

        Raises
        ------
        ArgumentError
            The matrix is not affine, or singular.
        """
        sizes = _sizes(shape)
        whole = _affine("matrix", matrix, len(sizes))
        linear = whole[:-1, :-1]
        steps = np.linalg.norm(linear, axis=0)
        if not steps.min() > 0:
            raise ArgumentError(f"matrix={whole.tolist()} is singular: a column of it has no length")
        return cls(sizes, steps, whole[:-1, -1] + 0.5 * linear.sum(axis=1), linear / steps)

    @classmethod
    def from_sitk(cls, image: Any) -> Grid:
        """The grid of an image of SimpleITK, for the array that ``GetArrayFromImage`` gives."""
        dims = image.GetDimension()
        direction = np.reshape(image.GetDirection(), (dims, dims))
        return cls(tuple(image.GetSize())[::-1], image.GetSpacing(), image.GetOrigin(), direction)

    @classmethod
    def from_nibabel(cls, image: Any) -> Grid:
        """The grid of an image of nibabel, for the first three axes of its array as they are.

        The world is SimpleITK's: x to the left and y to the back, which nibabel's affine has the other way round. Axis
        x of the grid is the last axis of the array, as everywhere here, and so nibabel's k.
        """
        affine = np.diag([-1.0, -1.0, 1.0, 1.0]) @ np.asarray(image.affine, np.float64)
        return cls.from_matrix(of_pixels(affine[:, [2, 1, 0, 3]]), tuple(image.shape)[:3])

    @classmethod
    def from_ome_zarr(cls, group: Any, level: int = 0) -> Grid:
        """The grid of a level of a group of OME-Zarr 0.4 or 0.5, for the axes of its array that are in space.

        Parameters
        ----------
        group : Mapping
            Group of zarr: has ``attrs``, and arrays by their paths.
        level : int, default 0
            Which of the multiscale image's arrays.

        Raises
        ------
        ArgumentError
            The group describes no multiscale image, or has no such level.
        """
        attributes = group.attrs
        described = attributes.get("ome", attributes)
        if "multiscales" not in described:
            raise ArgumentError("group has no multiscales: it is no image of OME-Zarr 0.4 or 0.5")
        image = described["multiscales"][0]
        levels = image["datasets"]
        if not -len(levels) <= level < len(levels):
            raise ArgumentError(f"level={level}: the image has {len(levels)} levels")
        steps = [*levels[level].get("coordinateTransformations", ()), *image.get("coordinateTransformations", ())]
        array, axes = group[levels[level]["path"]], image["axes"]
        scale, origin = np.ones(len(axes)), np.zeros(len(axes))
        for step in steps:
            scale, origin = _follow(step, scale, origin)
        inside = [axis for axis, described in enumerate(axes) if described.get("type") == "space"]
        sizes = tuple(array.shape[axis] for axis in inside)
        return cls(sizes, scale[inside][::-1], origin[inside][::-1])


def of_pixels(matrix: Floats) -> Floats:
    """A map (d + 1, d + 1) of indices as one of pixel coordinates, in which the centre of the first pixel is at 0.5."""
    whole: Floats = matrix.copy()
    whole[:-1, -1] -= 0.5 * matrix[:-1, :-1].sum(axis=1)
    return whole


def _follow(step: Mapping[str, Any], scale: Floats, origin: Floats) -> tuple[Floats, Floats]:
    """Scale and translation followed by another transformation of OME-Zarr."""
    kind = step.get("type")
    if kind == "scale":
        return scale * step["scale"], origin * step["scale"]
    if kind == "translation":
        return scale, origin + step["translation"]
    if kind == "identity":
        return scale, origin
    raise ArgumentError(f"group has a coordinate transformation of type {shown(kind)}: scale and translation are known")


def _sizes(shape: int | Iterable[int]) -> tuple[int, ...]:
    try:
        sizes = tuple([operator.index(size) for size in (shape if isinstance(shape, Iterable) else (shape,))])
    except TypeError:
        raise ArgumentError(f"shape={shown(shape)} is not made of integers") from None
    if not 1 <= len(sizes) <= 3 or min(sizes) < 1:
        raise ArgumentError(f"shape={sizes}: a grid has one to three axes, each of one pixel or more")
    return sizes


def _numbers(name: str, value: Any, dims: int) -> tuple[float, ...]:
    """One number for each axis, from one or from as many."""
    numbers = _matrix(name, value, None)
    if numbers.shape not in ((), (dims,)):
        raise ArgumentError(f"{name}={shown(value)} has shape {numbers.shape}; it is a number, or one for each axis")
    return tuple(np.broadcast_to(numbers, dims).tolist())


def _matrix(name: str, value: Any, shape: tuple[int, ...] | None) -> Floats:
    try:
        array = np.array(value, np.float64)
    except (TypeError, ValueError, OverflowError):
        raise ArgumentError(f"{name}={shown(value)} is not made of numbers") from None
    if shape is not None and array.shape != shape:
        raise ArgumentError(f"{name} has shape {array.shape}; it is {shape}")
    if not np.isfinite(array).all():
        raise ArgumentError(f"{name}={array.tolist()} has entries that are not finite")
    return array


def _affine(name: str, value: Any, dims: int | None = None) -> Floats:
    """(d + 1, d + 1) from that, or from (d, d + 1)."""
    array = _matrix(name, value, None)
    count = array.shape[-1] - 1 if dims is None and array.ndim else dims
    if count is None or not 1 <= count <= 3 or array.shape not in ((count, count + 1), (count + 1, count + 1)):
        raise ArgumentError(f"{name} has shape {array.shape}; it is (d, d + 1) or (d + 1, d + 1), of one to three axes")
    last = [0.0] * count + [1.0]
    if len(array) == count:
        return np.vstack([array, last])
    if array[-1].tolist() != last:
        raise ArgumentError(f"{name} has {array[-1].tolist()} as its last row; an affine one has {last}")
    return array


def _constant(array: Floats) -> Floats:
    array.flags.writeable = False
    return array
