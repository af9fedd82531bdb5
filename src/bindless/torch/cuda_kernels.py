"""``launch``: built-in kernels on tensors in CUDA memory, on torch's current stream."""

from __future__ import annotations

from typing import Any

import torch

from ..drivers import cuda
from ..kernels.load import Code, Library

__all__ = ["launch"]

_library: Library[Any] = Library("ptx", "cuda")


def launch(name: str, mode: int | None, grid: tuple[int, int, int], items: int, parameters: bytes, device: int) -> None:
    """Enqueue a kernel.

    Parameters
    ----------
    name : str
        Of a built-in kernel.
    mode : int | None
        Its argument ``mode``, which is a constant of the code that is launched; None for kernels without.
    grid : tuple[int, int, int]
        Work-groups.
    items : int
        Work-items of a work-group, all along the first dimension.
    parameters : bytes
        The arguments, each at a multiple of its size.
    device : int
        Index of torch's device.
    """
    if torch._C._cuda_getDevice() != device:
        with torch.cuda.device(device):
            launch(name, mode, grid, items, parameters, device)
        return
    ffi = cuda.ffi
    function = _library.load(name, None, _build, mode=mode)
    block = ffi.from_buffer(parameters)
    size = ffi.new("size_t *", len(parameters))
    # 1 precedes packed parameters, 2 their size, and 0 ends.
    extra = ffi.new("void *[5]", [ffi.cast("void *", 1), block, ffi.cast("void *", 2), size, ffi.NULL])
    stream = ffi.cast("CUstream", torch._C._cuda_getCurrentRawStream(device))
    done = cuda.lib.cuLaunchKernel(function, *grid, items, 1, 1, 0, stream, ffi.NULL, extra)
    cuda.check(done, "cuLaunchKernel")


def _build(code: Code) -> Any:
    """A kernel for all contexts; the driver loads it in each at its first launch."""
    cuda.load()
    library, kernel, null = cuda.ffi.new("CUlibrary *"), cuda.ffi.new("CUkernel *"), cuda.ffi.NULL
    cuda.check(
        cuda.lib.cuLibraryLoadData(library, cuda.ffi.from_buffer(code.text), null, null, 0, null, null, 0),
        "cuLibraryLoadData",
    )
    cuda.check(cuda.lib.cuLibraryGetKernel(kernel, library[0], code.name.encode()), "cuLibraryGetKernel")
    return cuda.ffi.cast("CUfunction", kernel[0])
