"""``Resampling``: a picture that a device computes from an image, at coordinates from a matrix, an array, or both."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import Literal

import numpy as np

from .filter import CoordinateMap, Filter
from .image_descriptor import ImageDescriptor
from .string_enum import StringEnum

__all__ = ["FieldKind", "Resampling", "Rounding", "Strategy", "Window"]

_FLOAT32: np.dtype[np.generic] = np.dtype(np.float32)

Rounding = Literal["even", "away"]
"""Of integers halfway between two: to even, or away from zero."""


class Strategy(StringEnum):
    """Implementation of pictures in drivers and built-in kernels."""

    projection = "projection"
    """Of planes, by texture units, without vectors: positions that are not finite are the unit's. Mipmaps may have
    footprints."""
    resampling = "resampling"
    """Of every other picture, and of the same, more slowly."""


class FieldKind(IntEnum):
    """Fields of vectors that move positions, as kernels tell them apart: two bits of their argument ``mode``."""

    none = 0
    any = 1
    lens = 2
    """A lens of OpenCV's model with five coefficients, of a picture with the axes of the image's camera."""
    linear = 3
    """One linear field behind an affine map, of less than 2^28 vectors, and two or more along each axis."""


@dataclass(frozen=True, slots=True)
class Window:
    """A part of an image, whose texel (i, j, k) is texel (``origin`` + (i, j, k)) modulo ``whole`` of the image.

    Attributes
    ----------
    origin
        (x, y, z), less than ``whole``; may be negative.
    whole
        (x, y, z): texels of the image; 1 for axes that it lacks.
    """

    origin: tuple[int, int, int]
    whole: tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class Resampling:
    """A picture of up to three dimensions, as the values of one image, or of one layer of an array.

    The position of picture element (i, j, k) in the image is that of ``map``, computed in double precision; its shift
    and its centre are equal. The vector of ``coords``, if any, is then added, or fields move the position. Axes that
    the image lacks are ignored.

    Where a texture unit filters (``Precision.hardware``), and where its arithmetic is computed
    (``Precision.reproducible``), positions plus 0.5 - ``map.centre`` are rounded to single precision, divided by
    ``scale`` and moved by ``bias``, and the handle's sampler applies: its addressing, and linear or nearest filtering;
    B-splines are sums of linear samples. Otherwise texels are fetched, and the filter's boundary and fill apply. There
    1.0 is the largest code of a normalized image, also in ``fill``.

    With a ``window`` the image is a part of a larger one, to which positions, boundary and fill refer, also
    where a texture unit filters: coordinates are rounded to single precision, then to 1/256 (or to the centre of the
    nearest texel), and then moved by the origin. The sampler clamps to the edge, and the window has the texels beyond
    the larger image that linear filters need. A value that needs only texels of the window has the same bits in every
    window. Positions that are not finite have the fill value.

    Attributes
    ----------
    handle
        Raw sampled handle.
    descriptor
        Descriptor of the image: standard, array, or mipmap (level 0).
    layer
        Layer of an array.
    shape
        (width, height, depth) of the picture; 1 for axes that it lacks.
    filter
        Filter; ``cubic`` expects an image of B-spline coefficients.
    map
        From indices of picture elements to positions.
    coords
        Address of an array of vectors in (x, y, z) order, one for each picture element, or 0.
    coords_dtype
        float32 or float64.
    coords_strides
        Distance between picture elements, and between components, in elements of the array; may be negative. Of
        fields their number of doubles, and 0.
    fields
        Whether ``coords`` are fields of vectors on grids of their own, as ``sampling.fields`` packs them, and which.
    scale, bias
        (x, y, z), representable in float32: from positions in texels to the coordinates of the handle.
    values
        Address of the picture: packed, ``value_channels`` for each element.
    value_dtype
        int8, uint8, int16, uint16, int32, uint32, float16 or float32. Integers are the codes of a normalized image, or
        the rounded values of an integer image, clamped to the range of the type (of the codes, if that is smaller).
    value_channels
        1 to 4, at most those of the image.
    rounding
        Of integers halfway between two: to ``even``, or ``away`` from zero.
    first
        (i, j, k) of the picture's first element in a larger picture: added to the indices of the elements.
    window
        The image as a part of a larger one, or None.
    texels
        Address of packed texels that are read in place of the image's, or 0: of a whole standard image, exactly.
    footprints
        Whether the levels of a mipmap of two dimensions follow from the map, by ``Strategy.projection``; else level 0.
    """

    handle: int
    descriptor: ImageDescriptor
    shape: tuple[int, int, int]
    values: int
    value_dtype: np.dtype[np.generic]
    value_channels: int
    filter: Filter
    map: CoordinateMap
    layer: int = 0
    coords: int = 0
    coords_dtype: np.dtype[np.generic] = _FLOAT32
    coords_strides: tuple[int, int] = (0, 0)
    fields: FieldKind = FieldKind.none
    scale: tuple[float, float, float] = (1.0, 1.0, 1.0)
    bias: tuple[float, float, float] = (0.0, 0.0, 0.0)
    rounding: Rounding = "even"
    first: tuple[int, int, int] = (0, 0, 0)
    window: Window | None = None
    texels: int = 0
    footprints: bool = False
