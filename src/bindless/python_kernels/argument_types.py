"""Types of a launch's arguments, by which kernels are specialised; known without the compiler."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core._submission import know_arguments
from ..model.arrays import DType
from ..model.errors import InvalidError
from ..model.image_handles import ImageMemHandle, SampledImageHandle, UnsampledImageHandle
from ..model.message_values import shown
from ..sycl.buffer.accessor import Accessor, LocalAccessor
from ..sycl.device.handle_owner import HandleOwner, HeldSampledHandle, HeldUnsampledHandle
from ..sycl.device.image_owner import ImageOwner
from ..sycl.kernel.arguments import PACKERS, pack_image_accessor
from ..sycl.kernel.reduction import Reduction, require_depth
from ..sycl.usm.array import UsmArray
from ..sycl.usm.array_import import foreign_array
from ..sycl.usm.pointer import UsmPointer
from .argument_type import ArgumentType

if TYPE_CHECKING:
    from ..sycl.device.queue_base import QueueBase

__all__ = ["is_foreign", "own_arguments", "type_of"]

_MOST_DIMENSIONS = 3
_NUMBERS = "biufc?"
_HANDLES = (SampledImageHandle, UnsampledImageHandle, HeldSampledHandle, HeldUnsampledHandle)


def _argument_key(value: Any) -> object:
    """Return a key that is equal for values of one type, where neither their Python type nor the layout of a
    ``UsmArray`` decides; None for another library's array, which must be imported first, and for a reduction whose
    variable must be filled first.
    """
    kind = type(value)
    if kind is Reduction:
        return value._key
    if isinstance(value, (np.generic, np.ndarray)):
        return kind, value.dtype, value.shape
    if isinstance(value, Accessor):
        return kind, value.dtype, len(value.shape), value._contiguous
    if kind is LocalAccessor:
        return kind, value.dtype, len(value.shape)
    return None if is_foreign(value) else kind


def type_of(value: object, name: str, depth: int = 0) -> ArgumentType:
    """Return the type of an argument.

    Parameters
    ----------
    name
        Of the parameter, for messages.
    depth
        Of tuples around the value.

    Raises
    ------
    InvalidError
        Kernels take no such value.
    """
    kind = type(value)
    known = _PLAIN.get(kind)
    if known is not None:
        return known(value)
    if isinstance(value, UsmArray):
        return _array(value.dtype, value.shape, "C" if value._contiguous else "A", name)
    if isinstance(value, tuple):
        require_depth(depth + 1)
        parts = tuple(type_of(part, f"{name}[{number}]", depth + 1) for number, part in enumerate(value))
        return ArgumentType("tuple", elements=parts)
    if isinstance(value, (np.void, np.ndarray)) and value.dtype.names and not value.shape:
        return ArgumentType("record", dtype=value.dtype)
    if isinstance(value, np.generic) and value.dtype.kind in "biuf?":
        return ArgumentType("number", value.dtype.name)
    if isinstance(value, HandleOwner):
        return ArgumentType("image")
    if isinstance(value, (SampledImageHandle, UnsampledImageHandle)):
        return ArgumentType("handle", "sampled" if isinstance(value, SampledImageHandle) else "unsampled")
    if isinstance(value, Accessor):
        if PACKERS.get(kind) is pack_image_accessor:
            return ArgumentType("handle", "sampled" if hasattr(value.buffer, "sampler") else "unsampled")
        return replace(_array(value.dtype, value.shape, "C" if value._contiguous else "A", name), name="accessor")
    if isinstance(value, Reduction):
        return ArgumentType("reduction", value.combiner, value.dtype, count=value.size)
    if isinstance(value, LocalAccessor):
        dtype = np.dtype(np.uint8) if value.dtype is None else value.dtype
        return ArgumentType("local", dtype=dtype, dimensions=len(value.shape))
    raise InvalidError(f"argument {name!r}: {shown(value)} is {_reason(value)}")


def _reason(value: object) -> str:
    if isinstance(value, np.ndarray):
        return (
            "an array of the host, which kernels do not reach: to be sampled, pass bindless.Image(array, queue=queue); "
            "for elements, copy it with usm_empty(...).copy_from(array), or pass as_usm_array(array, queue) where the "
            "device has usm_system_allocations"
        )
    if isinstance(value, list):
        return "a list: pass a tuple of its numbers, or usm_empty(shape, dtype, queue).copy_from(list)"
    if isinstance(value, UsmPointer):
        return "a pointer without element type: pass a UsmArray"
    if isinstance(value, (ImageMemHandle, ImageOwner)):
        return "image memory: pass the handle that create_image makes of it"
    return (
        "no argument of a kernel in Python: it takes numbers, numpy scalars, structured ones too, tuples, UsmArray, "
        "arrays of other libraries on the device, Image, image handles, accessors, LocalAccessor and reductions"
    )


def _array(dtype: DType, shape: tuple[int, ...], layout: str, name: str) -> ArgumentType:
    if len(shape) > _MOST_DIMENSIONS:
        raise InvalidError(
            f"argument {name!r}: an array of shape {shape} has {len(shape)} dimensions, kernels take 1 to "
            f"{_MOST_DIMENSIONS}: reshape it"
        )
    if not dtype.isnative or (dtype.names is None and dtype.kind not in _NUMBERS):
        raise InvalidError(f"argument {name!r}: elements of {dtype} are no numbers in the processor's byte order")
    if not shape:
        return ArgumentType("array", dtype=dtype, dimensions=0)
    return ArgumentType("array", dtype=dtype, dimensions=len(shape), layout=layout)


def _integer(value: int) -> ArgumentType:
    return ArgumentType("number", "int64" if -(2**63) <= value < 2**63 else "uint64")


_PLAIN: dict[type, Callable[[Any], ArgumentType]] = {
    int: _integer,
    float: lambda _: ArgumentType("float"),
    bool: lambda _: ArgumentType("number", "bool"),
    type(None): lambda _: ArgumentType("none"),
}


def is_foreign(value: object) -> bool:
    """Whether a value may be another library's array."""
    return type(value) not in PACKERS and not isinstance(value, (np.generic, Accessor, HandleOwner, Reduction))


def own_arguments(values: tuple[object, ...], queue: QueueBase) -> tuple[object, ...]:
    """Return the arguments with other libraries' arrays as ``UsmArray``, in place.

    Raises
    ------
    InvalidError
        The queue's device does not reach an array.
    """
    return tuple(foreign_array(value, queue) if is_foreign(value) else value for value in values)


_BY_TYPE = frozenset((*_PLAIN, *_HANDLES, *(np.dtype(code).type for code in "?bBhHiIlLqQefd")))

know_arguments(UsmArray, HandleOwner, _BY_TYPE - {int}, _argument_key)
