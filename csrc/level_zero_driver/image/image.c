/* Images: description, layout in memory, creation, views and destruction. */
#include "level_zero_driver/image/image.h"

#include "level_zero_driver/memory/external_memory.h"
#include "reference/runtime/device.h"
#include "level_zero_driver/image/sampler.h"
#include "level_zero_driver/core/descriptor_chain.h"

#include <inttypes.h>

#define MOST_SLICE_PITCH ((uint64_t)1 << 48)
#define TAIL ((uint64_t)64) /* a sampler may read a whole register that starts at the last pixel */

ze_result_t blz_image_acquire(ze_image_handle_t handle, struct blz_image **image)
{
    return blz_acquire(handle, BLR_KIND_ZE_IMAGE, image);
}

/* ---------------------------------------------------------------- description */

static ze_result_t check_extent(const char *name, uint64_t extent, uint64_t limit)
{
    if (extent >= 1 && extent <= limit)
        return ZE_RESULT_SUCCESS;
    return blz_fail(ZE_RESULT_ERROR_UNSUPPORTED_SIZE, "desc->%s is %" PRIu64 ": 1 to %" PRIu64 " are possible for an image of this type",
                    name, extent, limit);
}

/* Ignores the dimensions that an image type does not have; requires at least 1 of the others. */
static ze_result_t describe_extents(struct blz_image *image, const ze_image_desc_t *desc)
{
    static const struct {
        bool height, depth, layers;
        uint64_t width_limit, limit;
    } types[] = {
        [ZE_IMAGE_TYPE_1D] = {false, false, false, BLR_MAX_IMAGE_1D_WIDTH, 0},
        [ZE_IMAGE_TYPE_1DARRAY] = {false, false, true, BLR_MAX_IMAGE_1D_WIDTH, 0},
        [ZE_IMAGE_TYPE_2D] = {true, false, false, BLR_MAX_IMAGE_2D_WIDTH, BLR_MAX_IMAGE_2D_HEIGHT},
        [ZE_IMAGE_TYPE_2DARRAY] = {true, false, true, BLR_MAX_IMAGE_2D_WIDTH, BLR_MAX_IMAGE_2D_HEIGHT},
        [ZE_IMAGE_TYPE_3D] = {true, true, false, BLR_MAX_IMAGE_3D_EXTENT, BLR_MAX_IMAGE_3D_EXTENT},
        [ZE_IMAGE_TYPE_BUFFER] = {false, false, false, BLR_MAX_LINEAR_1D_WIDTH, 0},
    };
    if ((unsigned)desc->type > ZE_IMAGE_TYPE_BUFFER)
        return blz_fail_enumeration("desc->type", desc->type, "ZE_IMAGE_TYPE_1D (0) to _BUFFER (5) are known");
    bool height = types[desc->type].height, depth = types[desc->type].depth, layers = types[desc->type].layers;
    uint64_t limit = types[desc->type].limit;
    ze_result_t result = check_extent("width", desc->width, types[desc->type].width_limit);
    if (result == ZE_RESULT_SUCCESS && height)
        result = check_extent("height", desc->height, limit);
    if (result == ZE_RESULT_SUCCESS && depth)
        result = check_extent("depth", desc->depth, limit);
    if (result == ZE_RESULT_SUCCESS && layers)
        result = check_extent("arraylevels", desc->arraylevels, BLR_MAX_LAYERS);
    if (result == ZE_RESULT_SUCCESS && desc->miplevels > 1)
        result = blz_fail(ZE_RESULT_ERROR_UNSUPPORTED_FEATURE, "desc->miplevels is %u: Level Zero has no mipmaps, 0 is needed",
                          desc->miplevels);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    image->width = (uint32_t)desc->width;
    image->rows = height ? desc->height : 1;
    image->slices = depth ? desc->depth : layers ? desc->arraylevels : 1;
    image->reference = (blr_image_desc_t){
        .width = desc->width,
        .height = height ? desc->height : 0,
        .depth = depth ? desc->depth : 0,
        .num_channels = image->format.num_channels,
        .channel_type = image->format.channel_type,
        .type = layers ? BLR_IMAGE_ARRAY : BLR_IMAGE_STANDARD,
        .num_levels = 1,
        .array_size = layers ? desc->arraylevels : 1,
    };
    return ZE_RESULT_SUCCESS;
}

static ze_result_t lay_out(struct blz_image *image, uint64_t row_pitch, uint64_t slice_pitch)
{
    uint64_t row_size = (uint64_t)image->width * image->format.pixel_size;
    image->row_pitch = row_pitch != 0 ? row_pitch : row_size;
    if (image->row_pitch < row_size || image->row_pitch > BLZ_IMAGE_MAX_PITCH)
        return blz_fail(ZE_RESULT_ERROR_UNSUPPORTED_SIZE,
                        "a row pitch of %" PRIu64 " bytes: %" PRIu64 " to %u are possible, 0 for rows without gaps",
                        image->row_pitch, row_size, BLZ_IMAGE_MAX_PITCH);
    uint64_t slice_size = image->row_pitch * image->rows;
    image->slice_pitch = slice_pitch != 0 ? slice_pitch : slice_size;
    if (image->slice_pitch < slice_size || image->slice_pitch > MOST_SLICE_PITCH)
        return blz_fail(ZE_RESULT_ERROR_UNSUPPORTED_SIZE,
                        "a slice pitch of %" PRIu64 " bytes: %" PRIu64 " to %" PRIu64 " are possible, 0 for slices without gaps",
                        image->slice_pitch, slice_size, MOST_SLICE_PITCH);
    image->size = image->slice_pitch * (image->slices - 1) + image->row_pitch * (image->rows - 1) + row_size;
    return ZE_RESULT_SUCCESS;
}

ze_result_t blz_image_describe(struct blz_image *image, const ze_image_desc_t *desc, uint64_t row_pitch, uint64_t slice_pitch)
{
    if ((desc->flags & ~(uint32_t)(ZE_IMAGE_FLAG_KERNEL_WRITE | ZE_IMAGE_FLAG_BIAS_UNCACHED)) != 0)
        return blz_fail_enumeration("desc->flags", desc->flags,
                                    "ZE_IMAGE_FLAG_KERNEL_WRITE (1) and ZE_IMAGE_FLAG_BIAS_UNCACHED (2) are known");
    ze_result_t result = blz_format_resolve(&desc->format, &image->format);
    if (result == ZE_RESULT_SUCCESS)
        result = describe_extents(image, desc);
    if (result == ZE_RESULT_SUCCESS)
        result = lay_out(image, row_pitch, slice_pitch);
    image->desc = *desc;
    image->desc.pNext = NULL;
    return result;
}

/* ---------------------------------------------------------------- life */

static void destroy(struct blr_object *object)
{
    struct blz_image *image = (struct blz_image *)object;
    if (image->sampled != 0)
        blrImageHandleDestroy(image->context->native, image->sampled);
    if (image->plain != 0)
        blrImageHandleDestroy(image->context->native, image->plain);
    if (image->owns)
        blr_memory_withdraw(image->allocation);
    blr_memory_release(image->allocation);
    if (image->context != NULL)
        blz_context_release(image->context);
    blr_delete(image);
}

/* The structs that can be chained to an image description. */
enum { BINDLESS, SAMPLER, PITCHED, CUSTOM_PITCH, IMPORT, EXPORT, EXTENSIONS };

struct chain {
    struct blz_extension of[EXTENSIONS];
};

static ze_result_t read_chain(const ze_image_desc_t *desc, struct chain *chain)
{
    *chain = (struct chain){{
        [BINDLESS] = {ZE_STRUCTURE_TYPE_BINDLESS_IMAGE_EXP_DESC, NULL},
        [SAMPLER] = {ZE_STRUCTURE_TYPE_SAMPLER_DESC, NULL},
        [PITCHED] = {ZE_STRUCTURE_TYPE_PITCHED_IMAGE_EXP_DESC, NULL},
        [CUSTOM_PITCH] = {ZE_STRUCTURE_TYPE_CUSTOM_PITCH_EXP_DESC, NULL},
        [IMPORT] = {ZE_STRUCTURE_TYPE_EXTERNAL_MEMORY_IMPORT_FD, NULL},
        [EXPORT] = {ZE_STRUCTURE_TYPE_EXTERNAL_MEMORY_EXPORT_DESC, NULL},
    }};
    ze_result_t result = blz_descriptor(desc, ZE_STRUCTURE_TYPE_IMAGE_DESC, "desc", chain->of, EXTENSIONS);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    const ze_image_bindless_exp_desc_t *bindless = chain->of[BINDLESS].address;
    const ze_sampler_desc_t *sampler = chain->of[SAMPLER].address;
    if (bindless != NULL &&
        (bindless->flags & ~(uint32_t)(ZE_IMAGE_BINDLESS_EXP_FLAG_BINDLESS | ZE_IMAGE_BINDLESS_EXP_FLAG_SAMPLED_IMAGE)) != 0)
        return blz_fail_enumeration("the flags of ze_image_bindless_exp_desc_t", bindless->flags,
                                    "ZE_IMAGE_BINDLESS_EXP_FLAG_BINDLESS (1) and _SAMPLED_IMAGE (2) are known");
    bool sampled = bindless != NULL && (bindless->flags & ZE_IMAGE_BINDLESS_EXP_FLAG_SAMPLED_IMAGE) != 0;
    if (sampled && sampler == NULL)
        return blz_fail(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                        "ZE_IMAGE_BINDLESS_EXP_FLAG_SAMPLED_IMAGE without a sampler: chain a ze_sampler_desc_t to desc");
    return sampler == NULL ? ZE_RESULT_SUCCESS : blz_sampler_check(sampler);
}

/* Creates the image handles once the pixels are allocated. */
static ze_result_t make_handles(struct blz_image *image, const struct chain *chain)
{
    const ze_image_bindless_exp_desc_t *bindless = chain->of[BINDLESS].address;
    ze_image_bindless_exp_flags_t flags = bindless == NULL ? 0 : bindless->flags;
    blr_image_view_desc_t view = {
        .image = image->reference,
        .pointer = image->pixels,
        .row_pitch = image->row_pitch,
        .slice_pitch = image->slice_pitch,
    };
    for (int c = 0; c < 4; c++)
        view.swizzle[c] = image->format.swizzle[c];
    image->bindless = flags != 0;
    ze_result_t result = blz_result(blrImageViewCreate(image->context->native, &view, &image->plain));
    if (result != ZE_RESULT_SUCCESS || (flags & ZE_IMAGE_BINDLESS_EXP_FLAG_SAMPLED_IMAGE) == 0)
        return result;
    blr_sampler_desc_t sampler = blz_sampler_translate(chain->of[SAMPLER].address);
    view.sampler = &sampler;
    return blz_result(blrImageViewCreate(image->context->native, &view, &image->sampled));
}

/* ---------------------------------------------------------------- pixels */

/* Sets the caller's memory as the pixels of a pitched image. */
static ze_result_t use_memory(struct blz_image *image, const ze_image_pitched_exp_desc_t *pitched)
{
    uint64_t address = (uint64_t)(uintptr_t)pitched->ptr;
    struct blz_memory *memory;
    if (image->desc.type != ZE_IMAGE_TYPE_1D && image->desc.type != ZE_IMAGE_TYPE_2D)
        return blz_fail(ZE_RESULT_ERROR_UNSUPPORTED_FEATURE,
                        "a pitched image of type %d: only 1D and 2D images can use existing memory", image->desc.type);
    if (pitched->ptr == NULL)
        return blz_fail_null("ptr of ze_image_pitched_exp_desc_t");
    if (address % BLZ_IMAGE_BASE_ALIGN != 0)
        return blz_fail(ZE_RESULT_ERROR_UNSUPPORTED_ALIGNMENT, "a pitched image at 0x%" PRIx64 ": a multiple of %u bytes is needed",
                        address, BLZ_IMAGE_BASE_ALIGN);
    ze_result_t result = blz_memory_find(image->context, pitched->ptr, &image->allocation, &memory);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    image->pixels = pitched->ptr;
    uint64_t room = image->allocation->size - (address - image->allocation->base);
    if (image->size > room)
        return blz_fail(ZE_RESULT_ERROR_INVALID_SIZE,
                        "a pitched image of %" PRIu64 " bytes: %" PRIu64 " remain in the allocation from its address", image->size,
                        room);
    return ZE_RESULT_SUCCESS;
}

static ze_result_t allocate(struct blz_image *image, const struct chain *chain)
{
    const ze_external_memory_import_fd_t *import = chain->of[IMPORT].address;
    const ze_external_memory_export_desc_t *export = chain->of[EXPORT].address;
    struct blz_memory *memory;
    void *pixels = NULL;
    ze_result_t result;
    if (import != NULL || export != NULL)
        result = blz_external_allocate(image->context, image->device, ZE_MEMORY_TYPE_DEVICE, import, export, image->size, 0, &pixels);
    else
        result = blz_memory_allocate(image->context, image->device, ZE_MEMORY_TYPE_DEVICE, image->size + TAIL, 0, &pixels);
    if (result == ZE_RESULT_SUCCESS)
        result = blz_memory_find(image->context, pixels, &image->allocation, &memory);
    image->pixels = pixels;
    image->owns = result == ZE_RESULT_SUCCESS;
    return result;
}

/* Chooses the requested pitches; for memory without any, those of zeMemGetPitchFor2dImage. */
static void choose_pitches(const ze_image_desc_t *desc, const struct chain *chain, uint64_t *row, uint64_t *slice)
{
    const ze_custom_pitch_exp_desc_t *custom = chain->of[CUSTOM_PITCH].address;
    struct blz_format format;
    *row = custom == NULL ? 0 : custom->rowPitch;
    *slice = custom == NULL ? 0 : custom->slicePitch;
    if (*row != 0 || chain->of[PITCHED].address == NULL || desc->type != ZE_IMAGE_TYPE_2D || desc->width > UINT32_MAX ||
        blz_format_resolve(&desc->format, &format) != ZE_RESULT_SUCCESS)
        return;
    uint64_t size = desc->width * format.pixel_size;
    *row = (size + BLZ_IMAGE_PITCH_ALIGN - 1) / BLZ_IMAGE_PITCH_ALIGN * BLZ_IMAGE_PITCH_ALIGN;
}

/* ---------------------------------------------------------------- creation */

static ze_result_t new_image(struct blz_context *context, ze_device_handle_t device_handle, ze_image_handle_t *handle,
                             struct blz_image **image)
{
    struct blz_device *device;
    ze_result_t result = blz_device_check(device_handle, &device);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    if (handle == NULL)
        return blz_fail_null("phImage");
    *image = blr_new(sizeof **image);
    if (*image == NULL)
        return blz_fail_memory("an image");
    (*image)->device = device;
    (*image)->context = context;
    blz_context_retain(context);
    return ZE_RESULT_SUCCESS;
}

static ze_result_t finish(struct blz_image *image, ze_result_t result, ze_image_handle_t *handle)
{
    if (result == ZE_RESULT_SUCCESS)
        return blz_register(&image->object, BLR_KIND_ZE_IMAGE, destroy, handle);
    destroy(&image->object);
    return result;
}

static ze_result_t create(struct blz_context *context, ze_device_handle_t device, const ze_image_desc_t *desc,
                          ze_image_handle_t *handle)
{
    struct blz_image *image;
    struct chain chain;
    uint64_t row_pitch, slice_pitch;
    ze_result_t result = new_image(context, device, handle, &image);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    result = read_chain(desc, &chain);
    if (result == ZE_RESULT_SUCCESS) {
        choose_pitches(desc, &chain, &row_pitch, &slice_pitch);
        result = blz_image_describe(image, desc, row_pitch, slice_pitch);
    }
    if (result == ZE_RESULT_SUCCESS && chain.of[IMPORT].address != NULL && chain.of[CUSTOM_PITCH].address == NULL) {
        result = blz_external_pitches(chain.of[IMPORT].address, &image->reference, &row_pitch, &slice_pitch);
        if (result == ZE_RESULT_SUCCESS)
            result = blz_image_describe(image, desc, row_pitch, slice_pitch);
    }
    if (result == ZE_RESULT_SUCCESS)
        result = chain.of[PITCHED].address != NULL ? use_memory(image, chain.of[PITCHED].address)
                                                   : allocate(image, &chain);
    if (result == ZE_RESULT_SUCCESS)
        result = make_handles(image, &chain);
    return finish(image, result, handle);
}

ze_result_t zeImageCreate(ze_context_handle_t context_handle, ze_device_handle_t device, const ze_image_desc_t *desc,
                          ze_image_handle_t *handle)
{
    struct blz_context *context;
    ze_result_t result = blz_context_acquire(context_handle, &context);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    result = create(context, device, desc, handle);
    blz_context_release(context);
    return result;
}

ze_result_t zeImageDestroy(ze_image_handle_t handle) { return blz_destroy(handle, BLR_KIND_ZE_IMAGE); }

/* ---------------------------------------------------------------- views */

static ze_result_t check_same(const struct blz_image *image, const struct blz_image *view)
{
    if (image->context != view->context)
        return blz_fail(ZE_RESULT_ERROR_INVALID_ARGUMENT, "the image belongs to another context: create the view in the context of its image");
    if (image->desc.type != view->desc.type || image->width != view->width || image->rows != view->rows ||
        image->slices != view->slices)
        return blz_fail(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                        "a view of type %d with %u x %u x %u pixels of an image of type %d with %u x %u x %u: both must be the same",
                        view->desc.type, view->width, view->rows, view->slices, image->desc.type, image->width, image->rows,
                        image->slices);
    if (image->format.pixel_size != view->format.pixel_size)
        return blz_fail(ZE_RESULT_ERROR_UNSUPPORTED_IMAGE_FORMAT,
                        "a view with pixels of %u bytes of an image with pixels of %u: a view may read pixels as another format of "
                        "the same size",
                        view->format.pixel_size, image->format.pixel_size);
    return ZE_RESULT_SUCCESS;
}

static ze_result_t create_view(struct blz_image *image, ze_device_handle_t device, const ze_image_desc_t *desc,
                               ze_image_handle_t *handle)
{
    struct blz_image *view;
    struct chain chain;
    ze_result_t result = new_image(image->context, device, handle, &view);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    result = read_chain(desc, &chain);
    for (int i = PITCHED; i < EXTENSIONS && result == ZE_RESULT_SUCCESS; i++)
        if (chain.of[i].address != NULL)
            result = blz_fail(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                              "desc: a struct with stype 0x%x is chained to it by pNext: a view uses the memory of its image",
                              (unsigned)chain.of[i].stype);
    if (result == ZE_RESULT_SUCCESS)
        result = blz_image_describe(view, desc, 0, 0);
    if (result == ZE_RESULT_SUCCESS)
        result = check_same(image, view);
    if (result == ZE_RESULT_SUCCESS) {
        view->row_pitch = image->row_pitch;
        view->slice_pitch = image->slice_pitch;
        view->size = image->size;
        view->pixels = image->pixels;
        view->allocation = image->allocation;
        blr_memory_retain(view->allocation);
        result = make_handles(view, &chain);
    }
    return finish(view, result, handle);
}

ze_result_t zeImageViewCreateExt(ze_context_handle_t context_handle, ze_device_handle_t device, const ze_image_desc_t *desc,
                                 ze_image_handle_t image_handle, ze_image_handle_t *handle)
{
    struct blz_context *context;
    struct blz_image *image;
    ze_result_t result = blz_context_acquire(context_handle, &context);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    result = blz_image_acquire(image_handle, &image);
    if (result == ZE_RESULT_SUCCESS) {
        if (image->context != context)
            result = blz_fail(ZE_RESULT_ERROR_INVALID_ARGUMENT, "the image belongs to another context than the view");
        else
            result = create_view(image, device, desc, handle);
        blz_image_release(image);
    }
    blz_context_release(context);
    return result;
}

ze_result_t zeImageViewCreateExp(ze_context_handle_t context, ze_device_handle_t device, const ze_image_desc_t *desc,
                                 ze_image_handle_t image, ze_image_handle_t *handle)
{
    return zeImageViewCreateExt(context, device, desc, image, handle);
}
