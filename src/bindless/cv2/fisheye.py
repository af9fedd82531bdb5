"""Functions of OpenCV's module ``fisheye``: lenses after Kannala and Brandt, with four coefficients."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..image.array_library import ArrayLike
from ..sycl.queue.queue import Queue
from .views import Array, View, camera_of, maps_of, move_points, remember_view, target_of, view_of

__all__ = ["initUndistortRectifyMap", "undistortImage", "undistortPoints"]

_MODEL = "fisheye"
_UNIT = np.eye(3)


def undistortImage(
    distorted: ArrayLike,
    K: ArrayLike,
    D: ArrayLike | None,
    undistorted: Any = None,
    Knew: ArrayLike | None = None,
    new_size: Sequence[int] | None = None,
    *,
    queue: Queue | None = None,
) -> Any:
    """The picture of a fisheye as a pinhole camera takes it.

    Parameters
    ----------
    distorted : ArrayLike
        As ``src`` of ``remap``.
    K : ArrayLike
        (3, 3), the matrix of the fisheye.
    D : ArrayLike | None
        Its four coefficients, or None.
    undistorted : ArrayLike, optional
        Array of any library for the result, of its shape and dtype.
    Knew : ArrayLike, optional
        (3, 3) of the result; default, as in OpenCV, the identity.
    new_size : Sequence[int], optional
        (width, height) of the result; default that of the picture.
    queue : Queue, optional
        As of ``remap``.

    Returns
    -------
    ArrayLike
        As of ``undistort``.

    Raises
    ------
    ArgumentError, FeatureNotSupportedError
        As of ``remap``.

    Examples
    --------
    >>> from bindless import cv2
    >>> picture = np.full((4, 6), 9, dtype=np.uint8)
    >>> K = [[5, 0, 2.5], [0, 5, 1.5], [0, 0, 1]]
    >>> cv2.fisheye.undistortImage(picture, K, None, Knew=K, queue=bindless.Queue("reference"))[1]
    array([9, 9, 9, 9, 9, 9], dtype=uint8)
    """
    name = "fisheye.undistortImage"

    def make() -> View:
        return View(camera_of("K", K, D, _MODEL), target_of(name, "Knew", Knew, None, _UNIT))

    return view_of(name, distorted, remember_view((name, K, D, Knew), make), new_size, undistorted, queue)


def initUndistortRectifyMap(
    K: ArrayLike,
    D: ArrayLike | None,
    R: ArrayLike | None,
    P: ArrayLike | None,
    size: Sequence[int],
    m1type: int,
    map1: Any = None,
    map2: Any = None,
) -> tuple[Array, Array | None]:
    """The maps of ``remap`` for an undistorted and rectified picture of a fisheye.

    Parameters
    ----------
    K, D : ArrayLike
        As of ``undistortImage``.
    R, size, m1type, map1, map2 : Any
        As of ``bindless.cv2.initUndistortRectifyMap``.
    P : ArrayLike | None
        (3, 3) or (3, 4) of the rectified camera; None is the identity.

    Returns
    -------
    tuple[NDArray[np.float32], NDArray[np.float32] | None]
        As of ``bindless.cv2.initUndistortRectifyMap``.

    Raises
    ------
    ArgumentError, FeatureNotSupportedError
        An argument that OpenCV does not take either; fixed-point maps, and R as a vector.

    Examples
    --------
    >>> from bindless import cv2
    >>> K = np.array([[5, 0, 2], [0, 5, 1], [0, 0, 1]])
    >>> x, y = cv2.fisheye.initUndistortRectifyMap(K, None, None, K, (5, 3), cv2.CV_32FC1)
    >>> float(y[1, 2])
    1.0
    """
    name = "fisheye.initUndistortRectifyMap"
    target = target_of(name, "P", P, R, _UNIT)
    return maps_of(name, camera_of("K", K, D, _MODEL), target, size, m1type, (map1, map2))


def undistortPoints(
    distorted: ArrayLike,
    K: ArrayLike,
    D: ArrayLike | None,
    undistorted: Any = None,
    R: ArrayLike | None = None,
    P: ArrayLike | None = None,
    criteria: object = None,
) -> Array:
    """Points of a fisheye's picture, as an ideal camera sees them.

    Parameters
    ----------
    distorted : ArrayLike
        Points (N, 2), (N, 1, 2) or (1, N, 2), float32 or float64.
    K, D : ArrayLike
        As of ``undistortImage``.
    undistorted : NDArray, optional
        Array of numpy for the result.
    R, P, criteria : Any
        As of ``bindless.cv2.undistortPoints``.

    Returns
    -------
    NDArray
        As ``distorted``; minus infinity where no ray in front of the ideal camera leads to a point.

    Raises
    ------
    ArgumentError, FeatureNotSupportedError
        As of ``initUndistortRectifyMap``.

    Examples
    --------
    >>> from bindless import cv2
    >>> cv2.fisheye.undistortPoints(np.array([[[2.0, 1.0]]]), [[5, 0, 2], [0, 5, 1], [0, 0, 1]], None)
    array([[[0., 0.]]])
    """
    camera, target = camera_of("K", K, D, _MODEL), target_of("fisheye.undistortPoints", "P", P, R, _UNIT)
    return move_points("distorted", distorted, camera, target, undistorted, as_list=False)


def __dir__() -> list[str]:
    return sorted(__all__)
