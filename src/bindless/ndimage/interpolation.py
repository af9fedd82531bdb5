"""``map_coordinates``, ``affine_transform``, ``zoom``, ``rotate`` and ``shift``."""

from __future__ import annotations

import contextlib
import math
import warnings
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from ..image.array_library import ArrayLike
from ..model.enums import Interpolation, Precision
from ..model.errors import ArgumentError
from ..model.filter import Filter
from ..model.message_values import shown
from ..sycl.queue.queue import Queue
from .arguments import COPY, affine_of, coordinates_of, filter_of, numbers_of, require_axes, shape_of
from .places import Places
from .plan import resample
from .repeated import Key, recall
from .source import Input, source_of
from .target import Output

__all__ = ["affine_transform", "map_coordinates", "rotate", "shift", "zoom"]

Floats = npt.NDArray[np.float64]

# Cosines of multiples of 60 and 90 degrees, as far as numbers are exact.
_EXACT = {0.0: 1.0, 60.0: 0.5, 90.0: 0.0, 120.0: -0.5, 180.0: -1.0, 240.0: -0.5, 270.0: 0.0, 300.0: 0.5}


def map_coordinates(
    input: ArrayLike,
    coordinates: ArrayLike,
    output: Any = None,
    order: int = 3,
    mode: str = "constant",
    cval: float = 0.0,
    prefilter: bool = True,
    *,
    channel_axis: int | None = None,
    precision: Precision | str = Precision.exact,
    queue: Queue | None = None,
) -> Any:
    """Values of an array at coordinates.

    Parameters
    ----------
    input : ArrayLike
        Array of any library. One to three axes are interpolated: maps may leave further ones as they are.
    coordinates : ArrayLike
        Shape (axes, ...): the position along each axis, in elements, the first of which are at 0. Computed with as
        they are given, float32 or float64; others are taken as float64.
    output : ArrayLike | DTypeLike, optional
        Array of any library for the result, or dtype of the result; default the input's.
    order : int, default 3
        0, the nearest element; 1, linear; 2 to 5, B-splines of this degree.
    mode : str, default "constant"
        What lies outside: ``reflect``, ``grid-mirror``, ``constant``, ``grid-constant``, ``nearest``, ``mirror``,
        ``grid-wrap`` or ``wrap``.
    cval : float, default 0.0
        The value outside with ``constant`` and ``grid-constant``; may be NaN.
    prefilter : bool, default True
        Whether orders 2 to 5 compute the coefficients of the splines first; False where the input has them already.
    channel_axis : int, optional
        An axis of the input that is not interpolated; the result has it in the same place.
    precision : Precision | str, default Precision.exact
        ``exact``: weights and sums in single precision. ``hardware``: the device's texture unit, weights of 8 bits,
        an error of up to 1/256 of the difference of neighbours. ``reproducible``: the bits of the reference device
        everywhere. The latter two have the modes ``reflect``, ``grid-wrap``, ``nearest``, and ``grid-constant`` with
        ``cval=0``; they give the smallest number of int8 and int16 as the next one.
    queue : Queue, optional
        Where the work is done; default: on the device of the input, or on the default device.

    Returns
    -------
    ArrayLike
        ``output`` if it is an array; else an array of the input's library, in the input's place. float64 is computed in
        single precision: an error of up to 1e-5 of the range of the input. Integers are rounded, halves away from
        zero, and clamped to the range of their type.

    Raises
    ------
    ArgumentError
        An argument that no function of scipy takes either; both an ``InvalidError`` and a ``RuntimeError``.
    FeatureNotSupportedError
        Complex numbers, more axes, orders 2, 4 and 5 without exact precision, or a mode that a texture unit lacks:
        scipy has these; or a device without such images.
    MemoryAllocationError
        An array larger than the images of the device, or a result for which there is no room.

    Examples
    --------
    >>> from bindless import ndimage
    >>> ramp = np.arange(12.0).reshape(4, 3)
    >>> ndimage.map_coordinates(ramp, [[0.5, 2], [0.5, 1]], order=1, queue=bindless.Queue("reference"))
    array([2., 7.])
    """
    name = "map_coordinates"
    options = (order, type(order), mode, prefilter, channel_axis, precision)
    key, call = recall(name, queue, input, output, cval, options, coordinates)
    if call is not None:
        result = call.submit(input, output, coords=coordinates)
        if result is not None:
            return result
    filter_ = filter_of(name, order, mode, cval, precision)
    source = source_of(name, input, channel_axis, queue)
    require_axes(name, len(source.shape))
    coords, shape = coordinates_of(coordinates, len(source.shape), source.queue)
    places = Places.at(coords)
    return resample(source, Output(name, source, output, shape), places, filter_, prefilter=bool(prefilter), key=key)


def affine_transform(
    input: ArrayLike,
    matrix: ArrayLike,
    offset: float | Sequence[float] = 0.0,
    output_shape: Sequence[int] | None = None,
    output: Any = None,
    order: int = 3,
    mode: str = "constant",
    cval: float = 0.0,
    prefilter: bool = True,
    *,
    channel_axis: int | None = None,
    precision: Precision | str = Precision.exact,
    queue: Queue | None = None,
) -> Any:
    """An array under an affine map, which leads from the result to the input.

    The element at index ``i`` of the result is the input's value at ``matrix @ i + offset``.

    Parameters
    ----------
    input : ArrayLike
        As of ``map_coordinates``.
    matrix : ArrayLike
        (axes of the input, axes of the result); (axes,), its diagonal; or homogeneous, with the offset in the last
        column: (axes, axes + 1) or (axes + 1, axes + 1).
    offset : float | Sequence[float], default 0.0
        One for all axes, or one for each; unused with homogeneous matrices.
    output_shape : Sequence[int], optional
        Shape of the result without channels; default that of ``output`` or of the input.
    output, order, mode, cval, prefilter, channel_axis, precision, queue : Any
        As of ``map_coordinates``.

    Returns
    -------
    ArrayLike
        As of ``map_coordinates``.

    Raises
    ------
    ArgumentError
        The matrix does not fit, or as of ``map_coordinates``.
    FeatureNotSupportedError
        As of ``map_coordinates``.

    Examples
    --------
    >>> from bindless import ndimage
    >>> ramp = np.arange(4, dtype=np.float32)
    >>> ndimage.affine_transform(ramp, [[0.5]], 0.5, order=1, queue=bindless.Queue("reference"))
    array([0.5, 1. , 1.5, 2. ], dtype=float32)
    """
    name = "affine_transform"
    sizes = tuple(output_shape) if isinstance(output_shape, Sequence) else output_shape
    options = (sizes, order, type(order), mode, prefilter, channel_axis, precision)
    key, call = recall(name, queue, input, output, cval, options)
    if call is not None:
        whole, shift = affine_of(matrix, offset, *call.dims[:2])
        result = call.submit(input, output, Places.affine(whole, shift + call.margin, ()).map)
        if result is not None:
            return result
    filter_ = filter_of(name, order, mode, cval, precision)
    source = source_of(name, input, channel_axis, queue)
    shape = _shape(name, source, output, output_shape)
    return _affine(name, source, matrix, offset, shape, output, filter_, bool(prefilter), key=key)


def _shape(name: str, source: Input, output: Any, output_shape: Any) -> tuple[int, ...]:
    """Of the result of an affine map."""
    if output_shape is not None:
        return shape_of(output_shape)
    form = None if isinstance(output, (np.dtype, type)) else getattr(output, "shape", None)
    if form is None:
        return source.shape
    axis = source.channel_axis
    if axis is None:
        return shape_of(form)
    axis = -1 if axis == len(source.shape) else min(axis, len(form) - 1)
    sizes = list(form)
    del sizes[axis]
    return shape_of(sizes)


def _affine(
    name: str,
    source: Input,
    matrix: Any,
    offset: Any,
    shape: tuple[int, ...],
    output: Any,
    filter_: Filter,
    prefilter: bool,
    *,
    centre: float = 0.0,
    unchanged: Sequence[int] = (),
    key: Key | None = None,
) -> Any:
    """The result of an affine map; ``unchanged``: axes that scipy does not interpolate."""
    whole, shift = affine_of(matrix, offset, len(source.shape), len(shape))
    if not unchanged and len(source.shape) > 3 and (prefilter or not filter_.is_spline):
        unchanged, key = _fixed_axes(whole, shift, source.shape, shape), None
    sizes = shape
    if unchanged:
        rows, columns = (
            [axis for axis in range(count) if axis not in unchanged] for count in (len(source.shape), len(shape))
        )
        whole, shift, sizes = whole[np.ix_(rows, columns)], shift[rows], tuple(shape[axis] for axis in columns)
    require_axes(name, max(whole.shape))
    target = Output(name, source, output, shape)
    places = Places.affine(whole, shift, sizes, centre=centre)
    return resample(source, target, places, filter_, unchanged, prefilter=prefilter, key=key)


def _fixed_axes(matrix: Floats, offset: Floats, sizes: Sequence[int], shape: Sequence[int]) -> list[int]:
    """Axes of which a map leaves each element in its place; at least one axis is left."""
    if len(sizes) != len(shape):
        return []
    unit = np.eye(len(sizes))
    axes = [
        axis
        for axis in range(len(sizes))
        if sizes[axis] == shape[axis]
        and offset[axis] == 0
        and np.array_equal(matrix[axis], unit[axis])
        and np.array_equal(matrix[:, axis], unit[axis])
    ]
    return axes[: len(sizes) - 1]


def shift(
    input: ArrayLike,
    shift: float | Sequence[float],
    output: Any = None,
    order: int = 3,
    mode: str = "constant",
    cval: float = 0.0,
    prefilter: bool = True,
    *,
    channel_axis: int | None = None,
    precision: Precision | str = Precision.exact,
    queue: Queue | None = None,
) -> Any:
    """An array moved along its axes.

    Parameters
    ----------
    input : ArrayLike
        As of ``map_coordinates``.
    shift : float | Sequence[float]
        Elements by which it is moved, one number for all axes or one for each.
    output, order, mode, cval, prefilter, channel_axis, precision, queue : Any
        As of ``map_coordinates``.

    Returns
    -------
    ArrayLike
        As of ``map_coordinates``, in the shape of the input.

    Raises
    ------
    ArgumentError
        Not as many numbers as axes, or as of ``map_coordinates``.
    FeatureNotSupportedError
        As of ``map_coordinates``.

    Examples
    --------
    >>> from bindless import ndimage
    >>> ramp = np.arange(4, dtype=np.float32)
    >>> ndimage.shift(ramp, 0.5, order=1, mode="nearest", queue=bindless.Queue("reference"))
    array([0. , 0.5, 1.5, 2.5], dtype=float32)
    """
    options = (order, type(order), mode, prefilter, channel_axis, precision)
    key, call = recall("shift", queue, input, output, cval, options)
    if call is not None:
        dims = call.dims[0]
        offset = call.margin - numbers_of("shift", shift, dims)
        result = call.submit(input, output, Places.affine(np.eye(dims), offset, ()).map)
        if result is not None:
            return result
    filter_ = filter_of("shift", order, mode, cval, precision)
    source = source_of("shift", input, channel_axis, queue)
    dims = len(source.shape)
    offset = -numbers_of("shift", shift, dims)
    return _affine("shift", source, np.eye(dims), offset, source.shape, output, filter_, bool(prefilter), key=key)


def zoom(
    input: ArrayLike,
    zoom: float | Sequence[float],
    output: Any = None,
    order: int = 3,
    mode: str = "constant",
    cval: float = 0.0,
    prefilter: bool = True,
    *,
    grid_mode: bool = False,
    channel_axis: int | None = None,
    precision: Precision | str = Precision.exact,
    queue: Queue | None = None,
) -> Any:
    """An array in another size.

    Values are interpolated, also where the array shrinks (``Image.resize`` computes means of areas).

    Parameters
    ----------
    input : ArrayLike
        As of ``map_coordinates``.
    zoom : float | Sequence[float]
        Size of the result as a multiple of the input's, one for all axes or one for each; sizes are rounded, halves to
        even.
    grid_mode : bool, default False
        Whether the edges of the outermost elements are at the same places before and after; else their centres are.
    output, order, mode, cval, prefilter, channel_axis, precision, queue : Any
        As of ``map_coordinates``.

    Returns
    -------
    ArrayLike
        As of ``map_coordinates``.

    Raises
    ------
    ArgumentError
        Not as many numbers as axes, or as of ``map_coordinates``.
    FeatureNotSupportedError
        As of ``map_coordinates``.

    Warns
    -----
    UserWarning
        With ``grid_mode``, a mode that does not continue the grid.

    Examples
    --------
    >>> from bindless import ndimage
    >>> ramp = np.array([0, 10, 20], dtype=np.float32)
    >>> ndimage.zoom(ramp, 5 / 3, order=1, queue=bindless.Queue("reference"))
    array([ 0.,  5., 10., 15., 20.], dtype=float32)
    """
    size = _zoomed(getattr(input, "shape", None) if channel_axis is None else _sizes(input, channel_axis), zoom)
    options = (size, grid_mode, order, type(order), mode, prefilter, channel_axis, precision)
    warns = grid_mode and mode in ("constant", "wrap")
    key, call = recall("zoom", queue, input, output, cval, options)
    if size is None:
        key = None
    elif call is not None and not warns:
        result = call.submit(input, output)
        if result is not None:
            return result
    filter_ = filter_of("zoom", order, mode, cval, precision)
    source = source_of("zoom", input, channel_axis, queue)
    if size is None:
        size = _zoomed(source.shape, tuple(numbers_of("zoom", zoom, len(source.shape)).tolist()))
    if size is None:
        raise ArgumentError(f"zoom={shown(zoom)}: factors are finite and not negative")
    shape, is_same = size
    if warns:
        warnings.warn(
            f"It is recommended to use mode='grid-{mode}' with grid_mode=True: mode={mode!r} leaves the grid at its "
            "outermost elements",
            UserWarning,
            stacklevel=2,
        )
    unchanged = is_same and bool(prefilter)
    outer = 0 if grid_mode else 1
    steps = [
        (size - outer) / (new - outer) if new != outer and not unchanged else 1.0
        for size, new in zip(source.shape, shape)
    ]
    filter_ = COPY if unchanged else filter_
    centre = 0.5 if grid_mode else 0.0
    return _affine("zoom", source, np.diag(steps), 0.0, shape, output, filter_, bool(prefilter), centre=centre, key=key)


def _sizes(array: object, channel_axis: object) -> tuple[int, ...] | None:
    """The shape of an input without channels; None where the arguments are to be checked."""
    shape = getattr(array, "shape", None)
    if type(channel_axis) is not int or not isinstance(shape, tuple) or not -len(shape) <= channel_axis < len(shape):
        return None
    axis = channel_axis % len(shape)
    return (*shape[:axis], *shape[axis + 1 :])


def _zoomed(sizes: object, zoom: object) -> tuple[tuple[int, ...], bool] | None:
    """The shape of a result, and whether all factors are 1; None where the arguments are to be checked."""
    if not isinstance(sizes, tuple):
        return None
    factors = tuple(zoom) if isinstance(zoom, (list, tuple)) else (zoom,) * len(sizes)
    if len(factors) != len(sizes):
        return None
    shape, is_same = [], True
    for size, factor in zip(sizes, factors):
        if not isinstance(factor, (int, float)) or not 0 <= factor < math.inf:
            return None
        shape.append(round(size * float(factor)))
        is_same = is_same and factor == 1
    return tuple(shape), is_same


def rotate(
    input: ArrayLike,
    angle: float,
    axes: Sequence[int] = (1, 0),
    reshape: bool = True,
    output: Any = None,
    order: int = 3,
    mode: str = "constant",
    cval: float = 0.0,
    prefilter: bool = True,
    *,
    channel_axis: int | None = None,
    precision: Precision | str = Precision.exact,
    queue: Queue | None = None,
) -> Any:
    """An array turned in a plane of two of its axes.

    Parameters
    ----------
    input : ArrayLike
        As of ``map_coordinates``, with two axes or more without channels; each plane is turned.
    angle : float
        Degrees.
    axes : Sequence[int], default (1, 0)
        The two axes of the plane, in any order, channels not counted.
    reshape : bool, default True
        Whether the result has room for the whole plane; else it has the input's shape.
    output, order, mode, cval, prefilter, channel_axis, precision, queue : Any
        As of ``map_coordinates``.

    Returns
    -------
    ArrayLike
        As of ``map_coordinates``.

    Raises
    ------
    ArgumentError
        The axes are not two of the input's, or as of ``map_coordinates``.
    FeatureNotSupportedError
        As of ``map_coordinates``.

    Examples
    --------
    >>> from bindless import ndimage
    >>> ndimage.rotate(np.array([[1, 2, 3], [4, 5, 6]]), 90, order=1, queue=bindless.Queue("reference"))
    array([[3, 6],
           [2, 5],
           [1, 4]])
    """
    sizes, turn = getattr(input, "shape", None) if channel_axis is None else _sizes(input, channel_axis), None
    if isinstance(sizes, tuple) and len(sizes) > 1 and type(angle) in (int, float) and math.isfinite(angle):
        with contextlib.suppress(ArgumentError, TypeError):
            turn = _turn(sizes, _plane(tuple(axes), len(sizes)), float(angle), reshape)
    options = (*(turn[:2] if turn else ()), order, type(order), mode, prefilter, channel_axis, precision)
    key, call = recall("rotate", queue, input, output, cval, options)
    if turn is None:
        key = None
    elif call is not None:
        pair, _, matrix, offset = turn
        if call.dims[2] < call.dims[0]:  # the other axes are unchanged
            matrix, offset = matrix[np.ix_(pair, pair)], offset[list(pair)]
        result = call.submit(input, output, Places.affine(matrix, offset + call.margin, ()).map)
        if result is not None:
            return result
    filter_ = filter_of("rotate", order, mode, cval, precision)
    source = source_of("rotate", input, channel_axis, queue)
    dims = len(source.shape)
    if dims < 2:
        raise ArgumentError(f"input has {dims} axis that is interpolated; a plane has two")
    pair = _plane.__wrapped__(axes, dims)
    degrees = float(numbers_of("angle", angle, 1)[0])
    if not math.isfinite(degrees):
        raise ArgumentError(f"angle={angle}: it is finite")
    _, shape, matrix, offset = _turn(source.shape, pair, degrees, reshape)
    others = [axis for axis in range(dims) if axis not in pair]
    # One map of a volume, where elements without weight do not matter: there are no NaN among integers.
    single = filter_.interpolation is Interpolation.nearest or (not filter_.is_spline and source.dtype.kind in "biu")
    unchanged = others if dims > 3 or not single else ()
    return _affine(
        "rotate", source, matrix, offset, shape, output, filter_, bool(prefilter), unchanged=unchanged, key=key
    )


def _turn(
    sizes: tuple[int, ...], pair: tuple[int, int], degrees: float, reshape: object
) -> tuple[tuple[int, int], tuple[int, ...], Floats, Floats]:
    """The axes of a plane, the shape of a result, and the map from it to an input that is turned in the plane."""
    within = [abs(math.fmod(angle, 360.0)) for angle in (degrees, degrees - 90)]
    cosine, sine = [_EXACT[angle] if angle in _EXACT else math.cos(math.radians(angle)) for angle in within]
    turn = np.array([[cosine, sine], [-sine, cosine]])
    before = np.array([sizes[axis] for axis in pair])
    after = before
    if reshape:
        corners = turn @ [[0, 0, before[0], before[0]], [0, before[1], 0, before[1]]]
        after = (np.ptp(corners, axis=1) + 0.5).astype(int)
    matrix, offset = np.eye(len(sizes)), np.zeros(len(sizes))
    matrix[np.ix_(pair, pair)] = turn
    offset[list(pair)] = (before - 1) / 2 - turn @ ((after - 1) / 2)
    shape = list(sizes)
    shape[pair[0]], shape[pair[1]] = after.tolist()
    return pair, tuple(shape), matrix, offset


@lru_cache(64)
def _plane(axes: Any, dims: int) -> tuple[int, int]:
    """Two axes, in ascending order."""
    try:
        numbers = sorted({int(axis) % dims for axis in axes if float(axis).is_integer() and -dims <= axis < dims})
        count = len(tuple(axes))
    except (TypeError, ValueError):
        numbers, count = [], 0
    if count != 2 or len(numbers) != 2:
        raise ArgumentError(f"axes={shown(axes)}: they are two different axes of {dims}")
    return numbers[0], numbers[1]
