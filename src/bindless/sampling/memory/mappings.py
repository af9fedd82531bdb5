"""Programs of the coordinates of pixels seen through matrices, and of the gradients of the matrices.

The kernels are those of ``csrc/kernels/source/mapping.cl``. Buffers of a program are its operands, its results and its
scratch memory, in this order.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass

from ...kernels.load import variant_of
from .programs import Program, command

__all__ = ["Mapping", "mapping_coords", "mapping_gradients"]

_ITEMS = 128  # of a work-group
_PER_GROUP, _MOST_GROUPS, _NUMBERS = 1024, 512, 16  # of sums over pixels

_COORDS = struct.Struct("@2P4I")
_SUMS = struct.Struct("@4P4I")
_TOTALS = struct.Struct("@2P2I")


@dataclass(frozen=True)
class Mapping:
    """Pictures seen through matrices.

    Attributes
    ----------
    images : int
        Matrices, 65535 at most.
    size : tuple[int, ...]
        Pixels along the axes, x first; less than 2**32 in all.
    projective : bool
        Whether a matrix has a last row by which the others are divided.
    """

    images: int
    size: tuple[int, ...]
    projective: bool

    @property
    def pixels(self) -> int:
        """Pixels of a picture."""
        x, y, z = (*self.size, 1, 1)[:3]
        return x * y * z

    @property
    def _words(self) -> tuple[int, int, int, int]:
        return *(*self.size, 1)[:2], self.pixels, self._mode  # type: ignore[return-value]

    @property
    def _mode(self) -> int:
        return len(self.size) | self.projective << 2


def mapping_coords(mapping: Mapping) -> Program:
    """Coordinates, the result, from matrices, operand 0."""
    groups = -(-mapping.pixels // _ITEMS), mapping.images, 1, _ITEMS, 1, 1
    words = command(0, groups, _COORDS.pack(0, 0, *mapping._words), [(0, 0, 0), (8, 1, 0)])
    return Program(words, (variant_of("bindless_mapping_coords", mode=mapping._mode),), 0)


def mapping_gradients(mapping: Mapping) -> Program:
    """Gradients of matrices, the result, from the matrices and the gradients of coordinates, the operands."""
    groups = min(-(-mapping.pixels // _PER_GROUP), _MOST_GROUPS)
    names: tuple[str, ...] = (variant_of("bindless_mapping_sums", mode=mapping._mode),)
    patches = [(0, 0, 0), (8, 1, 0), (16, 3, 0), (24, 2, 0)]
    launch = groups, mapping.images, 1, _ITEMS, 1, 1
    if groups == 1:
        del patches[2]
        return Program(command(0, launch, _SUMS.pack(0, 0, 0, 0, *mapping._words), patches), names, 0)
    words = command(0, launch, _SUMS.pack(0, 0, 0, 0, *mapping._words), patches)
    totals = _TOTALS.pack(0, 0, groups, mapping._mode)
    words += command(1, (1, mapping.images, 1, _ITEMS, 1, 1), totals, [(0, 3, 0), (8, 2, 0)])
    names = (*names, variant_of("bindless_mapping_totals", mode=mapping._mode))
    return Program(words, names, 8 * _NUMBERS * mapping.images * groups)
