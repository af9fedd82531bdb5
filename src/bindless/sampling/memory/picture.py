"""``MemoryPicture``: pictures of an array in memory, which a kernel reads where it lies; no image is made.

The arithmetic is that of pictures of images in exact precision, with the same bits.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from operator import itemgetter
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ...kernels import choose
from ...kernels.arguments import typed_arguments
from ...kernels.launch_range import rows_range
from ...kernels.manifest import parameters_of
from ...kernels.words import memory_format, memory_mode
from ...model.arrays import DType
from ...model.aspects import Aspect
from ...model.channels import ELEMENTS
from ...model.resampling import FieldKind, Rounding
from ...sycl.kernel.builtin import builtin_kernel

if TYPE_CHECKING:
    from ...model.filter import CoordinateMap, Filter
    from ...submission.event import Event
    from ...sycl.queue.queue import Queue

__all__ = ["Arrangement", "MemoryPicture", "Planes", "is_supported", "picture_arguments"]

_MOST_AXES, _MOST_CHANNELS, _MOST_LAYERS = 3, 4, 1 << 15
_FLOAT64 = np.dtype(np.float64)
_ELEMENTS = frozenset((*ELEMENTS, _FLOAT64))
_TEXELS = frozenset((*_ELEMENTS, np.dtype(np.bool_)))
_ZERO, _ONE = 16, 17  # numbers behind the entries of a matrix
_NUMBERS = (0.0, 1.0)
_SMALL = 1 << 31

Triple = tuple[int, int, int]


def is_supported(queue: Queue, texel: DType, value: DType, filter_: Filter) -> bool:
    """Whether a queue's device computes exact pictures of arrays of a type, as values of a type."""
    device = queue.device
    return (
        texel in _TEXELS
        and value in _ELEMENTS
        and texel.isnative
        and value.isnative
        and not (filter_.is_spline and texel.kind != "f")
        and not filter_.ignore_nan
        and queue._backend.resampling is None
        and device.has(Aspect.fp64)
        and choose.is_available(choose.memory_picture(1, texel), queue.context._library.target)
    )


class Arrangement(NamedTuple):
    """The axes of an array and of a picture of it, as the kernel counts them.

    Attributes
    ----------
    sizes, strides : tuple[int, int, int]
        Of the array along (x, y, z); strides in elements.
    channel : int
        Stride of the channels.
    channels : int
        1 to 4.
    layers, layer : int
        Number and stride of the layers.
    picture : tuple[int, int, int]
        (width, height, depth) of a layer's picture.
    dimensions : int
        Axes of the array, without layers.
    keeps : tuple[bool, ...]
        Whether elements keep their index, for each dimension, x first.
    rows : tuple[int, ...]
        Twelve numbers: which entry of a map's matrix each entry of the kernel's is, by rows.
    channels_first : bool
        Whether the channels are the layers of the values.
    """

    sizes: Triple
    strides: Triple
    channel: int
    channels: int
    layers: int
    layer: int
    picture: Triple
    dimensions: int
    keeps: tuple[bool, ...]
    rows: tuple[int, ...]
    channels_first: bool

    @classmethod
    def of(
        cls,
        shape: Sequence[int],
        strides: Sequence[int],
        picture: Sequence[int],
        unchanged: Sequence[int],
        *,
        at_points: bool = False,
    ) -> Arrangement | None:
        """The arrangement of an array (..., channels); None of one that the kernel does not read.

        Parameters
        ----------
        shape, strides : Sequence[int]
            Of the array, in elements.
        picture : Sequence[int]
            Shape of the result, without channels.
        unchanged : Sequence[int]
            Axes along which elements keep their index, of the array and of the picture.
        at_points : bool
            Whether the picture is a line of values at vectors.
        """
        sizes, steps, results = list(shape[:-1]), list(strides[:-1]), list(picture)
        keeps = [axis in unchanged for axis in range(len(sizes))]
        channels, channel, layers, layer, first = shape[-1], strides[-1], 1, 0, False
        if channels > _MOST_CHANNELS:
            if at_points or len(sizes) == _MOST_AXES or len(sizes) != len(results):
                if len(sizes) > _MOST_AXES or channels > _MOST_LAYERS:
                    return None
                layers, layer, channels, channel, first = channels, channel, 1, 1, True
            else:
                sizes, steps, results = [*sizes, channels], [*steps, channel], [*results, channels]
                keeps, channels, channel = [*keeps, True], 1, 1
        while len(sizes) > _MOST_AXES:
            step, size = steps.pop(0), sizes.pop(0)
            results.pop(0)
            if not keeps.pop(0) or first or (layers > 1 and layer != step * size):
                return None
            layers, layer = layers * size, step
        if not sizes or len(results) > _MOST_AXES or layers > _MOST_LAYERS or max(sizes) >= _SMALL:
            return None
        return cls(
            _triple(sizes, 1), _triple(steps, 0), channel, channels, layers, layer, _triple(results, 1), len(sizes),
            tuple(reversed(keeps)), _rows(keeps[::-1], len(results)), first,
        )  # fmt: skip


def _triple(numbers: Sequence[int], rest: int) -> Triple:
    x, y, z = (*reversed(numbers), rest, rest)[:3]
    return int(x), int(y), int(z)


def _rows(keeps: Sequence[bool], columns: int) -> tuple[int, ...]:
    """Entries of a matrix over the axes that change, x first, in the places of one over all axes."""
    changing = [axis for axis in range(columns) if axis >= len(keeps) or not keeps[axis]]
    entries = [_ZERO] * 12
    row = 0
    for axis, keep in enumerate(keeps):
        if keep:
            entries[4 * axis + axis] = _ONE
            continue
        for column, target in enumerate(changing):
            entries[4 * axis + target] = 4 * row + column
        entries[4 * axis + 3] = 4 * row + 3
        row += 1
    return tuple(entries)


def picture_arguments(
    arranged: Arrangement,
    texel: DType,
    value: DType,
    filter_: Filter,
    centre: float,
    coords: DType | None = None,
    *,
    fields: FieldKind = FieldKind.none,
    rounding: Rounding = "away",
) -> tuple[str, dict[str, Any]]:
    """The kernel of ``MemoryPicture``, and its arguments by the names of its parameters, in their order: no arrays, and
    zeros for the matrix.
    """
    dims, count = arranged.dimensions, math.prod(arranged.picture)
    name = choose.memory_picture(dims, texel)
    kind: DType = np.dtype(np.uint8) if texel.kind == "b" else texel
    reach = sum(abs(step) * (size - 1) for step, size in zip(arranged.strides, arranged.sizes))
    reach += abs(arranged.channel) * (arranged.channels - 1) + abs(arranged.layer) * (arranged.layers - 1)
    packed = arranged.strides[0] == arranged.channels and (arranged.channels == 1 or arranged.channel == 1)
    format_ = memory_format(value, kind, arranged.channels)
    mode = memory_mode(
        filter_, arranged.picture, arranged.keeps, coords, centre, packed=packed, small=reach < _SMALL,
        fields=fields, rounding=rounding,
    )  # fmt: skip
    width, height, depth = arranged.picture
    values: dict[str, Any] = dict.fromkeys([parameter.name for parameter in parameters_of(name)], 0.0)
    values |= {f"step_{axis}": step for axis, step in zip("xyz", arranged.strides)}
    values |= {f"size_{axis}": size for axis, size in zip("xyz", arranged.sizes)}
    values |= {
        "texels": None, "coords": None, "values": None, "step_channel": arranged.channel,
        "step_layer": arranged.layer, "centre": centre, "fill": filter_.fill, "component": -count,
        "first_coord": 0 if fields else (dims - 1) * count,
        "width": width, "height": height, "depth": depth, "format": format_, "mode": mode,
    }  # fmt: skip
    return name, values


class Planes(NamedTuple):
    """Vectors of two components of float32, each packed in an array of its own, read where they lie.

    Attributes
    ----------
    first : object
        The array of the components along x, or a pointer to its first element.
    x, y : int
        Addresses of the components.
    nbytes : int
        Of the components along an axis.
    """

    first: object
    x: int
    y: int
    nbytes: int

    def is_apart(self, place: int, nbytes: int) -> bool:
        """Whether memory at an address has none of the components."""
        _, x, y, size = self
        return (place + nbytes <= x or x + size <= place) and (place + nbytes <= y or y + size <= place)


class MemoryPicture:
    """Pictures of arrays of one description, of which the map and the addresses are left open.

    Parameters
    ----------
    queue : Queue
        Runs the work.
    arranged : Arrangement
        The axes.
    texel, value : np.dtype
        Of the array and of the picture.
    filter_ : Filter
        The filter, of exact precision.
    centre : float
        Of elements and texels.
    coords : np.dtype | None
        Of vectors (axes, N), in the order of the array's axes, which are added to the positions.
    fields : FieldKind
        Whether the vectors are fields that move the positions, as ``pack_fields`` makes them, and which.
    rounding : str
        Of integers, as of ``Resampling``.
    """

    def __init__(
        self,
        queue: Queue,
        arranged: Arrangement,
        texel: DType,
        value: DType,
        filter_: Filter,
        centre: float,
        coords: DType | None = None,
        *,
        fields: FieldKind = FieldKind.none,
        rounding: Rounding = "away",
    ) -> None:
        self._queue = queue
        name, values = picture_arguments(
            arranged, texel, value, filter_, centre, coords, fields=fields, rounding=rounding
        )
        self._kernel = builtin_kernel(queue, name, format=values["format"], mode=values["mode"])
        self._space = rows_range(arranged.picture, arranged.layers)
        parameters = list(values)
        self._arguments = typed_arguments(name, values)
        self._texels, self._coords, self._values = map(parameters.index, ("texels", "coords", "values"))
        self._planes = slice(parameters.index("first_coord"), parameters.index("component") + 1)
        first = parameters.index("m00")
        self._matrix = slice(first, first + 12)
        self._rows = itemgetter(*arranged.rows)

    def submit(
        self,
        map_: CoordinateMap,
        texels: object,
        values: object,
        coords: object = None,
        depends_on: Event | Iterable[Event] = (),
    ) -> Event:
        """Compute one picture.

        Parameters
        ----------
        map_ : CoordinateMap
            An affine map, over the axes that change.
        texels, values, coords : object
            Arrays on the device, or pointers to their first elements; values and coordinates are packed, or these are
            ``Planes``.
        """
        arguments = self._arguments.copy()
        if type(coords) is Planes:
            arguments[self._planes] = np.int64(0), np.int64((coords.y - coords.x) // 4)
            coords = coords.first
        arguments[self._matrix] = self._rows(map_.matrix + _NUMBERS)
        arguments[self._texels], arguments[self._coords], arguments[self._values] = texels, coords, values
        return self._queue.parallel_for(self._space, self._kernel, *arguments, depends_on=depends_on)
