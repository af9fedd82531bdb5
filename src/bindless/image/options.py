"""``ImageOptions``: the options of an ``Image`` as one value.

``image_options`` makes it once from the arguments of ``Image``. Parts, copies, pickles and resized images take the
value, changed by ``dataclasses.replace`` where they differ.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from ..model.enums import (
    AddressingMode,
    CoordinateNormalizationMode,
    FilteringMode,
    ImageChannelType,
    ImageType,
    Interpolation,
    Precision,
    coerce,
)
from ..model.errors import ArgumentError, InvalidError
from ..model.filter import Filter
from ..model.grid import Grid
from ..model.message_values import shown
from ..model.sampler import BindlessImageSampler

__all__ = ["Addressing", "ImageOptions", "image_options"]

Addressing = AddressingMode | str | Sequence[AddressingMode | str]

_NAN = ("propagate", "ignore")
_LINEAR = Filter()
_MOST_OPTIONS = 256  # kept


@dataclass(frozen=True)
class ImageOptions:
    """The options of an ``Image``, checked as far as they do not depend on its array.

    Attributes
    ----------
    filter : Filter
        Of ``addressing``, ``filtering``, ``precision``, ``fill`` and ``nan``.
    channel_type : ImageChannelType | None
        How channels are read; None: by the dtype.
    mipmaps, layers, cubemap : bool
        The kind of the image.
    coordinate : CoordinateNormalizationMode
        Unit of coordinates.
    max_anisotropy : float
        Largest ratio of the axes of a footprint.
    dimensions : int | None
        Of space; None: by the shape.
    grid : Grid | None
        Where the pixels lie in the world.
    modes : int
        How many modes ``addressing`` had: one for all axes, or one for each.
    """

    filter: Filter = _LINEAR
    channel_type: ImageChannelType | None = None
    mipmaps: bool = False
    layers: bool = False
    cubemap: bool = False
    coordinate: CoordinateNormalizationMode = CoordinateNormalizationMode.unnormalized
    max_anisotropy: float = 0.0
    dimensions: int | None = None
    grid: Grid | None = None
    modes: int = 1

    @property
    def type(self) -> ImageType:
        """Type of the image as the user sees it."""
        return ImageType.array if self.layers else ImageType.cubemap if self.cubemap else ImageType.standard

    @property
    def native(self) -> ImageOptions:
        """The options as one native image has them: without mipmaps where each layer or level is an image."""
        if not self.mipmaps or self.type is ImageType.standard:
            return self
        if self.cubemap and self.max_anisotropy:
            raise InvalidError("max_anisotropy is for images of two dimensions with mipmaps: leave it out of cubemaps")
        return replace(self, mipmaps=False, max_anisotropy=0.0)

    @property
    def sampler(self) -> BindlessImageSampler:
        """The sampler, as far as texture units have the filter."""
        mode = self.filter.sampler_filtering
        return BindlessImageSampler(
            self.filter.addressing,
            self.coordinate,
            mode,
            mipmap_filtering=mode,
            max_anisotropy=self.max_anisotropy,
        )


def image_options(*arguments: Any, **named: Any) -> ImageOptions:
    """The options of arguments of ``Image``, checked once for equal arguments; see ``_image_options``."""
    try:
        options = _remembered(*arguments, **named)
    except TypeError:  # one cannot be hashed: it is a list, or refused
        options = None
    # Not in the handler: errors have no other as their context.
    return _image_options(*arguments, **named) if options is None else options


def _image_options(
    addressing: Addressing = AddressingMode.clamp_to_edge,
    filtering: FilteringMode | Interpolation | str = FilteringMode.linear,
    precision: Precision | str = Precision.hardware,
    fill: float = 0.0,
    nan: str = "propagate",
    coordinate: CoordinateNormalizationMode | str = CoordinateNormalizationMode.unnormalized,
    max_anisotropy: float = 0.0,
    channel_type: ImageChannelType | str | None = None,
    mipmaps: bool = False,
    layers: bool = False,
    cubemap: bool = False,
    dimensions: int | None = None,
    grid: Grid | None = None,
    srgb: bool = False,
) -> ImageOptions:
    """The options of arguments as of ``Image``.

    Raises
    ------
    InvalidError
        An argument has no meaning, or two exclude each other.
    """
    if layers and cubemap:
        raise InvalidError(
            f"layers={layers}, cubemap={cubemap}: an image is one of the two; make one Image for each cubemap"
        )
    if srgb:
        if channel_type not in (None, ImageChannelType.unorm_int8_srgb):
            raise InvalidError(f"srgb={srgb}, channel_type={channel_type}: leave one out")
        channel_type = ImageChannelType.unorm_int8_srgb
    if nan not in _NAN:
        raise ArgumentError(f"nan={shown(nan)} is not known; it is one of 'propagate', 'ignore'")
    filter_ = Filter.from_addressing(addressing, filtering, fill=fill, precision=precision, ignore_nan=nan == "ignore")
    sampler = BindlessImageSampler(coordinate=coordinate, max_anisotropy=max_anisotropy)
    if dimensions is not None:
        try:
            dimensions = operator.index(dimensions)
        except TypeError:
            raise InvalidError(f"dimensions={shown(dimensions)} is not an integer; it is 1, 2 or 3") from None
    if grid is not None:
        _require_grid(grid, dimensions, bool(cubemap))
        dimensions = grid.dimensions
    return ImageOptions(
        filter_,
        None if channel_type is None else coerce(ImageChannelType, channel_type, "channel_type"),
        bool(mipmaps),
        bool(layers),
        bool(cubemap),
        sampler.coordinate,
        sampler.max_anisotropy,
        dimensions,
        grid,
        1 if isinstance(addressing, str) else len(tuple(addressing)),
    )


def _require_grid(grid: Grid, dimensions: int | None, cubemap: bool) -> None:
    if not isinstance(grid, Grid):
        raise ArgumentError(f"grid={shown(grid)} is no Grid; bindless.space.Grid(shape, spacing, origin) is one")
    if cubemap:
        raise ArgumentError("grid and cubemap=True: pixels of a cubemap have directions, and no places in the world")
    if dimensions not in (None, grid.dimensions):
        raise ArgumentError(f"dimensions={dimensions}, and a grid of {grid.dimensions} axes: leave dimensions out")


_remembered = lru_cache(_MOST_OPTIONS, typed=True)(_image_options)  # 2.0 is no number of dimensions
