"""Conversion between native CUDA objects and the package's objects."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from typing import Any

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


# ---------------------------------------------------------------------- modules, kernels


# ---------------------------------------------------------------------- memory
