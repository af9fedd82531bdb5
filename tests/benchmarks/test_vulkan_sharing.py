"""A frame shared with Vulkan, compared with a frame copied through the host; waits and signals, with the driver's.

pytest tests/benchmarks/test_vulkan_sharing.py --device cuda
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from functools import cache
from itertools import count
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import bindless as bl
from bindless.interop.vulkan import ExportedImage, ExportedSemaphore, Exporter
from tests.interop.vulkan.sharing_checks import imported_semaphore, mapped_image
from tests.interop.vulkan.vulkan_fixtures import exporter, instance, manifest, pytest_generate_tests, rig
from tests.interop.vulkan.vulkan_rig import Rig, Staging, queue_family, vk

__all__ = ["exporter", "instance", "manifest", "pytest_generate_tests", "rig"]

pytestmark = pytest.mark.vulkan

Compare = Callable[..., Any]
Work = Callable[[], None]
SIDE = 4096
DESC = bl.ImageDescriptor(SIDE, SIDE, num_channels=4, channel_type="unorm_int8")
FRAMES = 24
PAIRS = 200


@cache
def pixels() -> npt.NDArray[np.uint8]:
    return np.random.default_rng(5).integers(0, 256, DESC.shape, np.uint8)


@pytest.fixture
def ordered(device: bl.Device) -> Iterator[bl.Queue]:
    with bl.Queue(device, in_order=True) as queue:
        yield queue


class Frames:
    """Vulkan frames that alternate between the two queues, in as many images as are in flight; and through the host.

    Nothing is drawn and nothing computed, which takes the same time either way: only the synchronisation remains.
    """

    def __init__(self, stack: ExitStack, rig: Rig, exporter: Exporter, queue: bl.Queue, in_flight: int) -> None:
        self.rig, self.queue = rig, queue
        images = [stack.enter_context(exporter.image(DESC)) for _ in range(in_flight)]
        for image in images:
            rig.start(image)
            rig.write(image, [pixels()])
            stack.enter_context(mapped_image(image, queue))
        self.nothing = rig.record(rig.barrier)
        self.turns: list[_Turn] = []
        if rig.has_semaphores:
            self.turns = [_Turn(stack, rig, exporter, queue, self.nothing) for _ in images]
        # Through the host: images of this package stand in for the shared images.
        self.staging = [stack.enter_context(Staging(rig, DESC.nbytes)) for _ in images]
        self.ours = [stack.enter_context(bl.ImageMem(DESC, queue)) for _ in images]
        self.downloads = [rig.batch(rig.record(_download(rig, *each))) for each in zip(images, self.staging)]
        self.fences = [stack.enter_context(rig.fence()) for _ in images]

    def shared(self) -> None:
        """Wait for each image, and return it, before Vulkan uses it again."""
        if not self.turns:
            return self._by_waits()
        for index in range(FRAMES):
            turn = self.turns[index % len(self.turns)]
            self.rig.submit_batch(turn.again if index >= len(self.turns) else turn.first)
            self.queue.ext_oneapi_wait_external_semaphore(turn.drawn)
            self.queue.ext_oneapi_signal_external_semaphore(turn.done)
        for turn in self.turns:
            self.rig.submit_batch(turn.last)
        self.queue.wait()
        self.rig.wait()

    def _by_waits(self) -> None:
        batch = self.rig.batch(self.nothing)
        for _ in range(FRAMES):
            self.rig.submit_batch(batch)
            self.rig.wait()
            self.queue.wait()

    def by_the_host(self) -> None:
        """Vulkan's downloads are ahead of the uploads by as many frames as there are images."""
        count = len(self.fences)
        for index in range(FRAMES + count - 1):
            if index < FRAMES:
                self.rig.submit_batch(self.downloads[index % count], self.fences[index % count])
            if index >= count - 1:
                slot = (index - count + 1) % count
                self.rig.wait_for(self.fences[slot])
                frame = self.staging[slot].bytes.reshape(DESC.shape)
                self.queue.ext_oneapi_copy(frame, self.ours[slot]).wait()

    def arrived(self) -> bool:
        found = np.zeros(DESC.shape, DESC.dtype)
        self.queue.ext_oneapi_copy(self.ours[-1], found).wait()
        return np.array_equal(found, pixels())


class _Turn:
    """The semaphores of one image."""

    def __init__(self, stack: ExitStack, rig: Rig, exporter: Exporter, queue: bl.Queue, nothing: Any) -> None:
        self.theirs = [stack.enter_context(exporter.semaphore()) for _ in range(2)]
        self.drawn, self.done = (stack.enter_context(imported_semaphore(each, queue)) for each in self.theirs)
        drawn, done = (each.semaphore for each in self.theirs)
        self.first, self.again = rig.batch(nothing, None, drawn), rig.batch(nothing, done, drawn)
        self.last = rig.batch(nothing, done, None)


def _download(rig: Rig, image: ExportedImage, target: Staging) -> Callable[[Any], None]:
    return lambda command: rig.copy_to_host(command, image, target, 0, 0)


def _raw_frames(stack: ExitStack, frames: Frames) -> Work:
    """Use the same semaphores by the calls of CUDA's driver, on a separate stream; Vulkan's part is unchanged."""
    raw = _RawCuda(stack, frames.queue)
    pairs = [[raw.semaphore(each.export(), False) for each in turn.theirs] for turn in frames.turns]

    def work() -> None:
        for index in range(FRAMES):
            turn, (drawn, done) = frames.turns[index % len(pairs)], pairs[index % len(pairs)]
            frames.rig.submit_batch(turn.again if index >= len(pairs) else turn.first)
            raw.wait(drawn, 0)
            raw.signal(done, 0)
        for turn in frames.turns:
            frames.rig.submit_batch(turn.last)
        raw.finish()
        frames.rig.wait()

    return work


@pytest.mark.parametrize("in_flight", [1, 3, 8])
@pytest.mark.parametrize("draws", [True, False], ids=["draws", "copies"])
def test_frame(compare: Compare, rig: Rig, ordered: bl.Queue, draws: bool, in_flight: int) -> None:
    """Frames of Vulkan's become ours to sample, and Vulkan's again, many in a row; then both sides come to rest.

    A GPU has one engine for what draws and computes. Where Vulkan's queue needs it too, each frame makes it change from
    one program's context to the other's and back, which takes hundreds of microseconds, whoever asks for it; queues
    that only copy have engines of their own. With several frames in flight a change serves several of them.
    """
    family = queue_family(rig.physical_device, draws=draws)
    if family is None:
        pytest.skip("no queues here that only copy")
    if in_flight > 1 and ordered.backend != "cuda":
        pytest.skip("a processor has no contexts that frames could share the change of")
    with ExitStack() as stack:
        own = stack.enter_context(closing(Rig(rig.physical_device, family)))
        exporter = Exporter(own.physical_device, own.device, ordered)
        frames = Frames(stack, own, exporter, ordered, in_flight)
        peers = {"download and upload": frames.by_the_host}
        if frames.turns and ordered.backend == "cuda":
            peers["the driver's own calls"] = _raw_frames(stack, frames)
        kind = "that draws" if draws else "that copies"
        name = f"{FRAMES} frames of {SIDE}² RGBA8, Vulkan's queue {kind}, {in_flight} in flight"
        compare(frames.shared, peers, name=name, target=">= 20")
        assert frames.arrived()


class _RawCuda:
    """Signals and waits by the CUDA driver's own calls on a separate stream."""

    def __init__(self, stack: ExitStack, queue: bl.Queue) -> None:
        from bindless.drivers import cuda

        self.check, self.lib, self.ffi = cuda.check, cuda.lib, cuda.ffi
        lib, ffi, self.stack = self.lib, self.ffi, stack
        self.signals = ffi.new("CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS *")
        self.waits = ffi.new("CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS *")
        self.check(lib.cuCtxPushCurrent(ffi.cast("CUcontext", int(bl.get_native(queue.context)))), "cuCtxPushCurrent")
        stack.callback(lib.cuCtxPopCurrent, ffi.new("CUcontext *"))
        slot = ffi.new("CUstream *")
        self.check(lib.cuStreamCreate(slot, lib.CU_STREAM_NON_BLOCKING), "cuStreamCreate")
        self.stream = slot[0]
        stack.callback(lib.cuStreamDestroy, self.stream)

    def semaphore(self, desc: bl.ExternalSemaphoreDescriptor, timeline: bool) -> Any:
        """Import a CUexternalSemaphore, as an array of one; the driver takes ownership of the file descriptor."""
        lib, ffi = self.lib, self.ffi
        kind = "TIMELINE_SEMAPHORE_FD" if timeline else "OPAQUE_FD"
        description = ffi.new("CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC *")
        description.type = getattr(lib, f"CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_{kind}")
        description.handle.fd = desc.resource.file_descriptor
        semaphore = ffi.new("CUexternalSemaphore *")
        self.check(lib.cuImportExternalSemaphore(semaphore, description), "cuImportExternalSemaphore")
        self.stack.callback(lambda: lib.cuDestroyExternalSemaphore(semaphore[0]))
        return semaphore

    def signal(self, semaphore: Any, value: int) -> None:
        self.signals.params.fence.value = value
        self.lib.cuSignalExternalSemaphoresAsync(semaphore, self.signals, 1, self.stream)

    def wait(self, semaphore: Any, value: int) -> None:
        self.waits.params.fence.value = value
        self.lib.cuWaitExternalSemaphoresAsync(semaphore, self.waits, 1, self.stream)

    def finish(self) -> None:
        self.check(self.lib.cuStreamSynchronize(self.stream), "cuStreamSynchronize")


def _raw_cuda(stack: ExitStack, made: ExportedSemaphore, queue: bl.Queue) -> Work:
    """Signals and waits by the CUDA driver's own two calls, without the package's Python code around them."""
    raw = _RawCuda(stack, queue)
    semaphore = raw.semaphore(made.export(), made.is_timeline)
    lib, signal, wait, stream = raw.lib, raw.signals, raw.waits, raw.stream
    values = count(1)

    def work() -> None:
        for _ in range(PAIRS):
            signal.params.fence.value = wait.params.fence.value = next(values)
            lib.cuSignalExternalSemaphoresAsync(semaphore, signal, 1, stream)
            lib.cuWaitExternalSemaphoresAsync(semaphore, wait, 1, stream)
        raw.finish()

    return work


def _raw_reference(stack: ExitStack, made: ExportedSemaphore, queue: bl.Queue) -> Work:
    """The same by the reference driver's own calls, which keep a descriptor of their own."""
    from bindless.drivers import reference

    lib, ffi = reference.lib, reference.ffi
    file = made.export().resource.file_descriptor
    stack.callback(os.close, file)
    other = stack.enter_context(bl.Queue(queue.device, queue.context, in_order=True))
    native = ffi.cast("blr_queue_t", int(bl.get_native(other)))
    context = ffi.cast("blr_context_t", int(bl.get_native(queue.context)))
    semaphore, event = ffi.new("blr_external_semaphore_t *"), ffi.new("blr_event_t *")
    reference.check(lib.blrExternalSemaphoreImport(context, int(made.is_timeline), file, semaphore), "the import")
    stack.callback(lambda: lib.blrExternalSemaphoreRelease(semaphore[0]))
    values = count(1)

    def work() -> None:
        for _ in range(PAIRS):
            value = next(values)
            for enqueue in (lib.blrEnqueueSemaphoreSignal, lib.blrEnqueueSemaphoreWait):
                enqueue(native, semaphore[0], value, 0, ffi.NULL, event)
                lib.blrEventRelease(event[0])
        reference.check(lib.blrQueueWait(native, 2**64 - 1), "blrQueueWait")

    return work


def test_wait_and_signal(compare: Compare, rig: Any, exporter: Any, ordered: bl.Queue) -> None:
    """Signals and waits, compared with the same two calls of the driver from Python."""
    raw = {"cuda": _raw_cuda, "reference": _raw_reference}.get(str(ordered.backend))
    if raw is None or not rig.has_semaphores:
        pytest.skip("no semaphores here, or no peer")
    timeline = rig.has_timelines
    with ExitStack() as stack:
        first, second = (stack.enter_context(exporter.semaphore(timeline=timeline)) for _ in range(2))
        semaphore = stack.enter_context(imported_semaphore(first, ordered))
        values = count(1)

        def pairs() -> None:
            for _ in range(PAIRS):
                value = next(values) if timeline else None
                ordered.ext_oneapi_signal_external_semaphore(semaphore, value)
                ordered.ext_oneapi_wait_external_semaphore(semaphore, value)
            ordered.wait()

        compare(
            pairs,
            {"the driver's own calls": raw(stack, second, ordered)},
            name=f"{PAIRS} signals and waits",
            target=">= 0.5",
        )
        if timeline:
            reached = [vk.vkGetSemaphoreCounterValue(rig.device, each.semaphore) for each in (first, second)]
            assert reached[0] >= reached[1] > PAIRS
