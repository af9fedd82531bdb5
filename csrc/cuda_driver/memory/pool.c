/* Memory pools: allocation and free in the order of a stream. Memory exists at once, and ends with the work before its
 * free; pools keep none. */
#include "cuda_driver/driver/driver.h"
#include "cuda_driver/graph/capture.h"
#include "cuda_driver/memory/memory.h"
#include "cuda_driver/stream/host_function.h"

#include <string.h>

struct pool {
    struct bcu_resource resource;
    bool is_default;
    uint64_t threshold;
    int reuse[3]; /* of the attributes 1 to 3 */
};

static blr_mutex_t mutex = BLR_MUTEX_INIT;
static struct pool *default_pool;
static CUmemoryPool current;

static void release(struct bcu_resource *resource) { blr_delete(resource); }

static CUresult create(bool is_default, struct pool **place, CUmemoryPool *handle)
{
    struct pool *pool = blr_new(sizeof *pool);
    if (pool == NULL)
        return bcu_fail_memory("a memory pool");
    pool->is_default = is_default;
    for (int i = 0; i < 3; i++)
        pool->reuse[i] = 1;
    if (place != NULL)
        *place = pool;
    return bcu_resource_register(&pool->resource, BCU_POOL, NULL, release, handle);
}

CUresult cuDeviceGetDefaultMemPool(CUmemoryPool *handle, CUdevice device)
{
    CUresult result = bcu_check_device(device);
    if (result != CUDA_SUCCESS)
        return result;
    if (handle == NULL)
        return bcu_fail_null("pool_out");
    blr_mutex_lock(&mutex);
    if (default_pool == NULL)
        result = create(true, &default_pool, handle);
    else
        *handle = bcu_handle(&default_pool->resource);
    blr_mutex_unlock(&mutex);
    return result;
}

CUresult cuDeviceGetMemPool(CUmemoryPool *handle, CUdevice device)
{
    CUresult result = cuDeviceGetDefaultMemPool(handle, device);
    blr_mutex_lock(&mutex);
    if (result == CUDA_SUCCESS && current != NULL)
        *handle = current;
    blr_mutex_unlock(&mutex);
    return result;
}

CUresult cuDeviceSetMemPool(CUdevice device, CUmemoryPool handle)
{
    struct pool *pool;
    CUresult result = bcu_check_device(device);
    if (result == CUDA_SUCCESS)
        result = bcu_resource_acquire(handle, BCU_POOL, &pool);
    if (result != CUDA_SUCCESS)
        return result;
    blr_mutex_lock(&mutex);
    current = handle;
    blr_mutex_unlock(&mutex);
    bcu_resource_release(&pool->resource);
    return CUDA_SUCCESS;
}

CUresult cuMemPoolCreate(CUmemoryPool *handle, const CUmemPoolProps *properties)
{
    CUresult result = bcu_check_started();
    if (result != CUDA_SUCCESS)
        return result;
    if (handle == NULL || properties == NULL)
        return bcu_fail_null("pool or poolProps");
    if (properties->allocType != CU_MEM_ALLOCATION_TYPE_PINNED || properties->location.type != CU_MEM_LOCATION_TYPE_DEVICE)
        return bcu_fail(CUDA_ERROR_NOT_SUPPORTED, "a pool of allocation type %d at location type %d", (int)properties->allocType,
                        (int)properties->location.type);
    if (properties->handleTypes != CU_MEM_HANDLE_TYPE_NONE)
        return bcu_fail(CUDA_ERROR_NOT_SUPPORTED, "pools that other processes use");
    result = bcu_check_device(properties->location.id);
    return result != CUDA_SUCCESS ? result : create(false, NULL, handle);
}

CUresult cuMemPoolDestroy(CUmemoryPool handle)
{
    struct pool *pool;
    CUresult result = bcu_resource_acquire(handle, BCU_POOL, &pool);
    if (result != CUDA_SUCCESS)
        return result;
    bool is_default = pool->is_default;
    bcu_resource_release(&pool->resource);
    if (is_default)
        return bcu_fail(CUDA_ERROR_INVALID_VALUE, "the default pool is not destroyed");
    blr_mutex_lock(&mutex);
    if (current == handle)
        current = NULL;
    blr_mutex_unlock(&mutex);
    return bcu_resource_destroy(handle, BCU_POOL);
}

CUresult cuMemPoolTrimTo(CUmemoryPool handle, size_t bytes)
{
    struct pool *pool;
    (void)bytes;
    CUresult result = bcu_resource_acquire(handle, BCU_POOL, &pool);
    if (result == CUDA_SUCCESS)
        bcu_resource_release(&pool->resource);
    return result;
}

static CUresult access_attribute(CUmemoryPool handle, CUmemPool_attribute attribute, void *value, bool set)
{
    struct pool *pool;
    if (value == NULL)
        return bcu_fail_null("value");
    CUresult result = bcu_resource_acquire(handle, BCU_POOL, &pool);
    if (result != CUDA_SUCCESS)
        return result;
    blr_mutex_lock(&mutex);
    if (attribute >= CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES && attribute <= CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES) {
        int *own = &pool->reuse[attribute - CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES];
        memcpy(set ? (void *)own : value, set ? value : (void *)own, sizeof *own);
    } else if (attribute == CU_MEMPOOL_ATTR_RELEASE_THRESHOLD) {
        memcpy(set ? (void *)&pool->threshold : value, set ? value : (void *)&pool->threshold, sizeof pool->threshold);
    } else if (attribute >= CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT && attribute <= CU_MEMPOOL_ATTR_USED_MEM_HIGH) {
        uint64_t none = 0;
        if (!set)
            memcpy(value, &none, sizeof none);
    } else {
        result = bcu_fail(CUDA_ERROR_INVALID_VALUE, "pool attribute %d", (int)attribute);
    }
    blr_mutex_unlock(&mutex);
    bcu_resource_release(&pool->resource);
    return result;
}

CUresult cuMemPoolGetAttribute(CUmemoryPool pool, CUmemPool_attribute attribute, void *value)
{
    return access_attribute(pool, attribute, value, false);
}

CUresult cuMemPoolSetAttribute(CUmemoryPool pool, CUmemPool_attribute attribute, void *value)
{
    return access_attribute(pool, attribute, value, true);
}

/* ---------------------------------------------------------------- memory */

CUresult cuMemAllocFromPoolAsync(CUdeviceptr *pointer, size_t size, CUmemoryPool handle, CUstream stream_handle)
{
    struct bcu_stream *stream;
    struct pool *pool;
    uint64_t address = 0;
    if (pointer == NULL || size == 0)
        return bcu_fail(CUDA_ERROR_INVALID_VALUE, "dptr is NULL, or 0 bytes");
    CUresult result = bcu_resource_acquire(handle, BCU_POOL, &pool);
    if (result != CUDA_SUCCESS)
        return result;
    bcu_resource_release(&pool->resource);
    result = bcu_stream_acquire(stream_handle, &stream);
    if (result != CUDA_SUCCESS)
        return result;
    struct bcu_memory memory = {.kind = BCU_MEMORY_ASYNC, .size = size, .context = stream->resource.context, .pool = handle};
    if (bcu_capture_is_active(stream))
        result = bcu_capture_refuse(stream, "cuMemAllocAsync");
    else
        result = bcu_memory_allocate(&memory, &address);
    if (result == CUDA_SUCCESS)
        *pointer = address;
    bcu_stream_release(stream);
    return result;
}

CUresult cuMemAllocAsync(CUdeviceptr *pointer, size_t size, CUstream stream)
{
    CUmemoryPool pool;
    CUresult result = cuDeviceGetMemPool(&pool, 0);
    return result != CUDA_SUCCESS ? result : cuMemAllocFromPoolAsync(pointer, size, pool, stream);
}

static void free_now(void *argument)
{
    bcu_memory_release(argument);
    blr_delete(argument);
}

CUresult cuMemFreeAsync(CUdeviceptr pointer, CUstream stream_handle)
{
    static const enum bcu_memory_kind kinds[] = {BCU_MEMORY_ASYNC, BCU_MEMORY_DEVICE, BCU_MEMORY_MANAGED};
    struct bcu_stream *stream;
    CUresult result = bcu_stream_acquire(stream_handle, &stream);
    if (result != CUDA_SUCCESS || pointer == 0) {
        if (result == CUDA_SUCCESS)
            bcu_stream_release(stream);
        return result;
    }
    struct bcu_memory *memory = blr_new(sizeof *memory);
    bool any = false;
    if (memory == NULL) {
        result = bcu_fail_memory("a free");
    } else if (bcu_capture_is_active(stream)) {
        result = bcu_capture_refuse(stream, "cuMemFreeAsync");
    } else {
        for (size_t i = 0; i < sizeof kinds / sizeof kinds[0] && !any; i++)
            any = bcu_memory_forget(pointer, kinds[i], memory);
        struct bcu_host_command command = bcu_host_command(free_now, memory);
        result = any ? bcu_enqueue(stream, &command.command, NULL)
                     : bcu_fail(CUDA_ERROR_INVALID_VALUE, "0x%llx is no allocation", pointer);
    }
    if (result != CUDA_SUCCESS)
        blr_delete(memory);
    bcu_stream_release(stream);
    return result;
}
