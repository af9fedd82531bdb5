"""``Lookup``: how a texture is sampled, apart from its arrays."""

from __future__ import annotations

from dataclasses import dataclass, field

from ...model.enums import Boundary, Interpolation
from ...model.errors import InvalidError
from ...model.filter import CoordinateMap, Filter

__all__ = ["Lookup"]

_BOUNDARIES = tuple(boundary for boundary in Boundary if boundary not in (Boundary.constant, Boundary.wrap))


@dataclass(frozen=True)
class Lookup:
    """Sampling of a texture: dimensions, filter, and the unit of coordinates.

    The position of a sample is that of the map, (coordinate + shift) * scale + offset, every step rounded, in texels of
    level 0 whose centres are at integers. In level l it is ``(position + 0.5) * size_l / size_0 - 0.5``.

    Parameters
    ----------
    dims : int
        Axes of a level: 1, 2 or 3; 2 for a cubemap.
    filter : Filter
        ``cubic`` takes texels as coefficients of B-splines. A cubemap has nearest and linear.
    map : CoordinateMap
        From coordinates to positions, axis by axis.
    cube : bool, default False
        A cubemap: coordinates are directions, and faces +x, -x, +y, -y, +z, -z meet without a seam.

    Raises
    ------
    InvalidError
        Values that do not fit each other.
    """

    dims: int
    filter: Filter
    map: CoordinateMap
    cube: bool = False
    _hash: int = field(default=0, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if self.dims not in (1, 2, 3) or (self.cube and self.dims != 2):
            raise InvalidError(f"dims={self.dims!r}, cube={self.cube!r}: 1, 2 or 3 are possible, and 2 for a cubemap")
        interpolation, boundary = self.filter.interpolation, self.filter.boundary[: self.dims]
        if self.cube and interpolation not in (Interpolation.nearest, Interpolation.linear):
            raise InvalidError(f"filtering={interpolation.value!r}: cubemaps have nearest and linear")
        if any(mode not in _BOUNDARIES for mode in boundary):
            names = ", ".join(map(str, _BOUNDARIES))
            raise InvalidError(f"boundary={tuple(map(str, boundary))}: textures have {names}")
        object.__setattr__(self, "_hash", hash((self.dims, self.filter, self.map, self.cube)))

    def __hash__(self) -> int:
        return self._hash

    @property
    def components(self) -> int:
        """Number of coordinates of a sample."""
        return 3 if self.cube else self.dims

    @property
    def axes(self) -> int:
        """Number of axes of an array of texels: textures, the faces of a cubemap, those of a level, channels."""
        return 2 + self.dims + self.cube
