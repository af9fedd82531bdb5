"""Memory: allocation, copies in one to three dimensions, fills, pointers and pools."""

from __future__ import annotations

import numpy as np

from .driver_rig import Rig, cuda, ffi, lib

INVALID_VALUE, INVALID_HANDLE, INVALID_CONTEXT = 1, 400, 201
GENERATOR = np.random.default_rng(3)


def check_lines_survive_copies_in_all_directions(rig: Rig) -> None:
    values = GENERATOR.integers(0, 255, 4099, np.uint8)
    first = rig.upload(values)
    second = rig.upload(np.zeros_like(values))
    rig.call("cuMemcpyDtoD_v2", second + 1, first, values.size - 1)
    assert np.array_equal(rig.download(second, values)[1:], values[:-1])
    rig.call("cuMemcpy", first, second, values.size)
    assert np.array_equal(rig.download(first, values)[1:], values[:-1])


def check_copies_of_volumes_pick_their_boxes(rig: Rig) -> None:
    volume = GENERATOR.integers(0, 255, (5, 7, 33), np.uint8)
    source, target = rig.upload(volume), rig.upload(np.zeros_like(volume))
    copy = ffi.new("CUDA_MEMCPY3D *")
    copy.srcMemoryType = copy.dstMemoryType = lib.CU_MEMORYTYPE_DEVICE
    copy.srcDevice, copy.dstDevice = source, target
    copy.srcPitch = copy.dstPitch = 33
    copy.srcHeight = copy.dstHeight = 7
    copy.srcXInBytes, copy.srcY, copy.srcZ = 3, 2, 1
    copy.dstXInBytes, copy.dstY, copy.dstZ = 5, 1, 2
    copy.WidthInBytes, copy.Height, copy.Depth = 20, 4, 3
    rig.call("cuMemcpy3D_v2", copy)
    wish = np.zeros_like(volume)
    wish[2:5, 1:5, 5:25] = volume[1:4, 2:6, 3:23]
    assert np.array_equal(rig.download(target, volume), wish)


def check_slices_of_one_row_have_their_pitch(rig: Rig) -> None:
    """One row a slice: slices lie a pitch apart, in memory of the host too."""
    rows = GENERATOR.integers(0, 256, (5, 40), np.uint8)
    target = np.zeros_like(rows)
    copy = ffi.new("CUDA_MEMCPY3D *")
    copy.srcMemoryType = copy.dstMemoryType = lib.CU_MEMORYTYPE_HOST
    copy.srcHost, copy.dstHost = ffi.from_buffer(rows), ffi.from_buffer(target)
    copy.srcPitch = copy.dstPitch = 40
    copy.srcHeight = copy.dstHeight = 1
    copy.WidthInBytes, copy.Height, copy.Depth = 9, 1, 4
    rig.call("cuMemcpy3D_v2", copy)
    assert np.array_equal(target[:4, :9], rows[:4, :9])
    assert not target[:, 9:].any() and not target[4].any()


def check_copies_beyond_the_end_are_refused(rig: Rig) -> None:
    pointer = rig.upload(np.zeros(100, np.uint8))
    host = ffi.new("char[200]")
    rig.refuses(INVALID_VALUE, "cuMemcpyDtoH_v2", host, pointer, 101)
    rig.refuses(INVALID_VALUE, "cuMemcpyDtoH_v2", host, pointer + 50, 51)
    rig.refuses(INVALID_VALUE, "cuMemcpyHtoD_v2", 0x1000, host, 4)
    rig.refuses(INVALID_VALUE, "cuMemsetD32_v2", pointer, 0, 26)
    rig.refuses(INVALID_VALUE, "cuMemsetD32_v2", pointer + 1, 0, 1)
    rig.refuses(INVALID_VALUE, "cuMemFree_v2", pointer + 4)


def check_fills_write_rows_with_a_pitch(rig: Rig) -> None:
    values = GENERATOR.integers(0, 2**16, (6, 20), np.uint16)
    pointer = rig.upload(values)
    rig.call("cuMemsetD2D16_v2", pointer + 4, 40, 0xABCD, 7, 5)
    wish = values.copy()
    wish[:5, 2:9] = 0xABCD
    assert np.array_equal(rig.download(pointer, values), wish)


def check_pitched_rows_are_aligned(rig: Rig) -> None:
    pitch = ffi.new("size_t *")
    pointer = rig.get("CUdeviceptr *", "cuMemAllocPitch_v2", pitch, 100, 5, 4)
    assert pitch[0] >= 100 and pitch[0] % 512 == 0 and pointer % 512 == 0


def check_pointers_tell_what_they_are(rig: Rig) -> None:
    def ask(kind: str, attribute: int, pointer: int) -> int:
        out = ffi.new(kind)
        rig.call("cuPointerGetAttribute", out, attribute, pointer)
        return int(out[0])

    device = rig.upload(np.zeros(64, np.uint8))
    host = int(ffi.cast("uintptr_t", rig.get("void **", "cuMemHostAlloc", 64, 0)))
    managed = int(rig.get("CUdeviceptr *", "cuMemAllocManaged", 64, lib.CU_MEM_ATTACH_GLOBAL))
    kinds = [ask("unsigned *", lib.CU_POINTER_ATTRIBUTE_MEMORY_TYPE, p) for p in (device, host, managed)]
    assert kinds == [lib.CU_MEMORYTYPE_DEVICE, lib.CU_MEMORYTYPE_HOST, lib.CU_MEMORYTYPE_DEVICE]
    assert ask("unsigned *", lib.CU_POINTER_ATTRIBUTE_IS_MANAGED, managed) == 1
    assert ask("CUdeviceptr *", lib.CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, device + 9) == device
    assert ask("size_t *", lib.CU_POINTER_ATTRIBUTE_RANGE_SIZE, device) == 64
    rig.refuses(INVALID_VALUE, "cuPointerGetAttribute", ffi.new("unsigned *"), lib.CU_POINTER_ATTRIBUTE_MEMORY_TYPE, 64)
    rig.call("cuMemFreeHost", ffi.cast("void *", host))
    rig.refuses(INVALID_VALUE, "cuMemFreeHost", ffi.cast("void *", host))


def check_free_memory_is_no_memory(rig: Rig) -> None:
    pointer = rig.upload(np.zeros(64, np.uint8))
    rig.call("cuMemFree_v2", pointer)
    rig.refuses(INVALID_VALUE, "cuMemFree_v2", pointer)
    rig.refuses(INVALID_VALUE, "cuMemsetD8_v2", pointer, 0, 1)


def check_pools_free_in_the_order_of_the_stream(rig: Rig) -> None:
    stream = rig.get("CUstream *", "cuStreamCreate", lib.CU_STREAM_NON_BLOCKING)
    pointer = int(rig.get("CUdeviceptr *", "cuMemAllocAsync", 4096, stream))
    values = np.zeros(1024, np.uint32)
    rig.call("cuMemsetD32Async", pointer, 77, 1024, stream)
    rig.call("cuMemcpyDtoHAsync_v2", ffi.from_buffer(values), pointer, 4096, stream)
    rig.call("cuMemFreeAsync", pointer, stream)
    rig.call("cuStreamSynchronize", stream)
    assert (values == 77).all()
    rig.refuses(INVALID_VALUE, "cuMemFreeAsync", pointer, stream)


def check_registered_memory_ends_with_its_registration(rig: Rig) -> None:
    values = np.zeros(4096, np.uint8)
    start = ffi.from_buffer(values)
    rig.call("cuMemHostRegister_v2", start, 4096, 0)
    rig.refuses(712, "cuMemHostRegister_v2", start, 4096, 0)
    device = rig.get("CUdeviceptr *", "cuMemHostGetDevicePointer_v2", start, 0)
    assert device == int(ffi.cast("uintptr_t", start))
    rig.call("cuMemHostUnregister", start)
    rig.refuses(713, "cuMemHostUnregister", start)


def check_a_context_takes_its_memory_along(rig: Rig) -> None:
    other = rig.get("CUcontext *", "cuCtxCreate_v4", ffi.NULL, 0, 0)
    pointer = rig.upload(np.zeros(64, np.uint8))
    stream = rig.get("CUstream *", "cuStreamCreate", 0)
    rig.call("cuCtxDestroy_v2", other)
    rig.refuses(INVALID_VALUE, "cuMemFree_v2", pointer)
    rig.refuses(INVALID_HANDLE, "cuStreamSynchronize", stream)
    rig.refuses(INVALID_CONTEXT, "cuCtxPushCurrent_v2", other)
    assert cuda.available()


def check_a_context_ends_with_the_last_of_its_users(rig: Rig) -> None:
    context = rig.get("CUcontext *", "cuCtxCreate_v4", ffi.NULL, 0, 0)
    assert rig.get("CUcontext *", "cuCtxAttach", 0) == context
    rig.refuses(1, "cuCtxAttach", ffi.new("CUcontext *"), 1)
    rig.call("cuCtxDetach", context)
    pointer = rig.upload(np.ones(1, np.uint32))
    rig.call("cuCtxDetach", context)
    rig.refuses(201, "cuCtxDetach", context)
    rig.refuses(1, "cuMemFree_v2", pointer)
