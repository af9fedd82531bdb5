/* Pictures as one call with one argument: a persistent description, of which only the addresses of the arrays and the
 * matrix are written. bindless_image_call_again submits those that follow a map. */
#ifndef BINDLESS_DRIVER_CALLS_REFERENCE_PICTURE_H
#define BINDLESS_DRIVER_CALLS_REFERENCE_PICTURE_H

static int bindless_resample_again(const bindless_resample_t *call)
{
    bindless_ends_t *ends = call->ends;
    return (int)blrEnqueueResample(call->queue, &call->picture, (uint32_t)ends->count, ends->waits, &ends->event);
}

static int bindless_area_mean_again(const bindless_area_mean_t *call)
{
    bindless_ends_t *ends = call->ends;
    return (int)blrEnqueueAreaMean(call->queue, &call->mean, (uint32_t)ends->count, ends->waits, &ends->event);
}

#endif
