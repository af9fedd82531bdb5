"""Values of samples as pixels of a storage type."""

from __future__ import annotations

import numpy as np

from ..model.arrays import Array
from ..model.channels import Channel

__all__ = ["to_storage"]


def to_storage(values: Array, channel: Channel, *, codes: bool, out: Array | None = None) -> Array:
    """Values as an array of the channel's storage dtype: integers are rounded to the nearest, halves to even.

    Parameters
    ----------
    values : Array
        What a device function read, or means of stored codes; computed with in their own precision.
    channel : Channel
        The channel type to store.
    codes : bool
        Whether the values of normalized channels are stored codes rather than 0..1 or -1..1.
    out : Array, optional
        Where they go; default a new array.
    """
    result = np.empty(values.shape, channel.storage) if out is None else out
    if channel.storage.kind == "f" or values.dtype == channel.storage:
        result[...] = values
        return result
    limits = np.iinfo(channel.storage.name)
    lowest = -limits.max if channel.normalized and limits.min < 0 else limits.min
    number = values * values.dtype.type(limits.max if channel.normalized and not codes else 1)
    np.rint(number, out=number)
    np.clip(number, lowest, limits.max, out=number)
    result[...] = number
    return result
