"""A frame that Vulkan and we share, beside one that goes by the host; waits and signals beside the driver's.

pytest tests/benchmarks/test_vulkan_sharing.py --device cuda
"""

from __future__ import annotations

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
SIDE = 4096
PAIRS = 200


@pytest.fixture
def ordered(device: bl.Device) -> Iterator[bl.Queue]:
    with bl.Queue(device, in_order=True) as queue:
        yield queue


def test_frame(compare: Compare, rig: Any, exporter: Any, ordered: bl.Queue) -> None:
    """A frame of Vulkan's becomes ours to sample, and Vulkan's again: both sides at rest before and after."""
    desc = bl.ImageDescriptor(SIDE, SIDE, num_channels=4, channel_type="unorm_int8")
    with ExitStack() as stack:
        image = stack.enter_context(exporter.image(desc))
        rig.start(image)
        rig.clear(image, (0.25, 0.5, 0.75, 1.0))
        stack.enter_context(mapped_image(image, ordered))
        nothing = rig.record(rig.barrier)

        # By the host: what stands in for the shared image is an image of our own.
        staging = stack.enter_context(Staging(rig, desc.nbytes))
        memory = stack.enter_context(bl.ImageMem(desc, ordered))
        download = rig.record(lambda command: rig.copy_to_host(command, image, staging, 0, 0))
        pixels = staging.bytes.reshape(desc.shape)

        def by_the_host() -> None:
            rig.submit(download)
            rig.wait()
            ordered.ext_oneapi_copy(pixels, memory).wait()

        if rig.has_semaphores:
            pair = [stack.enter_context(exporter.semaphore()) for _ in range(2)]
            drawn, done = (stack.enter_context(imported_semaphore(each, ordered)) for each in pair)

            def shared() -> None:
                rig.submit(nothing, None, pair[0].semaphore)
                ordered.ext_oneapi_wait_external_semaphore(drawn)
                ordered.ext_oneapi_signal_external_semaphore(done)
                rig.submit(nothing, pair[1].semaphore, None)
                ordered.wait()
                rig.wait()

        else:

            def shared() -> None:
                rig.submit(nothing)
                rig.wait()
                ordered.wait()
                rig.submit(nothing)
                rig.wait()

        name = f"a frame of {SIDE} x {SIDE} RGBA8 from Vulkan"
        compare(shared, {"download and upload": by_the_host}, name=name, calls=3, target=">= 20")
        assert np.array_equal(pixels[0, 0], (64, 128, 191, 255))


@pytest.mark.cuda
def test_wait_and_signal(compare: Compare, rig: Any, exporter: Any, ordered: bl.Queue) -> None:
    """A signal and the wait for it, beside the same two calls of the CUDA driver from Python."""
    from bindless.drivers import cuda

    lib, ffi = cuda.lib, cuda.ffi
    with ExitStack() as stack:
        ours_vulkan, raw_vulkan = (stack.enter_context(exporter.semaphore(timeline=True)) for _ in range(2))
        ours = stack.enter_context(imported_semaphore(ours_vulkan, ordered))

        description = ffi.new("CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC *")
        description.type = lib.CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_TIMELINE_SEMAPHORE_FD
        description.handle.fd = raw_vulkan.export().resource.file_descriptor
        semaphore, stream = ffi.new("CUexternalSemaphore *"), ffi.new("CUstream *")
        signal = ffi.new("CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS *")
        wait = ffi.new("CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS *")
        context = ffi.cast("CUcontext", int(bl.get_native(ordered.context)))
        cuda.check(lib.cuCtxPushCurrent(context), "cuCtxPushCurrent")
        stack.callback(lib.cuCtxPopCurrent, ffi.new("CUcontext *"))
        cuda.check(lib.cuImportExternalSemaphore(semaphore, description), "cuImportExternalSemaphore")
        stack.callback(lambda: lib.cuDestroyExternalSemaphore(semaphore[0]))
        cuda.check(lib.cuStreamCreate(stream, lib.CU_STREAM_NON_BLOCKING), "cuStreamCreate")
        stack.callback(lambda: lib.cuStreamDestroy(stream[0]))
        values, raw_values = count(1), count(1)

        def pairs() -> None:
            for _ in range(PAIRS):
                value = next(values)
                ordered.ext_oneapi_signal_external_semaphore(ours, value)
                ordered.ext_oneapi_wait_external_semaphore(ours, value)
            ordered.wait()

        def raw_pairs() -> None:
            for _ in range(PAIRS):
                value = next(raw_values)
                signal.params.fence.value = value
                lib.cuSignalExternalSemaphoresAsync(semaphore, signal, 1, stream[0])
                wait.params.fence.value = value
                lib.cuWaitExternalSemaphoresAsync(semaphore, wait, 1, stream[0])
            lib.cuStreamSynchronize(stream[0])

        compare(pairs, {"CUDA's own calls": raw_pairs}, name=f"{PAIRS} signals and waits", target=">= 0.5")
        assert vk.vkGetSemaphoreCounterValue(rig.device, raw_vulkan.semaphore) == next(raw_values) - 1
