"""``Source``: an image as pictures read it, the maps to its texels, and the plans of its pictures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ..model.arrays import DType
from ..model.errors import InvalidError
from ..model.filter import CoordinateMap, Filter
from ..model.image_handles import SampledImageHandle
from ..model.message_values import shown
from ..model.resampling import FieldKind, Resampling
from .fields import Field, scale_fields, shift_fields
from .plan import Plan
from .prepare import prepare

if TYPE_CHECKING:
    from ..sycl.queue.queue import Queue

__all__ = ["Source"]

_MAX_PLANS = 64

VectorKind = tuple[DType, tuple[int, int], FieldKind]


@dataclass(frozen=True, eq=False)
class Source:
    """An image as pictures read it: its pixels, or the coefficients of B-splines.

    Attributes
    ----------
    queue : Queue
        Runs the work.
    handle : SampledImageHandle
        Handle of the image.
    filter : Filter
        Filter, as ``Resampling`` takes it.
    dimensions : int
        Dimensions of the image.
    scale, bias : tuple[float, float, float]
        From positions in texels to the coordinates of the handle.
    margin : tuple[int, int, int]
        Texels of the handle's image before the image's first one, along (x, y, z).
    unit : tuple[float, ...] | None
        Texels for each unit of the user's coordinates, along (x, y, z), where that is not 1.
    largest : float | None
        Largest code of a normalized image whose texels are codes here.
    footprints : bool
        Whether pictures, without vectors, choose the level of a mipmap by their map, or by a lens.
    reads_host : bool
        Whether the device reads all memory of the host.
    plans : dict[tuple[Any, ...], Plan]
        Plans by the arguments of ``add_plan``.
    """

    queue: Queue
    handle: SampledImageHandle
    filter: Filter
    dimensions: int
    scale: tuple[float, float, float] = (1.0, 1.0, 1.0)
    bias: tuple[float, float, float] = (0.0, 0.0, 0.0)
    margin: tuple[int, ...] = (0, 0, 0)
    unit: tuple[float, ...] | None = None
    largest: float | None = None
    footprints: bool = False
    reads_host: bool = False
    plans: dict[tuple[Any, ...], Plan] = field(default_factory=dict)

    def add_plan(
        self, sizes: tuple[int, ...], layer: int, dtype: DType, channels: int, vectors: VectorKind | None
    ) -> Plan:
        """Prepare pictures of a layer, and add their plan.

        Parameters
        ----------
        sizes : tuple[int, ...]
            Sizes of a picture, in (x, y, z) order.
        layer : int
            Layer of an array, else 0.
        dtype, channels
            Values of the picture.
        vectors : VectorKind | None
            Vectors that are added to the positions, or fields: dtype, strides and kind, as of ``Resampling``.
        """
        assert self.handle.descriptor is not None
        width, height, depth = (*sizes, 1, 1)[:3]
        coords_dtype, strides, fields = vectors or (np.dtype(np.float32), (0, 0), FieldKind.none)
        picture = Resampling(
            handle=0,
            descriptor=self.handle.descriptor,
            shape=(width, height, depth),
            values=0,
            value_dtype=dtype,
            value_channels=channels,
            layer=layer,
            coords_dtype=coords_dtype,
            coords_strides=strides,
            fields=fields,
            scale=self.scale,
            bias=self.bias,
            filter=self.filter,
            map=CoordinateMap.pictures(),
            footprints=self.footprints,
        )
        plan = self._prepare(picture)
        if len(self.plans) >= _MAX_PLANS:
            self.plans.clear()
        self.plans[sizes, layer, dtype, channels, vectors] = plan
        return plan

    def _prepare(self, picture: Resampling) -> Plan:
        return prepare(self.queue, self.handle, picture)

    def maps_of(self, matrices: npt.ArrayLike, layers: int) -> tuple[CoordinateMap, ...]:
        """The map of each layer.

        Raises
        ------
        InvalidError
            There are other numbers of matrices and of layers, or see ``map_of``.
        """
        rows = list(np.asarray(matrices))
        if len(rows) != layers:
            raise InvalidError(
                f"matrix has shape {np.shape(matrices)}: it is one, or one for each of the {layers} layers"
            )
        return tuple([self.map_of(matrix, f"matrix[{number}]") for number, matrix in enumerate(rows)])

    def fields_of(self, fields: Sequence[Field]) -> tuple[Field, ...]:
        """Fields that lead to the user's coordinates, as those that lead to texels."""
        if self.unit is not None:
            fields = scale_fields(fields, np.array(self.unit))
        return shift_fields(fields, np.array(self.margin[: self.dimensions], np.float64))

    def map_of(self, matrix: npt.ArrayLike, name: str = "matrix", *, has_fields: bool = False) -> CoordinateMap:
        """The map to texels, of a matrix from picture elements to the user's coordinates.

        Parameters
        ----------
        matrix : ArrayLike
            (d, d + 1), affine, or (d + 1, d + 1), projective.
        name : str
            Name of the argument, for errors.
        has_fields : bool
            Whether the matrix leads to a field, and the fields to the user's coordinates.

        Raises
        ------
        InvalidError
            Another shape, or entries that are not finite numbers.
        """
        dims = self.dimensions
        try:
            values = np.asarray(matrix, np.float64)
        except (TypeError, ValueError, OverflowError):
            raise InvalidError(f"{name}={shown(matrix)} is not made of numbers") from None
        if values.shape not in ((dims, dims + 1), (dims + 1, dims + 1)):
            affine, projective = (dims, dims + 1), (dims + 1, dims + 1)
            raise InvalidError(f"{name} has shape {values.shape}; it is {affine}, affine, or {projective}, projective")
        if not np.logical_and.reduce(np.isfinite(values), None):
            raise InvalidError(f"{name}={values.tolist()} has entries that are not finite")
        is_plain = has_fields or (self.unit is None and self.margin == (0, 0, 0))
        rows = values.ravel().tolist()
        rows += [0.0] * dims + [1.0] if len(values) == dims else []
        if dims == 2:
            a, b, c, d, e, f, g, h, i = rows
            rows = [a, b, 0.0, c, d, e, 0.0, f, 0.0, 0.0, 1.0, 0.0, g, h, 0.0, i]
        elif dims == 1:
            a, b, c, d = rows
            rows = [a, 0.0, 0.0, b, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, c, 0.0, 0.0, d]
        if is_plain:
            return CoordinateMap(tuple(rows), 0.5, 0.5)
        full = np.array(rows).reshape(4, 4)
        for axis in range(dims):
            if self.unit is not None:
                full[axis] *= self.unit[axis]
            if self.margin[axis]:
                full[axis] += self.margin[axis] * full[3]
        return CoordinateMap(tuple(full.ravel().tolist()), 0.5, 0.5)
