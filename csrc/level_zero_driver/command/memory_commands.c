/* Commands on memory: copies of bytes and boxes, fills, prefetch and advice hints. */
#include "level_zero_driver/driver/device.h"
#include "level_zero_driver/command/command_list.h"
#include "reference/memory/parallel_copy.h"
#include "level_zero_driver/command/memory_ranges.h"

#include <inttypes.h>
#include <string.h>

/* ---------------------------------------------------------------- bytes */

struct copy_command {
    struct blz_command command;
    struct blz_region source, destination;
    void *to;
    const void *from;
    uint64_t size;
};

static ze_result_t check_both(const struct blz_region *source, const struct blz_region *destination)
{
    ze_result_t result = blz_region_check_access(source, false);
    return result == ZE_RESULT_SUCCESS ? blz_region_check_access(destination, true) : result;
}

static ze_result_t run_copy(const struct blz_command *command)
{
    const struct copy_command *own = (const struct copy_command *)command;
    ze_result_t result = check_both(&own->source, &own->destination);
    if (result == ZE_RESULT_SUCCESS)
        blr_transfer_line(own->to, own->from, own->size);
    return result;
}

static void release_copy(struct blz_command *command)
{
    struct copy_command *own = (struct copy_command *)command;
    blz_region_release(&own->source);
    blz_region_release(&own->destination);
}

static ze_result_t fill_copy(struct copy_command *own, void *to, const void *from, size_t size)
{
    own->to = to;
    own->from = from;
    own->size = size;
    own->command.is_instant = blr_transfer_is_instant(false, size);
    ze_result_t result = blz_region_keep(&own->destination, to, size, "dstptr");
    return result == ZE_RESULT_SUCCESS ? blz_region_keep(&own->source, from, size, "srcptr") : result;
}

/* Releases the list. */
static ze_result_t append_copy(struct blz_list *list, void *to, const void *from, size_t size, ze_event_handle_t signal,
                               uint32_t wait_count, ze_event_handle_t *waits)
{
    struct copy_command *own = blz_command_new(sizeof *own, run_copy, release_copy);
    ze_result_t result = own == NULL ? ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY : fill_copy(own, to, from, size);
    return blz_list_end(list, (struct blz_command *)own, result, signal, wait_count, waits);
}

ze_result_t zeCommandListAppendMemoryCopy(ze_command_list_handle_t handle, void *to, const void *from, size_t size,
                                          ze_event_handle_t signal, uint32_t wait_count, ze_event_handle_t *waits)
{
    struct blz_list *list;
    ze_result_t result = blz_list_acquire(handle, BLZ_LIST_COPY, &list);
    return result == ZE_RESULT_SUCCESS ? append_copy(list, to, from, size, signal, wait_count, waits) : result;
}

ze_result_t zeCommandListAppendMemoryCopyFromContext(ze_command_list_handle_t handle, void *to, ze_context_handle_t context_handle,
                                                     const void *from, size_t size, ze_event_handle_t signal, uint32_t wait_count,
                                                     ze_event_handle_t *waits)
{
    struct blz_list *list;
    struct blz_context *source_context = NULL;
    ze_result_t result = blz_list_acquire(handle, BLZ_LIST_COPY, &list);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    if (context_handle != NULL) /* without it the source is in the list's context */
        result = blz_context_acquire(context_handle, &source_context);
    if (result != ZE_RESULT_SUCCESS) {
        blz_list_release(list);
        return result;
    }
    result = append_copy(list, to, from, size, signal, wait_count, waits);
    if (source_context != NULL)
        blz_context_release(source_context);
    return result;
}

/* ---------------------------------------------------------------- fills */

struct fill_command {
    struct blz_command command;
    struct blz_region destination;
    void *to;
    uint64_t pattern_size, count;
    unsigned char pattern[BLZ_MAX_FILL_PATTERN];
};

static ze_result_t run_fill(const struct blz_command *command)
{
    const struct fill_command *own = (const struct fill_command *)command;
    ze_result_t result = blz_region_check_access(&own->destination, true);
    if (result == ZE_RESULT_SUCCESS)
        blr_transfer_pattern(own->to, own->pattern, own->pattern_size, own->count);
    return result;
}

static void release_fill(struct blz_command *command) { blz_region_release(&((struct fill_command *)command)->destination); }

static ze_result_t fill_in(struct fill_command *own, void *to, const void *pattern, size_t pattern_size, size_t size)
{
    if (pattern == NULL)
        return blz_fail_null("pattern");
    if (pattern_size == 0 || pattern_size > BLZ_MAX_FILL_PATTERN || (pattern_size & (pattern_size - 1)) != 0)
        return blz_fail(ZE_RESULT_ERROR_INVALID_SIZE, "a pattern of %zu bytes: a power of two up to %u is needed", pattern_size,
                        BLZ_MAX_FILL_PATTERN);
    if (size % pattern_size != 0)
        return blz_fail(ZE_RESULT_ERROR_INVALID_SIZE, "%zu bytes to fill are not a multiple of the pattern's %zu bytes", size,
                        pattern_size);
    own->to = to;
    own->pattern_size = pattern_size;
    own->count = size / pattern_size;
    own->command.is_instant = blr_transfer_is_instant(false, size);
    memcpy(own->pattern, pattern, pattern_size);
    return blz_region_keep(&own->destination, to, size, "ptr");
}

ze_result_t zeCommandListAppendMemoryFill(ze_command_list_handle_t handle, void *to, const void *pattern, size_t pattern_size,
                                          size_t size, ze_event_handle_t signal, uint32_t wait_count, ze_event_handle_t *waits)
{
    struct blz_list *list;
    ze_result_t result = blz_list_acquire(handle, BLZ_LIST_COPY, &list);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    struct fill_command *own = blz_command_new(sizeof *own, run_fill, release_fill);
    result = own == NULL ? ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY : fill_in(own, to, pattern, pattern_size, size);
    return blz_list_end(list, (struct blz_command *)own, result, signal, wait_count, waits);
}

/* ---------------------------------------------------------------- boxes */

struct box_command {
    struct blz_command command;
    struct blz_region source, destination;
    struct blr_box box;
};

/* One side of a box copy: the offset of its first byte, and its pitches. */
struct side {
    const ze_copy_region_t *region;
    uint64_t pitch, slice_pitch;
    uint64_t offset; /* of the first byte of the box */
    uint64_t reach;  /* bytes from the first byte to the end of the last */
};

static ze_result_t run_box(const struct blz_command *command)
{
    const struct box_command *own = (const struct box_command *)command;
    ze_result_t result = check_both(&own->source, &own->destination);
    if (result == ZE_RESULT_SUCCESS)
        blr_transfer_box(&own->box);
    return result;
}

static void release_box(struct blz_command *command)
{
    struct box_command *own = (struct box_command *)command;
    blz_region_release(&own->source);
    blz_region_release(&own->destination);
}

/* Requires a box that is not empty. Sizes are below 2^32 each, so that no product of two exceeds 64 bits. A pitch of
 * 0 means contiguous rows or slices. */
static ze_result_t measure(struct side *side, const char *name)
{
    const ze_copy_region_t *region = side->region;
    uint64_t slices = region->depth > 0 ? region->depth : 1;
    if (side->pitch == 0)
        side->pitch = region->width;
    if (side->slice_pitch == 0)
        side->slice_pitch = side->pitch * region->height;
    bool rows_overlap = region->height > 1 && side->pitch < region->width;
    bool slices_overlap = slices > 1 && side->slice_pitch < side->pitch * (region->height - 1) + region->width;
    if (rows_overlap || slices_overlap)
        return blz_fail(ZE_RESULT_ERROR_INVALID_SIZE,
                        "%s: rows of %u bytes %" PRIu64 " bytes apart, %u of them a slice, slices %" PRIu64 " bytes apart: they overlap", name,
                        region->width, side->pitch, region->height, side->slice_pitch);
    uint64_t rows = side->pitch * (region->height - 1) + region->width;
    if (side->slice_pitch > UINT64_MAX / 4 / ((uint64_t)slices + region->originZ))
        return blz_fail(ZE_RESULT_ERROR_INVALID_SIZE, "%s: %" PRIu64 " slices %" PRIu64 " bytes apart exceed the address space", name, slices,
                        side->slice_pitch);
    side->offset = region->originZ * side->slice_pitch + region->originY * side->pitch + region->originX;
    side->reach = side->slice_pitch * (slices - 1) + rows;
    return ZE_RESULT_SUCCESS;
}

static ze_result_t set_box(struct box_command *own, void *to, struct side *destination, const void *from, struct side *source)
{
    if (destination->region == NULL || source->region == NULL)
        return blz_fail_null(destination->region == NULL ? "dstRegion" : "srcRegion");
    const ze_copy_region_t *d = destination->region, *s = source->region;
    if (d->width != s->width || d->height != s->height || (d->depth > 1 ? d->depth : 1) != (s->depth > 1 ? s->depth : 1))
        return blz_fail(ZE_RESULT_ERROR_INVALID_SIZE, "dstRegion is %u x %u x %u, srcRegion %u x %u x %u: both extents must be equal", d->width,
                        d->height, d->depth, s->width, s->height, s->depth);
    if (to == NULL || from == NULL)
        return blz_fail_null(to == NULL ? "dstptr" : "srcptr");
    if (d->width == 0 || d->height == 0) /* an empty box, like a copy of size 0 */
        return ZE_RESULT_SUCCESS;
    ze_result_t result = measure(destination, "dstRegion");
    if (result == ZE_RESULT_SUCCESS)
        result = measure(source, "srcRegion");
    if (result != ZE_RESULT_SUCCESS)
        return result;
    unsigned char *first_to = (unsigned char *)to + destination->offset;
    const unsigned char *first_from = (const unsigned char *)from + source->offset;
    if (first_to < first_from + source->reach && first_from < first_to + destination->reach)
        return blz_fail(ZE_RESULT_ERROR_OVERLAPPING_REGIONS, "dstRegion and srcRegion overlap in memory");
    own->box = (struct blr_box){
        .destination = first_to,
        .source = first_from,
        .row_size = d->width,
        .rows = d->height,
        .slices = d->depth > 0 ? d->depth : 1,
        .destination_row_pitch = destination->pitch,
        .destination_slice_pitch = destination->slice_pitch,
        .source_row_pitch = source->pitch,
        .source_slice_pitch = source->slice_pitch,
    };
    own->command.is_instant = blr_transfer_is_instant(false, own->box.row_size * own->box.rows * own->box.slices);
    result = blz_region_keep(&own->destination, first_to, destination->reach, "dstptr");
    return result == ZE_RESULT_SUCCESS ? blz_region_keep(&own->source, first_from, source->reach, "srcptr") : result;
}

ze_result_t zeCommandListAppendMemoryCopyRegion(ze_command_list_handle_t handle, void *to, const ze_copy_region_t *destination,
                                                uint32_t destination_pitch, uint32_t destination_slice_pitch, const void *from,
                                                const ze_copy_region_t *source, uint32_t source_pitch, uint32_t source_slice_pitch,
                                                ze_event_handle_t signal, uint32_t wait_count, ze_event_handle_t *waits)
{
    struct blz_list *list;
    ze_result_t result = blz_list_acquire(handle, BLZ_LIST_COPY, &list);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    struct side d = {.region = destination, .pitch = destination_pitch, .slice_pitch = destination_slice_pitch};
    struct side s = {.region = source, .pitch = source_pitch, .slice_pitch = source_slice_pitch};
    struct box_command *own = blz_command_new(sizeof *own, run_box, release_box);
    result = own == NULL ? ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY : set_box(own, to, &d, from, &s);
    return blz_list_end(list, (struct blz_command *)own, result, signal, wait_count, waits);
}

/* ---------------------------------------------------------------- hints */

/* All memory is host memory: hints are checked and have no effect. */
static ze_result_t check_hint(const void *pointer, size_t size)
{
    struct blz_region region = {0};
    if (size == 0)
        return blz_fail(ZE_RESULT_ERROR_INVALID_SIZE, "size is 0: at least 1 byte is needed");
    ze_result_t result = blz_region_keep(&region, pointer, size, "ptr");
    blz_region_release(&region);
    return result;
}

ze_result_t zeCommandListAppendMemoryPrefetch(ze_command_list_handle_t handle, const void *pointer, size_t size)
{
    struct blz_list *list;
    ze_result_t result = blz_list_acquire(handle, BLZ_LIST_COPY, &list);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    result = check_hint(pointer, size);
    blz_list_release(list);
    return result;
}

ze_result_t zeCommandListAppendMemAdvise(ze_command_list_handle_t handle, ze_device_handle_t device_handle, const void *pointer,
                                         size_t size, ze_memory_advice_t advice)
{
    struct blz_list *list;
    struct blz_device *device;
    ze_result_t result = blz_list_acquire(handle, BLZ_LIST_COPY, &list);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    result = blz_device_check(device_handle, &device);
    if (result == ZE_RESULT_SUCCESS)
        result = check_hint(pointer, size);
    if (result == ZE_RESULT_SUCCESS &&
        (advice < ZE_MEMORY_ADVICE_SET_READ_MOSTLY || advice > ZE_MEMORY_ADVICE_CLEAR_SYSTEM_MEMORY_PREFERRED_LOCATION))
        result = blz_fail_enumeration("advice", advice, "0 to 9 are known");
    blz_list_release(list);
    return result;
}
