/* Host functions, callbacks of streams, and waits for and writes of values in memory. */
#include "cuda_driver/stream/host_function.h"

#include "cuda_driver/graph/capture.h"
#include "cuda_driver/memory/memory.h"
#include "reference/runtime/scheduler.h"

#include <time.h>

static CUresult enqueue(const struct bcu_command *command, struct bcu_stream *stream, uint32_t count, const blr_event_t *waits,
                        blr_event_t *event)
{
    const struct bcu_host_command *own = (const struct bcu_host_command *)command;
    return bcu_result(blrEnqueueHostFunction(stream->queue, own->function, own->data, count, waits, event));
}

struct bcu_host_command bcu_host_command(CUhostFn function, void *data)
{
    return (struct bcu_host_command){{CU_GRAPH_NODE_TYPE_HOST, sizeof(struct bcu_host_command), enqueue, NULL, NULL}, function, data};
}

CUresult cuLaunchHostFunc(CUstream handle, CUhostFn function, void *data)
{
    struct bcu_stream *stream;
    if (function == NULL)
        return bcu_fail_null("fn");
    CUresult result = bcu_stream_acquire(handle, &stream);
    if (result != CUDA_SUCCESS)
        return result;
    struct bcu_host_command command = bcu_host_command(function, data);
    result = bcu_submit(stream, &command.command);
    bcu_stream_release(stream);
    return result;
}

/* ---------------------------------------------------------------- callbacks */

struct callback {
    CUstreamCallback function;
    CUstream stream;
    void *data;
    struct bcu_context *context;
};

static void call_back(void *argument)
{
    struct callback callback = *(struct callback *)argument;
    blr_delete(argument);
    callback.function(callback.stream, (CUresult)callback.context->failure, callback.data);
}

CUresult cuStreamAddCallback(CUstream handle, CUstreamCallback function, void *data, unsigned int flags)
{
    struct bcu_stream *stream;
    if (function == NULL || flags != 0)
        return bcu_fail(CUDA_ERROR_INVALID_VALUE, "callback is NULL, or flags are not 0");
    CUresult result = bcu_stream_acquire(handle, &stream);
    if (result != CUDA_SUCCESS)
        return result;
    struct callback *callback = blr_new(sizeof *callback);
    if (callback == NULL) {
        result = bcu_fail_memory("a callback");
    } else if (bcu_capture_is_active(stream)) {
        result = bcu_capture_refuse(stream, "cuStreamAddCallback");
        blr_delete(callback);
    } else {
        *callback = (struct callback){function, handle, data, stream->resource.context};
        struct bcu_host_command command = bcu_host_command(call_back, callback);
        result = bcu_enqueue(stream, &command.command, NULL);
        if (result != CUDA_SUCCESS)
            blr_delete(callback);
    }
    bcu_stream_release(stream);
    return result;
}

/* ---------------------------------------------------------------- values in memory */

struct value {
    uint64_t address, value;
    unsigned flags;
    bool is_wide, is_write;
};

static bool is_met(const struct value *value)
{
    uint64_t now = value->is_wide ? __atomic_load_n((uint64_t *)(uintptr_t)value->address, __ATOMIC_ACQUIRE)
                                  : __atomic_load_n((uint32_t *)(uintptr_t)value->address, __ATOMIC_ACQUIRE);
    switch (value->flags & 3) {
    case CU_STREAM_WAIT_VALUE_GEQ:
        return value->is_wide ? (int64_t)(now - value->value) >= 0 : (int32_t)((uint32_t)now - (uint32_t)value->value) >= 0;
    case CU_STREAM_WAIT_VALUE_EQ: return now == value->value;
    case CU_STREAM_WAIT_VALUE_AND: return (now & value->value) != 0;
    default: return (~(now | value->value) & (value->is_wide ? UINT64_MAX : UINT32_MAX)) != 0;
    }
}

static void run_value(void *argument)
{
    struct value value = *(struct value *)argument;
    const struct timespec pause = {0, 20000};
    blr_delete(argument);
    if (!value.is_write) {
        while (!is_met(&value))
            nanosleep(&pause, NULL);
        return;
    }
    blr_work_begin();
    if (value.is_wide)
        __atomic_store_n((uint64_t *)(uintptr_t)value.address, value.value, __ATOMIC_RELEASE);
    else
        __atomic_store_n((uint32_t *)(uintptr_t)value.address, (uint32_t)value.value, __ATOMIC_RELEASE);
    blr_work_end();
}

static CUresult submit_value(CUstream handle, const struct value *value)
{
    unsigned bytes = value->is_wide ? 8 : 4;
    struct bcu_stream *stream;
    CUresult result = bcu_stream_acquire(handle, &stream);
    if (result != CUDA_SUCCESS)
        return result;
    if (value->address % bytes != 0)
        result = bcu_fail(CUDA_ERROR_INVALID_VALUE, "address 0x%llx: a multiple of %u is needed", (unsigned long long)value->address, bytes);
    else if ((value->flags & ~(value->is_write ? 1u : 3u | CU_STREAM_WAIT_VALUE_FLUSH)) != 0)
        result = bcu_fail(CUDA_ERROR_INVALID_VALUE, "flags are 0x%x", value->flags);
    else
        result = bcu_memory_check(value->address, bytes, "addr");
    if (result == CUDA_SUCCESS && bcu_capture_is_active(stream))
        result = bcu_capture_refuse(stream, "a wait for a value or a write of one");
    struct value *copy = result == CUDA_SUCCESS ? blr_new(sizeof *copy) : NULL;
    if (copy != NULL) {
        *copy = *value;
        struct bcu_host_command command = bcu_host_command(run_value, copy);
        result = bcu_enqueue(stream, &command.command, NULL);
        if (result != CUDA_SUCCESS)
            blr_delete(copy);
    } else if (result == CUDA_SUCCESS) {
        result = bcu_fail_memory("a value");
    }
    bcu_stream_release(stream);
    return result;
}

CUresult cuStreamWaitValue32_v2(CUstream stream, CUdeviceptr address, cuuint32_t value, unsigned int flags)
{
    return submit_value(stream, &(struct value){address, value, flags, false, false});
}

CUresult cuStreamWaitValue64_v2(CUstream stream, CUdeviceptr address, cuuint64_t value, unsigned int flags)
{
    return submit_value(stream, &(struct value){address, value, flags, true, false});
}

CUresult cuStreamWriteValue32_v2(CUstream stream, CUdeviceptr address, cuuint32_t value, unsigned int flags)
{
    return submit_value(stream, &(struct value){address, value, flags, false, true});
}

CUresult cuStreamWriteValue64_v2(CUstream stream, CUdeviceptr address, cuuint64_t value, unsigned int flags)
{
    return submit_value(stream, &(struct value){address, value, flags, true, true});
}

CUresult cuStreamBatchMemOp_v2(CUstream stream, unsigned int count, CUstreamBatchMemOpParams *list, unsigned int flags)
{
    CUresult result = CUDA_SUCCESS;
    if (list == NULL || count == 0 || count > 256 || flags != 0)
        return bcu_fail(CUDA_ERROR_INVALID_VALUE, "%u operations: 1 to 256, and flags 0 are needed", count);
    for (unsigned i = 0; i < count && result == CUDA_SUCCESS; i++) {
        const CUstreamBatchMemOpParams *one = &list[i];
        switch (one->operation) {
        case CU_STREAM_MEM_OP_WAIT_VALUE_32:
            result = cuStreamWaitValue32_v2(stream, one->waitValue.address, one->waitValue.value, one->waitValue.flags);
            break;
        case CU_STREAM_MEM_OP_WAIT_VALUE_64:
            result = cuStreamWaitValue64_v2(stream, one->waitValue.address, one->waitValue.value64, one->waitValue.flags);
            break;
        case CU_STREAM_MEM_OP_WRITE_VALUE_32:
            result = cuStreamWriteValue32_v2(stream, one->writeValue.address, one->writeValue.value, one->writeValue.flags);
            break;
        case CU_STREAM_MEM_OP_WRITE_VALUE_64:
            result = cuStreamWriteValue64_v2(stream, one->writeValue.address, one->writeValue.value64, one->writeValue.flags);
            break;
        case CU_STREAM_MEM_OP_BARRIER:
        case CU_STREAM_MEM_OP_FLUSH_REMOTE_WRITES: break; /* commands of a stream follow each other */
        default: result = bcu_fail(CUDA_ERROR_INVALID_VALUE, "operation %d", (int)one->operation);
        }
    }
    return result;
}
