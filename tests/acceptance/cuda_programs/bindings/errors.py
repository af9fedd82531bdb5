"""Errors: results of wrong calls, logs, and the end of a context by an illegal address."""

from __future__ import annotations

import ctypes
import functools
from typing import Any

import numpy as np
from cuda.bindings import driver

from .bindings_rig import Module, call, code_of, launch

SOURCE = r"""
extern "C" __global__ void store(int *p, int v) { p[threadIdx.x] = v; }
extern "C" __global__ void __launch_bounds__(64) bound(int *p) { p[threadIdx.x] = 1; }
"""
INVALID_VALUE, OUT_OF_MEMORY, INVALID_DEVICE, INVALID_PTX, NOT_FOUND = 1, 2, 101, 218, 500
INVALID_HANDLE, NOT_READY, ILLEGAL_ADDRESS = 400, 600, 700


@functools.lru_cache
def module() -> Module:
    return Module(SOURCE)


def refuses(code: int, function: Any, *arguments: Any) -> None:
    actual = code_of(function, *arguments)
    assert actual == code, f"{function.__name__} returns {actual}, not {code}"


def check_names_of_results() -> None:
    for number, name in ((0, b"CUDA_SUCCESS"), (1, b"CUDA_ERROR_INVALID_VALUE"), (700, b"CUDA_ERROR_ILLEGAL_ADDRESS")):
        assert call(driver.cuGetErrorName, driver.CUresult(number)) == name
        assert call(driver.cuGetErrorString, driver.CUresult(number))


def check_wrong_arguments() -> None:
    refuses(INVALID_DEVICE, driver.cuDeviceGet, 99)
    refuses(INVALID_VALUE, driver.cuMemAlloc, 0)
    refuses(INVALID_VALUE, driver.cuInit, 1)
    refuses(INVALID_VALUE, driver.cuMemFree, driver.CUdeviceptr(0x1234))
    refuses(INVALID_VALUE, driver.cuMemcpyHtoD, driver.CUdeviceptr(0), np.zeros(1).ctypes.data, 8)


def check_memory_is_limited() -> None:
    refuses(OUT_OF_MEMORY, driver.cuMemAlloc, 2**46)


def check_names_in_modules() -> None:
    refuses(NOT_FOUND, driver.cuModuleGetFunction, module().handle, b"absent")
    refuses(NOT_FOUND, driver.cuModuleGetGlobal, module().handle, b"absent")


def check_sizes_of_launches() -> None:
    store, pointer = module().function("store"), call(driver.cuMemAlloc, 8192)
    values = np.array([0], np.int32)
    table = np.array([np.array([int(pointer)], np.uint64).ctypes.data, values.ctypes.data], np.uint64)
    for grid, block in (
        ((1, 1, 1), (1025, 1, 1)),
        ((0, 1, 1), (32, 1, 1)),
        ((1, 65536, 1), (32, 1, 1)),
        ((1, 1, 1), (1, 1, 65)),
    ):
        refuses(INVALID_VALUE, driver.cuLaunchKernel, store, *grid, *block, 0, 0, table.ctypes.data, 0)
    refuses(INVALID_VALUE, driver.cuLaunchKernel, store, 1, 1, 1, 32, 1, 1, 10**6, 0, table.ctypes.data, 0)
    refuses(
        INVALID_VALUE, driver.cuLaunchKernel, module().function("bound"), 1, 1, 1, 128, 1, 1, 0, 0, table.ctypes.data, 0
    )
    call(driver.cuMemFree, pointer)


def check_wrong_ptx_has_a_log() -> None:
    text = b".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k() { wrong.u32 %r1, 5; ret; }\n\0"
    log = ctypes.create_string_buffer(2000)
    options = [driver.CUjit_option.CU_JIT_ERROR_LOG_BUFFER, driver.CUjit_option.CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES]
    refuses(INVALID_PTX, driver.cuModuleLoadDataEx, text, 2, options, [bytearray(2000), 2000])
    del log


def check_machine_code_of_no_device_is_refused() -> None:
    assert code_of(driver.cuModuleLoadData, b"\x7fELF" + bytes(200)) in (200, 209)


def check_events_that_were_not_recorded_have_no_time() -> None:
    event = call(driver.cuEventCreate, 0)
    refuses(INVALID_HANDLE, driver.cuEventElapsedTime, event, event)
    call(driver.cuEventDestroy, event)


def check_captures_refuse_what_cannot_be_captured() -> None:
    stream = call(driver.cuStreamCreate, 1)
    call(driver.cuStreamBeginCapture, stream, driver.CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_THREAD_LOCAL)
    refuses(900, driver.cuStreamSynchronize, stream)
    refuses(901, driver.cuStreamEndCapture, stream)
    call(driver.cuStreamDestroy, stream)


def check_the_last_an_illegal_address_ends_the_context() -> None:
    launch(module().function("store"), 1, 32, np.uint64(0x10), np.int32(1))
    refuses(ILLEGAL_ADDRESS, driver.cuCtxSynchronize)
    refuses(ILLEGAL_ADDRESS, driver.cuMemAlloc, 64)
    refuses(ILLEGAL_ADDRESS, driver.cuCtxSynchronize)
