"""``bindless resample`` from NIfTI to NIfTI: volumes in memory, in millimetres."""

from __future__ import annotations

import argparse
import os
import zlib
from pathlib import Path
from typing import Any

import numpy as np

from ..model.errors import InvalidError
from ..model.file_places import places_of, require_apart
from ..model.grid import Grid
from ..model.transforms import Affine
from ..space import resample
from .matrix_file import matrix_in
from .nifti import grid_of_nifti, is_nifti, open_nifti
from .preview import save_preview
from .world import reversed_axes, target_of, transform_of

__all__ = ["resample_volume"]

_FILTERINGS = {0: "nearest", 1: "linear", 3: "cubic"}
_OF_ZARR = ("scale", "scale_of_output", "displacement", "shape", "chunks", "shards", "levels", "mode", "precision",
            "workers", "scheduler", "dry_run")  # fmt: skip


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
    inputs = places_of(args.input, args.matrix, args.transform, args.like)
    require_apart(Path(args.output), inputs, replaces=False)
    image = open_nifti(args.input)
    source = grid_of_nifti(image)
    target = target_of(args, source)
    transform: Any = transform_of(args, source.dimensions)
    if args.matrix is not None and args.matrix_units == "pixels":  # from indices z, y, x to indices
        matrix = matrix_in(args.matrix)
        transform = Affine(source.index_matrix @ _of_indices(matrix) @ np.linalg.inv(target.index_matrix))
    try:
        pixels = np.asarray(image.dataobj)
    except (OSError, EOFError, ValueError, zlib.error) as error:  # the file ends early, or is damaged
        raise InvalidError(f"{args.input} cannot be read: {error}") from error
    if pixels.dtype.kind == "f" and image.get_data_dtype() != np.float64:  # integers with a slope become float64
        pixels = pixels.astype(np.float32)
    pixels = pixels.astype(pixels.dtype.newbyteorder("="), copy=False)
    result = resample(pixels.T, source, target, transform, filtering=_FILTERINGS[args.order], fill=args.cval)
    _write(args.output, result.T, target, image.header)
    print(f"{args.input} -> {args.output}: {target.shape}")
    if args.preview is not None:
        save_preview(args.preview, result, target.spacing)
    return 0


def _of_indices(matrix: Any) -> Any:
    """A matrix of indices (z, y, x) as one of (x, y, z), affine, with its last row."""
    whole = np.eye(4)
    if np.shape(matrix) not in ((3, 3), (3, 4), (4, 4)):
        raise InvalidError(f"--matrix has shape {np.shape(matrix)}; for a volume it is (3, 3), (3, 4) or (4, 4)")
    whole[: len(matrix), : len(matrix[0])] = matrix
    return reversed_axes(whole)


def _write(path: str, pixels: Any, grid: Grid, header: Any) -> None:
    import nibabel

    affine = np.diag([-1.0, -1.0, 1.0, 1.0]) @ grid.index_matrix
    header = header.copy()
    header.set_data_dtype(pixels.dtype)
    unfinished = Path(path).with_name(f".{os.getpid()}-{Path(path).name}")
    try:
        volume: Any = nibabel.Nifti1Image
        nibabel.save(volume(pixels, affine, header), unfinished)
        os.replace(unfinished, path)
    finally:
        unfinished.unlink(missing_ok=True)
