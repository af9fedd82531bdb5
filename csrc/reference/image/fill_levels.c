/* Levels of a mipmap: a command that fills each with the means of the level before.
 *
 * Pixels of level 0 may come from memory. As long as a level has half the rows and columns of the one before, rows of all
 * such levels are made in turn from the rows that were copied last, which are in the caches; the remaining levels follow
 * one by one. */
#include "image/area_mean.h"

#include "image/image_memory.h"
#include "memory/allocation.h"
#include "memory/parallel_copy.h"
#include "platform/thread_pool.h"
#include "runtime/queue.h"

#include <inttypes.h>

#define MOST_STEPS 5u /* levels that are made together, which read 32 rows at most */

/* Bytes of level 0 from which two threads share the work, and the least part of a thread. */
#define PARALLEL_FROM ((uint64_t)256 << 10)
#define LEAST_PART ((uint64_t)64 << 10)

struct levels_command {
    struct blr_command command;
    struct blr_image *mipmap;      /* retained */
    const unsigned char *pixels;   /* of level 0, contiguous; NULL: it has them */
    struct blr_allocation *memory; /* theirs, retained, or NULL */
};

static void release(struct blr_command *command)
{
    struct levels_command *own = (struct levels_command *)command;
    if (own->mipmap != NULL)
        blr_image_release(own->mipmap);
    blr_memory_release(own->memory);
}

static struct blr_area next_level(const blr_image_desc_t *desc, const struct blr_texture_level *above,
                                  const struct blr_texture_level *level)
{
    const uint32_t layers = blr_image_layers(desc);
    return (struct blr_area){.source = above->data,
                             .destination = level->data,
                             .source_row_pitch = above->row_pitch,
                             .source_slice_pitch = above->slice_pitch,
                             .destination_row_pitch = level->row_pitch,
                             .destination_slice_pitch = level->slice_pitch,
                             .source_channels = desc->num_channels,
                             .channels = desc->num_channels,
                             .format = blr_format_get(desc->channel_type),
                             .axis = {{.length = above->width, .size = level->width},
                                      {.length = above->height, .size = level->height},
                                      {.length = layers > 1 ? layers : above->depth,
                                       .size = layers > 1 ? layers : level->depth}}};
}

/* ---------------------------------------------------------------- levels that are made together */

struct together {
    struct blr_box copy;               /* of the pixels to level 0 */
    struct blr_area step[MOST_STEPS];  /* from a level to the next; the first from the pixels */
    uint32_t count;
    blr_area_rows_t rows;
    bool stream;
};

/* Copies and halves groups of 1 << count rows, numbered through all slices. */
static bool run_groups(void *argument, uint64_t begin, uint64_t end)
{
    const struct together *work = argument;
    const struct blr_box *copy = &work->copy;
    for (uint64_t row = begin << work->count; row < end << work->count; row++) {
        const uint64_t slice = row / copy->rows, y = row % copy->rows;
        blr_transfer_row(copy->destination + slice * copy->destination_slice_pitch + y * copy->destination_row_pitch,
                         copy->source + slice * copy->source_slice_pitch + y * copy->source_row_pitch, copy->row_size,
                         work->stream);
        /* A second row completes one of the next level. Heights are even: this is so through all slices. */
        uint64_t number = row;
        for (uint32_t i = 0; i < work->count && (number & 1) != 0; i++) {
            number >>= 1;
            work->rows(&work->step[i], number, number + 1, NULL);
        }
    }
    blr_transfer_row_end(work->stream);
    return true;
}

/* Fills level 0 from the pixels, and levels after it that have half the rows and columns; returns their number. */
static uint32_t fill_together(const struct levels_command *own)
{
    const struct blr_image *mipmap = own->mipmap;
    const struct blr_texture_level *level = mipmap->level;
    const uint64_t row_size = level->width * blr_pixel_size(mipmap->desc.channel_type, mipmap->desc.num_channels);
    const uint32_t layers = blr_image_layers(&mipmap->desc);
    struct together work = {.copy = {.destination = level->data,
                                     .source = own->pixels,
                                     .row_size = row_size,
                                     .rows = level->height,
                                     .slices = layers > 1 ? layers : level->depth,
                                     .destination_row_pitch = level->row_pitch,
                                     .destination_slice_pitch = level->slice_pitch,
                                     .source_row_pitch = row_size,
                                     .source_slice_pitch = row_size * level->height},
                            .rows = blr_area_best_rows()};
    for (; work.count < MOST_STEPS && work.count + 1 < mipmap->desc.num_levels; work.count++) {
        struct blr_area *step = &work.step[work.count];
        *step = next_level(&mipmap->desc, &level[work.count], &level[work.count + 1]);
        if (!blr_area_prepare_halving(step))
            break;
    }
    if (work.count == 0) {
        blr_transfer_box(&work.copy);
        return 0;
    }
    work.step[0].source = own->pixels;
    work.step[0].source_row_pitch = work.copy.source_row_pitch;
    work.step[0].source_slice_pitch = work.copy.source_slice_pitch;
    const uint64_t groups = (work.copy.rows * work.copy.slices) >> work.count, group = row_size << work.count;
    const uint64_t total = groups * group;
    work.stream = blr_transfer_streams(total);
    blr_parallel_for(groups, total < PARALLEL_FROM ? groups : blr_parallel_grain(groups, LEAST_PART / group + 1), run_groups,
                     &work);
    return work.count;
}

/* ---------------------------------------------------------------- the command */

static blr_result_t run(struct blr_command *command)
{
    const struct levels_command *own = (const struct levels_command *)command;
    const struct blr_image *mipmap = own->mipmap;
    const uint32_t filled = own->pixels != NULL ? fill_together(own) : 0;
    blr_result_t result = BLR_RESULT_SUCCESS;
    for (uint32_t i = filled + 1; i < mipmap->desc.num_levels && result == BLR_RESULT_SUCCESS; i++) {
        struct blr_area area = next_level(&mipmap->desc, &mipmap->level[i - 1], &mipmap->level[i]);
        result = blr_area_mean(&area);
    }
    return result;
}

static blr_result_t prepare(struct levels_command *own, struct blr_queue *queue, blr_image_t mipmap, const void *pixels)
{
    own->mipmap = blr_image_acquire(mipmap);
    if (own->mipmap == NULL)
        return BLR_RESULT_INVALID_HANDLE;
    const blr_image_desc_t *desc = &own->mipmap->desc;
    if (own->mipmap->context != queue->context)
        return blr_fail(BLR_RESULT_INVALID_HANDLE, "the mipmap is of another context than the queue");
    if (desc->type != BLR_IMAGE_MIPMAP)
        return blr_fail(BLR_RESULT_INVALID_ARGUMENT, "the image has one level: a mipmap has levels to fill");
    const struct blr_format *format = blr_format_get(desc->channel_type);
    if (!blr_format_is_plain(format))
        return blr_fail(BLR_RESULT_INVALID_FORMAT, "channel type %d: SNORM_INT8 (0) to FP32 (11) have means of areas",
                        (int)desc->channel_type);
    own->command.is_repeatable = true;
    own->pixels = pixels;
    if (pixels == NULL)
        return BLR_RESULT_SUCCESS;
    if ((uintptr_t)pixels % format->size != 0)
        return blr_fail(BLR_RESULT_INVALID_ARGUMENT, "the pixels at 0x%" PRIxPTR " are not aligned to elements of %u bytes",
                        (uintptr_t)pixels, (unsigned)format->size);
    const struct blr_texture_level *level = own->mipmap->level;
    const uint64_t slices = (uint64_t)level->depth * blr_image_layers(desc);
    const uint64_t size = blr_pixel_size(desc->channel_type, desc->num_channels) * level->width * level->height * slices;
    return blr_memory_use(queue->context, pixels, size, "pixels", &own->memory);
}

blr_result_t blrEnqueueFillLevels(blr_queue_t handle, blr_image_t mipmap, const void *pixels, uint32_t num_waits,
                                  const blr_event_t *waits, blr_event_t *event)
{
    struct blr_queue *queue = blr_queue_acquire(handle);
    if (queue == NULL)
        return BLR_RESULT_INVALID_HANDLE;
    blr_result_t result = BLR_RESULT_OUT_OF_MEMORY;
    struct levels_command *own = blr_command_new(sizeof *own, run, release);
    if (own != NULL) {
        result = prepare(own, queue, mipmap, pixels);
        if (result == BLR_RESULT_SUCCESS)
            result = blr_submit(queue, &own->command, num_waits, waits, event);
        else
            blr_command_discard(&own->command);
    }
    blr_queue_release(queue);
    return result;
}
