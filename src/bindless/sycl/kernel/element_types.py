"""Check of an array's dtype against the pointed-to type of a kernel parameter.

The source's type decides, where it is known: ``float*`` takes float32, and so does ``float4*``. Integers of one size
are one kind whatever their sign, as for arguments passed by value, and complex numbers are pairs of floats. A pointer
to ``void`` or to bytes takes all elements, and so does one to a structure or another type that the source alone knows.
Structured dtypes and raw bytes fit every pointer.
"""

from __future__ import annotations

from ...backends.contract import KernelArgument
from ...model.arrays import DType
from .struct_arguments import Unfit, element_of_type

__all__ = ["is_typed", "require_elements"]

_BYTES = frozenset("?bB")
_KINDS = {"b": "i", "i": "i", "u": "i", "m": "i", "M": "i", "f": "f"}

# Of types that were looked at: the dtype that they point to, None where everything fits.
_pointed: dict[str, DType | None] = {}
# Pairs of a type and a dtype that fit.
_fitting: set[tuple[str, DType]] = set()
_MOST = 1024


def _pointed_to(type_: str) -> DType | None:
    try:
        return _pointed[type_]
    except KeyError:
        dtype = element_of_type(type_[:-1].strip()) if type_.endswith("*") else None
        if dtype is not None and dtype.char in _BYTES and dtype.itemsize == 1 and dtype.kind != "b":
            dtype = None
        if len(_pointed) >= _MOST:
            _pointed.clear()
        _pointed[type_] = dtype
        return dtype


def is_typed(parameter: KernelArgument) -> bool:
    """Whether the parameter is a pointer to numbers of a known type."""
    return bool(parameter.type) and _pointed_to(parameter.type) is not None


def require_elements(dtype: DType, parameter: KernelArgument) -> None:
    """Refuses memory of other elements than the parameter's.

    Raises
    ------
    Unfit
        Another kind or size of number, or another byte order.
    """
    key = parameter.type, dtype
    if key in _fitting:
        return
    element = _pointed_to(parameter.type)
    if element is not None and not _fits(dtype, element):
        raise Unfit(
            f"its elements are {dtype}, the kernel's {element}: pass array.view('{element}') to have the kernel read "
            "the same bytes, or an array of that dtype"
        )
    if len(_fitting) >= _MOST:
        _fitting.clear()
    _fitting.add(key)


def _fits(dtype: DType, element: DType) -> bool:
    if dtype.kind == "c":
        return element.kind == "f" and dtype.itemsize == 2 * element.itemsize and dtype.isnative
    kind = _KINDS.get(dtype.kind)
    if kind is None:  # structures and raw bytes
        return True
    return kind == _KINDS[element.kind] and dtype.itemsize == element.itemsize and dtype.isnative
