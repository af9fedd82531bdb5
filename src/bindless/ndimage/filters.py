"""``Filter``: how values between and beyond the elements of an array are computed."""

from __future__ import annotations

from dataclasses import dataclass, replace

from ..model.enums import AddressingMode, Boundary, Interpolation, Precision
from .errors import left_to_scipy
from .modes import ADDRESSING

__all__ = ["Filter"]


@dataclass(frozen=True)
class Filter:
    """How values between and beyond the elements are computed.

    Attributes
    ----------
    function : str
        Name of the function that was called, for errors.
    mode : str
        Name of the boundary in scipy.
    interpolation, boundary, precision : Any
        Of ``Resampling``.
    cval : float
        Value outside.
    prefilter : bool
        Whether a cubic interpolation computes the coefficients of B-splines first.
    """

    function: str
    mode: str
    interpolation: Interpolation
    boundary: Boundary
    precision: Precision
    cval: float
    prefilter: bool

    @property
    def is_cubic(self) -> bool:
        return self.interpolation is Interpolation.cubic

    def copying(self) -> Filter:
        """A filter that gives elements as they are, at their own places."""
        exact = Precision.exact
        return replace(self, interpolation=Interpolation.nearest, boundary=Boundary.edge, precision=exact)

    @property
    def addressing(self) -> AddressingMode:
        """Of the texture unit, where it filters.

        Raises
        ------
        FeatureNotSupportedError
            Texture units have no such mode.
        """
        if self.precision is Precision.exact:
            return AddressingMode.clamp_to_edge
        found = ADDRESSING.get(self.boundary)
        if found is None or (self.boundary is Boundary.border and self.cval != 0):
            raise left_to_scipy(
                self.function,
                f"precision={self.precision} with mode={self.mode} and cval={self.cval:g} (the modes nearest, reflect, "
                "grid-wrap, and grid-constant with cval=0 are, and with precision=exact all are)",
            )
        return found
