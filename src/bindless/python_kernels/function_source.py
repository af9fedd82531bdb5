"""The function of a kernel as plain data for the compiler's process: its code, and what its names stand for."""

from __future__ import annotations

import hashlib
import marshal
import types
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..device.declaration import rule_of

__all__ = ["Constant", "FunctionSource", "ModuleNames", "Named", "Unknown", "digest_of", "source_of"]

_LIBRARIES = ("builtins", "math", "cmath", "numpy", "operator", "bindless")
_PLAIN = (int, float, complex, bool, str, bytes, type(None), np.generic, np.dtype)


@dataclass(frozen=True)
class Constant:
    """A constant among the names of a function: a number, a text, a tuple or a numpy array."""

    value: Any


@dataclass(frozen=True)
class Named:
    """An object that the other process imports: a module, or an attribute of one."""

    module: str
    attribute: str = ""


@dataclass(frozen=True)
class ModuleNames:
    """A module of the user: of its attributes, those that the code mentions."""

    module: str
    names: dict[str, Any]


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
    names: dict[str, Any]
    defaults: tuple[Any, ...]
    cells: tuple[str, ...]
    keyword_defaults: dict[str, Any]


def source_of(function: types.FunctionType, seen: dict[int, Any] | None = None) -> FunctionSource:
    """Return a function's source, with those of the functions that it calls."""
    seen = {} if seen is None else seen
    names: dict[str, Any] = {}
    mentioned = sorted(_names(function.__code__))
    for name in mentioned:
        if name in function.__globals__:
            names[name] = _portable(function.__globals__[name], seen, mentioned)
    cells = function.__closure__ or ()
    for name, cell in zip(function.__code__.co_freevars, cells):
        try:
            names[name] = _portable(cell.cell_contents, seen)
        except ValueError:  # the variable has no value yet
            names[name] = Unknown("a variable without a value")
    defaults = tuple(_portable(value, seen) for value in function.__defaults__ or ())
    keyword_defaults = {name: _portable(value, seen) for name, value in (function.__kwdefaults__ or {}).items()}
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
    found = set(code.co_names)
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            found |= _names(constant)
    return found


def _portable(value: Any, seen: dict[int, Any], mentioned: Sequence[str] = ()) -> Any:
    if isinstance(value, types.ModuleType):
        if value.__name__.partition(".")[0] in _LIBRARIES:
            return Named(value.__name__)
        names = {name: _portable(vars(value)[name], seen) for name in mentioned if name in vars(value)}
        return ModuleNames(value.__name__, names)
    function = getattr(value, "_kernel_function", None)
    if isinstance(function, types.FunctionType):  # a helper, or another kernel
        if id(function) not in seen:
            seen[id(function)] = None  # while its own names are looked at
            seen[id(function)] = source_of(function, seen)
        made = seen[id(function)]
        return (
            made
            if made is not None
            else Unknown("a function that calls itself: devices have no stack for recursion; use a loop")
        )
    if isinstance(value, np.ndarray):
        if value.dtype.hasobject:
            return Unknown("a numpy array of Python objects")
        return Constant(np.ascontiguousarray(value))
    if isinstance(value, _PLAIN):
        return Constant(value)
    if isinstance(value, tuple):
        parts = tuple(_portable(part, seen) for part in value)
        return Constant(value) if all(isinstance(part, Constant) for part in parts) else Unknown("a tuple of objects")
    module, name = getattr(value, "__module__", None), getattr(value, "__qualname__", None)
    if isinstance(value, np.ufunc):
        module, name = "numpy", value.__name__
    if isinstance(module, str) and isinstance(name, str) and "<" not in name and _is_library(value, module):
        return Named(module, name)
    kind = type(value).__name__
    if isinstance(value, types.FunctionType):
        return Unknown("a function of Python; decorate it with @bindless.device_function")
    return Unknown(f"a {kind}")


def _is_library(value: Any, module: str) -> bool:
    """Whether it is a function of Python's or numpy's, a type, or one of this package's device functions."""
    root = module.partition(".")[0]
    return rule_of(value) is not None or root in _LIBRARIES


def digest_of(source: FunctionSource) -> bytes:
    """Return a hash that is equal for equal functions, in every process of one version of Python."""
    digest = hashlib.sha256()
    _feed(digest.update, source, set())
    return digest.digest()


def _feed(update: Callable[[bytes], None], value: Any, seen: set[int]) -> None:
    if isinstance(value, FunctionSource):
        update(f"function {value.name} {value.cells}\n".encode())
        if id(value) in seen:
            return
        seen.add(id(value))
        _feed_code(update, marshal.loads(value.code))
        for name, part in (*value.names.items(), *value.keyword_defaults.items()):
            update(f"name {name}\n".encode())
            _feed(update, part, seen)
        for part in value.defaults:
            _feed(update, part, seen)
    elif isinstance(value, ModuleNames):
        update(f"module {value.module}\n".encode())
        for name, part in value.names.items():
            update(f"name {name}\n".encode())
            _feed(update, part, seen)
    elif isinstance(value, Constant) and isinstance(value.value, np.ndarray):
        update(f"array {value.value.dtype!r} {value.value.shape}\n".encode())
        update(value.value.tobytes())
    elif isinstance(value, Constant):
        update(f"constant {type(value.value).__name__} {value.value!r}\n".encode())
    else:
        update(f"{value!r}\n".encode())


def _feed_code(update: Callable[[bytes], None], code: types.CodeType) -> None:
    """Feed what code does, and its lines, which errors name. marshal's bytes depend on the history of a process."""
    lines = b"".join(f"{first} {last} {line};".encode() for first, last, line in code.co_lines())
    words = (
        code.co_name, code.co_filename.replace("\\", "/").rpartition("/")[2], code.co_argcount,
        code.co_kwonlyargcount, code.co_flags, code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars,
    )  # fmt: skip
    update(repr(words).encode())
    update(code.co_code)
    update(lines)
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            _feed_code(update, constant)
        else:
            text = repr(sorted(map(repr, constant))) if isinstance(constant, frozenset) else repr(constant)
            update(f"{type(constant).__name__} {text}\n".encode())
