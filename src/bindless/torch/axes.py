"""Numbers for each axis, applied without a tensor of them: such a tensor would be copied from the host in each call."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

__all__ = ["mapped", "scaled", "shifted"]

Tensor = Any


def scaled(tensor: Tensor, factors: Sequence[float], axis: int = -1) -> Tensor:
    """Products with one factor for each entry of an axis."""
    if len(set(factors)) == 1:
        return tensor * factors[0]
    return torch.stack([part * factor for part, factor in zip(tensor.unbind(axis), factors)], axis)


def shifted(tensor: Tensor, offsets: Sequence[float], axis: int = -1) -> Tensor:
    """Sums with one number for each entry of an axis."""
    if len(set(offsets)) == 1:
        return tensor + offsets[0]
    return torch.stack([part + offset for part, offset in zip(tensor.unbind(axis), offsets)], axis)


def mapped(tensor: Tensor, factors: Sequence[float], offsets: Sequence[float]) -> Tensor:
    """Products with one factor for each entry of the last axis, plus one number: one pass where all are the same."""
    if len(set(factors)) == len(set(offsets)) == 1:
        return torch.add(torch.tensor(offsets[0], dtype=tensor.dtype), tensor, alpha=factors[0])
    return shifted(scaled(tensor, factors), offsets)
