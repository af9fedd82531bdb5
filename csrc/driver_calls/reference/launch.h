/* A launch as one call with one argument: a persistent description, of which only the argument values are written. */
#ifndef BINDLESS_DRIVER_CALLS_REFERENCE_LAUNCH_H
#define BINDLESS_DRIVER_CALLS_REFERENCE_LAUNCH_H

static int bindless_launch_again(const bindless_launch_t *launch)
{
    bindless_ends_t *ends = launch->ends;
    return (int)blrEnqueueKernel(launch->queue, launch->kernel, &launch->launch, (uint32_t)ends->count, ends->waits,
                                 &ends->event);
}

static int bindless_event_query(blr_event_t event)
{
    blr_event_status_t status = BLR_EVENT_SUBMITTED;
    blr_result_t result = blrEventGetStatus(event, &status);
    if (result != BLR_RESULT_SUCCESS) {
        return (int)result;
    }
    return status == BLR_EVENT_COMPLETE ? 0 : status == BLR_EVENT_FAILED ? (int)BLR_RESULT_UNKNOWN : INT32_MIN;
}

static int bindless_queue_wait(blr_queue_t queue, int questions)
{
    blr_result_t result = blrQueueQuery(queue);
    while (result == BLR_RESULT_NOT_READY && --questions > 0) {
        result = blrQueueQuery(queue);
    }
    return result == BLR_RESULT_NOT_READY ? INT32_MIN : (int)result;
}

static uint64_t bindless_event_number(blr_event_t event)
{
    return (uint64_t)(uintptr_t)event;
}

static int bindless_event_release(blr_event_t event)
{
    return (int)blrEventRelease(event);
}

#endif
