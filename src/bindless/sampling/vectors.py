"""``Vectors``: arrays of coordinates or displacements as plans read them, in place where that is possible."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple, Union

import numpy as np

from ..model.arrays import Array
from ..model.errors import InvalidError
from ..sycl.usm import UsmArray, usm_empty
from .packing import After, pack, packs

if TYPE_CHECKING:
    from ..sycl.queue.queue import Queue

__all__ = ["Vectors", "vectors_of"]

AnyArray = Union[Array, UsmArray]

_FLOATS = (np.dtype(np.float32), np.dtype(np.float64))
_FLOAT32 = np.dtype(np.float32)


class Vectors(NamedTuple):
    """Vectors that are added to positions.

    Attributes
    ----------
    array : AnyArray
        Contiguous float32 or float64.
    strides : tuple[int, int]
        Elements between two picture elements, and between two components.
    """

    array: AnyArray
    strides: tuple[int, int]


def vectors_of(
    queue: Queue,
    unit: tuple[float, ...] | None,
    name: str,
    array: AnyArray,
    *,
    on_device: bool,
    after: After = (),
) -> tuple[Vectors, After]:
    """An argument of vectors as plans read it.

    Parameters
    ----------
    unit : tuple[float, ...] | None
        Texels for each unit of the vectors, along (x, y, z).
    name : str
        Name of the argument, for errors.
    array : AnyArray
        Shape (..., dims).
    on_device : bool
        Whether they go to the device.
    after : After
        What work on the device comes after, in a queue out of order.

    Raises
    ------
    InvalidError
        Elements that are no numbers, or of the device that do not become float32.
    """
    if isinstance(array, UsmArray):
        if unit is None and array._contiguous and array.dtype in _FLOATS:
            return Vectors(array, (array.shape[-1], 1)), after
        return _of_device(queue, unit, name, array, after)
    if array.dtype.kind not in "iuf":
        raise InvalidError(f"{name} has dtype {array.dtype}; it is made of numbers")
    values = array if array.dtype in _FLOATS else array.astype(_FLOAT32)
    if unit is not None:
        values = values * np.asarray(unit, values.dtype)
    by_component = False
    if not values.flags.c_contiguous:
        components = np.moveaxis(values, -1, 0)
        by_component = components.flags.c_contiguous
        values = components if by_component else np.ascontiguousarray(values)
    count, dims = math.prod(array.shape[:-1]), array.shape[-1]
    strides = (1, count) if by_component else (dims, 1)
    if not on_device or not values.size:
        return Vectors(values, strides), after
    packed = np.array(values, order="C")  # the caller's may change
    target = usm_empty(packed.shape, packed.dtype, queue)
    return Vectors(target, strides), (queue.memcpy(target, packed, depends_on=after),)


def _of_device(
    queue: Queue, unit: tuple[float, ...] | None, name: str, array: UsmArray, after: After
) -> tuple[Vectors, After]:
    count, dims = math.prod(array.shape[:-1]), array.shape[-1]
    if unit is None and array.dtype in _FLOATS:
        planes = array.transpose(array.ndim - 1, *range(array.ndim - 1))
        if planes.is_contiguous:
            return Vectors(planes, (1, count)), after
    if not packs(array.dtype, _FLOAT32):
        raise InvalidError(f"{name} is {array.dtype} on a device, where it does not become float32: convert it first")
    target = usm_empty(array.shape, _FLOAT32, queue)
    units = (1.0,) if unit is None else tuple(1 / size for size in unit)
    return Vectors(target, (dims, 1)), pack(queue, array, target, after, (units, (0.0,)))
