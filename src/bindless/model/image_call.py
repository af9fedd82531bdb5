"""``ImageCall``: one device function over many coordinates, as a value for the backends."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from .descriptor import ImageDescriptor

__all__ = ["ImageCall", "Operation", "PictureMap"]

Operation = Literal["fetch", "sample", "sample_lod", "sample_grad", "write"]


@dataclass(frozen=True)
class PictureMap:
    """Where the pixels of a picture lie in a two-dimensional image: coordinates that devices make themselves.

    Pixel (i, j) is the sample at (u / w, v / w), where (u, v, w) is the matrix times (i + 0.5, j + 0.5, 1):
    a x + (b y + c) in double precision, every step rounded by itself. The quotients are rounded to single precision,
    divided by ``scale`` and moved by ``bias``. Every device gives the same bits.

    Attributes:
        matrix: nine numbers, by rows: from homogeneous coordinates of the picture to those of the image, in pixels.
        width, height: of the picture, in pixels.
        scale, bias: (x, y), representable in float32: from the matrix's coordinates to the handle's own.
    """

    matrix: tuple[float, ...]
    width: int
    height: int
    scale: tuple[float, float] = (1.0, 1.0)
    bias: tuple[float, float] = (0.0, 0.0)


@dataclass(slots=True)  # not frozen, which makes each of them several times dearer
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
        map: makes the ``height * width`` items those of a picture of a standard image, a mipmap or a layer of an array.
            ``coords``, ``layers``, ``levels``, ``dx`` and ``dy`` are 0 then; gradients are the map's, ``level`` is 0.
            Values of normalized images may be of the channel's storage dtype: codes, rounded, ties to even.
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
    map: PictureMap | None = None
