/* Events: life, record, wait, query and times. */
#include "cuda_driver/stream/event.h"

#include "cuda_driver/graph/capture.h"

static void release(struct bcu_resource *resource)
{
    struct bcu_event *event = (struct bcu_event *)resource;
    bcu_capture_forget(event);
    if (event->native != NULL)
        blrEventRelease(event->native);
    if (event->shared != NULL)
        bcu_shared_event_delete(event->shared);
    blr_mutex_destroy(&event->mutex);
    blr_delete(event);
}

CUresult bcu_event_create(struct bcu_context *context, unsigned flags, struct bcu_shared_event *shared, CUevent *handle)
{
    struct bcu_event *event = blr_new(sizeof *event);
    if (event == NULL) {
        if (shared != NULL)
            bcu_shared_event_delete(shared);
        return bcu_fail_memory("an event");
    }
    event->flags = flags;
    event->shared = shared;
    blr_mutex_init(&event->mutex);
    return bcu_resource_register(&event->resource, BCU_EVENT, context, release, handle);
}

CUresult cuEventCreate(CUevent *handle, unsigned int flags)
{
    struct bcu_context *context;
    struct bcu_shared_event *shared = NULL;
    CUresult result = bcu_context_current(&context);
    if (result != CUDA_SUCCESS)
        return result;
    if (handle == NULL)
        return bcu_fail_null("phEvent");
    if ((flags & ~7u) != 0 || ((flags & CU_EVENT_INTERPROCESS) != 0 && (flags & CU_EVENT_DISABLE_TIMING) == 0))
        return bcu_fail(CUDA_ERROR_INVALID_VALUE, "flags of an event are 0x%x", flags);
    if ((flags & CU_EVENT_INTERPROCESS) != 0)
        result = bcu_shared_event_new(&shared);
    return result != CUDA_SUCCESS ? result : bcu_event_create(context, flags, shared, handle);
}

CUresult cuEventDestroy_v2(CUevent handle)
{
    return bcu_resource_destroy(handle, BCU_EVENT);
}

CUresult cuEventDestroy(CUevent handle) { return cuEventDestroy_v2(handle); }

static CUresult acquire(CUevent handle, struct bcu_event **event)
{
    CUresult result = bcu_resource_acquire(handle, BCU_EVENT, event);
    if (result == CUDA_SUCCESS && (*event)->resource.context->failure != CUDA_SUCCESS) {
        result = (CUresult)(*event)->resource.context->failure;
        bcu_resource_release(&(*event)->resource);
    }
    return result;
}

blr_event_t bcu_event_native(struct bcu_event *event)
{
    blr_mutex_lock(&event->mutex);
    blr_event_t native = event->shared != NULL ? bcu_shared_event_native(event->shared) : event->native;
    if (native != NULL && event->shared == NULL)
        blrEventRetain(native);
    blr_mutex_unlock(&event->mutex);
    return native;
}

/* ---------------------------------------------------------------- commands */

static CUresult retain_command(struct bcu_command *command)
{
    bcu_resource_retain(&((struct bcu_event_command *)command)->event->resource);
    return CUDA_SUCCESS;
}

static void release_command(struct bcu_command *command)
{
    bcu_resource_release(&((struct bcu_event_command *)command)->event->resource);
}

static CUresult record(const struct bcu_command *command, struct bcu_stream *stream, uint32_t count, const blr_event_t *waits,
                       blr_event_t *out)
{
    struct bcu_event *event = ((const struct bcu_event_command *)command)->event;
    blr_event_t native = NULL;
    blr_mutex_lock(&event->mutex);
    CUresult result = event->shared != NULL ? bcu_shared_event_record(event->shared, stream->queue, count, waits, &native)
                                            : bcu_result(blrEnqueueBarrier(stream->queue, count, waits, &native));
    blr_event_t before = event->native;
    if (result == CUDA_SUCCESS)
        event->native = native;
    blr_mutex_unlock(&event->mutex);
    if (result != CUDA_SUCCESS)
        return result;
    if (out != NULL) {
        blrEventRetain(native);
        *out = native;
    }
    if (before != NULL)
        blrEventRelease(before);
    return CUDA_SUCCESS;
}

static CUresult wait(const struct bcu_command *command, struct bcu_stream *stream, uint32_t count, const blr_event_t *waits,
                     blr_event_t *out)
{
    struct bcu_event *event = ((const struct bcu_event_command *)command)->event;
    blr_event_t native = bcu_event_native(event);
    CUresult result = CUDA_SUCCESS;
    if (count > 0 || native == NULL)
        result = bcu_result(blrEnqueueBarrier(stream->queue, count, waits, native == NULL ? out : NULL));
    if (result == CUDA_SUCCESS && native != NULL)
        result = bcu_result(blrEnqueueBarrier(stream->queue, 1, &native, out));
    if (native != NULL)
        blrEventRelease(native);
    return result;
}

struct bcu_event_command bcu_event_record_command(struct bcu_event *event)
{
    return (struct bcu_event_command){{CU_GRAPH_NODE_TYPE_EVENT_RECORD, sizeof(struct bcu_event_command), record, retain_command,
                                       release_command}, event};
}

struct bcu_event_command bcu_event_wait_command(struct bcu_event *event)
{
    return (struct bcu_event_command){{CU_GRAPH_NODE_TYPE_WAIT_EVENT, sizeof(struct bcu_event_command), wait, retain_command,
                                       release_command}, event};
}

/* ---------------------------------------------------------------- functions */

CUresult cuEventRecordWithFlags(CUevent handle, CUstream stream_handle, unsigned int flags)
{
    struct bcu_stream *stream;
    struct bcu_event *event;
    CUresult result = bcu_stream_acquire(stream_handle, &stream);
    if (result != CUDA_SUCCESS)
        return result;
    result = acquire(handle, &event);
    if (result == CUDA_SUCCESS) {
        struct bcu_event_command command = bcu_event_record_command(event);
        if ((flags & ~1u) != 0)
            result = bcu_fail(CUDA_ERROR_INVALID_VALUE, "flags are 0x%x", flags);
        else if (event->resource.context != stream->resource.context)
            result = bcu_fail(CUDA_ERROR_INVALID_HANDLE, "the event and the stream are of different contexts");
        else if (bcu_capture_is_active(stream) && (flags & CU_EVENT_RECORD_EXTERNAL) == 0)
            result = bcu_capture_record(stream, event);
        else
            result = bcu_submit(stream, &command.command);
        bcu_resource_release(&event->resource);
    }
    bcu_stream_release(stream);
    return result;
}

CUresult cuEventRecord(CUevent handle, CUstream stream) { return cuEventRecordWithFlags(handle, stream, 0); }

CUresult cuStreamWaitEvent(CUstream stream_handle, CUevent handle, unsigned int flags)
{
    struct bcu_stream *stream;
    struct bcu_event *event;
    CUresult result = bcu_stream_acquire(stream_handle, &stream);
    if (result != CUDA_SUCCESS)
        return result;
    result = acquire(handle, &event);
    if (result == CUDA_SUCCESS) {
        struct bcu_event_command command = bcu_event_wait_command(event);
        if ((flags & ~1u) != 0)
            result = bcu_fail(CUDA_ERROR_INVALID_VALUE, "flags are 0x%x", flags);
        else if (bcu_capture_has(event) && (flags & CU_EVENT_WAIT_EXTERNAL) == 0)
            result = bcu_capture_wait(stream, event);
        else
            result = bcu_submit(stream, &command.command);
        bcu_resource_release(&event->resource);
    }
    bcu_stream_release(stream);
    return result;
}

CUresult cuEventQuery(CUevent handle)
{
    struct bcu_event *event;
    CUresult result = acquire(handle, &event);
    if (result != CUDA_SUCCESS)
        return result;
    blr_event_t native = bcu_event_native(event);
    if (bcu_capture_has(event)) {
        result = bcu_fail(CUDA_ERROR_CAPTURED_EVENT, "the event was recorded in a capture");
    } else if (native != NULL) {
        blr_event_status_t status = BLR_EVENT_COMPLETE;
        result = bcu_result(blrEventGetStatus(native, &status));
        CUresult failure = bcu_context_failure(event->resource.context);
        if (result == CUDA_SUCCESS)
            result = failure != CUDA_SUCCESS                                          ? failure
                     : status == BLR_EVENT_COMPLETE || status == BLR_EVENT_FAILED ? CUDA_SUCCESS
                                                                                      : CUDA_ERROR_NOT_READY;
    }
    if (native != NULL)
        blrEventRelease(native);
    bcu_resource_release(&event->resource);
    return result;
}

CUresult cuEventSynchronize(CUevent handle)
{
    struct bcu_event *event;
    CUresult result = acquire(handle, &event);
    if (result != CUDA_SUCCESS)
        return result;
    blr_event_t native = bcu_event_native(event);
    if (bcu_capture_has(event)) {
        result = bcu_fail(CUDA_ERROR_CAPTURED_EVENT, "the event was recorded in a capture");
    } else if (native != NULL) {
        blrEventWait(native, BLR_TIMEOUT_INFINITE);
        result = bcu_context_failure(event->resource.context);
    }
    if (native != NULL)
        blrEventRelease(native);
    bcu_resource_release(&event->resource);
    return result;
}

/* The time at which a recorded event was complete. */
static CUresult time_of(CUevent handle, uint64_t *nanoseconds)
{
    struct bcu_event *event;
    CUresult result = acquire(handle, &event);
    if (result != CUDA_SUCCESS)
        return result;
    uint64_t submitted, started;
    blr_event_t native = bcu_event_native(event);
    if (native == NULL || (event->flags & CU_EVENT_DISABLE_TIMING) != 0)
        result = bcu_fail(CUDA_ERROR_INVALID_HANDLE, "the event was not recorded, or has no time");
    else
        result = bcu_result(blrEventGetTimestamps(native, &submitted, &started, nanoseconds));
    if (native != NULL)
        blrEventRelease(native);
    bcu_resource_release(&event->resource);
    return result;
}

CUresult cuEventElapsedTime_v2(float *milliseconds, CUevent start, CUevent end)
{
    uint64_t from, to;
    if (milliseconds == NULL)
        return bcu_fail_null("pMilliseconds");
    CUresult result = time_of(start, &from);
    if (result == CUDA_SUCCESS)
        result = time_of(end, &to);
    if (result == CUDA_SUCCESS)
        *milliseconds = (float)((double)(int64_t)(to - from) * 1e-6);
    return result;
}

CUresult cuEventElapsedTime(float *milliseconds, CUevent start, CUevent end)
{
    return cuEventElapsedTime_v2(milliseconds, start, end);
}
