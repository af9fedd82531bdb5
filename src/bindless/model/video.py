"""``VideoColours``: the numbers of a video frame's planes, from its standard, its range, and where its colours lie."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .errors import ArgumentError
from .message_values import shown

__all__ = ["SITINGS", "STANDARDS", "VideoColours"]

STANDARDS = {"bt601": (0.299, 0.114), "bt709": (0.2126, 0.0722), "bt2020": (0.2627, 0.0593)}
"""Shares of red and of blue in the brightness."""
SITINGS = {"left": (0.0, -0.25), "center": (-0.25, -0.25), "topleft": (0.0, 0.0)}
"""Place of the first brightness in the colours along (x, y), from the centre of the first one."""


@dataclass(frozen=True)
class VideoColours:
    """From texels of the planes, the brightness and two colour differences of half the size, to red, green and blue.

    Attributes
    ----------
    rows : tuple[tuple[float, float, float, float], ...]
        For red, green and blue, from 0 to 1: factors of the brightness and of the two differences, which are fractions
        of the largest integer of their type; and what is then added.
    bias : tuple[float, float]
        From half a position in the brightness to that in the differences, both from the centre of the first texel.
    black : tuple[float, float]
        Integers of black: of the brightness, and of both differences.
    step : int
        Integers from one code to the next.
    """

    rows: tuple[tuple[float, float, float, float], ...]
    bias: tuple[float, float]
    black: tuple[float, float]
    step: int

    @classmethod
    def of(cls, standard: Any, full_range: bool, siting: Any, largest: int, bits: int, step: int) -> VideoColours:
        """The numbers of a kind of frames.

        Parameters
        ----------
        standard, full_range, siting
            As of ``Image.from_nv12``.
        largest : int
            Largest integer of the type.
        bits, step : int
            Bits of a code, and integers from one code to the next.

        Raises
        ------
        ArgumentError
            A name is not known.
        """
        for name, value, names in (("standard", standard, STANDARDS), ("siting", siting, SITINGS)):
            if not isinstance(value, str) or value not in names:
                raise ArgumentError(f"{name}={shown(value)} is none of {', '.join(names)}")
        red, blue = STANDARDS[standard]
        green = 1 - red - blue
        codes, unit = (1 << bits) - 1, 1 << (bits - 8)
        black, white, swing = (0, codes, codes) if full_range else (16 * unit, 235 * unit, 224 * unit)
        factors = np.array(
            [
                [1, 0, 2 * (1 - red)],
                [1, -2 * blue * (1 - blue) / green, -2 * red * (1 - red) / green],
                [1, 2 * (1 - blue), 0],
            ]
        ) / [white - black, swing, swing]
        offset = -factors @ np.array([black, 128 * unit, 128 * unit])
        rows = np.column_stack([factors * (largest / step), offset])
        return cls(tuple(map(tuple, rows.tolist())), SITINGS[siting], (step * black, step * 128 * unit), step)
