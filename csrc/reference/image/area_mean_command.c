/* Means of areas of an image or memory, as commands and without a queue. */
#include "image/area_mean.h"

#include "image/image_memory.h"
#include "memory/allocation.h"
#include "memory/parallel_copy.h"
#include "platform/heap.h"
#include "runtime/queue.h"

#include <inttypes.h>

/* One side: the address of its first pixel, and what the command retains. */
struct side {
    const char *name;
    struct blr_image *image;       /* retained, or NULL */
    struct blr_allocation *memory; /* retained, or NULL */
    unsigned char *first;
    uint64_t row_pitch, slice_pitch;
};

struct area_command {
    struct blr_command command;
    struct side source, destination;
    struct blr_area area;
};

static void release_side(struct side *side)
{
    if (side->image != NULL)
        blr_image_release(side->image);
    blr_memory_release(side->memory);
}

static void release(struct blr_command *command)
{
    struct area_command *own = (struct area_command *)command;
    release_side(&own->source);
    release_side(&own->destination);
}

static blr_result_t run(struct blr_command *command)
{
    struct area_command *own = (struct area_command *)command;
    struct blr_area area = own->area; /* a batch runs the command again */
    return blr_area_mean(&area);
}

/* ---------------------------------------------------------------- checks */

/* Checks that three factors and an element size span memory. */
static bool spans(const uint64_t extent[3], uint64_t row_pitch, uint64_t slice_pitch, uint64_t row_size, uint64_t *span)
{
    const uint64_t maximum = (uint64_t)1 << 62;
    if (extent[1] > 1 && row_pitch > maximum / (extent[1] - 1))
        return false;
    if (extent[2] > 1 && slice_pitch > maximum / (extent[2] - 1))
        return false;
    *span = (extent[1] - 1) * row_pitch + (extent[2] - 1) * slice_pitch + row_size;
    return *span <= maximum;
}

static blr_result_t resolve_image(struct side *side, const blr_area_mean_t *mean, const blr_copy_endpoint_t *end,
                                  const uint64_t extent[3], uint32_t channels)
{
    static const char *const axes[] = {"x", "y", "z"};
    const blr_image_desc_t *desc = &side->image->desc;
    const struct blr_texture_level *level = &side->image->level[0];
    if (desc->type == BLR_IMAGE_MIPMAP)
        return blr_fail(BLR_RESULT_INVALID_ARGUMENT, "the %s is a mipmap: take one level, by blrImageGetLevel", side->name);
    if (desc->channel_type != mean->channel_type || desc->num_channels != channels)
        return blr_fail(BLR_RESULT_INVALID_FORMAT, "%u channels of type %d: the %s image has %u of type %d", channels,
                        (int)mean->channel_type, side->name, desc->num_channels, (int)desc->channel_type);
    const uint64_t layers = blr_image_layers(desc);
    const uint64_t bounds[3] = {level->width, level->height, layers > 1 ? layers : level->depth};
    for (int i = 0; i < 3; i++)
        if (end->offset[i] > bounds[i] || extent[i] > bounds[i] - end->offset[i])
            return blr_fail(BLR_RESULT_INVALID_SIZE,
                            "%s: offset %" PRIu64 " and extent %" PRIu64 " leave the %s image of %" PRIu64, axes[i],
                            end->offset[i], extent[i], side->name, bounds[i]);
    side->row_pitch = level->row_pitch;
    side->slice_pitch = level->slice_pitch;
    side->first = (unsigned char *)level->data + end->offset[2] * level->slice_pitch +
                  end->offset[1] * level->row_pitch +
                  end->offset[0] * blr_pixel_size(desc->channel_type, desc->num_channels);
    return BLR_RESULT_SUCCESS;
}

/* context is NULL for memory that is not looked up. */
static blr_result_t resolve_memory(struct side *side, struct blr_context *context, const blr_copy_endpoint_t *end,
                                   const uint64_t extent[3], uint32_t element, uint32_t channels)
{
    const uint64_t row_size = extent[0] * channels * element;
    if (end->offset[0] != 0 || end->offset[1] != 0 || end->offset[2] != 0)
        return blr_fail(BLR_RESULT_INVALID_ARGUMENT, "the %s has an offset: memory begins at its pointer", side->name);
    side->first = end->pointer;
    side->row_pitch = end->row_pitch != 0 ? end->row_pitch : row_size;
    if (side->row_pitch < row_size && extent[1] > 1)
        return blr_fail(BLR_RESULT_INVALID_SIZE, "row pitch %" PRIu64 " of the %s: at least %" PRIu64 " bytes, or 0",
                        side->row_pitch, side->name, row_size);
    if (side->row_pitch > UINT64_MAX / extent[1])
        return blr_fail(BLR_RESULT_INVALID_SIZE, "row pitch %" PRIu64 " of the %s: rows are more than memory has",
                        side->row_pitch, side->name);
    side->slice_pitch = end->slice_pitch != 0 ? end->slice_pitch : side->row_pitch * extent[1];
    uint64_t span = 0;
    if (!spans(extent, side->row_pitch, side->slice_pitch, row_size, &span))
        return blr_fail(BLR_RESULT_INVALID_SIZE,
                        "the %s: pitches %" PRIu64 " and %" PRIu64 " of %" PRIu64 " rows and %" PRIu64
                        " slices are more than memory has",
                        side->name, side->row_pitch, side->slice_pitch, extent[1], extent[2]);
    if (extent[2] > 1 && side->slice_pitch < (extent[1] - 1) * side->row_pitch + row_size)
        return blr_fail(BLR_RESULT_INVALID_SIZE, "slice pitch %" PRIu64 " of the %s: less than a slice, and not 0",
                        side->slice_pitch, side->name);
    if ((uintptr_t)side->first % element != 0 || side->row_pitch % element != 0 || side->slice_pitch % element != 0)
        return blr_fail(BLR_RESULT_INVALID_ARGUMENT,
                        "the %s at 0x%" PRIxPTR " with pitches %" PRIu64 " and %" PRIu64
                        " is not aligned to its elements of %u bytes",
                        side->name, (uintptr_t)side->first, side->row_pitch, side->slice_pitch, element);
    if (context != NULL)
        return blr_memory_use(context, end->pointer, span, side->name, &side->memory);
    if (end->pointer == NULL)
        return blr_fail(BLR_RESULT_INVALID_ARGUMENT, "the %s is NULL: an address is needed", side->name);
    return BLR_RESULT_SUCCESS;
}

static blr_result_t resolve(struct side *side, const char *name, struct blr_context *context, const blr_area_mean_t *mean,
                            const blr_copy_endpoint_t *end, const uint64_t extent[3], uint32_t element, uint32_t channels)
{
    side->name = name;
    if (end->image == NULL)
        return resolve_memory(side, context, end, extent, element, channels);
    if (context == NULL)
        return blr_fail(BLR_RESULT_INVALID_ARGUMENT, "the %s is an image: only commands of a queue take images", name);
    side->image = blr_image_acquire(end->image);
    if (side->image == NULL)
        return BLR_RESULT_INVALID_HANDLE;
    if (side->image->context != context)
        return blr_fail(BLR_RESULT_INVALID_HANDLE, "the %s image is of another context than the queue", name);
    return resolve_image(side, mean, end, extent, channels);
}

static blr_result_t check_form(const blr_area_mean_t *mean, uint64_t extent[3], uint64_t size[3])
{
    static const char *const axes[] = {"x", "y", "z"};
    const struct blr_format *format = blr_format_get(mean->channel_type);
    if (format == NULL || !blr_format_is_plain(format))
        return blr_fail(BLR_RESULT_INVALID_FORMAT, "channel type %d: SNORM_INT8 (0) to FP32 (11) have means of areas",
                        (int)mean->channel_type);
    if (mean->destination_type != format->storage && mean->destination_type != BLR_ELEMENT_F32)
        return blr_fail(BLR_RESULT_INVALID_FORMAT,
                        "destination type %d: means of %s are stored as it (%d) or as floats (%d)",
                        (int)mean->destination_type, format->name, (int)format->storage, (int)BLR_ELEMENT_F32);
    if (mean->destination.image != NULL && mean->destination_type != format->storage)
        return blr_fail(BLR_RESULT_INVALID_FORMAT, "destination type %d: the destination is an image of %s",
                        (int)mean->destination_type, format->name);
    if (mean->source_channels < 1 || mean->source_channels > BLR_MAX_CHANNELS || mean->destination_channels < 1 ||
        mean->destination_channels > mean->source_channels)
        return blr_fail(BLR_RESULT_INVALID_FORMAT,
                        "%u channels of %u: a source has 1 to %d, a destination as many or the first ones",
                        mean->destination_channels, mean->source_channels, BLR_MAX_CHANNELS);
    for (int i = 0; i < 3; i++) {
        extent[i] = mean->extent[i] == 0 && i > 0 ? 1 : mean->extent[i];
        size[i] = mean->size[i] == 0 && i > 0 ? 1 : mean->size[i];
        if (extent[i] > INT32_MAX || size[i] == 0 || size[i] > extent[i])
            return blr_fail(BLR_RESULT_INVALID_SIZE, "%s: %" PRIu64 " means of %" PRIu64 " pixels: 1 to all pixels, below 2^31",
                            axes[i], size[i], extent[i]);
    }
    return BLR_RESULT_SUCCESS;
}

static bool overlap(const struct blr_area *area, const struct side *source, const struct side *destination,
                    const uint64_t extent[3], const uint64_t size[3])
{
    const uint64_t from = (uintptr_t)source->first, to = (uintptr_t)destination->first;
    const uint64_t read = source->slice_pitch * (extent[2] - 1) + source->row_pitch * (extent[1] - 1) +
                          extent[0] * area->source_channels * area->format->size;
    const uint64_t written = destination->slice_pitch * (size[2] - 1) + destination->row_pitch * (size[1] - 1) +
                             size[0] * area->channels * (area->unrounded ? 4 : area->format->size);
    return from < to ? to - from < read : from - to < written;
}

static blr_result_t prepare(struct area_command *own, struct blr_context *context, const blr_area_mean_t *mean)
{
    uint64_t extent[3], size[3];
    blr_result_t result = check_form(mean, extent, size);
    if (result != BLR_RESULT_SUCCESS)
        return result;
    struct blr_area *area = &own->area;
    area->format = blr_format_get(mean->channel_type);
    area->unrounded = mean->destination_type != area->format->storage;
    area->source_channels = mean->source_channels;
    area->channels = mean->destination_channels;
    result = resolve(&own->source, "source", context, mean, &mean->source, extent, area->format->size,
                     mean->source_channels);
    if (result == BLR_RESULT_SUCCESS)
        result = resolve(&own->destination, "destination", context, mean, &mean->destination, size,
                         blr_element_size(mean->destination_type), mean->destination_channels);
    if (result != BLR_RESULT_SUCCESS)
        return result;
    if (overlap(area, &own->source, &own->destination, extent, size))
        return blr_fail(BLR_RESULT_INVALID_ARGUMENT, "source and destination of means overlap in memory");
    area->source = own->source.first;
    area->source_row_pitch = own->source.row_pitch;
    area->source_slice_pitch = own->source.slice_pitch;
    area->destination = own->destination.first;
    area->destination_row_pitch = own->destination.row_pitch;
    area->destination_slice_pitch = own->destination.slice_pitch;
    for (int i = 0; i < 3; i++) {
        area->axis[i].length = (uint32_t)extent[i];
        area->axis[i].size = (uint32_t)size[i];
    }
    return BLR_RESULT_SUCCESS;
}

blr_result_t blrAreaMean(const blr_area_mean_t *mean)
{
    if (mean == NULL)
        return blr_fail(BLR_RESULT_INVALID_ARGUMENT, "mean is NULL: a description of the means is needed");
    struct area_command own = {0};
    blr_result_t result = prepare(&own, NULL, mean);
    return result == BLR_RESULT_SUCCESS ? blr_area_mean(&own.area) : result;
}

blr_result_t blrEnqueueAreaMean(blr_queue_t handle, const blr_area_mean_t *mean, uint32_t num_waits,
                                const blr_event_t *waits, blr_event_t *event)
{
    struct blr_queue *queue = blr_queue_acquire(handle);
    if (queue == NULL)
        return BLR_RESULT_INVALID_HANDLE;
    blr_result_t result = BLR_RESULT_OUT_OF_MEMORY;
    struct area_command *own;
    if (mean == NULL) {
        result = blr_fail(BLR_RESULT_INVALID_ARGUMENT, "mean is NULL: a description of the means is needed");
    } else if ((own = blr_command_new(sizeof *own, run, release)) != NULL) {
        result = prepare(own, queue->context, mean);
        own->command.is_repeatable = true;
        if (result == BLR_RESULT_SUCCESS)
            result = blr_submit(queue, &own->command, num_waits, waits, event);
        else
            blr_command_discard(&own->command);
    }
    blr_queue_release(queue);
    return result;
}
