"""Arrays and dtypes from a caller, as numpy sees them.

``as_array`` and ``as_dtype`` convert arguments; ``plain`` gives the memory behind a subclass of ``numpy.ndarray``.
"""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from .arrays import Array, DType
from .errors import InvalidError, MemoryAllocationError
from .message_values import shown

__all__ = ["as_array", "as_dtype", "plain"]

_Element = TypeVar("_Element", bound=np.generic)


def plain(array: np.ndarray[Any, np.dtype[_Element]]) -> np.ndarray[Any, np.dtype[_Element]]:
    """The array itself, or of a subclass the memory as a ``numpy.ndarray``.

    A subclass may override ``shape``, ``flags`` or ``__array_interface__``; memory is read and written by what numpy
    itself knows of the array.
    """
    return array if type(array) is np.ndarray else np.ndarray.view(array, np.ndarray)


def as_array(name: str, value: npt.ArrayLike) -> Array:
    """``numpy.asarray(value)`` of an argument.

    Exceptions that are not numpy's way of refusing, such as those of an object's own ``__array__``, pass through.

    Raises
    ------
    InvalidError
        numpy makes no array of it.
    MemoryAllocationError
        There is no room for the array.
    """
    try:
        return np.asarray(value)
    except (TypeError, ValueError, OverflowError) as error:
        raise InvalidError(f"{name}={shown(value)}: numpy makes no array of it ({error})") from error
    except MemoryError as error:
        raise MemoryAllocationError(f"{name}={shown(value)}: there is no room for its array ({error})") from error


def as_dtype(name: str, value: npt.DTypeLike) -> DType:
    """``numpy.dtype(value)`` of an argument.

    Raises
    ------
    InvalidError
        numpy has no such dtype.
    """
    try:
        return np.dtype(value)
    except (TypeError, ValueError, SyntaxError, OverflowError) as error:  # numpy parses texts as Python
        raise InvalidError(f"{name}={shown(value)} is no dtype of numpy") from error
