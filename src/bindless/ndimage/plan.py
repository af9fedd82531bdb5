"""``prepare``: the plan of calls on arrays of one description, apart from their addresses and the numbers of the map.

The functions of this package and the blocks of ``bindless.dask`` prepare a plan once, and run it for each call.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from ..bindless_images.result_arrays import empty_of_size, empty_result
from ..bindless_images.scratch_memory import leave_array
from ..image.array_library import AnyArray
from ..image.options import ImageOptions, image_options
from ..image.plan import planned
from ..model.arrays import DType
from ..model.aspects import Aspect
from ..model.enums import AddressingMode, FilteringMode, Interpolation, Precision
from ..model.filter import CoordinateMap, Filter
from ..model.image_descriptor import ImageDescriptor
from ..model.resampling import FieldKind, Resampling, Rounding
from ..sampling.fields import kind_of_fields, numbers_of_fields, pack_fields
from ..sampling.packing import After
from ..sampling.plan import Plan
from ..sampling.prepare import prepare as prepare_picture
from ..sycl.device.device import Device
from ..sycl.queue.queue import Queue
from ..sycl.usm import UsmArray, usm_empty
from .host_call import Picture, repeat
from .images import ImageKey, Images, Units, images_of
from .in_place import values_in_place
from .layers import Layers
from .places import Places
from .prefilter import coefficients
from .repeated import Key
from .source import ELEMENTS, Input, element_of, elements_of, native
from .target import Output
from .usm_call import repeat_in_usm

__all__ = ["CallPlan", "Description", "prepare", "resample"]

_MOST_PLANS = 512
_MOST_AXES_OF_ARRAYS = 2
_INT32, _UINT32, _FLOAT32 = np.dtype(np.int32), np.dtype(np.uint32), np.dtype(np.float32)
_FLOAT64 = np.dtype(np.float64)
_ANY = ImageDescriptor(1)


class Description(NamedTuple):
    """The arrays of a call, apart from their addresses.

    Attributes
    ----------
    dtype : np.dtype
        Of the pixels (..., channels): elements that images have.
    channels : int
        Of the pixels.
    dims : int
        Axes that are interpolated.
    shape : tuple[int, ...]
        Of the result, without channels.
    result : np.dtype
        Of the result.
    places : tuple[int, ...]
        Shape of the places: of the result without the unchanged axes, or the number of coordinates.
    unchanged : tuple[int, ...]
        Axes along which nothing is interpolated: the result has each element of them in its place.
    on_device : bool
        Whether one of the arrays lies on a device.
    coords : np.dtype | None
        Of the coordinates that are added.
    centre : float
        Of elements, relative to their indices.
    in_window : bool
        Whether the pixels are a part of a larger array.
    prefilter : bool
        Whether a cubic interpolation computes the coefficients of B-splines first.
    fields : tuple[int, FieldKind]
        Numbers of the fields that move positions, and their kind.
    rounding : str
        Of integers, as of ``Resampling``.
    """

    dtype: DType
    channels: int
    dims: int
    shape: tuple[int, ...]
    result: DType
    places: tuple[int, ...]
    unchanged: tuple[int, ...] = ()
    on_device: bool = False
    coords: DType | None = None
    centre: float = 0.0
    in_window: bool = False
    prefilter: bool = True
    fields: tuple[int, FieldKind] = (0, FieldKind.none)
    rounding: Rounding = "away"


class CallPlan:
    """A call that is prepared.

    Attributes
    ----------
    computed : np.dtype
        Of the values, before the conversion to the result's.
    layers : Layers | None
        The unchanged axes, and more than four channels; None where the whole array is one layer.
    stored : np.dtype
        Of the elements of the image.
    in_place : bool
        Whether the values lie in the order of the result.
    shape : tuple[int, ...]
        Of the values, layers first.
    in_usm : bool
        Whether the values are computed in memory of the device.
    prefilters : bool
        Whether the image has coefficients of B-splines.
    """

    def __init__(self, device: Device, described: Description, filter_: Filter) -> None:
        cubic, dims = filter_.is_spline, described.dims
        stored = _FLOAT32 if cubic else _stored(described.dtype, described.result, filter_)
        self.computed = _computed(described.result, stored, filter_.fill)
        layers = Layers(described.unchanged, described.channels)
        count = layers.count((*described.shape, described.channels))
        # Of several layers one copy brings all to the host.
        self.in_usm = described.on_device or (count > 1 and not device.has(Aspect.usm_system_allocations))
        self.shape, self.in_place = layers.spread_shape(described.shape), layers.in_place
        self.layers = None if layers.is_whole else layers
        self._empty = empty_of_size(math.prod(self.shape) * self.computed.itemsize)
        self._device, self.stored, self._filter, self._dims = device, stored, filter_, dims
        self.prefilters = cubic and described.prefilter
        self._shape_of_layers = (count, *described.places, self.shape[-1])
        self._most_layers = _most_layers(device, dims)
        self._options = tuple(
            _image_options(stored, filter_, dims, layered=layered, in_window=described.in_window)
            for layered in (False, True)
        )
        width, height, depth = (*reversed(described.places), 1, 1)[:3]
        fill = filter_.fill / _unit(stored) if described.in_window and _filters(filter_) else filter_.fill
        self._picture = Resampling(
            handle=0,
            descriptor=_ANY,
            shape=(width, height, depth),
            values=0,
            value_dtype=self.computed,
            value_channels=self.shape[-1],
            filter=replace(filter_, fill=fill),
            map=CoordinateMap.pictures(centre=described.centre),
            coords_strides=(0, 0) if described.coords is None else (1, -math.prod(described.places)),
            rounding=described.rounding,
        )
        if described.coords is not None:
            self._picture = replace(self._picture, coords_dtype=described.coords)
        numbers, kind = described.fields
        if kind:
            self._picture = replace(self._picture, coords_dtype=_FLOAT64, coords_strides=(numbers, 0), fields=kind)

    def memory(self, queue: Queue) -> AnyArray:
        """New memory for the values."""
        return usm_empty(self.shape, self.computed, queue) if self.in_usm else empty_result(self.shape, self.computed)

    def run(self, queue: Queue, pixels: AnyArray, values: AnyArray, places: Places, images: Images) -> ImageKey | None:
        """Compute the values; the key of the image of the pixels, if there is one image that has nothing else.

        Parameters
        ----------
        queue : Queue
            Does the work.
        pixels : AnyArray
            Shape (..., channels).
        values : AnyArray
            Shape ``self.shape``, contiguous; filled when the call returns, or on a device by commands of the queue.
        places : Places
            Where the pixels are read.
        images : Images
            Memory of the queue.
        """
        inputs, margin = pixels[None] if self.layers is None else self.layers.spread(queue, pixels), 0
        results = values.reshape(self._shape_of_layers)
        if self.prefilters:
            inputs, margin = coefficients(queue, inputs, self._dims, self._filter, extend=True)
        places = places.shift(margin)
        coords, after = self._coords(queue, places)
        image = None
        if len(results) == 1:
            image = self._draw(queue, inputs[0], results, places, coords, after, images)
        else:
            for first in range(0, len(results), self._most_layers):
                group, last = results[first : first + self._most_layers], first + self._most_layers
                some = inputs[first:last] if len(group) > 1 else inputs[first]
                self._draw(queue, some, group, places, coords, after, images)
        if places.fields:
            leave_array(queue, coords)
        return image

    @staticmethod
    def _coords(queue: Queue, places: Places) -> tuple[AnyArray | None, After]:
        """Coordinates with the last axis first, or fields, and what their use comes after."""
        if places.fields:
            return pack_fields(queue, places.fields, on_device=False)
        return None if places.coords is None else places.coords[::-1], ()

    def _draw(
        self,
        queue: Queue,
        pixels: AnyArray,
        results: AnyArray,
        places: Places,
        coords: AnyArray | None,
        after: After,
        images: Images,
    ) -> ImageKey:
        """The values of one image, or of one with layers."""
        plan = planned(self._device, pixels.shape, self.stored, self._options[len(results) > 1])
        image = images.take(pixels, plan.described, plan.stored, places.window)
        try:
            after = (*image.store.ready, *after)
            for layer in range(len(results)):
                picture = image.pictures.get((self, layer))
                if picture is None:
                    picture = self._prepared(queue, image.reader(plan.sampler), layer, places)
                    image.keep((self, layer), picture)
                elif places.window is not None:
                    picture.move(places.first, places.window)
                picture.submit(places.map, results[layer], coords, after)
        finally:
            images.give_back(image)
        return image.key

    def repeat_part(
        self,
        queue: Queue,
        pixels: AnyArray,
        places: Places,
        images: Images,
        key: ImageKey,
        coords: AnyArray | None,
        values: AnyArray | None = None,
    ) -> AnyArray | None:
        """The values of a part of an array, as ``run`` computed those of one with an equal image.

        Parameters
        ----------
        pixels : NDArray | UsmArray
            Of the elements of the image; one layer, without channels. On the device packed, and as large as the image.
        key : ImageKey
            What ``run`` returned.
        coords : AnyArray | None
            Those of the places with the last axis first, which may lie elsewhere.
        values : AnyArray | None
            As of ``run``; default a new array of the host.

        Returns
        -------
        AnyArray | None
            None where the pool has no such image now.
        """
        row = images.free.pop(key, None)
        if not row:
            return None
        image = row.pop()
        picture, window = image.pictures.get((self, 0)), places.window
        try:
            if picture is None or window is None:
                return None
            if isinstance(pixels, np.ndarray):
                sizes = pixels.shape[-self._dims :]
                extent = (*reversed(sizes), 1, 1)[:3]
                packed = np.ascontiguousarray(pixels).reshape(*sizes, 1)
                queue.ext_oneapi_copy(packed, image.store._memory, src_extent=extent, copy_extent=extent)
            else:
                queue.ext_oneapi_copy(pixels, image.store._memory)
            picture.move(places.first, window)
            results = self._empty(self.shape, self.computed) if values is None else values
            picture.submit(places.map, results, coords)
        finally:
            images.free.setdefault(key, row).append(image)
        return results

    def _prepared(self, queue: Queue, reader: Units, layer: int, places: Places) -> Plan:
        handle, scale, bias = reader
        picture = replace(self._picture, layer=layer, scale=scale, bias=bias, first=places.first, window=places.window)
        return prepare_picture(queue, handle, picture)


@lru_cache(_MOST_PLANS)
def _remembered(device: Device, described: Description, filter_: Filter, sign: float) -> CallPlan:
    return CallPlan(device, described, filter_)


def prepare(device: Device, described: Description, filter_: Filter) -> CallPlan:
    """The plan of a call, made once for equal arguments.

    Parameters
    ----------
    device : Device
        Computes the result.
    described : Description
        The arrays.
    filter_ : Filter
        The filter.
    """
    return _remembered(device, described, filter_, math.copysign(1.0, filter_.fill))  # 0.0 and -0.0 are equal


def resample(
    source: Input,
    target: Output,
    places: Places,
    filter_: Filter,
    unchanged: Sequence[int] = (),
    *,
    prefilter: bool = True,
    key: Key | None = None,
) -> Any:
    """The result of a call.

    Parameters
    ----------
    source : Input
        The input.
    target : Output
        The result.
    places : Places
        Where the input is read, along all axes but the unchanged ones.
    filter_ : Filter
        The filter.
    unchanged : Sequence[int]
        Axes along which nothing is interpolated: the result has each element of them in its place.
    prefilter : bool
        Whether a cubic interpolation computes the coefficients of B-splines first.
    key : Key | None
        As of ``recall``: what the call is remembered for.
    """
    picture = values_in_place(source, target, places, filter_, unchanged, prefilter=prefilter, key=key)
    if picture is not None:
        return target.deliver(picture)
    queue, pixels, coords = source.queue, elements_of(source.pixels, filter_.fill), places.coords
    described = Description(
        pixels.dtype,
        pixels.shape[-1],
        len(source.shape) - len(unchanged),
        target.shape,
        target.dtype,
        places.shape,
        tuple(sorted(unchanged)),
        source.on_device
        or isinstance(target.array, UsmArray)
        or isinstance(coords, UsmArray)
        or any(field.on_device for field in places.fields),
        None if coords is None else coords.dtype,
        places.map.centre,
        places.window is not None,
        prefilter,
        (numbers_of_fields(places.fields), kind_of_fields(places.fields)),
        target.rounding,
    )
    plan = prepare(queue.device, described, filter_)
    values = None
    if target.array is not None and plan.in_place:
        values = target.memory(plan.computed, in_usm=plan.in_usm)
    if values is None:
        values = plan.memory(queue)
    if values.size:
        image = plan.run(queue, pixels, values, places, images_of(queue))
        if key is not None and image is not None and plan.layers is None:
            splines = filter_ if plan.prefilters else None
            again = Picture(image, (plan, 0), plan.stored, plan.computed, splines)
            if isinstance(pixels, UsmArray):
                repeat_in_usm(key, again, source, target, places)
            else:
                repeat(key, again, source, target, places, filter_.fill)
    return target.deliver(values if plan.layers is None else plan.layers.join(values))


def _filters(filter_: Filter) -> bool:
    """Whether a texture unit, or its arithmetic, blends elements."""
    return filter_.precision is not Precision.exact and filter_.interpolation is not Interpolation.nearest


def _unit(stored: DType) -> float:
    """The value of the largest code of a normalized image of these elements, as which it is filtered."""
    return 1.0 if stored.kind == "f" else float(np.iinfo(stored).max)


def _image_options(stored: DType, filter_: Filter, dims: int, *, layered: bool, in_window: bool) -> ImageOptions:
    """The options of the image that is made of elements."""
    filters, channel_type = _filters(filter_), None
    if stored.kind in "iu" and not filters:
        channel_type = f"{'un' if stored.kind == 'u' else ''}signed_int{8 * stored.itemsize}"
    filtering = FilteringMode.linear if filters else FilteringMode.nearest
    is_computed = in_window or not filter_.has_unit_boundary
    addressing = AddressingMode.clamp_to_edge if is_computed else filter_.addressing
    return image_options(addressing, filtering, channel_type=channel_type, layers=layered, dimensions=dims)


def _most_layers(device: Device, dims: int) -> int:
    """Layers of one image."""
    if dims > _MOST_AXES_OF_ARRAYS or not device.has(Aspect.ext_oneapi_image_array):
        return 1
    return max(int(device.get_info("image_max_array_size")), 1)


def _stored(dtype: DType, out: DType, filter_: Filter) -> DType:
    """Elements of the image: what the array has, unless a texture unit cannot filter them to what is asked for."""
    element = element_of(dtype)
    if element.kind == "f" or not _filters(filter_):
        return element
    return element if element.itemsize < 4 and native(out) == element else _FLOAT32


def _computed(result: DType, stored: DType, cval: float) -> DType:
    """What the device computes for a result, of an image of these elements."""
    dtype = native(result)
    if dtype in ELEMENTS:
        return dtype
    if dtype.kind in "iu" and stored.kind in "iu" and abs(cval) < 2**31:
        return _UINT32 if stored == _UINT32 else _INT32
    return _FLOAT32
