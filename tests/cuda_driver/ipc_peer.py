"""What another process does with handles: its functions run in a process of its own, which keeps one context."""

from __future__ import annotations

import functools

import numpy as np

from .driver_rig import Rig, ffi, lib


@functools.lru_cache
def rig() -> Rig:
    return Rig()


def memory_handle(handle: bytes) -> object:
    value = ffi.new("CUipcMemHandle *")
    ffi.memmove(value, handle, 64)
    return value[0]


def event_handle(handle: bytes) -> object:
    value = ffi.new("CUipcEventHandle *")
    ffi.memmove(value, handle, 64)
    return value[0]


def open_memory(handle: bytes, flags: int = 1) -> tuple[int, int]:
    """Result and address."""
    rig()
    pointer = ffi.new("CUdeviceptr *")
    return int(lib.cuIpcOpenMemHandle_v2(pointer, memory_handle(handle), flags)), int(pointer[0])


def open_event(handle: bytes) -> tuple[int, int]:
    """Result and the event as a number."""
    rig()
    event = ffi.new("CUevent *")
    return int(lib.cuIpcOpenEventHandle(event, event_handle(handle))), int(ffi.cast("uintptr_t", event[0]))


def export_memory(values: list[float]) -> bytes:
    pointer = rig().upload(np.array(values, np.float32))
    return bytes(ffi.buffer(ffi.addressof(rig().get("CUipcMemHandle *", "cuIpcGetMemHandle", pointer))))


def result(name: str, *arguments: int) -> int:
    """Of a function of addresses, numbers and streams."""
    rig()
    return int(getattr(lib, name)(*arguments))


def handle_of(pointer: int) -> int:
    return int(lib.cuIpcGetMemHandle(ffi.new("CUipcMemHandle *"), pointer))


def event_result(name: str, event: int) -> int:
    return int(getattr(lib, name)(ffi.cast("CUevent", event)))


def handle_of_event(event: int) -> int:
    return int(lib.cuIpcGetEventHandle(ffi.new("CUipcEventHandle *"), ffi.cast("CUevent", event)))


def range_of(pointer: int) -> tuple[int, int]:
    base, size = ffi.new("CUdeviceptr *"), ffi.new("size_t *")
    rig().call("cuMemGetAddressRange_v2", base, size, pointer)
    return int(base[0]), int(size[0])


def read(pointer: int, count: int) -> list[float]:
    return [float(value) for value in rig().download(pointer, np.empty(count, np.float32))]


def double(pointer: int, count: int) -> None:
    """By a kernel."""
    rig().axpy(rig().function(rig().module(), b"axpy"), 1, pointer, pointer, count)
    rig().call("cuCtxSynchronize")


def read_after(event: int, pointer: int, count: int) -> list[float]:
    """On a stream that waits for the event."""
    stream = rig().get("CUstream *", "cuStreamCreate", lib.CU_STREAM_NON_BLOCKING)
    values = np.empty(count, np.float32)
    rig().call("cuStreamWaitEvent", stream, ffi.cast("CUevent", event), 0)
    rig().call("cuMemcpyDtoHAsync_v2", ffi.from_buffer(values), pointer, values.nbytes, stream)
    rig().call("cuStreamSynchronize", stream)
    return [float(value) for value in values]


def double_and_record(pointer: int, count: int, event: int) -> None:
    rig().axpy(rig().function(rig().module(), b"axpy"), 1, pointer, pointer, count)
    rig().call("cuEventRecord", ffi.cast("CUevent", event), ffi.NULL)
