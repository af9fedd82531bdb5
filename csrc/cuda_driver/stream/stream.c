/* Streams: life, default streams, and the order between them. */
#include "cuda_driver/stream/stream.h"

#include "cuda_driver/driver/driver.h"
#include "cuda_driver/graph/capture.h"

#include <stdlib.h>
#include <string.h>

static void release(struct bcu_resource *resource)
{
    struct bcu_stream *stream = (struct bcu_stream *)resource;
    if (stream->queue != NULL)
        blrQueueDestroy(stream->queue);
    if (stream->workspace != 0)
        blrMemoryFree(bcu_device.native, (void *)(uintptr_t)stream->workspace);
    bcu_capture_leave(stream);
    blr_delete(stream);
}

CUresult bcu_stream_workspace(struct bcu_stream *stream, uint64_t *address)
{
    enum { SIZE = 8 };
    CUresult result = CUDA_SUCCESS;
    blr_mutex_lock(&stream->resource.context->mutex);
    if (stream->workspace == 0) {
        void *memory = NULL;
        result = bcu_result(blrMemoryAllocate(bcu_device.native, BLR_MEMORY_DEVICE, SIZE, 0, &memory));
        if (result == CUDA_SUCCESS)
            memcpy(memory, (const uint32_t[2]){SIZE, 0}, SIZE);
        stream->workspace = (uint64_t)(uintptr_t)memory;
    }
    *address = stream->workspace;
    blr_mutex_unlock(&stream->resource.context->mutex);
    return result;
}

static CUresult create(struct bcu_context *context, const struct bcu_stream *description, CUstream *handle, struct bcu_stream **place)
{
    static _Atomic unsigned long long last_id = 2; /* 1 and 2 are handles of the default streams */
    struct bcu_stream *stream = blr_new(sizeof *stream);
    if (stream == NULL)
        return bcu_fail_memory("a stream");
    *stream = *description;
    stream->id = atomic_fetch_add(&last_id, 1) + 1;
    CUresult result = bcu_result(blrQueueCreate(bcu_device.native, BLR_QUEUE_IN_ORDER, &stream->queue));
    if (result != CUDA_SUCCESS) {
        blr_delete(stream);
        return result;
    }
    *place = stream;
    return bcu_resource_register(&stream->resource, BCU_STREAM, context, release, handle);
}

/* ---------------------------------------------------------------- default streams */

static CUresult acquire_legacy(struct bcu_context *context, struct bcu_stream **stream)
{
    static blr_mutex_t making = BLR_MUTEX_INIT;
    CUresult result = CUDA_SUCCESS;
    blr_mutex_lock(&making);
    blr_mutex_lock(&context->mutex);
    *stream = context->legacy;
    if (*stream != NULL)
        bcu_resource_retain(&(*stream)->resource);
    blr_mutex_unlock(&context->mutex);
    if (*stream == NULL) {
        struct bcu_stream description = {.is_legacy = true};
        result = create(context, &description, NULL, stream);
        if (result == CUDA_SUCCESS) {
            bcu_resource_retain(&(*stream)->resource);
            blr_mutex_lock(&context->mutex);
            context->legacy = *stream;
            blr_mutex_unlock(&context->mutex);
        }
    }
    blr_mutex_unlock(&making);
    return result;
}

static CUresult acquire_own(struct bcu_context *context, struct bcu_stream **stream)
{
    *stream = NULL;
    blr_mutex_lock(&context->mutex);
    for (struct bcu_resource *resource = context->resources; resource != NULL && *stream == NULL; resource = resource->next) {
        struct bcu_stream *one = (struct bcu_stream *)resource;
        if (resource->kind == BCU_STREAM && one->is_own && pthread_equal(one->thread, pthread_self())) {
            bcu_resource_retain(resource);
            *stream = one;
        }
    }
    blr_mutex_unlock(&context->mutex);
    if (*stream != NULL)
        return CUDA_SUCCESS;
    struct bcu_stream description = {.is_own = true, .thread = pthread_self()};
    CUresult result = create(context, &description, NULL, stream);
    if (result == CUDA_SUCCESS)
        bcu_resource_retain(&(*stream)->resource);
    return result;
}

CUresult bcu_stream_acquire(CUstream handle, struct bcu_stream **stream)
{
    struct bcu_context *context;
    CUresult result = bcu_context_current(&context);
    if (result != CUDA_SUCCESS)
        return result;
    uint64_t number = (uint64_t)(uintptr_t)handle;
    if (number == 2 || (number == 0 && bcu_is_default_per_thread()))
        return acquire_own(context, stream);
    if (number <= 1)
        return acquire_legacy(context, stream);
    result = bcu_resource_acquire(handle, BCU_STREAM, stream);
    if (result == CUDA_SUCCESS && (*stream)->resource.context->failure != CUDA_SUCCESS) {
        result = (CUresult)(*stream)->resource.context->failure;
        bcu_stream_release(*stream);
    }
    return result;
}

/* ---------------------------------------------------------------- order */

struct bcu_stream *bcu_stream_next(struct bcu_context *context, struct bcu_stream *stream)
{
    blr_mutex_lock(&context->mutex);
    struct bcu_resource *next = context->resources;
    if (stream != NULL) { /* a stream that was destroyed meanwhile is the end */
        struct bcu_resource *one = context->resources;
        while (one != NULL && one != &stream->resource)
            one = one->next;
        next = one == NULL ? NULL : one->next;
    }
    while (next != NULL && next->kind != BCU_STREAM)
        next = next->next;
    if (next != NULL)
        bcu_resource_retain(next);
    blr_mutex_unlock(&context->mutex);
    if (stream != NULL)
        bcu_stream_release(stream);
    return (struct bcu_stream *)next;
}

static bool is_blocking(const struct bcu_stream *stream) { return (stream->flags & CU_STREAM_NON_BLOCKING) == 0; }

/* Appends an event that completes after the stream's present work, if it has any. */
static CUresult add_wait(struct bcu_stream *stream, blr_event_t **waits, uint32_t *count)
{
    if (blrQueueQuery(stream->queue) == BLR_RESULT_SUCCESS)
        return CUDA_SUCCESS;
    blr_event_t *longer = realloc(*waits, (*count + 1) * sizeof **waits);
    if (longer == NULL)
        return bcu_fail_memory("a list of events");
    *waits = longer;
    CUresult result = bcu_result(blrEnqueueBarrier(stream->queue, 0, NULL, &longer[*count]));
    if (result == CUDA_SUCCESS)
        ++*count;
    return result;
}

CUresult bcu_stream_waits(struct bcu_stream *stream, blr_event_t **waits, uint32_t *count)
{
    struct bcu_context *context = stream->resource.context;
    CUresult result = CUDA_SUCCESS;
    *waits = NULL;
    *count = 0;
    if (stream->is_legacy) {
        struct bcu_stream *other = bcu_stream_next(context, NULL);
        for (; other != NULL && result == CUDA_SUCCESS; other = bcu_stream_next(context, other))
            if (other != stream && is_blocking(other))
                result = add_wait(other, waits, count);
        if (other != NULL)
            bcu_stream_release(other);
    } else if (is_blocking(stream)) {
        blr_mutex_lock(&context->mutex);
        struct bcu_stream *legacy = context->legacy;
        if (legacy != NULL)
            bcu_resource_retain(&legacy->resource);
        blr_mutex_unlock(&context->mutex);
        if (legacy != NULL) {
            result = add_wait(legacy, waits, count);
            bcu_stream_release(legacy);
        }
    }
    if (result != CUDA_SUCCESS)
        bcu_stream_free_waits(*waits, *count);
    return result;
}

void bcu_stream_free_waits(blr_event_t *waits, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        blrEventRelease(waits[i]);
    free(waits);
}

/* ---------------------------------------------------------------- failures and waiting */

void bcu_stream_take_failures(struct bcu_stream *stream)
{
    for (;;) {
        blr_result_t code = BLR_RESULT_SUCCESS;
        const char *message = "";
        if (blrQueueTakeFailure(stream->queue, &code, &message) != BLR_RESULT_SUCCESS || code == BLR_RESULT_SUCCESS)
            return;
        bcu_context_fail(stream->resource.context, bcu_command_result(code, message));
    }
}

void bcu_stream_wait_idle(struct bcu_stream *stream)
{
    for (;;) {
        blr_result_t result = blrQueueWait(stream->queue, BLR_TIMEOUT_INFINITE);
        const char *message = "";
        if (result == BLR_RESULT_SUCCESS || result == BLR_RESULT_INVALID_HANDLE)
            return;
        blrGetLastError(NULL, &message);
        bcu_context_fail(stream->resource.context, bcu_command_result(result, message));
    }
}

/* ---------------------------------------------------------------- functions */

CUresult cuStreamCreateWithPriority(CUstream *handle, unsigned int flags, int priority)
{
    struct bcu_context *context;
    struct bcu_stream *stream;
    CUresult result = bcu_context_current(&context);
    if (result != CUDA_SUCCESS)
        return result;
    if (handle == NULL || (flags & ~1u) != 0)
        return bcu_fail(CUDA_ERROR_INVALID_VALUE, "phStream is NULL, or flags are %u: 0 or 1 is needed", flags);
    struct bcu_stream description = {.flags = flags};
    description.priority = priority > 0 ? 0 : priority < BCU_GREATEST_PRIORITY ? BCU_GREATEST_PRIORITY : priority;
    return create(context, &description, handle, &stream);
}

CUresult cuStreamCreate(CUstream *handle, unsigned int flags) { return cuStreamCreateWithPriority(handle, flags, 0); }

CUresult cuStreamDestroy_v2(CUstream handle)
{
    struct bcu_context *context;
    CUresult result = bcu_context_current(&context);
    if (result != CUDA_SUCCESS && result != CUDA_ERROR_INVALID_CONTEXT)
        return result;
    if ((uint64_t)(uintptr_t)handle <= 2)
        return bcu_fail(CUDA_ERROR_INVALID_HANDLE, "a default stream is not destroyed");
    struct bcu_stream *stream;
    result = bcu_resource_acquire(handle, BCU_STREAM, &stream);
    if (result != CUDA_SUCCESS)
        return result;
    bcu_stream_wait_idle(stream);
    bcu_stream_release(stream);
    return bcu_resource_destroy(handle, BCU_STREAM);
}

CUresult cuStreamDestroy(CUstream handle) { return cuStreamDestroy_v2(handle); }

CUresult cuStreamSynchronize(CUstream handle)
{
    struct bcu_stream *stream;
    CUresult result = bcu_stream_acquire(handle, &stream);
    if (result != CUDA_SUCCESS)
        return result;
    if (bcu_capture_is_active(stream)) {
        result = bcu_capture_refuse(stream, "cuStreamSynchronize");
    } else {
        if (stream->is_legacy) {
            result = bcu_context_wait(stream->resource.context);
        } else {
            bcu_stream_wait_idle(stream);
            result = bcu_context_failure(stream->resource.context);
        }
    }
    bcu_stream_release(stream);
    return result;
}

CUresult cuStreamQuery(CUstream handle)
{
    struct bcu_stream *stream;
    CUresult result = bcu_stream_acquire(handle, &stream);
    if (result != CUDA_SUCCESS)
        return result;
    if (bcu_capture_is_active(stream)) {
        result = bcu_capture_refuse(stream, "cuStreamQuery");
    } else {
        bool idle = blrQueueQuery(stream->queue) == BLR_RESULT_SUCCESS;
        result = bcu_context_failure(stream->resource.context);
        if (result == CUDA_SUCCESS && !idle)
            result = CUDA_ERROR_NOT_READY;
    }
    bcu_stream_release(stream);
    return result;
}
