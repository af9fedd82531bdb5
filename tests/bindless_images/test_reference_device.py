"""The reference device: its properties, its waits, and its unsupported features (R32)."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest

import bindless as bl
from bindless import kernels
from bindless.backends.reference.device_info import ASPECTS
from tests.support.error_checks import raises


@pytest.fixture(scope="module")
def reference() -> bl.Device:
    return bl.Device("reference:*:*")


def test_identity(reference: bl.Device) -> None:
    assert reference.backend == "reference" and reference.type == "cpu" and reference.is_cpu()
    assert reference.name.startswith("bindless reference")
    assert len(reference.uuid) == 16 and any(reference.uuid)


def test_aspects(reference: bl.Device) -> None:
    """Every aspect of the extension, all kinds of USM, and imports where the system provides the required files."""
    imports = {bl.Aspect.ext_oneapi_external_memory_import, bl.Aspect.ext_oneapi_external_semaphore_import}
    wanted = {aspect for aspect in bl.Aspect if aspect.name.startswith(("ext_oneapi", "usm_"))}
    if sys.platform != "linux":
        wanted -= imports
    assert wanted <= reference.aspects == ASPECTS
    for aspect in ("cpu", "fp16", "queue_profiling", "online_compiler", "online_linker"):
        assert reference.has(aspect)
    assert not reference.has("gpu")


def test_limits_are_those_of_the_hardware(reference: bl.Device) -> None:  # R32
    limits = {
        "image_row_pitch_align": 32,
        "image2d_max_width": 131072,
        "image2d_max_height": 65536,
        "image3d_max_width": 16384,
        "image3d_max_height": 16384,
        "image3d_max_depth": 16384,
        "image_max_array_size": 2048,
        "mipmap_max_anisotropy": 16.0,
    }
    assert {name: reference.get_info(name) for name in limits} == limits


def test_answers_everything(reference: bl.Device) -> None:
    for name in bl.info.device:
        assert reference.get_info(name) is not None or name is bl.info.device.parent_device


def test_mipmaps_beyond_the_limit(reference: bl.Device) -> None:
    queue = bl.Queue(reference)
    desc = bl.ImageDescriptor(65536, 4, num_channels=1, channel_type="unorm_int8", type="mipmap", num_levels=2)
    with raises(bl.MemoryAllocationError, names=32768):
        bl.ImageMem(desc, queue)


def test_errors_carry_the_drivers_words(reference: bl.Device) -> None:
    queue = bl.Queue(reference)
    desc = bl.ImageDescriptor(4, 4, num_channels=1)
    handle = bl.create_image(bl.ImageMem(desc, queue), desc, queue)
    with raises(bl.InvalidError, names="9, 1") as caught:
        bl.fetch_image(queue, handle, np.array([[0, 0], [9, 1]], np.int32))
    assert caught.value.native_name == "BLR_RESULT_OUT_OF_RANGE"
    assert caught.value.native_code == 10 and caught.value.backend == "reference"


def test_modules_that_are_none_are_refused_clearly(reference: bl.Device, tmp_path: Path) -> None:
    queue = bl.Queue(reference)
    with pytest.raises(bl.BuildError):
        bl.load_kernel_bundle(b"\x03\x02\x23\x07", queue)
    launch = tmp_path / "launch.spv"
    launch.write_bytes(kernels.source("launch", "spirv"))
    with raises(bl.InvalidError, names="-O3"):
        bl.load_kernel_bundle(launch, queue, options="-O3")


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs a POSIX timer")
def test_a_wait_can_be_interrupted(reference: bl.Device) -> None:
    queue = bl.Queue(reference)
    gate = threading.Event()
    task = queue.submit(lambda handler: handler.host_task(lambda: gate.wait(10)))

    class Alarm(Exception):
        pass

    def ring(*_: object) -> None:
        raise Alarm

    # A native event that stays incomplete for a while: a large fill.
    memory = bl.malloc_device(1 << 28, queue)
    events = [queue.memset(memory, 1, 1 << 28) for _ in range(16)]
    before = signal.signal(signal.SIGALRM, ring)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.01)
        started = time.monotonic()
        with pytest.raises(Alarm):
            for event in events:
                event.wait()
            task.wait()
        assert time.monotonic() - started < 5
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
        gate.set()
    queue.wait()


@pytest.mark.parametrize(("filtering", "weights"), [("", (170, 85)), ("hardware", (170, 85)), ("exact", None)])
def test_filtering_mode(filtering: str, weights: tuple[int, int] | None) -> None:
    """One third of the way from 0 to 1: 85/256 with a texture unit's weights, 1/3 with full weights."""
    program = """
import numpy as np, bindless as bl
queue = bl.Queue("reference:*:*")
desc = bl.ImageDescriptor(2, 1, num_channels=1)
memory = bl.ImageMem(desc, queue)
queue.ext_oneapi_copy(np.array([[0, 1]], np.float32), memory).wait()
sampler = bl.BindlessImageSampler("clamp_to_edge", "unnormalized", "linear")
handle = bl.create_image(memory, desc, queue, sampler=sampler)
print(float(bl.sample_image(queue, handle, np.array([[0.5 + 1 / 3, 0.5]], np.float32))[0, 0]))
"""
    environment = {**os.environ, "BINDLESS_REFERENCE_FILTERING": filtering}
    done = subprocess.run(
        [sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True, timeout=120
    )
    if weights is None:
        assert float(done.stdout) == pytest.approx(1 / 3, abs=2e-7)
    else:
        assert float(done.stdout) == weights[1] / 256
