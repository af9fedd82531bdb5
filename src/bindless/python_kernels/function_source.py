"""The function of a kernel as plain data for the compiler's process: its code, and what its names stand for."""

from __future__ import annotations

import marshal
import types
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias, Union

import numpy as np

from ..device.declaration import rule_of
from ..model.errors import InvalidError

__all__ = ["Constant", "FunctionSource", "ModuleNames", "Named", "TupleOfConstants", "Unknown", "source_of"]

_MOST_NESTED = 100
_LIBRARIES = ("builtins", "math", "cmath", "numpy", "operator", "bindless")
_PLAIN = (int, float, complex, bool, str, bytes, type(None), np.generic, np.dtype)


@dataclass(frozen=True)
class Constant:
    """A constant among the names of a function: a number, a text or a numpy array."""

    value: object


@dataclass(frozen=True)
class TupleOfConstants:
    """A tuple among the names of a function.

    Attributes
    ----------
    parts
        Its elements.
    name, fields
        Of a named tuple, whose class the other process makes.
    """

    parts: tuple[Portable, ...]
    name: str = ""
    fields: tuple[str, ...] = ()


@dataclass(frozen=True)
class Named:
    """An object that the other process imports: a module, or an attribute of one."""

    module: str
    attribute: str = ""


@dataclass(frozen=True)
class ModuleNames:
    """A module of the user: of its attributes, those that the code mentions."""

    module: str
    names: dict[str, Portable]


@dataclass(frozen=True)
class Unknown:
    """Another object, which a kernel cannot use."""

    description: str


@dataclass(frozen=True)
class FunctionSource:
    """A Python function.

    Attributes
    ----------
    name, module, qualified_name
        Of the function.
    code
        Its marshalled code.
    names
        Global names and variables of the enclosing function that its code mentions.
    defaults
        Of its parameters.
    cells
        Names of the enclosing function's variables.
    keyword_defaults
        Of its keyword-only parameters.
    """

    name: str
    module: str
    qualified_name: str
    code: bytes
    names: dict[str, Portable]
    defaults: tuple[Portable, ...]
    cells: tuple[str, ...]
    keyword_defaults: dict[str, Portable]


Portable: TypeAlias = Union[Constant, TupleOfConstants, Named, ModuleNames, Unknown, FunctionSource]
"""What a name of a kernel stands for."""


def source_of(
    function: types.FunctionType, sources: dict[int, FunctionSource | None] | None = None, depth: int = 0
) -> FunctionSource:
    """Return a function's source, with those of the functions that it calls.

    Parameters
    ----------
    sources
        Sources of functions that are known.
    depth
        Of this function among those that call each other.

    Raises
    ------
    InvalidError
        Functions or tuples are nested too deeply.
    """
    sources = {} if sources is None else sources
    names: dict[str, Portable] = {}
    mentioned = sorted(_names(function.__code__))
    for name in mentioned:
        if name in function.__globals__:
            names[name] = _portable(function.__globals__[name], sources, depth + 1, mentioned)
    cells = function.__closure__ or ()
    for name, cell in zip(function.__code__.co_freevars, cells):
        try:
            value = cell.cell_contents
        except ValueError:
            names[name] = Unknown("a variable without a value")
        else:
            names[name] = _portable(value, sources, depth + 1)
    defaults = tuple(_portable(value, sources, depth + 1) for value in function.__defaults__ or ())
    named_defaults = (function.__kwdefaults__ or {}).items()
    keyword_defaults = {name: _portable(value, sources, depth + 1) for name, value in named_defaults}
    code = marshal.dumps(function.__code__)
    return FunctionSource(
        function.__name__,
        function.__module__ or "",
        function.__qualname__,
        code,
        names,
        defaults,
        function.__code__.co_freevars,
        keyword_defaults,
    )


def _names(code: types.CodeType) -> set[str]:
    """Return the names that the code, and functions within it, may look up among the globals."""
    names = set(code.co_names)
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            names |= _names(constant)
    return names


def _portable(
    value: object, sources: dict[int, FunctionSource | None], depth: int, mentioned: Sequence[str] = ()
) -> Portable:
    if depth > _MOST_NESTED:
        raise InvalidError(
            f"tuples and functions of a kernel are nested at most {_MOST_NESTED} deep: use a flat tuple or an array"
        )
    if isinstance(value, types.ModuleType):
        if value.__name__.partition(".")[0] in _LIBRARIES:
            return Named(value.__name__)
        names = {name: _portable(vars(value)[name], sources, depth + 1) for name in mentioned if name in vars(value)}
        return ModuleNames(value.__name__, names)
    function = getattr(value, "_kernel_function", None)
    if isinstance(function, types.FunctionType):  # a helper, or another kernel
        if id(function) not in sources:
            sources[id(function)] = None  # while its own names are looked at
            sources[id(function)] = source_of(function, sources, depth)
        source = sources[id(function)]
        return (
            source
            if source is not None
            else Unknown("a function that calls itself: devices have no stack for recursion; use a loop")
        )
    if isinstance(value, np.ndarray):
        if value.dtype.hasobject:
            return Unknown("a numpy array of Python objects")
        return Constant(np.ascontiguousarray(value))
    if isinstance(value, _PLAIN):
        return Constant(_plain(value))
    if isinstance(value, tuple):
        parts = tuple(_portable(part, sources, depth + 1) for part in value)
        if not all(isinstance(part, (Constant, TupleOfConstants)) for part in parts):
            return Unknown("a tuple of objects")
        fields = getattr(value, "_fields", ())
        return TupleOfConstants(parts, type(value).__name__ if fields else "", tuple(fields))
    module, name = getattr(value, "__module__", None), getattr(value, "__qualname__", None)
    if isinstance(value, np.ufunc):
        module, name = "numpy", value.__name__
    if isinstance(module, str) and isinstance(name, str) and "<" not in name and _is_library(value, module):
        return Named(module, name)
    kind = type(value).__name__
    if isinstance(value, types.FunctionType):
        return Unknown("a function of Python; decorate it with @bindless.device_function")
    return Unknown(f"a {kind}")


def _plain(value: object) -> object:
    """Return a number or a text of a class of the user's, such as an ``IntEnum``, as Python's own."""
    if isinstance(value, (bool, np.generic)):
        return value
    if isinstance(value, int):
        return int.__index__(value)
    if isinstance(value, float):
        return float.__float__(value)
    if isinstance(value, complex):
        return complex(value.real, value.imag)
    if isinstance(value, str):
        return str.__str__(value)
    return bytes(memoryview(value)) if isinstance(value, bytes) else value


def _is_library(value: object, module: str) -> bool:
    """Whether it is a function of Python's or numpy's, a type, or one of this package's device functions."""
    root = module.partition(".")[0]
    return rule_of(value) is not None or root in _LIBRARIES
