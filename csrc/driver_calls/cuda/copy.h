/* Copy of a box between two places, as one call with plain numbers. */
#ifndef BINDLESS_DRIVER_CALLS_CUDA_COPY_H
#define BINDLESS_DRIVER_CALLS_CUDA_COPY_H

#include "cuda/current_context.h"

/* Copies a box of bytes between two places. Each is an array (its address; x in bytes, y, z) or linear memory (the
 * address of the box; the row pitch in bytes, and the rows per slice). */
static CUresult bindless_copy_box(CUstream stream, int source_type, uint64_t source, size_t source_x, size_t source_y,
                                  size_t source_z, size_t source_pitch, size_t source_rows, int destination_type,
                                  uint64_t destination, size_t destination_x, size_t destination_y,
                                  size_t destination_z, size_t destination_pitch, size_t destination_rows,
                                  size_t width_in_bytes, size_t height, size_t depth)
{
    CUDA_MEMCPY3D copy = {
        .srcXInBytes = source_x,
        .srcY = source_y,
        .srcZ = source_z,
        .srcMemoryType = source_type,
        .srcPitch = source_pitch,
        .srcHeight = source_rows,
        .dstXInBytes = destination_x,
        .dstY = destination_y,
        .dstZ = destination_z,
        .dstMemoryType = destination_type,
        .dstPitch = destination_pitch,
        .dstHeight = destination_rows,
        .WidthInBytes = width_in_bytes,
        .Height = height,
        .Depth = depth,
    };
    /* The driver reads the member that the memory type selects. */
    copy.srcHost = (const void *)(uintptr_t)source;
    copy.srcDevice = source;
    copy.srcArray = (CUarray)(uintptr_t)source;
    copy.dstHost = (void *)(uintptr_t)destination;
    copy.dstDevice = destination;
    copy.dstArray = (CUarray)(uintptr_t)destination;
    return cuMemcpy3DAsync(&copy, stream);
}

static CUresult bindless_copy_again(const bindless_copy_t *copy)
{
    const bindless_copy_side_t *from = &copy->source, *to = &copy->destination;
    CUresult result = bindless_activate(copy->context);
    if (result != CUDA_SUCCESS) {
        return result;
    }
    return bindless_copy_box(copy->stream, from->type, from->place, from->x, from->y, from->z, from->pitch, from->rows,
                             to->type, to->place, to->x, to->y, to->z, to->pitch, to->rows, copy->width, copy->height,
                             copy->depth);
}

static CUresult bindless_bytes_again(const bindless_bytes_t *copy)
{
    const CUresult result = bindless_activate(copy->context);
    return result == CUDA_SUCCESS ? cuMemcpyAsync(copy->destination, copy->source, copy->count, copy->stream) : result;
}

#endif
