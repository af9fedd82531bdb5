"""Copies between arrays of pixels whose numbers of channels differ."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["copy_channels", "first_channels"]

Array = npt.NDArray[Any]


def copy_channels(target: Array, source: Array) -> None:
    """Copy the channels that both arrays have; their other dimensions are equal.

    One channel at a time: numpy's inner loop then runs over a row instead of the three channels of a pixel, which takes
    a fifth of the time.
    """
    for channel in range(min(target.shape[-1], source.shape[-1])):
        target[..., channel] = source[..., channel]


def first_channels(pixels: Array, number: int) -> Array:
    """The first channels of pixels, packed; the array itself if it is packed and has no others."""
    if pixels.shape[-1] == number:
        return np.ascontiguousarray(pixels)
    packed = np.empty((*pixels.shape[:-1], number), pixels.dtype)
    copy_channels(packed, pixels)
    return packed
