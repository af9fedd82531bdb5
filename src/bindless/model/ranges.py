"""``Range`` and ``NdRange``: index spaces of kernels (SYCL 2020 section 4.9.1)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Union

import numpy as np

from .errors import NdRangeError
from .image_descriptor import range3

__all__ = ["NdRange", "Range", "RangeLike", "as_range"]


class Range:
    """One to three sizes; the last dimension varies fastest. A value; zero sizes are allowed.

    Raises
    ------
    InvalidError
        A size is not an integer or is negative.
    NdRangeError
        No size, or more than three.

    Examples
    --------
    >>> from bindless import Range
    >>> Range(4, 8).size()
    32
    """

    __slots__ = ("_sizes",)

    def __init__(self, *sizes: int) -> None:
        if not 1 <= len(sizes) <= 3:
            raise NdRangeError(f"a range has one to three dimensions, not {len(sizes)}")
        self._sizes = range3(sizes, "range")[: len(sizes)]

    def __iter__(self) -> Iterator[int]:
        return iter(self._sizes)

    def __len__(self) -> int:
        return len(self._sizes)

    def __getitem__(self, dimension: int) -> int:
        return self._sizes[dimension]

    def size(self) -> int:
        """Number of items."""
        product = 1
        for size in self._sizes:
            product *= size
        return product

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Range) and other._sizes == self._sizes

    def __hash__(self) -> int:
        return hash(self._sizes)

    def __repr__(self) -> str:
        return f"Range({', '.join(map(str, self._sizes))})"


RangeLike = Union[int, Sequence[int], Range]


def as_range(value: RangeLike) -> Range:
    """Convert an int, a tuple or a range to a range."""
    if isinstance(value, Range):
        return value
    several = isinstance(value, Sequence) or (isinstance(value, np.ndarray) and value.ndim > 0)
    return Range(*value) if several else Range(value)  # type: ignore[misc,arg-type]


class NdRange:
    """A global range divided into work-groups of a local range.

    With a global size of 0 no kernel runs, and the local sizes are ignored.

    Parameters
    ----------
    global_range, local_range
        Work-items of the whole range and of a work-group, in SYCL's order of dimensions.
    offset
        First global id, in the same order; zeros by default. SYCL 2020 deprecates offsets. Level Zero, OpenCL and the
        reference device support them, CUDA does not.

    Raises
    ------
    NdRangeError
        Dimensions differ, a local size is 0, or it does not divide the global size.

    Examples
    --------
    >>> from bindless import NdRange
    >>> NdRange((4, 8), (2, 8), offset=(0, 16)).group_range
    Range(2, 1)
    """

    __slots__ = ("global_range", "local_range", "offset")

    def __init__(self, global_range: RangeLike, local_range: RangeLike, offset: RangeLike | None = None) -> None:
        self.global_range = as_range(global_range)
        self.local_range = as_range(local_range)
        self.offset = Range(*[0] * len(self.global_range)) if offset is None else as_range(offset)
        if len(self.offset) != len(self.global_range):
            raise NdRangeError(f"{self.global_range} and offset {self.offset} have different dimensions")
        if len(self.global_range) != len(self.local_range):
            raise NdRangeError(f"{self.global_range} and local {self.local_range} have different dimensions")
        if 0 in self.global_range:
            return
        for size, local in zip(self.global_range, self.local_range):
            if local == 0 or size % local:
                raise NdRangeError(f"local {self.local_range} does not divide {self.global_range}")

    @property
    def group_range(self) -> Range:
        """Number of work-groups by dimension; all 0 if a global size is 0."""
        if 0 in self.global_range:
            return Range(*(0 for _ in self.global_range))
        return Range(*(size // local for size, local in zip(self.global_range, self.local_range)))

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, NdRange)
            and other.global_range == self.global_range
            and other.local_range == self.local_range
            and other.offset == self.offset
        )

    def __hash__(self) -> int:
        return hash((self.global_range, self.local_range, self.offset))

    def __repr__(self) -> str:
        offset = f", {self.offset}" if any(self.offset) else ""
        return f"NdRange({self.global_range}, {self.local_range}{offset})"
