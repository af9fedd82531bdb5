"""``Halves``: which arrays of a call have half precision."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["FLOATS", "Halves"]


class Halves(NamedTuple):
    """Which arrays of a call have half precision; sums are float32.

    Attributes
    ----------
    source, values : bool
        What is read, and what is written.
    """

    source: bool = False
    values: bool = False

    @property
    def bits(self) -> int:
        """As kernels read it."""
        return self.source + 2 * self.values


FLOATS = Halves()
"""None of them."""
