"""``Elements``: what the modules below ``UsmArray`` ask of an array."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from ...model.arrays import Array, DType
from ...model.enums import UsmKind
from .allocation import Allocation

if TYPE_CHECKING:
    from ..device.context import Context
    from ..device.device import Device

__all__ = ["Elements"]


class Elements(Protocol):
    """The elements of a ``UsmArray``."""

    @property
    def _owner(self) -> Allocation: ...
    @property
    def _offset(self) -> int: ...
    @property
    def address(self) -> int: ...
    @property
    def shape(self) -> tuple[int, ...]: ...
    @property
    def strides(self) -> tuple[int, ...]: ...
    @property
    def dtype(self) -> DType: ...
    @property
    def itemsize(self) -> int: ...
    @property
    def size(self) -> int: ...
    @property
    def kind(self) -> UsmKind: ...
    @property
    def device(self) -> Device: ...
    @property
    def context(self) -> Context: ...
    def copy(self) -> Elements: ...
    def numpy(self) -> Array: ...
