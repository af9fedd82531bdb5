/* Image handles over image memory and over linear memory: creation, checks and destruction. */
#include "image/image_handle.h"

#include "image/blocks/block_texels.h"
#include "image/sampler_limits.h"
#include "runtime/device.h"

#include <inttypes.h>

static void destroy(struct blr_object *object)
{
    struct blr_image_view *view = (struct blr_image_view *)object;
    if (view->image != NULL)
        blr_image_release(view->image);
    blr_memory_release(view->memory);
    blr_context_release(view->context);
    blr_delete(view);
}

struct blr_image_view *blr_image_view_acquire(blr_image_handle_t handle)
{
    return (struct blr_image_view *)blr_object_acquire(handle, BLR_KIND_IMAGE_HANDLE);
}

void blr_image_view_release(struct blr_image_view *view) { blr_object_release(&view->object); }

/* Blocks and codes of sRGB are read by samplers of images alone. */
static blr_result_t check_format(const blr_image_desc_t *desc, bool has_image, bool sampled)
{
    const bool has_blocks = blr_block_format_get(desc->channel_type) != NULL;
    if (has_blocks && !has_image)
        return blr_fail(BLR_RESULT_UNSUPPORTED, "an image of %s over memory: use image memory, by blrImageCreate",
                        blr_format_get(desc->channel_type)->name);
    if (!sampled && (has_blocks || desc->channel_type == BLR_CHANNEL_UNORM_INT8_SRGB))
        return blr_fail(BLR_RESULT_UNSUPPORTED, "an unsampled handle of %s: only samplers read it, give one",
                        blr_format_get(desc->channel_type)->name);
    return BLR_RESULT_SUCCESS;
}

blr_result_t blr_image_view_make(struct blr_context *context, struct blr_image *image, struct blr_allocation *memory,
                                 const blr_image_desc_t *desc, const struct blr_texture_level *levels,
                                 const blr_sampler_desc_t *sampler, const blr_swizzle_t *swizzle,
                                 blr_image_handle_t *handle)
{
    blr_result_t result = check_format(desc, image != NULL, sampler != NULL);
    if (result != BLR_RESULT_SUCCESS)
        return result;
    struct blr_image_view *view = blr_new(sizeof *view);
    if (view == NULL)
        return blr_fail(BLR_RESULT_OUT_OF_MEMORY, "no memory for an image handle");
    uint32_t flags = blr_device_exact_filtering() ? BLR_TEXTURE_EXACT_FILTERING : 0;
    const blr_image_desc_t texels = blr_texels_describe(desc);
    if (texels.channel_type != desc->channel_type)
        levels = image->texels;
    result = blr_texture_init(&view->texture, &texels, levels, desc->num_levels, sampler, flags);
    if (result != BLR_RESULT_SUCCESS)
        blr_fail(result, "the device has no texture of channel type %d with %u channels", (int)desc->channel_type,
                 desc->num_channels);
    else
        result = blr_object_register(&view->object, BLR_KIND_IMAGE_HANDLE, destroy);
    if (result != BLR_RESULT_SUCCESS) {
        blr_delete(view);
        return result;
    }
    blr_texels_border(desc, view->texture.border);
    if (swizzle != NULL)
        blr_texture_set_swizzle(&view->texture, swizzle);
    view->context = context;
    view->image = image;
    view->memory = memory;
    blr_context_retain(context);
    if (image != NULL)
        blr_image_retain(image);
    if (memory != NULL)
        blr_memory_retain(memory);
    *handle = view->object.id;
    return BLR_RESULT_SUCCESS;
}

/* ---------------------------------------------------------------- over images */

static blr_result_t check_field(const char *field, uint64_t value, uint64_t own)
{
    if (value == own)
        return BLR_RESULT_SUCCESS;
    return blr_fail(BLR_RESULT_INVALID_ARGUMENT,
                    "%s of the description is %" PRIu64 ", of the image memory %" PRIu64
                    ": a handle is made with the description of its memory",
                    field, value, own);
}

static blr_result_t check_same(const blr_image_desc_t *desc, const blr_image_desc_t *own)
{
    const struct {
        const char *name;
        uint64_t value, own;
    } fields[] = {
        {"width", desc->width, own->width},
        {"height", desc->height, own->height},
        {"depth", desc->depth, own->depth},
        {"num_channels", desc->num_channels, own->num_channels},
        {"channel_type", (uint64_t)desc->channel_type, (uint64_t)own->channel_type},
        {"type", (uint64_t)desc->type, (uint64_t)own->type},
        {"num_levels", desc->num_levels, own->num_levels},
        {"array_size", desc->array_size, own->array_size},
    };
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) {
        blr_result_t result = check_field(fields[i].name, fields[i].value, fields[i].own);
        if (result != BLR_RESULT_SUCCESS)
            return result;
    }
    return BLR_RESULT_SUCCESS;
}

static blr_result_t create_over_image(struct blr_context *context, struct blr_image *image,
                                      const blr_image_desc_t *desc, bool sampled, const blr_sampler_desc_t *sampler,
                                      blr_image_handle_t *handle)
{
    if (handle == NULL)
        return blr_fail(BLR_RESULT_INVALID_ARGUMENT, "handle is NULL: an output pointer is required");
    *handle = 0;
    blr_result_t result = blr_image_check_desc(desc);
    if (result == BLR_RESULT_SUCCESS && image->context != context)
        result = blr_fail(BLR_RESULT_INVALID_HANDLE,
                          "the image is of another context: a handle is made in the context of its memory");
    if (result == BLR_RESULT_SUCCESS)
        result = check_same(desc, &image->desc);
    if (result == BLR_RESULT_SUCCESS && !sampled && desc->type == BLR_IMAGE_MIPMAP)
        result = blr_fail(BLR_RESULT_UNSUPPORTED,
                          "an unsampled handle of a mipmap: make one of a level, by blrImageGetLevel");
    blr_sampler_desc_t effective;
    if (result == BLR_RESULT_SUCCESS && sampled)
        result = blr_sampler_check(sampler, desc, &effective);
    if (result != BLR_RESULT_SUCCESS)
        return result;
    return blr_image_view_make(context, image, NULL, desc, image->level, sampled ? &effective : NULL, NULL, handle);
}

static blr_result_t create_checked(blr_context_t context_handle, blr_image_t image_handle, const blr_image_desc_t *desc,
                                   bool sampled, const blr_sampler_desc_t *sampler, blr_image_handle_t *handle)
{
    struct blr_context *context = blr_context_acquire(context_handle);
    if (context == NULL)
        return BLR_RESULT_INVALID_HANDLE;
    blr_result_t result = BLR_RESULT_INVALID_HANDLE;
    struct blr_image *image = blr_image_acquire(image_handle);
    if (image != NULL) {
        result = create_over_image(context, image, desc, sampled, sampler, handle);
        blr_image_release(image);
    }
    blr_context_release(context);
    return result;
}

blr_result_t blrUnsampledImageCreate(blr_context_t context, blr_image_t image, const blr_image_desc_t *desc,
                                     blr_image_handle_t *handle)
{
    return create_checked(context, image, desc, false, NULL, handle);
}

blr_result_t blrSampledImageCreate(blr_context_t context, blr_image_t image, const blr_image_desc_t *desc,
                                   const blr_sampler_desc_t *sampler, blr_image_handle_t *handle)
{
    return create_checked(context, image, desc, true, sampler, handle);
}

/* ---------------------------------------------------------------- over memory */

/* Checks the device's limits for images in linear memory; the address is checked elsewhere. */
static blr_result_t check_linear(const blr_image_desc_t *desc, uint64_t row_pitch, uint64_t row_size)
{
    if (desc->type != BLR_IMAGE_STANDARD)
        return blr_fail(BLR_RESULT_UNSUPPORTED,
                        "image type %d over memory: only standard images can be made so, use image memory",
                        (int)desc->type);
    if (desc->depth > 0)
        return blr_fail(BLR_RESULT_UNSUPPORTED,
                        "depth %" PRIu64 " over memory: only images of 1 or 2 dimensions can be made so, use image memory",
                        desc->depth);
    if (desc->height == 0) {
        if (desc->width > BLR_MAX_LINEAR_1D_WIDTH)
            return blr_fail(BLR_RESULT_INVALID_SIZE, "width %" PRIu64 ": a line of memory has at most %u pixels",
                            desc->width, BLR_MAX_LINEAR_1D_WIDTH);
        return BLR_RESULT_SUCCESS;
    }
    if (desc->width > BLR_MAX_LINEAR_WIDTH || desc->height > BLR_MAX_LINEAR_HEIGHT)
        return blr_fail(BLR_RESULT_INVALID_SIZE, "%" PRIu64 " x %" PRIu64 " over memory: at most %u x %u pixels",
                        desc->width, desc->height, BLR_MAX_LINEAR_WIDTH, BLR_MAX_LINEAR_HEIGHT);
    if (row_pitch % BLR_ROW_PITCH_ALIGN != 0 || row_pitch < row_size || row_pitch > BLR_MAX_LINEAR_ROW_PITCH)
        return blr_fail(BLR_RESULT_INVALID_ARGUMENT,
                        "row pitch %" PRIu64 ": a multiple of %u from the %" PRIu64 " bytes of a row to %u is needed; "
                        "blrMemoryAllocatePitched gives one",
                        row_pitch, BLR_ROW_PITCH_ALIGN, row_size, BLR_MAX_LINEAR_ROW_PITCH);
    return BLR_RESULT_SUCCESS;
}

/* Checks the values of a description for linear memory, which may be wider than image memory. */
static blr_result_t check_linear_desc(const blr_image_desc_t *desc)
{
    if (desc == NULL)
        return blr_image_check_desc(NULL);
    blr_image_desc_t narrow = *desc;
    if (narrow.height == 0 && narrow.depth == 0 && narrow.width > BLR_MAX_IMAGE_1D_WIDTH)
        narrow.width = BLR_MAX_IMAGE_1D_WIDTH;
    return blr_image_check_desc(&narrow);
}

static blr_result_t create_over_memory(struct blr_context *context, const void *pointer, uint64_t row_pitch,
                                       const blr_image_desc_t *desc, const blr_sampler_desc_t *sampler,
                                       blr_image_handle_t *handle)
{
    if (handle == NULL)
        return blr_fail(BLR_RESULT_INVALID_ARGUMENT, "handle is NULL: an output pointer is required");
    *handle = 0;
    blr_result_t result = check_linear_desc(desc);
    if (result != BLR_RESULT_SUCCESS)
        return result;
    uint64_t row_size = desc->width * blr_pixel_size(desc->channel_type, desc->num_channels);
    result = check_linear(desc, row_pitch, row_size);
    blr_sampler_desc_t effective;
    if (result == BLR_RESULT_SUCCESS)
        result = blr_sampler_check(sampler, desc, &effective);
    if (result != BLR_RESULT_SUCCESS)
        return result;
    if ((uintptr_t)pointer % BLR_BASE_ALIGN != 0)
        return blr_fail(BLR_RESULT_INVALID_ARGUMENT, "address 0x%" PRIxPTR ": an image starts at a multiple of %u bytes",
                        (uintptr_t)pointer, BLR_BASE_ALIGN);
    uint64_t pitch = desc->height > 0 ? row_pitch : row_size;
    uint64_t height = desc->height > 0 ? desc->height : 1;
    struct blr_allocation *memory = NULL;
    result = blr_memory_use(context, pointer, pitch * (height - 1) + row_size, "memory of the image", &memory);
    if (result != BLR_RESULT_SUCCESS)
        return result;
    if (memory == NULL)
        return blr_fail(BLR_RESULT_INVALID_ARGUMENT,
                        "0x%" PRIxPTR " is not memory of this driver: allocate it with blrMemoryAllocate",
                        (uintptr_t)pointer);
    struct blr_texture_level level = {
        .data = (void *)(uintptr_t)pointer,
        .width = (uint32_t)desc->width,
        .height = (uint32_t)height,
        .depth = 1,
        .row_pitch = pitch,
        .slice_pitch = pitch * height,
    };
    result = blr_image_view_make(context, NULL, memory, desc, &level, &effective, NULL, handle);
    blr_memory_release(memory);
    return result;
}

blr_result_t blrSampledImageCreateFromMemory(blr_context_t context_handle, const void *pointer, uint64_t row_pitch,
                                             const blr_image_desc_t *desc, const blr_sampler_desc_t *sampler,
                                             blr_image_handle_t *handle)
{
    struct blr_context *context = blr_context_acquire(context_handle);
    if (context == NULL)
        return BLR_RESULT_INVALID_HANDLE;
    blr_result_t result = create_over_memory(context, pointer, row_pitch, desc, sampler, handle);
    blr_context_release(context);
    return result;
}

blr_result_t blrImageHandleDestroy(blr_context_t context_handle, blr_image_handle_t handle)
{
    struct blr_context *context = blr_context_acquire_kept(context_handle);
    if (context == NULL)
        return BLR_RESULT_INVALID_HANDLE;
    blr_result_t result = BLR_RESULT_INVALID_HANDLE;
    struct blr_image_view *view = blr_image_view_acquire(handle);
    if (view != NULL) {
        if (view->context != context)
            result = blr_fail(BLR_RESULT_INVALID_HANDLE,
                              "the image handle is of another context: it is destroyed in its own");
        else if (!blr_object_close(&view->object))
            result = blr_fail(BLR_RESULT_INVALID_HANDLE, "the image handle was destroyed by another thread");
        else
            result = BLR_RESULT_SUCCESS;
        blr_image_view_release(view);
    }
    blr_context_release(context);
    return result;
}
