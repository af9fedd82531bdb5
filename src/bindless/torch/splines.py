"""Coefficients of B-splines of tensors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from ..model.filter import fold
from ..sampling.memory import splines

__all__ = ["coefficients"]

Tensor = Any


def coefficients(image: Tensor, boundary: Sequence[str]) -> tuple[Tensor, list[int]]:
    """The coefficients of images (N, *axes, C), and their margin for each axis, x first."""
    return splines.coefficients(image, boundary, _read)


def _read(image: Tensor, axis: int, first: int, stop: int, boundary: str) -> Tensor:
    size, index = image.shape[axis], torch.arange(first, stop, device=image.device)
    values = image.index_select(axis, fold(index, size, boundary))
    if boundary != "border":
        return values
    outside = (index < 0) | (index >= size)
    return values.masked_fill(outside.reshape(-1, *[1] * (image.dim() - axis - 1)), 0.0)
