"""Memory and events between two processes. Results of mistakes are those that an H200 gave."""

from __future__ import annotations

import concurrent.futures
import contextlib
import multiprocessing
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from . import ipc_peer
from .driver_rig import Rig, ffi, lib

Ask = Callable[..., Any]

INVALID_VALUE, INVALID_CONTEXT, MAP_FAILED, INVALID_HANDLE, NOT_READY = 1, 201, 205, 400, 600


@contextlib.contextmanager
def peer() -> Iterator[Ask]:
    """A process: calling this with a function of ``ipc_peer`` runs it there."""
    context = multiprocessing.get_context("spawn")
    with concurrent.futures.ProcessPoolExecutor(1, context) as pool:
        yield lambda function, *arguments: pool.submit(function, *arguments).result(60)


def handle_of(rig: Rig, pointer: int) -> bytes:
    return bytes(ffi.buffer(ffi.addressof(rig.get("CUipcMemHandle *", "cuIpcGetMemHandle", pointer))))


def new_event(rig: Rig) -> tuple[Any, bytes]:
    event = rig.get("CUevent *", "cuEventCreate", lib.CU_EVENT_INTERPROCESS | lib.CU_EVENT_DISABLE_TIMING)
    return event, bytes(ffi.buffer(ffi.addressof(rig.get("CUipcEventHandle *", "cuIpcGetEventHandle", event))))


def check_both_processes_see_one_memory(rig: Rig) -> None:
    values = np.arange(1000, dtype=np.float32)
    with peer() as ask:
        for count in (3, 1000, 1 << 20):  # of a page, of some, and with a mapping of its own
            whole = np.resize(values, count)
            neighbour, pointer, other = rig.upload(values), rig.upload(whole), rig.upload(values)
            handle = handle_of(rig, pointer)
            assert handle == handle_of(rig, pointer) == handle_of(rig, pointer + 4)
            np.testing.assert_array_equal(rig.download(pointer, whole), whole)
            code, there = ask(ipc_peer.open_memory, handle)
            assert code == 0
            assert ask(ipc_peer.range_of, there + 4) == (there, whole.nbytes)
            assert ask(ipc_peer.read, there, 3) == list(whole[:3])
            ask(ipc_peer.double, there, count)
            np.testing.assert_array_equal(rig.download(pointer, whole), 2 * whole)
            rig.axpy(rig.function(rig.module(), b"axpy"), 1, pointer, pointer, count)
            rig.call("cuCtxSynchronize")
            assert ask(ipc_peer.read, there, 3) == list(4 * whole[:3])
            assert ask(ipc_peer.result, "cuIpcCloseMemHandle", there) == 0
            for one in (neighbour, other):
                np.testing.assert_array_equal(rig.download(one, values), values)
            for one in (neighbour, pointer, other):
                rig.call("cuMemFree_v2", one)
            again = rig.upload(whole)
            np.testing.assert_array_equal(rig.download(again, whole), whole)
            rig.call("cuMemFree_v2", again)


def check_memory_is_opened_once_and_closed_as_often_as_opened(rig: Rig) -> None:
    handle = handle_of(rig, rig.upload(np.ones(5, np.float32)))
    with peer() as ask:
        (first, pointer), second = ask(ipc_peer.open_memory, handle), ask(ipc_peer.open_memory, handle)
        assert (first, second) == (0, (0, pointer))
        assert ask(ipc_peer.handle_of, pointer) == INVALID_VALUE
        assert ask(ipc_peer.result, "cuMemFree_v2", pointer) == INVALID_VALUE
        closes = [ask(ipc_peer.result, "cuIpcCloseMemHandle", pointer) for _ in range(3)]
        assert closes == [0, 0, INVALID_VALUE]
        assert ask(ipc_peer.result, "cuMemsetD32_v2", pointer, 0, 1) == INVALID_VALUE


def check_mistakes_with_memory(rig: Rig) -> None:
    pointer = rig.upload(np.ones(5, np.float32))
    handle, place = handle_of(rig, pointer), ffi.new("CUipcMemHandle *")
    out = ffi.new("CUdeviceptr *")
    managed = rig.get("CUdeviceptr *", "cuMemAllocManaged", 64, 1)
    host = int(ffi.cast("uintptr_t", rig.get("void **", "cuMemHostAlloc", 64, 0)))
    pooled = rig.get("CUdeviceptr *", "cuMemAllocAsync", 64, ffi.NULL)
    for other in (managed, host, pooled, 0, 12345):
        rig.refuses(INVALID_VALUE, "cuIpcGetMemHandle", place, other)
    capable = [
        rig.get("unsigned *", "cuPointerGetAttribute", lib.CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE, one)
        for one in (pointer, managed, pooled)
    ]
    assert capable == [1, 0, 0]
    rig.refuses(INVALID_VALUE, "cuIpcGetMemHandle", ffi.NULL, pointer)
    rig.refuses(INVALID_VALUE, "cuIpcCloseMemHandle", pointer)
    own, garbage = ipc_peer.memory_handle(handle), ipc_peer.memory_handle(bytes(range(64)))
    rig.refuses(INVALID_CONTEXT, "cuIpcOpenMemHandle_v2", out, own, 1)
    for arguments in ((out, own, 0), (out, own, 2), (ffi.NULL, own, 1), (out, garbage, 1)):
        rig.refuses(INVALID_VALUE, "cuIpcOpenMemHandle_v2", *arguments)
    with peer() as ask:
        assert ask(ipc_peer.open_memory, handle, 0)[0] == INVALID_VALUE
        for mistake in (
            bytes(64),
            bytes(range(64)),
            *(handle[:i] + b"\xff" + handle[i + 1 :] for i in (0, 9, 25, 33, 40)),
        ):
            assert ask(ipc_peer.open_memory, mistake)[0] == INVALID_VALUE, mistake
        rig.call("cuMemFree_v2", pointer)
        assert ask(ipc_peer.open_memory, handle)[0] == INVALID_VALUE


def check_memory_outlives_the_process_that_shared_it(rig: Rig) -> None:
    with peer() as ask:
        handle = ask(ipc_peer.export_memory, [1, 2, 3])
        pointer = rig.get("CUdeviceptr *", "cuIpcOpenMemHandle_v2", ipc_peer.memory_handle(handle), 1)
    assert list(rig.download(pointer, np.empty(3, np.float32))) == [1, 2, 3]
    rig.call("cuIpcCloseMemHandle", pointer)
    rig.refuses(INVALID_VALUE, "cuIpcOpenMemHandle_v2", ffi.new("CUdeviceptr *"), ipc_peer.memory_handle(handle), 1)


def check_kernels_lose_nothing_while_memory_is_shared(rig: Rig) -> None:
    """Launches of a thread count, while another asks for the first handles of what they count in."""
    function, stop = rig.function(rig.module(), b"axpy"), threading.Event()
    ones = rig.upload(np.ones(256, np.float32))
    counters = [rig.upload(np.zeros(256, np.float32)) for _ in range(20)]
    launches = [0] * len(counters)

    def count() -> None:
        rig.call("cuCtxSetCurrent", rig.context)
        stream = rig.get("CUstream *", "cuStreamCreate", lib.CU_STREAM_NON_BLOCKING)
        while not stop.is_set():
            for i, pointer in enumerate(counters):
                rig.axpy(function, 1, ones, pointer, 256, stream)
                launches[i] += 1
            rig.call("cuStreamSynchronize", stream)

    thread = threading.Thread(target=count)
    thread.start()
    for pointer in counters:
        before = sum(launches)
        handle_of(rig, pointer)
        while sum(launches) < before + 10 and thread.is_alive():
            time.sleep(0.001)
    stop.set()
    thread.join()
    for pointer, launched in zip(counters, launches, strict=True):
        np.testing.assert_array_equal(rig.download(pointer, np.empty(256, np.float32)), launched)


def check_a_waiting_stream_does_not_delay_a_handle(rig: Rig) -> None:
    stream = rig.get("CUstream *", "cuStreamCreate", lib.CU_STREAM_NON_BLOCKING)
    flag = rig.upload(np.zeros(1, np.uint32))
    rig.call("cuStreamWaitValue32_v2", stream, flag, 1, lib.CU_STREAM_WAIT_VALUE_EQ)
    handle_of(rig, flag)
    assert lib.cuStreamQuery(stream) == NOT_READY
    rig.call("cuMemsetD32Async", flag, 1, 1, rig.get("CUstream *", "cuStreamCreate", lib.CU_STREAM_NON_BLOCKING))
    rig.call("cuStreamSynchronize", stream)


def check_events_order_the_work_of_two_processes(rig: Rig) -> None:
    event, name = new_event(rig)
    values = np.arange(1, 4, dtype=np.float32)
    pointer, flag = rig.upload(values), rig.upload(np.zeros(1, np.uint32))
    stream = rig.get("CUstream *", "cuStreamCreate", lib.CU_STREAM_NON_BLOCKING)
    other = rig.get("CUstream *", "cuStreamCreate", lib.CU_STREAM_NON_BLOCKING)

    def go() -> None:
        rig.call("cuCtxSetCurrent", rig.context)
        rig.call("cuMemsetD32Async", flag, 1, 1, other)

    with peer() as ask:
        (code, there), (_, memory) = ask(ipc_peer.open_event, name), ask(ipc_peer.open_memory, handle_of(rig, pointer))
        assert code == 0
        assert ask(ipc_peer.event_result, "cuEventQuery", there) == 0  # never recorded
        rig.call("cuStreamWaitValue32_v2", stream, flag, 1, lib.CU_STREAM_WAIT_VALUE_EQ)
        rig.axpy(rig.function(rig.module(), b"axpy"), 1, pointer, pointer, 3, stream)
        rig.call("cuEventRecord", event, stream)
        assert ask(ipc_peer.event_result, "cuEventQuery", there) == lib.cuEventQuery(event) == NOT_READY
        timer = threading.Timer(0.1, go)
        timer.start()
        assert ask(ipc_peer.read_after, there, memory, 3) == list(2 * values)
        timer.join()
        assert ask(ipc_peer.event_result, "cuEventSynchronize", there) == 0
        assert ask(ipc_peer.event_result, "cuEventQuery", there) == lib.cuEventQuery(event) == 0
        for factor in (4, 8, 16):  # records of the peer, for which this process waits
            ask(ipc_peer.double_and_record, memory, 3, there)
            rig.call("cuStreamWaitEvent", stream, event, 0)
            rig.call("cuMemcpyDtoHAsync_v2", ffi.from_buffer(out := np.empty(3, np.float32)), pointer, 12, stream)
            rig.call("cuStreamSynchronize", stream)
            np.testing.assert_array_equal(out, factor * values)
            rig.call("cuEventRecord", event, stream)
            rig.call("cuStreamSynchronize", stream)
            assert ask(ipc_peer.event_result, "cuEventQuery", there) == 0
        assert ask(ipc_peer.event_result, "cuEventDestroy_v2", there) == 0


def check_records_are_done_in_their_order(rig: Rig) -> None:
    """A second record on a stream that is idle is not done before the first, and does not block that stream."""
    event, name = new_event(rig)
    flag = rig.upload(np.zeros(1, np.uint32))
    slow = rig.get("CUstream *", "cuStreamCreate", lib.CU_STREAM_NON_BLOCKING)
    quick = rig.get("CUstream *", "cuStreamCreate", lib.CU_STREAM_NON_BLOCKING)
    with peer() as ask:
        _, there = ask(ipc_peer.open_event, name)
        rig.call("cuStreamWaitValue32_v2", slow, flag, 1, lib.CU_STREAM_WAIT_VALUE_EQ)
        rig.call("cuEventRecord", event, slow)
        rig.call("cuEventRecord", event, quick)
        rig.call("cuStreamSynchronize", quick)
        assert ask(ipc_peer.event_result, "cuEventQuery", there) == NOT_READY
        rig.call("cuMemsetD32Async", flag, 1, 1, quick)
        assert ask(ipc_peer.event_result, "cuEventSynchronize", there) == 0


def check_mistakes_with_events(rig: Rig) -> None:
    event, name = new_event(rig)
    out, place = ffi.new("CUevent *"), ffi.new("CUipcEventHandle *")
    rig.refuses(INVALID_VALUE, "cuEventCreate", out, lib.CU_EVENT_INTERPROCESS)
    plain = rig.get("CUevent *", "cuEventCreate", lib.CU_EVENT_DISABLE_TIMING)
    rig.refuses(INVALID_HANDLE, "cuIpcGetEventHandle", place, plain)
    rig.refuses(INVALID_CONTEXT, "cuIpcOpenEventHandle", out, ipc_peer.event_handle(name))
    memory = handle_of(rig, rig.upload(np.ones(5, np.float32)))
    for mistake in (bytes(range(64)), memory):
        rig.refuses(MAP_FAILED, "cuIpcOpenEventHandle", out, ipc_peer.event_handle(mistake))
    rig.refuses(INVALID_HANDLE, "cuEventElapsedTime_v2", ffi.new("float *"), event, event)
    with peer() as ask:
        code, there = ask(ipc_peer.open_event, name)
        assert code == 0
        assert ask(ipc_peer.handle_of_event, there) == INVALID_HANDLE
        assert ask(ipc_peer.open_event, memory)[0] == MAP_FAILED
        rig.call("cuEventDestroy_v2", event)
        assert ask(ipc_peer.open_event, name)[0] == MAP_FAILED
