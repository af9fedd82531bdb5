"""``View``: what a picture shows of a source, as a value that a link holds."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any
from urllib.parse import quote, unquote

import numpy as np

from ..bricks.source import Source
from ..model.arrays import Array
from ..model.errors import InvalidError
from ..model.message_values import shown
from .colours import is_colour

__all__ = ["MODES", "View", "first_view", "range_of", "view_of"]

MODES = ("slice", "max", "mean", "volume")

Numbers = tuple[float, ...]


@dataclass(frozen=True)
class View:
    """What a picture shows.

    Attributes
    ----------
    mode : str
        ``slice``, ``max`` and ``mean`` for projections, ``volume`` for lit matter; pictures have slices alone.
    centre : tuple[float, float, float]
        The point of the world in the middle of the picture, (x, y, z).
    extent : float
        Units of the world from the top of the picture to its bottom.
    rotation : tuple[float, float, float, float]
        Quaternion (w, x, y, z) that turns the picture's axes, right, down and ahead, from x, y and z of the world.
    windows : tuple[tuple[float, float], ...]
        For each channel the numbers that are black and bright.
    colours : tuple[str, ...]
        For each channel a colour such as ``#ff0000``, the name of a colour map, or empty to hide it.
    opacity : float
        Of the brightest matter, 0 to 1, for each 256th of the volume's diagonal.
    is_lit : bool
        Whether surfaces of matter are lit.
    """

    mode: str
    centre: tuple[float, float, float]
    extent: float
    rotation: tuple[float, float, float, float]
    windows: tuple[tuple[float, float], ...]
    colours: tuple[str, ...]
    opacity: float = 0.5
    is_lit: bool = True

    def to_text(self) -> str:
        """For the fragment of a link."""
        return quote(json.dumps(asdict(self), separators=(",", ":")), safe="{}:,[]")

    def axes(self) -> Array:
        """Rows right, down and ahead of the picture in the world, (3, 3)."""
        w, x, y, z = np.array(self.rotation) / np.linalg.norm(self.rotation)
        turned: Array = np.array([
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]).T  # fmt: skip
        return turned


def view_of(text: str | Mapping[str, Any], first: View) -> View:
    """A view from a link's fragment, the link, or its parts; what it lacks is that of the first view.

    Raises
    ------
    InvalidError
        It is none, or not one of this source.
    """
    if isinstance(text, str):
        try:
            parts = json.loads(unquote(text.partition("#")[2] or text))
        except ValueError:
            raise InvalidError(f"view={shown(text)}: it is the link of a view, or what follows its #") from None
    else:
        parts = text
    if not isinstance(parts, Mapping) or not set(parts) <= set(asdict(first)):
        raise InvalidError(f"view={shown(parts)}: its parts are {', '.join(asdict(first))}")
    try:
        read: dict[str, Any] = {name: _READERS[name](value, getattr(first, name)) for name, value in parts.items()}
    except (TypeError, ValueError, IndexError, OverflowError) as error:
        raise InvalidError(f"view={shown(parts)}: {error}") from None
    return replace(first, **read)


def _numbers(value: Any, first: Sequence[float]) -> Numbers:
    numbers = tuple(float(number) for number in value)
    if len(numbers) != len(first) or not all(math.isfinite(number) and abs(number) < 1e30 for number in numbers):
        raise ValueError(f"{shown(value)} is not {len(first)} numbers")
    return numbers


def _rotation(value: Any, first: Sequence[float]) -> Numbers:
    numbers = _numbers(value, first)
    if not 1e-6 < math.hypot(*numbers) < 1e6:
        raise ValueError(f"{shown(value)} is no rotation")
    return numbers


def _windows(value: Any, first: Sequence[Sequence[float]]) -> tuple[Numbers, ...]:
    if len(value) != len(first):
        raise ValueError(f"there are {len(first)} channels")
    return tuple(_numbers(window, (0, 1)) for window in value)


def _colours(value: Any, first: Sequence[str]) -> tuple[str, ...]:
    if len(value) != len(first) or not all(colour == "" or is_colour(colour) for colour in value):
        raise ValueError(f"{shown(value)} is not a colour or the name of a map for each of {len(first)} channels")
    return tuple(value)


def _mode(value: Any, first: str) -> str:
    if value not in MODES:
        raise ValueError(f"the mode is one of {', '.join(MODES)}")
    return str(value)


def _between(low: float, high: float) -> Any:
    def read(value: Any, first: float) -> float:
        number = float(value)
        if not low <= number <= high:
            raise ValueError(f"{number:g} is not between {low:g} and {high:g}")
        return number

    return read


_READERS: dict[str, Any] = {
    "mode": _mode, "centre": _numbers, "extent": _between(1e-12, 1e12), "rotation": _rotation, "windows": _windows,
    "colours": _colours, "opacity": _between(0, 1), "is_lit": lambda value, first: bool(value),
}  # fmt: skip


def range_of(source: Source, channel: int, texels: Array) -> tuple[float, float]:
    """Numbers that are black and bright at first: of a picture of bytes all, else without the outer 0.5 %."""
    if source.dtype == np.uint8 and not source.is_volume:
        return 0.0, 255.0
    numbers = texels[..., channel].astype(np.float64)
    numbers = numbers[np.isfinite(numbers)]
    if not numbers.size:
        return 0.0, 1.0
    low, high = (float(number) for number in np.percentile(numbers, (0.5, 99.8)))
    if low >= high:
        low, high = float(numbers.min()), float(numbers.max())
    return (low, high) if low < high else (low, low + 1.0)


def first_view(source: Source) -> View:
    """The whole source: of a volume the slice in the middle, with a window from its coarsest level."""
    coarsest = source.levels[-1]
    depth, height, width = coarsest.shape
    texels = coarsest.read((slice(0, depth), slice(0, height), slice(0, width)))
    sizes = [size * step for size, step in zip(reversed(source.levels[0].shape), source.spacing)]
    centre = [place + (size - step) / 2 for place, size, step in zip(source.origin, sizes, source.spacing)]
    windows = tuple(range_of(source, channel, texels) for channel in range(source.channels))
    primaries = ("#ff0000", "#00ff00", "#0000ff", "" if source.dtype == np.uint8 else "#ffffff")
    colours = ("grey",) if source.channels == 1 else primaries[: source.channels]
    if source.channels == 2:
        colours = ("#ff00ff", "#00ff00")
    extent = 1.1 * max(sizes[1], sizes[0] * 9 / 16)
    return View("slice", (centre[0], centre[1], centre[2]), extent, (1.0, 0.0, 0.0, 0.0), windows, colours)
