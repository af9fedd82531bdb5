"""``compose``: the map from indices of a target to those of a source, through the world and a transform."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ..model.errors import ArgumentError
from ..model.grid import Grid
from ..model.transforms import Affine, Part, Transform, parts_of
from ..sampling.fields import Field, add_packing, packing_of
from ..sycl.queue.queue import Queue
from ..sycl.usm import UsmArray
from .array_library import hand_over, view

__all__ = ["Composition", "compose"]

Floats = npt.NDArray[np.float64]


class Composition(NamedTuple):
    """What is computed for each pixel of a target.

    Attributes
    ----------
    matrix : NDArray[np.float64]
        (d + 1, d + 1): from indices of the target, x first, to those of the first field, or else of the source.
    fields : tuple[Field, ...]
        Each one leads to the indices of the next field, and the last one to those of the source.
    names : tuple[str, ...]
        Of the vectors of each field, for errors.
    """

    matrix: Floats
    fields: tuple[Field, ...]
    names: tuple[str, ...] = ()

    def on(self, queue: Queue) -> Composition:
        """The same with vectors that ``pack_fields`` takes in a queue: in place where their library allows.

        Raises
        ------
        ArgumentError
            Vectors that are no numbers.
        InvalidError
            Vectors that are no array, or memory of a device that the queue does not reach.
        """
        if not self.fields:
            return self
        return self._replace(fields=tuple([_on(queue, name, field) for name, field in zip(self.names, self.fields)]))

    def hand_over(self, own: Composition) -> None:
        """Order the streams of the vectors' libraries after the commands that read them, as ``on`` gave them."""
        for field, view_of_field in zip(self.fields, own.fields):
            hand_over(field.vectors, view_of_field.vectors)


def _on(queue: Queue, name: str, field: Field) -> Field:
    packing = packing_of(queue, field.vectors)
    if packing is not None:
        return field._replace(packing=packing)
    array = view(name, field.vectors, queue)
    if array.dtype.kind not in "iuf":
        raise ArgumentError(f"{name} has dtype {array.dtype}; it is made of numbers")
    if isinstance(array, UsmArray):
        packing = add_packing(queue, field.vectors, array)
    return field._replace(vectors=array, packing=packing)


def compose(source: Grid, target: Grid, transform: Transform | None) -> Composition:
    """Every affine part between two fields is one matrix, multiplied in double precision.

    The vectors of the fields are as the caller gave them.

    Raises
    ------
    ArgumentError
        Grids or transforms of other dimensions than the source.
    """
    dims, parts = source.dimensions, parts_of(transform)
    _require(dims, target, parts)
    matrix: Floats = target.index_matrix
    first: Floats | None = None
    fields: list[Field] = []
    spread = np.eye(dims)

    def close(grid: Grid) -> None:
        """Lead to the indices of a grid."""
        nonlocal first
        back = grid._to_indices
        whole = back @ matrix
        if first is None:
            first = whole
        else:
            fields[-1] = fields[-1]._replace(linear=whole[:dims], spread=back[:dims, :dims] @ spread)

    for part in parts:
        if isinstance(part, Affine):
            matrix, spread = part.matrix @ matrix, part.matrix[:dims, :dims] @ spread
            continue
        close(part.grid)
        matrix, spread = part.grid.index_matrix, np.eye(dims)
        fields.append(Field(part.vectors, part.interpolation, matrix[:dims], spread))
    close(source)
    assert first is not None
    return Composition(first, tuple(fields), tuple([part.name for part in parts if not isinstance(part, Affine)]))


def _require(dims: int, target: Grid, parts: tuple[Part, ...]) -> None:
    if target.dimensions != dims:
        raise ArgumentError(f"target has {target.dimensions} axes, and source {dims}")
    for part in parts:
        if part.dimensions != dims:
            raise ArgumentError(f"transform has a part of {part.dimensions} axes, {part!r}; the grids have {dims}")
