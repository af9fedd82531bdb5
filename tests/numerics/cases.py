"""Test cases of sampling: images, samplers and points generated from the name of a case alone."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from tests.goldens.configuration import Array, Configuration
from tests.support.channel_storage import STORAGE

MODES = ("repeat", "mirrored_repeat", "clamp_to_edge", "clamp_to_border")
INTEGERS = tuple(name for name, (dtype, one) in STORAGE.items() if one is None and "int" in dtype)
REALS = tuple(name for name in STORAGE if name not in INTEGERS)


@dataclass(frozen=True)
class Case(Configuration):
    """A configuration with generated pixels and points.

    Attributes
    ----------
    sizes
        (width[, height[, depth]]) of level 0.
    layers
        Layers of an array; 6 for a cubemap.
    count
        Number of points.
    smooth
        Whether pixels are periodic waves instead of noise.
    """

    sizes: tuple[int, ...]
    layers: int
    count: int
    smooth: bool = False

    def seed(self, purpose: str) -> np.random.Generator:
        """Return the random generator of this case."""
        return np.random.default_rng(zlib.crc32(f"{self.name}/{purpose}".encode()))

    def level_sizes(self, level: int) -> tuple[int, ...]:
        """Return (width[, height[, depth]]) of a level."""
        return tuple(max(size >> level, 1) for size in self.sizes)

    @cached_property
    def _pixels(self) -> list[Array]:
        return [self._level_pixels(level) for level in range(self.levels)]

    def pixels(self) -> list[Array]:
        return self._pixels

    def _level_pixels(self, level: int) -> Array:
        sizes = self.level_sizes(level)
        shape = (*((self.layers,) if self.layers else ()), *reversed(sizes), self.channels)
        rng, dtype = self.seed(f"pixels {level}"), np.dtype(STORAGE[self.channel_type][0])
        if self.smooth:
            place = np.indices(shape[:-1])
            turns = sum(index / size for index, size in zip(place, shape))
            phases = turns[..., None] + rng.random(self.channels)
            return np.asarray(np.cos(2 * np.pi * phases) * 0.9 + 0.1, dtype)
        if dtype.kind == "f":
            return (rng.random(shape) * 4 - 2).astype(dtype)
        limits = np.iinfo(dtype)
        return rng.integers(limits.min, limits.max, shape, dtype, endpoint=True)

    def values(self, level: int = 0) -> Array:
        """Return the pixels of a level as the numbers that they represent, in double."""
        one = STORAGE[self.channel_type][1]
        codes = self.pixels()[level].astype(np.float64)
        return codes if one is None else np.maximum(codes / one, -1.0)

    @cached_property
    def value_range(self) -> float:
        """Return the difference of the largest and the least number in the image; at least 1."""
        levels = [self.values(level) for level in range(self.levels)]
        return max(1.0, float(max(v.max() for v in levels) - min(v.min() for v in levels)))

    @cached_property
    def _points(self) -> dict[str, Array]:
        return POINTS[self.points](self)

    def point(self, name: str) -> Array:
        return self._points[name]


def make(
    kind: str,
    sizes: Sequence[int],
    channel_type: str,
    channels: int,
    mode: str | Sequence[str],
    filtering: str,
    *,
    points: str,
    operation: str = "sample",
    normalized: bool = True,
    count: int = 600,
    **more: Any,
) -> Case:
    """Make a case with a name that identifies it."""
    modes = (mode,) * (2 if kind == "cubemap" else len(sizes)) if isinstance(mode, str) else tuple(mode)
    layers = {"array": 5, "cubemap": 6}.get(kind, 0)
    levels = more.get("levels", 1)
    settings = {
        "memory": "array", "mipmap_filtering": "nearest", "seamless": False, "min_level": 0.0,
        "max_level": float(levels - 1), "max_anisotropy": 0.0, "levels": levels,
    } | more  # fmt: skip
    dimensions = {"cubemap": 2}.get(kind, len(sizes))
    name = " ".join(
        [
            operation, kind, "x".join(map(str, sizes)), f"{channel_type}x{channels}", ",".join(modes), filtering,
            "normalized" if normalized else "unnormalized", points, *(f"{k}={v}" for k, v in sorted(more.items())),
        ]
    )  # fmt: skip
    return Case(
        name=name, operation=operation, type=kind, dimensions=dimensions, channel_type=channel_type, channels=channels,
        addressing=modes, normalized=normalized, filtering=filtering, image="", points=points, sizes=tuple(sizes),
        layers=layers, count=count, **settings,
    )  # fmt: skip


# ---------------------------------------------------------------------- points


def _spread(case: Case) -> dict[str, Array]:
    """Return coordinates around the image, a few of them far away, with layers and levels of all kinds."""
    rng, sizes = case.seed("points"), np.array(case.sizes)
    unit = rng.random((case.count, len(sizes))) * 4 - 1.5
    unit[: case.count // 10] *= 50
    levels = rng.random(case.count) * (case.levels + 2) - 1.5
    levels[:4] = (np.inf, -np.inf, 0.0, case.levels - 1.0)
    return {
        "coordinates": np.asarray(unit if case.normalized else unit * sizes, np.float32),
        "layers": rng.integers(0, max(case.layers, 1), case.count).astype(np.uint32),
        "levels": levels.astype(np.float32),
    }


def _directions(case: Case) -> dict[str, Array]:
    """Return directions of all lengths; a fifth of them close to a corner, a fifth to an edge of the cube."""
    rng = case.seed("points")
    direction = rng.normal(size=(case.count, 3))
    part, nudge = case.count // 5, 1.0 / case.sizes[0]
    direction[:part] = np.sign(direction[:part]) + rng.normal(size=(part, 3)) * nudge
    edge = np.sign(direction[part : 2 * part]) + rng.normal(size=(part, 3)) * nudge
    edge[np.arange(part), rng.integers(0, 3, part)] = rng.random(part) * 2 - 1
    direction[part : 2 * part] = edge
    direction *= np.exp2(rng.integers(-20, 20, (case.count, 1)))
    return {"coordinates": direction.astype(np.float32)}


def _gradients(case: Case) -> dict[str, Array]:
    """Return coordinates, and gradients of all ratios from a fraction of a texel to all levels."""
    points, rng = _spread(case), case.seed("gradients")
    shape = (case.count, len(case.sizes))
    scale = np.exp2(rng.random((case.count, 1)) * (case.levels + 2) - 2)
    dx = rng.normal(size=shape) * scale
    dy = rng.normal(size=shape) * scale * np.exp2(-rng.random((case.count, 1)) * 6)
    for name, gradient in (("gradient_x", dx), ("gradient_y", dy)):
        points[name] = (gradient / np.array(case.sizes)).astype(np.float32)
    points["coordinates"] = (rng.random(shape) * 2 - 0.5).astype(np.float32)
    return points


def _dyadic(case: Case) -> dict[str, Array]:
    """Odd multiples of 1/2048 texel, off every border of texels, where the products and sums of an
    implementation in float are exact (normalized: on images whose sizes are powers of two)."""
    points, rng = _spread(case), case.seed("dyadic")
    sizes = np.array(case.sizes)
    steps = rng.integers(-1024, 2 * 1024, (case.count, len(sizes))) * sizes
    texels = (2 * steps + 1) / 2048.0
    points["coordinates"] = np.asarray(texels / sizes if case.normalized else texels, np.float32)
    return points


def _near(case: Case) -> dict[str, Array]:
    """Return arbitrary coordinates from one image before to one image after."""
    points, rng = _spread(case), case.seed("near")
    unit = rng.random((case.count, len(case.sizes))) * 3 - 1
    points["coordinates"] = np.asarray(unit if case.normalized else unit * case.sizes, np.float32)
    return points


def _pixels(case: Case) -> dict[str, Array]:
    """Return integer coordinates of pixels."""
    points, rng = _spread(case), case.seed("pixels")
    points["coordinates"] = rng.integers(0, case.sizes, (case.count, len(case.sizes))).astype(np.int32)
    return points


POINTS = {
    "spread": _spread,
    "directions": _directions,
    "gradients": _gradients,
    "dyadic": _dyadic,
    "near": _near,
    "pixels": _pixels,
}
