/* Image views: any memory of the driver as an image, with swizzled channels. The Level Zero driver makes its image
 * handles from them. */
#include "runtime/device.h"
#include "image/blocks/block_format.h"
#include "image/packed_format.h"
#include "image/image_handle.h"
#include "image/sampler_limits.h"

#include <inttypes.h>

#define VIEW_ALIGN 64u

/* Checks an image description by the rules of image memory, except that an array may have one layer and a 1D image
 * may be as long as a line of linear memory. */
static blr_result_t check_image(const blr_image_desc_t *desc, bool has_memory)
{
    blr_image_desc_t full = *desc;
    if (full.type == BLR_IMAGE_MIPMAP && !has_memory)
        return blr_fail(BLR_RESULT_UNSUPPORTED, "a mipmap over memory: use image memory, by blrImageCreate");
    if (full.type == BLR_IMAGE_ARRAY && full.array_size == 1)
        full.array_size = 2;
    if (full.type == BLR_IMAGE_STANDARD && full.height == 0 && full.depth == 0 && full.width > BLR_MAX_IMAGE_1D_WIDTH &&
        full.width <= BLR_MAX_LINEAR_1D_WIDTH)
        full.width = BLR_MAX_IMAGE_1D_WIDTH;
    if (full.type == BLR_IMAGE_MIPMAP && full.num_levels == 1)
        full.type = BLR_IMAGE_STANDARD;
    return blr_image_check_desc(&full);
}

static blr_result_t check_swizzle(const blr_swizzle_t *swizzle)
{
    for (int c = 0; c < BLR_MAX_CHANNELS; c++)
        if ((unsigned)swizzle[c] > BLR_SWIZZLE_ONE)
            return blr_fail(BLR_RESULT_INVALID_FORMAT, "swizzle[%d] is %d: RED (0) to ONE (5) is needed", c, (int)swizzle[c]);
    return BLR_RESULT_SUCCESS;
}

static blr_result_t check_pitch(const char *name, uint64_t pitch, uint64_t minimum, uint64_t element)
{
    if (pitch >= minimum && pitch % element == 0 && pitch <= (uint64_t)INT64_MAX)
        return BLR_RESULT_SUCCESS;
    return blr_fail(BLR_RESULT_INVALID_ARGUMENT,
                    "%s pitch %" PRIu64 ": a multiple of %" PRIu64 " from %" PRIu64 " on is needed, or 0 for no gaps", name,
                    pitch, element, minimum);
}

/* Computes the layout of the pixels, and the bytes from the first pixel to the end of the last. */
static blr_result_t lay_out(const blr_image_view_desc_t *desc, struct blr_texture_level *level, uint64_t *span)
{
    const blr_image_desc_t *image = &desc->image;
    const struct blr_format *format = blr_format_get(image->channel_type);
    const struct blr_block_format *block = blr_block_format_get(image->channel_type);
    uint64_t element = block != NULL ? block->block_size : format->packing != NULL ? format->packing->word_size : format->size;
    uint64_t row_size = image->width * blr_pixel_size(image->channel_type, image->num_channels);
    uint64_t height = image->height > 0 ? image->height : 1;
    uint64_t depth = image->depth > 0 ? image->depth : 1;
    uint64_t slices = blr_image_layers(image) * depth;
    uint64_t row_pitch = desc->row_pitch != 0 && height > 1 ? desc->row_pitch : row_size;
    blr_result_t result = check_pitch("row", row_pitch, row_size, element);
    if (result != BLR_RESULT_SUCCESS)
        return result;
    if (row_pitch > (uint64_t)INT64_MAX / height)
        return blr_fail(BLR_RESULT_INVALID_SIZE, "%" PRIu64 " rows of %" PRIu64 " bytes are more than memory has", height,
                        row_pitch);
    uint64_t slice_size = row_pitch * (height - 1) + row_size;
    uint64_t slice_pitch = desc->slice_pitch != 0 && slices > 1 ? desc->slice_pitch : row_pitch * height;
    result = check_pitch("slice", slice_pitch, slice_size, element);
    if (result != BLR_RESULT_SUCCESS)
        return result;
    if (slice_pitch > (uint64_t)INT64_MAX / slices)
        return blr_fail(BLR_RESULT_INVALID_SIZE, "%" PRIu64 " slices of %" PRIu64 " bytes are more than memory has", slices,
                        slice_pitch);
    *span = slice_pitch * (slices - 1) + slice_size;
    *level = (struct blr_texture_level){
        .data = desc->pointer,
        .width = (uint32_t)image->width,
        .height = (uint32_t)height,
        .depth = (uint32_t)depth,
        .row_pitch = row_pitch,
        .slice_pitch = slice_pitch,
    };
    return BLR_RESULT_SUCCESS;
}

/* A view of image memory: same extents, and pixels of as many bytes. */
static blr_result_t check_memory(const blr_image_view_desc_t *desc, const struct blr_image *memory)
{
    const blr_image_desc_t *view = &desc->image, *own = &memory->desc;
    const uint64_t view_pixel = blr_pixel_size(view->channel_type, view->num_channels);
    const uint64_t own_pixel = blr_pixel_size(own->channel_type, own->num_channels);
    if (desc->pointer != NULL || desc->row_pitch != 0 || desc->slice_pitch != 0)
        return blr_fail(BLR_RESULT_INVALID_ARGUMENT, "a view of image memory has no pointer and no pitches of its own");
    if (view->type != own->type || view->width != own->width || view->height != own->height || view->depth != own->depth ||
        view->num_levels > own->num_levels || view->array_size > own->array_size)
        return blr_fail(BLR_RESULT_INVALID_ARGUMENT,
                        "type %d, %" PRIu64 " x %" PRIu64 " x %" PRIu64 " with %u levels and %u layers: the image memory has type %d, %" PRIu64
                        " x %" PRIu64 " x %" PRIu64 " with %u and %u",
                        (int)view->type, view->width, view->height, view->depth, view->num_levels, view->array_size, (int)own->type,
                        own->width, own->height, own->depth, own->num_levels, own->array_size);
    if (view->channel_type != own->channel_type &&
        (blr_block_format_get(view->channel_type) != NULL || blr_block_format_get(own->channel_type) != NULL))
        return blr_fail(BLR_RESULT_INVALID_FORMAT, "a view of %s over image memory of %s: blocks are read as what they are",
                        blr_format_get(view->channel_type)->name, blr_format_get(own->channel_type)->name);
    if (view_pixel != own_pixel)
        return blr_fail(BLR_RESULT_INVALID_FORMAT, "pixels of %" PRIu64 " bytes: those of the image memory have %" PRIu64, view_pixel,
                        own_pixel);
    if (view->type == BLR_IMAGE_MIPMAP && desc->sampler == NULL)
        return blr_fail(BLR_RESULT_UNSUPPORTED, "an unsampled view of a mipmap: make one of a level, by blrImageGetLevel");
    return BLR_RESULT_SUCCESS;
}

static blr_result_t create_over_image(struct blr_context *context, const blr_image_view_desc_t *desc,
                                      const blr_sampler_desc_t *sampler, blr_image_handle_t *handle)
{
    struct blr_image *memory = blr_image_acquire(desc->memory);
    if (memory == NULL)
        return BLR_RESULT_INVALID_HANDLE;
    blr_result_t result = check_memory(desc, memory);
    if (result == BLR_RESULT_SUCCESS && memory->context != context)
        result = blr_fail(BLR_RESULT_INVALID_HANDLE, "the image memory is of another context: a view is made in its own");
    if (result == BLR_RESULT_SUCCESS)
        result = blr_image_view_make(context, memory, NULL, &desc->image, memory->level, sampler, desc->swizzle, handle);
    blr_image_release(memory);
    return result;
}

static blr_result_t create(struct blr_context *context, const blr_image_view_desc_t *desc, blr_image_handle_t *handle)
{
    if (desc == NULL || handle == NULL)
        return blr_fail(BLR_RESULT_INVALID_ARGUMENT, "%s is NULL: %s is needed", desc == NULL ? "desc" : "handle",
                        desc == NULL ? "a description of the view" : "an output pointer");
    *handle = 0;
    blr_result_t result = check_image(&desc->image, desc->memory != NULL);
    if (result == BLR_RESULT_SUCCESS)
        result = check_swizzle(desc->swizzle);
    blr_sampler_desc_t effective;
    if (result == BLR_RESULT_SUCCESS && desc->sampler != NULL)
        result = blr_sampler_check_view(desc->sampler, &desc->image, &effective);
    if (result == BLR_RESULT_SUCCESS && desc->memory != NULL)
        return create_over_image(context, desc, desc->sampler != NULL ? &effective : NULL, handle);
    struct blr_texture_level level;
    uint64_t span = 0;
    if (result == BLR_RESULT_SUCCESS)
        result = lay_out(desc, &level, &span);
    if (result != BLR_RESULT_SUCCESS)
        return result;
    if ((uintptr_t)desc->pointer % VIEW_ALIGN != 0)
        return blr_fail(BLR_RESULT_INVALID_ARGUMENT, "address 0x%" PRIxPTR ": an image starts at a multiple of %u bytes",
                        (uintptr_t)desc->pointer, VIEW_ALIGN);
    struct blr_allocation *memory = NULL;
    result = blr_memory_use(context, desc->pointer, span, "memory of the image", &memory);
    if (result != BLR_RESULT_SUCCESS)
        return result;
    if (memory == NULL)
        return blr_fail(BLR_RESULT_INVALID_ARGUMENT,
                        "0x%" PRIxPTR " is not memory of this driver: allocate it with blrMemoryAllocate",
                        (uintptr_t)desc->pointer);
    result = blr_image_view_make(context, NULL, memory, &desc->image, &level, desc->sampler != NULL ? &effective : NULL,
                                 desc->swizzle, handle);
    blr_memory_release(memory);
    return result;
}

blr_result_t blrImageViewCreate(blr_context_t context_handle, const blr_image_view_desc_t *desc, blr_image_handle_t *handle)
{
    struct blr_context *context = blr_context_acquire(context_handle);
    if (context == NULL)
        return BLR_RESULT_INVALID_HANDLE;
    blr_result_t result = create(context, desc, handle);
    blr_context_release(context);
    return result;
}
