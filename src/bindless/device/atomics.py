"""Atomic operations on elements of arrays, in global and in local memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .declaration import KernelTypeError, LaunchFacts, Lower, Type, device_intrinsic
from .number_types import OPENCL_TYPES
from .values import Elements, Index, Number

__all__ = [
    "atomic_add", "atomic_and", "atomic_compare_exchange", "atomic_exchange", "atomic_load", "atomic_max",
    "atomic_min", "atomic_or", "atomic_store", "atomic_sub", "atomic_xor",
]  # fmt: skip

_ORDERS = {
    "relaxed": "monotonic", "acquire": "acquire", "release": "release", "acq_rel": "acq_rel", "seq_cst": "seq_cst",
}  # fmt: skip
_SCOPES = ("device", "work_group", "sub_group", "system")
_INTEGERS = ("int32", "uint32", "int64", "uint64")
_NUMBERS = (*_INTEGERS, "float32", "float64")


def _word(name: str, what: str, given: Type | None, otherwise: str, allowed: tuple[str, ...]) -> str:
    text = otherwise if given is None else given.value
    if text not in allowed:
        raise KernelTypeError(f"{name}: {what} is one of {', '.join(map(repr, allowed))}, a constant")
    return str(text)


def _checked(name: str, array: Type, index: Type, allowed: tuple[str, ...]) -> str:
    """The type of the elements."""
    if array.kind != "array":
        raise KernelTypeError(f"{name} takes an array and an index, not {array}")
    if array.name not in allowed:
        raise KernelTypeError(f"{name}: elements are {', '.join(allowed)}, not {array.name}")
    count = index.count if index.kind == "tuple" else 1
    if index.kind not in ("int", "tuple") or count != array.dimensions:
        raise KernelTypeError(
            f"{name}: the index of an array of {array.dimensions} dimensions has {array.dimensions} integers, as "
            f"{'(y, x)' if array.dimensions == 2 else 'a tuple' if array.dimensions > 2 else 'i'}"
        )
    return array.name


def _operation(name: str, operation: str, allowed: tuple[str, ...]) -> Callable[..., Lower]:
    def rule(
        launch: LaunchFacts, array: Type, index: Type, value: Type, order: Type | None = None, scope: Type | None = None
    ) -> Lower:
        kind = _checked(name, array, index, allowed)
        if not value.is_number:
            raise KernelTypeError(f"{name} takes a number, not {value}")
        options = {
            "operation": operation,
            "order": _ORDERS[_word(name, "order", order, "relaxed", tuple(_ORDERS))],
            "scope": _word(name, "scope", scope, "device", _SCOPES),
            "language": launch.language,
        }
        return Lower(OPENCL_TYPES[kind], "atomic_operations:modify", (array, index, value), options)

    return rule


def _compare_exchange(
    launch: LaunchFacts,
    array: Type,
    index: Type,
    expected: Type,
    desired: Type,
    order: Type | None = None,
    scope: Type | None = None,
) -> Lower:
    name = "atomic_compare_exchange"
    kind = _checked(name, array, index, _NUMBERS)
    options = {
        "order": _ORDERS[_word(name, "order", order, "relaxed", tuple(_ORDERS))],
        "scope": _word(name, "scope", scope, "device", _SCOPES),
        "language": launch.language,
    }
    return Lower(OPENCL_TYPES[kind], "atomic_operations:compare_exchange", (array, index, expected, desired), options)


def _load(launch: LaunchFacts, array: Type, index: Type, order: Type | None = None, scope: Type | None = None) -> Lower:
    name = "atomic_load"
    kind = _checked(name, array, index, _INTEGERS)
    options = {
        "operation": "or",
        "order": _ORDERS[_word(name, "order", order, "relaxed", tuple(_ORDERS))],
        "scope": _word(name, "scope", scope, "device", _SCOPES),
        "language": launch.language,
    }
    return Lower(OPENCL_TYPES[kind], "atomic_operations:modify", (array, index, 0), options)


def _change(array: Any, index: Index, function: Callable[[Any], Number]) -> Any:
    old = array[index]
    array[index] = function(old)
    return old


@device_intrinsic(_operation("atomic_add", "add", _NUMBERS))
def atomic_add(array: Elements, index: Index, value: Number, order: str = "relaxed", scope: str = "device") -> Any:
    """Add a value to an element. One instruction in the cache of the GPU; neighbours that hit one element wait in turn.

    Parameters
    ----------
    array : array of int32, uint32, int64, uint64, float32 or float64
        In global or local memory.
    index : int or tuple of int
        Of the element.
    value : number
        Converted to the array's type.
    order : str
        ``"relaxed"``, ``"acquire"``, ``"release"``, ``"acq_rel"`` or ``"seq_cst"``, a constant.
    scope : str
        The work-items that see this order: ``"device"``, ``"work_group"``, ``"sub_group"`` or ``"system"``, a constant.

    Returns
    -------
    number
        The element before.
    """
    return _change(array, index, lambda old: old + value)


@device_intrinsic(_operation("atomic_sub", "sub", _NUMBERS))
def atomic_sub(array: Elements, index: Index, value: Number, order: str = "relaxed", scope: str = "device") -> Any:
    """Subtract a value from an element; costs as ``atomic_add``.

    Parameters
    ----------
    array : array of int32, uint32, int64, uint64, float32 or float64
        In global or local memory.
    index : int or tuple of int
        Of the element.
    value : number
        Converted to the array's type.
    order : str
        ``"relaxed"``, ``"acquire"``, ``"release"``, ``"acq_rel"`` or ``"seq_cst"``, a constant.
    scope : str
        The work-items that see this order: ``"device"``, ``"work_group"``, ``"sub_group"`` or ``"system"``, a constant.

    Returns
    -------
    number
        The element before.
    """
    return _change(array, index, lambda old: old - value)


@device_intrinsic(_operation("atomic_min", "min", _NUMBERS))
def atomic_min(array: Elements, index: Index, value: Number, order: str = "relaxed", scope: str = "device") -> Any:
    """Replace an element by the smaller of it and a value; floats cost a loop of ``atomic_compare_exchange`` on CUDA.

    Parameters
    ----------
    array : array of int32, uint32, int64, uint64, float32 or float64
        In global or local memory.
    index : int or tuple of int
        Of the element.
    value : number
        Converted to the array's type.
    order : str
        ``"relaxed"``, ``"acquire"``, ``"release"``, ``"acq_rel"`` or ``"seq_cst"``, a constant.
    scope : str
        The work-items that see this order: ``"device"``, ``"work_group"``, ``"sub_group"`` or ``"system"``, a constant.

    Returns
    -------
    number
        The element before.
    """
    return _change(array, index, lambda old: min(old, value))


@device_intrinsic(_operation("atomic_max", "max", _NUMBERS))
def atomic_max(array: Elements, index: Index, value: Number, order: str = "relaxed", scope: str = "device") -> Any:
    """Replace an element by the larger of it and a value; floats cost a loop of ``atomic_compare_exchange`` on CUDA.

    Parameters
    ----------
    array : array of int32, uint32, int64, uint64, float32 or float64
        In global or local memory.
    index : int or tuple of int
        Of the element.
    value : number
        Converted to the array's type.
    order : str
        ``"relaxed"``, ``"acquire"``, ``"release"``, ``"acq_rel"`` or ``"seq_cst"``, a constant.
    scope : str
        The work-items that see this order: ``"device"``, ``"work_group"``, ``"sub_group"`` or ``"system"``, a constant.

    Returns
    -------
    number
        The element before.
    """
    return _change(array, index, lambda old: max(old, value))


@device_intrinsic(_operation("atomic_and", "and", _INTEGERS))
def atomic_and(array: Elements, index: Index, value: Number, order: str = "relaxed", scope: str = "device") -> Any:
    """Keep the bits of an element that a value has; costs as ``atomic_add``.

    Parameters
    ----------
    array : array of int32, uint32, int64 or uint64
        In global or local memory.
    index : int or tuple of int
        Of the element.
    value : number
        Converted to the array's type.
    order : str
        ``"relaxed"``, ``"acquire"``, ``"release"``, ``"acq_rel"`` or ``"seq_cst"``, a constant.
    scope : str
        The work-items that see this order: ``"device"``, ``"work_group"``, ``"sub_group"`` or ``"system"``, a constant.

    Returns
    -------
    number
        The element before.
    """
    return _change(array, index, lambda old: old & value)


@device_intrinsic(_operation("atomic_or", "or", _INTEGERS))
def atomic_or(array: Elements, index: Index, value: Number, order: str = "relaxed", scope: str = "device") -> Any:
    """Set the bits of a value in an element; costs as ``atomic_add``.

    Parameters
    ----------
    array : array of int32, uint32, int64 or uint64
        In global or local memory.
    index : int or tuple of int
        Of the element.
    value : number
        Converted to the array's type.
    order : str
        ``"relaxed"``, ``"acquire"``, ``"release"``, ``"acq_rel"`` or ``"seq_cst"``, a constant.
    scope : str
        The work-items that see this order: ``"device"``, ``"work_group"``, ``"sub_group"`` or ``"system"``, a constant.

    Returns
    -------
    number
        The element before.
    """
    return _change(array, index, lambda old: old | value)


@device_intrinsic(_operation("atomic_xor", "xor", _INTEGERS))
def atomic_xor(array: Elements, index: Index, value: Number, order: str = "relaxed", scope: str = "device") -> Any:
    """Invert the bits of a value in an element; costs as ``atomic_add``.

    Parameters
    ----------
    array : array of int32, uint32, int64 or uint64
        In global or local memory.
    index : int or tuple of int
        Of the element.
    value : number
        Converted to the array's type.
    order : str
        ``"relaxed"``, ``"acquire"``, ``"release"``, ``"acq_rel"`` or ``"seq_cst"``, a constant.
    scope : str
        The work-items that see this order: ``"device"``, ``"work_group"``, ``"sub_group"`` or ``"system"``, a constant.

    Returns
    -------
    number
        The element before.
    """
    return _change(array, index, lambda old: old ^ value)


@device_intrinsic(_operation("atomic_exchange", "xchg", _NUMBERS))
def atomic_exchange(array: Elements, index: Index, value: Number, order: str = "relaxed", scope: str = "device") -> Any:
    """Replace an element by a value; costs as ``atomic_add``.

    Parameters
    ----------
    array : array of int32, uint32, int64, uint64, float32 or float64
        In global or local memory.
    index : int or tuple of int
        Of the element.
    value : number
        Converted to the array's type.
    order : str
        ``"relaxed"``, ``"acquire"``, ``"release"``, ``"acq_rel"`` or ``"seq_cst"``, a constant.
    scope : str
        The work-items that see this order: ``"device"``, ``"work_group"``, ``"sub_group"`` or ``"system"``, a constant.

    Returns
    -------
    number
        The element before.
    """
    return _change(array, index, lambda old: value)


@device_intrinsic(_operation("atomic_store", "xchg", _NUMBERS))
def atomic_store(array: Elements, index: Index, value: Number, order: str = "relaxed", scope: str = "device") -> Any:
    """Store a value in an element at once, as ``atomic_exchange``.

    Parameters
    ----------
    array : array of int32, uint32, int64, uint64, float32 or float64
        In global or local memory.
    index : int or tuple of int
        Of the element.
    value : number
        Converted to the array's type.
    order : str
        ``"relaxed"``, ``"acquire"``, ``"release"``, ``"acq_rel"`` or ``"seq_cst"``, a constant.
    scope : str
        The work-items that see this order: ``"device"``, ``"work_group"``, ``"sub_group"`` or ``"system"``, a constant.

    Returns
    -------
    number
        The element before.
    """
    return _change(array, index, lambda old: value)


@device_intrinsic(_load)
def atomic_load(array: Elements, index: Index, order: str = "relaxed", scope: str = "device") -> Any:
    """Load an element that other work-items change; costs as ``atomic_add``.

    Parameters
    ----------
    array : array of int32, uint32, int64 or uint64
        In global or local memory.
    index : int or tuple of int
        Of the element.
    order : str
        ``"relaxed"``, ``"acquire"``, ``"release"``, ``"acq_rel"`` or ``"seq_cst"``, a constant.
    scope : str
        The work-items that see this order: ``"device"``, ``"work_group"``, ``"sub_group"`` or ``"system"``, a constant.

    Returns
    -------
    number
        The element.
    """
    return array[index]


@device_intrinsic(_compare_exchange)
def atomic_compare_exchange(
    array: Elements, index: Index, expected: Number, desired: Number, order: str = "relaxed", scope: str = "device"
) -> Any:
    """Replace an element that has an expected value by another one; costs as ``atomic_add``.

    Parameters
    ----------
    array : array of int32, uint32, int64, uint64, float32 or float64
        In global or local memory.
    index : int or tuple of int
        Of the element.
    expected, desired : number
        Converted to the array's type.
    order : str
        ``"relaxed"``, ``"acquire"``, ``"release"``, ``"acq_rel"`` or ``"seq_cst"``, a constant.
    scope : str
        The work-items that see this order: ``"device"``, ``"work_group"``, ``"sub_group"`` or ``"system"``, a constant.

    Returns
    -------
    number
        The element before: it was replaced if this is the expected value, bit for bit.
    """
    return _change(array, index, lambda old: desired if old == expected else old)
