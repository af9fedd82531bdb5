"""``values_in_place``: exact pictures of arrays on a device, which kernels read where they lie; no image is made."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Sequence
from functools import lru_cache, partial
from typing import Any, NamedTuple

import numpy as np

from ..core._submission import empty_like_foreign
from ..image.array_library import AnyArray
from ..model.arrays import DType
from ..model.dlpack import dlpack_type
from ..model.enums import Precision
from ..model.filter import Filter
from ..sampling.memory.picture import Arrangement, MemoryPicture, is_supported
from ..sycl.queue.queue import Queue
from ..sycl.usm import UsmArray, usm_empty
from ..sycl.usm.strides import reach
from .layers import Layers
from .places import Places
from .prefilter import coefficients
from .source import Source, layout_of
from .target import Target

__all__ = ["PreparedCall", "key_of_call", "prepared_calls", "values_in_place"]


def values_in_place(
    source: Source,
    target: Target,
    places: Places,
    filter_: Filter,
    unchanged: Sequence[int],
    *,
    prefilter: bool,
    key: Key | None = None,
) -> AnyArray | None:
    """The values (..., channels) of a call, in the caller's memory if it fits; None of a call that needs an image.

    Parameters
    ----------
    source, target, places, filter_, unchanged, prefilter
        As of ``plan.resample``.
    key : Key | None
        Of the call, which is prepared for the next one.
    """
    queue, pixels, coords = source.queue, source.pixels, places.coords
    filters = filter_.is_cubic and prefilter
    if (
        not isinstance(pixels, UsmArray)
        or filter_.precision is not Precision.exact
        or not (coords is None or isinstance(coords, UsmArray))
        or not is_supported(queue, pixels.dtype, target.dtype, filter_)
    ):
        return None
    margin, texels = 0, pixels
    if filters:
        texels, margin = _coefficients(queue, pixels, filter_, unchanged)
    step = texels.dtype.itemsize
    arranged = Arrangement.of(
        texels.shape,
        [stride // step for stride in texels.strides],
        target.shape if coords is None else places.shape,
        unchanged,
        at_points=coords is not None,
    )
    if arranged is None:
        return None
    kind = None if coords is None else coords.dtype
    picture = _picture(queue, arranged, texels.dtype, target.dtype, filter_, places.map.centre, kind)
    values = None if arranged.channels_first else target.memory(target.dtype, in_usm=True)
    if values is None or any(_overlap(values, array) for array in (texels, coords) if array is not None):
        channels = pixels.shape[-1]
        shape = (channels, *target.shape) if arranged.channels_first else (*target.shape, channels)
        values = usm_empty(shape, target.dtype, queue)
    if key is not None and not (filters or arranged.channels_first):
        _prepare(key, source, target, filter_, picture, coords)
    if values.size:
        picture.submit(
            places.moved(margin).map, texels.pointer, values.pointer, None if coords is None else coords.pointer
        )
    return values.transpose(*range(1, values.ndim), 0) if arranged.channels_first else values


# ---------------------------------------------------------------------- calls that come again

Key = tuple[Any, ...]
prepared_calls: dict[Key, PreparedCall] = {}
"""Calls on arrays of other libraries, by their keys."""

_MOST_CALLS = 512
_PLAIN_OUTPUTS = (str, type, np.dtype)


class Form(NamedTuple):
    """A packed array: its shape, DLPack's code and bits, and its bytes."""

    shape: tuple[int, ...]
    code: int
    bits: int
    nbytes: int


class Maker:
    """Makes the arrays of results in the library of the input."""

    def __init__(self, kind: type, shape: tuple[int, ...], dtype: DType, form: Form) -> None:
        self._form = form
        empty = getattr(sys.modules.get(kind.__module__.partition(".")[0]), "empty", None)
        self._empty = None if empty is None or exchange_api(kind) else partial(empty, shape, dtype)

    def __call__(self, given: Any) -> Any:
        """A new array; None where the library makes none on the input's device."""
        if self._empty is None:
            return empty_like_foreign(given, *self._form[:3])
        array = self._empty()
        return array if array.__dlpack_device__() == given.__dlpack_device__() else None


def exchange_api(kind: type) -> bool:
    """Whether C code makes arrays of a type."""
    return hasattr(kind, "__dlpack_c_exchange_api__")


class PreparedCall(NamedTuple):
    """A call that a kernel computes of the arrays of another library, which C code reads.

    Attributes
    ----------
    picture : MemoryPicture
        The launch.
    place_of : Callable
        The queue's reader of foreign arrays.
    make : Maker
        Makes the array of the result.
    read : tuple[Form, ...]
        The input, and the coordinates.
    output : Form
        The result.
    filter : Filter
        Kept, since the key has its identity.
    """

    picture: MemoryPicture
    place_of: Callable[..., int | None]
    make: Maker
    read: tuple[Form, ...]
    output: Form
    filter: Filter

    def submit(self, given: Any, output: Any, places: Places) -> Any:
        """The result; None of arrays that are to be imported."""
        if output is None:
            output = self.make(given)
            if output is None:
                return None
        elif not self._is_apart(given, output, places.given):
            return None
        self.picture.submit(places.map, given, output, places.given)
        return output

    def _is_apart(self, given: Any, output: Any, coords: Any) -> bool:
        """Whether the output shares no memory with the arrays that are read."""
        *form, size = self.output
        first = self.place_of(output, *form)
        if first is None:
            return False
        for array, (*form, nbytes) in zip((given, coords), self.read):
            start = self.place_of(array, *form)
            if start is None or (first < start + nbytes and start < first + size):
                return False
        return True


def key_of_call(
    source: Source,
    output: Any,
    shape: tuple[int, ...],
    places: Places,
    filter_: Filter,
    unchanged: tuple[int, ...],
    prefilter: bool,
) -> Key | None:
    """What identifies a call apart from addresses and the entries of its map; None of one that is not prepared."""
    form = None
    if output is not None and not isinstance(output, _PLAIN_OUTPUTS):
        form = layout_of(output)
        if form is None:
            return None
    elif output is not None:
        return None
    if places.coords is not None and places.layout is None:
        return None
    return source.key, form, shape, places.layout, id(filter_), unchanged, prefilter, places.map.centre


def _prepare(
    key: Key, source: Source, target: Target, filter_: Filter, picture: MemoryPicture, coords: UsmArray | None
) -> None:
    """Add a call on packed arrays of one other library."""
    kind, layout, points = type(source.given), key[1], key[3]
    if kind is UsmArray or any(part is not None and part[0] is not kind for part in (layout, points)):
        return
    channels = () if source.channel_axis is None else (source.channels,)
    if channels and source.channel_axis != len(source.shape):
        return
    shape = (*target.shape, *channels)
    pixels, array = source.pixels, target.array
    if not pixels.is_contiguous or (isinstance(array, UsmArray) and not array.is_contiguous):
        return
    read = [_form_of((*source.shape, *channels), source.dtype)]
    if coords is not None:
        read.append(_form_of(points[3], coords.dtype))
    output = _form_of(shape, target.dtype)
    if len(prepared_calls) >= _MOST_CALLS:
        prepared_calls.clear()
    prepared_calls[key] = PreparedCall(
        picture,
        source.queue._stream.place_of_foreign,
        Maker(kind, shape, target.dtype, output),
        tuple(read),
        output,
        filter_,
    )


def _form_of(shape: tuple[int, ...], dtype: DType) -> Form:
    code, bits = dlpack_type(dtype) or (0, 0)
    return Form(tuple(shape), code, bits, math.prod(shape) * dtype.itemsize)


@lru_cache(256)
def _remembered(
    queue: Queue,
    arranged: Arrangement,
    texel: DType,
    value: DType,
    filter_: Filter,
    centre: float,
    coords: DType | None,
    fill: str,
) -> MemoryPicture:
    return MemoryPicture(queue, arranged, texel, value, filter_, centre, coords)


def _picture(
    queue: Queue,
    arranged: Arrangement,
    texel: DType,
    value: DType,
    filter_: Filter,
    centre: float,
    coords: DType | None,
) -> MemoryPicture:
    fill = repr(filter_.fill)  # 0.0 and -0.0 are equal
    return _remembered(queue, arranged, texel, value, filter_, centre, coords, fill)


def _coefficients(queue: Queue, pixels: UsmArray, filter_: Filter, unchanged: Sequence[int]) -> tuple[UsmArray, int]:
    """Coefficients of B-splines in the order of the axes of the pixels, and the elements that they exceed them by."""
    layers = Layers.of(pixels.shape, unchanged)
    dims = pixels.ndim - 1 - len(layers.axes)
    texels, margin = coefficients(queue, layers.spread(queue, pixels), dims, filter_, extend=True)
    sizes = [size + (0 if axis in layers.axes else 2 * margin) for axis, size in enumerate(pixels.shape[:-1])]
    array = layers.joined(texels.reshape(layers.spread_shape(sizes)))
    assert isinstance(array, UsmArray)
    return array, margin


def _overlap(one: UsmArray, other: UsmArray) -> bool:
    """Whether two arrays may share memory."""
    (first, last), (start, end) = (
        tuple(array.address + place for place in reach(array.shape, array.strides, array.itemsize))
        for array in (one, other)
    )
    return first < end and start < last
