/* Signal of an external semaphore, and wait for it, as one call each, from a description of which only the value
 * changes. Binary semaphores ignore the value. */
#ifndef BINDLESS_DRIVER_CALLS_CUDA_SEMAPHORE_H
#define BINDLESS_DRIVER_CALLS_CUDA_SEMAPHORE_H

#include "cuda/current_context.h"

static CUresult bindless_semaphore_signal(const bindless_semaphore_t *command)
{
    CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS parameters = {0};
    CUresult result = bindless_activate(command->context);
    if (result != CUDA_SUCCESS) {
        return result;
    }
    parameters.params.fence.value = *command->value;
    return cuSignalExternalSemaphoresAsync(&command->semaphore, &parameters, 1, command->stream);
}

static CUresult bindless_semaphore_wait(const bindless_semaphore_t *command)
{
    CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS parameters = {0};
    CUresult result = bindless_activate(command->context);
    if (result != CUDA_SUCCESS) {
        return result;
    }
    parameters.params.fence.value = *command->value;
    return cuWaitExternalSemaphoresAsync(&command->semaphore, &parameters, 1, command->stream);
}

#endif
