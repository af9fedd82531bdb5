"""``--preview``: the middle slices of a volume as a picture."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..image.representation import levels_of
from ..model.errors import InvalidError
from .extras import require
from .world import grid_of_zarr

__all__ = ["middle_of_zarr", "save_preview"]

_MOST = 512  # pixels of a slice, along an axis


def middle_of_zarr(path: str) -> tuple[Any, tuple[float, ...]]:
    """The largest level of an image of OME-Zarr that is small enough, of its first channel and time, and the spacing of
    its last axes, x first."""
    import zarr

    from ..dask.ome_zarr import opened

    image = opened(path)
    grid = grid_of_zarr(path, image)
    dims = grid.dimensions
    levels = [zarr.open_array(place, mode="r") for place in image.places[1:]]
    fitting = [level for level in levels if max(level.shape[-dims:]) <= _MOST]
    level = fitting[0] if fitting else levels[-1]
    sizes = zip(grid.spacing, grid.shape[::-1], level.shape[: -dims - 1 : -1])
    spacing = tuple(step * whole / size for step, whole, size in sizes)
    return np.asarray(level[(0,) * (len(level.shape) - dims)]), spacing


def save_preview(path: str, volume: Any, spacing: Sequence[float]) -> None:
    """Saves the middle slices of a volume (z, y, x) side by side, in the proportions of the world; of an image, itself.

    Raises
    ------
    InvalidError
        The format of the picture is not known.
    """
    require("PIL", "pictures are written with Pillow", "demo")
    from PIL import Image

    middle = [size // 2 for size in volume.shape]
    planes = [(volume, "yx")] if volume.ndim == 2 else [
        (volume[middle[0]], "yx"), (volume[::-1, middle[1]], "zx"), (volume[::-1, :, middle[2]], "zy")
    ]  # fmt: skip
    levels, _ = levels_of(np.concatenate([plane.ravel() for plane, _ in planes])[:, None, None])
    ends = np.cumsum([plane.size for plane, _ in planes])
    widths, smallest, pictures = dict(zip("xyz", spacing)), min(spacing), []
    for (plane, axes), grey in zip(planes, np.split(levels.ravel(), ends[:-1])):
        height, width = (max(round(n * widths[axis] / smallest), 1) for n, axis in zip(plane.shape, axes))
        scale = min(1.0, _MOST / max(height, width))
        picture = Image.fromarray(grey.reshape(plane.shape))
        pictures.append(picture.resize((max(round(width * scale), 1), max(round(height * scale), 1))))
    whole = Image.new("L", (sum(part.width for part in pictures), max(part.height for part in pictures)))
    place = 0
    for part in pictures:
        whole.paste(part, (place, 0))
        place += part.width
    try:
        whole.save(path)
    except (ValueError, OSError) as error:
        raise InvalidError(f"--preview {path}: {error}") from error
