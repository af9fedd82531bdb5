"""The kernel ``bindless_line_integrals`` on tensors in CUDA memory."""

from __future__ import annotations

import struct
from functools import cache
from typing import Any

import torch

from .. import kernels
from ..drivers import cuda

__all__ = ["launch"]

Tensor = Any
_NAME = "bindless_line_integrals"
_ITEMS, _RAYS = 256, 32  # of a work-group
_PARAMETERS = struct.Struct("@P3I4xPI4xPI4xPPI4xQ")


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
    steps = (3 * (len(ends_or_starts) > 1) for ends_or_starts in (starts, ends))
    address = 0 if derivatives is None else derivatives.data_ptr()
    start_step, end_step = steps
    parameters = _PARAMETERS.pack(
        volume.data_ptr(), width, height, depth, starts.data_ptr(), start_step, ends.data_ptr(), end_step,
        means.data_ptr(), address, samples, len(means),
    )  # fmt: skip
    with torch.cuda.device(volume.device):
        stream = torch.cuda.current_stream(volume.device).cuda_stream
        block = cuda.ffi.from_buffer(parameters)
        size = cuda.ffi.new("size_t *", len(parameters))
        # 1 precedes packed parameters, 2 their size, and 0 ends.
        extra = cuda.ffi.new(
            "void *[]", [cuda.ffi.cast("void *", 1), block, cuda.ffi.cast("void *", 2), size, cuda.ffi.NULL]
        )
        groups = -(-len(means) // _RAYS)
        done = cuda.lib.cuLaunchKernel(
            _kernel(), groups, 1, 1, _ITEMS, 1, 1, 0, cuda.ffi.cast("CUstream", stream), cuda.ffi.NULL, extra
        )
        cuda.check(done, "cuLaunchKernel")


@cache
def _kernel() -> Any:
    """The kernel, for all contexts; it is loaded in each at its first launch."""
    cuda.load()
    library, found = cuda.ffi.new("CUlibrary *"), cuda.ffi.new("CUkernel *")
    null = cuda.ffi.NULL
    image = kernels.source(kernels.module_of(_NAME), "ptx")
    cuda.check(
        cuda.lib.cuLibraryLoadData(library, cuda.ffi.from_buffer(image), null, null, 0, null, null, 0),
        "cuLibraryLoadData",
    )
    cuda.check(cuda.lib.cuLibraryGetKernel(found, library[0], _NAME.encode()), "cuLibraryGetKernel")
    return cuda.ffi.cast("CUfunction", found[0])
