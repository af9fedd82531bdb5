/* Copies as one call with one argument: a persistent description, of which only the changed members are written. */
#ifndef BINDLESS_DRIVER_CALLS_REFERENCE_COPY_H
#define BINDLESS_DRIVER_CALLS_REFERENCE_COPY_H

static int bindless_copy_again(const bindless_image_copy_t *copy)
{
    bindless_ends_t *ends = copy->ends;
    return (int)blrEnqueueCopyImage(copy->queue, &copy->region, (uint32_t)ends->count, ends->waits, &ends->event);
}

static int bindless_bytes_again(const bindless_bytes_t *copy)
{
    bindless_ends_t *ends = copy->ends;
    return (int)blrEnqueueCopy(copy->queue, copy->destination, copy->source, copy->count, (uint32_t)ends->count,
                               ends->waits, &ends->event);
}

static int bindless_levels_again(const bindless_levels_t *levels)
{
    bindless_ends_t *ends = levels->ends;
    return (int)blrEnqueueFillLevels(levels->queue, levels->mipmap, levels->pixels, (uint32_t)ends->count, ends->waits,
                                     &ends->event);
}

#endif
