/* Kernels over arrays of pageable host memory, with the threads and buffers of the staging. Each thread fills one
 * buffer with a piece of the arguments while the device copies in, processes and copies out the other: both
 * directions of the bus and the device work concurrently. */
#ifndef BINDLESS_DRIVER_CALLS_CUDA_PIPELINED_IMAGE_CALL_H
#define BINDLESS_DRIVER_CALLS_CUDA_PIPELINED_IMAGE_CALL_H

#include "cuda/pinned_staging.h"

enum { BINDLESS_ARRAY_ALIGNMENT = 256, BINDLESS_CALL_GRANULARITY = 4096, BINDLESS_MOST_BLOCKS = 1 << 20 };

/* Computes the offset of each array of a piece, equal in its buffer and in device memory; returns the end. */
static size_t bindless_arrange(const bindless_call_t *call, size_t items, size_t *begins)
{
    size_t end = 0;
    for (int array = 0; array < call->arrays; array++) {
        begins[array] = end;
        end += items * call->size[array];
        end = (end + BINDLESS_ARRAY_ALIGNMENT - 1) / BINDLESS_ARRAY_ALIGNMENT * BINDLESS_ARRAY_ALIGNMENT;
    }
    return end;
}

static size_t bindless_items_of(const bindless_staging_t *staging, size_t number)
{
    size_t rest = staging->call->count - number * staging->items;
    return rest < staging->items ? rest : staging->items;
}

/* Enqueues the copy of the arguments, the kernel, and the copy of the result. */
static CUresult bindless_begin_piece(bindless_stager_t *stager, int slot, size_t number)
{
    bindless_staging_t *staging = stager->staging;
    const bindless_call_t *call = staging->call;
    size_t begins[BINDLESS_CALL_ARRAYS + 1], items = bindless_items_of(staging, number), first = number * staging->items;
    int inputs = call->arrays - (call->has_result ? 1 : 0);
    unsigned char *buffer = stager->buffers[slot];
    CUdeviceptr place = stager->places[slot];
    unsigned char packed[sizeof call->packed];
    void *parameters[BINDLESS_CALL_PARAMETERS];
    size_t end = bindless_arrange(call, items, begins);
    CUresult result = cuEventSynchronize(stager->events[slot]);
    if (result != CUDA_SUCCESS) {
        return result;
    }
    memcpy(packed, call->packed, call->packed_size);
    for (int array = 0; array < call->arrays; array++) {
        uint64_t address = place + begins[array];
        memcpy(packed + call->address_at[array], &address, sizeof address);
        if (array < inputs) {
            const unsigned char *host = (const unsigned char *)(uintptr_t)call->host[array];
            memcpy(buffer + begins[array], host + first * call->size[array], items * call->size[array]);
        }
    }
    uint64_t count = items;
    memcpy(packed + call->count_at, &count, sizeof count);
    for (int parameter = 0; parameter < call->parameters; parameter++) {
        parameters[parameter] = packed + call->starts[parameter];
    }
    size_t blocks = (items + call->items_of_block - 1) / call->items_of_block;
    blocks = blocks < BINDLESS_MOST_BLOCKS ? blocks : BINDLESS_MOST_BLOCKS;
    size_t upload = inputs == call->arrays ? end : begins[inputs];
    if (inputs > 0) {
        result = cuMemcpyAsync(place, (CUdeviceptr)(uintptr_t)buffer, upload, stager->stream);
    }
    if (result == CUDA_SUCCESS) {
        result = cuLaunchKernel(call->function, (unsigned int)blocks, 1, 1, call->block, 1, 1, 0, stager->stream,
                                parameters, NULL);
    }
    if (result == CUDA_SUCCESS && call->has_result) {
        result = cuMemcpyAsync((CUdeviceptr)(uintptr_t)(buffer + begins[inputs]), place + begins[inputs],
                               items * call->size[inputs], stager->stream);
    }
    return result == CUDA_SUCCESS ? cuEventRecord(stager->events[slot], stager->stream) : result;
}

/* Waits for a piece and copies its result to the host array. */
static CUresult bindless_end_piece(bindless_stager_t *stager, int slot, size_t number)
{
    bindless_staging_t *staging = stager->staging;
    const bindless_call_t *call = staging->call;
    size_t begins[BINDLESS_CALL_ARRAYS + 1], items = bindless_items_of(staging, number);
    CUresult result = cuEventSynchronize(stager->events[slot]);
    if (result == CUDA_SUCCESS && call->has_result) {
        int array = call->arrays - 1;
        bindless_arrange(call, items, begins);
        unsigned char *host = (unsigned char *)(uintptr_t)call->host[array];
        bindless_give(staging, host + number * staging->items * call->size[array], stager->buffers[slot] + begins[array],
                      items * call->size[array]);
        blr_stream_end();
    }
    return result;
}

/* Processes pieces until none are left, two at a time: one is in flight while the previous one ends. */
static CUresult bindless_call_pieces(bindless_stager_t *stager)
{
    bindless_staging_t *staging = stager->staging;
    CUresult result = CUDA_SUCCESS;
    size_t before = 0;
    int slot = 0, started = 0;
    while (result == CUDA_SUCCESS) {
        size_t number = atomic_fetch_add(&staging->next, 1);
        int more = number < staging->count && atomic_load(&staging->result) == CUDA_SUCCESS;
        if (more) {
            result = bindless_begin_piece(stager, slot, number);
        }
        if (started && result == CUDA_SUCCESS) {
            result = bindless_end_piece(stager, (slot + BINDLESS_STAGING_BUFFERS - 1) % BINDLESS_STAGING_BUFFERS, before);
        }
        if (!more) {
            break;
        }
        before = number;
        started = 1;
        slot = (slot + 1) % BINDLESS_STAGING_BUFFERS;
    }
    CUresult ended = cuStreamSynchronize(stager->stream); /* also after a failure: ends all use of the buffers */
    return result == CUDA_SUCCESS ? ended : result;
}

/* Creates the streams and device memory of calls, for the lifetime of the process. */
static CUresult bindless_prepare_calls(bindless_staging_t *staging)
{
    CUresult result = CUDA_SUCCESS;
    CUdeviceptr memory = 0;
    if (staging->stagers[0].places[0] != 0) {
        return CUDA_SUCCESS;
    }
    for (int thread = 0; thread < staging->threads && result == CUDA_SUCCESS; thread++) {
        if (staging->stagers[thread].stream == NULL) {
            result = cuStreamCreate(&staging->stagers[thread].stream, CU_STREAM_NON_BLOCKING);
        }
    }
    if (result == CUDA_SUCCESS) {
        result = cuMemAlloc(&memory, (size_t)staging->threads * BINDLESS_STAGING_BUFFERS * staging->piece);
    }
    for (int thread = 0; thread < staging->threads && result == CUDA_SUCCESS; thread++) {
        for (int slot = 0; slot < BINDLESS_STAGING_BUFFERS; slot++) {
            staging->stagers[thread].places[slot] =
                memory + (size_t)(thread * BINDLESS_STAGING_BUFFERS + slot) * staging->piece;
        }
    }
    return result;
}

/* Runs a kernel over host arrays. The context is current, and the arrays are complete. Returns when the result is
   written. */
static CUresult bindless_call(bindless_staging_t *staging, const bindless_call_t *call)
{
    size_t size = 0;
    for (int array = 0; array < call->arrays; array++) {
        size += call->size[array];
    }
    blr_mutex_lock(&staging->turn);
    bindless_staging_grow(staging, staging->maximum);
    CUresult result = bindless_prepare_calls(staging);
    if (result == CUDA_SUCCESS) {
        size_t room = staging->piece - (size_t)call->arrays * BINDLESS_ARRAY_ALIGNMENT;
        /* Smaller calls use all buffers too. */
        size_t target = call->count * size / ((size_t)staging->threads * BINDLESS_STAGING_BUFFERS);
        target = target < BINDLESS_SMALLEST_PIECE ? BINDLESS_SMALLEST_PIECE : target;
        size_t items = (room < target ? room : target) / size;
        staging->items = items > BINDLESS_CALL_GRANULARITY ? items / BINDLESS_CALL_GRANULARITY * BINDLESS_CALL_GRANULARITY
                         : items > 0                       ? items
                                                           : 1;
        staging->count = (call->count + staging->items - 1) / staging->items;
        staging->job = NULL;
        staging->past_caches = call->count * size >= BINDLESS_CACHES;
        staging->call = call;
        bindless_round(staging, staging->threads);
        result = (CUresult)atomic_load(&staging->result);
    }
    blr_mutex_unlock(&staging->turn);
    return result;
}

#endif
