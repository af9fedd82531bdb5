/* External memory objects: import, and the images and linear ranges mapped from them. */
#include "platform/heap.h"
#include "external/shared_file.h"
#include "image/blocks/block_format.h"
#include "image/image_memory.h"
#include "memory/allocation.h"

#include <inttypes.h>

struct external_memory {
    struct blr_object object;
    struct blr_context *context; /* retained */
    struct blr_external_file external;
    uint64_t size;               /* imported size, at most the file's */
};

static void destroy(struct blr_object *object)
{
    struct external_memory *memory = (struct external_memory *)object;
    blr_external_close(&memory->external);
    blr_context_release(memory->context);
    blr_delete(memory);
}

static struct external_memory *acquire(blr_external_memory_t handle)
{
    return (struct external_memory *)blr_object_acquire(blr_handle_id(handle), BLR_KIND_EXTERNAL_MEMORY);
}

static blr_result_t fail_no_place(const char *name)
{
    return blr_fail(BLR_RESULT_INVALID_ARGUMENT, "%s is NULL: an output pointer is required", name);
}

/* ---------------------------------------------------------------- import */

static blr_result_t import(struct blr_context *context, int file, uint64_t size, blr_external_memory_t *handle)
{
    struct external_memory *memory = blr_new(sizeof *memory);
    if (memory == NULL)
        return blr_fail(BLR_RESULT_OUT_OF_MEMORY, "no memory to describe external memory");
    blr_result_t result = blr_external_open(&memory->external, file);
    if (result == BLR_RESULT_SUCCESS && (size == 0 || size > memory->external.size))
        result = blr_fail(BLR_RESULT_INVALID_SIZE, "size %" PRIu64 ": the memory of file descriptor %d has %" PRIu64 " bytes", size,
                          file, memory->external.size);
    if (result == BLR_RESULT_SUCCESS)
        result = blr_object_register(&memory->object, BLR_KIND_EXTERNAL_MEMORY, destroy);
    if (result != BLR_RESULT_SUCCESS) {
        blr_external_close(&memory->external);
        blr_delete(memory);
        return result;
    }
    memory->size = size;
    memory->context = context;
    blr_context_retain(context);
    *handle = (blr_external_memory_t)(uintptr_t)memory->object.id;
    return BLR_RESULT_SUCCESS;
}

blr_result_t blrExternalMemoryImport(blr_context_t context_handle, int32_t file, uint64_t size, blr_external_memory_t *handle)
{
    struct blr_context *context = blr_context_acquire(context_handle);
    if (context == NULL)
        return BLR_RESULT_INVALID_HANDLE;
    blr_result_t result = handle == NULL ? fail_no_place("memory") : import(context, file, size, handle);
    blr_context_release(context);
    return result;
}

blr_result_t blrExternalMemoryRelease(blr_external_memory_t handle)
{
    struct external_memory *memory = acquire(handle);
    if (memory == NULL)
        return BLR_RESULT_INVALID_HANDLE;
    blr_result_t result = BLR_RESULT_SUCCESS;
    if (!blr_object_close(&memory->object))
        result = blr_fail(BLR_RESULT_INVALID_HANDLE, "the external memory was released by another thread");
    blr_object_release(&memory->object);
    return result;
}

/* ---------------------------------------------------------------- images */

static void unmap(void *owner)
{
    struct blr_mapping *mapping = owner;
    blr_external_unmap(mapping);
    blr_delete(mapping);
}

static blr_result_t map_image(const struct external_memory *memory, const blr_image_desc_t *desc, blr_image_t *image)
{
    blr_result_t result = blr_image_check_desc(desc);
    if (result != BLR_RESULT_SUCCESS)
        return result;
    if (desc->type != BLR_IMAGE_STANDARD && desc->type != BLR_IMAGE_MIPMAP)
        return blr_fail(BLR_RESULT_UNSUPPORTED, "image type %d: of external memory STANDARD (0) and MIPMAP (1) images are made",
                        (int)desc->type);
    if (blr_block_format_get(desc->channel_type) != NULL)
        return blr_fail(BLR_RESULT_UNSUPPORTED, "an image of %s of external memory: copy its blocks to one of blrImageCreate",
                        blr_format_get(desc->channel_type)->name);
    struct blr_texture_level levels[BLR_MAX_MIP_LEVELS];
    uint64_t size = blr_external_lay_out(memory->external.exporter, desc, levels);
    if (size > memory->size)
        return blr_fail(BLR_RESULT_INVALID_SIZE,
                        "an image of %" PRIu64 " x %" PRIu64 " x %" PRIu64 " pixels with %u levels takes %" PRIu64
                        " bytes as its exporter lays it out: %" PRIu64 " bytes of external memory were imported",
                        desc->width, desc->height, desc->depth, desc->num_levels, size, memory->size);
    struct blr_mapping *mapping = blr_new(sizeof *mapping);
    if (mapping == NULL)
        return blr_fail(BLR_RESULT_OUT_OF_MEMORY, "no memory to describe a mapping");
    result = blr_external_map(&memory->external, 0, size, mapping);
    if (result != BLR_RESULT_SUCCESS) {
        blr_delete(mapping);
        return result;
    }
    for (uint32_t i = 0; i < desc->num_levels; i++)
        levels[i].data = (char *)mapping->pointer + (uintptr_t)levels[i].data;
    result = blr_image_adopt(memory->context, desc, levels, unmap, mapping, image);
    if (result != BLR_RESULT_SUCCESS)
        unmap(mapping);
    return result;
}

blr_result_t blrExternalMemoryMapImage(blr_external_memory_t handle, const blr_image_desc_t *desc, blr_image_t *image)
{
    struct external_memory *memory = acquire(handle);
    if (memory == NULL)
        return BLR_RESULT_INVALID_HANDLE;
    blr_result_t result = image == NULL ? fail_no_place("image") : map_image(memory, desc, image);
    blr_object_release(&memory->object);
    return result;
}

/* ---------------------------------------------------------------- linear memory */

static void release_range(struct blr_allocation *allocation) { unmap(allocation->owner); }

static blr_result_t map_linear(const struct external_memory *memory, uint64_t offset, uint64_t size, void **pointer)
{
    if (size == 0 || offset > memory->size || size > memory->size - offset)
        return blr_fail(BLR_RESULT_INVALID_SIZE,
                        "%" PRIu64 " bytes from offset %" PRIu64 ": %" PRIu64 " bytes of external memory were imported", size, offset,
                        memory->size);
    struct blr_mapping *mapping = blr_new(sizeof *mapping);
    if (mapping == NULL)
        return blr_fail(BLR_RESULT_OUT_OF_MEMORY, "no memory to describe a mapping");
    struct blr_allocation *allocation;
    blr_result_t result = blr_external_map(&memory->external, offset, size, mapping);
    if (result != BLR_RESULT_SUCCESS) {
        blr_delete(mapping);
        return result;
    }
    result = blr_memory_adopt(memory->context, BLR_MEMORY_DEVICE, mapping->pointer, size, release_range, mapping, &allocation);
    if (result != BLR_RESULT_SUCCESS)
        unmap(mapping);
    else
        *pointer = mapping->pointer;
    return result;
}

blr_result_t blrExternalMemoryMapLinear(blr_external_memory_t handle, uint64_t offset, uint64_t size, void **pointer)
{
    struct external_memory *memory = acquire(handle);
    if (memory == NULL)
        return BLR_RESULT_INVALID_HANDLE;
    blr_result_t result = pointer == NULL ? fail_no_place("pointer") : map_linear(memory, offset, size, pointer);
    blr_object_release(&memory->object);
    return result;
}
