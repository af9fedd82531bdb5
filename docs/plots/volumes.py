"""A phantom like a computed tomography, turned by ``Image.warp`` with each filter, and the errors: volumes.png.

python docs/plots/volumes.py    draws the picture of docs/guide/volumes.md, and prints its table

Needs Pillow and scipy. The phantom is a formula, so that the turned one is known exactly.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

import bindless as bl

__all__ = ["FILTERS", "Turned", "phantom", "turned"]

Array = npt.NDArray[Any]

SIDE = 128
FILTERS = (
    ("nearest", "hardware"),
    ("linear", "hardware"),
    ("linear", "exact"),
    ("cubic", "hardware"),
    ("cubic", "exact"),
)
_ORDERS = {"nearest": 0, "linear": 1, "cubic": 3}
_EDGE = 1.2  # voxels over which a surface's value changes

# Hounsfield units added inside ellipsoids: centre and half axes (x, y, z) in units of half a side, angle about z.
_ELLIPSOIDS = (
    (1040.0, (0, 0, 0), (0.82, 0.62, 0.9), 0.0),  # the body, in air
    (-850.0, (-0.36, -0.05, 0), (0.26, 0.38, 0.6), 0.2),
    (-850.0, (0.36, -0.05, 0), (0.24, 0.36, 0.6), -0.2),
    (60.0, (0.1, -0.1, -0.05), (0.2, 0.24, 0.3), 0.5),  # the heart
    (700.0, (0, 0.42, 0), (0.11, 0.1, 0.9), 0.0),  # the spine
    (-250.0, (0, 0.42, 0), (0.05, 0.045, 0.9), 0.0),
    (900.0, (-0.68, 0.0, 0.1), (0.045, 0.16, 0.12), 0.3),
    (900.0, (0.68, 0.0, 0.1), (0.045, 0.16, 0.12), -0.3),
    *((500.0, (-0.45 + 0.06 * n, -0.28 + 0.1 * n, 0.0), (0.012 + 0.004 * n,) * 2 + (0.5,), 0.4) for n in range(5)),
)


def phantom(places: Array) -> Array:
    """Hounsfield units at places (..., 3), in (x, y, z) order and units of half a side."""
    value = np.full(places.shape[:-1], -1000.0)
    for added, centre, axes, angle in _ELLIPSOIDS:
        x, y, z = np.moveaxis(places - centre, -1, 0)
        u, v = x * np.cos(angle) + y * np.sin(angle), y * np.cos(angle) - x * np.sin(angle)
        radius = np.sqrt((u / axes[0]) ** 2 + (v / axes[1]) ** 2 + (z / axes[2]) ** 2)
        depth = (1 - radius) * min(axes) * SIDE / 2  # voxels, about
        value += added * 0.5 * (1 + np.tanh(2 * depth / _EDGE))
    return value


def _places(side: int, matrix: Array | None = None) -> Array:
    """Centres of all voxels, or what a matrix (3, 4) of voxels makes of those of the middle slice."""
    depth = range(side) if matrix is None else (0,)
    z, y, x = np.meshgrid(depth, range(side), range(side), indexing="ij")
    centres = np.stack([x, y, z], -1) + 0.5
    if matrix is not None:
        centres = centres @ matrix[:, :3].T + matrix[:, 3]
    return centres * (2 / side) - 1


def _rotation(side: int) -> Array:
    """(3, 4) from voxels of one slice to voxels of the phantom: turned by 25 degrees about z and 8 about x."""
    a, b = np.deg2rad(25), np.deg2rad(8)
    about_z = np.array([[np.cos(a), -np.sin(a), 0], [np.sin(a), np.cos(a), 0], [0, 0, 1]])
    about_x = np.array([[1, 0, 0], [0, np.cos(b), -np.sin(b)], [0, np.sin(b), np.cos(b)]])
    turn = about_x @ about_z
    return np.column_stack([turn, np.full(3, side / 2) - turn @ [side / 2, side / 2, 0.5]])


class Turned:
    """A slice of the turned phantom by one filter.

    Attributes
    ----------
    picture : Array
        (side, side) Hounsfield units, rounded.
    error : Array
        Difference from the formula.
    apart : Array
        Difference from scipy.
    """

    def __init__(self, volume: Array, true: Array, filtering: str, precision: str, queue: bl.Queue) -> None:
        from scipy.ndimage import map_coordinates

        side = len(volume)
        matrix = _rotation(side)
        with bl.Image(volume, dimensions=3, filtering=filtering, precision=precision, queue=queue) as image:
            self.picture = image.warp(matrix, (1, side, side))[0].astype(np.float64)
        places = (_places(side, matrix)[0] + 1) * (side / 2) - 0.5
        order = _ORDERS[filtering]
        theirs = map_coordinates(
            volume.astype(np.float64), np.moveaxis(places, -1, 0)[::-1], order=order, mode="nearest"
        )
        self.error, self.apart = self.picture - true, self.picture - np.rint(theirs)


def turned(queue: bl.Queue, side: int = SIDE) -> tuple[Array, list[Turned]]:
    """The turned phantom by its formula, and by each of ``FILTERS``."""
    volume = np.rint(phantom(_places(side))).astype(np.int16)
    true = np.rint(phantom(_places(side, _rotation(side))))[0]
    return true, [Turned(volume, true, *how, queue) for how in FILTERS]


def _grey(values: Array, low: float, high: float) -> Array:
    return np.clip((values - low) / (high - low) * 255, 0, 255).astype(np.uint8)


def _signed(values: Array, most: float) -> Array:
    """Blue for negative values, white for 0, red for positive ones."""
    share = np.clip(values / most, -1, 1)[..., None]
    ends = np.where(share < 0, [33.0, 102.0, 172.0], [178.0, 24.0, 43.0])
    return np.rint(255 + np.abs(share) * (ends - 255)).astype(np.uint8)


def _draw(true: Array, results: list[Turned], target: Path) -> None:
    from PIL import Image as Picture
    from PIL import ImageDraw

    side, gap, head, left = len(true), 6, 18, 92
    columns, rows = len(results), ("turned", "error", "difference\nfrom scipy")
    scales = ("-1000 to 900 HU", "±200 HU", "±4 HU")
    page = Picture.new("RGB", (left + columns * (side + gap), head + 3 * (side + gap)), "white")
    text = ImageDraw.Draw(page)
    for row, (name, scale) in enumerate(zip(rows, scales)):
        text.text((4, head + row * (side + gap) + side // 2 - 20), f"{name}\n{scale}", fill="black")
    for column, ((filtering, precision), result) in enumerate(zip(FILTERS, results)):
        x = left + column * (side + gap)
        text.text((x + 4, 3), f"{filtering}, {precision}", fill="black")
        grey = np.repeat(_grey(result.picture, -1000, 900)[..., None], 3, -1)
        for row, tile in enumerate((grey, _signed(result.error, 200), _signed(result.apart, 4))):
            page.paste(Picture.fromarray(tile), (x, head + row * (side + gap)))
    page.quantize(128).save(target, optimize=True)


if __name__ == "__main__":
    with bl.Queue("reference", in_order=True) as made:
        exactly, slices = turned(made)
    _draw(exactly, slices, Path(__file__).with_suffix(".png"))
    for how, result in zip(FILTERS, slices):
        error, apart = np.abs(result.error), np.abs(result.apart)
        numbers = (f"{error.mean():.1f}", f"{error.max():.0f}", f"{apart.mean():.2f}", f"{apart.max():.0f}")
        print(f"| {' | '.join((*how, *numbers))} |")
