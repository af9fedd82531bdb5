"""``launch``: built-in kernels on tensors in CUDA memory, on torch's current stream."""

from __future__ import annotations

from typing import Any

import torch

from .. import kernels
from ..drivers import cuda

__all__ = ["launch"]

_functions: dict[tuple[str, int | None], Any] = {}


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
    function = _functions.get((name, mode)) or _load(name, mode)
    block = ffi.from_buffer(parameters)
    size = ffi.new("size_t *", len(parameters))
    # 1 precedes packed parameters, 2 their size, and 0 ends.
    extra = ffi.new("void *[5]", [ffi.cast("void *", 1), block, ffi.cast("void *", 2), size, ffi.NULL])
    stream = ffi.cast("CUstream", torch._C._cuda_getCurrentRawStream(device))
    done = cuda.lib.cuLaunchKernel(function, *grid, items, 1, 1, 0, stream, ffi.NULL, extra)
    cuda.check(done, "cuLaunchKernel")


def _load(name: str, mode: int | None) -> Any:
    """The kernel, for all contexts; the driver loads it in each at its first launch."""
    cuda.load()
    library, found, null = cuda.ffi.new("CUlibrary *"), cuda.ffi.new("CUkernel *"), cuda.ffi.NULL
    if mode is None:
        text = kernels.source(kernels.module_of(name), "ptx")
    else:
        text = kernels.specialised(name, None, mode_word=mode)
    cuda.check(
        cuda.lib.cuLibraryLoadData(library, cuda.ffi.from_buffer(text), null, null, 0, null, null, 0),
        "cuLibraryLoadData",
    )
    cuda.check(cuda.lib.cuLibraryGetKernel(found, library[0], name.encode()), "cuLibraryGetKernel")
    function = _functions[name, mode] = cuda.ffi.cast("CUfunction", found[0])
    return function
