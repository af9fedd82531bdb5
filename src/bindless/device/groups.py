"""Functions that the work-items of a sub-group or of a work-group call together."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import numpy as np

from ..model.combiners import COMBINERS, identity_of
from .declaration import Call, KernelTypeError, LaunchFacts, Type, device_intrinsic, mangled
from .number_types import opencl_type
from .work_item import current

_Value = TypeVar("_Value")

__all__ = [
    "sub_group_all", "sub_group_any", "sub_group_broadcast", "sub_group_local_id", "sub_group_reduce",
    "sub_group_scan", "sub_group_shuffle", "sub_group_shuffle_xor", "sub_group_size", "work_group_all",
    "work_group_any", "work_group_broadcast", "work_group_reduce", "work_group_scan",
]  # fmt: skip

_OPERATIONS = ("add", "min", "max")


def _number(name: str, value: Type) -> str:
    """The type of OpenCL C of a value, which group functions have from 32 bits on."""
    if not value.is_number:
        raise KernelTypeError(f"{name} takes a number, not {value}")
    type_ = opencl_type(value)
    return {"bool": "int", "char": "int", "short": "int", "uchar": "uint", "ushort": "uint"}.get(type_, type_)


def _operation(name: str, operation: Type | None) -> str:
    text = "add" if operation is None else operation.value
    if text not in _OPERATIONS:
        raise KernelTypeError(f"{name}: the operation is one of {', '.join(map(repr, _OPERATIONS))}, a constant")
    return str(text)


def _reduce(group: str) -> Callable[..., Call]:
    def rule(launch: LaunchFacts, value: Type, operation: Type | None = None) -> Call:
        type_ = _number(f"{group}_reduce", value)
        symbol = mangled(f"{group}_reduce_{_operation(f'{group}_reduce', operation)}", type_)
        return Call(type_, symbol, (type_,), (value,), of_group=True)

    return rule


def _scan(group: str) -> Callable[..., Call]:
    def rule(launch: LaunchFacts, value: Type, operation: Type | None = None, exclusive: Type | None = None) -> Call:
        name = f"{group}_scan"
        type_ = _number(name, value)
        kind = False if exclusive is None else exclusive.value
        if not isinstance(kind, bool):
            raise KernelTypeError(f"{name}: exclusive is a constant, True or False")
        form = "exclusive" if kind else "inclusive"
        symbol = mangled(f"{group}_scan_{form}_{_operation(name, operation)}", type_)
        return Call(type_, symbol, (type_,), (value,), of_group=True)

    return rule


def _predicate(name: str) -> Callable[..., Call]:
    def rule(launch: LaunchFacts, value: Type) -> Call:
        return Call("int", mangled(name, "int"), ("int",), (value,), of_group=True)

    return rule


def _lane(name: str) -> Callable[..., Call]:
    def rule(launch: LaunchFacts, value: Type, lane: Type) -> Call:
        type_ = "ulong" if value.kind == "image" else _number(name, value)
        return Call(type_, mangled(name, type_, "uint"), (type_, "uint"), (value, lane), of_group=True)

    return rule


def _work_group_broadcast(launch: LaunchFacts, value: Type, *place: Type) -> Call:
    type_ = _number("work_group_broadcast", value)
    if len(place) != launch.dimensions:
        raise KernelTypeError(
            f"work_group_broadcast takes a place for each dimension: {launch.dimensions}, not {len(place)}"
        )
    sizes = ("size_t",) * len(place)
    symbol = mangled("work_group_broadcast", type_, *sizes)
    return Call(type_, symbol, (type_, *sizes), (value, *reversed(place)), of_group=True)


def _sub_group_local_id(launch: LaunchFacts) -> Call:
    return Call("uint", mangled("get_sub_group_local_id"))


def _sub_group_size(launch: LaunchFacts) -> Call:
    return Call("uint", mangled("get_sub_group_size"))


def _reduced(values: list[_Value], operation: str) -> _Value:
    found = values[0]
    for value in values[1:]:
        found = COMBINERS[operation](found, value)
    return found


def _scanned(values: list[_Value], number: int, operation: str, exclusive: bool) -> _Value:
    if exclusive and number == 0:
        identity: _Value = identity_of(operation, np.asarray(values[0]).dtype)
        return identity
    return _reduced(values[: number + (not exclusive)], operation)


@device_intrinsic(_sub_group_local_id)
def sub_group_local_id() -> int:
    """Return the work-item's place in its sub-group (CUDA's lane), from 0.

    Interpreted in Python, a sub-group is the whole work-group.

    Returns
    -------
    int
        uint32.
    """
    return current().number


@device_intrinsic(_sub_group_size)
def sub_group_size() -> int:
    """Return the number of work-items of the sub-group: 32 on NVIDIA GPUs, less in the last one of a group.

    Returns
    -------
    int
        uint32.
    """
    return current().group.size


@device_intrinsic(_lane("sub_group_shuffle"))
def sub_group_shuffle(value: _Value, lane: int) -> _Value:
    """Return the value of another work-item of the sub-group: one instruction for 32 bits on NVIDIA GPUs.

    Parameters
    ----------
    value : number or image handle
        This work-item's own.
    lane : int
        The other's ``sub_group_local_id``.

    Returns
    -------
    number
        Of the value's type; of small integers int32 or uint32.
    """
    return current().gather(value)[lane]


@device_intrinsic(_lane("sub_group_shuffle_xor"))
def sub_group_shuffle_xor(value: _Value, mask: int) -> _Value:
    """Return the value of the work-item whose ``sub_group_local_id`` differs in the bits of a mask.

    Parameters
    ----------
    value : number or image handle
        This work-item's own.
    mask : int
        Below the size of the sub-group.

    Returns
    -------
    number
        Of the value's type; of small integers int32 or uint32.
    """
    here = current()
    return here.gather(value)[here.number ^ mask]


@device_intrinsic(_lane("sub_group_broadcast"))
def sub_group_broadcast(value: _Value, lane: int) -> _Value:
    """Return the value of one work-item to all of the sub-group.

    Parameters
    ----------
    value : number or image handle
        This work-item's own.
    lane : int
        The same for all work-items of the sub-group.

    Returns
    -------
    number
        Of the value's type; of small integers int32 or uint32.
    """
    return current().gather(value)[lane]


@device_intrinsic(_reduce("sub_group"))
def sub_group_reduce(value: _Value, operation: str = "add") -> _Value:
    """Return the sum, the minimum or the maximum of a sub-group's values: five shuffles on NVIDIA GPUs.

    Parameters
    ----------
    value : number
        This work-item's own.
    operation : str
        ``"add"``, ``"min"`` or ``"max"``, a constant.

    Returns
    -------
    number
        The same for all. Sums of floats have no fixed order.
    """
    return _reduced(current().gather(value), operation)


@device_intrinsic(_scan("sub_group"))
def sub_group_scan(value: _Value, operation: str = "add", exclusive: bool = False) -> _Value:
    """Return the sum, the minimum or the maximum of the values up to this work-item in the sub-group.

    Parameters
    ----------
    value : number
        This work-item's own.
    operation : str
        ``"add"``, ``"min"`` or ``"max"``, a constant.
    exclusive : bool
        Without this work-item's own value: the first one gets 0, or the type's largest or smallest number. A constant.

    Returns
    -------
    number
        Of the value's type; of small integers int32 or uint32.
    """
    here = current()
    return _scanned(here.gather(value), here.number, operation, exclusive)


@device_intrinsic(_predicate("sub_group_any"))
def sub_group_any(value: object) -> int:
    """Return 1 where the value is true for any work-item of the sub-group, else 0.

    Parameters
    ----------
    value : bool or int
        This work-item's own.

    Returns
    -------
    int
        int32.
    """
    return int(any(current().gather(value)))


@device_intrinsic(_predicate("sub_group_all"))
def sub_group_all(value: object) -> int:
    """Return 1 where the value is true for all work-items of the sub-group, else 0.

    Parameters
    ----------
    value : bool or int
        This work-item's own.

    Returns
    -------
    int
        int32.
    """
    return int(all(current().gather(value)))


@device_intrinsic(_reduce("work_group"))
def work_group_reduce(value: _Value, operation: str = "add") -> _Value:
    """Return the sum, the minimum or the maximum of a work-group's values: shuffles and two barriers.

    Parameters
    ----------
    value : number
        This work-item's own.
    operation : str
        ``"add"``, ``"min"`` or ``"max"``, a constant.

    Returns
    -------
    number
        The same for all. Sums of floats have no fixed order.
    """
    return _reduced(current().gather(value), operation)


@device_intrinsic(_scan("work_group"))
def work_group_scan(value: _Value, operation: str = "add", exclusive: bool = False) -> _Value:
    """Return the sum, the minimum or the maximum of the values up to this work-item in the work-group.

    Work-items are in the order of their local ids, the last dimension first.

    Parameters
    ----------
    value : number
        This work-item's own.
    operation : str
        ``"add"``, ``"min"`` or ``"max"``, a constant.
    exclusive : bool
        Without this work-item's own value: the first one gets 0, or the type's largest or smallest number. A constant.

    Returns
    -------
    number
        Of the value's type; of small integers int32 or uint32.
    """
    here = current()
    return _scanned(here.gather(value), here.number, operation, exclusive)


@device_intrinsic(_work_group_broadcast)
def work_group_broadcast(value: _Value, *place: int) -> _Value:
    """Return the value of one work-item to all of the work-group: a store, a barrier and a load.

    Parameters
    ----------
    value : number
        This work-item's own.
    place : int
        The other's local id, a number for each dimension; the same for all work-items of the group.

    Returns
    -------
    number
        Of the value's type; of small integers int32 or uint32.
    """
    here, number = current(), 0
    for one, size in zip(place, here.local_range):
        number = number * size + one
    return here.gather(value)[number]


@device_intrinsic(_predicate("work_group_any"))
def work_group_any(value: object) -> int:
    """Return 1 where the value is true for any work-item of the work-group, else 0.

    Parameters
    ----------
    value : bool or int
        This work-item's own.

    Returns
    -------
    int
        int32.
    """
    return int(any(current().gather(value)))


@device_intrinsic(_predicate("work_group_all"))
def work_group_all(value: object) -> int:
    """Return 1 where the value is true for all work-items of the work-group, else 0.

    Parameters
    ----------
    value : bool or int
        This work-item's own.

    Returns
    -------
    int
        int32.
    """
    return int(all(current().gather(value)))
