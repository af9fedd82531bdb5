/* A wait for an external semaphore, or its signal, as one call with one argument. */
#ifndef BINDLESS_DRIVER_CALLS_REFERENCE_SEMAPHORE_H
#define BINDLESS_DRIVER_CALLS_REFERENCE_SEMAPHORE_H

static int bindless_semaphore_again(const bindless_semaphore_t *command)
{
    bindless_ends_t *ends = command->ends;
    return (int)(command->waits ? blrEnqueueSemaphoreWait : blrEnqueueSemaphoreSignal)(
        command->queue, command->semaphore, command->value, (uint32_t)ends->count, ends->waits, &ends->event);
}

#endif
