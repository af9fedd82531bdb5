"""``values_in_place``: exact pictures of arrays on a device, which kernels read where they lie; no image is made."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from ..bindless_images.scratch_memory import leave_array
from ..core.ownership import after_fork
from ..image.array_library import AnyArray
from ..image.default_queue import is_own
from ..image.results import overlap
from ..image.spline_filter import spline_launches
from ..model.arrays import DType
from ..model.enums import Precision
from ..model.filter import Filter
from ..model.resampling import FieldKind, Rounding
from ..sampling.fields import kind_of_fields, pack_fields
from ..sampling.memory.picture import Arrangement, MemoryPicture, is_supported
from ..sycl.queue.queue import Queue
from ..sycl.usm import UsmArray, usm_empty
from .arguments import COPY, MOST_AXES
from .device_call import Coefficients, Form, device_call
from .layers import MOST_CHANNELS, Layers
from .places import AS_IT_IS, Places
from .prefilter import coefficients, spline_of
from .repeated import Key, add
from .source import Input, wait_unless_ordered
from .target import Output

__all__ = ["again", "filtered_in_place", "values_in_place"]

_FLOAT32: DType = np.dtype(np.float32)


def values_in_place(
    source: Input,
    target: Output,
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
    filters = filter_.is_spline and prefilter
    if (
        not isinstance(pixels, UsmArray)
        or filter_.precision is not Precision.exact
        or not (coords is None or isinstance(coords, UsmArray))
        or not places.map.is_affine
        or not is_supported(queue, _FLOAT32 if filters else pixels.dtype, target.dtype, filter_)
        or (filters and not is_supported(queue, pixels.dtype, _FLOAT32, COPY))
    ):
        return None
    margin, texels = 0, pixels
    if filters:
        texels, margin = _coefficients(queue, pixels, filter_, unchanged)
    step = texels.dtype.itemsize
    places = places.shift(margin)
    if places.fields:
        coords, after = pack_fields(queue, places.fields, on_device=True)
        wait_unless_ordered(queue, after)
        assert isinstance(coords, UsmArray)
    arranged = Arrangement.of(
        texels.shape,
        [stride // step for stride in texels.strides],
        places.shape if places.coords is not None else target.shape,
        unchanged,
        at_points=coords is not None,
    )
    if arranged is None:
        return None
    kind = None if coords is None else coords.dtype
    fields = kind_of_fields(places.fields)
    picture = _picture(
        queue, arranged, texels.dtype, target.dtype, filter_, places.map.centre, kind, fields=fields,
        rounding=target.rounding,
    )  # fmt: skip
    memory = None if arranged.channels_first else target.memory(target.dtype, in_usm=True)
    read = [texels] if coords is None else [texels, coords]
    if isinstance(memory, UsmArray) and not any(overlap(memory, array) for array in read):
        values = memory
    else:
        channels = int(pixels.shape[-1])
        shape = (channels, *target.shape) if arranged.channels_first else (*target.shape, channels)
        values = usm_empty(shape, target.dtype, queue)
    if key is not None and not arranged.channels_first:
        splines = filter_ if filters else None
        again(key, source, target, picture, places, splines, texels, margin, unchanged, extend=True)
    if values.size:
        points = None if coords is None else coords.pointer
        picture.submit(places.map, texels.pointer, values.pointer, points)
    if places.fields:
        leave_array(queue, coords)
    return values.transpose(*range(1, values.ndim), 0) if arranged.channels_first else values


def again(
    key: Key,
    source: Input,
    target: Output,
    picture: MemoryPicture | None,
    places: Places,
    filter_: Filter | None,
    texels: UsmArray,
    margin: int,
    unchanged: Sequence[int],
    *,
    extend: bool = False,
) -> None:
    """Add a call on packed arrays of the device, which comes again.

    Parameters
    ----------
    picture : MemoryPicture | None
        None of a call whose result are the coefficients.
    filter_ : Filter | None
        Of B-splines, if the call computes their coefficients: the texels, which exceed the input by the margin.
    extend : bool
        Whether the array is extended before it is filtered.
    """
    axis, array, pixels, coords = source.channel_axis, target.array, source.pixels, places.coords
    is_packed = (
        (axis is None or axis == len(source.shape))
        and pixels.is_contiguous  # type: ignore[union-attr]
        and (array is None or (isinstance(array, UsmArray) and array.is_contiguous))
    )
    steps = None
    if filter_ is not None:
        steps = _launches(source, filter_, texels, unchanged, extend=extend)
    if not is_packed or (filter_ is not None and steps is None):
        return
    last = pixels.shape[-1:] if axis is not None else ()
    forms = ((*source.shape, *last), source.dtype), ((*target.shape, *last), target.dtype)
    dims = len(source.shape), len(target.shape), len(places.shape)
    kind = None if coords is None else coords.dtype
    call = device_call(key[1], source.queue, picture, places.map, dims, *forms, kind, steps, source.library, margin)
    if call is not None:
        add(key, call)


@lru_cache(256)
def _remembered(
    queue: Queue,
    arranged: Arrangement,
    texel: DType,
    value: DType,
    filter_: Filter,
    centre: float,
    coords: DType | None,
    fields: FieldKind,
    rounding: Rounding,
    fill: str,
) -> MemoryPicture:
    return MemoryPicture(queue, arranged, texel, value, filter_, centre, coords, fields=fields, rounding=rounding)


def _picture(
    queue: Queue,
    arranged: Arrangement,
    texel: DType,
    value: DType,
    filter_: Filter,
    centre: float,
    coords: DType | None,
    *,
    fields: FieldKind = FieldKind.none,
    rounding: Rounding = "away",
) -> MemoryPicture:
    """The launch, made once for queues of the package, which nobody drops."""
    if not is_own(queue):
        return MemoryPicture(queue, arranged, texel, value, filter_, centre, coords, fields=fields, rounding=rounding)
    fill = repr(filter_.fill)  # 0.0 and -0.0 are equal
    return _remembered(queue, arranged, texel, value, filter_, centre, coords, fields, rounding, fill)


after_fork(_remembered.cache_clear)


def _coefficients(queue: Queue, pixels: UsmArray, filter_: Filter, unchanged: Sequence[int]) -> tuple[UsmArray, int]:
    """Coefficients of B-splines in the order of the axes of the pixels, and the elements that they exceed them by."""
    layers = Layers.of(pixels.shape, unchanged)
    dims = pixels.ndim - 1 - len(layers.axes)
    texels, margin = coefficients(queue, layers.spread(queue, pixels), dims, filter_, extend=True)
    sizes = [size + (0 if axis in layers.axes else 2 * margin) for axis, size in enumerate(pixels.shape[:-1])]
    array = layers.join(texels.reshape(layers.spread_shape(sizes)))
    assert isinstance(array, UsmArray)
    return array, margin


def _launches(
    source: Input, filter_: Filter, texels: UsmArray, unchanged: Sequence[int], *, extend: bool
) -> Coefficients | None:
    """The filter of a call that comes again; None where no kernel makes the elements its own."""
    queue, pixels, dims = source.queue, source.pixels, len(source.shape)
    layers = Layers.of(pixels.shape, unchanged)
    if pixels.shape[-1] > MOST_CHANNELS or queue._backend.spline_filters is not None:
        return None
    samples, ordered = None, pixels.transpose(*layers.order(dims))
    if source.dtype != _FLOAT32 or not layers.in_place:
        samples = _copy(queue, ordered, _FLOAT32, range(len(layers.axes)))
        if samples is None:
            return None
    count = dims - len(layers.axes)
    shape = (layers.count(pixels.shape), *ordered.shape[len(layers.axes) :])
    filters = spline_of(filter_, shape, count, extend=extend)
    return Coefficients(spline_launches(queue, filters), Form.of(texels.shape, texels.dtype), samples)


def _copy(queue: Queue, pixels: AnyArray, dtype: DType, unchanged: Sequence[int]) -> MemoryPicture | None:
    """What makes packed elements of an array on the device those of a type; None where no kernel does."""
    if not isinstance(pixels, UsmArray) or not is_supported(queue, pixels.dtype, dtype, COPY):
        return None
    strides, shape = [stride // pixels.itemsize for stride in pixels.strides], pixels.shape
    arranged = Arrangement.of(shape, strides, shape[:-1], unchanged if len(shape) - 1 > MOST_AXES else ())
    if arranged is None or arranged.channels_first:
        return None
    return _picture(queue, arranged, pixels.dtype, dtype, COPY, 0.0, None)


def filtered_in_place(
    source: Input, target: Output, filter_: Filter, filtered: UsmArray, unchanged: Sequence[int], key: Key | None
) -> AnyArray | None:
    """Coefficients (..., channels) as the result has them, in the caller's memory if it fits; None where no kernel
    converts them.

    Parameters
    ----------
    filtered : UsmArray
        The coefficients, float32, in the order of the result.
    """
    queue = source.queue
    picture = _copy(queue, filtered, target.dtype, unchanged)
    if picture is None:
        return None
    memory = target.memory(target.dtype, in_usm=True)
    values = memory if isinstance(memory, UsmArray) else usm_empty(filtered.shape, target.dtype, queue)
    if key is not None:
        dims = len(source.shape)
        places = Places.affine(np.eye(dims), np.zeros(dims), source.shape)
        again(key, source, target, picture, places, filter_, filtered, 0, unchanged)
    picture.submit(AS_IT_IS, filtered.pointer, values.pointer)
    return values
