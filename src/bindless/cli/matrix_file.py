"""``matrix_in``: a matrix from a file of text, JSON or numpy."""

from __future__ import annotations

import io
import json
import os
from typing import Any

import numpy as np

from ..model.arrays import Array
from ..model.errors import InvalidError

__all__ = ["matrix_in"]

_MOST_BYTES = 1 << 20


def matrix_in(path: str) -> Array:
    """The matrix.

    Parameters
    ----------
    path : str
        Ends in ``.npy`` or ``.json``, or is text: rows of numbers with spaces or commas. May be a pipe.

    Raises
    ------
    InvalidError
        The file holds none.
    OSError
        It cannot be read.
    """
    try:
        data = _contents(path)
        if path.endswith(".npy"):
            matrix: Any = np.lib.format.read_array(io.BytesIO(data), allow_pickle=False)
        elif path.endswith(".json"):
            matrix = np.array(json.loads(data), np.float64)
        else:
            text = data.decode("utf-8")
            if not text.strip():
                raise ValueError("it is empty")
            matrix = np.loadtxt(io.StringIO(text), delimiter="," if "," in text else None)
    except OSError:
        raise
    except Exception as error:  # numpy has many for files that are damaged or lie
        raise InvalidError(f"--matrix {path} is no matrix: {type(error).__name__}: {error}") from error
    if matrix.dtype.kind not in "biuf" or matrix.ndim not in (1, 2) or not matrix.size:
        raise InvalidError(
            f"--matrix {path} has shape {matrix.shape} and dtype {matrix.dtype}; it has rows of real numbers"
        )
    return np.asarray(matrix)


def _contents(path: str) -> bytes:
    """The bytes of a file, or of a pipe up to its end, which a pipe that nobody writes has at once."""
    number = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    with os.fdopen(number, "rb") as file:
        os.set_blocking(number, True)
        data = file.read(_MOST_BYTES + 1)
    if len(data) > _MOST_BYTES:
        raise ValueError(f"it has more than {_MOST_BYTES} bytes")
    return data
