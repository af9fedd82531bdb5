/*
 * The signal of an external semaphore and the wait for it as one call each: a number is all that changes between two
 * of them. A binary semaphore takes any.
 */
#ifndef BINDLESS_CUDA_SEMAPHORE_H
#define BINDLESS_CUDA_SEMAPHORE_H

#include "cuda_current.h"

static CUresult bindless_semaphore_signal(const bindless_semaphore_t *place, uint64_t value)
{
    CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS parameters = {0};
    CUresult result = bindless_activate(place->context);
    if (result != CUDA_SUCCESS) {
        return result;
    }
    parameters.params.fence.value = value;
    return cuSignalExternalSemaphoresAsync(&place->semaphore, &parameters, 1, place->stream);
}

static CUresult bindless_semaphore_wait(const bindless_semaphore_t *place, uint64_t value)
{
    CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS parameters = {0};
    CUresult result = bindless_activate(place->context);
    if (result != CUDA_SUCCESS) {
        return result;
    }
    parameters.params.fence.value = value;
    return cuWaitExternalSemaphoresAsync(&place->semaphore, &parameters, 1, place->stream);
}

#endif
