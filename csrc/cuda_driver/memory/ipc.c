/* Memory between processes: an allocation of cuMemAlloc moves into the store when its first handle is requested.
 * Other processes map its range. */
#include "cuda_driver/driver/driver.h"
#include "cuda_driver/memory/memory.h"
#include "reference/memory/shared_allocation.h"

#include <string.h>
#include <unistd.h>

/* Contents of a handle. */
struct message {
    struct blr_store_name name;
    uint64_t size; /* of the allocation; the range has whole pages */
};

_Static_assert(sizeof(struct message) <= sizeof(CUipcMemHandle), "messages travel in handles");

CUresult cuIpcGetMemHandle(CUipcMemHandle *handle, CUdeviceptr pointer)
{
    struct bcu_context *context;
    struct bcu_memory memory;
    CUresult result = bcu_context_current(&context);
    if (result != CUDA_SUCCESS)
        return result;
    if (handle == NULL)
        return bcu_fail_null("pHandle");
    if (!bcu_memory_find(pointer, &memory) || memory.kind != BCU_MEMORY_DEVICE)
        return bcu_fail(CUDA_ERROR_INVALID_VALUE, "0x%llx is no memory of this process from cuMemAlloc: only that can be shared", pointer);
    struct message message = {.size = memory.size};
    void *base = (void *)(uintptr_t)memory.base;
    result = bcu_result(blr_memory_share(bcu_device.native, base, BLR_STORE_CU_MEMORY, &message.name));
    if (result != CUDA_SUCCESS)
        return result;
    memset(handle, 0, sizeof *handle);
    memcpy(handle, &message, sizeof message);
    return CUDA_SUCCESS;
}

/* ---------------------------------------------------------------- memory of other processes */

/* Memory that a context has opened, once for all calls. */
struct import {
    struct bcu_resource resource;
    struct message message;
    uint64_t base;
    unsigned opens;
};

static blr_mutex_t mutex = BLR_MUTEX_INIT; /* opens and closes follow each other */

static void release(struct bcu_resource *resource)
{
    struct bcu_memory memory;
    if (bcu_memory_forget(((struct import *)resource)->base, BCU_MEMORY_IPC, &memory))
        bcu_memory_release(&memory);
    blr_delete(resource);
}

/* The context's import of a message, or that starts at an address; with a reference added, or NULL. */
static struct import *find(struct bcu_context *context, const struct message *message, uint64_t base)
{
    struct import *match = NULL;
    blr_mutex_lock(&context->mutex);
    for (struct bcu_resource *resource = context->resources; resource != NULL && match == NULL; resource = resource->next) {
        struct import *one = (struct import *)resource;
        if (resource->kind == BCU_IMPORT && (message != NULL ? memcmp(&one->message, message, sizeof *message) == 0 : one->base == base))
            match = one;
    }
    if (match != NULL)
        bcu_resource_retain(&match->resource);
    blr_mutex_unlock(&context->mutex);
    return match;
}

/* Maps the memory of a message as device memory. */
static CUresult map(const struct message *message, void **pointer)
{
    blr_external_memory_t external;
    int file;
    CUresult result = bcu_result(blr_store_open_file(&message->name, BLR_STORE_CU_MEMORY, &file));
    if (result != CUDA_SUCCESS)
        return result;
    const uint64_t end = message->name.offset + message->name.size;
    result = bcu_result(blrExternalMemoryImport(bcu_device.native, file, end, &external));
    close(file);
    if (result != CUDA_SUCCESS)
        return result;
    result = bcu_result(blrExternalMemoryMapLinear(external, message->name.offset, message->size, pointer));
    blrExternalMemoryRelease(external);
    return result;
}

static CUresult open_new(struct bcu_context *context, const struct message *message, CUdeviceptr *pointer)
{
    void *pages = NULL;
    struct import *import = blr_new(sizeof *import);
    if (import == NULL)
        return bcu_fail_memory("memory of another process");
    CUresult result = map(message, &pages);
    if (result != CUDA_SUCCESS) {
        blr_delete(import);
        return result;
    }
    struct bcu_memory memory = {.kind = BCU_MEMORY_IPC, .base = (uint64_t)(uintptr_t)pages, .size = message->size,
                                .context = context, .writable = true};
    import->message = *message;
    import->base = memory.base;
    import->opens = 1;
    result = bcu_memory_record(&memory);
    if (result != CUDA_SUCCESS) {
        bcu_memory_release(&memory);
        blr_delete(import);
        return result;
    }
    result = bcu_resource_register(&import->resource, BCU_IMPORT, context, release, NULL);
    if (result == CUDA_SUCCESS)
        *pointer = memory.base;
    return result;
}

CUresult cuIpcOpenMemHandle_v2(CUdeviceptr *pointer, CUipcMemHandle handle, unsigned int flags)
{
    struct bcu_context *context;
    struct message message;
    CUresult result = bcu_context_current(&context);
    if (result != CUDA_SUCCESS)
        return result;
    if (pointer == NULL || flags != CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS)
        return bcu_fail(CUDA_ERROR_INVALID_VALUE, "pdptr is NULL, or flags are %u: LAZY_ENABLE_PEER_ACCESS (1) is needed", flags);
    memcpy(&message, &handle, sizeof message);
    if (!blr_store_is_name(&message.name, BLR_STORE_CU_MEMORY) || message.size == 0 || message.size > message.name.size)
        return bcu_fail(CUDA_ERROR_INVALID_VALUE, "these 64 bytes are no handle of memory of this driver");
    if (blr_store_is_own(&message.name))
        return bcu_fail(CUDA_ERROR_INVALID_CONTEXT, "the handle is of this process: another one opens it");
    blr_mutex_lock(&mutex);
    struct import *import = find(context, &message, 0);
    if (import == NULL) {
        result = open_new(context, &message, pointer);
    } else {
        import->opens++;
        *pointer = import->base;
        bcu_resource_release(&import->resource);
    }
    blr_mutex_unlock(&mutex);
    return result;
}

CUresult cuIpcOpenMemHandle(CUdeviceptr *pointer, CUipcMemHandle handle, unsigned int flags)
{
    return cuIpcOpenMemHandle_v2(pointer, handle, flags);
}

CUresult cuIpcCloseMemHandle(CUdeviceptr pointer)
{
    struct bcu_context *context;
    CUresult result = bcu_context_current(&context);
    if (result == CUDA_SUCCESS)
        result = bcu_context_wait(context); /* work that uses memory ends before the memory does */
    if (result != CUDA_SUCCESS)
        return result;
    blr_mutex_lock(&mutex);
    struct import *import = find(context, NULL, pointer);
    if (import == NULL)
        result = bcu_fail(CUDA_ERROR_INVALID_VALUE, "0x%llx is no memory that cuIpcOpenMemHandle opened", pointer);
    else if (--import->opens == 0)
        bcu_resource_close(&import->resource);
    if (import != NULL)
        bcu_resource_release(&import->resource);
    blr_mutex_unlock(&mutex);
    return result;
}
