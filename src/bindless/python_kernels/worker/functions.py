"""Functions of kernels, made again in the compiler's process from their plain data."""

from __future__ import annotations

import builtins
import collections
import importlib
import marshal
import types
from typing import TYPE_CHECKING, Any

from ..function_source import Constant, FunctionSource, ModuleNames, Named, TupleOfConstants

if TYPE_CHECKING:
    from .dispatcher import DeviceDispatcher

__all__ = ["rebuild"]

_MODULE = "bindless.python_kernels.worker"  # in place of the user's, which Numba would import


def rebuild(source: FunctionSource, language: str) -> types.FunctionType:
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
        self._helpers: dict[int, DeviceDispatcher] = {}

    def function(self, source: FunctionSource) -> types.FunctionType:
        code = marshal.loads(source.code)
        names: dict[str, object] = {"__builtins__": builtins, "__name__": _MODULE}
        cells = tuple(types.CellType() for _ in source.cells)
        defaults = tuple(map(self._value, source.defaults)) or None
        function = types.FunctionType(code, names, source.name, defaults, cells)
        function.__kwdefaults__ = {name: self._value(value) for name, value in source.keyword_defaults.items()} or None
        function.__qualname__, function.__module__ = source.qualified_name, _MODULE
        for name, value in source.names.items():
            part = self._value(value)
            if name in source.cells:
                cells[source.cells.index(name)].cell_contents = part
            else:
                names[name] = part
        return function

    def _value(self, value: object) -> object:
        if isinstance(value, Constant):
            return value.value
        if isinstance(value, TupleOfConstants):
            parts: tuple[Any, ...] = tuple(map(self._value, value.parts))
            return collections.namedtuple(value.name, value.fields)(*parts) if value.fields else parts
        if isinstance(value, Named):
            item = importlib.import_module(value.module)
            for part in value.attribute.split(".") if value.attribute else ():
                item = getattr(item, part)
            return item
        if isinstance(value, ModuleNames):
            module = types.ModuleType(value.module)
            vars(module).update({name: self._value(part) for name, part in value.names.items()})
            return module
        if isinstance(value, FunctionSource):
            if id(value) not in self._helpers:
                self._helpers[id(value)] = self._helper(value)
            return self._helpers[id(value)]
        return value  # unknown: an error where it is used

    def _helper(self, source: FunctionSource) -> DeviceDispatcher:
        from .compile import target_of
        from .dispatcher import DeviceDispatcher

        return DeviceDispatcher(self.function(source), target_of(self._language))
