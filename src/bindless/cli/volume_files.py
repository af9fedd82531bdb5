"""``bindless resample`` from NIfTI to NIfTI: volumes in memory, in millimetres."""

from __future__ import annotations

import argparse
import math
import os
from pathlib import Path
from typing import Any

import numpy as np

from ..model.errors import InvalidError
from ..model.grid import Grid
from ..space import from_sitk, resample
from . import require

__all__ = ["is_nifti", "resample_volume"]

_FILTERINGS = {0: "nearest", 1: "linear", 3: "cubic"}
_OF_ZARR = ("matrix", "scale", "scale_of_output", "displacement", "shape", "chunks", "shards", "levels", "mode",
            "precision", "workers", "scheduler", "dry_run")  # fmt: skip


def is_nifti(path: str) -> bool:
    """Whether the name of a file is one of NIfTI."""
    return path.endswith((".nii", ".nii.gz"))


def resample_volume(args: argparse.Namespace) -> int:
    """Runs the command on files of NIfTI.

    Raises
    ------
    InvalidError
        An option does not fit, or a file is no volume.
    """
    if not (is_nifti(args.input) and is_nifti(args.output)):
        raise InvalidError(f"{args.input} -> {args.output}: files of NIfTI become files of NIfTI (.nii, .nii.gz)")
    for name in _OF_ZARR:
        if getattr(args, name) not in (None, False):
            raise InvalidError(f"--{name.replace('_', '-')} is for zarr; NIfTI has --spacing, --like and --transform")
    if os.path.exists(args.output) and not args.overwrite:
        raise InvalidError(f"{args.output} exists: --overwrite replaces it")
    image = _image(args.input)
    source = Grid.from_nibabel(image)
    if args.like is not None:
        target = Grid.from_nibabel(_image(args.like))
    else:
        target = source if args.spacing is None else _spaced(source, args.spacing)
    transform = None if args.transform is None else _transform(args.transform)
    pixels = np.asanyarray(image.dataobj)
    pixels = pixels.astype(np.float32 if pixels.dtype.kind == "f" else pixels.dtype.newbyteorder("="))
    result = resample(pixels, source, target, transform, filtering=_FILTERINGS[args.order], fill=args.cval)
    _write(args.output, result, target, image.header)
    print(f"{args.input} -> {args.output}: {target.shape}")
    return 0


def _image(path: str) -> Any:
    require("nibabel", "NIfTI is read and written with nibabel", "space")
    import nibabel

    if not is_nifti(path):
        raise InvalidError(f"{path} is no file of NIfTI (.nii, .nii.gz)")
    try:
        image: Any = nibabel.load(path)
    except nibabel.filebasedimages.ImageFileError as error:
        raise InvalidError(f"{path} is no file of NIfTI: {error}") from error
    if len(image.shape) != 3:
        raise InvalidError(f"{path} has shape {image.shape}; a volume has three axes")
    return image


def _spaced(grid: Grid, text: str) -> Grid:
    """The same box with other distances, in the order of the array's axes."""
    try:
        steps = np.array([float(word) for word in text.split(",")])
    except ValueError:
        steps = np.zeros(0)
    if len(steps) != 3 or not all(0 < step < math.inf for step in steps):
        raise InvalidError(f"--spacing {text}: three positive numbers with commas")
    sizes = [max(round(n * old / new), 1) for n, old, new in zip(grid.shape, grid.spacing[::-1], steps)]
    matrix = grid.matrix
    matrix[:-1, :-1] = grid.direction * steps[::-1]
    return Grid.from_matrix(matrix, sizes)


def _transform(path: str) -> Any:
    require("SimpleITK", "transforms of ITK are read with SimpleITK", "space")
    import SimpleITK

    read: Any = SimpleITK.ReadTransform
    try:
        transform = read(path)
    except RuntimeError as error:
        raise InvalidError(f"--transform {path} is no transform of ITK: {error}") from error
    if transform.GetDimension() != 3:
        raise InvalidError(f"--transform {path} has {transform.GetDimension()} dimensions; a volume has 3")
    return from_sitk(transform)


def _write(path: str, pixels: Any, grid: Grid, header: Any) -> None:
    import nibabel

    affine = np.diag([-1.0, -1.0, 1.0, 1.0]) @ grid.index_matrix[:, [2, 1, 0, 3]]
    header = header.copy()
    header.set_data_dtype(pixels.dtype)
    unfinished = Path(path).with_name(f".{os.getpid()}-{Path(path).name}")
    try:
        volume: Any = nibabel.Nifti1Image
        nibabel.save(volume(pixels, affine, header), unfinished)
        os.replace(unfinished, path)
    finally:
        unfinished.unlink(missing_ok=True)
