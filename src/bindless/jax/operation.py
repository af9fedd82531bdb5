"""``Operation``: the static part of a primitive, and the order of its operands and results.

``sample`` computes values; the three others are its derivatives. Operands are the levels of the textures, coordinates,
levels of detail where the texture has a mipmap, gradients of values for ``pull`` and ``bend``, and the tangents of the
texels, coordinates and levels of detail that ``tangents`` names. Results are values, or the gradients that
``gradients`` names.

========  ======================================================  ==========================
kind      result                                                  linear in
========  ======================================================  ==========================
sample    values                                                  texels
push      tangents of the values                                  the tangents
pull      gradients of texels, coordinates, levels of detail      the gradients of values
bend      tangents of ``pull`` with fixed gradients of values,    the tangents; the gradients
          which are symmetric in the tangents and the results     of values
========  ======================================================  ==========================
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import Any, Generic, Literal, NamedTuple, TypeVar

from ..sampling.memory import Lookup

__all__ = ["NONE", "Chosen", "Kind", "Operands", "Operation"]

Kind = Literal["sample", "push", "pull", "bend"]
T = TypeVar("T")


class Chosen(NamedTuple):
    """Which of the three differentiable arguments."""

    texels: bool
    coords: bool
    level: bool


NONE = Chosen(False, False, False)


class Operands(NamedTuple, Generic[T]):
    """Operands, or one value for each, by meaning."""

    levels: list[T]
    coords: T
    level: T | None
    grad: T | None
    texel_tangents: list[T]
    coord_tangent: T | None
    level_tangent: T | None

    def flat(self) -> list[T]:
        """The operands in the order of the primitive."""
        rest = (self.coords, self.level, self.grad), (self.coord_tangent, self.level_tangent)
        first, last = ([value for value in part if value is not None] for part in rest)
        return [*self.levels, *first, *self.texel_tangents, *last]


@dataclass(frozen=True)
class Operation:
    """The static part of a primitive.

    Attributes
    ----------
    kind : Kind
        What is computed.
    lookup : Lookup
        The filter.
    num_levels : int
        Levels of the mipmap, 1 without.
    detailed : bool
        Whether there is an operand of levels of detail.
    tangents : Chosen
        Tangents among the operands.
    gradients : Chosen
        Gradients among the results.
    deterministic : bool
        Whether gradients of texels have the same bits each time.
    hardware : bool
        Whether a texture unit computes the values; the derivatives are those of the exact function.
    picture : tuple[int, int]
        Samples of a row, and rows, of the picture or of each slice of the volume, for sums of gradients; zeros where
        samples have one axis.
    """

    kind: Kind
    lookup: Lookup
    num_levels: int
    detailed: bool
    tangents: Chosen = NONE
    gradients: Chosen = NONE
    deterministic: bool = False
    hardware: bool = False
    picture: tuple[int, int] = (0, 0)

    def sort(self, flat: Sequence[T]) -> Operands[T]:
        """Operands by meaning."""
        rest = iter(flat)
        levels = [next(rest) for _ in range(self.num_levels)]
        coords = next(rest)
        level = next(rest) if self.detailed else None
        grad = next(rest) if self.kind in ("pull", "bend") else None
        texels = [next(rest) for _ in range(self.num_levels)] if self.tangents.texels else []
        tangents = [next(rest) if present else None for present in self.tangents[1:]]
        return Operands(levels, coords, level, grad, texels, *tangents)

    def results(self, operands: Sequence[Any]) -> list[tuple[tuple[int, ...], Any]]:
        """Shape and dtype of each result."""
        sorted_ = self.sort(operands)
        first = sorted_.levels[0]
        if self.kind in ("sample", "push"):
            return [((*sorted_.coords.shape[:2], first.shape[-1]), first.dtype)]
        rows = [(each.shape, each.dtype) for each in sorted_.levels] if self.gradients.texels else []
        if self.gradients.coords:
            rows.append((sorted_.coords.shape, sorted_.coords.dtype))
        if self.gradients.level:
            rows.append((sorted_.coords.shape[:2], sorted_.coords.dtype))
        return rows

    def buffers(self, operands: Sequence[Any]) -> list[tuple[tuple[int, ...], Any]]:
        """Shape and dtype of each result in memory: gradients of texels have the type of coordinates."""
        real = self.sort(operands).coords.dtype
        if self.kind in ("sample", "push"):
            return self.results(operands)
        return [(shape, real) for shape, _ in self.results(operands)]

    def texel_operands(self, count: int) -> frozenset[int]:
        """Which of ``count`` operands are texels or tangents of texels."""
        tangents = self.num_levels if self.tangents.texels else 0
        end = count - self.tangents.coords - self.tangents.level
        return frozenset([*range(self.num_levels), *range(end - tangents, end)])

    def is_empty(self, operands: Sequence[Any]) -> bool:
        """Whether there are no samples or no texels, so that all results are zeros."""
        sorted_ = self.sort(operands)
        return prod(sorted_.coords.shape) == 0 or any(prod(level.shape) == 0 for level in sorted_.levels)
