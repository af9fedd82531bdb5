"""Python names of rows, looked up in the package."""

from __future__ import annotations

import dataclasses
import importlib
import inspect
import re
from types import ModuleType

__all__ = ["resolve"]


def resolve(python: str, package: ModuleType) -> object:
    """The object that a row's Python name refers to.

    Raises
    ------
    LookupError
        The attribute does not exist, is inherited from ``object``, or a parameter is missing.
    """
    match = re.fullmatch(r"(\w+(?:\.\w+)*)(?:\((\w+=(?:, \w+=)*)\))?", python)
    if match is None:
        raise LookupError(f"{python!r} is no attribute path with parameters such as 'create_image(sampler=, pitch=)'")
    path, parameters = match.groups()
    value: object = package
    for name in path.split("."):
        value = _attribute(value, name)
    if parameters is not None:
        if not callable(value):
            raise LookupError(f"{python}: {path} cannot be called")
        has = inspect.signature(value).parameters
        missing = [name for name in parameters.rstrip("=").split("=, ") if name not in has]
        if missing:
            raise LookupError(f"{python}: {path} has no {', '.join(missing)}; it takes {', '.join(has)}")
    return value


def _attribute(owner: object, name: str) -> object:
    if isinstance(owner, ModuleType) and not hasattr(owner, name) and hasattr(owner, "__path__"):
        try:
            return importlib.import_module(f"{owner.__name__}.{name}")
        except ModuleNotFoundError:
            pass
    if dataclasses.is_dataclass(owner) and name in {field.name for field in dataclasses.fields(owner)}:
        return getattr(owner, name, None)  # a dataclass field without a default is not a class attribute
    if not hasattr(owner, name):
        raise LookupError(f"{owner!r} has no {name!r}")
    value: object = getattr(owner, name)
    if value is getattr(object, name, None):
        raise LookupError(f"{owner!r} has {name!r} from object only")
    return value
