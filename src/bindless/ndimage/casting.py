"""``cast``: conversions of large arrays by all processors."""

from __future__ import annotations

import numpy as np

from ..bindless_images.result_arrays import empty_result
from ..model.arrays import Array, DType
from ..sampling.row_blocks import in_blocks

__all__ = ["cast"]


_SMALL = 1 << 18  # elements that one processor converts


def cast(values: Array, dtype: DType, out: Array | None = None) -> Array:
    """The array as it is where it has the dtype, else as a new one; numbers become the nearest ones of floats.

    Parameters
    ----------
    out : NDArray, optional
        Where they go, of the dtype and the shape.
    """
    if out is None and values.dtype == dtype:
        return values
    if values.size <= _SMALL or not values.flags.c_contiguous or not (out is None or out.flags.c_contiguous):
        if out is None:
            out = np.empty(values.shape, dtype)
        with np.errstate(over="ignore"):
            np.copyto(out, values, casting="unsafe")
        return out
    result = empty_result(values.shape, dtype) if out is None else out
    source, target = values.reshape(-1), result.reshape(-1)

    def convert(start: int, stop: int) -> None:
        with np.errstate(over="ignore"):
            np.copyto(target[start:stop], source[start:stop], casting="unsafe")

    in_blocks(convert, source.size, 1)
    return result
