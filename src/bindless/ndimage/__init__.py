"""Drop-in functions for those of ``scipy.ndimage`` that interpolate, computed on devices.

Signatures, defaults and the order of axes are scipy's: arrays are indexed [z, y, x], coordinates come in the same
order, and the centre of the first element is at 0. Arrays may be of any library; results are of the same.
"""

from ..model.errors import ArgumentError as ArgumentError  # of bindless, which documents it
from .interpolation import affine_transform, map_coordinates, rotate, shift, zoom
from .splines import spline_filter, spline_filter1d

__all__ = [
    "affine_transform",
    "map_coordinates",
    "rotate",
    "shift",
    "spline_filter",
    "spline_filter1d",
    "zoom",
]


def __dir__() -> list[str]:
    return sorted(__all__)
