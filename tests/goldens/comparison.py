"""Bitwise comparison of results, and its table."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np

from .configuration import Array, Configuration


@dataclass(frozen=True)
class Difference:
    """Difference of two results of one configuration. All NaNs are equal."""

    values: int
    exact: int
    worst: float

    @property
    def is_exact(self) -> bool:
        """Whether every bit is the same."""
        return self.values == self.exact


def compare(got: Array, wanted: Array) -> Difference:
    """Compare (points, channels) arrays; channels beyond the recorded ones are ignored."""
    got = np.ascontiguousarray(got[:, : wanted.shape[1]])
    if got.dtype != wanted.dtype or got.shape != wanted.shape:
        raise ValueError(f"results are {got.dtype} {got.shape}, the record has {wanted.dtype} {wanted.shape}")
    if got.dtype.kind != "f":
        error = np.abs(got.astype(np.float64) - wanted.astype(np.float64))
        return Difference(got.size, int((got == wanted).sum()), float(error.max(initial=0.0)))
    bits = np.dtype(f"u{got.dtype.itemsize}")
    same = (got.view(bits) == wanted.view(bits)) | (np.isnan(got) & np.isnan(wanted))
    finite = np.isfinite(got) & np.isfinite(wanted)
    error = np.abs(got[finite].astype(np.float64) - wanted[finite].astype(np.float64))
    return Difference(got.size, int(same.sum()), float(error.max(initial=0.0)))


@dataclass
class Row:
    """Table row for all configurations of one family."""

    family: str
    configurations: int = 0
    exact_configurations: int = 0
    values: int = 0
    exact: int = 0
    worst: float = 0.0

    def add(self, difference: Difference) -> None:
        """Add one configuration."""
        self.configurations += 1
        self.exact_configurations += difference.is_exact
        self.values += difference.values
        self.exact += difference.exact
        self.worst = max(self.worst, difference.worst)

    def __str__(self) -> str:
        share = 100.0 * self.exact / max(self.values, 1)
        configurations = f"{self.exact_configurations}/{self.configurations}"
        return f"{self.family:<42} {configurations:>9} {self.values:>9} {share:>9.4f} {self.worst:>12.4g}"


@dataclass
class Table:
    """Rows by family, and their sum."""

    rows: dict[str, Row] = field(default_factory=dict)
    total: Row = field(default_factory=lambda: Row("all"))

    def add(self, configuration: Configuration, difference: Difference) -> None:
        """Add one configuration."""
        row = self.rows.setdefault(configuration.family, Row(configuration.family))
        for counted in (row, self.total):
            counted.add(difference)

    def lines(self) -> Iterable[str]:
        """Return the table as text."""
        yield f"{'configurations':<42} {'exact':>9} {'values':>9} {'exact %':>9} {'worst error':>12}"
        yield from map(str, self.rows.values())
        yield str(self.total)
