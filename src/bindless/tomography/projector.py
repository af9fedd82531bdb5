"""``Projector``: projections of volumes, their exact transpose, and back projection."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Union

import numpy as np

from ..model.arrays import Array
from ..model.errors import ArgumentError
from ..model.grid import Grid
from ..sampling.rays import Rays
from ..sycl.queue.queue import Queue
from .arrays import LinearFunction, apply
from .geometry import Geometry

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

    Attributes
    ----------
    volume_shape : tuple[int, ...]
        Of volumes.
    shape : tuple[int, ...]
        Of projections: (views, rows, columns), or (views, columns) of volumes of two axes.

    Raises
    ------
    ArgumentError
        A volume without two or three axes, or of two axes and views of more than one row.

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

    def __init__(self, geometry: Geometry, volume: Union[tuple[int, ...], Grid]) -> None:
        self.geometry = geometry
        self.grid = volume if isinstance(volume, Grid) else _centred(volume)
        dims = self.grid.dimensions
        if dims not in (2, 3) or (dims == 2 and geometry.detector_shape[0] != 1):
            raise ArgumentError(
                f"a volume of shape {self.grid.shape} and detectors of {geometry.detector_shape}: volumes have three "
                "axes, or two and detectors one row"
            )
        self.volume_shape = self.grid.shape
        rows, columns = geometry.detector_shape
        self.shape = (len(geometry), columns) if dims == 2 else (len(geometry), rows, columns)
        self._rays = rays = _rays(geometry, self.grid)
        self._forward = LinearFunction(
            "volume", self.volume_shape, self.shape, rays.project, lambda queue: rays.launch(queue, "forward")
        )
        self._adjoint = LinearFunction(
            "values",
            self.shape,
            self.volume_shape,
            partial(_added, rays.spread),
            lambda queue: rays.launch(queue, "adjoint"),
        )
        self._backs = [_back(rays, power, self.shape, self.volume_shape) for power in range(3)]

    def __call__(self, volume: Any, *, out: Any = None, queue: Queue | None = None) -> Any:
        """The projections of a volume.

        Parameters
        ----------
        volume : array
            Shape ``volume_shape``, real numbers, of numpy or another library, in the process or on a device. Axes
            before these are of several volumes (channels, a batch), and come before those of the result.
        out : array, optional
            Where the result goes: float32, of any library.
        queue : Queue, optional
            Computes it; by default one of the device where the array lies, or the process.

        Returns
        -------
        array
            Shape ``shape``, float32, of the library of ``volume`` and where it lies; of torch differentiable any number
            of times. On a device the array is neither copied nor waited for.

        Raises
        ------
        ArgumentError
            Another shape, no real numbers, or an ``out`` that does not fit.
        """
        return apply(volume, self._forward, self._adjoint, out, queue)

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
        return apply(values, self._adjoint, self._forward, out, queue)

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

    def __getitem__(self, views: Any) -> Projector:
        """The projector of some of the views: of an index, a slice or an array of indices."""
        return Projector(self.geometry[views], self.grid)

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
        grid, length = self.grid, self.grid.shape[0]
        parts = []
        for first in range(0, length, int(thickness)):
            place = slice(first, min(first + int(thickness), length))
            origin = grid.index_matrix[:-1] @ [*[0] * (grid.dimensions - 1), first, 1]
            shape = (place.stop - first, *grid.shape[1:])
            parts.append((place, Projector(self.geometry, Grid(shape, grid.spacing, origin, grid.direction))))
        return parts

    def __repr__(self) -> str:
        return f"Projector({self.geometry!r}, {self.volume_shape})"


def _back(rays: Rays, power: int, shape: tuple[int, ...], volume_shape: tuple[int, ...]) -> LinearFunction:
    return LinearFunction(
        "values", shape, volume_shape,
        partial(_added, lambda values, volume: rays.back_project(values, volume, power)),
        lambda queue: rays.launch(queue, "back", power),
    )  # fmt: skip


def _added(function: Callable[[Array, Array], object], values: Array, volume: Array) -> None:
    """Write what a function adds to a volume."""
    volume.fill(0)
    function(values, volume)


def _centred(shape: Any) -> Grid:
    grid = Grid(shape)
    return Grid(grid.shape, origin=[-(size - 1) / 2 for size in grid.shape[::-1]])


def _rays(geometry: Geometry, grid: Grid) -> Rays:
    """The views in texels; a picture is a volume of one layer, around z = 0."""
    to_world = np.eye(4)
    dims = grid.dimensions
    to_world[:dims, :dims], to_world[:dims, 3] = grid.matrix[:dims, :dims], grid.matrix[:dims, dims]
    if dims == 2:
        to_world[2, 3] = -0.5
    to_texels = np.linalg.inv(to_world)
    frames = geometry.frames @ to_texels[:3, :3].T
    frames[:, 1] += to_texels[:3, 3]
    if not geometry.is_parallel:
        frames[:, 0] += to_texels[:3, 3]
    spacing = np.linalg.norm(to_world[:3, :3], axis=0)
    depth, height, width = (1, *grid.shape)[-3:]
    return Rays(
        np.ascontiguousarray(frames), (depth, height, width), tuple(spacing.tolist()), geometry.detector_shape,
        geometry.is_parallel,
    )  # fmt: skip
