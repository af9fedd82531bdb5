"""Functions of kernels, made again in the compiler's process from their plain data."""

from __future__ import annotations

import builtins
import collections
import importlib
import marshal
import types
from collections.abc import Callable
from typing import Any

from ..function_source import Constant, FunctionSource, ModuleNames, Named, TupleOfConstants

__all__ = ["rebuild"]

_MODULE = "bindless.python_kernels.worker"  # in place of the user's, which Numba would import


def rebuild(source: FunctionSource, language: str) -> Callable[..., Any]:
    """Return the function of a kernel, whose globals are the names that it mentions."""
    return _Functions(language).function(source)


class _Functions:
    """The functions of one kernel, each made once.

    Parameters
    ----------
    language
        Of the target that compiles them.
    """

    def __init__(self, language: str) -> None:
        self._language = language
        self._made: dict[int, Any] = {}

    def function(self, source: FunctionSource) -> Callable[..., Any]:
        code = marshal.loads(source.code)
        names: dict[str, Any] = {"__builtins__": builtins, "__name__": _MODULE}
        cells = tuple(types.CellType() for _ in source.cells)
        defaults = tuple(map(self._value, source.defaults)) or None
        made = types.FunctionType(code, names, source.name, defaults, cells)
        made.__kwdefaults__ = {name: self._value(value) for name, value in source.keyword_defaults.items()} or None
        made.__qualname__, made.__module__ = source.qualified_name, _MODULE
        for name, value in source.names.items():
            found = self._value(value)
            if name in source.cells:
                cells[source.cells.index(name)].cell_contents = found
            else:
                names[name] = found
        return made

    def _value(self, value: Any) -> Any:
        if isinstance(value, Constant):
            return value.value
        if isinstance(value, TupleOfConstants):
            parts = tuple(map(self._value, value.parts))
            return collections.namedtuple(value.name, value.fields)(*parts) if value.fields else parts
        if isinstance(value, Named):
            found = importlib.import_module(value.module)
            for part in value.attribute.split(".") if value.attribute else ():
                found = getattr(found, part)
            return found
        if isinstance(value, ModuleNames):
            module = types.ModuleType(value.module)
            vars(module).update({name: self._value(part) for name, part in value.names.items()})
            return module
        if isinstance(value, FunctionSource):
            if id(value) not in self._made:
                self._made[id(value)] = self._helper(value)
            return self._made[id(value)]
        return value  # unknown: an error where it is used

    def _helper(self, source: FunctionSource) -> Any:
        from .compile import target_of
        from .dispatcher import DeviceDispatcher

        return DeviceDispatcher(self.function(source), target_of(self._language))
