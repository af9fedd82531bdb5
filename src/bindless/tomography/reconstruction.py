"""``fbp`` and ``fdk``: filtered back projection; ``sirt`` and ``cgls``: iterations."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from typing import Any, Union

import numpy as np

from ..model.arrays import Array
from ..model.errors import ArgumentError
from ..model.grid import Grid
from ..sampling.array_launch import LaunchPair
from ..sampling.rays import Halves, filter_launch
from ..sycl.queue.queue import Queue
from .arrays import LinearFunction, apply, operand, storage_of
from .filtering import distance_weights, missing_columns, ramp_filter, ramp_response, redundancy_weights, span_of
from .geometry import Geometry, widened
from .projector import Projector

__all__ = ["cgls", "fbp", "fdk", "sirt"]

Volume = Union[tuple[int, ...], Grid]
Callback = Callable[[int, Any], object]


def fbp(
    values: Any, geometry: Geometry, volume: Volume, *, filter: str = "ramp", dtype: Any = "float32",
    queue: Queue | None = None,
) -> Any:  # fmt: skip
    """A volume from projections, filtered along rows and back projected.

    Parameters
    ----------
    values : array
        Shape (views, [rows,] columns): integrals along rays in world units, as of ``Projector``.
    geometry : Geometry
        Of ``parallel``, over a multiple of half a turn, or of ``fan`` or ``cone``, over a turn or 180 degrees and the
        angle of the fan. Angles are at equal distances.
    volume : tuple[int, ...] | Grid
        As of ``Projector``.
    filter : str, default "ramp"
        Factors of the ramp: ``"ramp"`` for none, ``"shepp-logan"``, ``"cosine"``, ``"hamming"``, ``"hann"``.
    dtype : dtype, default "float32"
        As of ``Projector``.
    queue : Queue, optional
        As of ``Projector.__call__``.

    Returns
    -------
    array
        Values per world unit, of ``dtype`` and the library of ``values``.

    Raises
    ------
    ArgumentError
        A geometry of ``vectors``, with a pitch, or of too few views; shapes that do not fit, or an unknown filter.

    Examples
    --------
    >>> from bindless import tomography
    >>> scan = tomography.parallel(np.linspace(0, np.pi, 90, endpoint=False), 96)
    >>> y = tomography.Projector(scan, (64, 64))(np.ones((64, 64), np.float32))
    >>> bool(abs(tomography.fbp(y, scan, (64, 64))[16:48, 16:48] - 1).max() < 0.05)
    True
    """
    shape = Projector(geometry, volume).shape
    if geometry.angles is None or geometry.pitch != 0 or len(geometry) == 0:
        raise ArgumentError(f"{geometry!r}: filtered back projection needs views on a circle; sirt and cgls take all")
    turn_weights, pixel_weights = redundancy_weights(geometry, geometry.angles), np.ones(geometry.detector_shape)
    scale, power, spacing = np.pi / len(geometry), 0, geometry.spacing[0]
    curved = geometry.column_angle != 0
    if not geometry.is_parallel:
        share = geometry.source_distance / (geometry.source_distance + geometry.detector_distance)
        pixel_weights = distance_weights(geometry)
        scale, power, spacing = span_of(geometry.angles) / 2 / len(geometry) * share**2, 2, spacing * share
        if curved:
            scale, spacing = scale / geometry.source_distance, geometry.column_angle
    margins = missing_columns(geometry)
    A = Projector(widened(geometry, *margins), volume)
    response = ramp_response(A.shape[-1], spacing, filter, curved) * scale

    def write(array: Array, result: Array) -> None:
        factors = (turn_weights[:, None] * pixel_weights).astype(np.float32)
        factors = factors[:, 0] if len(shape) == 2 else factors
        wide = np.pad(array * factors, [*[(0, 0)] * (len(shape) - 1), margins])
        A.back(ramp_filter(wide, spacing, filter, curved), power=power, out=result)
        result *= np.float32(scale)

    def launch(queue: Queue, halves: Halves) -> LaunchPair:
        first = filter_launch(
            queue, len(geometry), geometry.detector_shape, turn_weights, pixel_weights, response, margins, halves
        )
        second = A._rays.launch(queue, "back", power, halves=Halves(False, halves.values))
        return LaunchPair(first, second, A.shape)

    function = LinearFunction("values", shape, A.volume_shape, write, launch, storage_of(dtype))
    return apply(values, function, queue=queue)


def fdk(
    values: Any, geometry: Geometry, volume: Volume, *, filter: str = "ramp", dtype: Any = "float32",
    queue: Queue | None = None,
) -> Any:  # fmt: skip
    """A volume from projections of a cone beam by Feldkamp, Davis and Kress: ``fbp`` under its other name.

    Parameters
    ----------
    values, geometry, volume, filter, dtype, queue
        As of ``fbp``.

    Returns
    -------
    array
        As of ``fbp``.

    Raises
    ------
    ArgumentError
        As of ``fbp``.

    Examples
    --------
    >>> from bindless import tomography
    >>> scan = tomography.cone(np.linspace(0, 2 * np.pi, 60, endpoint=False), (24, 24), 2.0, 100, 50)
    >>> tomography.fdk(np.zeros((60, 24, 24), np.float32), scan, (16, 16, 16)).shape
    (16, 16, 16)
    """
    return fbp(values, geometry, volume, filter=filter, dtype=dtype, queue=queue)


def sirt(
    A: Projector, values: Any, iterations: int, callback: Callback | None = None, *, start: Any = None,
    lowest: float | None = None,
) -> Any:  # fmt: skip
    """A volume by the simultaneous iterative reconstruction technique.

    Each iteration adds the transpose of the residual, both weighted by the sums of the weights of rays and of texels.
    Ctrl-C ends the iterations with a warning; the last volume is returned.

    Parameters
    ----------
    A : Projector
        The projection; iterations are float32, whatever its dtype.
    values : array
        Shape ``A.shape``. On a device, of a library with arithmetic: CuPy, torch, JAX or dpnp. Axes before these are of
        several volumes, which are iterated together.
    iterations : int
        How many.
    callback : Callable[[int, array], object], optional
        Is called with the number of each iteration, from 1, and its volume.
    start : array, optional
        The first volume, or one for each of several, of the library of ``values``; default zeros.
    lowest : float, optional
        Least value of the volume, after each iteration.

    Returns
    -------
    array
        The volume, float32, of the library of ``values``.

    Raises
    ------
    ArgumentError
        Shapes that do not fit.

    Examples
    --------
    >>> from bindless import tomography
    >>> scan = tomography.parallel(np.linspace(0, np.pi, 60, endpoint=False), 32)
    >>> A = tomography.Projector(scan, (32, 32))
    >>> truth = np.zeros((32, 32), np.float32)
    >>> truth[8:24, 12:20] = 1
    >>> bool(abs(tomography.sirt(A, A(truth), 100) - truth).mean() < 0.05)
    True
    """

    def steps(A: Projector, values: Any, volume: Any) -> Iterator[Any]:
        one = values
        while len(one.shape) > len(A.shape):
            one = one[0]
        of_texels = A.adjoint(_all_true(one))
        rays, texels = _inverse(A(_all_true(of_texels))), _inverse(of_texels)
        while True:
            step = texels * A.adjoint(rays * (values if volume is None else values - A(volume)))
            volume = step if volume is None else volume + step
            if lowest is not None:
                volume = volume.clip(lowest)
            yield volume

    return _iterate(A, values, steps, iterations, callback, start)


def _all_true(array: Any) -> Any:
    """An array like this, of any library, that counts as ones."""
    return (array == array) | (array != array)


def _inverse(array: Any) -> Any:
    """1 / array where it is positive, else 0."""
    return (array > 0) / (array + (array <= 0))


def cgls(A: Projector, values: Any, iterations: int, callback: Callback | None = None, *, start: Any = None) -> Any:
    """A volume by conjugate gradients on the least squares of ``A(volume) - values``.

    Ctrl-C ends the iterations with a warning; the last volume is returned.

    Parameters
    ----------
    A, values, iterations, callback, start
        As of ``sirt``.

    Returns
    -------
    array
        The volume, float32, of the library of ``values``.

    Raises
    ------
    ArgumentError
        Shapes that do not fit.

    Examples
    --------
    >>> from bindless import tomography
    >>> scan = tomography.parallel(np.linspace(0, np.pi, 60, endpoint=False), 32)
    >>> A = tomography.Projector(scan, (32, 32))
    >>> truth = np.zeros((32, 32), np.float32)
    >>> truth[8:24, 12:20] = 1
    >>> bool(abs(tomography.cgls(A, A(truth), 20) - truth).mean() < 0.02)
    True
    """

    def steps(A: Projector, values: Any, volume: Any) -> Iterator[Any]:
        residual = values if volume is None else values - A(volume)
        direction = gradient = A.adjoint(residual)
        dims = len(A.volume_shape)
        norm = _norm(gradient, dims)
        while True:
            ahead = A(direction)
            length = norm * _inverse(_norm(ahead, dims))
            volume = length * direction if volume is None else volume + length * direction
            residual = residual - length * ahead
            gradient = A.adjoint(residual)
            before, norm = norm, _norm(gradient, dims)
            direction = gradient + norm * _inverse(before) * direction
            yield volume

    return _iterate(A, values, steps, iterations, callback, start)


def _norm(array: Any, dims: int) -> Any:
    """The sums of the squares along the last axes, which stay, of length 1."""
    return (array * array).sum(tuple(range(-dims, 0)), keepdims=True)


def _iterate(
    A: Projector, values: Any, steps: Callable[[Projector, Any, Any], Iterator[Any]], iterations: int,
    callback: Callback | None, start: Any,
) -> Any:  # fmt: skip
    """The volume after iterations, or the last one before Ctrl-C."""
    if A.dtype != np.float32:
        A = Projector(A.geometry, A.grid)
    measured, library = operand("values", values, A.shape)
    first = None if start is None else operand("start", start, A.volume_shape)[0]
    if first is not None and type(first) is not type(measured):
        raise ArgumentError(
            f"start is a {type(start).__name__}, values are a {type(values).__name__}: give one library's"
        )
    number, volume = 0, first
    try:
        for number, volume in zip(range(1, iterations + 1), steps(A, measured, first)):
            if callback is not None:
                callback(number, volume)
    except KeyboardInterrupt:
        warnings.warn(f"interrupted in iteration {number + 1} of {iterations}", RuntimeWarning, stacklevel=3)
    if volume is None:
        volume = A.adjoint(measured) * 0
    return library(volume)
