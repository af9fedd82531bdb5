"""``Filter``: interpolation, precision, fill value and treatment of NaN of an ``Image``; a value, checked."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..model.enums import AddressingMode, Boundary, FilteringMode, ImageType, Interpolation, Precision, coerce
from ..model.errors import InvalidError
from ..model.image_descriptor import ImageDescriptor
from ..model.message_values import shown
from ..model.sampler import BindlessImageSampler

__all__ = ["Filter", "boundaries", "filter_of", "require_filter", "sampler_filtering"]

_BORDER = AddressingMode.clamp_to_border
_NAN = ("propagate", "ignore")
_PLAIN = (Interpolation.nearest, Interpolation.linear)
_CONVOLUTIONS = (Interpolation.catmull_rom, Interpolation.bicubic)
_BOUNDARIES = {
    AddressingMode.none: Boundary.edge,
    AddressingMode.repeat: Boundary.repeat,
    AddressingMode.mirrored_repeat: Boundary.mirrored_repeat,
    AddressingMode.clamp_to_edge: Boundary.edge,
    _BORDER: Boundary.border,
}


@dataclass(frozen=True)
class Filter:
    """How an image is filtered.

    Attributes
    ----------
    interpolation : Interpolation
        Interpolation of texels.
    precision : Precision
        Arithmetic, as the user asked for it.
    fill : float
        Value outside with ``clamp_to_border``, in the numbers of the array.
    ignore_nan : bool
        Whether NaN texels have no weight.
    """

    interpolation: Interpolation = Interpolation.linear
    precision: Precision = Precision.hardware
    fill: float = 0.0
    ignore_nan: bool = False

    @property
    def is_plain(self) -> bool:
        """Whether a handle and its precision are all that samples need."""
        return self.interpolation in _PLAIN and self.fill == 0 and not self.ignore_nan

    @property
    def is_computed(self) -> bool:
        """Whether samples of one level are pictures by ``Resampling``."""
        return self.precision is Precision.exact or not self.is_plain

    @property
    def arithmetic(self) -> Precision:
        """The precision that is computed: what a texture unit lacks is exact."""
        if self.precision is Precision.hardware and (self.fill != 0 or self.interpolation in _CONVOLUTIONS):
            return Precision.exact
        return self.precision


def filter_of(filtering: object, precision: object, fill: object, nan: object) -> Filter:
    """The filter of the arguments of ``Image``.

    Raises
    ------
    InvalidError
        An argument is not known.
    """
    interpolation = coerce(Interpolation, str(filtering) if isinstance(filtering, str) else filtering, "filtering")
    try:
        value = float(fill)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        raise InvalidError(f"fill={shown(fill)} is not a number") from None
    if nan not in _NAN:
        raise InvalidError(f"nan={shown(nan)} is not known; it is one of 'propagate', 'ignore'")
    return Filter(interpolation, coerce(Precision, precision, "precision"), value, nan == "ignore")


def sampler_filtering(interpolation: Interpolation) -> FilteringMode:
    """The filtering of the image's sampler; B-splines are made of linear samples."""
    return FilteringMode.nearest if interpolation is Interpolation.nearest else FilteringMode.linear


def boundaries(addressing: Sequence[AddressingMode]) -> tuple[Boundary, Boundary, Boundary]:
    """What lies outside along (x, y, z), where it is computed."""
    x, y, z = (_BOUNDARIES[mode] for mode in addressing)
    return x, y, z


def require_filter(wanted: Filter, described: ImageDescriptor, sampler: BindlessImageSampler, mipmaps: bool) -> None:
    """Refuses a filter that does not fit the image, or whose parts do not fit each other.

    Parameters
    ----------
    wanted : Filter
        As ``filter_of`` gives it.
    described : ImageDescriptor
        The image as the user sees it.
    sampler : BindlessImageSampler
        Of the image.
    mipmaps : bool
        Whether it has mipmaps.

    Raises
    ------
    InvalidError
        The message names the values, and what is possible.
    """
    name, precision = str(wanted.interpolation), wanted.precision
    if described.dtype.kind in "iu":
        _require_code(wanted.fill, described)
    if wanted.ignore_nan:
        if described.dtype.kind != "f":
            raise InvalidError(f'nan="ignore": an image of {described.dtype} has no NaN; leave nan out')
        if precision is not Precision.exact:
            raise InvalidError(f'nan="ignore" with precision={str(precision)!r}: it takes precision="exact"')
        if wanted.interpolation not in _PLAIN:
            raise InvalidError(
                f'nan="ignore" with filtering={name!r}: some of its weights are negative, and what is left of them may '
                'have a sum near 0; use filtering="linear"'
            )
    if wanted.interpolation is Interpolation.cubic:
        _require_margin(wanted.fill, sampler.addressing[: described.dimensions])
    if precision is Precision.reproducible and wanted.interpolation in _CONVOLUTIONS:
        raise InvalidError(f'filtering={name!r} with precision="reproducible": it takes precision="exact"')
    fill = wanted.fill
    if fill != 0 and _BORDER not in (modes := sampler.addressing[: described.dimensions]):
        told = ", ".join(sorted({str(mode) for mode in modes}))
        raise InvalidError(f'fill={fill:g} with addressing {told}: it is the value outside with addressing="clamp"')
    if fill != 0 and precision is Precision.reproducible:
        raise InvalidError(
            f'fill={fill:g} with precision="reproducible": texture units have 0 outside; use precision="exact"'
        )
    if not wanted.is_plain and (mipmaps or described.type is ImageType.cubemap):
        what = "mipmaps" if mipmaps else "cubemaps"
        nan = "ignore" if wanted.ignore_nan else "propagate"
        raise InvalidError(
            f'filtering={name!r}, fill={fill:g}, nan={nan!r}: {what} have filtering="linear" or "nearest", and no fill'
        )


def _require_code(fill: float, described: ImageDescriptor) -> None:
    limits: Any = np.iinfo(described.dtype.name)
    if not (math.isfinite(fill) and limits.min <= fill <= limits.max):
        raise InvalidError(f"fill={fill:g}: pixels of {described.dtype} are {limits.min} to {limits.max}")


def _require_margin(fill: float, addressing: Sequence[AddressingMode]) -> None:
    """Refuses what a margin of coefficients does not have: two kinds of values, or NaN, which would spread."""
    found = {_BOUNDARIES[mode] for mode in addressing}
    if {Boundary.edge, Boundary.border} <= found:
        raise InvalidError(
            f'addressing={tuple(map(str, addressing))} with filtering="cubic": axes that have no period are all '
            '"clamp_to_edge" or all "clamp"'
        )
    if math.isnan(fill):
        raise InvalidError('fill=nan with filtering="cubic": it would spread to all coefficients; use "catmull_rom"')
