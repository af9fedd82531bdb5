"""``CubemapLevels``: the store of an ``Image`` that is a cubemap with mipmaps, as one cubemap for each level.

Cubemaps of the extension have one level. The levels of the faces are those of mipmaps, and samples between two levels
are blended here, in float32.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ..model.arrays import Array
from ..model.enums import FilteringMode, Interpolation
from ..model.errors import InvalidError
from ..model.filter import Filter
from ..model.image_descriptor import integer
from ..submission.event import Event
from ..sycl.usm import UsmArray
from .arguments import coordinate_axes, per_item
from .array_library import AnyArray, ArrayLike, hand_over, library_of, view
from .group_store import GroupStore, given_from_host
from .levels.levels import Levels
from .options import ImageOptions
from .results import Result

if TYPE_CHECKING:
    from .image import Image

__all__ = ["CubemapLevels"]


class CubemapLevels(GroupStore):
    """A store of a cubemap for each level; see ``Store``.

    Parameters
    ----------
    image : Image
        The image, complete but for its store, which is not kept.
    pixels : AnyArray | Levels
        Its array, or its levels.
    """

    _reason = "a cubemap with mipmaps has a cubemap for each level"

    def __init__(self, image: Image, pixels: AnyArray | Levels) -> None:
        super().__init__(_levels(image, pixels))
        self.descriptor = replace(self.parts[0].descriptor, num_levels=len(self.parts))

    def _part(self, level: int) -> Image:
        parts, number = self.parts, integer("level", level)
        if number >= len(parts):
            raise InvalidError(f"level={level}: this cubemap has levels 0 to {len(parts) - 1}")
        return parts[number]

    def numpy(self, image: Image, level: int) -> Array:
        return self._part(level).numpy()

    def split_levels(self, levels: Levels) -> Iterator[tuple[Image, Levels]]:
        """Each image, and its part of levels."""
        return zip(self.parts, levels.each())

    def repeat_update(self, array: object, /) -> None:
        """Its images repeat their updates."""

    def update(self, image: Image, pixels: AnyArray, array: object) -> Event | None:
        first, *others = self.parts
        event = first.update(pixels)
        for part, faces in zip(others, _smaller(first)):
            part.update(faces)
        return event

    def fetch(self, image: Image, coords: ArrayLike, level: int, layers: ArrayLike | None, out: Any) -> Any:
        return self._part(level).fetch(coords, layers=layers, out=out)

    def sample(
        self,
        image: Image,
        coords: ArrayLike,
        level: ArrayLike | None,
        dx: ArrayLike | None,
        dy: ArrayLike | None,
        layers: ArrayLike | None,
        out: Any,
    ) -> Any:
        """Samples between two levels go through the host, also where the directions lie on the device."""
        parts = self.parts
        directions = view("coords", coords, image._queue)
        leading = tuple(coordinate_axes(image, directions).shape[:-1])
        if dx is not None:
            steps = [_host(image, name, value).astype(np.float64) for name, value in (("dx", dx), ("dy", dy))]
            level = _level_of_steps(_host(image, "coords", directions), steps, image.size[0])
        number = per_item("level", 0.0 if level is None else _host(image, "level", level), leading, np.float64)
        place = np.clip(np.nan_to_num(number), 0, len(parts) - 1)
        if image._sampler.filtering is FilteringMode.nearest:
            place = np.floor(place + 0.5)
        if np.ndim(place) == 0 and place == int(place):
            return parts[int(place)].sample(coords, layers=layers, out=out)
        if layers is not None:
            raise InvalidError("layers: a cubemap has none to choose; directions choose the face")
        channels = (image.num_channels,) if image._has_channel_axis else ()
        result = Result(image._queue, out, (*leading, *channels), self.descriptor.value_dtype, (directions,))
        points = _host(image, "coords", directions)
        values = self._blended(image, points.reshape(-1, 3), np.broadcast_to(place, points.size // 3))
        picture = given_from_host(
            result,
            values.astype(self.descriptor.value_dtype).reshape(result.shape),
            image._queue,
            library_of(coords),
            on_device=isinstance(directions, UsmArray),
        )
        hand_over(coords, directions)
        return picture

    def _picture(self, image: Image, *_: Any) -> Any:
        """Refused by the image before: pictures of cubemaps have no meaning."""
        image._refuse_cubemap("a picture")

    resize = warp = remap = _picture

    def _blended(self, image: Image, points: Array, levels: Array) -> Array:
        """(N, channels) between the two levels of each point."""
        parts = self.parts
        values = np.zeros((len(points), image.num_channels), np.float32)
        low = np.floor(levels).astype(np.int64)
        share = (levels - low).astype(np.float32)
        for number, part in enumerate(parts):
            weight = np.where(low == number, 1 - share, np.where(low == number - 1, share, 0)).astype(np.float32)
            index = np.flatnonzero(weight)
            if index.size:
                read = np.asarray(part.sample(points[index]), np.float32).reshape(len(index), -1)
                values[index] += weight[index, None] * read
        return values


def _levels(image: Image, pixels: AnyArray | Levels) -> Iterator[Image]:
    """A cubemap for each level."""
    make, options = type(image)._of, replace(image._options, mipmaps=False)
    if isinstance(pixels, Levels):
        for level in pixels.each():
            yield make(level, options, image._queue)  # type: ignore[arg-type]
        return
    first = make(pixels, options, image._queue)
    yield first
    for faces in _smaller(first):
        yield make(faces, options, image._queue)


def _smaller(first: Image) -> list[Array]:
    """The further levels of all faces of the first one."""
    faces = first.numpy()
    side = faces.shape[1]
    sizes = [side >> level for level in range(1, side.bit_length())]
    levels = [np.empty((6, size, size, *faces.shape[3:]), faces.dtype) for size in sizes]
    nearest = Filter(Interpolation.nearest)
    options = ImageOptions(nearest, first._options.channel_type, mipmaps=True, dimensions=2)
    for number, face in enumerate(faces):
        with type(first)._of(face, options, first._queue) as image:
            for level, target in enumerate(levels, 1):
                target[number] = image.numpy(level)
    return levels


def _host(image: Image, name: str, value: Any) -> Array:
    array = view(name, value, image._queue)
    return array.numpy() if isinstance(array, UsmArray) else array


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
