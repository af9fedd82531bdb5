/* External memory and semaphores, by file descriptors. The driver owns an imported descriptor, as CUDA defines. */
#include "cuda_driver/driver/driver.h"
#include "cuda_driver/image/array.h"
#include "cuda_driver/memory/memory.h"
#include "cuda_driver/stream/command.h"

#include <string.h>
#include <unistd.h>

struct external_memory {
    struct bcu_resource resource;
    blr_external_memory_t native;
    uint64_t size;
};

struct external_semaphore {
    struct bcu_resource resource;
    blr_external_semaphore_t native;
};

static void release_memory(struct bcu_resource *resource)
{
    blrExternalMemoryRelease(((struct external_memory *)resource)->native);
    blr_delete(resource);
}

CUresult cuImportExternalMemory(CUexternalMemory *handle, const CUDA_EXTERNAL_MEMORY_HANDLE_DESC *desc)
{
    struct bcu_context *context;
    CUresult result = bcu_context_current(&context);
    if (result != CUDA_SUCCESS)
        return result;
    if (handle == NULL || desc == NULL)
        return bcu_fail_null("extMem_out or memHandleDesc");
    if (desc->type != CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD && desc->type != CU_EXTERNAL_MEMORY_HANDLE_TYPE_DMABUF_FD)
        return bcu_fail(CUDA_ERROR_NOT_SUPPORTED, "external memory of type %d: a file descriptor is needed", (int)desc->type);
    struct external_memory *memory = blr_new(sizeof *memory);
    if (memory == NULL)
        return bcu_fail_memory("external memory");
    memory->size = desc->size;
    result = bcu_result(blrExternalMemoryImport(bcu_device.native, desc->handle.fd, desc->size, &memory->native));
    if (result != CUDA_SUCCESS) {
        blr_delete(memory);
        return result;
    }
    result = bcu_resource_register(&memory->resource, BCU_EXTERNAL_MEMORY, context, release_memory, handle);
    if (result == CUDA_SUCCESS)
        close(desc->handle.fd);
    return result;
}

CUresult cuDestroyExternalMemory(CUexternalMemory handle) { return bcu_resource_destroy(handle, BCU_EXTERNAL_MEMORY); }

CUresult cuExternalMemoryGetMappedBuffer(CUdeviceptr *pointer, CUexternalMemory handle, const CUDA_EXTERNAL_MEMORY_BUFFER_DESC *desc)
{
    struct external_memory *external;
    void *mapped = NULL;
    if (pointer == NULL || desc == NULL || desc->flags != 0)
        return bcu_fail(CUDA_ERROR_INVALID_VALUE, "devPtr or bufferDesc is NULL, or its flags are not 0");
    CUresult result = bcu_resource_acquire(handle, BCU_EXTERNAL_MEMORY, &external);
    if (result != CUDA_SUCCESS)
        return result;
    result = bcu_result(blrExternalMemoryMapLinear(external->native, desc->offset, desc->size, &mapped));
    if (result == CUDA_SUCCESS) {
        struct bcu_memory memory = {.kind = BCU_MEMORY_EXTERNAL, .base = (uint64_t)(uintptr_t)mapped, .size = desc->size,
                                    .context = external->resource.context, .writable = true};
        result = bcu_memory_record(&memory);
        if (result == CUDA_SUCCESS)
            *pointer = memory.base;
        else
            bcu_memory_release(&memory);
    }
    bcu_resource_release(&external->resource);
    return result;
}

CUresult cuExternalMemoryGetMappedMipmappedArray(CUmipmappedArray *handle, CUexternalMemory external_handle,
                                                 const CUDA_EXTERNAL_MEMORY_MIPMAPPED_ARRAY_DESC *desc)
{
    struct external_memory *external;
    if (handle == NULL || desc == NULL || desc->numLevels == 0)
        return bcu_fail(CUDA_ERROR_INVALID_VALUE, "mipmap or mipmapDesc is NULL, or it has no levels");
    if (desc->offset != 0)
        return bcu_fail(CUDA_ERROR_NOT_SUPPORTED, "an image at offset %llu of external memory", desc->offset);
    CUresult result = bcu_resource_acquire(external_handle, BCU_EXTERNAL_MEMORY, &external);
    if (result != CUDA_SUCCESS)
        return result;
    struct bcu_array *array = blr_new(sizeof *array);
    if (array == NULL) {
        result = bcu_fail_memory("an array");
    } else {
        array->owns = true;
        result = bcu_array_describe(array, &desc->arrayDesc, desc->numLevels);
        if (result == CUDA_SUCCESS)
            result = bcu_result(blrExternalMemoryMapImage(external->native, &array->desc, &array->image));
        if (result == CUDA_SUCCESS)
            result = bcu_array_register(array, external->resource.context, true, handle);
        else
            blr_delete(array);
    }
    bcu_resource_release(&external->resource);
    return result;
}

/* ---------------------------------------------------------------- semaphores */

static void release_semaphore(struct bcu_resource *resource)
{
    blrExternalSemaphoreRelease(((struct external_semaphore *)resource)->native);
    blr_delete(resource);
}

CUresult cuImportExternalSemaphore(CUexternalSemaphore *handle, const CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC *desc)
{
    struct bcu_context *context;
    CUresult result = bcu_context_current(&context);
    if (result != CUDA_SUCCESS)
        return result;
    if (handle == NULL || desc == NULL)
        return bcu_fail_null("extSem_out or semHandleDesc");
    bool timeline = desc->type == CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_TIMELINE_SEMAPHORE_FD;
    if (!timeline && desc->type != CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD)
        return bcu_fail(CUDA_ERROR_NOT_SUPPORTED, "an external semaphore of type %d: a file descriptor is needed", (int)desc->type);
    struct external_semaphore *semaphore = blr_new(sizeof *semaphore);
    if (semaphore == NULL)
        return bcu_fail_memory("an external semaphore");
    result = bcu_result(blrExternalSemaphoreImport(bcu_device.native, timeline ? BLR_SEMAPHORE_TIMELINE : BLR_SEMAPHORE_BINARY,
                                                   desc->handle.fd, &semaphore->native));
    if (result != CUDA_SUCCESS) {
        blr_delete(semaphore);
        return result;
    }
    result = bcu_resource_register(&semaphore->resource, BCU_EXTERNAL_SEMAPHORE, context, release_semaphore, handle);
    if (result == CUDA_SUCCESS)
        close(desc->handle.fd);
    return result;
}

CUresult cuDestroyExternalSemaphore(CUexternalSemaphore handle) { return bcu_resource_destroy(handle, BCU_EXTERNAL_SEMAPHORE); }

struct semaphore_command {
    struct bcu_command command;
    struct external_semaphore *semaphore;
    uint64_t value;
};

static CUresult retain_command(struct bcu_command *command)
{
    bcu_resource_retain(&((struct semaphore_command *)command)->semaphore->resource);
    return CUDA_SUCCESS;
}

static void release_command(struct bcu_command *command)
{
    bcu_resource_release(&((struct semaphore_command *)command)->semaphore->resource);
}

static CUresult enqueue(const struct bcu_command *command, struct bcu_stream *stream, uint32_t count, const blr_event_t *waits,
                        blr_event_t *event)
{
    const struct semaphore_command *own = (const struct semaphore_command *)command;
    return bcu_result(command->type == CU_GRAPH_NODE_TYPE_EXT_SEMAS_WAIT
                          ? blrEnqueueSemaphoreWait(stream->queue, own->semaphore->native, own->value, count, waits, event)
                          : blrEnqueueSemaphoreSignal(stream->queue, own->semaphore->native, own->value, count, waits, event));
}

static CUresult submit(CUexternalSemaphore handle, uint64_t value, CUgraphNodeType type, CUstream stream_handle)
{
    struct external_semaphore *semaphore;
    struct bcu_stream *stream;
    CUresult result = bcu_stream_acquire(stream_handle, &stream);
    if (result != CUDA_SUCCESS)
        return result;
    result = bcu_resource_acquire(handle, BCU_EXTERNAL_SEMAPHORE, &semaphore);
    if (result == CUDA_SUCCESS) {
        struct semaphore_command command = {{type, sizeof command, enqueue, retain_command, release_command}, semaphore, value};
        result = bcu_submit(stream, &command.command);
        bcu_resource_release(&semaphore->resource);
    }
    bcu_stream_release(stream);
    return result;
}

CUresult cuSignalExternalSemaphoresAsync(const CUexternalSemaphore *semaphores, const CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS *parameters,
                                         unsigned int count, CUstream stream)
{
    CUresult result = count > 0 && (semaphores == NULL || parameters == NULL) ? bcu_fail_null("extSemArray or paramsArray") : CUDA_SUCCESS;
    for (unsigned i = 0; i < count && result == CUDA_SUCCESS; i++)
        result = submit(semaphores[i], parameters[i].params.fence.value, CU_GRAPH_NODE_TYPE_EXT_SEMAS_SIGNAL, stream);
    return result;
}

CUresult cuWaitExternalSemaphoresAsync(const CUexternalSemaphore *semaphores, const CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS *parameters,
                                       unsigned int count, CUstream stream)
{
    CUresult result = count > 0 && (semaphores == NULL || parameters == NULL) ? bcu_fail_null("extSemArray or paramsArray") : CUDA_SUCCESS;
    for (unsigned i = 0; i < count && result == CUDA_SUCCESS; i++)
        result = submit(semaphores[i], parameters[i].params.fence.value, CU_GRAPH_NODE_TYPE_EXT_SEMAS_WAIT, stream);
    return result;
}
