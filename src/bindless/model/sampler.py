"""``BindlessImageSampler``: addressing, coordinates and filtering of a sampled image (Image sampler struct)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from .enums import (
    AddressingMode,
    CoordinateNormalizationMode,
    CubemapFilteringMode,
    FilteringMode,
    Precision,
    coerce,
)
from .errors import FeatureNotSupportedError, InvalidError
from .message_values import shown

__all__ = ["BindlessImageSampler", "fraction_bits"]


def fraction_bits(extent: int) -> int:
    """Bits behind the point that texture units keep of a normalized coordinate: docs/internals/numerics.md.

    Parameters
    ----------
    extent : int
        The largest of the sizes that the coordinate's axis shares, in pixels.
    """
    return 21 if extent <= 8192 else 22 if extent <= 65536 else 23


def _level(name: str, value: float, unlimited: bool = False) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        raise InvalidError(f"{name}={shown(value)} is not a number") from None
    if not (math.isfinite(number) or (unlimited and number > 0)) or number < 0:
        kind = "number" if unlimited else "finite number"
        raise InvalidError(f"{name}={number}: it is a {kind}, 0 or more")
    return number


@dataclass(frozen=True)
class BindlessImageSampler:
    """Sampling properties; a value, hashable and equal by its fields.

    Parameters
    ----------
    addressing
        One mode for all dimensions, or three for (x, y, z). Those that texture units lack need ``precision="exact"``.
    coordinate
        ``normalized`` (0..1 over the image) or ``unnormalized`` (pixels; the centre of pixel (i, j) is
        (i + 0.5, j + 0.5)).
    filtering
        Interpolation of texels within a level.
    mipmap_filtering
        Interpolation of the two nearest levels of a mipmap.
    min_mipmap_level_clamp
        Lowest level to read.
    max_mipmap_level_clamp
        Highest level to read: 0, the default, reads only level 0; ``float("inf")``, or any
        number above the image's last level, reads all levels.
    max_anisotropy
        Largest ratio of the footprint's axes; below 2 is isotropic, and devices use at most
        ``info.device.mipmap_max_anisotropy``.
    cubemap_filtering
        ``seamless`` interpolates across the borders of faces.

    Raises
    ------
    InvalidError
        An unknown mode, or a number that is negative, NaN, or infinite where that is not allowed.

    Examples
    --------
    >>> from bindless import BindlessImageSampler
    >>> BindlessImageSampler(filtering="linear").is_normalized
    False
    """

    addressing: tuple[AddressingMode, AddressingMode, AddressingMode]
    coordinate: CoordinateNormalizationMode
    filtering: FilteringMode
    mipmap_filtering: FilteringMode
    min_mipmap_level_clamp: float
    max_mipmap_level_clamp: float
    max_anisotropy: float
    cubemap_filtering: CubemapFilteringMode

    def __init__(
        self,
        addressing: AddressingMode | str | Sequence[AddressingMode | str] = AddressingMode.none,
        coordinate: CoordinateNormalizationMode | str = CoordinateNormalizationMode.unnormalized,
        filtering: FilteringMode | str = FilteringMode.nearest,
        *,
        mipmap_filtering: FilteringMode | str = FilteringMode.nearest,
        min_mipmap_level_clamp: float = 0.0,
        max_mipmap_level_clamp: float = 0.0,
        max_anisotropy: float = 0.0,
        cubemap_filtering: CubemapFilteringMode | str = CubemapFilteringMode.disjointed,
    ) -> None:
        modes: Sequence[AddressingMode | str]
        try:
            modes = (addressing,) * 3 if isinstance(addressing, str) else tuple(addressing)
        except TypeError:
            raise InvalidError(
                f"addressing={shown(addressing)} is neither a mode, such as 'repeat', nor three of them: (x, y, z)"
            ) from None
        if len(modes) != 3:
            raise InvalidError(
                f"addressing={shown(addressing)} has {len(modes)} modes; it is one mode or three: (x, y, z)"
            )
        assign = object.__setattr__
        assign(self, "addressing", tuple(coerce(AddressingMode, mode, "addressing") for mode in modes))
        assign(self, "coordinate", coerce(CoordinateNormalizationMode, coordinate, "coordinate"))
        assign(self, "filtering", coerce(FilteringMode, filtering, "filtering"))
        assign(self, "mipmap_filtering", coerce(FilteringMode, mipmap_filtering, "mipmap_filtering"))
        assign(self, "min_mipmap_level_clamp", _level("min_mipmap_level_clamp", min_mipmap_level_clamp))
        assign(self, "max_mipmap_level_clamp", _level("max_mipmap_level_clamp", max_mipmap_level_clamp, True))
        assign(self, "max_anisotropy", _level("max_anisotropy", max_anisotropy))
        assign(self, "cubemap_filtering", coerce(CubemapFilteringMode, cubemap_filtering, "cubemap_filtering"))

    @cached_property
    def prepared(self) -> dict[Any, Any]:
        """Cache for values that backends derive from this sampler, by their own keys; one for all threads."""
        return vars(self).setdefault("prepared", {})  # type: ignore[no-any-return]

    def __getstate__(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.__dataclass_fields__}

    def within(self, num_levels: int) -> BindlessImageSampler:
        """Return this sampler with clamps limited to the levels of an image; the same object each time."""
        if self.max_mipmap_level_clamp <= num_levels:
            return self
        key = "within", num_levels
        sampler: BindlessImageSampler | None = self.prepared.get(key)
        if sampler is None:
            sampler = self.prepared.setdefault(key, replace(self, max_mipmap_level_clamp=num_levels - 1.0))
        return sampler

    @cached_property
    def computed_modes(self) -> str:
        """Names of those addressing modes that texture units lack, or nothing."""
        return ", ".join(sorted({str(mode) for mode in self.addressing if mode.is_computed}))

    def require_exact(self, precision: object) -> None:
        """Refuse samples of another precision than exact, if there are modes that texture units lack.

        Raises
        ------
        FeatureNotSupportedError
            There are.
        """
        if self.computed_modes and precision is not Precision.exact:
            raise FeatureNotSupportedError(
                f"addressing {self.computed_modes} with precision={precision}: texture units have none; use "
                "precision='exact', which is computed"
            )

    @property
    def of_units(self) -> BindlessImageSampler:
        """This sampler with ``clamp_to_edge`` in place of modes that texture units lack; the same object each time."""
        if not self.computed_modes:
            return self
        sampler: BindlessImageSampler | None = self.prepared.get("units")
        if sampler is None:
            x, y, z = (AddressingMode.clamp_to_edge if mode.is_computed else mode for mode in self.addressing)
            sampler = self.prepared.setdefault("units", replace(self, addressing=(x, y, z)))
        return sampler

    @property
    def is_normalized(self) -> bool:
        """Whether coordinates run over 0..1."""
        return self.coordinate is CoordinateNormalizationMode.normalized
