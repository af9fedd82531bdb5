"""Reads of an ``Image`` at coordinates on its device. Nothing here waits; only the values' places are returned.

Arguments on the host are copied to the device first, and all are brought into the form that the device functions take.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from ..model.arrays import Array, DType
from ..model.enums import ImageType
from ..model.errors import InvalidError
from ..sampling.packing import After, contiguous, pack, packs
from ..sycl.queue.queue import Queue
from ..sycl.usm import UsmArray, usm_empty
from .arguments import broadcast, coordinate_axes, per_item
from .array_library import AnyArray
from .results import Result

if TYPE_CHECKING:
    from .device_image import Reader
    from .image import Image

__all__ = ["fetch_on_device", "sample_on_device", "sample_tensor"]

Units = tuple[tuple[float, ...], tuple[float, ...]]

_FLOAT32, _INT32, _UINT32 = np.dtype(np.float32), np.dtype(np.int32), np.dtype(np.uint32)
_UNSCALED: Units = ((1.0,), (0.0,))


class _Arguments:
    """Arguments on their way to one device function.

    Attributes
    ----------
    after : After
        What the function comes after, in a queue out of order.
    """

    def __init__(self, queue: Queue, arrays: Mapping[str, AnyArray], leading: tuple[int, ...], after: After) -> None:
        self._queue, self._arrays, self._leading, self.after = queue, arrays, leading, after
        self._count = math.prod(leading)

    def points(self, name: str, shape: tuple[int, ...], dtype: DType, units: Units = _UNSCALED) -> UsmArray:
        """(N, dims) of an argument that broadcasts to ``shape``, (..., dims)."""
        array = self._on_device(name, self._arrays[name])
        axes = array[:, None] if array.ndim == 1 and len(shape) == 2 and shape[1] == 1 else array
        axes = broadcast(name, axes, shape)
        flat = (self._count, shape[-1])
        if units == _UNSCALED:
            memory, self.after = contiguous(self._queue, axes, flat, dtype, name, self.after)
            return memory
        if not packs(axes.dtype, dtype):
            raise InvalidError(
                f"{name} is {axes.dtype} on a device, where it does not become {dtype}: convert it first"
            )
        target = usm_empty(flat, dtype, self._queue)
        self.after = pack(self._queue, axes, target, self.after, units)
        return target

    def numbers(self, name: str, dtype: DType) -> Any:
        """None, one number, or (N,) of an argument that broadcasts to the coordinates."""
        array = self._arrays.get(name)
        if array is None:
            return None
        if isinstance(array, np.ndarray) and array.ndim == 0:
            return per_item(name, array, self._leading, dtype)
        axes = broadcast(name, self._on_device(name, array), self._leading)
        memory, self.after = contiguous(self._queue, axes, (self._count,), dtype, name, self.after)
        return memory

    def _on_device(self, name: str, array: AnyArray) -> UsmArray:
        if isinstance(array, UsmArray):
            return array
        if array.dtype.kind not in "iuf":
            raise InvalidError(f"{name} has dtype {array.dtype}; it is made of numbers")
        own: Array = array.astype(array.dtype.newbyteorder("="), "C")  # the caller's may change meanwhile
        target = usm_empty(own.shape, own.dtype, self._queue)
        if own.size:
            self.after = (self._queue.memcpy(target, own, depends_on=self.after),)
        return target


def sample_tensor(image: Image, coords: Any, out: Any) -> Any:
    """The values at coordinates that are an array of torch, where C code of the device functions takes it as it is.

    Returns
    -------
    Any
        ``out`` or a new array of torch; ``NotImplemented`` where the coordinates need a conversion, or ``out`` a check.
    """
    store, kind = image._native, type(coords)
    if store.descriptor.type is not ImageType.standard or not hasattr(kind, "__dlpack_c_exchange_api__"):
        return NotImplemented
    reader, dims = image._native.reader(image._sampler), len(image.size)
    leading = tuple(coords.shape[:-1])
    channels = (image.num_channels,) if image._has_channel_axis else ()
    if reader.scale is not None or coords.shape[-1:] != (dims,) or 0 in leading or not _is_packed(coords, _FLOAT32):
        return NotImplemented
    places, target = coords.reshape(-1, dims), None
    if out is not None:
        dtype = store.descriptor.value_dtype
        if type(out) is not kind or tuple(out.shape) != (*leading, *channels) or not _is_packed(out, dtype):
            return NotImplemented
        target = out.reshape(-1, image.num_channels)
    values: Any = store.read(reader.handle, places, None, None, None, target, store.ready)
    if out is not None:
        return out
    return values.reshape((*leading, *channels)) if type(values) is kind else NotImplemented


def _is_packed(tensor: Any, dtype: DType) -> bool:
    """Whether an array of torch has this dtype and no gaps, and belongs to no graph of gradients."""
    return _is_type(tensor.dtype, dtype) and bool(tensor.is_contiguous()) and not tensor.requires_grad


@lru_cache(maxsize=64)
def _is_type(of_torch: Any, dtype: DType) -> bool:
    return str(of_torch) == f"torch.{dtype}"


def sample_on_device(
    image: Image, reader: Reader, arrays: Mapping[str, AnyArray], leading: tuple[int, ...], result: Result, every: bool
) -> tuple[UsmArray, After]:
    """The values of ``sample``, and the events that they come with.

    Parameters
    ----------
    reader : Reader
        Of the image.
    arrays : Mapping[str, AnyArray]
        The arguments of ``sample`` that were given, at least one or the result on the device.
    leading : tuple[int, ...]
        Shape of the coordinates, without their last axis.
    every : bool
        Whether each layer is sampled at all coordinates.
    """
    store = image._native
    arguments = _Arguments(image._queue, arrays, leading, store.ready)
    axes = coordinate_axes(image, arrays["coords"]).shape
    coords = arguments.points("coords", axes, _FLOAT32, reader.units)
    gradients = None
    if "dx" in arrays:
        steps = reader.units[0], (0.0,)
        gradients = arguments.points("dx", axes, _FLOAT32, steps), arguments.points("dy", axes, _FLOAT32, steps)
    levels, layers = arguments.numbers("level", _FLOAT32), arguments.numbers("layers", _UINT32)
    values = result.in_usm()
    after: After = ()
    if values.size:
        for number, part in enumerate(_parts(image, values, every, len(coords))):
            layer = number if every else layers
            after += (store.read(reader.handle, coords, layer, levels, gradients, part, arguments.after),)
    return values, after


def fetch_on_device(
    image: Image, level: int, arrays: Mapping[str, AnyArray], leading: tuple[int, ...], result: Result, every: bool
) -> tuple[UsmArray, After]:
    """The values of ``fetch``, and the events that they come with; see ``sample_on_device``."""
    store = image._native
    arguments = _Arguments(image._queue, arrays, leading, store.ready)
    axes = coordinate_axes(image, arrays["coords"], fetch=True).shape
    points = arguments.points("coords", axes, _INT32)
    layers = arguments.numbers("layers", _UINT32)
    values = result.in_usm()
    after: After = ()
    if values.size:
        for number, part in enumerate(_parts(image, values, every, len(points))):
            after += (store.fetch(points, number if every else layers, level, part, arguments.after),)
    return values, after


def _parts(image: Image, values: UsmArray, every: bool, count: int) -> list[UsmArray]:
    """(N, channels) of the values, for each layer that is read."""
    layers = values.reshape(image.num_layers if every else 1, count, image.num_channels)
    return [layers[number] for number in range(len(layers))]
