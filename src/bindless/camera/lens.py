"""``Lens``: from the pixels of one camera's picture to those of another one's, by rays from the same centre."""

from __future__ import annotations

from math import pi
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ..drivers import reference
from .camera import Camera, Model

__all__ = ["Lens", "is_plain"]

Floats = npt.NDArray[np.float64]

_MODEL_BEHIND = 23  # place of the model of the image's camera
_FURTHER, _TILTS = slice(29, 36), slice(43, 45)  # its coefficients behind the fifth, and what tilts its sensor
_NO_TURN = np.eye(3)
_STEP = 2.0**-10  # of a pixel, for slopes


class Lens(NamedTuple):
    """What is computed for each pixel of a picture; ``include/bindless/filter/lens.h`` has the arithmetic.

    Attributes
    ----------
    before : NDArray[np.float64]
        (3, 3), from pixels of the picture, whose first one has its centre at 0, to positions before its lens.
    numbers : NDArray[np.float64]
        Those of lens.h.
    behind : NDArray[np.float64]
        (2, 3), from positions behind the image's lens to its pixels.
    """

    before: Floats
    numbers: Floats
    behind: Floats

    @classmethod
    def between(cls, source: Camera, target: Camera, rotation: Floats, limit: float | None = None) -> Lens:
        """The lens of a picture that one camera draws of another one's picture.

        Parameters
        ----------
        source, target : Camera
            The cameras of the image and of the picture.
        rotation : NDArray[np.float64]
            (3, 3), from the axes of the picture's camera to those of the image's.
        limit : float | None
            In place of the limit of the image's camera.
        """
        numbers = [*target.numbers(), *rotation.flat, *source.numbers(limit), *source.tilt.flat]
        if target.kind is Model.pinhole and np.array_equal(rotation, _NO_TURN):
            numbers[0] = Model.straight
        return cls(np.asarray(np.linalg.inv(target.K @ target.tilt), np.float64), np.array(numbers), source.K[:2])

    def footprints(self, points: Any) -> tuple[Floats, Floats, Floats]:
        """``move``, and the change of the position to the next column and to the next row, 0 at the limits of the view.

        Across the seam of a panorama the change is that along the sphere.
        """
        at = np.asarray(points, np.float64)
        places = self.move(at)
        steps = []
        with np.errstate(invalid="ignore"):  # where no ray leads
            for axis in (0, 1):
                step = (self.move(at + _STEP * np.eye(2)[axis]) - places) / _STEP
                if self.numbers[_MODEL_BEHIND] == Model.equirectangular:
                    around = 2 * pi * self.behind[:, 0] / _STEP
                    turns = np.rint(step @ np.linalg.inv(np.column_stack([around, self.behind[:, 1]]))[0])
                    step -= turns[..., None] * around
                steps.append(np.where(np.isfinite(step).all(-1, keepdims=True), step, 0.0))
        return places, steps[0], steps[1]

    @property
    def is_projective(self) -> bool:
        """Whether the matrix before it divides."""
        return bool((self.before[2] != (0, 0, 1)).any())

    def move(self, points: Any) -> Floats:
        """Pixels of the image at which pixels (..., 2) of the picture are read; minus infinity where no ray leads."""
        at = np.asarray(points, np.float64)
        i, j = at[..., 0].ravel(), at[..., 1].ravel()
        x, y, depth = (a * i + (b * j + c) for a, b, c in self.before.tolist())
        if self.is_projective:
            x, y = x / depth, y / depth
        rows = np.array([[*row[:2], 0.0, row[2]] for row in self.behind])
        reference.load()
        lens, matrix, to_x, to_y = (reference.ffi.from_buffer("double *", each) for each in (self.numbers, rows, x, y))
        reference.check(reference.lib.blrFollowLens(lens, matrix, x.size, to_x, to_y), "blrFollowLens")
        return np.stack([x, y], -1).reshape(at.shape)


def is_plain(numbers: Floats) -> bool:
    """Whether the numbers of a lens are those of ``FieldKind.lens``."""
    is_straight = numbers[0] == Model.straight and numbers[_MODEL_BEHIND] == Model.opencv
    return bool(is_straight and not numbers[_FURTHER].any() and not numbers[_TILTS].any())
