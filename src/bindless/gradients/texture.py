"""``Texture``: how a texture is sampled, apart from its arrays."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from ..model.enums import Boundary, Interpolation
from ..model.errors import InvalidError

__all__ = ["Between", "Texture"]

Between = Literal["none", "nearest", "linear"]

BETWEEN = ("none", "nearest", "linear")
BOUNDARIES = (
    Boundary.border,
    Boundary.edge,
    Boundary.repeat,
    Boundary.mirrored_repeat,
    Boundary.mirror,
)


@dataclass(frozen=True)
class Texture:
    """Sampling of a texture: dimensions, filters, boundaries, and the unit of coordinates.

    The position of a sample along an axis is ``(coordinate + shift) * scale + offset``, every step rounded, in texels
    of level 0 whose centres are at integers. In level l it is ``(position + 0.5) * size_l / size_0 - 0.5``.

    Parameters
    ----------
    dims : int
        Axes of a level: 1, 2 or 3; 2 for a cubemap.
    filtering : Interpolation, default "linear"
        Between texels. ``cubic`` takes texels as coefficients of B-splines. A cubemap has nearest and linear.
    between : {"none", "nearest", "linear"}, default "none"
        Between levels; "none" samples level 0.
    boundary : Boundary or tuple of them, default "edge"
        Texels outside, for all axes or for x, y, z: border, edge, repeat, mirrored_repeat or mirror.
    fill : float, default 0.0
        Value of texels outside with the boundary border.
    scale, offset : tuple of float, default ()
        One for each axis x, y, z; () is 1 and 0.
    shift : float, default 0.0
        Added to coordinates of all axes.
    ties_to_even : bool, default False
        Whether nearest rounds positions halfway between two texels to the even one, instead of up.
    cube : bool, default False
        A cubemap: coordinates are directions, and faces +x, -x, +y, -y, +z, -z meet without a seam.

    Raises
    ------
    InvalidError
        A value is none of these.
    """

    dims: int
    filtering: Interpolation | str = Interpolation.linear
    between: Between = "none"
    boundary: tuple[Boundary | str, ...] | Boundary | str = Boundary.edge
    fill: float = 0.0
    scale: tuple[float, ...] = ()
    offset: tuple[float, ...] = ()
    shift: float = 0.0
    ties_to_even: bool = False
    cube: bool = False
    _hash: int = field(default=0, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if self.dims not in (1, 2, 3) or (self.cube and self.dims != 2):
            raise InvalidError(f"dims={self.dims!r}, cube={self.cube!r}: 1, 2 or 3 are possible, and 2 for a cubemap")
        if self.between not in BETWEEN:
            raise InvalidError(f"between={self.between!r} is none of {', '.join(BETWEEN)}")
        filtering = Interpolation(self.filtering)
        if self.cube and filtering not in (Interpolation.nearest, Interpolation.linear):
            raise InvalidError(f"filtering={filtering.value!r}: cubemaps have nearest and linear")
        given = self.boundary if isinstance(self.boundary, tuple) else (self.boundary,) * self.dims
        boundary = tuple(Boundary(value) for value in given)
        if len(boundary) != self.dims or any(value not in BOUNDARIES for value in boundary):
            names = ", ".join(value.value for value in BOUNDARIES)
            raise InvalidError(
                f"boundary={self.boundary!r}: one of {names} is needed, or one for each of {self.dims} axes"
            )
        for name, value, neutral in (("scale", self.scale, 1.0), ("offset", self.offset, 0.0)):
            numbers = tuple(float(number) for number in value) or (neutral,) * self.dims
            if len(numbers) != self.dims:
                raise InvalidError(f"{name}={value!r}: one number for each of {self.dims} axes is needed")
            object.__setattr__(self, name, numbers)
        object.__setattr__(self, "filtering", filtering)
        object.__setattr__(self, "boundary", boundary)
        object.__setattr__(self, "fill", float(self.fill))
        object.__setattr__(self, "shift", float(self.shift))
        words = (self.dims, filtering, self.between, boundary, self.fill, self.scale, self.offset, self.shift)
        object.__setattr__(self, "_hash", hash((words, self.ties_to_even, self.cube)))

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
