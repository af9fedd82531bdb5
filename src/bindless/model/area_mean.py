"""``AreaMean``: the reduction of an image by areas, as a back end computes it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .enums import ImageChannelType

__all__ = ["AreaMean"]

Extent = tuple[int, int, int]


class AreaMean(NamedTuple):
    """Means of the areas that the pixels of a smaller image cover.

    Attributes
    ----------
    source
        Raw handle of an image of one level.
    means
        Address of the result, packed.
    extent
        Pixels of the source in (x, y, z) order; z is the layer of an array.
    size
        Pixels of the result, at most those of the source along each axis.
    channel_type
        Of the source.
    source_channels
        Channels of the source.
    channels
        Channels of the result: the first ones.
    dtype
        Of the result: the storage dtype of the channel type, or float32 for means of stored codes that are not rounded.
    """

    source: int
    means: int
    extent: Extent
    size: Extent
    channel_type: ImageChannelType
    source_channels: int
    channels: int
    dtype: np.dtype[np.generic]
