"""Files of NIfTI: their volumes and grids."""

from __future__ import annotations

from typing import Any

from ..model.errors import InvalidError
from ..model.grid import Grid
from .extras import require

__all__ = ["grid_of_nifti", "is_nifti", "open_nifti"]


def is_nifti(path: str) -> bool:
    """Whether the name of a file is one of NIfTI."""
    return path.endswith((".nii", ".nii.gz"))


def open_nifti(path: str) -> Any:
    """The volume of a file.

    Raises
    ------
    InvalidError
        It is none, or has other than three axes.
    """
    require("nibabel", "NIfTI is read and written with nibabel", "space")
    import nibabel

    if not is_nifti(path):
        raise InvalidError(f"{path} is no file of NIfTI (.nii, .nii.gz)")
    try:
        image: Any = nibabel.load(path)
    except (nibabel.filebasedimages.ImageFileError, OSError) as error:
        raise InvalidError(f"{path} is no file of NIfTI: {error}") from error
    if len(image.shape) != 3:
        raise InvalidError(f"{path} has shape {image.shape}; a volume has three axes")
    return image


def grid_of_nifti(image: Any) -> Grid:
    """Where the voxels of a volume of nibabel lie, for its array with the axes (z, y, x): the last one of the file
    first."""
    grid = Grid.from_nibabel(image)
    return Grid(grid.shape[::-1], grid.spacing[::-1], grid.origin, grid.direction[:, ::-1])
