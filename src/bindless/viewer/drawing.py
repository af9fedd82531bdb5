"""``Painter``: pictures of a view, coarse at once and finer as bricks come."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..bricks.source import Source
from ..bricks.store import BrickStore, Missing
from ..model.arrays import Array
from ..model.errors import InvalidError
from ..sycl.usm import UsmArray, usm_empty
from .colours import table_of
from .kernels import LIGHT, RAYS, VIEW, kernels_for
from .view import View

__all__ = ["Frame", "Painter"]

_BACKGROUND = (0.07, 0.08, 0.10)
_MOST = 8192  # pixels along an axis
_RATIO = math.sqrt(2)  # texels are at most so much larger than pixels
_STRIDE = 2.0  # texels from sample to sample along rays while the view moves
_BAND = 1 << 16  # pixels that are drawn before a picture can be left
_STALL = 0.04  # seconds in which bricks are placed after a picture


@dataclass(frozen=True)
class Frame:
    """A picture.

    Attributes
    ----------
    pixels : Array
        uint8 (height, width, 3).
    level : int
        Of the source, that was drawn where its bricks are there.
    missing : int
        Bricks that still come.
    is_complete : bool
        Whether it would look the same if it were drawn again.
    is_full : bool
        Whether a coarser level was drawn because the memory does not hold the right one.
    """

    pixels: Array
    level: int
    missing: int
    is_complete: bool
    is_full: bool


class Painter:
    """Draws views of a store, on its queue.

    Parameters
    ----------
    store : BrickStore
        Open while pictures are drawn.
    """

    def __init__(self, store: BrickStore) -> None:
        self._store, self._queue, self._source = store, store.queue, store.source
        self._kernels = kernels_for(self._source.channels)
        self._values = self._picture = self._depths = usm_empty((1, 1, 1), np.float32, self._queue)
        self._tables: tuple[object, tuple[UsmArray, ...]] = (None, ())
        self._matter = usm_empty(len(store.table[10]), np.uint8, self._queue)
        self._matter_of: tuple[object, int] = (None, 0)  # the table of opacities, and the store's writes
        self._coarser, self._of = 0, (0.0, "")
        self._last: View | None = None
        self._places: Any = None  # from where and to where pixels of the last picture look

    @property
    def source(self) -> Source:
        """What is drawn."""
        return self._source

    @property
    def device(self) -> str:
        """Name of the device."""
        return self._queue.device.name

    @property
    def shape(self) -> tuple[int, int]:
        """Height and width of the last picture."""
        return self._values.shape[0], self._values.shape[1]

    @property
    def errors(self) -> list[str]:
        """Why bricks could not be read."""
        return self._store.errors

    def draw(
        self, view: View, width: int, height: int, *, is_moving: bool = False, share: float = 1.0,
        seconds: float | None = None, is_wanted: Callable[[], bool] = lambda: True,
    ) -> Frame:  # fmt: skip
        """Draws a picture with the bricks that are there, and asks for those that are missing.

        Parameters
        ----------
        view : View
            Of the store's source.
        width, height : int
            Pixels, at most 8192.
        is_moving : bool
            Faster: with filters of the texture unit in slices, a coarser level and fewer samples along rays.
        share : float
            Of the pixels of the whole picture along an axis, to whose level the picture belongs.
        seconds : float, optional
            Waits so long for missing bricks after the picture; default: places those that were read.
        is_wanted : Callable[[], bool]
            Is asked while rays are drawn. Where it says no, the rest of the picture is left out.

        Raises
        ------
        InvalidError
            The size is not right.
        """
        if not (1 <= width <= _MOST and 1 <= height <= _MOST):
            raise InvalidError(f"a picture of {width} x {height} pixels: 1 to {_MOST} along each axis")
        mode = view.mode if self._source.is_volume else "slice"
        whole = height / min(max(share, 0.01), 1.0)
        scale = round(math.log2(view.extent / whole), 1)
        if self._of != (scale, mode):
            self._of, self._coarser = (scale, mode), 0
        level = self.level_of(view, whole)
        if is_moving and mode != "slice":
            level = min(level + 1, len(self._source.levels) - 1)
        if self._picture.shape != (height, width):
            self._picture = usm_empty((height, width), np.uint32, self._queue)
            self._depths = usm_empty((height, width), np.float32, self._queue)
            self._values = usm_empty((height, width, self._source.channels), np.float32, self._queue)
        is_whole = self._launch(view, mode, level, width, height, is_moving, is_wanted)
        pixels = self._picture.numpy(self._queue).view(np.uint8).reshape(height, width, 4)[..., :3]
        wait = seconds is not None
        news = self._store.update(wait=wait, seconds=seconds if wait else _STALL)
        if news.without_room and not is_moving and level + 1 < len(self._source.levels):
            self._coarser += 1
            news = Missing(1, 1, 0)
        self._last = view
        is_complete = is_whole and not (is_moving or news.bricks or news.placed)
        return Frame(pixels, level, news.bricks, is_complete, self._coarser > 0)

    def complete(self, view: View, width: int, height: int, seconds: float) -> Frame:
        """Draws until the picture is complete, or for so long."""
        end = time.monotonic() + seconds
        while True:
            frame = self.draw(view, width, height, seconds=max(end - time.monotonic(), 0.0))
            if frame.is_complete or time.monotonic() > end:
                return frame

    def values(self) -> Array:
        """Numbers of the last picture, float32 (height, width, channels); not-a-number outside.

        Those of matter are where half of the light is left, and not-a-number where nothing takes so much.
        """
        return self._values.numpy(self._queue)

    def value_at(self, x: float, y: float) -> tuple[list[float], list[float]] | None:
        """The point of the world in the middle of the last picture's pixel, and its numbers.

        None beside the source, where matter is clear, and before the first picture. The point of a projection is that
        of the plane in the middle, that of matter where half of the light is left.
        """
        view, place = self._last, self._places
        height, width = self._values.shape[:2]
        if view is None or not (0 <= x < width and 0 <= y < height):
            return None
        row, column = int(y), int(x)
        numbers = self._values[row, column].numpy(self._queue)
        if np.isnan(numbers[0]):
            return None
        is_matter = self._source.is_volume and view.mode == "volume"
        depth = float(self._depths[row, column].numpy(self._queue)) if is_matter else 0.0
        point = []
        for axis, origin, spacing in zip("xyz", self._source.origin, self._source.spacing):
            start = (
                place[f"origin_{axis}"] + (column + 0.5) * place[f"right_{axis}"] + (row + 0.5) * place[f"down_{axis}"]
            )
            point.append(float(origin + (start + depth * place[f"ahead_{axis}"] - 0.5) * spacing))
        return point, numbers.tolist()

    def level_of(self, view: View, height: float) -> int:
        """The coarsest level whose texels are about as small as pixels."""
        pixel, level = view.extent / height * _RATIO, 0
        for number, one in enumerate(self._source.levels):
            sizes = [step / f for step, f, n in zip(self._source.spacing, one.factor, reversed(one.shape)) if n > 1]
            if max(sizes, default=0.0) <= pixel or number == 0:
                level = number
        return min(level + self._coarser, len(self._source.levels) - 1)

    def _launch(
        self, view: View, mode: str, level: int, width: int, height: int, is_moving: bool, is_wanted: Callable[[], bool]
    ) -> bool:
        """Draws the picture; False where a part was not wanted any more."""
        place, distance = self._place(view, level, width, height, _STRIDE if is_moving else 1.0)
        self._places = place
        colours, windows, opaque = self._colours(view, distance)
        light = self._light(view, distance)
        table, shape, kernels = self._store.table, (height, width), self._kernels
        if mode == "slice":
            self._queue.parallel_for(shape, kernels.draw_slice, table, place, level, int(not is_moving), self._values)
        else:
            rays = np.zeros((), RAYS)
            far = self._diagonal() / distance + math.dist(view.centre, self._middle()) / distance
            rays["width"], rays["height"], rays["level"], rays["is_mean"] = width, height, level, mode == "mean"
            rays["first"], rays["last"] = -far, far
            if mode == "volume":
                self._find_matter(windows, opaque)
            self._queue.wait()
            across, down = -(-width // 8), -(-height // 8)
            band = max(_BAND // (64 * across), 1)
            for top in range(0, down, band):
                if not is_wanted():
                    return False
                rays["top"], tiles = 8 * top, (across * min(band, down - top), 64)
                if mode == "volume":
                    self._queue.parallel_for(
                        tiles, kernels.draw_matter, table, place, rays[()], colours, windows, opaque, self._matter,
                        light, self._picture, self._depths, self._values,
                    )  # fmt: skip
                else:
                    self._queue.parallel_for(tiles, kernels.draw_projection, table, place, rays[()], self._values)
                self._queue.wait()
            if mode == "volume":
                return True
        self._queue.wait()
        self._queue.parallel_for(shape, kernels.colour, self._values, colours, windows, light, self._picture)
        return True

    def _find_matter(self, windows: UsmArray, opaque: UsmArray) -> None:
        """Notes the cells that are not clear, of new images, or of all where colours are new."""
        since = self._matter_of[1] if self._matter_of[0] is opaque else 0
        images = self._store.written_since(since).astype(np.int32)
        self._matter_of = opaque, self._store.writes
        if not len(images):
            return
        numbers = usm_empty(images.shape, images.dtype, self._queue).copy_from(images, self._queue)
        cells, count = self._store.table[10], self._store.cells
        self._queue.parallel_for(
            (len(images), count), self._kernels.find_matter, cells, count, numbers, windows, opaque, self._matter
        )
        self._queue.wait()
        numbers.close()

    def _diagonal(self) -> float:
        return math.hypot(*(n * s for n, s in zip(reversed(self._source.levels[0].shape), self._source.spacing)))

    def _middle(self) -> list[float]:
        sizes = zip(self._source.origin, reversed(self._source.levels[0].shape), self._source.spacing)
        return [place + (size - 1) * step / 2 for place, size, step in sizes]

    def _place(self, view: View, level: int, width: int, height: int, stride: float) -> tuple[Any, float]:
        """Where pixels look from and to, in texels, and the distance of samples in the world."""
        spacing, origin = np.array(self._source.spacing), np.array(self._source.origin)
        right, down, ahead = view.axes()
        pixel = view.extent / height
        one = self._source.levels[level]
        distance = stride * min(step / factor for step, factor in zip(self._source.spacing, one.factor))
        corner = np.array(view.centre) - right * (pixel * width / 2) - down * (pixel * height / 2)
        place = np.zeros((), VIEW)
        vectors = {
            "origin": (corner - origin) / spacing + 0.5,
            "right": right * pixel / spacing,
            "down": down * pixel / spacing,
            "ahead": ahead * distance / spacing,
        }
        for name, vector in vectors.items():
            place[f"{name}_x"], place[f"{name}_y"], place[f"{name}_z"] = vector
        return place[()], distance

    def _light(self, view: View, distance: float) -> Any:
        """A lamp at the eye."""
        light = np.zeros((), LIGHT)
        light["towards_x"], light["towards_y"], light["towards_z"] = -view.axes()[2]
        light["texel_x"], light["texel_y"], light["texel_z"] = distance / np.array(self._source.spacing)
        light["red"], light["green"], light["blue"] = _BACKGROUND
        light["ambient"], light["share"], light["softness"] = 0.25, float(view.is_lit), 8.0
        return light[()]

    def _colours(self, view: View, distance: float) -> tuple[UsmArray, ...]:
        """Colours and opacities, windows, and how many colours have opacity, on the device."""
        thickness = distance / self._diagonal() * 256
        key = (view.colours, view.windows, view.opacity, thickness)
        if self._tables[0] != key:
            share = np.linspace(0, 1, 256)
            opacity = np.where(share > 0.02, np.minimum(view.opacity * share**1.5, 0.999), 0)
            opacity = 1 - (1 - opacity) ** thickness
            colours, windows = (
                np.zeros((len(view.colours), 256, 4), np.float32),
                np.zeros((len(view.windows), 2), np.float32),
            )
            for channel, (colour, (low, high)) in enumerate(zip(view.colours, view.windows)):
                colours[channel, :, :3] = table_of(colour)
                colours[channel, :, 3] = opacity if colour else 0
                windows[channel] = low, 255 / (high - low) if high != low else 1e30
            opaque = np.zeros((len(view.colours), 257), np.int32)
            opaque[:, 1:] = np.cumsum(colours[..., 3] > 0, axis=1)
            arrays = (colours.reshape(-1, 4), windows, opaque.reshape(-1))
            copies = tuple(usm_empty(a.shape, a.dtype, self._queue).copy_from(a, self._queue) for a in arrays)
            self._tables = (key, copies)
        return self._tables[1]

    def close(self) -> None:
        """Frees the pictures; the store stays."""
        self._queue.wait()
        for array in (self._values, self._picture, self._depths, self._matter, *self._tables[1]):
            array.close()
