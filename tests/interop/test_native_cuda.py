"""Conversion between native CUDA objects and the package's objects, on a GPU and on the driver of ``fake_cuda.c``."""

from __future__ import annotations

import ctypes
import gc
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import bindless as bl
from bindless.drivers import cuda as driver
from tests.support.error_checks import raises

pytestmark = pytest.mark.cuda
BOTH = pytest.mark.parametrize("ownership", ["transfer", "keep"])
COUNT = 1 << 12

lib, ffi = driver.lib, driver.ffi

PTX = b""".version 6.3
.target sm_75
.address_size 64
.visible .entry first(.param .u64 out) { ret; }
.visible .entry second(.param .u64 out, .param .u32 value) { ret; }
"""


def ok(result: int) -> None:
    assert result == 0, result


def number(handle: Any) -> int:
    return int(ffi.cast("uintptr_t", handle))


@pytest.fixture
def raw(device: bl.Device) -> Iterator[Any]:
    """The device's primary context, which the test retains and makes current."""
    slot = ffi.new("CUcontext *")
    ok(lib.cuDevicePrimaryCtxRetain(slot, device.index))
    ok(lib.cuCtxPushCurrent(slot[0]))
    yield slot[0]
    gc.collect()
    ok(lib.cuCtxPopCurrent(ffi.new("CUcontext *")))
    ok(lib.cuDevicePrimaryCtxRelease(device.index))


@pytest.fixture
def context(raw: Any, device: bl.Device) -> bl.Context:
    return bl.make_context("cuda", raw, ownership="keep")


def new_stream() -> Any:
    slot = ffi.new("CUstream *")
    ok(lib.cuStreamCreate(slot, lib.CU_STREAM_NON_BLOCKING))
    return slot[0]


def new_event() -> Any:
    slot = ffi.new("CUevent *")
    ok(lib.cuEventCreate(slot, lib.CU_EVENT_DISABLE_TIMING))
    return slot[0]


def new_memory(nbytes: int) -> int:
    slot = ffi.new("CUdeviceptr *")
    ok(lib.cuMemAlloc(slot, nbytes))
    return int(slot[0])


def finish(stream: Any) -> None:
    while (result := lib.cuStreamQuery(stream)) == lib.CUDA_ERROR_NOT_READY:
        pass
    ok(result)


# ---------------------------------------------------------------------- devices, contexts


def test_devices(device: bl.Device) -> None:
    handle = bl.get_native(device)
    assert handle.type == "CUdevice" and handle == device.index
    assert bl.make_device("cuda", int(handle)) == device == bl.make_device("cuda", handle)
    with raises(bl.InvalidError, names="cuda"):
        bl.make_device("cuda", 4711)
    with raises(bl.FeatureNotSupportedError, names="make_platform"):
        bl.make_platform("cuda", 1)


@BOTH
def test_a_context(raw: Any, device: bl.Device, ownership: str) -> None:
    if ownership == "transfer":
        ok(lib.cuDevicePrimaryCtxRetain(ffi.new("CUcontext *"), device.index))
    made = bl.make_context("cuda", raw, ownership=ownership)
    assert made.devices == (device,)
    assert bl.get_native(made) == number(raw) and bl.get_native(made).type == "CUcontext"
    with bl.Queue(device, made) as queue:
        array = bl.usm_empty(4, "int32", queue)
        queue.fill(array, 3).wait()
        assert list(array.numpy()) == [3] * 4
        array.close()
    del queue, array
    made.close()


def test_contexts_that_cannot_be(raw: Any, device: bl.Device) -> None:
    slot = ffi.new("CUcontext *")
    if driver.has("cuCtxCreate_v2"):
        ok(lib.cuCtxCreate_v2(slot, 0, device.index))
    else:
        ok(lib.cuCtxCreate(slot, ffi.NULL, 0, device.index))
    try:
        with raises(bl.InvalidError):
            bl.make_context("cuda", slot[0])
        with raises(bl.InvalidError, names="cuDevicePrimaryCtxRetain"):
            bl.make_context("cuda", slot[0], device)
        stream = new_stream()
        with raises(bl.InvalidError, names="CUcontext"):
            bl.make_queue("cuda", stream, bl.Context(device))
        finish(stream)
        ok(lib.cuStreamDestroy(stream))
    finally:
        ok(lib.cuCtxPopCurrent(ffi.new("CUcontext *")))
        ok(lib.cuCtxDestroy(slot[0]))
    with raises(bl.InvalidError, names=("CUstream", "CUcontext")):
        bl.make_context("cuda", ffi.cast("CUstream", 8), device)
    with raises(bl.InvalidError):
        bl.make_context("cuda", 0, device)


# ---------------------------------------------------------------------- queues


@BOTH
def test_a_queue(context: bl.Context, device: bl.Device, ownership: str) -> None:
    stream, memory = new_stream(), new_memory(4 * COUNT)
    ok(lib.cuMemsetD32Async(memory, 7, COUNT, stream))
    queue = bl.make_queue("cuda", stream, context, ownership=ownership)
    assert queue.is_in_order and queue.device == device and bl.get_native(queue) == number(stream)
    with raises(bl.InvalidError):
        bl.make_queue("cuda", stream, context)
    array = bl.usm_empty(2 * COUNT, "int32", queue)
    event = queue.fill(array, 6)
    ok(lib.cuMemcpyAsync(array.address, memory, 4 * COUNT, stream))  # their copy follows ours in the stream
    queue.memcpy(array[COUNT:], array[:COUNT])
    event.wait()
    queue.wait()
    assert set(array.numpy()) == {7}
    array.close()
    ok(lib.cuMemFree(memory))
    queue.close()
    if ownership == "keep":
        finish(stream)
        ok(lib.cuStreamDestroy(stream))


def test_events_of_a_shared_stream_are_of_our_commands(context: bl.Context) -> None:
    """Later work of the caller does not delay the events of our commands."""
    stream, other = new_stream(), new_stream()
    queue = bl.make_queue("cuda", stream, context, ownership="keep")
    array = bl.usm_empty(COUNT, "int32", queue)
    event = queue.fill(array, 1)
    gate, memory = new_event(), new_memory(1 << 20)
    for _ in range(50):
        ok(lib.cuMemsetD32Async(memory, 7, 1 << 18, other))
    ok(lib.cuEventRecord(gate, other))
    ok(lib.cuStreamWaitEvent(stream, gate, 0))
    event.wait()
    assert set(array.numpy()) == {1}
    queue.wait()
    finish(other)
    array.close()
    queue.close()
    ok(lib.cuMemFree(memory))
    ok(lib.cuEventDestroy(gate))
    for made in (stream, other):
        finish(made)
        ok(lib.cuStreamDestroy(made))


def test_the_queue_knows_that_the_stream_was_busy(context: bl.Context) -> None:
    stream, memory = new_stream(), new_memory(4 * COUNT)
    for value in range(20):
        ok(lib.cuMemsetD32Async(memory, value, COUNT, stream))
    queue = bl.make_queue("cuda", stream, context, ownership="keep")
    queue.wait()
    assert lib.cuStreamQuery(stream) == 0
    queue.close()
    ok(lib.cuMemFree(memory))
    ok(lib.cuStreamDestroy(stream))


def test_default_streams(context: bl.Context, device: bl.Device) -> None:
    queue = bl.make_queue("cuda", 1, context, device, ownership="keep")
    array = bl.usm_empty(COUNT, "int32", queue)
    queue.fill(array, 4).wait()
    assert set(array.numpy()) == {4}
    array.close()
    queue.close()
    with raises(bl.InvalidError, match="legacy default stream"):
        bl.make_queue("cuda", 1, context)
    with raises(bl.InvalidError, match="another one in every thread"):
        bl.make_queue("cuda", 2, context, ownership="keep")


def test_a_stream_by_its_protocol(context: bl.Context, device: bl.Device) -> None:
    class Theirs:
        def __init__(self) -> None:
            self.handle = new_stream()

        def __cuda_stream__(self) -> tuple[int, int]:
            return 0, number(self.handle)

    theirs = Theirs()
    with bl.make_queue("cuda", theirs, context, ownership="keep") as queue:
        array = bl.usm_empty(COUNT, "int32", queue)
        queue.fill(array, 11).wait()
        assert set(array.numpy()) == {11}
        array.close()
    with raises(bl.InvalidError, names=("CUstream", "CUevent")):
        bl.make_event("cuda", theirs, context)
    ok(lib.cuStreamDestroy(theirs.handle))


# ---------------------------------------------------------------------- events


@BOTH
def test_an_event(context: bl.Context, device: bl.Device, ownership: str) -> None:
    stream, memory, native = new_stream(), new_memory(4 * COUNT), new_event()
    with bl.Queue(device, context) as queue:
        array = bl.usm_empty(COUNT, "int32", queue)
        for value in range(50):
            ok(lib.cuMemsetD32Async(array.address, value, COUNT, stream))
        ok(lib.cuEventRecord(native, stream))
        event = bl.make_event("cuda", native, context, ownership=ownership)
        assert bl.get_native(event) == number(native)
        command = queue.fill(array, 77, depends_on=event)
        command.wait()
        assert event.status is bl.EventStatus.complete
        event.wait()
        assert set(array.numpy()) == {77}
        with pytest.raises(bl.ProfilingError):
            event.get_profiling_info("command_end")
        array.close()
    finish(stream)
    if ownership == "keep":
        with raises(bl.InvalidError):
            bl.make_event("cuda", native, context)
        ok(lib.cuEventDestroy(native))
    del event, command
    ok(lib.cuMemFree(memory))
    ok(lib.cuStreamDestroy(stream))


def test_an_event_of_the_package(context: bl.Context, device: bl.Device) -> None:
    with bl.Queue(device, context, in_order=True) as queue:
        array = bl.usm_empty(COUNT, "int32", queue)
        ours = queue.fill(array, 1)
        handle = bl.get_native(ours)
        stream = new_stream()
        ok(lib.cuStreamWaitEvent(stream, ffi.cast("CUevent", handle), 0))
        with raises(bl.InvalidError, names="Event"):
            bl.make_event("cuda", handle, context)
        bl.make_event("cuda", handle, context, ownership="keep").wait()
        finish(stream)
        ok(lib.cuStreamDestroy(stream))
        array.close()


# ---------------------------------------------------------------------- modules, kernels


@BOTH
def test_a_module_and_its_kernels(context: bl.Context, device: bl.Device, ownership: str) -> None:
    modules = ffi.new("CUmodule[2]")
    for place in range(2):
        ok(lib.cuModuleLoadData(modules + place, ffi.from_buffer(PTX + b"\0")))
    slot = ffi.new("CUfunction *")
    bundle = bl.make_kernel_bundle("cuda", modules[0], context, ownership=ownership)
    assert bl.get_native(bundle) == (number(modules[0]),)
    ok(lib.cuModuleGetFunction(slot, modules[0], ffi.new("char[]", b"second")))
    kernel = bl.make_kernel("cuda", slot[0], bundle, ownership=ownership)
    assert kernel.name == "second" and bl.get_native(kernel) == number(slot[0])
    with bl.Queue(device, context) as queue:
        array = bl.usm_empty(4, "int32", queue)
        queue.parallel_for(64, kernel, array, np.int32(5)).wait()
        if driver.has("cuModuleEnumerateFunctions"):  # older drivers list the kernels of PTX modules only
            queue.parallel_for(64, bundle.get_kernel("first"), array).wait()
            with raises(bl.InvalidError, names="third"):
                bundle.get_kernel("third")
        array.close()
    ok(lib.cuModuleGetFunction(slot, modules[1], ffi.new("char[]", b"second")))
    with raises(bl.InvalidError):
        bl.make_kernel("cuda", slot[0], bundle)
    del kernel
    bundle.close()
    del bundle
    gc.collect()
    if ownership == "keep":
        ok(lib.cuModuleUnload(modules[0]))
    ok(lib.cuModuleUnload(modules[1]))


# ---------------------------------------------------------------------- memory


@BOTH
def test_a_buffer(context: bl.Context, device: bl.Device, ownership: str) -> None:
    memory, stream = new_memory(4 * COUNT), new_stream()
    ok(lib.cuMemsetD32Async(memory, 9, COUNT, stream))
    native = new_event()
    ok(lib.cuEventRecord(native, stream))
    ready = bl.make_event("cuda", native, context)
    buffer = bl.make_buffer("cuda", memory, context, "int32", available_event=ready, ownership=ownership)
    assert buffer.shape == (COUNT,)
    with bl.Queue(device, context) as queue:
        with raises(bl.InvalidError):
            bl.make_buffer("cuda", memory + 256, context, "int32", ownership="keep")
        with buffer.get_host_access("read") as host:
            assert set(np.asarray(host)) == {9}
        queue.submit(lambda handler, buffer=buffer: handler.fill(buffer.get_access(handler, "write"), 12)).wait()
        if ownership == "keep":
            buffer.close()
            result = np.zeros(COUNT, np.int32)
            ok(lib.cuMemcpyAsync(result.ctypes.data, memory, result.nbytes, stream))
            finish(stream)
            assert set(result) == {12}
            ok(lib.cuMemFree(memory))
        else:
            with raises(bl.InvalidError):
                bl.make_buffer("cuda", memory, context, "int32")
            buffer.close()
    del ready, buffer
    gc.collect()
    ok(lib.cuStreamDestroy(stream))


def test_memory_that_cannot_be(context: bl.Context, device: bl.Device) -> None:
    array = np.zeros(16, np.int32)
    with raises(bl.InvalidError, names="cuMemAlloc"):
        bl.make_buffer("cuda", array.ctypes.data, context, "int32", 16, ownership="keep")
    memory = new_memory(64)
    with raises(bl.InvalidError, names=(68, 64)):
        bl.make_buffer("cuda", ctypes.c_void_p(memory), context, "int32", 17)
    ok(lib.cuMemFree(memory))
