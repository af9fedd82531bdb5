"""Sources of files: images of OME-Zarr, arrays, volumes in millimetres, pictures."""

from __future__ import annotations

import importlib.util
import os
import weakref
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from ..bricks.source import Source, source_of_arrays, source_of_file
from ..model.errors import InvalidError
from ..sycl.queue.queue import Queue

__all__ = ["open_source"]

_NIFTI = (".nii", ".nii.gz")
_TIFF = (".tif", ".tiff", ".btf")
_AXES = {"S": "c", "I": "z", "Q": "z"}  # of tifffile: samples of a pixel; pages without names


def open_source(path: str, queue: Queue, *, time: int = 0, channels: Sequence[int] | None = None) -> Source:
    """The source in a file.

    Parameters
    ----------
    path : str
        A folder or URL of zarr; a file .npy, .nii, .nii.gz, .tif, .dds, .ktx2, or a picture that ``Image.open`` reads.
    queue : Queue
        That decodes pictures of textures.
    time : int
        The index along the axis t.
    channels : Sequence[int], optional
        Up to four indices along the axis c.

    Raises
    ------
    InvalidError
        It is none, or the library for it is not installed.
    OSError
        It cannot be read.
    """
    name, lower = os.path.basename(os.path.normpath(path)) or path, path.lower()
    if "://" in path or os.path.isdir(path):
        return replace(source_of_file(path, time=time, channels=channels), name=name)
    if not os.path.exists(path):
        raise InvalidError(f"{path}: there is no such file or folder")
    if lower.endswith(".npy"):
        try:
            array = np.load(path, mmap_mode="r", allow_pickle=False)
        except ValueError as error:
            raise InvalidError(f"{path} is no array of numpy: {error}") from error
        return source_of_arrays(array, time=time, channels=channels, name=name)
    if lower.endswith(_NIFTI):
        return _of_nifti(path, name, time)
    if lower.endswith(_TIFF):
        levels = _levels_of_tiff(path)
        if levels is not None:
            return source_of_arrays(levels[0], axes=levels[1], time=time, channels=channels, name=name)
    from ..image.image import Image  # volumes do not need it
    from .texture_levels import TEXTURES, levels_of_texture

    suffix = os.path.splitext(lower)[1]
    if suffix in TEXTURES:
        levels = levels_of_texture(path, suffix, time)
        if levels is not None:
            return source_of_arrays(levels[0], axes=levels[1], channels=channels, name=name)
    with Image.open(path, queue=queue) as image:
        pixels, is_picture = np.asarray(image.numpy()), len(image.size) == 2 and image.num_layers == 1
    if not is_picture or pixels.ndim not in (2, 3):
        raise InvalidError(f"{path} has pixels of shape {pixels.shape}: pictures and volumes of one layer are shown")
    return source_of_arrays(pixels, axes="yxc"[: pixels.ndim], time=time, channels=channels, name=name)


def _of_nifti(path: str, name: str, time: int) -> Source:
    try:
        import nibabel
    except ImportError as error:
        raise InvalidError(f"{path} is read with nibabel: pip install 'bindless[space]' ({error})") from error
    try:
        volume: Any = nibabel.load(path)
        units, zooms = volume.header.get_xyzt_units()[0], volume.header.get_zooms()
    except (nibabel.filebasedimages.ImageFileError, OSError, ValueError) as error:
        raise InvalidError(f"{path} cannot be read: {error}") from error
    source = source_of_arrays(_Proxy(volume), axes="xyztc"[: len(volume.shape)], time=time, name=name)
    spacing = tuple(float(zoom) for zoom in (*zooms[:3], 1.0, 1.0)[:3])
    unit = {"mm": "millimeter", "micron": "micrometer", "meter": "meter"}.get(units, "")
    return replace(source, spacing=spacing, unit=unit)  # type: ignore[arg-type]


class _Proxy:
    """Numbers of a volume of nibabel, with its slope; parts of files without compression are read alone."""

    def __init__(self, volume: Any) -> None:
        self._data, self.shape = volume.dataobj, volume.shape
        is_scaled = self._data.slope != 1 or self._data.inter != 0
        self.dtype = np.dtype(np.float32) if is_scaled else np.dtype(volume.get_data_dtype())

    def __getitem__(self, part: tuple[slice, ...]) -> Any:
        return self._data[part]


def _levels_of_tiff(path: str) -> tuple[list[Any], str] | None:
    """Levels and axes of a TIFF; None without tifffile, which Pillow replaces for small pictures."""
    try:
        import tifffile
    except ImportError:
        return None
    try:
        with tifffile.TiffFile(path) as file:
            series = file.series[0]
            axes = "".join(_AXES.get(axis, axis.lower()) for axis in series.axes)
            return [
                _tiff_array(path, file.byteorder, number, level) for number, level in enumerate(series.levels)
            ], axes
    except (tifffile.TiffFileError, IndexError) as error:
        raise InvalidError(f"{path} cannot be read: {error}") from error


def _tiff_array(path: str, order: str, number: int, level: Any) -> Any:
    """A level: mapped where it is stored as it is, by zarr where that is installed, else in memory."""
    if level.dataoffset is not None:
        return np.memmap(Path(path), level.dtype.newbyteorder(order), "r", level.dataoffset, level.shape)
    if importlib.util.find_spec("zarr") is None:
        return level.asarray()
    return _Level(path, number)


class _Level:
    """A level that zarr reads in chunks, as long as it is used."""

    def __init__(self, path: str, number: int) -> None:
        import tifffile
        import zarr

        file = tifffile.TiffFile(path)
        weakref.finalize(self, file.close)
        self._array: Any = zarr.open(file.series[0].aszarr(level=number), mode="r")
        self.shape, self.dtype = self._array.shape, self._array.dtype

    def __getitem__(self, part: tuple[slice, ...]) -> Any:
        return self._array[part]
