"""Arguments of kernels in the order of their parameters: packed for a driver, or as numpy scalars for a launch."""

from __future__ import annotations

import functools
import struct
from collections.abc import Mapping
from typing import Any

import numpy as np

from .manifest import parameters_of

__all__ = ["layout_of", "typed_arguments"]

# Letters of ``struct`` for OpenCL C types; pointers and handles take 8 bytes.
_LETTERS = {"uint": "I", "float": "f", "double": "d"}
_NUMBERS = {"double": np.float64, "float": np.float32, "int": np.int32, "uint": np.uint32, "long": np.int64}


@functools.cache
def layout_of(kernel_name: str) -> tuple[tuple[str, ...], struct.Struct, tuple[int, ...]]:
    """Names, layout and sizes of the parameters of a kernel."""
    parameters = parameters_of(kernel_name)
    letters = "".join(_LETTERS.get(parameter.type, "Q") for parameter in parameters)
    names = tuple(parameter.name for parameter in parameters)
    return names, struct.Struct("=" + letters), tuple(struct.calcsize("=" + letter) for letter in letters)


def typed_arguments(kernel_name: str, values: Mapping[str, Any]) -> list[Any]:
    """Values by the names of parameters, in their order; numbers have the types of the parameters."""
    arguments = []
    for type_, name in parameters_of(kernel_name):
        value = values[name]
        arguments.append(_NUMBERS[type_](value) if type_ in _NUMBERS else value)
    return arguments
