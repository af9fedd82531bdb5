"""Scenes of the demo: photographs, a volume of ellipsoids, and their sampling coordinates."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import numpy as np
import numpy.typing as npt
from PIL import Image as Picture

from ..model.arrays import Array
from ..model.errors import InvalidError

__all__ = ["floor_matrix", "head_phantom", "photograph", "plane_coordinates", "rotation_matrix"]


# The three-dimensional Shepp-Logan head: density, half axes, centre, rotation about z in degrees.
# Contrasts are those of the modified phantom, made for the eye.
_ELLIPSOIDS = (
    (1.00, (0.6900, 0.9200, 0.900), (0.00, 0.0000, 0.000), 0),
    (-0.80, (0.6624, 0.8740, 0.880), (0.00, 0.0000, 0.000), 0),
    (-0.20, (0.4100, 0.1600, 0.210), (-0.22, 0.0000, -0.250), 108),
    (-0.20, (0.3100, 0.1100, 0.220), (0.22, 0.0000, -0.250), 72),
    (0.15, (0.2100, 0.2500, 0.500), (0.00, 0.3500, -0.250), 0),
    (0.15, (0.0460, 0.0460, 0.046), (0.00, 0.1000, -0.250), 0),
    (0.15, (0.0460, 0.0230, 0.020), (-0.08, -0.6500, -0.250), 0),
    (0.15, (0.0460, 0.0230, 0.020), (0.06, -0.6500, -0.250), 90),
    (0.20, (0.0560, 0.0400, 0.100), (0.06, -0.1050, 0.625), 90),
    (-0.20, (0.0560, 0.0560, 0.100), (0.00, 0.1000, 0.625), 0),
)


def photograph(name: str) -> Array:
    """One of the photographs that lie in scikit-image's wheel, as uint8 (height, width, 3) or (height, width).

    Raises
    ------
    InvalidError
        scikit-image is not installed, or lacks the picture.
    """
    spec = importlib.util.find_spec("skimage")
    folders = spec.submodule_search_locations if spec is not None else None
    for folder in folders or ():
        path = Path(folder, "data", name)
        if path.is_file():
            picture = Picture.open(path)
            return np.asarray(picture if picture.mode == "L" else picture.convert("RGB"))
    state = "is not installed" if not folders else f"has no data/{name}"
    raise InvalidError(f"the demo shows photographs of scikit-image, which {state}: pip install 'bindless[demo]'")


def head_phantom(size: int) -> Array:
    """A phantom head, float32 (size, size, size) over -1..1 in z, y, x, with a little grain like a scanner's.

    Each voxel counts the part of an ellipsoid that it holds, as if the surface were flat there.
    """
    ramp = ((np.arange(size) + 0.5) / size * 2 - 1).astype(np.float32)
    x, y = ramp[None, :], ramp[:, None]
    volume = np.zeros((size, size, size), np.float32)
    for density, (a, b, c), (x0, y0, z0), degrees in _ELLIPSOIDS:
        cos, sin = np.cos(np.float32(np.radians(degrees))), np.sin(np.float32(np.radians(degrees)))
        u, v = ((x - x0) * cos + (y - y0) * sin) / a, ((y - y0) * cos - (x - x0) * sin) / b
        plane, slope = u**2 + v**2, (u / a) ** 2 + (v / b) ** 2
        for index in np.flatnonzero(np.abs(ramp - z0) < c + 2 / size):
            w = (ramp[index] - z0) / c
            inside = (1 - plane - w**2) / (2 * np.sqrt(slope + (w / c) ** 2) + 1e-6)
            volume[index] += np.float32(density) * np.clip(inside * np.float32(size / 2) + 0.5, 0, 1)
    for axis in range(3):  # the scanner's resolution
        padded = np.concatenate([volume.take([0], axis), volume, volume.take([-1], axis)], axis)
        inner = np.moveaxis(padded, axis, 0)
        volume = np.moveaxis((inner[:-2] + 2 * inner[1:-1] + inner[2:]) / 4, 0, axis)
    grain = np.random.default_rng(7).normal(0, 0.012, volume.shape).astype(np.float32)
    head: Array = np.clip(volume + grain * (volume > 0.05), 0, 1)
    return head.astype(np.float32)


def rotation_matrix(degrees: float, zoom: float, centre: tuple[float, float], shape: tuple[int, int]) -> Array:
    """(2, 3): from a (height, width) picture to its input, turned and enlarged, with ``centre`` in the middle."""
    angle = np.radians(degrees)
    turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]]) / zoom
    middle = np.array([shape[1] / 2, shape[0] / 2])
    return np.column_stack([turn, np.asarray(centre) - turn @ middle])


def floor_matrix(shape: tuple[int, int], width: float, depth: float, height: float, reach: float = 1.5) -> Array:
    """(3, 3): a picture of a floor of tiles that reaches to the horizon just above its top row.

    Parameters
    ----------
    shape : tuple[int, int]
        (rows, columns) of the picture.
    width, depth : float
        Pixels of a tile of the floor, across and along the view; its near edge is its lower one.
    height : float
        Of the camera over the floor, in widths of a tile; it stands over the middle of one.
    reach : float, default 1.5
        How long the lens is: half widths of the picture.
    """
    rows, columns = shape
    horizon = -0.02 * rows
    focal = reach * columns / 2
    scale = width * height
    return np.array(
        [
            [scale, width / 2, -scale * columns / 2 - width / 2 * horizon],
            [0, depth / 2, -scale * focal - depth / 2 * horizon],
            [0, 1, -horizon],
        ]
    )


def plane_coordinates(
    size: int, extent: int, tilt: float, turn: float, depth: float = 0.0, zoom: float = 1.0
) -> npt.NDArray[np.float32]:
    """Coordinates (extent, extent, 3) of a plane through a volume of ``size`` voxels a side.

    Parameters
    ----------
    tilt : float
        Degrees about the x axis, then ``turn`` about the y axis.
    depth : float, default 0.0
        Voxels that the plane lies before (negative) or behind the middle, along its own normal.
    zoom : float, default 1.0
        How many times smaller than the volume the part that is seen is.
    """
    a, b = np.radians(tilt), np.radians(turn)
    about_x = np.array([[1, 0, 0], [0, np.cos(a), -np.sin(a)], [0, np.sin(a), np.cos(a)]])
    about_y = np.array([[np.cos(b), 0, np.sin(b)], [0, 1, 0], [-np.sin(b), 0, np.cos(b)]])
    right, down, normal = (about_y @ about_x).T
    ramp = ((np.arange(extent) + 0.5) / extent - 0.5) * size / zoom
    middle = np.full(3, size / 2) + depth * normal
    points: Array = middle + ramp[None, :, None] * right + ramp[:, None, None] * down
    return points.astype(np.float32)
