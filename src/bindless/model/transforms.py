"""``Affine``, ``Displacement``, ``BSpline`` and ``Sequence``: maps of the world, and their composition."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Union

import numpy as np
import numpy.typing as npt

from .enums import Interpolation
from .errors import ArgumentError
from .grid import Grid, _affine, _constant
from .message_values import shown

__all__ = ["Affine", "BSpline", "Displacement", "Sequence", "Transform"]

Floats = npt.NDArray[np.float64]


class Affine:
    """An affine map of the world.

    Parameters
    ----------
    matrix : ArrayLike
        (d, d + 1) or (d + 1, d + 1): from a point (x, y[, z], 1) of the target's world to the source's.

    Attributes
    ----------
    matrix : NDArray[np.float64]
        Shape (d + 1, d + 1).

    Raises
    ------
    ArgumentError
        The matrix has another shape or another last row, or entries that are not finite.

    Examples
    --------
    >>> from bindless.space import Affine
    >>> Affine.rotation((0, 0, 90), centre=(10, 0, 0)).matrix @ (11, 0, 0, 1)
    array([10.,  1.,  0.,  1.])
    """

    def __init__(self, matrix: npt.ArrayLike) -> None:
        self.matrix: Floats = _constant(_affine("matrix", matrix))

    def __repr__(self) -> str:
        return f"Affine({self.matrix.tolist()})"

    @property
    def dimensions(self) -> int:
        """Axes of the world."""
        return len(self.matrix) - 1

    @classmethod
    def rotation(
        cls, degrees: float | Iterable[float], centre: Iterable[float], translation: Iterable[float] | None = None
    ) -> Affine:
        """A rotation about a point, followed by a translation.

        Parameters
        ----------
        degrees : float | Sequence[float]
            The angle from x to y; in space (about x, about y, about z), the matrices of which are multiplied as z x y:
            SimpleITK's ``Euler3DTransform``.
        centre : Sequence[float]
            The point that stays, (x, y) or (x, y, z).
        translation : Sequence[float], optional
            What is added then.
        """
        point = np.array(list(centre), np.float64)
        dims = len(point)
        angles = np.radians(np.atleast_1d(np.array(degrees, np.float64)))
        if dims not in (2, 3) or angles.shape != ({2: 1, 3: 3}[dims],):
            raise ArgumentError(
                f"degrees={shown(degrees)}: a plane has one angle, space three; centre={point.tolist()}"
            )
        turns = [_turn(dims, axis, angle) for axis, angle in zip((2,) if dims == 2 else (0, 1, 2), angles)]
        turn = turns[0] if dims == 2 else turns[2] @ turns[0] @ turns[1]
        distance = np.zeros(dims) if translation is None else np.array(list(translation), np.float64)
        return cls(np.column_stack([turn, point - turn @ point + distance]))


def _turn(dims: int, axis: int, angle: float) -> Floats:
    """The rotation about an axis of space, of which a plane has the part of x and y."""
    matrix = np.eye(3)
    one, other = [k for k in range(3) if k != axis]
    sine = -np.sin(angle) if axis == 1 else np.sin(angle)
    matrix[one, one] = matrix[other, other] = np.cos(angle)
    matrix[one, other], matrix[other, one] = -sine, sine
    return matrix[:dims, :dims]


class _OfGrid:
    """A transform by vectors on a grid: a point moves by the vector there."""

    interpolation: Interpolation
    name: str

    def __init__(self, vectors: Any, grid: Grid) -> None:
        if not isinstance(grid, Grid):
            raise ArgumentError(f"grid={shown(grid)} is no Grid")
        values = np.asarray(vectors) if isinstance(vectors, (list, tuple)) else vectors
        shape, needed = tuple(getattr(values, "shape", ())), (*grid.shape, grid.dimensions)
        if grid.dimensions == 1 and shape == grid.shape:
            values, shape = values[:, None], needed
        if shape != needed:
            raise ArgumentError(f"{self.name} has shape {shape}; on a grid of shape {grid.shape} it is {needed}")
        self.vectors: Any = values
        self.grid = grid

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name}, {self.grid!r})"

    @property
    def dimensions(self) -> int:
        """Axes of the world."""
        return self.grid.dimensions


class Displacement(_OfGrid):
    """A displacement field: each point moves by the vector there, interpolated linearly.

    Parameters
    ----------
    field : ArrayLike
        Shape (\\*grid.shape, d), in (x, y[, z]) order and in units of the world; numbers of any library. It is read
        when the transform is used. Beyond the outer borders of its outer pixels the displacement is 0.
    grid : Grid
        Where the vectors lie: any grid, as coarse as the field is smooth.

    Raises
    ------
    ArgumentError
        The field has another shape.
    """

    interpolation = Interpolation.linear
    name = "field"

    def __init__(self, field: Any, grid: Grid) -> None:
        super().__init__(field, grid)


class BSpline(_OfGrid):
    """A free-form deformation: each point moves by a cubic B-spline of vectors.

    Parameters
    ----------
    coefficients : ArrayLike
        Shape (\\*grid.shape, d), in (x, y[, z]) order and in units of the world. The displacement is 0 where not all
        coefficients exist: less than one pixel from the outer centres of the grid.
    grid : Grid
        Where the coefficients lie.

    Raises
    ------
    ArgumentError
        The coefficients have another shape.
    """

    interpolation = Interpolation.cubic
    name = "coefficients"

    def __init__(self, coefficients: Any, grid: Grid) -> None:
        super().__init__(coefficients, grid)


class Sequence:
    """Transforms one after the other: the first one takes points of the target's world.

    Parameters
    ----------
    transforms : Iterable[Transform]
        One or more, of one number of axes. (SimpleITK's composites begin with the last one that was added.)

    Attributes
    ----------
    parts : tuple[Affine | Displacement | BSpline, ...]
        The transforms, with those of sequences in their places.

    Raises
    ------
    ArgumentError
        There are none, one is no transform, or they differ in their axes.
    """

    def __init__(self, transforms: Iterable[Transform]) -> None:
        parts: list[Part] = []
        for transform in transforms:
            parts += parts_of(transform)
        if not parts or len({part.dimensions for part in parts}) > 1:
            axes = [part.dimensions for part in parts]
            raise ArgumentError(f"transforms have {axes} axes: there are one or more, all of the same number")
        self.parts = tuple(parts)

    def __repr__(self) -> str:
        return f"Sequence({list(self.parts)!r})"

    @property
    def dimensions(self) -> int:
        """Axes of the world."""
        return self.parts[0].dimensions


Part = Union[Affine, Displacement, BSpline]
Transform = Union[Affine, Displacement, BSpline, Sequence]


def parts_of(transform: Transform | None) -> tuple[Part, ...]:
    """The parts of a transform; a matrix is an affine one, and None is the identity."""
    if transform is None:
        return ()
    if isinstance(transform, Sequence):
        return transform.parts
    if isinstance(transform, (Affine, Displacement, BSpline)):
        return (transform,)
    if isinstance(transform, (list, np.ndarray)):
        return (Affine(transform),)
    raise ArgumentError(f"transform={shown(transform)} is no transform of bindless.space, nor a matrix")
