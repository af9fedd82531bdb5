"""``Places``: where the values of a result are read in the input."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ..image.array_library import AnyArray
from ..model.filter import CoordinateMap
from ..model.resampling import Window
from ..sampling.fields import Field, shift_fields

__all__ = ["AS_IT_IS", "Places", "shift"]

AS_IT_IS = CoordinateMap.pictures(tuple(np.eye(4).ravel().tolist()), 0.0)
"""The map that leaves each element in its place."""
_NOWHERE = CoordinateMap.pictures(tuple(np.diag([0.0, 0.0, 0.0, 1.0]).ravel().tolist()), 0.0)


class Places(NamedTuple):
    """The places of the values, in units of elements of the input.

    Attributes
    ----------
    shape : tuple[int, ...]
        Of the values, up to three axes.
    map : CoordinateMap
        From indices of the values in (x, y, z) order.
    coords : AnyArray | None
        (axes, N), contiguous, float32 or float64, in the order of the input's axes: added.
    first : tuple[int, int, int]
        Index of the first value in a larger result, in (x, y, z) order: added to the indices.
    window : Window | None
        The array as a part of the input, to which the places refer, as ``Resampling`` has it.
    fields : tuple[Field, ...]
        What moves the positions that the map gives; there are no coordinates then.
    """

    shape: tuple[int, ...]
    map: CoordinateMap
    coords: AnyArray | None = None
    first: tuple[int, int, int] = (0, 0, 0)
    window: Window | None = None
    fields: tuple[Field, ...] = ()

    @classmethod
    def affine(
        cls,
        matrix: npt.NDArray[np.float64],
        offset: npt.NDArray[np.float64],
        shape: Sequence[int],
        *,
        centre: float = 0.0,
    ) -> Places:
        """Of a matrix (axes of the input, axes of the values) and an offset, in the order of axes.

        The centre of elements, relative to their indices, is 0 but for zooms whose grids share their outermost edges.
        """
        whole = np.zeros((4, 4))
        rows, columns = matrix.shape
        whole[:rows, :columns] = matrix[::-1, ::-1]
        whole[:rows, 3] = offset[::-1]
        whole[3, 3] = 1.0
        return cls(tuple(shape), CoordinateMap(tuple(whole.ravel().tolist()), centre, centre))

    @classmethod
    def at(cls, coords: AnyArray) -> Places:
        """Of coordinates (axes, N)."""
        return cls((int(coords.shape[1]),), _NOWHERE, coords)

    def shift(self, distance: int) -> Places:
        """The same places in an array that has so many more elements in front, along each axis."""
        if not distance:
            return self
        if self.fields:
            return self._replace(fields=shift_fields(self.fields, distance))
        return self._replace(map=shift(self.map, distance))


def shift(map_: CoordinateMap, distance: int) -> CoordinateMap:
    """A map to an array that has so many more elements in front, along each axis."""
    a, b, c, x, d, e, f, y, g, h, i, z, *last = map_.matrix
    rows = (a, b, c, x + distance, d, e, f, y + distance, g, h, i, z + distance, *last)
    return CoordinateMap(rows, map_.shift, map_.centre)
