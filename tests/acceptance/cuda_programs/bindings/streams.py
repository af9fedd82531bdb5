"""Streams and graphs: order, events, callbacks, memory of all kinds, captures, and graphs by nodes."""

from __future__ import annotations

import ctypes
import functools
from typing import Any

import numpy as np
from cuda.bindings import driver

from .bindings_rig import Array, Module, bytes_at, call, code_of, download, launch, parameters, same, upload

N = 4096

SOURCE = r"""
extern "C" __global__ void scale(int *a, int by, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) a[i] *= by;
}
extern "C" __global__ void add(int *a, const int *b, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) a[i] += b[i];
}
extern "C" __global__ void slow(int *a, int by, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int v = a[i];
    for (int k = 0; k < 500; k++) v = v * 5 + 1;
    a[i] = v + by;
}
__constant__ int factors[4] = {1, 2, 3, 4};
__device__ int total = 7;
extern "C" __global__ void variables(int *o) { o[threadIdx.x] = factors[threadIdx.x & 3] * total; }
"""


@functools.lru_cache
def module() -> Module:
    return Module(SOURCE)


def new_stream() -> Any:
    return call(driver.cuStreamCreate, int(driver.CUstream_flags.CU_STREAM_NON_BLOCKING))


def run(name: str, stream: Any, *values: Any) -> None:
    launch(module().function(name), N // 128, 128, *values, np.int32(N), stream=stream)


def slow(values: Array, by: int) -> Array:
    values = values.astype(np.uint32)
    for _ in range(500):
        values = values * np.uint32(5) + np.uint32(1)
    return (values + np.uint32(by)).astype(np.int32)


def check_a_stream_keeps_the_order() -> None:
    start = np.arange(N, dtype=np.int32)
    a, stream = upload(start), new_stream()
    result = np.zeros_like(start)
    run("slow", stream, a, np.int32(3))
    run("scale", stream, a, np.int32(-2))
    call(driver.cuMemcpyDtoHAsync, result.ctypes.data, a, result.nbytes, stream)
    call(driver.cuStreamSynchronize, stream)
    same(result, slow(start, 3) * np.int32(-2))
    assert code_of(driver.cuStreamQuery, stream) == 0
    call(driver.cuStreamDestroy, stream)
    call(driver.cuMemFree, a)


def check_events_order_two_streams() -> None:
    start = np.arange(N, dtype=np.int32)
    a, one, two = upload(start), new_stream(), new_stream()
    first, last = call(driver.cuEventCreate, 0), call(driver.cuEventCreate, 0)
    run("slow", one, a, np.int32(1))
    call(driver.cuEventRecord, first, one)
    call(driver.cuStreamWaitEvent, two, first, 0)
    run("scale", two, a, np.int32(3))
    call(driver.cuEventRecord, last, two)
    call(driver.cuEventSynchronize, last)
    same(download(a, start), slow(start, 1) * np.int32(3))
    assert call(driver.cuEventElapsedTime, first, last) >= 0
    for event in (first, last):
        call(driver.cuEventDestroy, event)
    for stream in (one, two):
        call(driver.cuStreamDestroy, stream)
    call(driver.cuMemFree, a)


def check_host_functions_run_in_order() -> None:
    start = np.ones(N, np.int32)
    a, stream, lines = upload(start), new_stream(), []
    result = np.zeros_like(start)
    kind = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
    function = kind(lambda data: lines.append((data, int(result.sum()))))
    run("scale", stream, a, np.int32(5))
    call(driver.cuMemcpyDtoHAsync, result.ctypes.data, a, result.nbytes, stream)
    call(driver.cuLaunchHostFunc, stream, driver.CUhostFn(_ptr=ctypes.addressof(function)), 42)
    call(driver.cuStreamSynchronize, stream)
    assert lines == [(42, 5 * N)]
    call(driver.cuStreamDestroy, stream)
    call(driver.cuMemFree, a)


def check_memory_of_pools() -> None:
    stream = new_stream()
    values = np.arange(N, dtype=np.int32)
    result = np.zeros_like(values)
    for turn in range(3):
        a = call(driver.cuMemAllocAsync, values.nbytes, stream)
        call(driver.cuMemcpyHtoDAsync, a, values.ctypes.data, values.nbytes, stream)
        run("scale", stream, a, np.int32(turn))
        call(driver.cuMemcpyDtoHAsync, result.ctypes.data, a, values.nbytes, stream)
        call(driver.cuMemFreeAsync, a, stream)
        call(driver.cuStreamSynchronize, stream)
        same(result, turn * values)
    call(driver.cuStreamDestroy, stream)


def check_managed_and_host_memory() -> None:
    values = np.arange(N, dtype=np.int32)
    managed = call(driver.cuMemAllocManaged, values.nbytes, int(driver.CUmemAttach_flags.CU_MEM_ATTACH_GLOBAL))
    host = call(driver.cuMemHostAlloc, values.nbytes, driver.CU_MEMHOSTALLOC_DEVICEMAP)
    one = np.frombuffer(bytes_at(int(managed), values.nbytes), np.int32)
    two = np.frombuffer(bytes_at(int(host), values.nbytes), np.int32)
    one[:], two[:] = values, 10
    run("add", 0, managed, call(driver.cuMemHostGetDevicePointer, host, 0))
    call(driver.cuCtxSynchronize)
    same(one, values + 10)
    call(driver.cuMemFree, managed)
    call(driver.cuMemFreeHost, host)


def check_variables_of_modules() -> None:
    address, size = call(driver.cuModuleGetGlobal, module().handle, b"factors")
    values = np.array([5, 7, -9, 11], np.int32)
    assert size == values.nbytes
    call(driver.cuMemcpyHtoD, address, values.ctypes.data, size)
    same(module().run("variables", 1, 64, np.zeros(64, np.int32))[0], np.tile(values * 7, 16))


def check_fills_and_rows() -> None:
    pointer, pitch = call(driver.cuMemAllocPitch, 100, 8, 4)
    assert pitch >= 100
    call(driver.cuMemsetD2D8, pointer, pitch, 7, 100, 8)
    call(driver.cuMemsetD2D32, driver.CUdeviceptr(int(pointer) + pitch), pitch, 0x01020304, 3, 2)
    job, rows = driver.CUDA_MEMCPY2D(), np.zeros((8, 100), np.uint8)
    kinds = driver.CUmemorytype
    job.srcMemoryType, job.srcDevice, job.srcPitch = kinds.CU_MEMORYTYPE_DEVICE, pointer, pitch
    job.dstMemoryType, job.dstHost, job.dstPitch = kinds.CU_MEMORYTYPE_HOST, rows.ctypes.data, 100
    job.WidthInBytes, job.Height = 100, 8
    call(driver.cuMemcpy2D, job)
    expected = np.full((8, 100), 7, np.uint8)
    expected[1:3, :12] = [4, 3, 2, 1] * 3
    same(rows, expected)
    call(driver.cuMemFree, pointer)


def check_a_capture_runs_many_times() -> None:
    start = np.arange(N, dtype=np.int32)
    a, b, one, two = upload(start), upload(start), new_stream(), new_stream()
    fork, join = call(driver.cuEventCreate, 0), call(driver.cuEventCreate, 0)
    call(driver.cuStreamBeginCapture, one, driver.CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_THREAD_LOCAL)
    call(driver.cuEventRecord, fork, one)
    call(driver.cuStreamWaitEvent, two, fork, 0)
    run("scale", one, a, np.int32(2))
    run("scale", two, b, np.int32(3))
    call(driver.cuEventRecord, join, two)
    call(driver.cuStreamWaitEvent, one, join, 0)
    run("add", one, a, b)
    graph = call(driver.cuStreamEndCapture, one)
    assert call(driver.cuGraphGetNodes, graph, 0)[1] == 3
    same(download(a, start), start)
    runnable = call(driver.cuGraphInstantiate, graph, 0)
    x, y = start.copy(), start.copy()
    for _ in range(3):
        call(driver.cuGraphLaunch, runnable, one)
        y = 3 * y
        x = 2 * x + y
    call(driver.cuStreamSynchronize, one)
    same(download(a, start), x)
    call(driver.cuGraphExecDestroy, runnable)
    call(driver.cuGraphDestroy, graph)
    for stream in (one, two):
        call(driver.cuStreamDestroy, stream)
    for pointer in (a, b):
        call(driver.cuMemFree, pointer)


def check_a_graph_by_nodes() -> None:
    a, b = upload(np.zeros(N, np.int32)), upload(np.arange(N, dtype=np.int32))
    context = call(driver.cuCtxGetCurrent)
    graph = call(driver.cuGraphCreate, 0)
    fill = driver.CUDA_MEMSET_NODE_PARAMS()
    fill.dst, fill.elementSize, fill.width, fill.height, fill.value = a, 4, N, 1, 9
    first = call(driver.cuGraphAddMemsetNode, graph, [], 0, fill, context)
    kernel = driver.CUDA_KERNEL_NODE_PARAMS()
    kernel.func = module().function("add")
    kernel.gridDimX, kernel.gridDimY, kernel.gridDimZ = N // 128, 1, 1
    kernel.blockDimX, kernel.blockDimY, kernel.blockDimZ = 128, 1, 1
    table = parameters(a, b, np.int32(N))
    kernel.kernelParams = table.ctypes.data
    second = call(driver.cuGraphAddKernelNode, graph, [first], 1, kernel)
    child = call(driver.cuGraphCreate, 0)
    call(driver.cuGraphAddKernelNode, child, [], 0, kernel)
    call(driver.cuGraphAddChildGraphNode, graph, [second], 1, child)
    runnable, stream = call(driver.cuGraphInstantiate, graph, 0), new_stream()
    for _ in range(2):
        call(driver.cuGraphLaunch, runnable, stream)
    call(driver.cuStreamSynchronize, stream)
    same(download(a, np.zeros(N, np.int32)), 9 + 2 * np.arange(N))
    for destroy, handle in (
        (driver.cuGraphExecDestroy, runnable), (driver.cuGraphDestroy, graph), (driver.cuGraphDestroy, child),
        (driver.cuStreamDestroy, stream), (driver.cuMemFree, a), (driver.cuMemFree, b),
    ):  # fmt: skip
        call(destroy, handle)


def check_waits_for_values_in_memory() -> None:
    flag, a, stream = upload(np.zeros(1, np.uint32)), upload(np.ones(N, np.int32)), new_stream()
    call(driver.cuStreamWaitValue32, stream, flag, 5, int(driver.CUstreamWaitValue_flags.CU_STREAM_WAIT_VALUE_GEQ))
    run("scale", stream, a, np.int32(4))
    assert code_of(driver.cuStreamQuery, stream) == 600
    other = new_stream()
    call(driver.cuStreamWriteValue32, other, flag, 6, 0)
    call(driver.cuStreamSynchronize, stream)
    same(download(a, np.ones(N, np.int32)), np.full(N, 4))
    for destroy, handle in (
        (driver.cuStreamDestroy, stream),
        (driver.cuStreamDestroy, other),
        (driver.cuMemFree, a),
        (driver.cuMemFree, flag),
    ):
        call(destroy, handle)
