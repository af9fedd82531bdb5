"""``Geometry``: sources and detectors of the views of a scan, in the world."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Union

import numpy as np
import numpy.typing as npt

from ..model.errors import ArgumentError
from ..model.message_values import shown

__all__ = ["Geometry", "cone", "fan", "pair", "parallel", "shape_of", "vectors", "widened"]

Floats = npt.NDArray[np.float64]
Shape = Union[int, Sequence[int]]
Pair = Union[float, Sequence[float]]


@dataclass(frozen=True, eq=False)
class Geometry:
    """The views of a scan: for each, a source or a direction of rays, and a detector of rows and columns.

    ``parallel``, ``fan``, ``cone`` and ``vectors`` make them. ``geometry[indices]`` has some of the views.

    Attributes
    ----------
    frames : NDArray[np.float64]
        Shape (views, 4, 3): the source, or the direction of parallel rays; the centre of the first pixel; the steps
        from a column and from a row to the next one. In the order x, y, z, in world units. Of a curved detector: those
        of the flat one that touches it where the middle ray meets it.
    detector_shape : tuple[int, int]
        Rows and columns.
    is_parallel : bool
        Whether rays are parallel.
    angles : NDArray[np.float64] | None
        Of the views, in radians; None of vectors.
    spacing : tuple[float, float]
        Distances of columns and of rows.
    source_distance, detector_distance : float
        From the axis of rotation; infinite of parallel rays.
    offset : tuple[float, float]
        Of the detector's middle, along columns and rows.
    pitch : float
        Rise in a turn.
    column_angle : float
        Between two columns, in radians, of a detector that is curved around the source; 0 of a flat one.
    """

    frames: Floats
    detector_shape: tuple[int, int]
    is_parallel: bool
    angles: Floats | None = None
    spacing: tuple[float, float] = (1.0, 1.0)
    source_distance: float = float("inf")
    detector_distance: float = float("inf")
    offset: tuple[float, float] = (0.0, 0.0)
    pitch: float = 0.0
    column_angle: float = 0.0

    def __len__(self) -> int:
        return len(self.frames)

    def __getitem__(self, views: Any) -> Geometry:
        angles = None if self.angles is None else np.atleast_1d(self.angles[views])
        frames = self.frames[views]
        return replace(self, frames=frames.reshape(-1, 4, 3), angles=angles)

    @property
    def foot(self) -> tuple[float, float]:
        """Column and row where the middle ray meets the detector, or the middle of a detector that is flat."""
        middle = [(size - 1) / 2 for size in self.detector_shape[::-1]]
        if self.column_angle == 0:
            return middle[0], middle[1]
        return middle[0] - self.offset[0] / self.spacing[0], middle[1] - self.offset[1] / self.spacing[1]

    def __repr__(self) -> str:
        kind = "parallel" if self.is_parallel else "curved cone" if self.column_angle else "cone"
        return f"Geometry({kind}, {len(self)} views of {self.detector_shape[0]} x {self.detector_shape[1]} pixels)"


def widened(geometry: Geometry, before: int, after: int) -> Geometry:
    """The geometry with more columns before the first and after the last one."""
    rows, columns = geometry.detector_shape
    frames = geometry.frames.copy()
    frames[:, 1] -= before * frames[:, 2]
    offset = geometry.offset[0] + (after - before) / 2 * geometry.spacing[0], geometry.offset[1]
    return replace(geometry, frames=frames, detector_shape=(rows, columns + before + after), offset=offset)


def parallel(
    angles: npt.ArrayLike, detector_shape: Shape, spacing: Pair = 1.0, *, offset: Pair = 0.0, pitch: float = 0.0
) -> Geometry:
    """Parallel rays. At angle 0 they run along +y, columns along +x, rows along +z; angles turn from +x to +y.

    Parameters
    ----------
    angles : ArrayLike
        Of the views, in radians.
    detector_shape : int | tuple[int, int]
        Columns, or rows and columns.
    spacing : float | tuple[float, float], default 1.0
        Distance of columns, or of columns and rows, in world units.
    offset : float | tuple[float, float], default 0.0
        Where the middle of the detector lies beside the axis of rotation, along columns, or along columns and rows.
    pitch : float, default 0.0
        Rise along z in each turn; the scan is centred.

    Returns
    -------
    Geometry
        The views.

    Raises
    ------
    ArgumentError
        No pixels, a spacing that is not positive, or numbers that are not finite.

    Examples
    --------
    >>> from bindless import tomography
    >>> tomography.parallel(np.linspace(0, np.pi, 180, endpoint=False), 128)
    Geometry(parallel, 180 views of 1 x 128 pixels)
    """
    return _turning(angles, detector_shape, spacing, offset, pitch, None)


def fan(
    angles: npt.ArrayLike, detector_shape: Shape, spacing: Pair, source_distance: float, detector_distance: float,
    *, offset: Pair = 0.0, curved: bool = False,
) -> Geometry:  # fmt: skip
    """Rays from a source to a line, or an arc, of pixels; ``cone`` with one row.

    Parameters
    ----------
    angles, spacing, source_distance, detector_distance, offset, curved
        As of ``cone``.
    detector_shape : int
        Columns.

    Returns
    -------
    Geometry
        The views.

    Raises
    ------
    ArgumentError
        As of ``cone``.

    Examples
    --------
    >>> from bindless import tomography
    >>> tomography.fan(np.linspace(0, 2 * np.pi, 90, endpoint=False), 128, 1.5, 300, 150)
    Geometry(cone, 90 views of 1 x 128 pixels)
    """
    return cone(angles, detector_shape, spacing, source_distance, detector_distance, offset=offset, curved=curved)


def cone(
    angles: npt.ArrayLike, detector_shape: Shape, spacing: Pair, source_distance: float, detector_distance: float,
    pitch: float = 0.0, *, offset: Pair = 0.0, curved: bool = False,
) -> Geometry:  # fmt: skip
    """Rays from a source to a flat or curved detector, which turn about the z axis together.

    At angle 0 the middle ray runs along +y, columns along +x, rows along +z; angles turn from +x to +y.

    Parameters
    ----------
    angles : ArrayLike
        Of the views, in radians.
    detector_shape : int | tuple[int, int]
        Columns, or rows and columns.
    spacing : float | tuple[float, float]
        Distance of columns, or of columns and rows, on the detector.
    source_distance, detector_distance : float
        From the axis of rotation to the source, and to the detector.
    pitch : float, default 0.0
        Rise of source and detector along z in each turn; the scan is centred.
    offset : float | tuple[float, float], default 0.0
        Where the middle of the detector lies beside the middle ray, along columns, or along columns and rows.
    curved : bool, default False
        Whether the detector is a part of a cylinder around the source, whose columns have equal angles between them:
        that of their spacing, and the offset, along the arc.

    Returns
    -------
    Geometry
        The views.

    Raises
    ------
    ArgumentError
        No pixels, a spacing or a distance that is not positive, or numbers that are not finite; a curved detector with
        columns at 90 degrees or more from the middle ray.

    Examples
    --------
    >>> from bindless import tomography
    >>> tomography.cone(np.linspace(0, 2 * np.pi, 360, endpoint=False), (128, 160), 1.5, 300, 150)
    Geometry(cone, 360 views of 128 x 160 pixels)
    """
    distances = float(source_distance), float(detector_distance)
    if not (0 < distances[0] < np.inf and -distances[0] < distances[1] < np.inf):
        raise ArgumentError(
            f"source_distance={source_distance!r}, detector_distance={detector_distance!r}: the source is at a "
            "positive distance from the axis, and the detector beyond the source"
        )
    geometry = _turning(angles, detector_shape, spacing, offset, pitch, distances)
    if not curved:
        return geometry
    geometry = replace(geometry, column_angle=geometry.spacing[0] / sum(distances))
    reach = max(abs(column - geometry.foot[0]) for column in (0, geometry.detector_shape[1] - 1))
    if reach * geometry.column_angle >= np.pi / 2:
        raise ArgumentError(
            f"detector_shape={shown(detector_shape)}, spacing={shown(spacing)}: columns of this curved detector are up "
            f"to {np.degrees(reach * geometry.column_angle):.0f} degrees from the middle ray; fewer than 90 are needed"
        )
    return geometry


def vectors(
    sources: npt.ArrayLike, centres: npt.ArrayLike, columns: npt.ArrayLike, rows: npt.ArrayLike, detector_shape: Shape,
    *, parallel: bool = False,
) -> Geometry:  # fmt: skip
    """Views with vectors of their own, as ASTRA's ``cone_vec`` and ``parallel3d_vec``.

    Parameters
    ----------
    sources : ArrayLike
        Shape (views, 3), in the order x, y, z: sources, or the directions of parallel rays.
    centres : ArrayLike
        Shape (views, 3): middles of the detectors.
    columns, rows : ArrayLike
        Shape (views, 3): steps from a column, and from a row, to the next one.
    detector_shape : int | tuple[int, int]
        Columns, or rows and columns.
    parallel : bool, default False
        Whether ``sources`` are directions.

    Returns
    -------
    Geometry
        The views.

    Raises
    ------
    ArgumentError
        Shapes that do not fit, or numbers that are not finite.

    Examples
    --------
    >>> from bindless import tomography
    >>> tomography.vectors([(0, -300, 0)], [(0, 150, 0)], [(1.5, 0, 0)], [(0, 0, 1.5)], (128, 160))
    Geometry(cone, 1 views of 128 x 160 pixels)
    """
    rows_and_columns = shape_of(detector_shape)
    parts = {"sources": sources, "centres": centres, "columns": columns, "rows": rows}
    arrays = {name: np.asarray(value, np.float64) for name, value in parts.items()}
    count = len(arrays["sources"]) if arrays["sources"].ndim else 0
    for name, array in arrays.items():
        if array.shape != (count, 3) or not np.isfinite(array).all():
            raise ArgumentError(f"{name} of shape {array.shape}: ({count}, 3) finite numbers are needed")
    frames = np.stack(list(arrays.values()), 1)
    frames[:, 1] -= _to_middle(rows_and_columns, frames[:, 2], frames[:, 3])
    return Geometry(frames, rows_and_columns, parallel)


def _turning(
    angles: npt.ArrayLike, detector_shape: Shape, spacing: Pair, offset: Pair, pitch: float,
    distances: tuple[float, float] | None,
) -> Geometry:  # fmt: skip
    shape = shape_of(detector_shape)
    turns = np.asarray(angles, np.float64).reshape(-1)
    steps, middle = pair("spacing", spacing), pair("offset", offset, second=0.0)
    if not (np.isfinite(turns).all() and np.isfinite(pitch)):
        raise ArgumentError(f"angles and pitch={pitch!r}: finite numbers are needed")
    if not min(steps) > 0:
        raise ArgumentError(f"spacing={shown(spacing)}: distances are positive")
    zero, one = np.zeros_like(turns), np.ones_like(turns)
    cosine, sine = np.cos(turns), np.sin(turns)
    ahead, aside = np.stack([-sine, cosine, zero], -1), np.stack([cosine, sine, zero], -1)
    up = np.stack([zero, zero, one], -1)
    rise = (turns - (turns.min() + turns.max()) / 2)[:, None] / (2 * np.pi) * pitch * up if len(turns) else up
    frames = np.empty((len(turns), 4, 3))
    frames[:, 0] = ahead if distances is None else rise - ahead * distances[0]
    frames[:, 2], frames[:, 3] = aside * steps[0], up * steps[1]
    frames[:, 1] = rise + aside * middle[0] + up * middle[1] - _to_middle(shape, frames[:, 2], frames[:, 3])
    if distances is not None:
        frames[:, 1] += ahead * distances[1]
    places = (float("inf"), float("inf")) if distances is None else distances
    return Geometry(frames, shape, distances is None, turns, steps, *places, middle, float(pitch))


def _to_middle(shape: tuple[int, int], columns: Floats, rows: Floats) -> Floats:
    """From the first pixel of detectors to their middle."""
    return columns * ((shape[1] - 1) / 2) + rows * ((shape[0] - 1) / 2)


def shape_of(detector_shape: Shape) -> tuple[int, int]:
    """Rows and columns."""
    try:
        listed = (detector_shape,) if isinstance(detector_shape, (int, np.integer)) else tuple(detector_shape)
        sizes = tuple(operator.index(size) for size in listed)
    except TypeError:
        sizes = ()
    if len(sizes) not in (1, 2) or min(sizes) < 1:
        raise ArgumentError(f"detector_shape={shown(detector_shape)}: columns, or rows and columns, are needed")
    return (1, sizes[0]) if len(sizes) == 1 else (sizes[0], sizes[1])


def pair(name: str, value: Pair, second: float | None = None) -> tuple[float, float]:
    """A number of columns and one of rows, which is the same, or ``second``."""
    numbers = np.asarray(value, np.float64).reshape(-1)
    if len(numbers) == 1:
        numbers = np.array([numbers[0], numbers[0] if second is None else second])
    if numbers.shape != (2,) or not np.isfinite(numbers).all():
        raise ArgumentError(f"{name}={shown(value)}: a finite number, or one for columns and one for rows, is needed")
    return float(numbers[0]), float(numbers[1])
