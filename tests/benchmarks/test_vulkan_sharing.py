"""A frame that Vulkan and we share, beside one that goes by the host; waits and signals beside the driver's.

pytest tests/benchmarks/test_vulkan_sharing.py --device cuda
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bindless as bl

sys.path[:0] = [str(Path(__file__).resolve().parents[1] / folder) for folder in ("vulkan", "images")]

from sharing_checks import imported_semaphore, mapped_image  # noqa: E402
from vulkan_fixtures import exporter, instance, manifest, pytest_generate_tests, rig  # noqa: E402
from vulkan_rig import Staging, vk  # noqa: E402

__all__ = ["exporter", "instance", "manifest", "pytest_generate_tests", "rig"]

pytestmark = pytest.mark.vulkan

Compare = Callable[..., Any]
Work = Callable[[], None]
SIDE = 4096
FRAMES = 20
PAIRS = 200


@pytest.fixture
def ordered(device: bl.Device) -> Iterator[bl.Queue]:
    with bl.Queue(device, in_order=True) as queue:
        yield queue


def test_frame(compare: Compare, rig: Any, exporter: Any, ordered: bl.Queue) -> None:
    """Frames of Vulkan's become ours to sample, and Vulkan's again, many in a row; then both sides come to rest."""
    desc = bl.ImageDescriptor(SIDE, SIDE, num_channels=4, channel_type="unorm_int8")
    with ExitStack() as stack:
        image = stack.enter_context(exporter.image(desc))
        rig.start(image)
        rig.clear(image, (0.2, 0.4, 0.8, 1.0))
        stack.enter_context(mapped_image(image, ordered))
        nothing = rig.record(rig.barrier)

        # By the host: what stands in for the shared image is an image of our own.
        staging = stack.enter_context(Staging(rig, desc.nbytes))
        memory = stack.enter_context(bl.ImageMem(desc, ordered))
        download = rig.batch(rig.record(lambda command: rig.copy_to_host(command, image, staging, 0, 0)))
        pixels = staging.bytes.reshape(desc.shape)

        def by_the_host() -> None:
            for _ in range(FRAMES):
                rig.submit_batch(download)
                rig.wait()
                ordered.ext_oneapi_copy(pixels, memory).wait()

        if rig.has_semaphores:
            pair = [stack.enter_context(exporter.semaphore()) for _ in range(2)]
            drawn, done = (stack.enter_context(imported_semaphore(each, ordered)) for each in pair)
            first = rig.batch(nothing, None, pair[0].semaphore)
            again = rig.batch(nothing, pair[1].semaphore, pair[0].semaphore)
            last = rig.batch(nothing, pair[1].semaphore, None)

            def shared() -> None:
                for index in range(FRAMES):
                    rig.submit_batch(again if index else first)
                    ordered.ext_oneapi_wait_external_semaphore(drawn)
                    ordered.ext_oneapi_signal_external_semaphore(done)
                rig.submit_batch(last)
                ordered.wait()
                rig.wait()

        else:
            batch = rig.batch(nothing)

            def shared() -> None:
                for _ in range(FRAMES):
                    rig.submit_batch(batch)
                    rig.wait()
                    ordered.wait()

        name = f"{FRAMES} frames of {SIDE} x {SIDE} RGBA8 from Vulkan"
        compare(shared, {"download and upload": by_the_host}, name=name, target=">= 20")
        assert np.array_equal(pixels[0, 0], (51, 102, 204, 255))


def _raw_cuda(stack: ExitStack, file: int, queue: bl.Queue, timeline: bool) -> Work:
    """Signals and waits by the CUDA driver's own calls on a stream of its own, which takes the file descriptor."""
    from bindless.drivers import cuda

    lib, ffi = cuda.lib, cuda.ffi
    kind = "TIMELINE_SEMAPHORE_FD" if timeline else "OPAQUE_FD"
    description = ffi.new("CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC *")
    description.type = getattr(lib, f"CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_{kind}")
    description.handle.fd = file
    semaphore, stream = ffi.new("CUexternalSemaphore *"), ffi.new("CUstream *")
    signal = ffi.new("CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS *")
    wait = ffi.new("CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS *")
    cuda.check(lib.cuCtxPushCurrent(ffi.cast("CUcontext", int(bl.get_native(queue.context)))), "cuCtxPushCurrent")
    stack.callback(lib.cuCtxPopCurrent, ffi.new("CUcontext *"))
    cuda.check(lib.cuImportExternalSemaphore(semaphore, description), "cuImportExternalSemaphore")
    stack.callback(lambda: lib.cuDestroyExternalSemaphore(semaphore[0]))
    cuda.check(lib.cuStreamCreate(stream, lib.CU_STREAM_NON_BLOCKING), "cuStreamCreate")
    stack.callback(lambda: lib.cuStreamDestroy(stream[0]))
    values = count(1)

    def work() -> None:
        for _ in range(PAIRS):
            signal.params.fence.value = wait.params.fence.value = next(values)
            lib.cuSignalExternalSemaphoresAsync(semaphore, signal, 1, stream[0])
            lib.cuWaitExternalSemaphoresAsync(semaphore, wait, 1, stream[0])
        cuda.check(lib.cuStreamSynchronize(stream[0]), "cuStreamSynchronize")

    return work


def _raw_reference(stack: ExitStack, file: int, queue: bl.Queue, timeline: bool) -> Work:
    """The same by the reference driver's own calls, which keep a descriptor of their own."""
    from bindless.drivers import reference

    lib, ffi = reference.lib, reference.ffi
    stack.callback(os.close, file)
    other = stack.enter_context(bl.Queue(queue.device, queue.context, in_order=True))
    native = ffi.cast("blr_queue_t", int(bl.get_native(other)))
    context = ffi.cast("blr_context_t", int(bl.get_native(queue.context)))
    semaphore, event = ffi.new("blr_external_semaphore_t *"), ffi.new("blr_event_t *")
    reference.check(lib.blrExternalSemaphoreImport(context, int(timeline), file, semaphore), "the import")
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
    """Signals and the waits for them, beside the same two calls of the driver from Python."""
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

        peer = raw(stack, second.export().resource.file_descriptor, ordered, timeline)
        compare(pairs, {"the driver's own calls": peer}, name=f"{PAIRS} signals and waits", target=">= 0.5")
        if timeline:
            reached = [vk.vkGetSemaphoreCounterValue(rig.device, each.semaphore) for each in (first, second)]
            assert reached[0] >= reached[1] > PAIRS
