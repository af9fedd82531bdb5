"""Two devices on the driver of ``fake_cuda.c``: the current context and peer access."""

from __future__ import annotations

import ctypes
import gc
import os
import random
import struct
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

import bindless as bl
from bindless.drivers import cuda as driver
from tests.support.error_checks import raises
from tests.support.python_calls import python_calls

PTX = b"""
.target sm_75
.visible .entry f(.param .u64 .ptr .global .align 4 a) { ret; }
.visible .entry shows(.param .u64 image) { ret; }
"""


@pytest.fixture
def library() -> Any:
    found = ctypes.CDLL(os.environ["BINDLESS_LIBCUDA"])
    found.fake_log.restype = ctypes.c_char_p
    found.fake_clear()
    return found


@pytest.fixture
def devices(device: bl.Device) -> tuple[bl.Device, ...]:
    return device.platform.get_devices()


@pytest.fixture
def apart(library: Any, devices: tuple[bl.Device, ...]) -> Iterator[bl.Context]:
    """A context of two devices without peer access."""
    library.fake_without_peers(1)
    yield bl.Context(devices)
    library.fake_without_peers(0)


def current() -> int:
    slot = driver.ffi.new("CUcontext *")
    driver.check(driver.lib.cuCtxGetCurrent(slot), "cuCtxGetCurrent")
    return int(driver.ffi.cast("uintptr_t", slot[0]))


def test_peers_reach_each_other(library: Any, devices: tuple[bl.Device, ...]) -> None:
    library.fake_without_peers(0)  # the fake driver forgets enabled peers
    for turn in range(2):
        library.fake_clear()
        with bl.Context(devices) as context:
            assert not context._unreached
        log = library.fake_log().decode().splitlines()
        assert [line for line in log if "Peer" in line] == (
            ["cuCtxEnablePeerAccess 0 1", "cuCtxEnablePeerAccess 1 0"] if turn == 0 else []
        )


def test_one_device_has_no_peers(library: Any, devices: tuple[bl.Device, ...]) -> None:
    for device in devices:
        bl.Context(device).close()
    assert b"Peer" not in library.fake_log()


def test_memory_out_of_reach(apart: bl.Context, devices: tuple[bl.Device, ...], library: Any) -> None:
    """Every access raises an error, not only the first: a fault would lose the device."""
    queues = [bl.Queue(device, apart, in_order=True) for device in devices]
    kernel = bl.load_kernel_bundle(PTX, apart).get_kernel("f")
    own, other, host = (
        bl.usm_empty(100, np.int32, queue, kind=kind)
        for queue, kind in ((queues[0], "device"), (queues[1], "device"), (queues[1], "host"))
    )
    launch = kernel.bind(queues[0], 100, own)
    for _ in range(5):
        for memory in (own, host):
            queues[0].parallel_for(100, kernel, memory)
        launch()
        for given in (other, other.pointer):
            with raises(bl.InvalidError, names=("gpu:1", "gpu:0")):
                queues[0].parallel_for(100, kernel, given)
    with raises(bl.InvalidError, names="memcpy"):
        launch[0] = other
    with raises(bl.InvalidError, names="cuda:gpu:1"):
        queues[0].fill(other, 1)
    coords = bl.usm_empty((4, 2), np.int32, queues[1])
    desc = bl.ImageDescriptor(4, 4, channel_type="fp32")
    with bl.ImageMem(desc, queues[0]) as memory:
        handle = bl.create_image(memory, desc, queues[0])
        out = bl.usm_empty((4, 4), np.float32, queues[0])
        with raises(bl.InvalidError, names=("fetch_image", "cuda:gpu:1")):
            bl.fetch_image(queues[0], handle, coords, out=out)
        bl.destroy_image_handle(handle, queues[0])
    queues[0].memcpy(other, own).wait()  # the driver copies between the devices
    for queue in queues:
        queue.close()


def test_kernels_get_the_numbers_of_their_own_device(library: Any, devices: tuple[bl.Device, ...]) -> None:
    """An image of another device is refused each time, even after an identical launch was prepared."""
    library.fake_parameters(1, (ctypes.c_size_t * 1)(8))
    desc = bl.ImageDescriptor(4, 4, channel_type="fp32")
    sampler = bl.BindlessImageSampler("clamp_to_edge")
    with bl.Context(devices) as context:
        queues = [bl.Queue(device, context, in_order=True) for device in devices]
        kernel = bl.load_kernel_bundle(PTX, context).get_kernel("shows")
        memories = [bl.ImageMem(desc, queue) for queue in queues]
        handles = [bl.create_image(memory, desc, queue, sampler=sampler) for memory, queue in zip(memories, queues)]
        assert handles[0].raw_handle != handles[1].raw_handle
        for _ in range(5):
            for queue, handle, other in zip(queues, handles, handles[::-1]):
                queue.parallel_for(4, kernel, handle)
                line = library.fake_log().decode().splitlines()[-1]
                assert line.endswith(": " + struct.pack("<Q", handle.raw_handle).hex())
                with raises(bl.InvalidError, names="argument 0"):
                    queue.parallel_for(4, kernel, other)
        assert python_calls(lambda: queues[0].parallel_for(4, kernel, handles[0])) == []
        handle = bl.SampledImageHandle(handles[0].raw_handle)
        queues[0].parallel_for(4, kernel, handle)
        handle.raw_handle = handles[1].raw_handle  # a handle whose number becomes that of the other device's image
        with raises(bl.InvalidError, names="argument 0"):
            queues[0].parallel_for(4, kernel, handle)
        launch = kernel.bind(queues[0], 4, handles[0])
        for _ in range(3):
            launch()
        with raises(bl.InvalidError):
            launch[0] = handles[1]
        for handle, queue in zip(handles, queues):
            bl.destroy_image_handle(handle, queue)
        queues[0].parallel_for(4, kernel, bl.SampledImageHandle(99))  # a bare number belongs to no device


def test_a_dropped_queue_leaves_the_current_context(devices: tuple[bl.Device, ...]) -> None:
    """A garbage collection may destroy a queue during a command on another device."""
    with bl.Context(devices) as context:
        for mine, dropped in (devices, devices[::-1]):
            queue = bl.Queue(dropped, context)
            queue.memset(bl.usm_empty(100, np.uint8, queue), 1).wait()
            mine._record.native.context().activate()
            before = current()
            assert before == mine._record.native.context().address
            cycle: list[Any] = [queue]
            cycle.append(cycle)
            del cycle, queue
            gc.collect()
            assert current() == before


def test_times_are_told_on_any_thread(devices: tuple[bl.Device, ...]) -> None:
    """Times are available on a thread without a current context, and on one with the other device's context."""
    with bl.Context(devices) as context:
        for device, other in (devices, devices[::-1]):
            with bl.Queue(device, context, enable_profiling=True) as queue, ThreadPoolExecutor(1) as fresh:
                event = queue.memset(bl.usm_empty(100, np.uint8, queue), 1)
                event.wait()
                start = fresh.submit(event.get_profiling_info, "command_start").result()
                other._record.native.context().activate()
                assert start <= event.get_profiling_info("command_end")


@pytest.mark.parametrize("in_order", [True, False], ids=["in order", "out of order"])
def test_repeated_launches_go_to_their_own_device(devices: tuple[bl.Device, ...], in_order: bool) -> None:
    """Prepared launches make the stream's context current: the driver refuses a launch in any other context."""
    with bl.Context(devices) as context:
        kernel = bl.load_kernel_bundle(PTX, context).get_kernel("f")
        queues = [bl.Queue(device, context, in_order=in_order) for device in devices]
        arrays = [bl.usm_empty(100, np.int32, queue) for queue in queues]
        bound = [kernel.bind(queue, 100, array) for queue, array in zip(queues, arrays)]

        def work(seed: int) -> None:
            order = random.Random(seed)
            events: list[bl.Event] = []
            for _ in range(60):
                at = order.randrange(2)
                given = arrays[at] if order.random() < 0.7 else arrays[1 - at]  # of the peer device
                events.append(queues[at].parallel_for(100, kernel, given))
                events.append(bound[at](depends_on=events[-3:]))
            for event in order.sample(events, 20):
                event.wait()

        with ThreadPoolExecutor(4) as threads:
            list(threads.map(work, range(4)))
        for queue in queues:
            queue.parallel_for(100, kernel, arrays[0])
            queue.parallel_for(100, kernel, arrays[1])
            assert queue._stream.count_launches() == 1  # for memory of either device
        for queue in queues:
            queue.close()
