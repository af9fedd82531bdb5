"""``Source``: a picture or volume in several resolutions, of which parts can be read."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ..model.arrays import Array, DType
from ..model.errors import InvalidError
from ..model.message_values import shown

if TYPE_CHECKING:
    from ..dask.ome_zarr import Axis

__all__ = ["Box", "Level", "Source", "source_of_arrays", "source_of_file"]

Box = tuple[slice, slice, slice]
"""Of texels of a level, along z, y and x."""

MOST_CHANNELS = 4
_SMALL = 64  # texels along an axis: a level this small has no coarser one
_NAMES = "tczyx"
_LOSSLESS = ("u1", "i1", "u2", "i2", "f2", "f4", "b1")


@dataclass(frozen=True)
class Level:
    """A resolution.

    Attributes
    ----------
    shape : tuple[int, int, int]
        Texels along z, y and x; a picture has one along z.
    factor, shift : tuple[float, float, float]
        Along x, y and z: from positions in texels of level 0 to those of this level, where the first texel has its
        centre at 0.5.
    read : Callable[[Box], Array]
        The texels of a box, (z, y, x, channels). Called from several threads.
    """

    shape: tuple[int, int, int]
    factor: tuple[float, float, float]
    shift: tuple[float, float, float]
    read: Callable[[Box], Array]


@dataclass(frozen=True)
class Source:
    """A picture or volume.

    Attributes
    ----------
    levels : tuple[Level, ...]
        The finest first.
    dtype : np.dtype
        Of texels that ``Level.read`` gives.
    channels : int
        1 to 4.
    is_volume : bool
        Whether there is more than one texel along z.
    spacing, origin : tuple[float, float, float]
        Along x, y and z: size of a texel of level 0 in the world, and place of the centre of the first one.
    unit : str
        Of the world, or empty.
    name : str
        For messages and titles.
    """

    levels: tuple[Level, ...]
    dtype: DType
    channels: int
    is_volume: bool
    spacing: tuple[float, float, float] = (1.0, 1.0, 1.0)
    origin: tuple[float, float, float] = (0.0, 0.0, 0.0)
    unit: str = ""
    name: str = "array"


class _Part:
    """Boxes of an array with further axes, of which a time and channels are read.

    Parameters
    ----------
    array : array
        With shape, dtype and slicing.
    axes : str
        Its axes, of ``tczyx``; the channels may also be last.
    time : int
        The index along t.
    channels : Sequence[int]
        The indices along c.
    step : int
        Texels are read in steps of so many along z, y and x.
    first : tuple[int, int, int]
        The first ones along z, y and x.
    """

    def __init__(
        self, array: Any, axes: str, time: int, channels: Sequence[int], step: int = 1, first: Sequence[int] = (0, 0, 0)
    ) -> None:
        self._array, self._axes, self._time, self._step, self._first = array, axes, time, step, tuple(first)
        self._channels, self._from = list(channels), min(channels)

    def __call__(self, box: Box) -> Array:
        places: dict[str, slice] = {"t": slice(self._time, self._time + 1)}
        places["c"] = slice(self._from, max(self._channels) + 1)
        for name, part, first in zip("zyx", box, self._first):
            places[name] = part
            if self._step > 1:
                places[name] = slice(
                    part.start * self._step + first, (part.stop - 1) * self._step + first + 1, self._step
                )
        read: Any = np.asarray(self._array[tuple(places[name] for name in self._axes)])
        for name in _NAMES:  # the missing ones, and all in the order t, c, z, y, x
            if name not in self._axes:
                read = read[None]
        order = [name for name in reversed(_NAMES) if name not in self._axes] + list(self._axes)
        read = read.transpose([order.index(name) for name in _NAMES])[0]
        if self._channels != list(range(self._from, self._from + len(read))):
            read = read[[channel - self._from for channel in self._channels]]
        texels: Array = np.moveaxis(read, 0, -1)
        return texels


def source_of_arrays(
    arrays: Any, *, axes: str | None = None, time: int = 0, channels: Sequence[int] | None = None, name: str = "array"
) -> Source:
    """Source of an array, or of a pyramid: a sequence of arrays, the finest first.

    Parameters
    ----------
    arrays : array or list of arrays
        With shape, dtype and slicing: of numpy, memory maps, dask arrays, arrays of zarr.
    axes : str, optional
        Names of the axes: a choice of ``tczyx`` in any order. By default the last ones of ``zyx``, then ``c`` if there
        are three axes or more and the last one has at most four entries, and ``c`` and ``t`` before them.
    time : int
        The index along the axis t.
    channels : Sequence[int], optional
        Up to four indices along the axis c. Default: the first ones.

    Raises
    ------
    InvalidError
        The axes, the time or the channels are not those of the array, or levels do not become smaller.
    """
    listed = list(arrays) if isinstance(arrays, (list, tuple)) else [arrays]
    if not listed:
        raise InvalidError("source=[]: a pyramid has at least one array")
    listed = [_readable(array) for array in listed]
    names = _axes_of(listed[0].shape) if axes is None else axes
    levels, chosen = [], _channels_of(listed[0], names, time, channels)
    base = _shape(listed[0], names)
    for number, array in enumerate(listed):
        if len(array.shape) != len(names):
            raise InvalidError(f"source: level {number} has shape {tuple(array.shape)}, whose axes are not {names!r}")
        shape = _shape(array, names)
        if any(size > whole for size, whole in zip(shape, base)):
            raise InvalidError(f"source: level {number} of shape {shape} is larger than level 0 of {base}")
        factor = tuple(size / whole for size, whole in zip(shape[::-1], base[::-1]))
        levels.append(Level(shape, factor, (0.0, 0.0, 0.0), _Part(array, names, time, chosen)))  # type: ignore[arg-type]
    whole = _whole(levels, listed, names, time, chosen)
    return Source(whole, _dtype(listed[0].dtype), len(chosen), base[0] > 1, name=name)


def source_of_file(path: str, *, time: int = 0, channels: Sequence[int] | None = None) -> Source:
    """Source of an image of OME-Zarr 0.4 or 0.5, or of an array of zarr.

    Raises
    ------
    InvalidError
        Neither is there, or its metadata is damaged.
    """
    try:
        from ..dask.ome_zarr import opened_levels
        from ..dask.stored_chunks import StoredChunks
    except ImportError as error:
        raise InvalidError(
            f"{path}: zarr is read with the extra dask: pip install 'bindless[dask]' ({error})"
        ) from error
    images = opened_levels(path)
    first = {axis.name: axis for axis in images[0].axes}
    names = "".join(axis.name.lower() for axis in images[0].axes)
    arrays = [StoredChunks(image.array) for image in images]
    chosen, levels = _channels_of(arrays[0], names, time, channels), []
    for image, array in zip(images, arrays):
        own = {axis.name: axis for axis in image.axes}
        lies = [_lies(first.get(axis), own.get(axis)) for axis in "xyz"]
        factor, shift = zip(*lies)
        levels.append(Level(_shape(array, names), factor, shift, _Part(array, names, time, chosen)))
    unit = next((first[axis].unit for axis in "xyz" if axis in first and first[axis].unit), "")
    spacing = tuple(first[axis].scale if axis in first else 1.0 for axis in "xyz")
    origin = tuple(first[axis].translation if axis in first else 0.0 for axis in "xyz")
    whole = _whole(levels, arrays, names, time, chosen)
    is_volume = levels[0].shape[0] > 1
    return Source(whole, _dtype(arrays[0].dtype), len(chosen), is_volume, spacing, origin, unit, path)  # type: ignore[arg-type]


def _lies(first: Axis | None, own: Axis | None) -> tuple[float, float]:
    """Factor and shift from positions in texels of level 0 to those of a level, along an axis."""
    if first is None or own is None:
        return 1.0, 0.0
    factor = first.scale / own.scale
    return factor, 0.5 - 0.5 * factor + (first.translation - own.translation) / own.scale


def _readable(array: Any) -> Any:
    if type(array).__module__.partition(".")[0] == "zarr":
        from ..dask.stored_chunks import StoredChunks, is_zarr

        return StoredChunks(array) if is_zarr(array) else array
    if not all(hasattr(array, word) for word in ("shape", "dtype", "__getitem__")):
        try:
            array = np.asarray(array)
        except (TypeError, ValueError):
            raise InvalidError(f"source={shown(array)}: it is an array, a pyramid of arrays, or a path") from None
    if np.dtype(array.dtype).kind not in "biuf":
        raise InvalidError(f"source: elements of {array.dtype} are no numbers")
    if not 2 <= len(array.shape) <= len(_NAMES) or not all(array.shape):
        raise InvalidError(f"source: shape {tuple(array.shape)}; it has two to five axes, none of them empty")
    return array


def _axes_of(shape: Sequence[int]) -> str:
    """The axes of an array that has no names of them."""
    count = len(shape)
    if count >= 3 and shape[-1] <= MOST_CHANNELS:
        return _NAMES.replace("c", "")[-(count - 1) :] + "c"
    return _NAMES[-count:]


def _shape(array: Any, axes: str) -> tuple[int, int, int]:
    sizes = dict(zip(axes, map(int, array.shape)))
    return sizes.get("z", 1), sizes["y"], sizes["x"]


def _dtype(dtype: Any) -> DType:
    """Of texels: numbers that no format of images has become float32."""
    own = np.dtype(dtype).newbyteorder("=")
    return own if own.str[1:] in _LOSSLESS else np.dtype(np.float32)


def _channels_of(array: Any, axes: str, time: int, channels: Sequence[int] | None) -> list[int]:
    """The channels."""
    if len(set(axes)) != len(axes) or not set("yx") <= set(axes) <= set(_NAMES) or len(axes) != len(array.shape):
        raise InvalidError(f"axes={axes!r} of an array of shape {tuple(array.shape)}: they are a choice of 'tczyx', "
                           "with y and x, one for each axis")  # fmt: skip
    sizes = dict(zip(axes, array.shape))
    if not 0 <= time < sizes.get("t", 1):
        raise InvalidError(f"time={time}: the source has {sizes.get('t', 1)}, from 0 on")
    there = int(sizes.get("c", 1))
    chosen = list(range(min(there, MOST_CHANNELS))) if channels is None else [int(channel) for channel in channels]
    if not 1 <= len(chosen) <= MOST_CHANNELS or not all(0 <= channel < there for channel in chosen):
        raise InvalidError(f"channels={chosen}: one to {MOST_CHANNELS} of the source's {there}, from 0 on")
    return chosen


def _whole(
    levels: list[Level], arrays: Sequence[Any], axes: str, time: int, channels: Sequence[int]
) -> tuple[Level, ...]:
    """The levels, and coarser ones of single texels of the last until it is small."""
    last, array, step = levels[-1], arrays[-1], 1
    while max(levels[-1].shape) > _SMALL:
        step *= 2
        first = [min((step - 1) // 2, (size - 1) // 2) for size in last.shape]
        shape = tuple((size - 1 - begin) // step + 1 for size, begin in zip(last.shape, first))
        factor = tuple(own / step for own in last.factor)
        shift = tuple((own - begin - 0.5) / step + 0.5 for own, begin in zip(last.shift, first[::-1]))
        read = _Part(array, axes, time, channels, step, first)
        levels.append(replace(last, shape=shape, factor=factor, shift=shift, read=read))  # type: ignore[arg-type]
    if len(levels) > 60 or max(levels[0].shape) >= 1 << 24 or math.prod(levels[0].shape) < 1:
        raise InvalidError(f"source: {len(levels)} levels of up to {levels[0].shape} texels; axes have less than 2^24")
    return tuple(levels)
