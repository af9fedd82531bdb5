"""``cast``: conversions of large arrays by all processors."""

from __future__ import annotations

import numpy as np

from ..bindless_images.result_arrays import empty_result
from ..model.arrays import Array, DType
from ..sampling.row_blocks import in_blocks

__all__ = ["cast"]


def cast(values: Array, dtype: DType) -> Array:
    """The array as it is where it has the dtype, else as a new one; numbers become the nearest ones of floats."""
    if values.dtype == dtype:
        return values
    if not values.flags.c_contiguous:
        return values.astype(dtype)
    result = empty_result(values.shape, dtype)
    source, target = values.reshape(-1), result.reshape(-1)

    def convert(start: int, stop: int) -> None:
        with np.errstate(over="ignore"):
            np.copyto(target[start:stop], source[start:stop], casting="unsafe")

    in_blocks(convert, source.size, 1)
    return result
