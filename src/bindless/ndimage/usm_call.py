"""``UsmCall`` and ``UsmFilterCall``: calls on packed arrays in USM, by an image that the queue keeps, and by none.

Commands of the queue bring the elements into the image. Results that devices do not compute are converted on the host.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..bindless_images.result_arrays import empty_of_size
from ..image.spline_filter import DeviceFilter
from ..model.arrays import Array, DType
from ..model.filter import CoordinateMap, Filter
from ..model.spline_filter import SplineFilter
from ..sampling.packing import Layout, Packing
from ..sycl.queue.queue import Queue
from ..sycl.usm import UsmArray
from ..sycl.usm.functions import new_array
from .host_call import Picture
from .images import Forms, Images, images_of
from .layers import MOST_CHANNELS, Layers
from .places import Places
from .prefilter import give_back, spline_of, take
from .repeated import Key, add
from .source import Input
from .target import Output, round_to, to_device

__all__ = ["repeat_filter_in_usm", "repeat_in_usm"]

_FLOAT32: DType = np.dtype(np.float32)
_FLOAT64: DType = np.dtype(np.float64)


class _Result(NamedTuple):
    """The result of a call.

    Attributes
    ----------
    queue : Queue
        Computes it.
    shape : tuple[int, ...]
        Of it.
    computed, dtype : np.dtype
        Of the values, and of the result.
    writes : bool
        Whether the caller gives the array of the result.
    is_direct : bool
        Whether the values are the result, or the host converts them.
    empty : Callable[..., Array]
        Makes arrays of the host of this size.
    """

    queue: Queue
    shape: tuple[int, ...]
    computed: DType
    dtype: DType
    writes: bool
    is_direct: bool
    empty: Callable[..., Array]

    @classmethod
    def of(cls, key: Key, source: Input, target: Output, computed: DType) -> _Result | None:
        """None where an array is not packed in USM, or has its channels elsewhere than last."""
        axis, array, pixels = source.channel_axis, target.array, source.pixels
        if (
            any(layout is not None and layout[0] is not UsmArray for layout in key[1][:3])
            or not isinstance(pixels, UsmArray)
            or not pixels.is_contiguous
            or (axis is not None and axis != len(source.shape))
            or not (array is None or (isinstance(array, UsmArray) and array.is_contiguous))
        ):
            return None
        shape = (*target.shape, *(pixels.shape[-1:] if axis is not None else ()))
        empty = empty_of_size(math.prod(shape) * computed.itemsize)
        is_direct = computed == target.dtype
        return cls(source.queue, shape, computed, target.dtype, array is not None, is_direct, empty)

    def deliver(self, values: Array, output: UsmArray) -> UsmArray:
        """The result, from values on the host."""
        dtype = self.dtype
        result = values.astype(dtype) if dtype == _FLOAT64 else round_to(values, dtype)
        return to_device(result, self.queue, output if self.writes else None)


class UsmCall(NamedTuple):
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
    filter : DeviceFilter | None
        Of the coefficients.
    packing : Packing | None
        Makes the elements those of the image.
    forms : Forms
        Of memory on the way.
    first : int
        Where the coordinates along the last axis begin.
    result : _Result
        The result.
    """

    queue: Queue
    dims: tuple[int, int, int]
    margin: int
    images: Images
    picture: Picture
    map: CoordinateMap
    filter: DeviceFilter | None
    packing: Packing | None
    forms: Forms
    first: int
    result: _Result

    @property
    def on_device(self) -> bool:
        """See ``repeated.Call``."""
        return True

    def submit(self, value: Any, output: Any, map_: CoordinateMap | None = None, coords: Any = None) -> Any:
        """See ``repeated.Call``: None also where the queue keeps no such image now."""
        result, queue, packing = self.result, self.queue, self.packing
        free, key = self.images.free, self.picture.image
        row = free.pop(key, None)
        if not row:
            return None
        image = row.pop()
        try:
            picture = image.pictures.get(self.picture.plan)
            if picture is None:
                return None
            arrays: Sequence[UsmArray] = ()
            if self.forms:
                arrays = image.arrays.get(self.forms) or image.add_arrays(self.forms, queue)
            if self.filter is not None:
                self.filter.run(value, arrays[0], arrays[1])
                value = arrays[0]
            if packing is not None:
                value = packing.submit(value, arrays[-1 if result.is_direct else -2])
            queue.ext_oneapi_copy(value, image.store._memory)
            if coords is not None and coords.ndim > 1:  # no fields
                coords = UsmArray(coords._owner, coords.shape[1:], coords.dtype, None, coords._offset + self.first)
            there: UsmArray
            values: Any
            if not result.is_direct:
                there, values = arrays[-1], result.empty(result.shape, result.computed)
            else:
                there = values = output if result.writes else new_array(result.shape, result.dtype, queue)
            picture.submit(self.map if map_ is None else map_, there, coords)
            if there is not values:
                queue.memcpy(values, there).wait()
        finally:
            free.setdefault(key, row).append(image)
        return values if result.is_direct else result.deliver(values, output)


class UsmFilterCall(NamedTuple):
    """A call whose result are coefficients of B-splines.

    Attributes
    ----------
    queue, dims, margin, on_device
        As of ``repeated.Call``.
    filter : DeviceFilter
        The filter.
    texels : tuple[int, ...]
        Shape of its arrays.
    packing : Packing | None
        Brings the coefficients into the order of the result.
    back : tuple[int, ...]
        The axes of the coefficients, in the order of the result.
    result : _Result
        The result.
    """

    queue: Queue
    dims: tuple[int, int, int]
    margin: int
    filter: DeviceFilter
    texels: tuple[int, ...]
    packing: Packing | None
    back: tuple[int, ...]
    result: _Result

    @property
    def on_device(self) -> bool:
        """See ``repeated.Call``."""
        return True

    def submit(self, value: Any, output: Any, map_: CoordinateMap | None = None, coords: Any = None) -> Any:
        """See ``repeated.Call``."""
        result, queue = self.result, self.queue
        texels, other = pair = take(queue, self.texels)
        if not result.is_direct:
            self.filter.run(value, texels, other)
            values = result.empty(self.texels, _FLOAT32)
            queue.memcpy(values, texels).wait()
            output = result.deliver(values.transpose(self.back).reshape(result.shape), output)
        elif result.writes:  # the caller's arrays may overlap
            self.filter.run(value, texels, other)
            if self.packing is None:
                queue.memcpy(output, texels)
            else:
                self.packing.submit(texels, output)
        else:
            output = new_array(result.shape, _FLOAT32, queue)
            self.filter.run(value, output if self.packing is None else texels, other)
            if self.packing is not None:
                self.packing.submit(texels, output)
        give_back(queue, pair)
        return output


def repeat_in_usm(key: Key, picture: Picture, source: Input, target: Output, places: Places) -> None:
    """Add a call that made a picture of arrays in USM."""
    result, pixels, coords = _Result.of(key, source, target, picture.computed), source.pixels, places.coords
    if result is None or not isinstance(pixels, UsmArray) or not (coords is None or isinstance(coords, UsmArray)):
        return
    (described, stored), dims, queue, layout = picture.image, len(source.shape), source.queue, Layout.of(pixels)
    forms: Forms = ()
    filter_, packing, margin = None, None, 0
    if picture.filter is not None:
        filters = spline_of(picture.filter, layout.shape, dims, extend=True)
        filter_, margin = _filter(queue, filters, layout), filters.margin[0]
        layout = Layout.packed((*(size + 2 * margin for size in source.shape), layout.shape[-1]), _FLOAT32)
        forms = ((layout.shape, _FLOAT32),) * 2
    if layout.dtype != stored.dtype or described != stored:
        packing = Packing.of(queue, layout, stored.dtype, stored.num_channels)
        forms += ((stored.shape, stored.dtype),)
    if (picture.filter is not None and filter_ is None) or (len(forms) % 2 and packing is None):
        return
    if not result.is_direct:
        forms += ((result.shape, result.computed),)
    first = 0 if coords is None else (dims - 1) * coords.shape[1] * coords.itemsize
    add(
        key,
        UsmCall(
            queue, (dims, len(target.shape), len(places.shape)), margin, images_of(queue), picture,
            places.shift(margin).map, filter_, packing, forms, first, result,
        ),
    )  # fmt: skip


def repeat_filter_in_usm(key: Key, source: Input, target: Output, filter_: Filter, layers: Layers) -> None:
    """Add a call that computed the coefficients of an array in USM."""
    result, pixels, dims = _Result.of(key, source, target, _FLOAT32), source.pixels, len(source.shape)
    if result is None or not isinstance(pixels, UsmArray) or pixels.shape[-1] > MOST_CHANNELS:
        return
    queue, order, count = source.queue, layers.order(dims), dims - len(layers.axes)
    back = tuple(order.index(axis) for axis in range(len(order)))
    layout, packing = Layout.of(pixels).transpose(order), None
    filters = _filter(queue, spline_of(filter_, layout.shape, count, extend=False), layout)
    if not Layout.packed(layout.shape, _FLOAT32).transpose(back).is_packed:
        packing = Packing.of(queue, Layout.packed(layout.shape, _FLOAT32).transpose(back), _FLOAT32, layout.shape[-1])
        if packing is None:
            return
    if filters is not None:
        all_dims = dims, dims, dims
        add(key, UsmFilterCall(queue, all_dims, 0, filters, layout.shape, packing, back, result))


def _filter(queue: Queue, described: SplineFilter, layout: Layout) -> DeviceFilter | None:
    """The filter of arrays of a layout; None where no launch makes them packed float32."""
    if layout.dtype == _FLOAT32 and layout.is_packed:
        return DeviceFilter(queue, described)
    samples = Packing.of(queue, layout, _FLOAT32, layout.shape[-1])
    return None if samples is None else DeviceFilter(queue, described, samples)
