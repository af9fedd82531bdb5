"""Kernels in Python that ``bindless bench`` runs on the processor, next to numba's loops of the same work."""

from __future__ import annotations

import numpy as np

from .. import device
from ..model.arrays import Array
from ..python_kernels.kernel import kernel

__all__ = ["GROUP", "axpby", "mandelbrot", "matrix_product", "stencil", "tree_sum"]

GROUP = 256  # work-items that add one sum


@kernel
def axpby(a: float, x: Array, b: float, y: Array, out: Array) -> None:
    """Write ``a * x + b * y``."""
    i = device.item_id(0)
    out[i] = a * x[i] + b * y[i]


@kernel
def matrix_product(left: Array, right: Array, out: Array) -> None:
    """Multiply two matrices, one element a work-item."""
    i, j = device.item_id(0), device.item_id(1)
    total = np.float32(0)
    for k in range(left.shape[1]):
        total += left[i, k] * right[k, j]
    out[i, j] = total


@kernel
def stencil(values: Array, out: Array) -> None:
    """Average each inner element and its four neighbours."""
    i, j = device.item_id(0), device.item_id(1)
    if 0 < i < values.shape[0] - 1 and 0 < j < values.shape[1] - 1:
        around = values[i - 1, j] + values[i + 1, j] + values[i, j - 1] + values[i, j + 1]
        out[i, j] = np.float32(0.2) * (values[i, j] + around)


@kernel
def tree_sum(values: Array, sums: Array) -> None:
    """Add the elements of each group in local memory, by halves."""
    shared = device.local_array(GROUP, np.float32)
    item = device.local_id(0)
    shared[item] = values[device.item_id(0)]
    device.barrier()
    half = GROUP // 2
    while half > 0:
        if item < half:
            shared[item] += shared[item + half]
        device.barrier()
        half //= 2
    if item == 0:
        sums[device.group_id(0)] = shared[0]


@kernel
def mandelbrot(left: float, top: float, step: float, limit: int, counts: Array) -> None:
    """Count the steps until each point of the plane escapes."""
    i, j = device.item_id(0), device.item_id(1)
    cx, cy = np.float32(left) + np.float32(step) * np.float32(j), np.float32(top) + np.float32(step) * np.float32(i)
    x = y = np.float32(0)
    count = 0
    while count < limit and x * x + y * y <= np.float32(4):
        x, y = x * x - y * y + cx, np.float32(2) * x * y + cy
        count += 1
    counts[i, j] = count
