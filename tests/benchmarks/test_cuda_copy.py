"""Copies between images, and between images and device memory: by our kernels, beside the driver's own copies.

"kernel" rows force the kernel and "chosen" rows are what a user gets; the peer is the driver's copy in the same run.
One copy and a wait shows where the crossover lies, twenty at a time the throughput.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import bindless as bl
from bindless.backends import _cuda_copy_kernels as kernels

pytestmark = pytest.mark.cuda
Compare = Callable[..., Any]
CHOSEN = kernels.SMALLEST
FORMATS = {"fp32 x4": ("fp32", 4), "fp32 x1": ("fp32", 1), "unorm8 x1": ("unorm_int8", 1)}


def _work(queue: Any, smallest: int, copies: int, source: Any, target: Any, **given: Any) -> Callable[[], None]:
    def work() -> None:
        kernels.SMALLEST = smallest
        try:
            for _ in range(copies - 1):
                queue.ext_oneapi_copy(source, target, **given)
            queue.ext_oneapi_copy(source, target, **given).wait()
        finally:
            kernels.SMALLEST = CHOSEN

    return work


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("kibibytes", [64, 256, 1024, 4096, 65536, 262144, 1048576])
def test_copies_on_the_device(compare: Compare, device: bl.Device, kibibytes: int, form: str) -> None:
    channel_type, channels = FORMATS[form]
    if form != "fp32 x4" and kibibytes not in (1024, 262144):
        return
    item = np.dtype(bl.ImageDescriptor(1, channel_type=channel_type, num_channels=channels).dtype).itemsize * channels
    pixels = (kibibytes << 10) // item
    width = 1 << (pixels.bit_length() // 2)
    desc = bl.ImageDescriptor(width, pixels // width, channel_type=channel_type, num_channels=channels)
    with bl.Queue(device, in_order=True) as queue, bl.ImageMem(desc, queue) as a, bl.ImageMem(desc, queue) as b:
        memory = bl.usm_empty(desc.shape, desc.dtype, queue)
        queue.fill(memory.view("u1"), 7).wait()
        queue.ext_oneapi_copy(memory, a, src_desc=desc).wait()
        ways = {
            "image to image": (a, b, {}),
            "image to memory": (a, memory, {"dst_desc": desc}),
            "memory to image": (memory, b, {"src_desc": desc}),
        }
        for way, (source, target, given) in ways.items():
            for copies in (1, 20):
                for name, smallest in (("kernel", 1), ("chosen", CHOSEN)):
                    compare(
                        _work(queue, smallest, copies, source, target, **given),
                        {"driver's copy": _work(queue, 1 << 60, copies, source, target, **given)},
                        name=f"{way} {form} {kibibytes} KiB, {copies} at a time, {name}",
                        rounds=7 if kibibytes > 4096 else 30,
                        items=2.0 * desc.nbytes * copies,
                        unit="B",
                        target="4 x at 256 MiB, never slower",
                    )
        memory.close()
