"""``ImageCall``: one device function over many coordinates, as a value for the backends."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from .descriptor import ImageDescriptor

__all__ = ["ImageCall", "Operation"]

Operation = Literal["fetch", "sample", "sample_lod", "sample_grad", "write"]


@dataclass(frozen=True)
class ImageCall:
    """A call of a device function; addresses are of memory that the queue's device can reach.

    Attributes:
        operation: ``sample_lod`` and ``sample_grad`` are the two forms of ``sample_mipmap``.
        handle: raw image handle.
        sampled: whether it is a sampled handle.
        usm: whether the image lies over USM (linear) memory.
        descriptor: of the image; its type chooses the standard, array or cubemap form.
        count: number of items.
        coords: (count, dims) int32 to fetch and write, float32 to sample; (count, 3) directions to sample a cubemap.
        layers: (count,) uint32, or 0: ``layer`` for all.
        layer: layer or face of every item where ``layers`` is 0.
        levels: (count,) float32, or 0: ``level`` for all.
        level: level of every item where ``levels`` is 0.
        dx, dy: (count, dims) float32 gradients of ``sample_grad``.
        values: (count, value_channels) of ``value_dtype``: the result, or the colours to write.
        value_dtype: one of int8, uint8, int16, uint16, int32, uint32, float16, float32.
        value_channels: 1 to 4.
    """

    operation: Operation
    handle: int
    sampled: bool
    descriptor: ImageDescriptor
    count: int
    coords: int
    values: int
    value_dtype: np.dtype[np.generic]
    value_channels: int
    usm: bool = False
    layers: int = 0
    layer: int = 0
    levels: int = 0
    level: float = 0.0
    dx: int = 0
    dy: int = 0
