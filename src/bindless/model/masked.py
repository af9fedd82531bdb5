"""Masked arrays, whose masks neither memory nor images have."""

from __future__ import annotations

import os
import sys
import warnings

import numpy as np

__all__ = ["warn_of_mask"]

_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep


def warn_of_mask(array: object, name: str) -> None:
    """Warns where elements of a masked array are masked: from here on they count as they are stored.

    Args:
        array: what was given; of most types there is nothing to ask.
        name: of the argument.
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
