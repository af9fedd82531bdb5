"""``resampled``: the result of a call, from its input, the places and the filter."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..model.aspects import Aspect
from ..model.enums import Interpolation, Precision
from ..model.filter import Filter
from ..sycl.queue.queue import Queue
from ..sycl.usm import UsmArray
from .layers import Layers
from .picture import Images, draw
from .places import Places
from .prefilter import coefficients
from .source import Source, element_of, elements_of, native
from .target import Target

__all__ = ["resampled"]

_FLOAT32 = np.dtype(np.float32)
_MOST_AXES_OF_ARRAYS = 2


def resampled(
    source: Source,
    target: Target,
    places: Places,
    filter_: Filter,
    unchanged: Sequence[int] = (),
    images: Images | None = None,
    *,
    prefilter: bool = True,
) -> Any:
    """The result of a call.

    Parameters
    ----------
    source : Source
        The input.
    target : Target
        The result.
    places : Places
        Where the input is read, along all axes but the unchanged ones.
    filter_ : Filter
        How.
    unchanged : Sequence[int]
        Axes along which nothing is interpolated: the result has each element of them in its place.
    images : Images, optional
        Gives the memory of images; default new memory.
    prefilter : bool
        Whether a cubic interpolation computes the coefficients of B-splines first.
    """
    queue, pixels = source.queue, elements_of(source, filter_.fill)
    stored = _FLOAT32 if filter_.is_cubic else _stored(pixels.dtype, target.dtype, filter_)
    computed = target.computed(stored, filter_.fill)
    layers = Layers.of(pixels.shape, unchanged)
    in_usm = source.on_device or target.on_device or isinstance(places.coords, UsmArray)
    if layers.count(pixels.shape) > 1:  # one copy brings all of them to the host
        in_usm = in_usm or not queue.device.has(Aspect.usm_system_allocations)
    memory = target.memory(layers.spread_shape(target.shape), computed, in_usm=in_usm, direct=layers.in_place)
    if memory.size:
        inputs = layers.spread(queue, pixels)
        results = memory.reshape(inputs.shape[0], *places.shape, memory.shape[-1])
        dims, margin = inputs.ndim - 2, 0
        if filter_.is_cubic and prefilter:
            inputs, margin = coefficients(queue, inputs, dims, filter_, extend=True)
        moved, most = places.moved(margin), _most_layers(queue, dims)
        for first in range(0, len(results), most):
            draw(queue, inputs[first : first + most], stored, results[first : first + most], moved, filter_, images)
    return target.given(layers.joined(memory))


def _most_layers(queue: Queue, dims: int) -> int:
    """Layers of one image."""
    if dims > _MOST_AXES_OF_ARRAYS or not queue.device.has(Aspect.ext_oneapi_image_array):
        return 1
    return max(int(queue.device.get_info("image_max_array_size")), 1)


def _stored(dtype: np.dtype[Any], made: np.dtype[Any], filter_: Filter) -> np.dtype[Any]:
    """Elements of the image: what the array has, unless a texture unit cannot filter them to what is asked for."""
    taken = element_of(dtype)
    if taken.kind == "f" or filter_.precision is Precision.exact or filter_.interpolation is Interpolation.nearest:
        return taken
    return taken if taken.itemsize < 4 and native(made) == taken else _FLOAT32
