"""``spline_filter`` and ``spline_filter1d``: coefficients of B-splines."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..image.array_library import ArrayLike
from ..model.enums import Precision
from ..model.errors import ArgumentError
from ..sycl.queue.queue import Queue
from ..sycl.usm import UsmArray
from .arguments import COPY, MOST_AXES, filter_of, require_axes
from .host_call import repeat_filter
from .in_place import again, filtered_in_place
from .layers import Layers
from .places import Places
from .plan import resample
from .prefilter import coefficients
from .repeated import recall
from .source import axis_of, elements_of, source_of
from .target import Output
from .usm_call import repeat_filter_in_usm

__all__ = ["spline_filter", "spline_filter1d"]


def spline_filter(
    input: ArrayLike,
    order: int = 3,
    output: Any = np.float64,
    mode: str = "mirror",
    *,
    channel_axis: int | None = None,
    queue: Queue | None = None,
) -> Any:
    """Coefficients of the B-spline that passes through the elements of an array.

    Parameters
    ----------
    input : ArrayLike
        As of ``map_coordinates``.
    order : int, default 3
        Of the spline: 2 to 5.
    output : ArrayLike | DTypeLike, default np.float64
        Array of any library for the result, or dtype of the result.
    mode : str, default "mirror"
        What lies outside: as of ``map_coordinates``.
    channel_axis, queue : Any
        As of ``map_coordinates``.

    Returns
    -------
    ArrayLike
        As of ``map_coordinates``, in the shape of the input. Computed in single precision.

    Raises
    ------
    ArgumentError
        As of ``map_coordinates``.
    FeatureNotSupportedError
        As of ``map_coordinates``.

    Examples
    --------
    >>> from bindless import ndimage
    >>> ndimage.spline_filter(np.ones(3), output=np.float32, queue=bindless.Queue("reference")).round(3)
    array([1., 1., 1.], dtype=float32)
    """
    return _filtered("spline_filter", input, order, None, output, mode, channel_axis, queue)


def spline_filter1d(
    input: ArrayLike,
    order: int = 3,
    axis: int = -1,
    output: Any = np.float64,
    mode: str = "mirror",
    *,
    queue: Queue | None = None,
) -> Any:
    """Coefficients of B-splines along one axis.

    Parameters
    ----------
    input : ArrayLike
        As of ``map_coordinates``.
    order : int, default 3
        0 and 1 give the input, 2 to 5 the coefficients.
    axis : int, default -1
        The axis.
    output, mode, queue : Any
        As of ``spline_filter``.

    Returns
    -------
    ArrayLike
        As of ``spline_filter``.

    Raises
    ------
    ArgumentError, FeatureNotSupportedError
        As of ``spline_filter``.

    Examples
    --------
    >>> from bindless import ndimage
    >>> ndimage.spline_filter1d(np.ones((1, 3)), output=np.float32, queue=bindless.Queue("reference")).round(3)
    array([[1., 1., 1.]], dtype=float32)
    """
    return _filtered("spline_filter1d", input, order, axis, output, mode, None, queue)


def _filtered(
    function: str, input: Any, order: Any, axis: Any, output: Any, mode: Any, channel_axis: Any, queue: Queue | None
) -> Any:
    key, call = recall(function, queue, input, output, 0.0, (order, type(order), axis, type(axis), mode, channel_axis))
    if call is not None:
        result = call.submit(input, output)
        if result is not None:
            return result
    filter_ = filter_of(function, order, mode, 0.0, Precision.exact)
    source = source_of(function, input, channel_axis, queue)
    target = Output(function, source, output, source.shape)
    dims = len(source.shape)
    if not filter_.is_spline:
        if axis is None:
            raise ArgumentError(f"order={order} has no coefficients: it is 2 to 5")
        if dims <= MOST_AXES:
            return resample(source, target, Places.affine(np.eye(dims), np.zeros(dims), source.shape), COPY, key=key)
        places = Places.affine(np.eye(1), np.zeros(1), source.shape[-1:])
        return resample(source, target, places, COPY, range(dims - 1))
    pixels = elements_of(source.pixels, 0.0)
    layers = Layers.of(
        pixels.shape, () if axis is None else [n for n in range(dims) if n != axis_of("axis", axis, dims)]
    )
    require_axes(function, dims - len(layers.axes))
    inputs = layers.spread(source.queue, pixels)
    filtered, _ = coefficients(source.queue, inputs, dims - len(layers.axes), filter_)
    if key is not None and isinstance(filtered, np.ndarray):
        repeat_filter(key, source, target, filter_, layers)
    whole = layers.join(filtered.reshape(layers.spread_shape(source.shape)))
    if isinstance(whole, UsmArray) and source.on_device:
        is_result = whole.dtype == target.dtype and whole.is_contiguous
        values = None if is_result else filtered_in_place(source, target, filter_, whole, layers.axes, key)
        if values is not None:
            return target.deliver(values)
        if key is not None and is_result and source.queue._backend.spline_filters is None:
            places = Places.affine(np.eye(dims), np.zeros(dims), source.shape)
            again(key, source, target, None, places, filter_, whole, 0, layers.axes)
        elif key is not None:
            repeat_filter_in_usm(key, source, target, filter_, layers)
    return target.deliver(whole)
