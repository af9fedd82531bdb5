"""Sums of a volume along rays, their transpose, and back projection: on memory of the process, and on devices."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, Literal
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from ..drivers import reference
from ..model.arrays import Array
from ..model.errors import FeatureNotSupportedError
from ..model.ranges import NdRange
from ..sycl.device.context import Context
from ..sycl.kernel.builtin import builtin_kernel
from ..sycl.queue.queue import Queue
from ..sycl.usm import UsmArray, usm_empty
from .array_launch import ArrayLaunch, LaunchPair, SpareLaunch
from .halves import FLOATS, Halves
from .turned_rays import is_upright, turned_launch

__all__ = ["Halves", "Rays", "filter_launch", "upload"]

# As csrc/kernels/source/projector.cl: items of a group and pixels of its tile; texels of an item, and items of a group.
_TILE_ITEMS, _TILES = 256, {True: (32, 1), False: (8, 4)}
_COLUMN, _GROUP = 4, (1, 8, 32)
_FILTER_ITEMS = 128
_MOST_GROUPS = 65535  # along the second and third axis, of CUDA
_VIEW_NUMBERS = 32
_LONGEST_AXIS, _MOST_TEXELS = 1 << 22, (1 << 31) - 1


@dataclass(frozen=True, eq=False)
class Rays:
    """Views of a volume by the pixels of detectors.

    Attributes
    ----------
    frames : NDArray[np.float64]
        Shape (views, 4, 3), contiguous: source or direction, centre of the first pixel, steps to the next column and
        row, in texels x, y, z, whose centres are at +0.5.
    shape : tuple[int, int, int]
        Depth, height and width of the volume.
    spacing : tuple[float, float, float]
        Lengths of a texel along x, y, z.
    detector_shape : tuple[int, int]
        Rows and columns.
    is_parallel : bool
        Whether the sources are directions.
    column_angle : float
        Between columns of a detector that is curved around the source, whose flat tangent is that of the frames; 0 of
        a flat one.
    foot : tuple[float, float]
        Column and row where these touch; the middle of a flat detector.
    """

    frames: npt.NDArray[np.float64]
    shape: tuple[int, int, int]
    spacing: tuple[float, float, float]
    detector_shape: tuple[int, int]
    is_parallel: bool
    column_angle: float = 0.0
    foot: tuple[float, float] = (0.0, 0.0)

    def project(self, volume: Array, values: Array) -> None:
        """Write the projections of ``volume`` to ``values``; both float32, contiguous, of the rays' shapes."""
        self._run("blrProjectVolume", volume, values)

    def spread(self, values: Array, volume: Array) -> None:
        """Add the transpose of ``project``, applied to ``values``, to ``volume``."""
        self._run("blrProjectVolumeAdjoint", volume, values)

    def back_project(self, values: Array, volume: Array, power: int) -> None:
        """Add to each texel the values that its rays meet, divided by this power of its distance from the source."""
        self._run("blrBackProjectVolume", volume, values, power)

    def launch(
        self, queue: Queue, operation: Literal["forward", "adjoint", "back"], *more: int, halves: Halves = FLOATS
    ) -> ArrayLaunch | LaunchPair | SpareLaunch:
        """The launch from volumes to their projections, or from projections to the volumes that result from them.

        Parameters
        ----------
        queue : Queue
            Does the work.
        operation : {"forward", "adjoint", "back"}
            As ``project``, ``spread`` and ``back_project``, but what it writes is not added to what is there.
        *more : int
            The power, of ``"back"``.
        halves : Halves
            The precision of both arrays.

        Raises
        ------
        FeatureNotSupportedError
            More texels than integers of 32 bits number, or along an axis than floats do.
        """
        if max(self.shape) > _LONGEST_AXIS or math.prod(self.shape) > _MOST_TEXELS:
            raise FeatureNotSupportedError(
                f"a volume of shape {self.shape} on a device: it has fewer than 2^31 texels, and at most 2^22 along an "
                "axis; project it in slabs"
            )
        direct = partial(self._direct_launch, queue, operation, more, halves)
        if not self._is_upright:
            return direct()
        table, detector = self._table(queue), self.detector_shape
        turned = turned_launch(queue, operation, self.shape, table, detector, more, halves)
        return direct() if turned is None else SpareLaunch(turned, direct)

    def _direct_launch(
        self, queue: Queue, operation: str, more: tuple[int, ...], halves: Halves
    ) -> ArrayLaunch | LaunchPair:
        """The launch over arrays as they are."""
        depth, height, width = self.shape
        rows, columns = self.detector_shape
        curve = (self.column_angle, *self.foot) if self.column_angle else (0.0, (columns - 1) / 2, (rows - 1) / 2)
        views = self._table(queue), len(self.frames), columns, rows, *map(np.float32, curve)
        if operation == "forward":
            tile_columns, tile_rows = _TILES[rows == 1]
            groups = min(len(self.frames), _MOST_GROUPS), -(-rows // tile_rows), -(-columns // tile_columns)
            local = 1, 1, _TILE_ITEMS
        else:
            groups = min(-(-depth // _COLUMN), _MOST_GROUPS), -(-height // _GROUP[1]), -(-width // _GROUP[2])
            local = _GROUP
        between = Halves(False, halves.values) if operation == "adjoint" else halves
        launch = _launch(queue, operation, groups, local, (width, height, depth, *views), more, between)
        if operation != "adjoint":
            return launch
        groups = min(len(self.frames), _MOST_GROUPS), -(-rows // _GROUP[1]), -(-columns // _GROUP[2])
        scale = _launch(queue, "scale", groups, _GROUP, views, (), Halves(halves.source))
        return LaunchPair(scale, launch, (len(self.frames), rows, columns))

    def _table(self, queue: Queue) -> UsmArray:
        """The views as kernels read them, in memory of the queue's device."""
        tables = self._tables.setdefault(queue.context, {})
        number = queue.device._record.index
        if number not in tables:
            tables[number] = upload(queue, self._numbers)
        return tables[number]

    @cached_property
    def _is_upright(self) -> bool:
        return self.column_angle == 0 and is_upright(self._numbers)

    @cached_property
    def _numbers(self) -> Array:
        """The views as kernels read them."""
        columns = self.detector_shape[1] if self.column_angle else 0
        table = np.empty(len(self.frames) * _VIEW_NUMBERS + 2 * columns, np.float32)
        numbers = reference.ffi.from_buffer("float[]", table)
        reference.check(reference.lib.blrDescribeViews(self._description, numbers), "blrDescribeViews")
        return table

    @cached_property
    def _tables(self) -> WeakKeyDictionary[Context, dict[int, UsmArray]]:
        return WeakKeyDictionary()

    @cached_property
    def _description(self) -> Any:
        reference.load()
        described = reference.ffi.new("blr_projections_t *")
        described.size[0:3] = self.shape[::-1]
        described.spacing[0:3] = self.spacing
        described.is_parallel = self.is_parallel
        described.rows, described.columns = self.detector_shape
        described.column_angle, described.foot[0:2] = self.column_angle, self.foot
        described.num_views = len(self.frames)
        described.views = reference.ffi.from_buffer("blr_view_t[]", self.frames)
        return described

    def _run(self, name: str, volume: Array, values: Array, *more: int) -> None:
        described = reference.ffi.new("blr_projections_t *", self._description[0])
        described.volume = reference.ffi.cast("float *", volume.ctypes.data)
        described.values = reference.ffi.cast("float *", values.ctypes.data)
        reference.check(getattr(reference.lib, name)(described, *more), name)


def filter_launch(
    queue: Queue, count: int, detector_shape: tuple[int, int], turn_weights: Array, pixel_weights: Array,
    response: Array, margins: tuple[int, int], halves: Halves = FLOATS,
) -> ArrayLaunch:  # fmt: skip
    """The launch from projections to their rows times weights, convolved with a response.

    Parameters
    ----------
    queue : Queue
        Does the work.
    count : int
        Views.
    detector_shape : tuple[int, int]
        Rows and columns.
    turn_weights : NDArray
        Shape (views or 1, columns).
    pixel_weights : NDArray
        Shape (rows, columns).
    response : NDArray
        Of differences of columns, from 1 - width to width - 1, where width are the columns with both margins.
    margins : tuple[int, int]
        Columns before the first and after the last one, of the result alone.
    halves : Halves
        The precision of the projections; that of what it writes is float32.
    """
    rows, columns = detector_shape
    tables = [upload(queue, table) for table in (turn_weights, pixel_weights, response)]
    step, width = columns if len(turn_weights) > 1 else 0, sum(margins) + columns
    before = columns, rows, tables[0], step, *tables[1:], width, margins[0]
    return _launch(queue, "filter", (count * rows,), (_FILTER_ITEMS,), before, (), Halves(halves.source))


def _launch(
    queue: Queue, name: str, groups: tuple[int, ...], local: tuple[int, ...], before: tuple[object, ...],
    behind: tuple[object, ...], halves: Halves,
) -> ArrayLaunch:  # fmt: skip
    space = NdRange(tuple(count * size for count, size in zip(groups, local)), local)
    name = f"bindless_projector_{name}"
    if any(halves):
        name, behind = f"{name}_half", (*behind, halves.bits)
    return ArrayLaunch(queue, space, builtin_kernel(queue, name), before, behind)


def upload(queue: Queue, table: Array) -> UsmArray:
    """Numbers as float32 in memory of the queue's device; waits for that alone."""
    return usm_empty(table.shape, np.float32, queue).copy_from(np.asarray(table, np.float32))
