"""``saxpy``, a kernel in Python that ``bindless bench`` measures."""

from __future__ import annotations

from typing import Any

from .. import device
from ..python_kernels.kernel import kernel

__all__ = ["saxpy"]


@kernel
def saxpy(a: float, x: Any, y: Any) -> None:
    """Add ``a * x`` to ``y``."""
    i = device.item_id(0)
    y[i] = a * x[i] + y[i]
