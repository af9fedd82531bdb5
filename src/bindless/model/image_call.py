"""``ImageCall``: one device function over many coordinates, as a value for the backends."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from .enums import Precision
from .image_descriptor import ImageDescriptor

__all__ = ["ImageCall", "Operation", "PictureMap"]

Operation = Literal["fetch", "sample", "sample_lod", "sample_grad", "write"]


@dataclass(frozen=True)
class PictureMap:
    """Map from the pixels of a picture to coordinates of a two-dimensional image; devices compute the coordinates.

    Pixel (i, j) is the sample at (u / w, v / w), where (u, v, w) is the matrix times (i + 0.5, j + 0.5, 1):
    a x + (b y + c) in double precision, every step rounded. The quotients are rounded to single precision, divided by
    ``scale`` and moved by ``bias``. Every device gives the same bits.

    Attributes
    ----------
    matrix
        Nine numbers, by rows: from homogeneous coordinates of the picture to those of the image, in pixels.
    width, height
        Width and height of the picture, in pixels.
    scale, bias
        (x, y), representable in float32: from the matrix's coordinates to the handle's own.
    """

    matrix: tuple[float, ...]
    width: int
    height: int
    scale: tuple[float, float] = (1.0, 1.0)
    bias: tuple[float, float] = (0.0, 0.0)


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
    map
        Makes the ``height * width`` items those of a picture of a standard image, a mipmap or a layer of an array.
        ``coords``, ``layers``, ``levels``, ``dx``, ``dy`` and ``level`` are then 0, and the map gives gradients.
        Values of normalized images may have the channel's storage dtype: codes, rounded, ties to even.
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
    map: PictureMap | None = None
    precision: Precision = Precision.hardware
