/* A copy as one call with one argument: a persistent description, of which only the operands are written. */
#ifndef BINDLESS_DRIVER_CALLS_LEVEL_ZERO_COPY_H
#define BINDLESS_DRIVER_CALLS_LEVEL_ZERO_COPY_H

#include "level_zero/stream.h"

static void *bindless_pointer(uint64_t number)
{
    return (void *)(uintptr_t)number;
}

static ze_result_t bindless_append_copy(const bindless_copy_t *copy, ze_command_list_handle_t list,
                                        ze_event_handle_t signal, uint32_t count, ze_event_handle_t *waits)
{
    const bindless_copy_side_t *from = &copy->source, *to = &copy->destination;
    void *source = bindless_pointer(from->place), *destination = bindless_pointer(to->place);
    switch (copy->way) {
    case BINDLESS_LINEAR:
        return zeCommandListAppendMemoryCopy(list, destination, source, copy->size, signal, count, waits);
    case BINDLESS_BOX:
        return zeCommandListAppendMemoryCopyRegion(list, destination, &copy->box, to->pitch, to->slice, source,
                                                   &copy->box, from->pitch, from->slice, signal, count, waits);
    case BINDLESS_TO_IMAGE:
        return zeCommandListAppendImageCopyFromMemoryExt(list, destination, source, &to->region, from->pitch,
                                                         from->slice, signal, count, waits);
    case BINDLESS_FROM_IMAGE:
        return zeCommandListAppendImageCopyToMemoryExt(list, destination, source, &from->region, to->pitch, to->slice,
                                                       signal, count, waits);
    default:
        return zeCommandListAppendImageCopyRegion(list, destination, source, &to->region, &from->region, signal, count,
                                                  waits);
    }
}

static int bindless_copy(const bindless_copy_t *copy)
{
    bindless_open_t opened;
    ze_event_handle_t waits[BINDLESS_MOST_WAITS];
    ze_result_t result = bindless_start(copy->stream, &opened, waits);
    if (result == ZE_RESULT_SUCCESS) {
        result = bindless_append_copy(copy, opened.list, NULL, (uint32_t)copy->stream->waits.count, waits);
    }
    return bindless_finish(copy->stream, &opened, result);
}

#endif
