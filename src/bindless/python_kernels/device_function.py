"""``device_function``: functions that kernels call."""

from __future__ import annotations

import sys
import types
from collections.abc import Callable
from typing import Any

from ..model.errors import InvalidError
from ..model.message_values import shown

__all__ = ["DeviceFunction", "OfFunction", "device_function", "plain_function"]


class OfFunction:
    """Result of a decorator of a Python function, with the function's names.

    It is pickled as functions are: as the name by which its module has it. Otherwise its function is pickled, which is
    then the one that the module has, or one that ``cloudpickle`` pickles.
    """

    __slots__ = ()

    _kernel_function: Any  # a function, which mypy takes for a method
    __name__: str

    def __init__(self, _function: types.FunctionType) -> None:
        names = ("__name__", "__qualname__", "__module__", "__doc__")
        parts = {"_kernel_function": _function, "__wrapped__": _function}
        for name, part in (parts | {name: getattr(_function, name) for name in names}).items():
            setattr(self, name, part)

    def _options(self) -> tuple[object, ...]:
        """The arguments after the function, of which the class makes another one."""
        return ()

    def __reduce__(self) -> str | tuple[object, ...]:
        place: object = sys.modules.get(self.__module__)
        path: str = self._kernel_function.__qualname__
        for name in path.split("."):
            place = getattr(place, name, None)
        if place is self:
            return path
        return type(self), (self._kernel_function, *self._options())


class DeviceFunction(OfFunction):
    """A function for kernels; called from Python, it is the function itself."""

    __slots__ = ("__dict__", "_kernel_function")

    def __call__(self, *arguments: object, **named: object) -> Any:
        return self._kernel_function(*arguments, **named)

    def __repr__(self) -> str:
        return f"<DeviceFunction {self.__name__!r}>"


def device_function(function: Callable[..., object]) -> DeviceFunction:
    """Make a function callable from kernels in Python.

    The compiler compiles it with the kernel, for the types of each call, and inlines it. It may call other device
    functions, and not itself.

    Parameters
    ----------
    function
        A Python function.

    Returns
    -------
    DeviceFunction
        Callable from kernels, and from Python.

    Raises
    ------
    InvalidError
        It is no Python function.

    Examples
    --------
    >>> @bindless.device_function
    ... def square(x):
    ...     return x * x
    """
    return DeviceFunction(plain_function(function, "device_function"))


def plain_function(function: object, word: str) -> types.FunctionType:
    """Return a function that the compiler can take.

    Raises
    ------
    InvalidError
        It is a builtin, a class, a generator or a coroutine, or takes keyword-only or variable arguments.
    """
    if not isinstance(function, types.FunctionType):
        raise InvalidError(f"{word}: {shown(function)} is no Python function: write @bindless.{word} above a def")
    code = function.__code__
    if code.co_flags & 0x2A0:  # generators, coroutines, asynchronous generators
        raise InvalidError(f"{word}: {function.__name__} is a generator or a coroutine, which no device runs")
    if word == "kernel" and (code.co_kwonlyargcount or code.co_flags & 0xC):
        raise InvalidError(f"kernel: {function.__name__} has *arguments, **arguments or keyword-only parameters")
    return function
