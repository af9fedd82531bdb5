/* Attributes of pointers, ranges, prefetch and advice. */
#include "cuda_driver/driver/driver.h"
#include "cuda_driver/memory/memory.h"
#include "cuda_driver/stream/stream.h"

#include <string.h>

static bool is_of_host(const struct bcu_memory *memory)
{
    return memory->kind == BCU_MEMORY_HOST || memory->kind == BCU_MEMORY_REGISTERED;
}

/* Writes one attribute; *exists is false where the pointer lacks it, and data is then zero. */
static CUresult get(void *data, CUpointer_attribute attribute, CUdeviceptr pointer, bool *exists)
{
    struct bcu_memory memory;
    bool any = bcu_memory_find(pointer, &memory);
    uint64_t large = 0;
    unsigned small = 0;
    bool is_large = false;
    *exists = any;
    switch (attribute) {
    case CU_POINTER_ATTRIBUTE_CONTEXT:
        large = any && memory.context != NULL ? memory.context->object.id : 0;
        is_large = true;
        *exists = large != 0;
        break;
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
        small = !any ? 0 : is_of_host(&memory) ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE;
        break;
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
        large = any ? pointer : 0;
        is_large = true;
        break;
    case CU_POINTER_ATTRIBUTE_HOST_POINTER:
        large = any && (is_of_host(&memory) || memory.kind == BCU_MEMORY_MANAGED) ? pointer : 0;
        is_large = true;
        *exists = large != 0;
        break;
    case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS: small = any && memory.sync_operations; break;
    case CU_POINTER_ATTRIBUTE_BUFFER_ID:
        large = any ? memory.id : 0;
        is_large = true;
        break;
    case CU_POINTER_ATTRIBUTE_IS_MANAGED: small = any && memory.kind == BCU_MEMORY_MANAGED; break;
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL: small = any ? 0 : (unsigned)CU_DEVICE_INVALID; break;
    case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE: small = any && memory.kind == BCU_MEMORY_DEVICE; break;
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
        large = any ? memory.base : 0;
        is_large = true;
        break;
    case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
        large = any ? memory.size : 0;
        is_large = true;
        break;
    case CU_POINTER_ATTRIBUTE_MAPPED: small = any; break;
    case CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES:
        is_large = true;
        break;
    case CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE: break;
    case CU_POINTER_ATTRIBUTE_ACCESS_FLAGS: small = any ? CU_POINTER_ATTRIBUTE_ACCESS_FLAG_READWRITE : 0; break;
    case CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE:
        large = any && memory.kind == BCU_MEMORY_ASYNC ? (uint64_t)(uintptr_t)memory.pool : 0;
        is_large = true;
        break;
    case CU_POINTER_ATTRIBUTE_MAPPING_SIZE:
        large = any ? memory.size : 0;
        is_large = true;
        break;
    case CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR:
        large = any ? memory.base : 0;
        is_large = true;
        break;
    case CU_POINTER_ATTRIBUTE_MEMORY_BLOCK_ID:
        large = any ? memory.id : 0;
        is_large = true;
        break;
    case CU_POINTER_ATTRIBUTE_IS_HW_DECOMPRESS_CAPABLE: break;
    default: return bcu_fail(CUDA_ERROR_INVALID_VALUE, "pointer attribute %d", (int)attribute);
    }
    if (is_large)
        memcpy(data, &large, sizeof large);
    else
        memcpy(data, &small, sizeof small);
    return CUDA_SUCCESS;
}

CUresult cuPointerGetAttribute(void *data, CUpointer_attribute attribute, CUdeviceptr pointer)
{
    bool exists;
    CUresult result = bcu_check_started();
    if (result != CUDA_SUCCESS)
        return result;
    if (data == NULL)
        return bcu_fail_null("data");
    result = get(data, attribute, pointer, &exists);
    if (result == CUDA_SUCCESS && !exists)
        result = bcu_fail(CUDA_ERROR_INVALID_VALUE, "0x%llx lacks attribute %d", pointer, (int)attribute);
    return result;
}

CUresult cuPointerGetAttributes(unsigned int count, CUpointer_attribute *attributes, void **data, CUdeviceptr pointer)
{
    CUresult result = bcu_check_started();
    if (result == CUDA_SUCCESS && (attributes == NULL || data == NULL))
        result = bcu_fail_null("attributes or data");
    for (unsigned i = 0; i < count && result == CUDA_SUCCESS; i++) {
        bool exists;
        result = data[i] == NULL ? bcu_fail_null("data") : get(data[i], attributes[i], pointer, &exists);
    }
    return result;
}

CUresult cuPointerSetAttribute(const void *value, CUpointer_attribute attribute, CUdeviceptr pointer)
{
    struct bcu_context *context;
    CUresult result = bcu_context_current(&context);
    if (result != CUDA_SUCCESS)
        return result;
    if (value == NULL || attribute != CU_POINTER_ATTRIBUTE_SYNC_MEMOPS)
        return bcu_fail(CUDA_ERROR_INVALID_VALUE, "attribute %d is not settable, or value is NULL", (int)attribute);
    unsigned on;
    memcpy(&on, value, sizeof on);
    return bcu_memory_set_sync(pointer, on != 0) ? CUDA_SUCCESS
                                                 : bcu_fail(CUDA_ERROR_INVALID_VALUE, "0x%llx is no memory of this driver", pointer);
}

/* ---------------------------------------------------------------- hints: there is one memory */

static CUresult check_managed(CUdeviceptr pointer, size_t size)
{
    struct bcu_context *context;
    struct bcu_memory memory;
    CUresult result = bcu_context_current(&context);
    if (result == CUDA_SUCCESS)
        result = size == 0 ? bcu_fail(CUDA_ERROR_INVALID_VALUE, "0 bytes") : bcu_memory_check(pointer, size, "devPtr");
    if (result == CUDA_SUCCESS && bcu_memory_find(pointer, &memory) && memory.kind != BCU_MEMORY_MANAGED)
        result = bcu_fail(CUDA_ERROR_INVALID_VALUE, "0x%llx is no managed memory", pointer);
    return result;
}

static CUresult check_location(CUmemLocation location)
{
    if (location.type == CU_MEM_LOCATION_TYPE_DEVICE)
        return bcu_check_device(location.id);
    if (location.type == CU_MEM_LOCATION_TYPE_HOST || location.type == CU_MEM_LOCATION_TYPE_HOST_NUMA ||
        location.type == CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT)
        return CUDA_SUCCESS;
    return bcu_fail(CUDA_ERROR_INVALID_VALUE, "location type %d", (int)location.type);
}

CUresult cuMemPrefetchAsync_v2(CUdeviceptr pointer, size_t size, CUmemLocation location, unsigned int flags, CUstream handle)
{
    struct bcu_stream *stream;
    CUresult result = check_managed(pointer, size);
    if (result == CUDA_SUCCESS)
        result = flags != 0 ? bcu_fail(CUDA_ERROR_INVALID_VALUE, "flags are %u", flags) : check_location(location);
    if (result == CUDA_SUCCESS)
        result = bcu_stream_acquire(handle, &stream);
    if (result == CUDA_SUCCESS)
        bcu_stream_release(stream);
    return result;
}

static CUmemLocation location_of(CUdevice device)
{
    return device == CU_DEVICE_CPU ? (CUmemLocation){CU_MEM_LOCATION_TYPE_HOST, 0}
                                   : (CUmemLocation){CU_MEM_LOCATION_TYPE_DEVICE, device};
}

CUresult cuMemPrefetchAsync(CUdeviceptr pointer, size_t size, CUdevice device, CUstream stream)
{
    return cuMemPrefetchAsync_v2(pointer, size, location_of(device), 0, stream);
}

CUresult cuMemAdvise_v2(CUdeviceptr pointer, size_t size, CUmem_advise advice, CUmemLocation location)
{
    CUresult result = check_managed(pointer, size);
    if (result == CUDA_SUCCESS && (advice < CU_MEM_ADVISE_SET_READ_MOSTLY || advice > CU_MEM_ADVISE_UNSET_ACCESSED_BY))
        result = bcu_fail(CUDA_ERROR_INVALID_VALUE, "advice %d", (int)advice);
    if (result == CUDA_SUCCESS && advice >= CU_MEM_ADVISE_SET_PREFERRED_LOCATION && advice != CU_MEM_ADVISE_UNSET_PREFERRED_LOCATION)
        result = check_location(location);
    return result;
}

CUresult cuMemAdvise(CUdeviceptr pointer, size_t size, CUmem_advise advice, CUdevice device)
{
    return cuMemAdvise_v2(pointer, size, advice, location_of(device));
}
