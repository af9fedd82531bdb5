"""Samples of an ``Image`` that more than its sampler computes: exact weights, cubic filters, a fill value.

They are pictures whose positions are the coordinates. Samples with a layer for each go through the host.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ..model.arrays import Array
from ..model.image_descriptor import integer
from ..model.resampling import FieldKind
from ..sampling.packing import After, pack
from ..sampling.vectors import vectors_of
from ..sycl.queue.queue import Queue
from ..sycl.usm import UsmArray
from .arguments import coordinate_axes, per_item
from .array_library import AnyArray
from .drawing import source_of
from .results import Result

if TYPE_CHECKING:
    from .image import Image

__all__ = ["matrix_of_coordinates", "sample_computed"]


def sample_computed(
    image: Image, arrays: Mapping[str, AnyArray], leading: tuple[int, ...], result: Result, every: bool
) -> tuple[AnyArray, After]:
    """The values of ``sample``, as ``Result.deliver`` takes them, and the events that they come with.

    Parameters
    ----------
    arrays : Mapping[str, AnyArray]
        ``coords``, and ``layers`` if they were given.
    leading : tuple[int, ...]
        Shape of the coordinates, without their last axis.
    every : bool
        Whether each layer is sampled at all coordinates.
    """
    on_device = result.on_device or any(isinstance(array, UsmArray) for array in arrays.values())
    chosen = arrays.get("layers")
    numbers: Any = 0
    if chosen is not None:
        host = chosen.numpy() if isinstance(chosen, UsmArray) else chosen
        numbers = per_item("layers", host, leading, np.uint32)
        if np.ndim(numbers):
            return _scattered(image, arrays["coords"], leading, numbers, result, on_device)
    values = result.in_usm() if on_device else result.on_host()
    coords = coordinate_axes(image, arrays["coords"])
    layers = range(image.num_layers) if every else (integer("layers", numbers),)
    return values, _read(image, coords, layers, values, ())


def matrix_of_coordinates(dims: int) -> npt.NDArray[np.float64]:
    """The matrix of pictures whose positions are vectors alone."""
    matrix = np.zeros((dims + 1, dims + 1))
    matrix[dims, dims] = 1.0
    return matrix


def _read(image: Image, coords: AnyArray, layers: Any, values: AnyArray, after: After) -> After:
    """Fills values (layers, ..., channels) where they are."""
    if not values.size:
        return after
    queue, dims = image._queue, len(image.size)
    store, source = source_of(image)
    in_usm = isinstance(values, UsmArray)
    vectors, after = vectors_of(queue, source.unit, "coords", coords, on_device=in_usm, after=after)
    map_, nbytes = source.map_of(matrix_of_coordinates(dims)), values.nbytes // len(layers)
    sizes = (values.size // (len(layers) * image.num_channels),)
    kind = vectors.array.dtype, vectors.strides, FieldKind.none
    events: After = ()
    for number, layer in enumerate(layers):
        plan = source.plans.get((sizes, layer, values.dtype, image.num_channels, kind))
        if plan is None:
            plan = source.add_plan(sizes, layer, values.dtype, image.num_channels, kind)
        event = plan.submit(map_, values, vectors.array, (*store.ready, *after), number * nbytes)
        if event is not None:
            events += (event,)
    return _rescale(queue, source.largest, values, events)


def _rescale(queue: Queue, largest: float | None, values: AnyArray, after: After) -> After:
    """Divide values by the largest code where they are in codes; those on the host are ready at once."""
    if largest is None or not values.size:
        return after
    if not isinstance(values, UsmArray):
        values /= values.dtype.type(largest)
        return after
    flat = values.reshape(-1, 1)
    return pack(queue, flat, flat, after, ((largest,), (0.0,)))


def _scattered(
    image: Image, coords: AnyArray, leading: tuple[int, ...], layers: Array, result: Result, on_device: bool
) -> tuple[AnyArray, After]:
    """A layer for each item: the items of each layer are read together, on the host."""
    host = coords.numpy() if isinstance(coords, UsmArray) else coords
    points = np.asarray(coordinate_axes(image, host)).reshape(-1, len(image.size))
    values = np.empty((len(points), image.num_channels), image._native.descriptor.value_dtype)
    for layer in np.unique(layers):
        index = np.flatnonzero(layers == layer)
        part = np.empty((len(index), image.num_channels), values.dtype)
        _read(image, points[index], (int(layer),), part, ())
        values[index] = part
    shaped = values.reshape(result.shape)
    if not on_device:
        return shaped, ()
    target = result.in_usm()
    return target, (image._queue.memcpy(target, shaped),) if target.size else ()
