"""Masked arrays: a warning that memory and images do not keep masks."""

from __future__ import annotations

import os
import sys
import warnings

import numpy as np

__all__ = ["warn_of_mask"]

_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep


def warn_of_mask(array: object, name: str) -> None:
    """Warn if a masked array has masked elements, which count as stored from here on.

    Parameters
    ----------
    array
        The argument; types without a mask are ignored.
    name
        Name of the argument.
    """
    if type(array) is np.ndarray or not isinstance(array, np.ma.MaskedArray) or not np.ma.is_masked(array):
        return
    level, frame = 1, sys._getframe(0)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        level, frame = level + 1, frame.f_back
    warnings.warn(
        f"{name}: the mask of a masked array is dropped, and masked elements count as they are stored: give "
        "array.filled(value) to have a value for them",
        UserWarning,
        stacklevel=level,
    )
