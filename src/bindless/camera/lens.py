"""``Lens``: from the pixels of one camera's picture to those of another one's, by rays from the same centre."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ..drivers import reference
from .camera import Camera

__all__ = ["Lens"]

Floats = npt.NDArray[np.float64]


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
        return cls(np.asarray(np.linalg.inv(target.K @ target.tilt), np.float64), np.array(numbers), source.K[:2])

    @property
    def is_projective(self) -> bool:
        """Whether the matrix before it divides."""
        return bool((self.before[2] != (0, 0, 1)).any())

    def move(self, points: Any) -> Floats:
        """Pixels of the image at which pixels (..., 2) of the picture are read; minus infinity where no ray leads."""
        at = np.asarray(points, np.float64)
        ends = np.concatenate([at, np.ones((*at.shape[:-1], 1))], -1) @ self.before.T
        x, y = (np.ascontiguousarray(ends[..., axis] / ends[..., 2]).ravel() for axis in range(2))
        rows = np.array([[*row[:2], 0.0, row[2]] for row in self.behind])
        reference.load()
        lens, matrix, to_x, to_y = (reference.ffi.from_buffer("double *", each) for each in (self.numbers, rows, x, y))
        reference.check(reference.lib.blrFollowLens(lens, matrix, x.size, to_x, to_y), "blrFollowLens")
        return np.stack([x, y], -1).reshape(at.shape)
