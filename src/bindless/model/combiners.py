"""Operations that combine the values of work-items, and their identities."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from .arrays import DType

__all__ = ["COMBINERS", "identity_of"]

COMBINERS: Mapping[str, Callable[[Any, Any], Any]] = {
    "add": operator.add, "mul": operator.mul, "min": min, "max": max, "and": operator.and_, "or": operator.or_,
    "xor": operator.xor,
}  # fmt: skip
"""The operations, as functions of two numbers."""


@functools.cache
def identity_of(combiner: str, dtype: DType) -> Any:
    """Return the number that an operation ignores, of a type."""
    if combiner in ("min", "max"):
        if dtype.kind == "f":
            return dtype.type(np.inf if combiner == "min" else -np.inf)
        limits = np.iinfo(dtype)
        return dtype.type(limits.max if combiner == "min" else limits.min)
    if combiner == "and":
        return ~dtype.type(0)
    return dtype.type(1 if combiner == "mul" else 0)
