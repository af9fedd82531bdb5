"""``remap``, ``warpAffine`` and ``warpPerspective``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..bindless_images.scratch_memory import leave_array
from ..image.array_library import ArrayLike, hand_over
from ..model.errors import ArgumentError
from ..model.filter import CoordinateMap
from ..ndimage.places import Places
from ..ndimage.repeated import Key, recall
from ..sycl.queue.queue import Queue
from ..sycl.usm import UsmArray
from .arguments import (
    Floats,
    border_of,
    border_values,
    flags_of,
    interpolation_of,
    matrix_of,
    picture_of,
    size_of,
)
from .constants import (
    BORDER_CONSTANT,
    INTER_LINEAR,
    WARP_FILL_OUTLIERS,
    WARP_INVERSE_MAP,
    WARP_RELATIVE_MAP,
)
from .maps import layout_of_maps, stack_again, stack_maps
from .pictures import draw

__all__ = ["map_of", "remap", "warpAffine", "warpPerspective"]

_OF_WARPS = WARP_FILL_OUTLIERS | WARP_INVERSE_MAP

Size = Sequence[int]
Scalar = float | Sequence[float]


def remap(
    src: ArrayLike,
    map1: ArrayLike,
    map2: ArrayLike | None,
    interpolation: int,
    dst: Any = None,
    borderMode: int = BORDER_CONSTANT,
    borderValue: Scalar = 0.0,
    *,
    queue: Queue | None = None,
) -> Any:
    """The picture at the positions of maps.

    Pixel (x, y) of the result is the value of ``src`` at (map1[y, x], map2[y, x]).

    Parameters
    ----------
    src : ArrayLike
        Picture (height, width[, channels]) of any library: uint8, uint16, int16 or float32, one to four channels.
    map1, map2 : ArrayLike
        Positions x and y, (height, width) float32 or float64; or ``map1`` (height, width, 2) with both and None; or on
        the host OpenCV's fixed-point maps, int16 (height, width, 2) and uint16 or None.
    interpolation : int
        ``INTER_NEAREST``, ``INTER_LINEAR`` or ``INTER_CUBIC``, and ``WARP_RELATIVE_MAP``, with which pixel (x, y) reads
        at (x + map1[y, x], y + map2[y, x]).
    dst : ArrayLike, optional
        Array of any library for the result, of its shape and dtype.
    borderMode : int
        What lies outside: ``BORDER_CONSTANT``, ``BORDER_REPLICATE``, ``BORDER_REFLECT``, ``BORDER_WRAP`` or
        ``BORDER_REFLECT_101``; or on the host ``BORDER_TRANSPARENT``, with which pixels that read outside keep what
        ``dst`` has.
    borderValue : float | Sequence[float]
        The values outside with ``BORDER_CONSTANT``, of each channel; a number is that of the first one.
    queue : Queue, optional
        Where the work is done; default: on the device of the picture, or on the default device.

    Returns
    -------
    ArrayLike
        ``dst``, or an array of the picture's library, in its place: (height, width[, channels]) of the maps, of the
        picture's dtype. Weights are not rounded: integers are the values of float64 arithmetic, rounded to the nearest
        one, of two to the even one, and clamped; floats are computed in single precision.

    Raises
    ------
    ArgumentError
        An argument that OpenCV does not take either.
    FeatureNotSupportedError
        What OpenCV has and this package has not: other dtypes, more channels, other interpolations.

    Notes
    -----
    Positions that are not finite have the border value. Where two pixels are equally near, ``INTER_NEAREST`` takes the
    one with the even index.

    Examples
    --------
    >>> from bindless import cv2
    >>> picture = np.array([[0, 10], [20, 30]], dtype=np.uint8)
    >>> x, y = np.float32([[0.5, 1]]), np.float32([[0.5, 0]])
    >>> cv2.remap(picture, x, y, cv2.INTER_LINEAR, queue=bindless.Queue("reference"))
    array([[15, 10]], dtype=uint8)
    """
    name = "remap"
    form = layout_of_maps(map1, map2)
    key: Key | None = None
    if form is not None:
        options = interpolation, type(interpolation), borderMode, form
        key, call = recall(f"cv2.{name}", queue, src, dst, borderValue, options)
        again = None if call is None else stack_again(call, src, map1, map2, form)
        if call is not None and again is not None:
            result = call.submit(src, dst, None, again)
            if result is not None:
                if not isinstance(again, tuple):  # Planes, or the caller's arrays
                    _leave(call.queue, again, src, map1, map2)
                return result
    flags = flags_of(name, "interpolation", interpolation, WARP_RELATIVE_MAP)
    kind, border = interpolation_of(name, flags), border_of(name, borderMode)
    source = picture_of(name, src, queue)
    coords, shape = stack_maps(name, map1, map2, kind, source)
    step = float(bool(flags & WARP_RELATIVE_MAP))
    places = Places(shape, map_of(np.diag([step, step, 1.0])), coords)
    if isinstance(coords, UsmArray) is not source.on_device:
        key = None
    result = draw(name, source, places, kind, border, border_values(borderValue, source, border), dst, key)
    _leave(source.queue, coords, None, map1, map2)
    return result


def _leave(queue: Queue, coords: Any, src: Any, *maps: Any) -> None:
    """Coordinates are left to the pool, maps on a device to their library; its stream is in order with ``src``."""
    for value in maps:
        if isinstance(coords, UsmArray) and value is not None and type(value) not in (UsmArray, type(src)):
            hand_over(value, coords)
    leave_array(queue, coords)


def warpAffine(
    src: ArrayLike,
    M: ArrayLike,
    dsize: Size | None,
    dst: Any = None,
    flags: int = INTER_LINEAR,
    borderMode: int = BORDER_CONSTANT,
    borderValue: Scalar = 0.0,
    *,
    queue: Queue | None = None,
) -> Any:
    """The picture under an affine map.

    Parameters
    ----------
    src : ArrayLike
        As of ``remap``.
    M : ArrayLike
        (2, 3), from pixels of the picture to pixels of the result; with ``WARP_INVERSE_MAP`` the other way.
    dsize : Sequence[int] | None
        (width, height) of the result; None or (0, 0): that of the picture.
    dst, borderMode, borderValue, queue : Any
        As of ``remap``.
    flags : int
        ``INTER_NEAREST``, ``INTER_LINEAR`` or ``INTER_CUBIC``, and ``WARP_INVERSE_MAP``.

    Returns
    -------
    ArrayLike
        As of ``remap``.

    Raises
    ------
    ArgumentError, FeatureNotSupportedError
        As of ``remap``.

    Examples
    --------
    >>> from bindless import cv2
    >>> row = np.array([[0, 10, 20]], dtype=np.uint8)
    >>> cv2.warpAffine(row, [[1, 0, 0.5], [0, 1, 0]], (3, 1), queue=bindless.Queue("reference"))
    array([[ 0,  5, 15]], dtype=uint8)
    """
    (a, b, c), (d, e, f) = matrix_of(M, 2).tolist()
    if not flags_of("warpAffine", "flags", flags, _OF_WARPS) & WARP_INVERSE_MAP:
        # The inverse in the steps of OpenCV; zeros of a matrix that has none.
        determinant = a * e - b * d
        scale = 1.0 / determinant if determinant else 0.0
        a, b, d, e = e * scale, b * -scale, d * -scale, a * scale
        c, f = -a * c - b * f, -d * c - e * f
    map_ = _map(a, b, c, d, e, f, 0.0, 0.0, 1.0)
    return _warp("warpAffine", src, map_, dsize, dst, flags, borderMode, borderValue, queue)


def warpPerspective(
    src: ArrayLike,
    M: ArrayLike,
    dsize: Size | None,
    dst: Any = None,
    flags: int = INTER_LINEAR,
    borderMode: int = BORDER_CONSTANT,
    borderValue: Scalar = 0.0,
    *,
    queue: Queue | None = None,
) -> Any:
    """The picture under a projective map.

    Parameters
    ----------
    src : ArrayLike
        As of ``remap``.
    M : ArrayLike
        (3, 3), from pixels of the picture to pixels of the result; with ``WARP_INVERSE_MAP`` the other way.
    dsize, dst, flags, borderMode, borderValue, queue : Any
        As of ``warpAffine``.

    Returns
    -------
    ArrayLike
        As of ``remap``.

    Raises
    ------
    ArgumentError, FeatureNotSupportedError
        As of ``remap``; a matrix that has no inverse.

    Examples
    --------
    >>> from bindless import cv2
    >>> row = np.array([[0, 10, 20]], dtype=np.uint8)
    >>> half = [[0.5, 0, 0], [0, 1, 0], [0, 0, 1]]
    >>> flags = cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP
    >>> cv2.warpPerspective(row, half, (3, 1), flags=flags, queue=bindless.Queue("reference"))
    array([[ 0,  5, 10]], dtype=uint8)
    """
    matrix = matrix_of(M, 3)
    if not flags_of("warpPerspective", "flags", flags, _OF_WARPS) & WARP_INVERSE_MAP:
        try:
            matrix = np.asarray(np.linalg.inv(matrix), np.float64)
        except np.linalg.LinAlgError:
            raise ArgumentError(f"M={matrix.tolist()} has no inverse") from None
    return _warp("warpPerspective", src, map_of(matrix), dsize, dst, flags, borderMode, borderValue, queue)


def _warp(
    name: str,
    src: Any,
    map_: CoordinateMap,
    dsize: Any,
    dst: Any,
    flags: int,
    border_mode: Any,
    border_value: Any,
    queue: Queue | None,
) -> Any:
    """The result of a map from its pixels to the picture's."""
    size = tuple(dsize) if isinstance(dsize, (tuple, list)) else dsize
    options = (size, flags, border_mode)
    key, call = recall(f"cv2.{name}", queue, src, dst, border_value, options)
    if call is not None:
        result = call.submit(src, dst, map_)
        if result is not None:
            return result
    kind, border = interpolation_of(name, flags), border_of(name, border_mode)
    source = picture_of(name, src, queue)
    shape = size_of("dsize", dsize, (source.shape[0], source.shape[1]))
    values = border_values(border_value, source, border)
    return draw(name, source, Places(shape, map_), kind, border, values, dst, key)


def map_of(matrix: Floats) -> CoordinateMap:
    """The map of a matrix (3, 3) between centres at integers."""
    return _map(*matrix.ravel().tolist())


def _map(
    a: float, b: float, c: float, d: float, e: float, f: float, g: float, h: float, i: float
) -> CoordinateMap:  # fmt: skip
    return CoordinateMap.pictures((a, b, 0.0, c, d, e, 0.0, f, 0.0, 0.0, 1.0, 0.0, g, h, 0.0, i), 0.0)
