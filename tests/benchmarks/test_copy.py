"""Threads and pieces of copies through pinned memory; ``bindless bench`` has the copies of all sizes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import bindless as bl
from bindless.backends.cuda import pinned_staging

Compare = Callable[..., Any]


Work = Callable[[], object]


def _driver_copies(queue: Any, memory: Any, pixels: np.ndarray) -> tuple[dict[str, Work], dict[str, Work]]:
    """Return copies of the same array to the same CUDA array and back without the facade."""
    from bindless.drivers import cuda as driver

    lib, ffi = driver.lib, driver.ffi
    height, width, channels = pixels.shape
    row = width * channels * pixels.itemsize
    queue._native.primary.activate()

    def parameters(to_array: bool) -> Any:
        copy = ffi.new("CUDA_MEMCPY2D *")
        host, array = int(driver.CUmemorytype.CU_MEMORYTYPE_HOST), int(driver.CUmemorytype.CU_MEMORYTYPE_ARRAY)
        address = ffi.cast("void *", pixels.ctypes.data)
        native = ffi.cast("CUarray", memory.get_handle().raw_handle)
        if to_array:
            copy.srcMemoryType, copy.srcHost, copy.srcPitch = host, address, row
            copy.dstMemoryType, copy.dstArray = array, native
        else:
            copy.srcMemoryType, copy.srcArray = array, native
            copy.dstMemoryType, copy.dstHost, copy.dstPitch = host, address, row
        copy.WidthInBytes, copy.Height = row, height
        return copy

    def copies(copy: Any) -> dict[str, Work]:
        return {"driver's copy": lambda: driver.check(lib.cuMemcpy2D(copy), "cuMemcpy2D")}

    return copies(parameters(True)), copies(parameters(False))


@pytest.mark.cuda
@pytest.mark.parametrize("mebibytes", [8, 32, 256])
@pytest.mark.parametrize("kibibytes", [512, 1024, 2048, 4096])
@pytest.mark.parametrize("threads", [4, 8, 12, 16])
def test_staging(
    compare: Compare, queue: Any, mebibytes: int, threads: int, kibibytes: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Threads and the size of their pieces, compared with the driver's copy."""
    side = int(np.sqrt(mebibytes * 2**20 / 16))
    pixels = np.random.default_rng(3).random((side, side, 4)).astype(np.float32)
    back, desc = np.empty_like(pixels), bl.ImageDescriptor.from_array(pixels)
    monkeypatch.setattr(pinned_staging, "SMALLEST", {True: 1, False: 1})
    monkeypatch.setattr(pinned_staging, "_threads", lambda: threads)
    monkeypatch.setattr(pinned_staging, "staging_bytes", lambda: threads * 2 * kibibytes << 10)
    monkeypatch.setattr(queue.device._record.native.context(), "staging", None)
    with bl.ImageMem(desc, queue) as memory:
        upload, _ = _driver_copies(queue, memory, pixels)
        _, download = _driver_copies(queue, memory, back)
        for name, ours, theirs in (
            ("to image", lambda: queue.ext_oneapi_copy(pixels, memory).wait(), upload),
            ("from image", lambda: queue.ext_oneapi_copy(memory, back).wait(), download),
        ):
            row = f"{threads} threads, pieces of {kibibytes} KiB, {mebibytes} MiB {name}"
            compare(ours, theirs, name=row, rounds=9 if mebibytes > 32 else 20, items=pixels.nbytes, unit="B")
