/* A device function as one call with one argument: a persistent description, of which only the addresses of the arrays
 * are written. */
#ifndef BINDLESS_DRIVER_CALLS_REFERENCE_IMAGE_CALL_H
#define BINDLESS_DRIVER_CALLS_REFERENCE_IMAGE_CALL_H

static int bindless_image_call_again(const bindless_image_call_t *call)
{
    bindless_ends_t *ends = call->ends;
    return (int)blrEnqueueImageCall(call->queue, &call->call, (uint32_t)ends->count, ends->waits, &ends->event);
}

#endif
