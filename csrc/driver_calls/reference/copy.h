/* A copy as one call with one argument: a persistent description, of which only the changed members are written. */
#ifndef BINDLESS_DRIVER_CALLS_REFERENCE_COPY_H
#define BINDLESS_DRIVER_CALLS_REFERENCE_COPY_H

static int bindless_copy_again(const bindless_image_copy_t *copy)
{
    bindless_ends_t *ends = copy->ends;
    return (int)blrEnqueueCopyImage(copy->queue, &copy->region, (uint32_t)ends->count, ends->waits, &ends->event);
}

#endif
