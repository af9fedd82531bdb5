/* Copies between images and linear memory as commands. */
#include "platform/heap.h"
#include "image/blocks/block_texels.h"
#include "memory/allocation.h"
#include "runtime/queue.h"
#include "memory/parallel_copy.h"

#include <inttypes.h>
#include <string.h>

/* One side of a copy: the address of its first pixel, and the number of bytes that the region spans. */
struct side {
    const char *name;
    struct blr_image *image;         /* retained, or NULL */
    struct blr_allocation *memory;   /* retained, or NULL */
    unsigned char *first;
    uint64_t row_pitch, slice_pitch;
    uint64_t span;
};

struct image_copy_command {
    struct blr_command command;
    struct side source, destination;
    struct blr_box box;
    uint64_t first[3]; /* pixel, or block, of the destination */
    bool decodes;      /* the destination is an image of blocks */
    bool overlapping;  /* source and destination overlap: the copy goes through a temporary buffer */
};

static void release_side(struct side *side)
{
    if (side->image != NULL)
        blr_image_release(side->image);
    blr_memory_release(side->memory);
}

static void release(struct blr_command *command)
{
    struct image_copy_command *copy = (struct image_copy_command *)command;
    release_side(&copy->source);
    release_side(&copy->destination);
}

static blr_result_t transfer(const struct image_copy_command *copy)
{
    if (!copy->overlapping) {
        blr_transfer_box(&copy->box);
        return BLR_RESULT_SUCCESS;
    }
    struct blr_box in = copy->box, out = copy->box;
    struct blr_pages snapshot;
    uint64_t slice_size = in.row_size * in.rows;
    if (!blr_pages_allocate(&snapshot, slice_size * in.slices, 64))
        return blr_fail(BLR_RESULT_OUT_OF_MEMORY,
                        "source and destination of the copy overlap, and there is no memory for the %" PRIu64
                        " bytes between them",
                        slice_size * in.slices);
    in.destination = snapshot.base;
    out.source = snapshot.base;
    in.destination_row_pitch = out.source_row_pitch = in.row_size;
    in.destination_slice_pitch = out.source_slice_pitch = slice_size;
    blr_transfer_box(&in);
    blr_transfer_box(&out);
    blr_pages_free(&snapshot);
    return BLR_RESULT_SUCCESS;
}

static blr_result_t run(struct blr_command *command)
{
    const struct image_copy_command *copy = (const struct image_copy_command *)command;
    blr_result_t result = transfer(copy);
    if (result == BLR_RESULT_SUCCESS && copy->decodes) {
        const struct blr_image *image = copy->destination.image;
        const uint64_t extent[3] = {copy->box.row_size / blr_pixel_size(image->desc.channel_type, image->desc.num_channels),
                                    copy->box.rows, copy->box.slices};
        blr_texels_decode(image, copy->first, extent);
    }
    return result;
}

/* ---------------------------------------------------------------- checks */

/* Adds b * c to a; false on overflow. */
static bool add_product(uint64_t a, uint64_t b, uint64_t c, uint64_t *sum)
{
    if (b != 0 && c > UINT64_MAX / b)
        return false;
    *sum = a + b * c;
    return *sum >= a;
}

static blr_result_t resolve_image(struct side *side, const blr_copy_endpoint_t *end, const uint64_t extent[3],
                                  uint32_t pixel_size)
{
    static const char *const axes[] = {"x", "y", "z"};
    struct blr_image *image = side->image;
    const blr_image_desc_t *desc = &image->desc;
    if (desc->type == BLR_IMAGE_MIPMAP)
        return blr_fail(BLR_RESULT_INVALID_ARGUMENT, "the %s is a mipmap: copy its levels, by blrImageGetLevel",
                        side->name);
    uint32_t own = blr_pixel_size(desc->channel_type, desc->num_channels);
    if (own != pixel_size)
        return blr_fail(BLR_RESULT_INVALID_FORMAT,
                        "pixel size %u: the pixels of the %s image have %u bytes, and bits are copied between pixels "
                        "of equal size",
                        pixel_size, side->name, own);
    const struct blr_texture_level *level = &image->level[0];
    uint64_t depth = blr_image_layers(desc) > 1 ? blr_image_layers(desc) : level->depth;
    const uint64_t bounds[3] = {level->width, level->height, depth};
    for (int i = 0; i < 3; i++)
        if (end->offset[i] > bounds[i] || extent[i] > bounds[i] - end->offset[i])
            return blr_fail(BLR_RESULT_INVALID_SIZE,
                            "%s: offset %" PRIu64 " and extent %" PRIu64 " leave the %s image of %" PRIu64, axes[i],
                            end->offset[i], extent[i], side->name, bounds[i]);
    side->row_pitch = level->row_pitch;
    side->slice_pitch = level->slice_pitch;
    side->first = (unsigned char *)level->data + end->offset[2] * level->slice_pitch +
                  end->offset[1] * level->row_pitch + end->offset[0] * pixel_size;
    return BLR_RESULT_SUCCESS;
}

static blr_result_t resolve_memory(struct side *side, struct blr_context *context, const blr_copy_endpoint_t *end,
                                   const uint64_t extent[3], uint64_t row_size, uint32_t pixel_size)
{
    side->row_pitch = end->row_pitch != 0 ? end->row_pitch : row_size;
    if (extent[1] > 1 && side->row_pitch < row_size)
        return blr_fail(BLR_RESULT_INVALID_SIZE,
                        "row pitch %" PRIu64 " of the %s: at least the %" PRIu64 " bytes of a row are needed, or 0 for "
                        "packed rows",
                        side->row_pitch, side->name, row_size);
    uint64_t slice = 0, offset = 0, span = 0;
    bool fits = add_product(row_size, side->row_pitch, extent[1] - 1, &slice);
    side->slice_pitch = end->slice_pitch;
    if (fits && side->slice_pitch == 0)
        fits = add_product(0, side->row_pitch, extent[1], &side->slice_pitch);
    if (fits && extent[2] > 1 && side->slice_pitch < slice)
        return blr_fail(BLR_RESULT_INVALID_SIZE,
                        "slice pitch %" PRIu64 " of the %s: at least the %" PRIu64 " bytes of a slice are needed, or 0 "
                        "for packed slices",
                        side->slice_pitch, side->name, slice);
    fits = fits && add_product(0, end->offset[0], pixel_size, &offset) &&
           add_product(offset, end->offset[1], side->row_pitch, &offset) &&
           add_product(offset, end->offset[2], side->slice_pitch, &offset) &&
           add_product(slice, side->slice_pitch, extent[2] - 1, &span) && offset + span >= offset;
    if (!fits)
        return blr_fail(BLR_RESULT_INVALID_SIZE,
                        "the %s: offset %" PRIu64 ", %" PRIu64 ", %" PRIu64 " and extent %" PRIu64 ", %" PRIu64
                        ", %" PRIu64 " with pitches %" PRIu64 " and %" PRIu64 " are more than memory has",
                        side->name, end->offset[0], end->offset[1], end->offset[2], extent[0], extent[1], extent[2],
                        side->row_pitch, side->slice_pitch);
    blr_result_t result = blr_memory_use(context, end->pointer, offset + span, side->name, &side->memory);
    if (result == BLR_RESULT_SUCCESS)
        side->first = (unsigned char *)end->pointer + offset;
    return result;
}

static blr_result_t resolve(struct side *side, const char *name, struct blr_context *context,
                            const blr_copy_endpoint_t *end, const uint64_t extent[3], uint32_t pixel_size)
{
    side->name = name;
    uint64_t row_size = extent[0] * pixel_size;
    blr_result_t result;
    if (end->image == NULL) {
        result = resolve_memory(side, context, end, extent, row_size, pixel_size);
    } else {
        side->image = blr_image_acquire(end->image);
        if (side->image == NULL)
            return BLR_RESULT_INVALID_HANDLE;
        if (side->image->context != context)
            return blr_fail(BLR_RESULT_INVALID_HANDLE, "the %s image is of another context than the queue", name);
        result = resolve_image(side, end, extent, pixel_size);
    }
    side->span = side->slice_pitch * (extent[2] - 1) + side->row_pitch * (extent[1] - 1) + row_size;
    return result;
}

static bool spans_overlap(const struct side *a, const struct side *b)
{
    uintptr_t from = (uintptr_t)a->first, to = (uintptr_t)b->first;
    return from < to ? to - from < a->span : from - to < b->span;
}

/* Whether source and destination regions of one image overlap. */
static bool boxes_overlap(const blr_copy_region_t *region, const uint64_t extent[3])
{
    for (int i = 0; i < 3; i++) {
        uint64_t a = region->source.offset[i], b = region->destination.offset[i];
        if ((a > b ? a - b : b - a) >= extent[i])
            return false;
    }
    return true;
}

static blr_result_t prepare(struct image_copy_command *copy, struct blr_queue *queue, const blr_copy_region_t *region)
{
    uint64_t extent[3] = {region->extent[0], region->extent[1], region->extent[2]};
    if (region->pixel_size == 0 || region->pixel_size > BLR_MAX_PIXEL_SIZE)
        return blr_fail(BLR_RESULT_INVALID_FORMAT, "pixel size %u: 1 to %d bytes are needed", region->pixel_size,
                        BLR_MAX_PIXEL_SIZE);
    if (extent[0] == 0)
        return blr_fail(BLR_RESULT_INVALID_SIZE, "a copy of width 0: at least 1 pixel is needed");
    for (int i = 1; i < 3; i++)
        if (extent[i] == 0)
            extent[i] = 1;
    if (extent[0] > UINT64_MAX / region->pixel_size)
        return blr_fail(BLR_RESULT_INVALID_SIZE, "rows of %" PRIu64 " pixels are more than memory has", extent[0]);
    blr_result_t result = resolve(&copy->source, "source", queue->context, &region->source, extent, region->pixel_size);
    if (result == BLR_RESULT_SUCCESS)
        result = resolve(&copy->destination, "destination", queue->context, &region->destination, extent,
                         region->pixel_size);
    if (result != BLR_RESULT_SUCCESS)
        return result;
    if (copy->source.image != NULL && copy->source.image == copy->destination.image) {
        if (boxes_overlap(region, extent))
            return blr_fail(BLR_RESULT_INVALID_ARGUMENT,
                            "source and destination of the copy overlap in one image: copy through other memory");
    } else {
        copy->overlapping = spans_overlap(&copy->source, &copy->destination);
    }
    copy->box = (struct blr_box){
        .destination = copy->destination.first,
        .source = copy->source.first,
        .row_size = extent[0] * region->pixel_size,
        .rows = extent[1],
        .slices = extent[2],
        .destination_row_pitch = copy->destination.row_pitch,
        .destination_slice_pitch = copy->destination.slice_pitch,
        .source_row_pitch = copy->source.row_pitch,
        .source_slice_pitch = copy->source.slice_pitch,
    };
    copy->decodes = copy->destination.image != NULL && blr_block_format_get(copy->destination.image->desc.channel_type) != NULL;
    memcpy(copy->first, region->destination.offset, sizeof copy->first);
    /* A block takes about as long as its texels. */
    const uint64_t bytes = copy->box.row_size * copy->box.rows * copy->box.slices * (copy->decodes ? BLR_BLOCK_TEXELS : 1);
    copy->command.is_repeatable = true;
    copy->command.is_brief = bytes <= BLR_BRIEF_BYTES;
    copy->command.is_instant = blr_transfer_is_instant(queue->in_order, bytes);
    return BLR_RESULT_SUCCESS;
}

blr_result_t blrEnqueueCopyImage(blr_queue_t handle, const blr_copy_region_t *region, uint32_t num_waits,
                                 const blr_event_t *waits, blr_event_t *event)
{
    struct blr_queue *queue = blr_queue_acquire(handle);
    if (queue == NULL)
        return BLR_RESULT_INVALID_HANDLE;
    blr_result_t result = BLR_RESULT_OUT_OF_MEMORY;
    struct image_copy_command *copy;
    if (region == NULL) {
        result = blr_fail(BLR_RESULT_INVALID_ARGUMENT, "region is NULL: a description of the copy is needed");
    } else if ((copy = blr_command_new(sizeof *copy, run, release)) != NULL) {
        result = prepare(copy, queue, region);
        if (result == BLR_RESULT_SUCCESS)
            result = blr_submit(queue, &copy->command, num_waits, waits, event);
        else
            blr_command_discard(&copy->command);
    }
    blr_queue_release(queue);
    return result;
}
