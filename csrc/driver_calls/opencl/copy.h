/* Copies as one call with one argument: a description in which prepared copies change addresses and images only. */
#ifndef BINDLESS_DRIVER_CALLS_OPENCL_COPY_H
#define BINDLESS_DRIVER_CALLS_OPENCL_COPY_H

#include "opencl/event_list.h"

static cl_mem bindless_object_of(const bindless_side_t *side)
{
    return (cl_mem)(uintptr_t)side->place;
}

static void *bindless_pointer_of(const bindless_side_t *side)
{
    return (void *)(uintptr_t)side->place;
}

static cl_int bindless_enqueue_copy(const bindless_copy_t *copy, cl_command_queue queue, cl_uint count,
                                    const cl_event *waits, cl_event *event)
{
    const bindless_side_t *from = &copy->source, *to = &copy->target;
    switch (copy->kind) {
    case BINDLESS_WRITE_IMAGE:
        return clEnqueueWriteImage(queue, bindless_object_of(to), CL_FALSE, to->origin, copy->region, copy->row,
                                   copy->slice, bindless_pointer_of(from), count, waits, event);
    case BINDLESS_READ_IMAGE:
        return clEnqueueReadImage(queue, bindless_object_of(from), CL_FALSE, from->origin, copy->region, copy->row,
                                  copy->slice, bindless_pointer_of(to), count, waits, event);
    case BINDLESS_BUFFER_TO_IMAGE:
        return clEnqueueCopyBufferToImage(queue, bindless_object_of(from), bindless_object_of(to), from->offset,
                                          to->origin, copy->region, count, waits, event);
    case BINDLESS_IMAGE_TO_BUFFER:
        return clEnqueueCopyImageToBuffer(queue, bindless_object_of(from), bindless_object_of(to), from->origin,
                                          copy->region, to->offset, count, waits, event);
    case BINDLESS_COPY_IMAGE:
        return clEnqueueCopyImage(queue, bindless_object_of(from), bindless_object_of(to), from->origin, to->origin,
                                  copy->region, count, waits, event);
    case BINDLESS_COPY_UNIFIED:
        return clEnqueueMemcpyINTEL(queue, CL_FALSE, bindless_pointer_of(to), bindless_pointer_of(from), copy->nbytes,
                                    count, waits, event);
    case BINDLESS_COPY_SHARED_VIRTUAL:
        return clEnqueueSVMMemcpy(queue, CL_FALSE, bindless_pointer_of(to), bindless_pointer_of(from), copy->nbytes,
                                  count, waits, event);
    case BINDLESS_WRITE_BUFFER:
        return clEnqueueWriteBuffer(queue, bindless_object_of(to), CL_FALSE, to->offset, copy->nbytes,
                                    bindless_pointer_of(from), count, waits, event);
    case BINDLESS_READ_BUFFER:
        return clEnqueueReadBuffer(queue, bindless_object_of(from), CL_FALSE, from->offset, copy->nbytes,
                                   bindless_pointer_of(to), count, waits, event);
    default:
        return clEnqueueCopyBuffer(queue, bindless_object_of(from), bindless_object_of(to), from->offset, to->offset,
                                   copy->nbytes, count, waits, event);
    }
}

/* Returns whether a copy of images must be planned again: an image is foreign, or both sides are the same. */
static int bindless_is_other_copy(const bindless_copy_t *copy)
{
    switch (copy->kind) {
    case BINDLESS_READ_IMAGE: return copy->source.place >= copy->numbers;
    case BINDLESS_WRITE_IMAGE: return copy->target.place >= copy->numbers;
    case BINDLESS_COPY_IMAGE:
        return copy->source.place >= copy->numbers || copy->target.place >= copy->numbers ||
               copy->source.place == copy->target.place;
    default: return 0;
    }
}

static int bindless_submit_copy(const void *description)
{
    const bindless_copy_t *copy = description;
    bindless_queue_t *queue = copy->queue;
    if (!bindless_takes_commands(queue, copy->context) || bindless_is_other_copy(copy)) {
        return BINDLESS_IN_PYTHON;
    }
    cl_uint count = (cl_uint)queue->wait_count;
    const cl_event *waits = count > 0 ? queue->waits : NULL;
    return bindless_submitted(queue, bindless_enqueue_copy(copy, queue->handle, count, waits, &queue->last_event));
}

#endif
