"""``Projector``: projections of volumes, their exact transpose, and back projection."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Literal, Union

import numpy as np
import numpy.typing as npt

from ..model.arrays import Array
from ..model.errors import ArgumentError
from ..model.grid import Grid
from ..sampling.array_launch import ArrayLaunch, LaunchPair, SpareLaunch
from ..sampling.rays import Halves, Rays
from ..sycl.queue.queue import Queue
from .arrays import LinearFunction, apply, storage_of
from .geometry import Geometry
from .poses import apply_to_moving, is_differentiable, is_tensor, matrices_of, move

__all__ = ["Projector"]


class Projector:
    """The projection of a scan: integrals of a volume along the rays from its sources to its pixels.

    A ray has one sample on each plane of texels across the axis along which its view mainly looks, linear in the plane
    and zero outside of the volume. The value is their sum, times the ray's length between two planes.

    Parameters
    ----------
    geometry : Geometry
        The views.
    volume : tuple[int, ...] | Grid
        The shape ([depth,] height, width) of volumes, whose texels have the edge 1 and whose middle is the origin of
        the world. Or their grid.
    dtype : dtype, default "float32"
        Of results: "float32" or "float16". Sums are float32 in any case, and arguments of float16 are read as they are.

    Attributes
    ----------
    volume_shape : tuple[int, ...]
        Of volumes.
    shape : tuple[int, ...]
        Of projections: (views, rows, columns), or (views, columns) of volumes of two axes.

    Raises
    ------
    ArgumentError
        A volume without two or three axes, or of two axes and views of more than one row; another dtype.

    Examples
    --------
    >>> from bindless import tomography
    >>> scan = tomography.parallel(np.linspace(0, np.pi, 90, endpoint=False), 64)
    >>> A = tomography.Projector(scan, (64, 64))
    >>> y = A(np.ones((64, 64), np.float32))
    >>> y.shape, float(y[0, 32])
    ((90, 64), 64.0)
    >>> A.adjoint(y).shape
    (64, 64)
    """

    def __init__(self, geometry: Geometry, volume: Union[tuple[int, ...], Grid], *, dtype: Any = "float32") -> None:
        self.geometry = geometry
        self.dtype = storage_of(dtype)
        self.grid = volume if isinstance(volume, Grid) else _centred(volume)
        dims = self.grid.dimensions
        if dims not in (2, 3) or (dims == 2 and geometry.detector_shape[0] != 1):
            raise ArgumentError(
                f"a volume of shape {self.grid.shape} and detectors of {geometry.detector_shape}: volumes have three "
                "axes, or two and detectors one row"
            )
        self.volume_shape = self.grid.shape
        self._motion: tuple[Projector, Any] | None = None  # the projector of the volume before, and torch's matrices
        rows, columns = geometry.detector_shape
        self.shape = (len(geometry), columns) if dims == 2 else (len(geometry), rows, columns)
        self._rays = rays = _rays(geometry, self.grid)
        to_values, to_volume = (self.volume_shape, self.shape), (self.shape, self.volume_shape)
        self._forward = LinearFunction("volume", *to_values, rays.project, _launch(rays, "forward"), self.dtype)
        spread = partial(_added, rays.spread)
        self._adjoint = LinearFunction("values", *to_volume, spread, _launch(rays, "adjoint"), self.dtype)
        self._backs = []
        for power in range(3):
            back = partial(_added, partial(rays.back_project, power=power))
            self._backs.append(LinearFunction("values", *to_volume, back, _launch(rays, "back", power), self.dtype))

    def __call__(self, volume: Any, *, out: Any = None, queue: Queue | None = None) -> Any:
        """The projections of a volume.

        Parameters
        ----------
        volume : array
            Shape ``volume_shape``, real numbers, of numpy or another library, in the process or on a device. Axes
            before these are of several volumes (channels, a batch), and come before those of the result.
        out : array, optional
            Where the result goes: of the projector's dtype, and of any library.
        queue : Queue, optional
            Computes it; by default one of the device where the array lies, or the process.

        Returns
        -------
        array
            Shape ``shape``, of the library of ``volume`` and where it lies; of torch differentiable any number of
            times. On a device the array is neither copied nor waited for.

        Raises
        ------
        ArgumentError
            Another shape, no real numbers, or an ``out`` that does not fit.
        """
        return self._apply(volume, self._forward, self._adjoint, out, queue)

    def adjoint(self, values: Any, *, out: Any = None, queue: Queue | None = None) -> Any:
        """The transpose of the projection: of the same sums, exact to rounding.

        Parameters
        ----------
        values : array
            Shape ``shape``, as of ``__call__``.
        out, queue
            As of ``__call__``.

        Returns
        -------
        array
            Shape ``volume_shape``, as of ``__call__``. It does not depend on the number of threads.

        Raises
        ------
        ArgumentError
            As of ``__call__``.
        """
        return self._apply(values, self._adjoint, self._forward, out, queue)

    def back(self, values: Any, *, power: int = 0, out: Any = None, queue: Queue | None = None) -> Any:
        """The sum over the views of the values where the ray through a texel meets the detector.

        Parameters
        ----------
        values : array
            Shape ``shape``, as of ``__call__``; linear between pixels, zero outside of the detector.
        power : int, default 0
            0 to 2: values are divided by this power of the distance of the texel from the source, beside that of the
            detector. 2 is the weight of filtered back projection.
        out, queue
            As of ``__call__``.

        Returns
        -------
        array
            Shape ``volume_shape``, as of ``__call__``, without a derivative.

        Raises
        ------
        ArgumentError
            As of ``__call__``; another power.
        """
        if power not in (0, 1, 2):
            raise ArgumentError(f"power={power!r}: 0, 1 or 2 is needed")
        return apply(values, self._backs[power], None, out, queue)

    def _apply(
        self, value: Any, function: LinearFunction, transpose: LinearFunction, out: Any, queue: Queue | None
    ) -> Any:
        if self._motion is None or not (is_tensor(value) and is_differentiable(self._motion[1])):
            return apply(value, function, transpose, out, queue)
        if out is not None:
            raise ArgumentError("out of a pose that needs a gradient: leave it out, or give pose.detach()")
        base, matrices = self._motion
        to_texels = matrices.new_tensor(_to_texels(self.grid))
        in_texels = to_texels @ matrices @ to_texels.inverse()
        is_forward = function is self._forward
        return apply_to_moving(value, in_texels, function, transpose, base._rays, is_forward, queue)

    def views(self, pose: Any) -> Projector:
        """The projector of a volume that moves before it is projected: of the views at a changed pose.

        Parameters
        ----------
        pose : array | Tensor | Affine
            Where points of the volume go, in world units: a matrix ([4, or] 3, 4), of pictures ([3, or] 2, 3); in space
            also six numbers, a rotation vector about the origin in radians, and the translation after the rotation. One
            for all views, or with an axis before, one for each. A tensor's numbers are read by the host; of one that
            needs a gradient, results of tensors are differentiable, once, by pose and argument.

        Returns
        -------
        Projector
            With ``views(pose)(volume)`` the integrals through the volume at that pose. Where a matrix stretches it,
            lengths are those of the volume before. ``views`` of the result moves the volume first by its own pose.

        Raises
        ------
        ArgumentError
            A pose of another shape, or without an inverse.

        Examples
        --------
        >>> from bindless import tomography
        >>> scan = tomography.parallel([0.0], (24, 32))
        >>> A = tomography.Projector(scan, (24, 24, 24))
        >>> moved = A.views([0, 0, 0, 4, 0, 0])(np.ones((24, 24, 24)))
        >>> moved[0, 12, [5, 12, 30]].tolist()
        [0.0, 24.0, 24.0]
        """
        matrices = matrices_of(pose, self.grid.dimensions, len(self.geometry))
        base = self
        if self._motion is not None:
            base, before = self._motion
            matrices = before @ (matrices.to(before) if is_tensor(matrices) else before.new_tensor(matrices))
        moving = Projector(move(base.geometry, matrices), self.grid, dtype=self.dtype)
        if is_differentiable(matrices):
            moving._motion = base, matrices
        return moving

    def __getitem__(self, views: Any) -> Projector:
        """The projector of some of the views: of an index, a slice or an array of indices."""
        if self._motion is not None:
            base, matrices = self._motion
            return base[views].views(matrices if len(matrices) == 1 else matrices[views])
        return Projector(self.geometry[views], self.grid, dtype=self.dtype)

    def slabs(self, thickness: int) -> list[tuple[slice, Projector]]:
        """Projectors of the parts of volumes along their first axis, for volumes that no memory holds as a whole.

        Parameters
        ----------
        thickness : int
            Of a slab, in texels; the last one may have fewer.

        Returns
        -------
        list[tuple[slice, Projector]]
            The place of each slab in the volume, and its projector. The sum of their projections is that of the volume,
            and their ``adjoint`` and ``back`` give its slabs, to rounding.

        Raises
        ------
        ArgumentError
            No positive number.

        Examples
        --------
        >>> from bindless import tomography
        >>> scan = tomography.cone(np.linspace(0, 6, 10), (32, 48), 1.5, 150, 75)
        >>> A, volume = tomography.Projector(scan, (32, 32, 32)), np.ones((32, 32, 32), np.float32)
        >>> y = sum(part(volume[place]) for place, part in A.slabs(10))
        >>> bool(abs(y - A(volume)).max() < 1e-4)
        True
        """
        if not isinstance(thickness, (int, np.integer)) or thickness < 1:
            raise ArgumentError(f"thickness={thickness!r}: a positive number of texels is needed")
        if self._motion is not None:
            base, matrices = self._motion
            return [(place, part.views(matrices)) for place, part in base.slabs(thickness)]
        grid, length = self.grid, self.grid.shape[0]
        parts = []
        for first in range(0, length, int(thickness)):
            place = slice(first, min(first + int(thickness), length))
            origin = grid.index_matrix[:-1] @ [*[0] * (grid.dimensions - 1), first, 1]
            shape = (place.stop - first, *grid.shape[1:])
            slab = Grid(shape, grid.spacing, origin, grid.direction)
            parts.append((place, Projector(self.geometry, slab, dtype=self.dtype)))
        return parts

    def __repr__(self) -> str:
        return f"Projector({self.geometry!r}, {self.volume_shape})"


def _launch(
    rays: Rays, operation: Literal["forward", "adjoint", "back"], *more: int
) -> Callable[[Queue, Halves], ArrayLaunch | LaunchPair | SpareLaunch]:
    return lambda queue, halves: rays.launch(queue, operation, *more, halves=halves)


def _added(function: Callable[[Array, Array], object], values: Array, volume: Array) -> None:
    """Write what a function adds to a volume."""
    volume.fill(0)
    function(values, volume)


def _centred(shape: Any) -> Grid:
    grid = Grid(shape)
    return Grid(grid.shape, origin=[-(size - 1) / 2 for size in grid.shape[::-1]])


def _to_texels(grid: Grid) -> npt.NDArray[np.float64]:
    """The matrix (4, 4) from the world to texels; a picture is a volume of one layer, around z = 0."""
    to_world = np.eye(4)
    dims = grid.dimensions
    to_world[:dims, :dims], to_world[:dims, 3] = grid.matrix[:dims, :dims], grid.matrix[:dims, dims]
    if dims == 2:
        to_world[2, 3] = -0.5
    return np.asarray(np.linalg.inv(to_world))


def _rays(geometry: Geometry, grid: Grid) -> Rays:
    """The views in texels."""
    to_texels = _to_texels(grid)
    frames = geometry.frames @ to_texels[:3, :3].T
    frames[:, 1] += to_texels[:3, 3]
    if not geometry.is_parallel:
        frames[:, 0] += to_texels[:3, 3]
    spacing = np.linalg.norm(np.linalg.inv(to_texels[:3, :3]), axis=0)
    depth, height, width = (1, *grid.shape)[-3:]
    return Rays(
        np.ascontiguousarray(frames), (depth, height, width), tuple(spacing.tolist()), geometry.detector_shape,
        geometry.is_parallel, geometry.column_angle, geometry.foot,
    )  # fmt: skip
