/* The functions that copy. */
#include "cuda_driver/graph/capture.h"
#include "cuda_driver/memory/copy.h"
#include "cuda_driver/memory/memory.h"

/* A copy on a stream. It has ended when the call returns where memory that the driver does not know takes part. */
static CUresult submit(const CUDA_MEMCPY3D *parameters, CUstream handle, bool is_async)
{
    struct bcu_copy_command copy;
    struct bcu_stream *stream;
    CUresult result = bcu_stream_acquire(handle, &stream);
    if (result != CUDA_SUCCESS)
        return result;
    result = bcu_copy_begin(parameters, &copy);
    if (result == CUDA_SUCCESS) {
        if (is_async && (!copy.is_pageable || bcu_capture_is_active(stream)))
            result = bcu_submit(stream, &copy.command);
        else
            result = bcu_submit_and_wait(stream, &copy.command);
        bcu_copy_end(&copy);
    }
    bcu_stream_release(stream);
    return result;
}

/* ---------------------------------------------------------------- lines */

static CUDA_MEMCPY3D line(CUmemorytype to, uint64_t destination, CUmemorytype from, uint64_t source, size_t size)
{
    CUDA_MEMCPY3D copy = {.srcMemoryType = from, .dstMemoryType = to, .WidthInBytes = size, .Height = 1, .Depth = 1};
    if (from == CU_MEMORYTYPE_HOST)
        copy.srcHost = (const void *)(uintptr_t)source;
    else
        copy.srcDevice = source;
    if (to == CU_MEMORYTYPE_HOST)
        copy.dstHost = (void *)(uintptr_t)destination;
    else
        copy.dstDevice = destination;
    return copy;
}

static CUresult copy_line(CUmemorytype to, uint64_t destination, CUmemorytype from, uint64_t source, size_t size, CUstream stream,
                          bool is_async)
{
    CUDA_MEMCPY3D copy = line(to, destination, from, source, size);
    return submit(&copy, stream, is_async);
}

#define HOST(pointer) CU_MEMORYTYPE_HOST, (uint64_t)(uintptr_t)(pointer)
#define DEVICE(pointer) CU_MEMORYTYPE_DEVICE, (pointer)
#define ANY(pointer) CU_MEMORYTYPE_UNIFIED, (pointer)

CUresult cuMemcpy(CUdeviceptr to, CUdeviceptr from, size_t size) { return copy_line(ANY(to), ANY(from), size, NULL, false); }

CUresult cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, size_t size, CUstream stream)
{
    return copy_line(ANY(to), ANY(from), size, stream, true);
}

CUresult cuMemcpyHtoD_v2(CUdeviceptr to, const void *from, size_t size) { return copy_line(DEVICE(to), HOST(from), size, NULL, false); }

CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void *from, size_t size, CUstream stream)
{
    return copy_line(DEVICE(to), HOST(from), size, stream, true);
}

CUresult cuMemcpyDtoH_v2(void *to, CUdeviceptr from, size_t size) { return copy_line(HOST(to), DEVICE(from), size, NULL, false); }

CUresult cuMemcpyDtoHAsync_v2(void *to, CUdeviceptr from, size_t size, CUstream stream)
{
    return copy_line(HOST(to), DEVICE(from), size, stream, true);
}

CUresult cuMemcpyDtoD_v2(CUdeviceptr to, CUdeviceptr from, size_t size) { return copy_line(DEVICE(to), DEVICE(from), size, NULL, false); }

CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr to, CUdeviceptr from, size_t size, CUstream stream)
{
    return copy_line(DEVICE(to), DEVICE(from), size, stream, true);
}

static CUresult check_contexts(CUcontext to, CUcontext from)
{
    struct bcu_context *context;
    if (to == NULL || from == NULL)
        return bcu_fail(CUDA_ERROR_INVALID_CONTEXT, "a context is NULL");
    CUresult result = bcu_context_find(to, &context);
    return result != CUDA_SUCCESS ? result : bcu_context_find(from, &context);
}

CUresult cuMemcpyPeer(CUdeviceptr to, CUcontext to_context, CUdeviceptr from, CUcontext from_context, size_t size)
{
    CUresult result = check_contexts(to_context, from_context);
    return result != CUDA_SUCCESS ? result : copy_line(DEVICE(to), DEVICE(from), size, NULL, false);
}

CUresult cuMemcpyPeerAsync(CUdeviceptr to, CUcontext to_context, CUdeviceptr from, CUcontext from_context, size_t size,
                           CUstream stream)
{
    CUresult result = check_contexts(to_context, from_context);
    return result != CUDA_SUCCESS ? result : copy_line(DEVICE(to), DEVICE(from), size, stream, true);
}

/* ---------------------------------------------------------------- lines of arrays */

/* Where a byte of an array is: arrays of one dimension have one row. */
static CUDA_MEMCPY3D to_array(CUarray array, size_t offset, CUmemorytype from, uint64_t source, size_t size)
{
    CUDA_MEMCPY3D copy = line(CU_MEMORYTYPE_DEVICE, 0, from, source, size);
    copy.dstMemoryType = CU_MEMORYTYPE_ARRAY;
    copy.dstArray = array;
    copy.dstXInBytes = offset;
    return copy;
}

static CUDA_MEMCPY3D from_array(CUmemorytype to, uint64_t destination, CUarray array, size_t offset, size_t size)
{
    CUDA_MEMCPY3D copy = line(to, destination, CU_MEMORYTYPE_DEVICE, 0, size);
    copy.srcMemoryType = CU_MEMORYTYPE_ARRAY;
    copy.srcArray = array;
    copy.srcXInBytes = offset;
    return copy;
}

CUresult cuMemcpyHtoAAsync_v2(CUarray to, size_t offset, const void *from, size_t size, CUstream stream)
{
    CUDA_MEMCPY3D copy = to_array(to, offset, HOST(from), size);
    return submit(&copy, stream, true);
}

CUresult cuMemcpyHtoA_v2(CUarray to, size_t offset, const void *from, size_t size)
{
    CUDA_MEMCPY3D copy = to_array(to, offset, HOST(from), size);
    return submit(&copy, NULL, false);
}

CUresult cuMemcpyDtoA_v2(CUarray to, size_t offset, CUdeviceptr from, size_t size)
{
    CUDA_MEMCPY3D copy = to_array(to, offset, DEVICE(from), size);
    return submit(&copy, NULL, false);
}

CUresult cuMemcpyAtoHAsync_v2(void *to, CUarray from, size_t offset, size_t size, CUstream stream)
{
    CUDA_MEMCPY3D copy = from_array(HOST(to), from, offset, size);
    return submit(&copy, stream, true);
}

CUresult cuMemcpyAtoH_v2(void *to, CUarray from, size_t offset, size_t size)
{
    CUDA_MEMCPY3D copy = from_array(HOST(to), from, offset, size);
    return submit(&copy, NULL, false);
}

CUresult cuMemcpyAtoD_v2(CUdeviceptr to, CUarray from, size_t offset, size_t size)
{
    CUDA_MEMCPY3D copy = from_array(DEVICE(to), from, offset, size);
    return submit(&copy, NULL, false);
}

CUresult cuMemcpyAtoA_v2(CUarray to, size_t to_offset, CUarray from, size_t from_offset, size_t size)
{
    CUDA_MEMCPY3D copy = from_array(DEVICE(0), from, from_offset, size);
    copy.dstMemoryType = CU_MEMORYTYPE_ARRAY;
    copy.dstArray = to;
    copy.dstXInBytes = to_offset;
    return submit(&copy, NULL, false);
}

/* ---------------------------------------------------------------- two and three dimensions */

static CUDA_MEMCPY3D deepen(const CUDA_MEMCPY2D *flat)
{
    return (CUDA_MEMCPY3D){
        .srcXInBytes = flat->srcXInBytes, .srcY = flat->srcY, .srcMemoryType = flat->srcMemoryType, .srcHost = flat->srcHost,
        .srcDevice = flat->srcDevice, .srcArray = flat->srcArray, .srcPitch = flat->srcPitch,
        .dstXInBytes = flat->dstXInBytes, .dstY = flat->dstY, .dstMemoryType = flat->dstMemoryType, .dstHost = flat->dstHost,
        .dstDevice = flat->dstDevice, .dstArray = flat->dstArray, .dstPitch = flat->dstPitch,
        .WidthInBytes = flat->WidthInBytes, .Height = flat->Height, .Depth = 1,
    };
}

CUresult cuMemcpy2DAsync_v2(const CUDA_MEMCPY2D *flat, CUstream stream)
{
    if (flat == NULL)
        return bcu_fail_null("pCopy");
    CUDA_MEMCPY3D copy = deepen(flat);
    return submit(&copy, stream, true);
}

CUresult cuMemcpy2D_v2(const CUDA_MEMCPY2D *flat)
{
    if (flat == NULL)
        return bcu_fail_null("pCopy");
    CUDA_MEMCPY3D copy = deepen(flat);
    return submit(&copy, NULL, false);
}

CUresult cuMemcpy2DUnaligned_v2(const CUDA_MEMCPY2D *flat) { return cuMemcpy2D_v2(flat); }

CUresult cuMemcpy3DAsync_v2(const CUDA_MEMCPY3D *copy, CUstream stream)
{
    return copy == NULL ? bcu_fail_null("pCopy") : submit(copy, stream, true);
}

CUresult cuMemcpy3D_v2(const CUDA_MEMCPY3D *copy) { return copy == NULL ? bcu_fail_null("pCopy") : submit(copy, NULL, false); }

static CUDA_MEMCPY3D without_contexts(const CUDA_MEMCPY3D_PEER *peer)
{
    return (CUDA_MEMCPY3D){
        .srcXInBytes = peer->srcXInBytes, .srcY = peer->srcY, .srcZ = peer->srcZ, .srcLOD = peer->srcLOD,
        .srcMemoryType = peer->srcMemoryType, .srcHost = peer->srcHost, .srcDevice = peer->srcDevice, .srcArray = peer->srcArray,
        .srcPitch = peer->srcPitch, .srcHeight = peer->srcHeight, .dstXInBytes = peer->dstXInBytes, .dstY = peer->dstY,
        .dstZ = peer->dstZ, .dstLOD = peer->dstLOD, .dstMemoryType = peer->dstMemoryType, .dstHost = peer->dstHost,
        .dstDevice = peer->dstDevice, .dstArray = peer->dstArray, .dstPitch = peer->dstPitch, .dstHeight = peer->dstHeight,
        .WidthInBytes = peer->WidthInBytes, .Height = peer->Height, .Depth = peer->Depth,
    };
}

CUresult cuMemcpy3DPeer(const CUDA_MEMCPY3D_PEER *peer)
{
    if (peer == NULL)
        return bcu_fail_null("pCopy");
    CUDA_MEMCPY3D copy = without_contexts(peer);
    return submit(&copy, NULL, false);
}

CUresult cuMemcpy3DPeerAsync(const CUDA_MEMCPY3D_PEER *peer, CUstream stream)
{
    if (peer == NULL)
        return bcu_fail_null("pCopy");
    CUDA_MEMCPY3D copy = without_contexts(peer);
    return submit(&copy, stream, true);
}

CUresult cuMemcpyBatchAsync_v2(CUdeviceptr *to, CUdeviceptr *from, size_t *sizes, size_t count, CUmemcpyAttributes *attributes,
                               size_t *indices, size_t attribute_count, CUstream stream)
{
    CUresult result = CUDA_SUCCESS;
    if (to == NULL || from == NULL || sizes == NULL || count == 0 || attributes == NULL || indices == NULL || attribute_count == 0)
        return bcu_fail(CUDA_ERROR_INVALID_VALUE, "a list is NULL or empty");
    for (size_t i = 0; i < count && result == CUDA_SUCCESS; i++)
        result = cuMemcpyAsync(to[i], from[i], sizes[i], stream);
    return result;
}
