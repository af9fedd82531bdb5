"""``CubemapLevels``: a cubemap with mipmaps, as one cubemap for each level.

Cubemaps of the extension have one level. The levels of the faces are those of mipmaps, and samples between two levels
are blended here, in float32.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from ..model.enums import FilteringMode, Interpolation
from ..model.errors import InvalidError
from ..model.filter import Filter
from ..model.image_descriptor import integer
from ..submission.event import Event
from ..sycl.queue.queue import Queue
from ..sycl.usm import UsmArray
from .arguments import coordinate_axes, per_item
from .array_library import ArrayLike, hand_over, library_of, seen
from .default_queue import queue_of_array
from .group_results import given_from_host
from .group_store import GroupStore
from .image import Image
from .options import ImageOptions
from .results import Result

__all__ = ["CubemapLevels"]

Array = npt.NDArray[Any]


class CubemapLevels(Image):
    """An ``Image`` made with ``cubemap=True`` and ``mipmaps=True``.

    It has the methods of ``Image``. Handles and memory belong to its parts.
    """

    _store: GroupStore  # type: ignore[assignment]

    def _fill(self, array: ArrayLike, options: ImageOptions, queue: Queue | None) -> None:
        if options.max_anisotropy:
            raise InvalidError("max_anisotropy is for images of two dimensions with mipmaps: leave it out of cubemaps")
        queue = queue_of_array(array) if queue is None else queue
        first = Image._of(array, replace(options, mipmaps=False), queue)
        own = first._options
        parts = [first]
        try:
            for faces in self._smaller(first, queue):
                parts.append(Image._of(faces, own, queue))
        except BaseException:
            for part in parts:
                part.close()
            raise
        self._queue, self._mipmaps, self._options = queue, True, replace(own, mipmaps=True)
        self._has_channel_axis = first._has_channel_axis
        self._described, self._sampler, self._filter = first._described, first._sampler, first._filter
        self._coefficients, self._is_computed, self._has_fast_warp = None, False, False
        self._handle_precision = first._handle_precision
        self._library, self._leads_on_device, self._views = first._library, first._leads_on_device, {}
        self._sources = {}
        self._store = GroupStore(
            parts,
            replace(first.descriptor, num_levels=len(parts)),
            "a cubemap with mipmaps has a cubemap for each level",
        )

    def _smaller(self, first: Image, queue: Queue) -> list[Array]:
        """The further levels of all faces of the first one."""
        faces = first.numpy()
        side = faces.shape[1]
        sizes = [side >> level for level in range(1, side.bit_length())]
        levels = [np.empty((6, size, size, *faces.shape[3:]), faces.dtype) for size in sizes]
        nearest = Filter(Interpolation.nearest)
        options = ImageOptions(nearest, first._options.channel_type, mipmaps=True, dimensions=2)
        for number, face in enumerate(faces):
            with Image._of(face, options, queue) as image:
                for level, target in enumerate(levels, 1):
                    target[number] = image.numpy(level)
        return levels

    @property
    def parts(self) -> tuple[Image, ...]:
        """A cubemap for each level; each has handles and memory."""
        return self._store.parts

    def _part(self, level: int) -> Image:
        parts, number = self._store.parts, integer("level", level)
        if number >= len(parts):
            raise InvalidError(f"level={level}: this cubemap has levels 0 to {len(parts) - 1}")
        return parts[number]

    def numpy(self, level: int = 0) -> Array:
        """The stored pixels of a level; see ``Image.numpy``."""
        return self._part(level).numpy()

    def update(self, array: ArrayLike) -> Event | None:
        """Gives the image new pixels, in all levels; see ``Image.update``."""
        parts = self._store.parts
        event = parts[0].update(array)
        for part, faces in zip(parts[1:], self._smaller(parts[0], self._queue)):
            part.update(faces)
        return event

    def fetch(self, coords: ArrayLike, *, level: int = 0, layers: ArrayLike | None = None, out: Any = None) -> Any:
        """The values of single pixels of a level; see ``Image.fetch``."""
        return self._part(level).fetch(coords, layers=layers, out=out)

    def sample(
        self,
        coords: ArrayLike,
        *,
        level: ArrayLike | None = None,
        dx: ArrayLike | None = None,
        dy: ArrayLike | None = None,
        layers: ArrayLike | None = None,
        out: Any = None,
    ) -> Any:
        """The filtered values in any directions; see ``Image.sample``.

        Samples between two levels go through the host, also where the directions lie on the device.
        """
        if (dx is None) != (dy is None):
            raise InvalidError("dx and dy are given together or not at all")
        if level is not None and dx is not None:
            raise InvalidError("level and dx, dy exclude each other: gradients choose the level")
        parts = self._store.parts
        directions = seen("coords", coords, self._queue)
        leading = tuple(coordinate_axes(self, directions).shape[:-1])
        if dx is not None:
            steps = [self._host(name, given).astype(np.float64) for name, given in (("dx", dx), ("dy", dy))]
            level = _level_of_steps(self._host("coords", directions), steps, self.size[0])
        number = per_item("level", 0.0 if level is None else self._host("level", level), leading, np.float64)
        wanted = np.clip(np.nan_to_num(number), 0, len(parts) - 1)
        if self._sampler.filtering is FilteringMode.nearest:
            wanted = np.floor(wanted + 0.5)
        if np.ndim(wanted) == 0 and wanted == int(wanted):
            return parts[int(wanted)].sample(coords, layers=layers, out=out)
        if layers is not None:
            raise InvalidError("layers: a cubemap has none to choose; directions choose the face")
        channels = (self.num_channels,) if self._has_channel_axis else ()
        result = Result(self._queue, out, (*leading, *channels), self._store.descriptor.value_dtype, (directions,))
        points = self._host("coords", directions)
        values = self._blended(points.reshape(-1, 3), np.broadcast_to(wanted, points.size // 3))
        given = given_from_host(
            result,
            values.astype(self._store.descriptor.value_dtype).reshape(result.shape),
            self._queue,
            library_of(coords),
            on_device=isinstance(directions, UsmArray),
        )
        hand_over(coords, directions)
        return given

    def _host(self, name: str, value: Any) -> Array:
        array = seen(name, value, self._queue)
        return array.numpy() if isinstance(array, UsmArray) else array

    def _blended(self, points: Array, levels: Array) -> Array:
        """(N, channels) between the two levels of each point."""
        parts = self._store.parts
        values = np.zeros((len(points), self.num_channels), np.float32)
        low = np.floor(levels).astype(np.int64)
        share = (levels - low).astype(np.float32)
        for number, part in enumerate(parts):
            weight = np.where(low == number, 1 - share, np.where(low == number - 1, share, 0)).astype(np.float32)
            index = np.flatnonzero(weight)
            if index.size:
                read = np.asarray(part.sample(points[index]), np.float32).reshape(len(index), -1)
                values[index] += weight[index, None] * read
        return values


def _level_of_steps(directions: Array, steps: list[Array], side: int) -> Array:
    """The level whose pixels are as large as the longer step, on the face that a direction meets.

    Parameters
    ----------
    directions : Array
        Shape (..., 3).
    steps : list[Array]
        Changes of the directions, which broadcast to their shape.
    side : int
        Pixels of a side of level 0, which a face's coordinates of -1..1 span.
    """
    points = directions.astype(np.float64)
    axis = np.abs(points).argmax(-1, keepdims=True)
    depth = np.take_along_axis(points, axis, -1)
    lengths = []
    with np.errstate(divide="ignore", invalid="ignore"):
        for name, step in zip(("dx", "dy"), steps):
            try:
                change = np.broadcast_to(step, points.shape)
            except ValueError:
                raise InvalidError(f"{name} has shape {step.shape}; it is {points.shape} or broadcasts to it") from None
            along = np.take_along_axis(change, axis, -1)
            on_face = (change - points / depth * along) / depth  # of the major axis itself it is 0
            lengths.append(np.linalg.norm(on_face, axis=-1) * side / 2)
        levels: Array = np.log2(np.maximum(*lengths))
    return levels
