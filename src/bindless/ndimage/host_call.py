"""``HostCall`` and ``HostFilterCall``: calls on arrays of the host, by an image that the queue keeps, and by none."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from ..bindless_images.result_arrays import empty_of_size
from ..image.array_library import OWN_TYPES, Library
from ..image.spline_filter import HostFilter
from ..model.arrays import Array, DType
from ..model.filter import CoordinateMap, Filter
from ..sycl.queue.queue import Queue
from ..sycl.usm import UsmArray
from .casting import cast
from .images import ImageKey, Images, images_of
from .layers import MOST_CHANNELS, Layers
from .places import Places
from .prefilter import spline_of
from .repeated import Key, add
from .source import Input, elements_of
from .target import Output, round_to, to_device, to_host

__all__ = ["Picture", "repeat", "repeat_filter"]

_SMALL = 1 << 16  # bytes of pixels that are copied rather than waited for
_FLOAT32: DType = np.dtype(np.float32)


class Picture(NamedTuple):
    """The picture that a call makes.

    Attributes
    ----------
    image : ImageKey
        Key of the image.
    plan : object
        Key of the picture among those of the image.
    stored, computed : np.dtype
        Of the image's elements, and of the values.
    filter : Filter | None
        Of B-splines, if the image has their coefficients.
    """

    image: ImageKey
    plan: object
    stored: DType
    computed: DType
    filter: Filter | None


class _Result(NamedTuple):
    """The result of a call.

    Attributes
    ----------
    shape : tuple[int, ...]
        Of it.
    computed, dtype : np.dtype
        Of the values, and of the result.
    writes : bool
        Whether the caller gives the array of the result.
    in_place : bool
        Whether the values are computed there.
    empty : Callable[..., Array]
        Makes arrays of this size.
    library : Library | None
        Of the arrays, if not numpy.
    read : Callable[[Any], Array] | None
        Gives the elements of such arrays on the host.
    memory : Queue | None
        Of results in USM.
    """

    shape: tuple[int, ...]
    computed: DType
    dtype: DType
    writes: bool
    in_place: bool
    empty: Callable[..., Array]
    library: Library | None
    read: Callable[[Any], Array] | None
    memory: Queue | None

    @classmethod
    def of(cls, source: Input, target: Output, computed: DType) -> _Result | None:
        """None where arrays are of several libraries, have their channels elsewhere than last, or lie on a device: of
        those integers of 64 bits in USM come to the host."""
        axis, array, kind = source.channel_axis, target.array, type(source.value)
        if axis is not None and axis != len(source.shape):
            return None
        if array is not None and (type(target.caller) is not kind or type(array) not in OWN_TYPES):
            return None
        in_usm = kind is UsmArray and _is_wide(source.dtype) and (array is None or array.is_contiguous)  # type: ignore[union-attr]
        if not in_usm and (source.on_device or (kind is not np.ndarray and source.library is None)):
            return None
        read = None if kind is np.ndarray else partial(to_host, queue=source.queue) if in_usm else np.from_dlpack
        channels = source.pixels.shape[-1:] if axis is not None else ()
        in_place = array is not None and target.memory(computed, in_usm=False) is not None
        shape = (*target.shape, *channels)
        empty = empty_of_size(math.prod(shape) * max(computed.itemsize, target.dtype.itemsize))
        memory = source.queue if in_usm else None
        return cls(shape, computed, target.dtype, array is not None, in_place, empty, source.library, read, memory)

    def deliver(self, values: Array, target: Array | None, caller: Any) -> Any:
        """The result, which the caller may give."""
        if target is not None or self.computed != self.dtype:
            result = self.empty(self.shape, self.dtype) if target is None else target
            if self.dtype.kind == "f":
                cast(values, self.dtype, result)
            else:
                result[...] = round_to(values, self.dtype)
            values = result
        if self.memory is not None:
            return to_device(values, self.memory, caller if self.writes else None)
        if self.writes:
            return caller
        return values if self.library is None else self.library(values)


class HostCall(NamedTuple):
    """A call by an image that the queue keeps.

    Attributes
    ----------
    queue, dims, margin, on_device
        As of ``repeated.Call``.
    images : Images
        Of the queue.
    picture : Picture
        What is made.
    map : CoordinateMap
        Of calls that have no matrix.
    pixels : tuple[int, ...]
        Shape of the input, channels last.
    fill : float
        What lies outside.
    is_wide : bool
        Whether the input has integers of 64 bits, whose values decide.
    is_plain, copies : bool
        Whether the image stores the pixels as they are; and whether they are few, too: the queue reads a copy after the
        call.
    coords : tuple[np.dtype, int] | None
        Of coordinates, and the number of axes.
    filter : HostFilter | None
        Of the coefficients.
    texels : tuple[int, ...]
        Shape of what the image has, channels last.
    result : _Result
        The result.
    """

    queue: Queue
    dims: tuple[int, int, int]
    margin: int
    images: Images
    picture: Picture
    map: CoordinateMap
    pixels: tuple[int, ...]
    fill: float
    is_wide: bool
    is_plain: bool
    copies: bool
    coords: tuple[DType, int] | None
    filter: HostFilter | None
    texels: tuple[int, ...]
    result: _Result

    @property
    def on_device(self) -> bool:
        """See ``repeated.Call``."""
        return False

    def submit(self, value: Any, output: Any, map_: CoordinateMap | None = None, coords: Any = None) -> Any:
        """See ``repeated.Call``: None also where the queue keeps no such image now, or a library gives no array."""
        result, points = self.result, coords
        array, target = value, output if result.writes and result.memory is None else None
        if result.read is not None:
            try:
                array = result.read(value)
                target = None if target is None else result.read(target)
                points = coords if self.coords is None or type(coords) is tuple else result.read(coords)
            except (BufferError, RuntimeError, TypeError, ValueError):
                return None
        if target is not None and not target.flags.writeable:
            return None
        pixels: Array = array.reshape(self.pixels)
        if self.is_wide:
            pixels = elements_of(pixels, self.fill)  # type: ignore[assignment]
        if self.filter is not None:
            texels = np.empty(self.texels, _FLOAT32)
            self.filter.run(np.ascontiguousarray(pixels, _FLOAT32), texels)
            pixels = texels
        elif pixels.dtype != self.picture.stored:
            if self.is_wide:
                return None
            pixels = cast(pixels, self.picture.stored)
        free, key = self.images.free, self.picture.image
        row = free.pop(key, None)
        if not row:
            return None
        image = row.pop()
        try:
            picture = image.pictures.get(self.picture.plan)
            if picture is None:
                return None
            values: Any = target if result.in_place else result.empty(result.shape, result.computed)
            flags = pixels.flags
            reads = picture.reads_memory and self.is_plain and flags.c_contiguous and flags.aligned
            reads = reads and not np.may_share_memory(pixels, values)
            if self.coords is not None and not (type(points) is tuple and reads and _are_packed(points, values)):
                axes = points[::-1] if type(points) is tuple else points
                points = np.ascontiguousarray(axes, self.coords[0]).reshape(self.coords[1], -1)[::-1]
            map_ = self.map if map_ is None else map_
            if reads:
                picture.submit_in_place(map_, values, pixels, points)
                return output if result.in_place else result.deliver(values, target, output)
            if self.copies:
                own = pixels if pixels.base is None and pixels is not array else pixels.copy()
                self.queue.ext_oneapi_copy(own, image.store._memory)
            else:
                image.store.fill(pixels, again=True)
            picture.submit(map_, values, points)
        finally:
            free.setdefault(key, row).append(image)
        return output if result.in_place else result.deliver(values, target, output)


class HostFilterCall(NamedTuple):
    """A call whose result are coefficients of B-splines.

    Attributes
    ----------
    queue, dims, margin, on_device
        As of ``repeated.Call``.
    filter : HostFilter
        The filter.
    pixels : tuple[int, ...]
        Shape of the input, channels last.
    is_wide : bool
        As of ``HostCall``.
    order : tuple[int, ...]
        The axes of the input with those first that are not filtered.
    back : tuple[int, ...]
        The axes of that, in the order of the result.
    result : _Result
        The result.
    """

    queue: Queue
    dims: tuple[int, int, int]
    margin: int
    filter: HostFilter
    pixels: tuple[int, ...]
    is_wide: bool
    order: tuple[int, ...]
    back: tuple[int, ...]
    result: _Result

    @property
    def on_device(self) -> bool:
        """See ``repeated.Call``."""
        return False

    def submit(self, value: Any, output: Any, map_: CoordinateMap | None = None, coords: Any = None) -> Any:
        """See ``repeated.Call``."""
        result = self.result
        array, target = value, output if result.writes and result.memory is None else None
        if result.read is not None:
            try:
                array, target = result.read(value), None if target is None else result.read(target)
            except (BufferError, RuntimeError, TypeError, ValueError):
                return None
        if target is not None and not target.flags.writeable:
            return None
        pixels: Any = array.reshape(self.pixels)
        if self.is_wide:
            pixels = elements_of(pixels, 0.0)
        samples = np.ascontiguousarray(pixels.transpose(self.order), _FLOAT32)
        values = result.empty(samples.shape, _FLOAT32)
        self.filter.run(samples, values)
        return result.deliver(values.transpose(self.back).reshape(result.shape), target, output)


def _are_packed(points: tuple[Array, ...], values: Array) -> bool:
    """Whether arrays of x and y, of a call's dtype, may be read where they lie while the values are written."""
    return all(
        part.flags.c_contiguous and part.flags.aligned and not np.may_share_memory(part, values) for part in points
    )


def _is_wide(dtype: DType) -> bool:
    return dtype.kind in "iu" and dtype.itemsize == 8


def repeat(key: Key, picture: Picture, source: Input, target: Output, places: Places, fill: float) -> None:
    """Add a call that made a picture of arrays of the host."""
    result, pixels, coords = _Result.of(source, target, picture.computed), source.pixels, places.coords
    if result is None or (key[1][2] is not None and key[1][2][0] is not key[1][0][0]):
        return
    dims, described, stored = len(source.shape), *picture.image
    filter_, margin, texels = None, 0, tuple(pixels.shape)
    if picture.filter is not None:
        filters = spline_of(picture.filter, pixels.shape, dims, extend=True)
        filter_, margin = HostFilter(filters), filters.margin[0]
        texels = (*(size + 2 * margin for size in source.shape), pixels.shape[-1])
    call = HostCall(
        source.queue,
        (dims, len(target.shape), len(places.shape)),
        margin,
        images_of(source.queue),
        picture,
        places.shift(margin).map,
        tuple(pixels.shape),
        fill,
        _is_wide(source.dtype),
        described == stored,
        described == stored and stored.nbytes <= _SMALL,
        None if coords is None else (coords.dtype, dims),
        filter_,
        texels,
        result,
    )
    add(key, call)


def repeat_filter(key: Key, source: Input, target: Output, filter_: Filter, layers: Layers) -> None:
    """Add a call that computed the coefficients of an array of the host."""
    result, pixels, dims = _Result.of(source, target, _FLOAT32), source.pixels, len(source.shape)
    if result is None or pixels.shape[-1] > MOST_CHANNELS:
        return
    order = layers.order(dims)
    count = dims - len(layers.axes)
    filters = spline_of(filter_, tuple(pixels.shape[axis] for axis in order), count, extend=False)
    back = tuple(order.index(axis) for axis in range(len(order)))
    all_dims = dims, dims, dims
    add(
        key,
        HostFilterCall(
            source.queue, all_dims, 0, HostFilter(filters), tuple(pixels.shape), _is_wide(source.dtype), tuple(order),
            back, result._replace(in_place=False),
        ),
    )  # fmt: skip
