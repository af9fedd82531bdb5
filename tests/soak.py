"""Soak test: all features in rotation for minutes, with constant memory, descriptors and driver objects.

python -m tests.soak --device reference --minutes 10 [--seed 1] [--every 30]

pytest does not collect this module. Every half minute the program prints the number of operations, the resident memory,
the device's free memory, the open descriptors, and the live objects of the driver and of the package. The counts after
a fifth of the time are the limits: the program ends with an error if descriptors or objects exceed them at the end, or
if memory grows by more than an allowance. It compares results on the way, so that a run tests them too. ``level_zero``
is the package's own driver, as in the tests.
"""

from __future__ import annotations

import argparse
import contextlib
import gc
import os
import random
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import bindless as bl
from bindless import kernels
from bindless.cli.ze_driver import driver_path
from bindless.submission.command_stream import wait_for_all
from tests.support import stress
from tests.support.shared_files import SharedFile

MEBIBYTE = 1 << 20
MORE_RESIDENT = 24  # allowed growth of the process in MiB: fragments of the allocator
MORE_ON_DEVICE = 32  # MiB; pools of the driver
MORE_POOLS = 16  # objects of the package's Level Zero driver: pools of events and lists kept for reuse
THREADS = 4

KINDS: tuple[dict[str, Any], ...] = (
    {"width": 300},
    {"width": 64, "height": 48},
    {"width": 24, "height": 16, "depth": 8},
    {"width": 64, "height": 32, "type": "mipmap", "num_levels": 4},
    {"width": 32, "height": 32, "type": "array", "array_size": 5},
    {"width": 50, "type": "array", "array_size": 4},
    {"width": 32, "height": 32, "type": "cubemap", "array_size": 6},
)
CHANNELS = (("unorm_int8", 4), ("fp32", 1), ("fp32", 4), ("fp16", 2), ("unsigned_int16", 4), ("signed_int32", 1))


class Soak:
    """A device, the operations on it, and the features that it lacks."""

    def __init__(self, device: bl.Device, seed: int) -> None:
        self.device, self.random = device, random.Random(seed)
        self.context = bl.Context(device)
        self.queue = bl.Queue(device, self.context, in_order=True)
        self.loose = bl.Queue(device, self.context)
        self.numbers = np.random.default_rng(seed)
        self.lacks: set[str] = set()
        self.done = 0

    # ------------------------------------------------------------------ images

    def image_of_any_kind(self) -> None:
        """Allocate, write and read an image; create and destroy its handles."""
        kind = self.random.choice(KINDS)
        channel_type, channels = self.random.choice(CHANNELS)
        desc = bl.ImageDescriptor(**kind, num_channels=channels, channel_type=channel_type)
        queue = self.random.choice((self.queue, self.loose))
        level = desc.get_mip_level_desc(0) if desc.num_levels > 1 else desc
        with bl.ImageMem(desc, queue) as memory:
            target: Any = memory if desc.num_levels == 1 else bl.get_mip_level_mem_handle(memory.get_handle(), 0, queue)
            pixels = self._pixels(level)
            queue.ext_oneapi_copy(pixels, target, **self._told(level, desc, "dst_desc")).wait()
            back = np.zeros_like(pixels)
            queue.ext_oneapi_copy(target, back, **self._told(level, desc, "src_desc")).wait()
            assert np.array_equal(back, pixels)
            floats = channel_type in ("unorm_int8", "fp32", "fp16")
            filtering = "linear" if floats else "nearest"
            sampler = bl.BindlessImageSampler(
                "clamp_to_edge", "normalized", filtering, max_mipmap_level_clamp=float("inf")
            )
            with contextlib.suppress(bl.FeatureNotSupportedError):
                bl.destroy_image_handle(bl.create_image(memory, desc, queue, sampler=sampler), queue)

    @staticmethod
    def _told(level: bl.ImageDescriptor, desc: bl.ImageDescriptor, keyword: str) -> dict[str, Any]:
        """Return the format of a level, which its handle does not carry."""
        return {keyword: level} if desc.num_levels > 1 else {}

    def _pixels(self, desc: bl.ImageDescriptor) -> Any:
        if np.dtype(desc.dtype).kind == "f":
            return self.numbers.random(desc.shape).astype(desc.dtype)
        return self.numbers.integers(0, 100, desc.shape).astype(desc.dtype)

    def whole_images(self) -> None:
        """Use ``Image`` objects: samples, fetches, pictures, levels."""
        pixels = self.numbers.random((40, 60, 4)).astype(np.float32)
        with bl.Image(pixels, queue=self.queue, mipmaps=self._has("ext_oneapi_mipmap"), filtering="linear") as image:
            assert np.array_equal(image.numpy(), pixels)
            where = self.numbers.integers(0, 40, (100, 2))
            assert np.array_equal(image.fetch(where), pixels[where[:, 1], where[:, 0]])
            assert np.array_equal(image.sample(where + 0.5), pixels[where[:, 1], where[:, 0]])
            image.resize(self.random.choice(((30, 20), (120, 80))))
            image.warp([[1, 0, 3], [0, 1, 2]], (30, 30))

    def _has(self, aspect: str) -> bool:
        return bool(self.device.has(aspect))

    def image_over_memory(self) -> None:
        desc = bl.ImageDescriptor(64, 64, num_channels=4, channel_type="fp32")
        pointer, pitch = bl.pitched_alloc_device(desc, self.queue)
        image = bl.create_image(
            pointer, desc, self.queue, pitch=pitch, sampler=bl.BindlessImageSampler("clamp_to_edge")
        )
        bl.destroy_image_handle(image, self.queue)
        bl.free(pointer, self.queue)

    # ------------------------------------------------------------------ copies

    def copies(self) -> None:
        """Copy between memories, images and host, parts included."""
        queue = self.random.choice((self.queue, self.loose))
        desc = bl.ImageDescriptor(128, 64, num_channels=4, channel_type="unsigned_int8")
        pixels = self._pixels(desc)
        with bl.ImageMem(desc, queue) as first, bl.ImageMem(desc, queue) as second:
            array = bl.usm_empty(desc.shape, np.uint8, queue)
            event = queue.ext_oneapi_copy(pixels, first)
            event = queue.ext_oneapi_copy(first, second, depends_on=event)
            event = queue.ext_oneapi_copy(second, array, dst_desc=desc, depends_on=event)
            event.wait()
            assert np.array_equal(array.numpy(queue), pixels)
            array.close()

    def staging(self) -> None:
        """Copy large pageable arrays, with threads and pinned buffers where the backend uses them."""
        side = self.random.choice((1024, 2048))
        desc = bl.ImageDescriptor(side, side, num_channels=4, channel_type="fp32")
        pixels = np.full(desc.shape, self.done % 1000, np.float32)
        with bl.ImageMem(desc, self.queue) as memory:
            self.queue.ext_oneapi_copy(pixels, memory)
            back = np.empty_like(pixels)
            self.queue.ext_oneapi_copy(memory, back).wait()
            assert np.array_equal(back[:: side // 8], pixels[:: side // 8])

    # ------------------------------------------------------------------ kernels, graphs, events

    def _bundle(self) -> bl.KernelBundle:
        target: Any = {"cuda": "ptx", "opencl": "opencl_c"}.get(str(self.device.backend), "spirv")
        return bl.load_kernel_bundle(kernels.source("launch", target), self.queue)

    def launches(self) -> None:
        with self._bundle() as bundle:
            kernel = bundle.get_kernel("bindless_four_arguments")
            out = bl.usm_empty((1,), np.uint64, self.queue)
            arguments = out, np.uint64(5), np.uint32(7), np.float32(2.5)
            bound = kernel.bind(self.queue, 1, *arguments)
            for _ in range(20):
                self.queue.parallel_for(1, kernel, *arguments)
                bound()
            self.queue.wait()

    def graphs(self) -> None:
        with self._bundle() as bundle, bl.CommandGraph(self.random.choice((self.queue, self.loose))) as graph:
            kernel = bundle.get_kernel("bindless_empty")
            array, out = bl.usm_empty((64,), np.int32, self.queue), np.zeros(64, np.int32)
            graph.fill(array, self.done)
            for _ in range(10):
                graph.parallel_for(64, kernel)
            graph.memcpy(out, array)
            event = graph()
            for _ in range(3):
                event = graph(depends_on=event)
            event.wait()
            assert (out == self.done).all()

    def events(self) -> None:
        """Submit chains over both queues, barriers, timestamps, and events without a wait."""
        array = bl.usm_empty((256,), np.int32, self.queue)
        event = self.queue.fill(array, 1)
        for number in range(10):
            event = self.random.choice((self.queue, self.loose)).fill(array, number, depends_on=event)
        self.loose.ext_oneapi_submit_barrier(event).wait()
        with bl.Queue(self.device, self.context, enable_profiling=True) as profiled:
            timed = profiled.fill(array, 3)
            timed.wait()

    def threads(self) -> None:
        """Run the operations of the stress program on several threads."""
        shared = [self.queue, self.loose]
        workers = [
            stress.Worker(self.random.randrange(1 << 30), self.device, self.context, shared) for _ in range(THREADS)
        ]
        try:
            stress.together(workers, lambda worker: worker.done >= 20)
        finally:
            for worker in workers:
                worker.own.close()

    # ------------------------------------------------------------------ external memory

    def external_memory(self) -> None:
        """Import and map a file, as another process could own it."""
        desc = bl.ImageDescriptor(32, 32, num_channels=4, channel_type="fp32")
        shared = SharedFile.make(1 << 16)
        try:
            memory = bl.import_external_memory(shared.descriptor(), self.queue)
            handle = bl.map_external_image_memory(memory, desc, self.queue)
            pixels = self._pixels(desc)
            self.queue.ext_oneapi_copy(pixels, handle, dst_desc=desc).wait()
            assert np.array_equal(shared.seen(pixels.shape, np.float32), pixels)
            bl.unmap_external_image_memory(handle, "standard", self.queue)
            bl.release_external_memory(memory, self.queue)
        finally:
            shared.close()

    def turns(self) -> tuple[Callable[[], None], ...]:
        chosen = [
            self.image_of_any_kind, self.image_of_any_kind, self.whole_images, self.image_over_memory, self.copies,
            self.staging, self.launches, self.graphs, self.events, self.threads,
        ]  # fmt: skip
        if self.device.backend in ("reference", "level_zero"):  # files; the other backends import driver memory only
            chosen.append(self.external_memory)
        return tuple(chosen)

    def rotate(self) -> None:
        """Run each operation once; skip those that the device reports as unsupported."""
        for turn in self.turns():
            try:
                turn()
            except bl.FeatureNotSupportedError as refusal:
                self.lacks.add(f"{turn.__name__}: {str(refusal)[:100]}")
            self.done += 1


@dataclass
class Reading:
    """Resources of a process at one time; memory in MiB."""

    seconds: float
    done: int
    resident: float
    descriptors: int
    counts: dict[str, int]

    def __str__(self) -> str:
        counts = ", ".join(f"{name} {value}" for name, value in self.counts.items())
        return (
            f"{self.seconds:6.0f} s  {self.done:7d} turns  {self.resident:7.1f} MiB resident  "
            f"{self.descriptors:4d} descriptors  {counts}"
        )


def read(soak: Soak, seconds: float) -> Reading:
    """Take a reading after a garbage collection, with no pending work."""
    soak.queue.wait()
    soak.loose.wait()
    wait_for_all()  # and for the work of closed queues
    gc.collect()
    counts = stress.native_objects(soak.device)
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    descriptors = len(os.listdir("/proc/self/fd"))
    return Reading(seconds, soak.done, pages * os.sysconf("SC_PAGE_SIZE") / MEBIBYTE, descriptors, counts)


def grown(early: list[Reading], after: Reading, pools: int) -> list[str]:
    """Describe the resources that grew, with an allowance of driver objects. Caches grow and shrink: counts are
    compared with their maximum.
    """
    before = early[-1]
    found = []
    if after.resident > before.resident + MORE_RESIDENT:
        found.append(f"{after.resident - before.resident:.1f} MiB of resident memory, {MORE_RESIDENT} may be")
    if after.descriptors > before.descriptors:
        found.append(f"{after.descriptors - before.descriptors} descriptors")
    for name, value in after.counts.items():
        allowed = MORE_ON_DEVICE if name == "used_mebibytes" else pools if name == "driver" else 0
        most = max(reading.counts[name] for reading in early)
        if value > most + allowed:
            found.append(f"{value - most} of {name}")
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", default="reference")
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--every", type=float, default=30.0, metavar="SECONDS")
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    if arguments.device == "level_zero":
        os.environ.setdefault("ZE_ENABLE_ALT_DRIVERS", str(driver_path()))
    device = bl.Device(arguments.device if ":" in arguments.device else f"{arguments.device}:*:*")
    soak = Soak(device, arguments.seed)
    print(f"{device.name}, driver {device.driver_version} [{device.backend}]", flush=True)
    start, warm = time.monotonic(), 0
    readings: list[Reading] = []
    total = 60 * arguments.minutes
    while (passed := time.monotonic() - start) < total:
        end = min(passed + arguments.every, total)
        while time.monotonic() - start < end:
            soak.rotate()
        readings.append(read(soak, time.monotonic() - start))
        print(readings[-1], flush=True)
        if not warm and readings[-1].seconds >= total / 5:
            warm = len(readings)
    for refusal in sorted(soak.lacks):
        print(f"not there: {refusal}")
    if not 0 < warm < len(readings):
        print("too short to tell: give more minutes, or readings more often")
        return 2
    more = grown(readings[:warm], readings[-1], MORE_POOLS if device.backend == "level_zero" else 0)
    print(f"grown since {readings[warm - 1].seconds:.0f} s: {'; '.join(more) or 'nothing'}")
    return 1 if more else 0


if __name__ == "__main__":
    sys.exit(main())
