"""Planes of video frames as arrays: checked, and the colour differences in one array."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...model.errors import ArgumentError
from ...sampling.packing import contiguous
from ...sycl.queue.queue import Queue
from ...sycl.usm import usm_empty
from ..array_library import AnyArray, ArrayLike, hand_over, view

__all__ = ["in_pairs", "pair", "settle", "triple"]

_TYPES = (np.dtype(np.uint8), np.dtype(np.uint16))


def _luma(y: ArrayLike, queue: Queue) -> tuple[AnyArray, tuple[int, int]]:
    """The brightness as an array, and the size of the colour differences."""
    luma = view("y", y, queue)
    if luma.ndim != 2 or luma.dtype not in _TYPES or not luma.size:
        raise ArgumentError(
            f"y is {luma.dtype} of shape {luma.shape}: the brightness is uint8 or uint16 of shape (height, width)"
        )
    height, width = luma.shape
    return luma, (-(-height // 2), -(-width // 2))


def _require(name: str, plane: AnyArray, shape: tuple[int, ...], luma: AnyArray) -> None:
    if plane.shape != shape or plane.dtype != luma.dtype:
        raise ArgumentError(
            f"{name} is {plane.dtype} of shape {plane.shape}: of this y, {luma.dtype} of shape {luma.shape}, it is "
            f"{luma.dtype} of shape {shape}"
        )


def pair(y: ArrayLike, uv: ArrayLike, queue: Queue) -> tuple[AnyArray, AnyArray]:
    """The planes of NV12 as arrays, the second of shape (height / 2, width / 2, 2)."""
    luma, (height, width) = _luma(y, queue)
    chroma = view("uv", uv, queue)
    if chroma.shape == (height, 2 * width):
        chroma = chroma.reshape(height, width, 2)
    _require("uv", chroma, (height, width, 2), luma)
    return luma, chroma


def in_pairs(uv: Any) -> Any:
    """The colour differences of NV12 as pairs, where they are rows of an array whose library changes shapes."""
    shape, reshape = getattr(uv, "shape", None), getattr(uv, "reshape", None)
    if not isinstance(shape, tuple) or len(shape) != 2 or reshape is None or shape[1] % 2:
        return uv
    return reshape((shape[0], shape[1] // 2, 2))


def triple(y: ArrayLike, u: ArrayLike, v: ArrayLike, queue: Queue) -> tuple[AnyArray, AnyArray]:
    """Three planes as those of NV12: both differences in one array."""
    luma, half = _luma(y, queue)
    planes = view("u", u, queue), view("v", v, queue)
    for name, plane in zip("uv", planes):
        _require(name, plane, half, luma)
    if isinstance(planes[0], np.ndarray) and isinstance(planes[1], np.ndarray):
        return luma, np.stack(planes, -1)
    both = usm_empty((2, *half), luma.dtype, queue)
    for number, (value, plane) in enumerate(zip([u, v], planes)):
        target = both[number]
        if isinstance(plane, np.ndarray):  # the caller's may change
            queue.memcpy(target, np.ascontiguousarray(plane)).wait()
            continue
        packed, after = contiguous(queue, plane, half, luma.dtype, "plane")
        queue.memcpy(target, packed, depends_on=after)
        hand_over(value, plane)
    settle(queue)
    return luma, both.transpose(1, 2, 0)


def settle(queue: Queue) -> None:
    """Waits where the order of commands does not say what reads wait for."""
    if not queue._stream.in_order:
        queue.wait()
