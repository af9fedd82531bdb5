"""Modes of scipy, and what they are on devices."""

from __future__ import annotations

from typing import Any

from ..model.enums import AddressingMode, Boundary, Interpolation
from ..model.message_values import shown
from .errors import ArgumentError, left_to_scipy

__all__ = ["ADDRESSING", "boundary_of", "interpolation_of"]

_BOUNDARIES = {
    "reflect": Boundary.mirrored_repeat,
    "grid-mirror": Boundary.mirrored_repeat,
    "constant": Boundary.constant,
    "grid-constant": Boundary.border,
    "nearest": Boundary.edge,
    "mirror": Boundary.mirror,
    "grid-wrap": Boundary.repeat,
    "wrap": Boundary.wrap,
}
_INTERPOLATIONS = {0: Interpolation.nearest, 1: Interpolation.linear, 3: Interpolation.cubic}
# Addressing modes of texture units that do the same.
ADDRESSING = {
    Boundary.mirrored_repeat: AddressingMode.mirrored_repeat,
    Boundary.border: AddressingMode.clamp,
    Boundary.edge: AddressingMode.clamp_to_edge,
    Boundary.repeat: AddressingMode.repeat,
}
_ORDERS = range(6)  # scipy's


def boundary_of(mode: object) -> Boundary:
    """The boundary of a mode.

    Raises
    ------
    ArgumentError
        No mode of scipy.
    """
    found = _BOUNDARIES.get(mode) if isinstance(mode, str) else None
    if found is None:
        raise ArgumentError(f"mode={shown(mode)} is none of {', '.join(_BOUNDARIES)}")
    return found


def interpolation_of(function: str, order: Any) -> Interpolation:
    """The interpolation of an order.

    Raises
    ------
    ArgumentError
        No order of scipy.
    FeatureNotSupportedError
        One that only scipy has.
    """
    if isinstance(order, bool) or not hasattr(order, "__index__") or order.__index__() not in _ORDERS:
        raise ArgumentError(f"order={shown(order)} is no order of a spline: 0, 1 and 3 are supported")
    found = _INTERPOLATIONS.get(order.__index__())
    if found is None:
        raise left_to_scipy(function, f"order={order} (0, 1 and 3 are)")
    return found
