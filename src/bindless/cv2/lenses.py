"""``undistort``, ``initUndistortRectifyMap`` and ``undistortPoints``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..camera.camera import matrix_of
from ..image.array_library import ArrayLike
from ..sycl.queue.queue import Queue
from .arguments import size_of
from .views import Array, View, camera_of, maps_of, move_points, remember_view, target_of, view_of

__all__ = ["initUndistortRectifyMap", "undistort", "undistortPoints"]

_MODEL = "opencv"


def undistort(
    src: ArrayLike,
    cameraMatrix: ArrayLike,
    distCoeffs: ArrayLike | None,
    dst: Any = None,
    newCameraMatrix: ArrayLike | None = None,
    *,
    queue: Queue | None = None,
) -> Any:
    """The picture without the distortion of its lens.

    Positions are computed for each pixel on the device, in double precision: no maps are made.

    Parameters
    ----------
    src : ArrayLike
        As of ``remap``.
    cameraMatrix : ArrayLike
        (3, 3), as OpenCV's calibration gives it.
    distCoeffs : ArrayLike | None
        4, 5, 8, 12 or 14 coefficients, or None.
    dst : ArrayLike, optional
        Array of any library for the result, of its shape and dtype.
    newCameraMatrix : ArrayLike, optional
        (3, 3) of the result; default ``cameraMatrix``.
    queue : Queue, optional
        As of ``remap``.

    Returns
    -------
    ArrayLike
        As of ``remap`` with ``INTER_LINEAR``: 0 outside.

    Raises
    ------
    ArgumentError, FeatureNotSupportedError
        As of ``remap``.

    See Also
    --------
    bindless.Image.reproject : Any pair of cameras, with a rotation.

    Examples
    --------
    >>> from bindless import cv2
    >>> picture = np.full((4, 6), 9, dtype=np.uint8)
    >>> K = [[5, 0, 2.5], [0, 5, 1.5], [0, 0, 1]]
    >>> cv2.undistort(picture, K, (-0.2, 0, 0, 0), queue=bindless.Queue("reference")).shape
    (4, 6)
    """
    name = "undistort"

    def make() -> View:
        camera = camera_of("cameraMatrix", cameraMatrix, distCoeffs, _MODEL)
        return View(camera, target_of(name, "newCameraMatrix", newCameraMatrix, None, cameraMatrix))

    view = remember_view((name, cameraMatrix, distCoeffs, newCameraMatrix), make)
    return view_of(name, src, view, None, dst, queue)


def initUndistortRectifyMap(
    cameraMatrix: ArrayLike,
    distCoeffs: ArrayLike | None,
    R: ArrayLike | None,
    newCameraMatrix: ArrayLike | None,
    size: Sequence[int],
    m1type: int,
    map1: Any = None,
    map2: Any = None,
) -> tuple[Array, Array | None]:
    """The maps of ``remap`` for an undistorted and rectified picture.

    Parameters
    ----------
    cameraMatrix, distCoeffs : ArrayLike
        As of ``undistort``.
    R : ArrayLike | None
        (3, 3), from the axes of the camera to those of the rectified one; None: they are the same.
    newCameraMatrix : ArrayLike | None
        (3, 3) or (3, 4) of the rectified camera; None: ``cameraMatrix`` with its centre in the middle of the picture.
    size : Sequence[int]
        (width, height).
    m1type : int
        ``CV_32FC1`` or ``CV_32FC2``, also by its number in OpenCV 5.
    map1, map2 : NDArray, optional
        Arrays of numpy for the maps.

    Returns
    -------
    tuple[NDArray[np.float32], NDArray[np.float32] | None]
        Positions x and y (height, width); with ``CV_32FC2`` (height, width, 2) and None. Positions behind the camera
        are at minus infinity.

    Raises
    ------
    ArgumentError, FeatureNotSupportedError
        An argument that OpenCV does not take either; fixed-point maps.

    Notes
    -----
    ``undistort`` and ``bindless.Image.reproject`` need no maps.

    Examples
    --------
    >>> from bindless import cv2
    >>> K = np.array([[5, 0, 2.5], [0, 5, 1.5], [0, 0, 1]])
    >>> x, y = cv2.initUndistortRectifyMap(K, None, None, K, (6, 4), cv2.CV_32FC1)
    >>> x[0]
    array([0., 1., 2., 3., 4., 5.], dtype=float32)
    """
    name = "initUndistortRectifyMap"
    camera = camera_of("cameraMatrix", cameraMatrix, distCoeffs, _MODEL)
    height, width = size_of("size", size, (1, 1))
    centred = matrix_of("cameraMatrix", cameraMatrix)
    centred[:2, 2] = (width - 1) / 2, (height - 1) / 2
    target = target_of(name, "newCameraMatrix", newCameraMatrix, R, centred)
    return maps_of(name, camera, target, size, m1type, (map1, map2))


def undistortPoints(
    src: ArrayLike,
    cameraMatrix: ArrayLike,
    distCoeffs: ArrayLike | None,
    dst: Any = None,
    R: ArrayLike | None = None,
    P: ArrayLike | None = None,
    criteria: object = None,
) -> Array:
    """Points of a distorted picture, as an ideal camera sees them.

    Parameters
    ----------
    src : ArrayLike
        Points (N, 2), (N, 1, 2) or (1, N, 2), float32 or float64.
    cameraMatrix, distCoeffs : ArrayLike
        As of ``undistort``.
    dst : NDArray, optional
        Array of numpy for the result.
    R : ArrayLike, optional
        (3, 3), from the axes of the camera to those of the ideal one.
    P : ArrayLike, optional
        (3, 3) or (3, 4), from positions x / z and y / z to pixels; default: they stay as they are.
    criteria : object
        Not read: the distortion is inverted to the precision of float64.

    Returns
    -------
    NDArray
        As ``src``, (N, 1, 2) for (N, 2); minus infinity where no ray leads to a point.

    Raises
    ------
    ArgumentError
        An argument that OpenCV does not take either.

    Examples
    --------
    >>> from bindless import cv2
    >>> cv2.undistortPoints(np.array([[7.5, 1.5]]), [[5, 0, 2.5], [0, 5, 1.5], [0, 0, 1]], None)
    array([[[1., 0.]]])
    """
    camera = camera_of("cameraMatrix", cameraMatrix, distCoeffs, _MODEL)
    target = target_of("undistortPoints", "P", P, R, np.eye(3))
    return move_points("src", src, camera, target, dst, as_list=True)
