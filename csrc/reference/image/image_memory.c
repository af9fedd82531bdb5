/* Images: checks of descriptions, memory layout, creation and destruction. */
#include "image/image_memory.h"

#include "image/blocks/block_texels.h"
#include "runtime/device.h"
#include "memory/allocation.h"

#include <inttypes.h>
#include <string.h>

/* Levels start on a cache line; a sampler may read a whole register from the last pixel on. */
#define LEVEL_ALIGN 64u
#define TAIL 64u
#define LINE 64u
#define PAGE 4096u

uint32_t blr_image_dimensions(const blr_image_desc_t *desc) { return desc->depth > 0 ? 3 : desc->height > 0 ? 2 : 1; }

uint32_t blr_image_layers(const blr_image_desc_t *desc)
{
    return desc->type == BLR_IMAGE_ARRAY || desc->type == BLR_IMAGE_CUBEMAP ? desc->array_size : 1;
}

/* ---------------------------------------------------------------- descriptions */

static const char *type_name(blr_image_type_t type)
{
    static const char *const names[] = {"standard", "mipmap", "array", "cubemap"};
    return (unsigned)type < sizeof names / sizeof names[0] ? names[type] : "unknown";
}

static blr_result_t check_extent(const char *name, uint64_t extent, uint64_t limit, const char *kind)
{
    if (extent <= limit)
        return BLR_RESULT_SUCCESS;
    return blr_fail(BLR_RESULT_INVALID_SIZE, "%s %" PRIu64 ": %s has at most %" PRIu64, name, extent, kind, limit);
}

/* Checks the limits of the device, by dimensions and type. */
static blr_result_t check_limits(const blr_image_desc_t *desc)
{
    static const struct {
        uint64_t width, height, depth;
        const char *kind;
    } plain[] = {
        {BLR_MAX_IMAGE_1D_WIDTH, 0, 0, "a one-dimensional image"},
        {BLR_MAX_IMAGE_2D_WIDTH, BLR_MAX_IMAGE_2D_HEIGHT, 0, "a two-dimensional image"},
        {BLR_MAX_IMAGE_3D_EXTENT, BLR_MAX_IMAGE_3D_EXTENT, BLR_MAX_IMAGE_3D_EXTENT, "a three-dimensional image"},
    };
    uint32_t dimensions = blr_image_dimensions(desc);
    uint64_t width = plain[dimensions - 1].width, height = plain[dimensions - 1].height;
    const char *kind = plain[dimensions - 1].kind;
    if (desc->type == BLR_IMAGE_MIPMAP && dimensions < 3) {
        width = height = BLR_MAX_MIPMAP_EXTENT;
        kind = "a mipmap";
    } else if (desc->type == BLR_IMAGE_CUBEMAP) {
        width = height = BLR_MAX_CUBEMAP_EXTENT;
        kind = "a cubemap";
    }
    blr_result_t result = check_extent("width", desc->width, width, kind);
    if (result == BLR_RESULT_SUCCESS)
        result = check_extent("height", desc->height, height, kind);
    if (result == BLR_RESULT_SUCCESS)
        result = check_extent("depth", desc->depth, plain[dimensions - 1].depth, kind);
    return result;
}

static uint32_t count_levels(const blr_image_desc_t *desc)
{
    uint64_t largest = desc->width > desc->height ? desc->width : desc->height;
    if (desc->depth > largest)
        largest = desc->depth;
    uint32_t levels = 1;
    for (; largest > 1; largest >>= 1)
        levels++;
    return levels;
}

static blr_result_t check_levels_and_layers(const blr_image_desc_t *desc)
{
    const char *type = type_name(desc->type);
    if (desc->type == BLR_IMAGE_MIPMAP) {
        uint32_t maximum = count_levels(desc);
        if (desc->num_levels < 2 || desc->num_levels > maximum)
            return blr_fail(BLR_RESULT_INVALID_ARGUMENT, "num_levels %u: a mipmap of this size has 2 to %u levels%s",
                            desc->num_levels, maximum, maximum < 2 ? ", so none is possible" : "");
    } else if (desc->num_levels != 1) {
        return blr_fail(BLR_RESULT_INVALID_ARGUMENT, "num_levels %u: an image of type %s has 1", desc->num_levels, type);
    }
    if (desc->type == BLR_IMAGE_ARRAY) {
        if (desc->array_size < 2 || desc->array_size > BLR_MAX_LAYERS)
            return blr_fail(BLR_RESULT_INVALID_ARGUMENT, "array_size %u: an array has 2 to %u layers", desc->array_size,
                            BLR_MAX_LAYERS);
        if (desc->depth > 0)
            return blr_fail(BLR_RESULT_INVALID_ARGUMENT, "depth %" PRIu64 ": an array has layers of 1 or 2 dimensions",
                            desc->depth);
    } else if (desc->type == BLR_IMAGE_CUBEMAP) {
        if (desc->array_size != 6)
            return blr_fail(BLR_RESULT_INVALID_ARGUMENT, "array_size %u: a cubemap has 6 faces", desc->array_size);
        if (desc->depth > 0 || desc->width != desc->height)
            return blr_fail(BLR_RESULT_INVALID_ARGUMENT,
                            "%" PRIu64 " x %" PRIu64 " x %" PRIu64 ": the faces of a cubemap are square and have no depth",
                            desc->width, desc->height, desc->depth);
    } else if (desc->array_size != 1) {
        return blr_fail(BLR_RESULT_INVALID_ARGUMENT, "array_size %u: an image of type %s has 1", desc->array_size, type);
    }
    return BLR_RESULT_SUCCESS;
}

blr_result_t blr_image_check_desc(const blr_image_desc_t *desc)
{
    if (desc == NULL)
        return blr_fail(BLR_RESULT_INVALID_ARGUMENT, "desc is NULL: the description of an image is needed");
    if ((unsigned)desc->type > BLR_IMAGE_CUBEMAP)
        return blr_fail(BLR_RESULT_INVALID_ARGUMENT, "image type %d: STANDARD (0) to CUBEMAP (3) is needed",
                        (int)desc->type);
    if (blr_format_get(desc->channel_type) == NULL)
        return blr_fail(BLR_RESULT_INVALID_FORMAT, "channel type %d: one from 0 to %d is needed",
                        (int)desc->channel_type, BLR_NUM_CHANNEL_TYPES - 1);
    if (blr_pixel_size(desc->channel_type, desc->num_channels) == 0)
        return blr_fail(BLR_RESULT_INVALID_FORMAT, "num_channels %u: %s is needed", desc->num_channels,
                        blr_format_get(desc->channel_type)->packing ? "the number that the channel type names"
                                                                    : "1, 2, 3 or 4");
    if (desc->width == 0)
        return blr_fail(BLR_RESULT_INVALID_SIZE, "width 0: an image is at least 1 pixel wide");
    if (desc->height == 0 && desc->depth > 0)
        return blr_fail(BLR_RESULT_INVALID_SIZE, "height 0 with depth %" PRIu64 ": only the last dimensions may be 0",
                        desc->depth);
    if (blr_block_format_get(desc->channel_type) != NULL && blr_image_dimensions(desc) != 2)
        return blr_fail(BLR_RESULT_INVALID_SIZE, "%u dimensions: an image of blocks has 2", blr_image_dimensions(desc));
    blr_result_t result = check_limits(desc);
    return result == BLR_RESULT_SUCCESS ? check_levels_and_layers(desc) : result;
}

/* ---------------------------------------------------------------- layout */

static uint64_t level_extent(uint64_t extent, uint32_t level) { return extent == 0 ? 0 : extent >> level > 0 ? extent >> level : 1; }

/* Row pitch: a row that is a multiple of the page size gets an extra cache line. Otherwise all rows would compete
 * for the same cache sets, with each other and with the arrays of a call that walks along them. */
static uint64_t row_pitch(uint64_t row_size) { return row_size % PAGE == 0 ? row_size + LINE : row_size; }

/* Computes the offset of each level, the first at offset; returns the end of the last. Extents within the limits cannot
 * overflow it. */
static uint64_t lay_out(const blr_image_desc_t *desc, uint64_t offset, struct blr_texture_level *levels)
{
    const uint32_t side = blr_block_format_get(desc->channel_type) != NULL ? BLR_BLOCK_SIDE : 1;
    uint64_t pixel = blr_pixel_size(desc->channel_type, desc->num_channels);
    for (uint32_t i = 0; i < desc->num_levels; i++) {
        struct blr_texture_level *level = &levels[i];
        level->width = ((uint32_t)level_extent(desc->width, i) + side - 1) / side;
        level->height = desc->height > 0 ? ((uint32_t)level_extent(desc->height, i) + side - 1) / side : 1;
        level->depth = desc->depth > 0 ? (uint32_t)level_extent(desc->depth, i) : 1;
        level->row_pitch = level->height > 1 ? row_pitch(level->width * pixel) : level->width * pixel;
        level->slice_pitch = level->row_pitch * level->height;
        level->data = (void *)(uintptr_t)offset;
        uint64_t slices = (uint64_t)level->depth * blr_image_layers(desc);
        offset += (level->slice_pitch * slices + LEVEL_ALIGN - 1) / LEVEL_ALIGN * LEVEL_ALIGN;
    }
    return offset;
}

/* ---------------------------------------------------------------- life */

static void destroy(struct blr_object *object)
{
    struct blr_image *image = (struct blr_image *)object;
    if (image->mipmap != NULL) {
        blr_image_release(image->mipmap);
    } else if (image->release != NULL) {
        image->release(image->owner);
    } else {
        blr_memory_unreserve(image->pages.size);
        blr_pages_keep(&image->pages);
    }
    blr_context_release(image->context);
    blr_delete(image);
}

struct blr_image *blr_image_acquire(blr_image_t handle)
{
    return (struct blr_image *)blr_object_acquire(blr_handle_id(handle), BLR_KIND_IMAGE);
}

void blr_image_retain(struct blr_image *image) { blr_object_retain(&image->object); }

void blr_image_release(struct blr_image *image) { blr_object_release(&image->object); }

/* Invalidates the handles of the image and its levels. The pixels stay until their last user releases them. */
static bool close(struct blr_image *image)
{
    if (!blr_object_close(&image->object))
        return false;
    for (uint32_t i = 0; i < BLR_MAX_MIP_LEVELS && image->level_ids[i] != 0; i++) {
        struct blr_object *level = blr_object_acquire(image->level_ids[i], BLR_KIND_IMAGE);
        blr_object_close(level); /* the image was closed first, so no other thread can have closed its level */
        blr_object_release(level);
    }
    return true;
}

static struct blr_image *new_image(struct blr_context *context, const blr_image_desc_t *desc)
{
    struct blr_image *image = blr_new(sizeof *image);
    if (image == NULL) {
        blr_fail(BLR_RESULT_OUT_OF_MEMORY, "no memory to describe an image");
        return NULL;
    }
    image->desc = *desc;
    image->context = context;
    return image;
}

static blr_result_t add_level(struct blr_image *mipmap, uint32_t number)
{
    blr_image_desc_t desc = mipmap->desc;
    desc.width = level_extent(desc.width, number);
    desc.height = level_extent(desc.height, number);
    desc.depth = level_extent(desc.depth, number);
    desc.type = BLR_IMAGE_STANDARD;
    desc.num_levels = 1;
    struct blr_image *level = new_image(mipmap->context, &desc);
    if (level == NULL)
        return BLR_RESULT_OUT_OF_MEMORY;
    blr_result_t result = blr_object_register(&level->object, BLR_KIND_IMAGE, destroy);
    if (result != BLR_RESULT_SUCCESS) {
        blr_delete(level);
        return result;
    }
    level->level[0] = mipmap->level[number];
    level->texels[0] = mipmap->texels[number];
    level->mipmap = mipmap;
    blr_image_retain(mipmap);
    blr_context_retain(mipmap->context);
    mipmap->level_ids[number] = level->object.id;
    return BLR_RESULT_SUCCESS;
}

/* Release function of pixels that the caller still owns: does nothing. */
static void leave(void *owner) { (void)owner; }

static blr_result_t allocate_pixels(struct blr_image *image)
{
    const blr_image_desc_t *desc = &image->desc;
    blr_image_desc_t texels = blr_texels_describe(desc);
    const bool has_blocks = texels.channel_type != desc->channel_type;
    uint64_t size = lay_out(desc, 0, image->level);
    if (has_blocks)
        size = lay_out(&texels, size, image->texels);
    size += TAIL;
    bool reserved = size <= blr_device_max_allocation() && blr_memory_reserve(size);
    if (!reserved || !blr_pages_reuse(&image->pages, size, BLR_BASE_ALIGN)) {
        if (reserved)
            blr_memory_unreserve(size);
        return blr_fail(BLR_RESULT_OUT_OF_MEMORY,
                        "an image of type %s, %" PRIu64 " x %" PRIu64 " x %" PRIu64 " with %u layers, needs %" PRIu64
                        " bytes of memory: one allocation has at most %" PRIu64 ", %" PRIu64
                        " are free in the system",
                        type_name(desc->type), desc->width, desc->height, desc->depth, desc->array_size, size,
                        blr_device_max_allocation(), blr_memory_available());
    }
    for (uint32_t i = 0; i < desc->num_levels; i++) {
        image->level[i].data = (char *)image->pages.base + (uintptr_t)image->level[i].data;
        if (has_blocks)
            image->texels[i].data = (char *)image->pages.base + (uintptr_t)image->texels[i].data;
    }
    return BLR_RESULT_SUCCESS;
}

/* Creates the handles of an image with pixels, and of its levels. On failure the image is destroyed; adopted pixels
 * stay the caller's. */
static blr_result_t publish(struct blr_image *image, blr_image_t *handle)
{
    blr_result_t result = blr_object_register(&image->object, BLR_KIND_IMAGE, destroy);
    if (result != BLR_RESULT_SUCCESS) {
        if (image->release == NULL) {
            blr_memory_unreserve(image->pages.size);
            blr_pages_free(&image->pages);
        }
        blr_delete(image);
        return result;
    }
    blr_context_retain(image->context);
    uint64_t id = image->object.id;
    if (image->desc.type == BLR_IMAGE_MIPMAP) {
        for (uint32_t i = 0; i < image->desc.num_levels && result == BLR_RESULT_SUCCESS; i++)
            result = add_level(image, i);
        if (result != BLR_RESULT_SUCCESS) {
            if (image->release != NULL)
                image->release = leave;
            blr_image_retain(image);
            close(image);
            blr_image_release(image);
            return result;
        }
    }
    *handle = (blr_image_t)(uintptr_t)id;
    return BLR_RESULT_SUCCESS;
}

static blr_result_t create(struct blr_context *context, const blr_image_desc_t *desc, blr_image_t *handle)
{
    if (handle == NULL)
        return blr_fail(BLR_RESULT_INVALID_ARGUMENT, "image is NULL: an output pointer is required");
    *handle = NULL;
    blr_result_t result = blr_image_check_desc(desc);
    if (result != BLR_RESULT_SUCCESS)
        return result;
    struct blr_image *image = new_image(context, desc);
    if (image == NULL)
        return BLR_RESULT_OUT_OF_MEMORY;
    result = allocate_pixels(image);
    if (result == BLR_RESULT_SUCCESS)
        return publish(image, handle);
    blr_delete(image);
    return result;
}

blr_result_t blr_image_adopt(struct blr_context *context, const blr_image_desc_t *desc, const struct blr_texture_level *levels,
                             void (*release)(void *owner), void *owner, blr_image_t *handle)
{
    struct blr_image *image = new_image(context, desc);
    if (image == NULL)
        return BLR_RESULT_OUT_OF_MEMORY;
    memcpy(image->level, levels, desc->num_levels * sizeof *levels);
    image->release = release;
    image->owner = owner;
    return publish(image, handle);
}

blr_result_t blrImageCreate(blr_context_t context_handle, const blr_image_desc_t *desc, blr_image_t *handle)
{
    struct blr_context *context = blr_context_acquire(context_handle);
    if (context == NULL)
        return BLR_RESULT_INVALID_HANDLE;
    blr_result_t result = create(context, desc, handle);
    blr_context_release(context);
    return result;
}

blr_result_t blrImageDestroy(blr_image_t handle)
{
    struct blr_image *image = blr_image_acquire(handle);
    if (image == NULL)
        return BLR_RESULT_INVALID_HANDLE;
    blr_result_t result = BLR_RESULT_SUCCESS;
    if (image->mipmap != NULL)
        result = blr_fail(BLR_RESULT_IN_USE, "the image is a level of a mipmap, which owns it: destroy the mipmap");
    else if (!close(image))
        result = blr_fail(BLR_RESULT_INVALID_HANDLE, "the image was destroyed by another thread");
    blr_image_release(image);
    return result;
}

blr_result_t blrImageGetDesc(blr_image_t handle, blr_image_desc_t *desc)
{
    struct blr_image *image = blr_image_acquire(handle);
    if (image == NULL)
        return BLR_RESULT_INVALID_HANDLE;
    blr_result_t result = BLR_RESULT_SUCCESS;
    if (desc == NULL)
        result = blr_fail(BLR_RESULT_INVALID_ARGUMENT, "desc is NULL: an output pointer is required");
    else
        *desc = image->desc;
    blr_image_release(image);
    return result;
}

blr_result_t blrImageGetLevel(blr_image_t handle, uint32_t level, blr_image_t *level_image)
{
    struct blr_image *image = blr_image_acquire(handle);
    if (image == NULL)
        return BLR_RESULT_INVALID_HANDLE;
    blr_result_t result = BLR_RESULT_SUCCESS;
    if (level_image == NULL)
        result = blr_fail(BLR_RESULT_INVALID_ARGUMENT, "level_image is NULL: an output pointer is required");
    else if (image->desc.type != BLR_IMAGE_MIPMAP)
        result = blr_fail(BLR_RESULT_INVALID_ARGUMENT, "the image is of type %s: only a mipmap has levels",
                          type_name(image->desc.type));
    else if (level >= image->desc.num_levels)
        result = blr_fail(BLR_RESULT_INVALID_ARGUMENT, "level %u: the mipmap has levels 0 to %u", level,
                          image->desc.num_levels - 1);
    else
        *level_image = (blr_image_t)(uintptr_t)image->level_ids[level];
    blr_image_release(image);
    return result;
}

blr_result_t blrImageGetPointer(blr_image_t handle, void **pixels)
{
    struct blr_image *image = blr_image_acquire(handle);
    if (image == NULL)
        return BLR_RESULT_INVALID_HANDLE;
    blr_result_t result = BLR_RESULT_SUCCESS;
    if (pixels == NULL)
        result = blr_fail(BLR_RESULT_INVALID_ARGUMENT, "pixels is NULL: an output pointer is required");
    else
        *pixels = image->level[0].data;
    blr_image_release(image);
    return result;
}
