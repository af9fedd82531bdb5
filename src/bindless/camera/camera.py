"""``Camera``: the pixels of a camera, and the rays that they see."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from enum import IntEnum
from functools import cached_property
from math import cos, inf, pi, sin, sqrt
from typing import Any

import numpy as np
import numpy.typing as npt
from numpy.polynomial import Polynomial

from ..model.errors import ArgumentError
from ..model.message_values import shown

__all__ = ["Camera", "Model", "matrix_of"]

Floats = npt.NDArray[np.float64]

_COEFFICIENTS = {"opencv": (0, 4, 5, 8, 12, 14), "fisheye": (0, 4), "equirectangular": (0,)}
_NUMBERS = 12  # coefficients of a camera in a lens
_NO_TILT = np.eye(3)
_REAL = 1e-9  # imaginary part of a root that counts as real, of its size


class Model(IntEnum):
    """Models of ``include/bindless/filter/lens.h``."""

    pinhole = 0
    opencv = 1
    fisheye = 2
    equirectangular = 3
    straight = 4


class Camera:
    """A camera: where a ray from its centre meets its picture.

    The axes of a camera are OpenCV's: x to the right, y downward, z forward. Matrices are those of OpenCV's
    calibration: the centre of the first pixel is at (0, 0).

    Parameters
    ----------
    K : ArrayLike | None
        Matrix (3, 3) from positions of an ideal camera, x / z and y / z, to pixels. Of an equirectangular picture from
        longitude and latitude; None is that of the whole sphere in a picture of the size: its middle looks along z,
        its right quarter along x, its lowest row along y.
    distortion : Sequence[float]
        Coefficients, as OpenCV's functions give them: 4, 5, 8, 12 or 14 of ``opencv`` (k1, k2, p1, p2, k3, k4, k5, k6,
        s1, s2, s3, s4, and the angles of a tilted sensor), or 4 of ``fisheye``. Without, ``opencv`` is a pinhole.
    model : str
        ``opencv``, the rational model with tangential and thin prism terms; ``fisheye``, that of Kannala and Brandt; or
        ``equirectangular``.
    size : Sequence[int], optional
        (width, height) of its pictures.

    Attributes
    ----------
    K : NDArray[np.float64]
        (3, 3).
    distortion : tuple[float, ...]
        Coefficients.
    model : str
        Name of the model.
    size : tuple[int, int] | None
        (width, height).

    Raises
    ------
    ArgumentError
        A model that does not exist, other numbers of coefficients, or a matrix that is not one of a camera.

    Notes
    -----
    Polynomials of a distortion turn back beyond the angles that were calibrated. A camera sees no rays beyond the first
    angle at which its radial polynomial does.

    Examples
    --------
    >>> camera = bindless.Camera([[800, 0, 639.5], [0, 800, 359.5], [0, 0, 1]], (-0.3, 0.1, 0, 0), size=(1280, 720))
    >>> camera.model, camera.size
    ('opencv', (1280, 720))
    """

    K: Floats
    distortion: tuple[float, ...]
    model: str
    size: tuple[int, int] | None

    def __init__(
        self,
        K: npt.ArrayLike | None,
        distortion: Sequence[float] | npt.ArrayLike = (),
        model: str = "opencv",
        size: Sequence[int] | None = None,
    ) -> None:
        if model not in _COEFFICIENTS:
            raise ArgumentError(f"model={shown(model)} is none of {', '.join(_COEFFICIENTS)}")
        self.model = model
        self.size = None if size is None else _size_of(size)
        self.distortion = _coefficients("distortion", distortion, model)
        if K is None and model == "equirectangular" and self.size is not None:
            width, height = self.size
            K = np.array([[width / (2 * pi), 0, (width - 1) / 2], [0, height / pi, (height - 1) / 2], [0, 0, 1]])
        self.K = matrix_of("K", K)
        if self.K[2].tolist() != [0, 0, 1] or not abs(np.linalg.det(self.K)) > 0:
            raise ArgumentError(
                f"K={self.K.tolist()} is no matrix of a camera: its last row is (0, 0, 1), and it has an inverse"
            )
        self.K.flags.writeable = False

    def __repr__(self) -> str:
        return f"Camera({self.K.tolist()}, {self.distortion}, {self.model!r}, {self.size})"

    @property
    def key(self) -> tuple[object, ...]:
        """What tells cameras from others."""
        return self.K.tobytes(), self.distortion, self.model, self.size

    @property
    def kind(self) -> Model:
        """The model, without a distortion that moves nothing."""
        return Model[self.model] if self.model != "opencv" or any(self.distortion[:_NUMBERS]) else Model.pinhole

    @cached_property
    def limit(self) -> float:
        """The square of the largest radius, or the largest angle, that the camera sees."""
        k = (*self.distortion, *(0.0,) * _NUMBERS)[:_NUMBERS]
        if self.kind is Model.fisheye:
            turns = _first_root(Polynomial([1, *(factor * each for factor, each in zip((3, 5, 7, 9), k))]))
            return min(sqrt(turns), pi)
        if self.kind is not Model.opencv:
            return inf
        above, below = Polynomial([1, k[0], k[1], k[4]]), Polynomial([1, k[5], k[6], k[7]])
        slope = above * below + 2 * Polynomial([0, 1]) * (above.deriv() * below - above * below.deriv())
        return min(_first_root(slope), _first_root(below))

    @cached_property
    def tilt(self) -> Floats:
        """(3, 3), the homography of a tilted sensor, as OpenCV defines it."""
        if not any(self.distortion[_NUMBERS:]):
            return _NO_TILT
        x, y = self.distortion[_NUMBERS:]
        about_x = np.array([[1, 0, 0], [0, cos(x), sin(x)], [0, -sin(x), cos(x)]])
        about_y = np.array([[cos(y), 0, -sin(y)], [0, 1, 0], [sin(y), 0, cos(y)]])
        turn = about_y @ about_x
        sensor = np.array([[turn[2, 2], 0, -turn[0, 2]], [0, turn[2, 2], -turn[1, 2]], [0, 0, 1]])
        return np.asarray(sensor @ turn, np.float64)

    def numbers(self, limit: float | None = None) -> list[float]:
        """Model, coefficients and limit, as a lens has them."""
        coefficients = (*self.distortion, *(0.0,) * _NUMBERS)[:_NUMBERS]
        return [float(self.kind), *coefficients, self.limit if limit is None else limit]


def matrix_of(name: str, value: Any) -> Floats:
    """A copy of a matrix (3, 3) of finite numbers.

    Raises
    ------
    ArgumentError
        It is none.
    """
    try:
        matrix = np.array(value, np.float64)
    except (TypeError, ValueError, OverflowError):
        raise ArgumentError(f"{name}={shown(value)} is not made of numbers") from None
    if matrix.shape != (3, 3) or not np.isfinite(matrix).all():
        raise ArgumentError(f"{name}={shown(value)} is no matrix (3, 3) of finite numbers")
    return matrix


def _coefficients(name: str, value: Any, model: str) -> tuple[float, ...]:
    try:
        numbers = np.ravel(np.asarray(() if value is None else value, np.float64))
    except (TypeError, ValueError, OverflowError):
        raise ArgumentError(f"{name}={shown(value)} is not made of numbers") from None
    counts = _COEFFICIENTS[model]
    if len(numbers) not in counts or not np.isfinite(numbers).all():
        raise ArgumentError(
            f"{name}={shown(value)}: model {model!r} has {' or '.join(map(str, counts))} coefficients, finite numbers"
        )
    return tuple(numbers.tolist())


def _size_of(value: Any) -> tuple[int, int]:
    try:
        width, height = map(operator.index, value)
    except (TypeError, ValueError):
        raise ArgumentError(f"size={shown(value)} is no size: it is (width, height)") from None
    if width <= 0 or height <= 0:
        raise ArgumentError(f"size={shown(value)} is no size: width and height are positive")
    return width, height


def _first_root(polynomial: Polynomial) -> float:
    """The smallest positive root, or infinity."""
    roots = polynomial.trim().roots()
    real = [float(root.real) for root in roots if abs(root.imag) <= _REAL * abs(root) and root.real > 0]
    return min(real, default=inf)
