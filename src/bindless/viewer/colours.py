"""Colours of numbers: maps from dark to bright, and single colours."""

from __future__ import annotations

import re

import numpy as np

from ..model.arrays import Array

__all__ = ["MAPS", "is_colour", "table_of"]

# Red, green and blue at equal distances from 0 to 1.
MAPS = {
    "grey": ("#000000", "#ffffff"),
    "ink": ("#ffffff", "#000000"),
    "heat": ("#000000", "#7a0403", "#e04a10", "#fbc03a", "#ffffff"),
    "ice": ("#000000", "#06305c", "#1f7fb4", "#8fd7e8", "#ffffff"),
    "dusk": ("#0b0724", "#44206e", "#8f2e7d", "#d94f63", "#f99b57", "#fcf3b4"),
    "moss": ("#1b1240", "#33497f", "#2f8087", "#4cb274", "#b5d94a", "#fdf6a5"),
    "bone": ("#000000", "#4a3a30", "#a08a70", "#e4d8c0", "#ffffff"),
    "twins": ("#2040c8", "#8fa8f0", "#f4f4f4", "#f0a08f", "#b81830"),
}
_COLOUR = re.compile(r"#[0-9a-fA-F]{6}")


def is_colour(text: object) -> bool:
    """Whether a text is the name of a map, or a colour such as ``#ff8000``."""
    return isinstance(text, str) and (text in MAPS or _COLOUR.fullmatch(text) is not None)


def _rgb(text: str) -> list[float]:
    return [int(text[at : at + 2], 16) / 255 for at in (1, 3, 5)]


def table_of(colour: str) -> Array:
    """Red, green and blue for 256 numbers, (256, 3); black for an empty text."""
    stops = np.array([_rgb(stop) for stop in MAPS.get(colour, ("#000000", colour or "#000000"))])
    at = np.linspace(0, 1, 256)
    places = np.linspace(0, 1, len(stops))
    table: Array = np.stack([np.interp(at, places, stops[:, channel]) for channel in range(3)], -1)
    return table
