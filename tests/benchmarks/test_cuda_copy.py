"""Copies between images, and between images and device memory: the package's kernels and the driver's own copies.

"kernel" rows force the kernel and "chosen" rows use the default choice; the peer is the driver's copy in the same run.
One copy and a wait shows the crossover, twenty in a row the throughput.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import bindless as bl
from bindless.backends.cuda import surface_copy

pytestmark = pytest.mark.cuda
Compare = Callable[..., Any]
CHOSEN = surface_copy.SMALLEST
FORMATS = {"fp32 x4": ("fp32", 4), "fp32 x1": ("fp32", 1), "unorm8 x1": ("unorm_int8", 1)}


def _work(queue: Any, smallest: int, copies: int, source: Any, target: Any, **given: Any) -> Callable[[], None]:
    def work() -> None:
        surface_copy.SMALLEST = smallest
        try:
            for _ in range(copies - 1):
                queue.ext_oneapi_copy(source, target, **given)
            queue.ext_oneapi_copy(source, target, **given).wait()
        finally:
            surface_copy.SMALLEST = CHOSEN

    return work


def _descriptor(kibibytes: int, form: str) -> bl.ImageDescriptor:
    """Describe an image of this many bytes, as square as possible."""
    channel_type, channels = FORMATS[form]
    item = np.dtype(bl.ImageDescriptor(1, channel_type=channel_type, num_channels=channels).dtype).itemsize * channels
    pixels = (kibibytes << 10) // item
    width = 1 << (pixels.bit_length() // 2)
    return bl.ImageDescriptor(width, pixels // width, channel_type=channel_type, num_channels=channels)


SIZES = [(form, size) for form in FORMATS for size in (64, 256, 1024, 4096, 8192, 16384, 65536, 262144, 1048576)
         if form == "fp32 x4" or size in (4096, 262144)]  # fmt: skip


@pytest.mark.parametrize(("form", "kibibytes"), SIZES)
def test_copies_on_the_device(compare: Compare, device: bl.Device, kibibytes: int, form: str) -> None:
    desc = _descriptor(kibibytes, form)
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


@pytest.mark.parametrize("rows", [1, 2, 4, 8])
@pytest.mark.parametrize("columns", [2, 4, 8, 16, 32, 64])
def test_shapes(compare: Compare, device: bl.Device, monkeypatch: pytest.MonkeyPatch, columns: int, rows: int) -> None:
    """Blobs per row of a work-group, and rows per work-item."""
    desc, chosen = _descriptor(262144, "fp32 x4"), (surface_copy._MOST_COLUMNS, surface_copy._ROWS)
    with bl.Queue(device, in_order=True) as queue, bl.ImageMem(desc, queue) as a, bl.ImageMem(desc, queue) as b:
        memory = bl.usm_empty(desc.shape, desc.dtype, queue)
        queue.fill(memory.view("u1"), 7).wait()

        def shaped(shape: tuple[int, int], work: Callable[[], None]) -> Callable[[], None]:
            def run() -> None:
                monkeypatch.setattr(surface_copy, "_MOST_COLUMNS", shape[0])
                monkeypatch.setattr(surface_copy, "_ROWS", shape[1])
                work()

            return run

        for way, source, target, given in (
            ("image to image", a, b, {}),
            ("image to memory", a, memory, {"dst_desc": desc}),
            ("memory to image", memory, b, {"src_desc": desc}),
        ):
            work = _work(queue, 1, 20, source, target, **given)
            compare(
                shaped((columns, rows), work),
                {"the chosen shape": shaped(chosen, work)},
                name=f"{way} {columns} columns, {rows} rows each",
                rounds=3,
                items=40.0 * desc.nbytes,
                unit="B",
            )
        memory.close()
