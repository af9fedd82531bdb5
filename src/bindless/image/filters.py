"""Refusal of filters that do not fit an ``Image``, or whose parts do not fit each other."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..model.enums import Boundary, ImageType, Interpolation, Precision
from ..model.errors import InvalidError
from ..model.filter import Filter, name_of_boundary
from ..model.image_descriptor import ImageDescriptor

__all__ = ["require_filter"]

_PLAIN = (Interpolation.nearest, Interpolation.linear)
_CONVOLUTIONS = (Interpolation.catmull_rom, Interpolation.bicubic)


def require_filter(filter_: Filter, described: ImageDescriptor, mipmaps: bool) -> None:
    """Refuses a filter that does not fit the image, or whose parts do not fit each other.

    Parameters
    ----------
    filter_ : Filter
        Of its options.
    described : ImageDescriptor
        The image as the user sees it.
    mipmaps : bool
        Whether it has mipmaps.

    Raises
    ------
    InvalidError
        The message names the values, and what is possible.
    """
    name, precision = str(filter_.interpolation), filter_.precision
    boundary = filter_.boundary[: described.dimensions]
    if described.number_dtype.kind in "iu":
        _require_code(filter_.fill, described)
    if filter_.ignore_nan:
        if described.number_dtype.kind != "f":
            raise InvalidError(f'nan="ignore": an image of {described.dtype} has no NaN; leave nan out')
        if precision is not Precision.exact:
            raise InvalidError(f'nan="ignore" needs precision="exact"; the precision is {precision}')
        if filter_.interpolation not in _PLAIN:
            raise InvalidError(
                f'nan="ignore" with filtering={name!r}: some of its weights are negative, and what is left of them may '
                'have a sum near 0; use filtering="linear"'
            )
    if filter_.interpolation is Interpolation.cubic:
        _require_margin(filter_.fill, boundary)
    if precision is Precision.reproducible and filter_.interpolation in _CONVOLUTIONS:
        raise InvalidError(f'filtering={name!r} with precision="reproducible": it takes precision="exact"')
    fill = filter_.fill
    if fill != 0 and not {Boundary.border, Boundary.extent} & set(boundary):
        modes = ", ".join(sorted({name_of_boundary(mode) for mode in boundary}))
        raise InvalidError(
            f'fill={fill:g}: it is the value outside with addressing="border" (SYCL\'s "clamp") and "extent"; the '
            f"addressing is {modes}"
        )
    if fill != 0 and precision is Precision.reproducible:
        raise InvalidError(
            f'fill={fill:g} with precision="reproducible": texture units have 0 outside; use precision="exact"'
        )
    if mipmaps or described.type is ImageType.cubemap:
        what = "mipmaps" if mipmaps else "cubemaps"
        modes = ", ".join(map(name_of_boundary, boundary))
        lacks = {
            f'filtering={name!r}: {what} have filtering="linear" or "nearest"': filter_.interpolation not in _PLAIN,
            f"fill={fill:g}: {what} have 0 outside": fill != 0,
            f'nan="ignore": {what} have no weights for NaN': filter_.ignore_nan,
            f'addressing {modes} with precision="reproducible": {what} have the addressing of texture units': (
                precision is Precision.reproducible and not filter_.has_unit_boundary
            ),
        }
        reasons = [text for text, is_lacking in lacks.items() if is_lacking]
        if reasons:
            raise InvalidError("; ".join(reasons) + "; leave it out")


def _require_code(fill: float, described: ImageDescriptor) -> None:
    limits: Any = np.iinfo(described.dtype.name)
    if not (math.isfinite(fill) and limits.min <= fill <= limits.max):
        raise InvalidError(f"fill={fill:g}: pixels of {described.dtype} are {limits.min} to {limits.max}")


def _require_margin(fill: float, boundary: tuple[Boundary, ...]) -> None:
    """Refuses what a margin of coefficients does not have: two kinds of values, or NaN, which would spread."""
    if {Boundary.edge, Boundary.border} <= set(boundary):
        modes = tuple(map(name_of_boundary, boundary))
        raise InvalidError(
            f'addressing={modes} with filtering="cubic": axes that have no period are all "clamp_to_edge" or all '
            '"border" (SYCL\'s "clamp")'
        )
    if math.isnan(fill) and Boundary.border in boundary:
        raise InvalidError('fill=nan with filtering="cubic": it would spread to all coefficients; use "catmull_rom"')
