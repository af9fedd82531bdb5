"""The kernel ``bindless_line_integrals`` on tensors in CUDA memory."""

from __future__ import annotations

import struct
from typing import Any

from .cuda_kernels import launch as launch_kernel

__all__ = ["launch"]

Tensor = Any
_ITEMS, _RAYS = 256, 32  # of a work-group
_PARAMETERS = struct.Struct("@P3IPIPIPPIQ")


def launch(
    volume: Tensor, starts: Tensor, ends: Tensor, means: Tensor, derivatives: Tensor | None, samples: int
) -> None:
    """Enqueue the kernel on torch's current stream.

    Parameters
    ----------
    volume : Tensor
        Contiguous float32, (depth, height, width).
    starts, ends : Tensor
        Contiguous float32, (count, 3), or (1, 3) for all.
    means : Tensor
        Contiguous float32, (count,); written.
    derivatives : Tensor | None
        Contiguous float32, (count, 6); written.
    samples : int
        Samples of a line.
    """
    depth, height, width = volume.shape
    start_step, end_step = (3 * (len(ends_or_starts) > 1) for ends_or_starts in (starts, ends))
    address = 0 if derivatives is None else derivatives.data_ptr()
    parameters = _PARAMETERS.pack(
        volume.data_ptr(), width, height, depth, starts.data_ptr(), start_step, ends.data_ptr(), end_step,
        means.data_ptr(), address, samples, len(means),
    )  # fmt: skip
    groups = -(-len(means) // _RAYS)
    launch_kernel("bindless_line_integrals", None, (groups, 1, 1), _ITEMS, parameters, volume.device.index)
