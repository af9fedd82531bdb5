/* Kernels over small arrays of pageable host memory: the processor copies them to and from a buffer of pinned memory
 * that the kernel accesses over the bus. One launch and one wait, without transfers, which each take longer than the
 * bytes. */
#ifndef BINDLESS_DRIVER_CALLS_CUDA_MAPPED_IMAGE_CALL_H
#define BINDLESS_DRIVER_CALLS_CUDA_MAPPED_IMAGE_CALL_H

#include "cuda/image.h"
#include "cuda/launch.h"

/* Polls of a call before Python continues the wait: about a millisecond. */
enum { BINDLESS_MAPPED_POLLS = 2048 };

/* Allocates a buffer and returns its address, which is the same on the device. */
static uint64_t bindless_mapped_create(CUcontext context, size_t size)
{
    int entered;
    void *memory = NULL;
    CUresult result = bindless_enter(context, &entered);
    if (result != CUDA_SUCCESS) {
        return bindless_return(result, 0);
    }
    result = cuMemHostAlloc(&memory, size, CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP);
    bindless_leave(entered);
    return bindless_return(result, (uint64_t)(uintptr_t)memory);
}

static CUresult bindless_mapped_destroy(CUcontext context, uint64_t memory)
{
    int entered;
    CUresult result = bindless_enter(context, &entered);
    if (result == CUDA_SUCCESS) {
        result = cuMemFreeHost((void *)(uintptr_t)memory);
        bindless_leave(entered);
    }
    return result;
}

/* Copies the arguments to the buffer, which no kernel uses, and launches the kernel. */
static CUresult bindless_mapped_begin(const bindless_mapped_call_t *call)
{
    *call->busy = 1;
    for (int i = 0; i < call->count; i++) {
        const bindless_mapped_array_t *array = &call->arrays[i];
        if (!array->is_result) {
            memcpy(array->buffer, (const void *)(uintptr_t)array->host, array->size);
        }
    }
    CUresult result = bindless_launch(&call->launch);
    *call->busy = result == CUDA_SUCCESS;
    return result;
}

/* Copies the result to its array; the kernel is complete. */
static void bindless_mapped_end(const bindless_mapped_call_t *call)
{
    for (int i = 0; i < call->count; i++) {
        const bindless_mapped_array_t *array = &call->arrays[i];
        if (array->is_result) {
            memcpy((void *)(uintptr_t)array->host, array->buffer, array->size);
        }
    }
    *call->busy = 0;
}

/* Runs a call and returns after it; INT32_MIN where Python must wait, because this call or the last one takes long, or a
 * signal ended the wait for the last one. The buffer stays busy; Python waits for the kernel and repeats the call. */
static int bindless_mapped_call(const bindless_mapped_call_t *call)
{
    const bindless_lane_t lane = {call->launch.context, call->launch.stream};
    if (*call->busy) {
        return INT32_MIN;
    }
    int result = (int)bindless_mapped_begin(call);
    if (result == 0) {
        result = bindless_stream_wait(&lane, BINDLESS_MAPPED_POLLS);
    }
    if (result == 0) {
        bindless_mapped_end(call);
    }
    return result;
}

#endif
