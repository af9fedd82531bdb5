"""``ImageCall``: one device function over many coordinates, as a value for the backends."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from .enums import Precision
from .image_descriptor import ImageDescriptor

__all__ = ["ImageCall", "Operation"]

Operation = Literal["fetch", "sample", "sample_lod", "sample_grad", "write"]


@dataclass(slots=True)  # not frozen: construction would take several times longer
class ImageCall:
    """A call of a device function; addresses are in memory that the queue's device can access.

    Attributes
    ----------
    operation
        ``sample_lod`` and ``sample_grad`` are the two forms of ``sample_mipmap``.
    handle
        Raw image handle.
    sampled
        Whether it is a sampled handle.
    usm
        Whether the image uses USM (linear) memory.
    descriptor
        Descriptor of the image; its type chooses the standard, array or cubemap form.
    count
        Number of items.
    coords
        (count, dims) int32 for fetch and write, float32 for sample; (count, 3) directions for a cubemap.
    layers
        (count,) uint32, or 0: ``layer`` for all.
    layer
        Layer or face of every item where ``layers`` is 0.
    levels
        (count,) float32, or 0: ``level`` for all.
    level
        Level of every item where ``levels`` is 0.
    dx, dy
        (count, dims) float32 gradients of ``sample_grad``.
    values
        (count, value_channels) of ``value_dtype``: the result, or the colours to write.
    precision
        Arithmetic of a sample; back ends whose traits lack ``computes_precisions`` never get another than
        ``hardware``.
    value_dtype
        One of int8, uint8, int16, uint16, int32, uint32, float16, float32.
    value_channels
        1 to 4.
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
    precision: Precision = Precision.hardware
