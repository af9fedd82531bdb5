"""Kernel arguments: from Python values to bytes, checked against the kernel's reflected signature.

A parameter's reflected kind and size decide. Drivers do not tell integers from floats: where the source's type is not
known either, a Python int is packed as an integer and a Python float as a float of the parameter's size.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...backends.contract import KernelArgument
from ...model.arrays import Array
from ...model.errors import InvalidError, KernelArgumentError
from ...model.image_handles import ImageMemHandle, SampledImageHandle, UnsampledImageHandle
from ...model.message_values import shown
from ..buffer.accessor import Accessor, LocalAccessor
from ..device.handle_owner import HandleOwner, HeldHandle, HeldSampledHandle, HeldUnsampledHandle
from ..device.image_owner import ImageOwner
from ..device.peer_access import image_of_another_device, memory_out_of_reach
from ..usm.array import UsmArray
from ..usm.pointer import UsmPointer
from .element_types import require_elements
from .struct_arguments import FLOATS, INTEGERS, Unfit, array_bytes, sequence_bytes

if TYPE_CHECKING:
    from ..device.queue_base import QueueBase

__all__ = [
    "NO_NUMBERS",
    "PACKERS",
    "guessed_parameter",
    "held_image",
    "memory_of",
    "no_groups",
    "pack_argument",
    "pack_arguments",
    "pack_image_accessor",
    "require_handle",
    "with_images",
]

_POINTER_SIZE = 8
_UNSAMPLED = "unsampled_image_handle"  # the type in include/bindless/device.h
_FLOATS = {2: struct.Struct("<e"), 4: struct.Struct("<f"), 8: struct.Struct("<d")}


def _pointer(value: Any, parameter: KernelArgument, queue: QueueBase) -> bytes:
    if parameter.size != _POINTER_SIZE or parameter.kind not in ("pointer", "value"):
        raise Unfit("it is a pointer")
    owner = value._owner
    if not owner.open:
        raise owner.freed()
    if owner.context is not queue.context:
        raise Unfit("it was allocated in another context than the queue's")
    if queue.context._unreached and (reason := memory_out_of_reach(owner, queue)):
        raise Unfit(reason)
    packed: bytes = value._packed
    return packed


def _accessor(value: Accessor, parameter: KernelArgument, _: object) -> bytes:
    if parameter.size != _POINTER_SIZE or parameter.kind not in ("pointer", "value"):
        raise Unfit("it is a pointer")
    if parameter.type:
        require_elements(value.buffer.dtype, parameter)
    return value._address.to_bytes(_POINTER_SIZE, "little")


def pack_image_accessor(value: Accessor, parameter: KernelArgument, _: object) -> bytes:
    """The image that an accessor stands for, as a kernel receives it."""
    require_handle(parameter, hasattr(value.buffer, "sampler"))
    return value._address.to_bytes(_POINTER_SIZE, "little")


def _array(value: UsmArray, parameter: KernelArgument, queue: QueueBase) -> bytes:
    if not value._contiguous:
        raise Unfit(
            "this view is not contiguous, and a kernel receives an address alone; pass array.pointer and its strides"
        )
    if parameter.type:
        require_elements(value.dtype, parameter)
    return _pointer(value, parameter, queue)


def _handle(value: SampledImageHandle | UnsampledImageHandle, parameter: KernelArgument, queue: QueueBase) -> bytes:
    sampled = isinstance(value, SampledImageHandle)
    require_handle(parameter, sampled)
    if len(queue.context.devices) > 1:
        reason = image_of_another_device(queue.context, queue.device, value._raw_handle, sampled)
        if reason:
            raise Unfit(reason)
    return value._raw_handle.to_bytes(_POINTER_SIZE, "little")


def require_handle(parameter: KernelArgument, sampled: bool) -> None:
    """A parameter for an image takes an image handle, one for a sampler that of a sampled image, and one for a number
    only where handles are numbers."""
    if parameter.kind == "sampler" and not sampled:
        raise Unfit("it is an unsampled image: a sampler is that of a sampled one, create_image(..., sampler=)")
    if parameter.size != _POINTER_SIZE or parameter.kind not in ("image", "value", "sampler"):
        raise Unfit("it is an image handle of 8 bytes")
    if parameter.kind == "value" and not parameter.may_be_handle:
        raise Unfit(
            "this device has no image handles that are numbers: give the kernel an image parameter, such as image2d_t, "
            "or compile it with `bindless build --target opencl_c`"
        )


def held_image(value: HandleOwner, parameter: KernelArgument | None) -> HeldHandle:
    """The image of an owner of both kinds that a parameter takes: the sampled one, unless its type in the source is
    ``unsampled_image_handle``."""
    return value._image_handle(parameter is None or parameter.type != _UNSAMPLED)


def with_images(values: tuple[object, ...], parameters: Sequence[KernelArgument] | None) -> tuple[object, ...]:
    """Arguments of a kernel with handles that keep their images in place of the owners of images."""
    if parameters is None or len(parameters) != len(values):
        return tuple(held_image(value, None) if isinstance(value, HandleOwner) else value for value in values)
    return tuple(
        held_image(value, parameter) if isinstance(value, HandleOwner) else value
        for value, parameter in zip(values, parameters)
    )


def _null(_: None, parameter: KernelArgument, __: object) -> bytes:
    if parameter.kind != "pointer":
        raise Unfit("None is the null pointer")
    return bytes(_POINTER_SIZE)


def _integer(value: int, parameter: KernelArgument, _: object) -> bytes:
    _require_value(parameter)
    size = parameter.size
    if parameter.type in FLOATS:
        return _float(value, parameter, _)
    try:
        return value.to_bytes(size, "little", signed=value < 0)
    except OverflowError:
        raise Unfit(f"it does not fit {size} bytes ({-(1 << (8 * size - 1))} to {(1 << (8 * size)) - 1})") from None


def _float(value: float, parameter: KernelArgument, _: object) -> bytes:
    _require_value(parameter)
    if parameter.type in INTEGERS:
        raise Unfit("pass an integer")
    form = _FLOATS.get(parameter.size)
    if form is None:
        raise Unfit(f"no float has {parameter.size} bytes; pass a numpy scalar of that size")
    try:
        return form.pack(value)
    except OverflowError:
        raise Unfit(f"it is too large for a float of {parameter.size} bytes") from None


def _scalar(value: Any, parameter: KernelArgument, _: object) -> bytes:
    """numpy scalars, structured ones too, and arrays that are passed by value."""
    _require_value(parameter)
    return array_bytes(np.asarray(value), parameter)


def _host_array(value: Array, parameter: KernelArgument, queue: QueueBase) -> bytes:
    if parameter.kind == "pointer":
        raise Unfit(
            "kernels reach no numpy array: copy it into usm_empty(...).copy_from(array), or pass "
            "as_usm_array(array, queue) where the device has usm_system_allocations"
        )
    return _scalar(value, parameter, queue)


def _sequence(value: Sequence[object], parameter: KernelArgument, _: object) -> bytes:
    if parameter.kind in ("pointer", "local", "sampler"):
        raise Unfit(
            f"a {type(value).__name__} is the elements of a vector or structure; memory is a UsmPointer, a UsmArray or "
            "another library's array on the device"
        )
    return sequence_bytes(value, parameter)


def _bytes(value: bytes, parameter: KernelArgument, _: object) -> bytes:
    _require_value(parameter)
    if len(value) != parameter.size:
        raise Unfit(f"it has {len(value)} bytes")
    return value


def _local(value: LocalAccessor, parameter: KernelArgument, _: object) -> int:
    if parameter.kind != "local" and not parameter.may_be_local:
        raise Unfit("it is local memory of the work-group")
    return value.nbytes


NO_NUMBERS = {
    "pointer": "a UsmPointer, a UsmArray or an accessor",
    "local": "LocalAccessor(nbytes)",
    "sampler": "the handle of a sampled image",
}
"""Kinds of parameters that take no numbers, and what they take."""


def _require_value(parameter: KernelArgument) -> None:
    advice = NO_NUMBERS.get(parameter.kind)
    if advice is not None:
        raise Unfit(f"it is a value; use {advice}")


def memory_of(values: tuple[object, ...]) -> tuple[object, ...]:
    """The memory and the held images among a kernel's arguments."""
    memory: list[object] = []
    for value in values:
        if isinstance(value, (UsmArray, UsmPointer, HeldSampledHandle, HeldUnsampledHandle)):
            memory.append(value)
        elif isinstance(value, Accessor) and value._place is not None:
            memory.append(value._place.memory)
    return tuple(memory)


_Packer = Callable[[Any, KernelArgument, "QueueBase"], "bytes | int"]

PACKERS: dict[type, _Packer] = {
    Accessor: _accessor,
    UsmArray: _array,
    UsmPointer: _pointer,
    int: _integer,
    bool: _integer,
    float: _float,
    bytes: _bytes,
    SampledImageHandle: _handle,
    UnsampledImageHandle: _handle,
    HeldSampledHandle: _handle,
    HeldUnsampledHandle: _handle,
    LocalAccessor: _local,
    np.ndarray: _host_array,
    tuple: _sequence,
    list: _sequence,
    type(None): _null,
}


def _other(value: object) -> _Packer:
    """The packer of a value whose exact type is not in the table."""
    if isinstance(value, np.generic):
        return _scalar
    if isinstance(value, (ImageMemHandle, ImageOwner)):
        raise Unfit("image memory is no kernel argument: pass the handle that create_image makes of it")
    for type_, packer in PACKERS.items():
        if isinstance(value, type_):
            return packer
    raise Unfit(
        "arguments are numbers, numpy scalars, arrays and tuples for vectors and structures, image handles, Image, "
        "accessors, UsmPointer, UsmArray, another library's array on the device, LocalAccessor, or bytes of the exact "
        "size"
    )


def pack_argument(value: object, parameter: KernelArgument, queue: QueueBase) -> bytes | int:
    """The bytes of one argument, or the size of a local one.

    Raises
    ------
    Unfit
        The parameter does not take the value.
    """
    packer = PACKERS.get(type(value)) or _other(value)
    return packer(value, parameter, queue)


def pack_arguments(
    kernel: str, parameters: Sequence[KernelArgument] | None, values: Sequence[object], queue: QueueBase
) -> list[bytes | int]:
    """The bytes of every argument, or the size of a local one.

    Parameters
    ----------
    kernel : str
        Its name, for messages.
    parameters : Sequence[KernelArgument] | None
        As reflected; None where the driver cannot tell.
    values : Sequence[object]
        As the caller gave them.
    queue : Queue
        Of the launch: memory is of its context and in reach of its device, images are the device's own.

    Raises
    ------
    InvalidError
        Wrong count, size or kind; the message names the argument.
    """
    if parameters is None:
        parameters = [guessed_parameter(kernel, index, value) for index, value in enumerate(values)]
    if len(values) != len(parameters):
        signature = ", ".join(f"{p.name or p.index}: {p.kind} of {p.size} bytes" for p in parameters)
        raise InvalidError(
            f"kernel {kernel!r} takes {len(parameters)} arguments ({signature}), {len(values)} were given"
        )
    packed: list[bytes | int] = []
    for value, parameter in zip(values, parameters):
        try:
            packed.append(pack_argument(value, parameter, queue))
        except Unfit as reason:
            raise InvalidError(
                f"argument {_text(parameter)} of kernel {kernel!r} takes a {parameter.kind} of {parameter.size} "
                f"bytes{f' ({parameter.type})' if parameter.type else ''}, {shown(value)} was given: {reason}"
            ) from None
    return packed


def no_groups(kernel: str) -> KernelArgumentError:
    """The error of local memory for a kernel over a plain range (SYCL 2020 section 4.7.6.11)."""
    return KernelArgumentError(
        f"kernel {kernel!r} is given a LocalAccessor and launched over a plain range, which names no "
        "work-groups: launch it over NdRange(global_range, local_range)"
    )


def _text(parameter: KernelArgument) -> str:
    return f"{parameter.index} ({parameter.name!r})" if parameter.name else str(parameter.index)


def guessed_parameter(kernel: str, index: int, value: object) -> KernelArgument:
    """The parameter for a value, for drivers that do not reflect signatures.

    Raises
    ------
    InvalidError
        The value does not determine the size of its parameter.
    """
    if isinstance(value, LocalAccessor):
        return KernelArgument(index, "", "local", 0)
    if value is None or isinstance(value, (Accessor, UsmArray, UsmPointer)):
        return KernelArgument(index, "", "pointer", _POINTER_SIZE)
    if isinstance(value, (SampledImageHandle, UnsampledImageHandle)):
        return KernelArgument(index, "", "image", _POINTER_SIZE)
    if isinstance(value, bytes):
        return KernelArgument(index, "", "value", len(value))
    if isinstance(value, (np.generic, np.ndarray)):
        return KernelArgument(index, "", "value", value.nbytes)
    raise InvalidError(
        f"argument {index} of kernel {kernel!r}: the driver does not tell the size of the kernel's parameters, and "
        f"{shown(value)} does not say its own: pass a numpy scalar such as numpy.int32(1)"
    )
