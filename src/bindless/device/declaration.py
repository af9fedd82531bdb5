"""Declaration of the functions that kernels call: a Python function that interprets the call, and a compile rule.

The rule receives the facts of the launch and the type of each parameter, and returns how the call is compiled: as a
call of a function (``Call``), or by a lowering of its own (``Lower``).
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

__all__ = [
    "Call", "KernelTypeError", "LaunchFacts", "Lower", "Type", "composed", "device_intrinsic", "interpretation",
    "is_composed", "mangled", "rule_of",
]  # fmt: skip

_Function = TypeVar("_Function", bound=Callable[..., Any])
_RULE = "__bindless_rule__"
_COMPOSED = "__bindless_composed__"
_LETTERS = {
    "bool": "b", "char": "c", "uchar": "h", "short": "s", "ushort": "t", "int": "i", "uint": "j", "long": "l",
    "ulong": "m", "half": "Dh", "float": "f", "double": "d", "size_t": "m",
}  # fmt: skip


class KernelTypeError(Exception):
    """A call that no device can execute; the compiler adds the place in the source."""


@dataclass(frozen=True)
class LaunchFacts:
    """Facts of a launch that kernels are compiled for.

    Attributes
    ----------
    dimensions
        Of the range, 1 to 3.
    language
        ``spirv`` or ``ptx``.
    default_float
        Type of Python's floats: ``float32`` or ``float64``.
    lines
        Whether errors of the device name lines of the source.
    contract
        Whether a product and a sum may become one operation.
    image_arguments
        Whether images are arguments of kernels only, because the device has no handles that are numbers.
    checks_indices
        Whether an index outside of its axis is a fault, because the device is the reference driver.
    """

    dimensions: int = 1
    language: str = "spirv"
    default_float: str = "float32"
    lines: bool = False
    contract: bool = False
    image_arguments: bool = False
    checks_indices: bool = False


@dataclass(frozen=True)
class Type:
    """Type of an argument.

    Attributes
    ----------
    kind
        ``bool``, ``int``, ``float``, ``image``, ``vector``, ``array``, ``tuple``, ``text``, ``none``, ``dtype`` or
        ``other``.
    name
        numpy's name of the number, or of the elements: ``float32``; ``sampled`` or ``unsampled`` for a handle, empty
        for an ``Image``, which has both.
    count
        Components of a vector, elements of a tuple.
    dimensions
        Of an array.
    elements
        Of a tuple.
    value
        Of a constant in the source, else None.
    native
        Numba's type.
    place
        Number of the argument, by which the compiler knows it again.
    """

    kind: str
    name: str = ""
    count: int = 1
    dimensions: int = 0
    elements: tuple[Type, ...] = ()
    value: Any = None
    native: object = None
    place: int = -1

    @property
    def is_number(self) -> bool:
        """Whether it is a bool, an integer or a float."""
        return self.kind in ("bool", "int", "float")

    def __str__(self) -> str:
        if self.kind == "vector":
            return f"{self.name} vector of {self.count}"
        if self.kind == "array":
            return f"an array of {self.name} with {self.dimensions} dimensions"
        if self.kind == "image":
            return f"{self.name} image handle" if self.name else "Image"
        return self.name or self.kind


@dataclass(frozen=True)
class Call:
    """A call of one function, in types of OpenCL C.

    Attributes
    ----------
    result
        Type of the result, such as ``float4``, which becomes a vector; ``void`` gives None.
    symbol
        Name in LLVM IR: a primitive of the preludes, ``mangled(...)`` of a function of OpenCL C, or a function of
        ``source``.
    parameters
        Types of the parameters, to which the arguments are converted. ``sampled_image_handle`` and
        ``unsampled_image_handle`` take an image.
    arguments
        Types of the arguments: those that the rule received, in any order; Python numbers are constants.
    source
        OpenCL C that defines the function, after ``#include <bindless/device.h>``.
    of_group
        Whether the work-items of a group execute it together: the launch has work-groups, an ``NdRange``.
    """

    result: str
    symbol: str
    parameters: Sequence[str] = ()
    arguments: Sequence[Type | float] = ()
    source: str = ""
    of_group: bool = False


@dataclass(frozen=True)
class Lower:
    """A lowering of its own.

    Attributes
    ----------
    result
        Type of the result in OpenCL C, or the ``Type`` of an array, in C order.
    function
        ``module:function`` in ``bindless.python_kernels.worker``; called with Numba's lowering context, the builder,
        the result type, the Numba types and LLVM values of the arguments, and ``options``.
    arguments
        As for ``Call``.
    options
        Further facts for the function.
    of_group
        As for ``Call``.
    """

    result: str | Type
    function: str
    arguments: Sequence[Type | float] = ()
    options: object = None
    of_group: bool = False


def device_intrinsic(rule: Callable[..., Call | Lower]) -> Callable[[_Function], _Function]:
    """Declare a function of kernels.

    Parameters
    ----------
    rule
        Called with a ``LaunchFacts`` and then as the function is called, with a ``Type`` for each argument; raises
        ``KernelTypeError`` for types that it does not take.
    """

    def declare(function: _Function) -> _Function:
        setattr(function, _RULE, rule)
        return function

    return declare


def interpretation(module: str, name: str) -> Callable[..., Any]:
    """Return a function of this package that interprets calls; its module is imported at the first call.

    Parameters
    ----------
    module, name
        Where it is. The compiler's process declares all functions and interprets none.
    """

    def interpret(*arguments: Any, **named: Any) -> Any:
        return getattr(importlib.import_module(f"{__package__}.{module}"), name)(*arguments, **named)

    return interpret


def rule_of(value: object) -> Callable[..., Call | Lower] | None:
    """Return the rule of a function of kernels; None for other values."""
    return getattr(value, _RULE, None) if callable(value) else None


def composed(function: _Function) -> _Function:
    """Declare a function of kernels that is written in the language of kernels, and compiled for each call's types."""
    setattr(function, _COMPOSED, True)
    return function


def is_composed(value: object) -> bool:
    """Whether a value is a function of kernels that ``composed`` declares."""
    return callable(value) and getattr(value, _COMPOSED, False) is True


def mangled(name: str, *types: str) -> str:
    """Return the name of an OpenCL C function in LLVM IR.

    Parameters
    ----------
    types
        Its parameters: numbers (``float``), vectors (``float4``) and pointers (``global int*``).
    """
    return f"_Z{len(name)}{name}{_mangled_types(types)}"


def _mangled_types(types: Sequence[str]) -> str:
    if not types:
        return "v"
    text, names = "", list[str]()
    for type_ in types:
        plain = type_.strip()
        space = {"global": "PU3AS1", "constant": "PU3AS2", "local": "PU3AS3", "generic": "PU3AS4"}.get(
            plain.split()[0], "P"
        )
        base = plain.rstrip("* ").split()[-1]
        digits = base[len(base.rstrip("0123456789")) :] if base not in _LETTERS else ""
        letter = _LETTERS[base[: len(base) - len(digits)]]
        one = f"Dv{digits}_{letter}" if digits else letter
        if plain.endswith("*"):
            one = space + one
        if len(one) > 1 and one != "Dh":
            if one in names:
                number = names.index(one)
                one = "S_" if number == 0 else f"S{number - 1}_"
            else:
                names.append(one)
        text += one
    return text
