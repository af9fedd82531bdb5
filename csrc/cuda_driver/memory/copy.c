/* Copies: checks, and the command. */
#include "cuda_driver/memory/copy.h"

#include "cuda_driver/memory/memory.h"

#include <inttypes.h>
#include <string.h>

static CUresult retain(struct bcu_command *command)
{
    struct bcu_copy_command *copy = (struct bcu_copy_command *)command;
    if (copy->source != NULL)
        bcu_resource_retain(&copy->source->resource);
    if (copy->destination != NULL)
        bcu_resource_retain(&copy->destination->resource);
    return CUDA_SUCCESS;
}

static void release(struct bcu_command *command) { bcu_copy_end((struct bcu_copy_command *)command); }

void bcu_copy_end(struct bcu_copy_command *copy)
{
    if (copy->source != NULL)
        bcu_array_release(copy->source);
    if (copy->destination != NULL)
        bcu_array_release(copy->destination);
}

static CUresult enqueue(const struct bcu_command *command, struct bcu_stream *stream, uint32_t count, const blr_event_t *waits,
                        blr_event_t *event)
{
    const struct bcu_copy_command *copy = (const struct bcu_copy_command *)command;
    const blr_copy_region_t *region = &copy->region;
    if (copy->flat > 0)
        return bcu_result(blrEnqueueCopy(stream->queue, region->destination.pointer, region->source.pointer, copy->flat, count, waits, event));
    if (region->extent[0] == 0 || region->extent[1] == 0 || region->extent[2] == 0)
        return bcu_result(blrEnqueueBarrier(stream->queue, count, waits, event));
    return bcu_result(blrEnqueueCopyImage(stream->queue, region, count, waits, event));
}

/* One side of a copy as the caller gives it. */
struct side {
    const char *name;
    size_t x, y, z, level;
    CUmemorytype type;
    const void *host;
    CUdeviceptr device;
    CUarray array;
    size_t pitch, height;
};

static CUresult check_array(const struct side *side, const CUDA_MEMCPY3D *copy, const struct bcu_array *array)
{
    if (side->x % array->pixel_size != 0 || copy->WidthInBytes % array->pixel_size != 0)
        return bcu_fail(CUDA_ERROR_INVALID_VALUE, "%s: %zu bytes from byte %zu are not whole texels of %u bytes", side->name,
                        copy->WidthInBytes, side->x, array->pixel_size);
    const uint64_t first[3] = {side->x / array->pixel_size, side->y, side->z};
    const uint64_t extent[3] = {copy->WidthInBytes / array->pixel_size, copy->Height, copy->Depth};
    for (int c = 0; c < 3; c++)
        if (first[c] > array->extent[c] || extent[c] > array->extent[c] - first[c])
            return bcu_fail(CUDA_ERROR_INVALID_VALUE, "%s: texels %" PRIu64 " to %" PRIu64 " of %" PRIu64 " in dimension %d", side->name,
                            first[c], first[c] + extent[c], array->extent[c], c);
    return CUDA_SUCCESS;
}

/* Checks the bytes of memory that a side covers, and whether the driver knows it. */
static CUresult check_memory(const struct side *side, const CUDA_MEMCPY3D *copy, uint64_t address, bool *exists)
{
    struct bcu_memory memory;
    *exists = bcu_memory_find(address, &memory);
    if (copy->WidthInBytes == 0 || copy->Height == 0 || copy->Depth == 0)
        return CUDA_SUCCESS;
    if (address == 0)
        return bcu_fail(CUDA_ERROR_INVALID_VALUE, "%s is NULL", side->name);
    if (!*exists && side->type == CU_MEMORYTYPE_DEVICE)
        return bcu_fail(CUDA_ERROR_INVALID_VALUE, "%s is 0x%" PRIx64 ": no memory of this driver", side->name, address);
    if (!*exists)
        return CUDA_SUCCESS;
    __uint128_t end = (__uint128_t)side->z + copy->Depth - 1;
    end = end * side->height + side->y + copy->Height - 1;
    end = end * side->pitch + side->x + copy->WidthInBytes;
    if (end > bcu_memory_room(&memory, address))
        return bcu_fail(CUDA_ERROR_INVALID_VALUE, "%s at 0x%" PRIx64 ": the copy goes beyond the end of its %" PRIu64 " bytes", side->name,
                        address, memory.size);
    return CUDA_SUCCESS;
}

static CUresult take_side(struct side *side, const CUDA_MEMCPY3D *copy, blr_copy_endpoint_t *end, struct bcu_array **array, bool *exists)
{
    bool rows = copy->Height > 1 || copy->Depth > 1;
    if (side->level != 0)
        return bcu_fail(CUDA_ERROR_INVALID_VALUE, "the level of %s is %zu: 0 is needed", side->name, side->level);
    if (side->type == CU_MEMORYTYPE_ARRAY) {
        CUresult result = bcu_array_acquire(side->array, array);
        *exists = true;
        if (result == CUDA_SUCCESS)
            result = check_array(side, copy, *array);
        if (result != CUDA_SUCCESS)
            return result;
        end->image = (*array)->image;
        end->offset[0] = side->x / (*array)->pixel_size;
        end->offset[1] = side->y;
        end->offset[2] = side->z;
        return CUDA_SUCCESS;
    }
    if (side->type != CU_MEMORYTYPE_HOST && side->type != CU_MEMORYTYPE_DEVICE && side->type != CU_MEMORYTYPE_UNIFIED)
        return bcu_fail(CUDA_ERROR_INVALID_VALUE, "the memory type of %s is %d", side->name, (int)side->type);
    uint64_t address = side->type == CU_MEMORYTYPE_HOST ? (uint64_t)(uintptr_t)side->host : side->device;
    if (side->pitch == 0)
        side->pitch = side->x + copy->WidthInBytes;
    if (side->height == 0)
        side->height = side->y + copy->Height;
    if (rows && (side->pitch < side->x + copy->WidthInBytes || side->pitch < copy->WidthInBytes))
        return bcu_fail(CUDA_ERROR_INVALID_VALUE, "the pitch of %s is %zu: %zu bytes are copied", side->name, side->pitch, copy->WidthInBytes);
    if (copy->Depth > 1 && side->height < copy->Height)
        return bcu_fail(CUDA_ERROR_INVALID_VALUE, "the height of %s is %zu: %zu rows are copied", side->name, side->height, copy->Height);
    CUresult result = check_memory(side, copy, address, exists);
    if (result != CUDA_SUCCESS)
        return result;
    address += side->x + side->pitch * (side->y + side->height * side->z);
    end->pointer = (void *)(uintptr_t)address;
    end->row_pitch = rows ? side->pitch : 0;
    end->slice_pitch = copy->Depth > 1 ? side->pitch * side->height : 0;
    return CUDA_SUCCESS;
}

CUresult bcu_copy_begin(const CUDA_MEMCPY3D *parameters, struct bcu_copy_command *copy)
{
    const CUDA_MEMCPY3D *p = parameters;
    *copy = (struct bcu_copy_command){{CU_GRAPH_NODE_TYPE_MEMCPY, sizeof *copy, enqueue, retain, release}, .parameters = *p};
    struct side source = {"the source", p->srcXInBytes, p->srcY, p->srcZ, p->srcLOD, p->srcMemoryType, p->srcHost, p->srcDevice,
                          p->srcArray, p->srcPitch, p->srcHeight};
    struct side destination = {"the destination", p->dstXInBytes, p->dstY, p->dstZ, p->dstLOD, p->dstMemoryType, p->dstHost,
                               p->dstDevice, p->dstArray, p->dstPitch, p->dstHeight};
    bool source_known = false, destination_known = false;
    CUresult result = take_side(&source, p, &copy->region.source, &copy->source, &source_known);
    if (result == CUDA_SUCCESS)
        result = take_side(&destination, p, &copy->region.destination, &copy->destination, &destination_known);
    uint32_t pixel = copy->source != NULL ? copy->source->pixel_size : copy->destination != NULL ? copy->destination->pixel_size : 1;
    if (result == CUDA_SUCCESS && copy->source != NULL && copy->destination != NULL && pixel != copy->destination->pixel_size)
        result = bcu_fail(CUDA_ERROR_INVALID_VALUE, "texels of %u and of %u bytes", pixel, copy->destination->pixel_size);
    if (result != CUDA_SUCCESS) {
        bcu_copy_end(copy);
        return result;
    }
    copy->is_pageable = !source_known || !destination_known;
    copy->region.pixel_size = pixel;
    copy->region.extent[0] = p->WidthInBytes / pixel;
    copy->region.extent[1] = p->Height;
    copy->region.extent[2] = p->Depth;
    if (pixel == 1 && copy->source == NULL && copy->destination == NULL) {
        /* rows that follow each other are one */
        bool packed_rows = (p->Height <= 1 && p->Depth <= 1) || (source.pitch == p->WidthInBytes && destination.pitch == p->WidthInBytes);
        bool packed_slices = p->Depth <= 1 || (source.height == p->Height && destination.height == p->Height);
        if (packed_rows && packed_slices)
            copy->flat = p->WidthInBytes * p->Height * p->Depth;
    }
    return CUDA_SUCCESS;
}
