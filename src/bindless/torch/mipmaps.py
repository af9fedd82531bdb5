"""``halved`` and ``pyramid``: the levels of a mipmap, in operations of torch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

__all__ = ["halved", "pyramid"]

Tensor = Any


def halved(image: Tensor, axes: Sequence[int]) -> Tensor:
    """The means of the areas that the texels of the next level cover; axes of one texel stay.

    A texel of the next level covers 2 texels of an axis of even length, and 2 + 1/t of one of length 2 t + 1.
    """
    for axis in axes:
        image = _halved(image, axis)
    return image


def pyramid(image: Tensor, axes: Sequence[int], most: int | None = None) -> list[Tensor]:
    """All levels of a mipmap, the image first.

    Parameters
    ----------
    image : Tensor
        Of any shape.
    axes : Sequence[int]
        Axes of texels.
    most : int, optional
        Largest number of a level; default: down to one texel.
    """
    levels = [image]
    while max(levels[-1].shape[axis] for axis in axes) > 1 and (most is None or len(levels) <= most):
        levels.append(halved(levels[-1], axes))
    return levels


def _halved(image: Tensor, axis: int) -> Tensor:
    size = image.shape[axis]
    if size == 1:
        return image
    half = size // 2
    if size % 2 == 0:
        return image.unflatten(axis, (half, 2)).mean(axis + 1)
    first = torch.arange(half, 0, -1, device=image.device, dtype=image.dtype) / size
    shape = (half, *[1] * (image.dim() - axis - 1))
    first, last = first.reshape(shape), first.flip(0).reshape(shape)
    pairs = image.narrow(axis, 0, 2 * half).unflatten(axis, (half, 2))
    left, middle = pairs.select(axis + 1, 0), pairs.select(axis + 1, 1)
    right = image.narrow(axis, 1, 2 * half).unflatten(axis, (half, 2)).select(axis + 1, 1)
    return left * first + middle * (half / size) + right * last
