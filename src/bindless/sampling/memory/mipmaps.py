"""Levels of mipmaps, in operations that arrays of all libraries have: each texel is the mean of the area it covers.

A texel of the next level covers 2 texels of an axis of even length, and 2 + 1/t of one of length 2 t + 1; axes of one
texel stay.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

__all__ = ["level_count", "reductions"]


def level_count(sizes: Iterable[int], most: int | None = None) -> int:
    """Levels after the first, down to one texel or up to a largest number."""
    count, size = 0, max(sizes)
    while size > 1 and (most is None or count < most):
        count, size = count + 1, size // 2
    return count


def reductions(
    image: Any, axes: Sequence[int], count: int, outer_weights: Callable[[Any, int, int], tuple[Any, Any]]
) -> list[Any]:
    """Levels 1 to ``count`` of an image.

    Parameters
    ----------
    image : array
        Array (..., *axes, C).
    axes : Sequence[int]
        Axes of texels.
    outer_weights : Callable
        ``outer_weights(image, axis, size)``: weights of the first and the last of three texels, for each mean along an
        axis of odd length: (half, ..., 1) / size and its reverse, with as many axes as the image has from there on.
    """
    levels = [image]
    for _ in range(count):
        level = levels[-1]
        for axis in axes:
            level = _halve(level, axis, outer_weights)
        levels.append(level)
    return levels[1:]


def _halve(image: Any, axis: int, outer_weights: Callable[[Any, int, int], tuple[Any, Any]]) -> Any:
    shape, before = image.shape, (slice(None),) * axis
    size, half = shape[axis], shape[axis] // 2
    if size == 1:
        return image
    if size % 2 == 0:
        return image.reshape((*shape[:axis], half, 2, *shape[axis + 1 :])).mean(axis + 1)
    first, last = outer_weights(image, axis, size)
    thirds = [(*before, slice(start, start + 2 * half - 1, 2)) for start in range(3)]
    left, middle, right = [image[part] for part in thirds]
    return left * first + middle * (half / size) + right * last
