/* B-spline coefficients as a command, and without a queue. */
#include "image/spline_filter.h"

#include "memory/allocation.h"
#include "runtime/queue.h"

#include <inttypes.h>
#include <math.h>

#define MOST_CHANNELS 4u

struct spline_command {
    struct blr_command command;
    struct blr_allocation *source, *target; /* retained, or NULL */
    struct blr_spline spline;
};

static void release(struct blr_command *command)
{
    struct spline_command *own = (struct spline_command *)command;
    blr_memory_release(own->source);
    blr_memory_release(own->target);
}

static blr_result_t run(struct blr_command *command)
{
    struct blr_spline spline = ((struct spline_command *)command)->spline; /* a batch runs the command again */
    return blr_spline_filter(&spline);
}

/* Bytes of `count` arrays of samples; 0 if they are more than memory has. */
static uint64_t bytes_of(const uint64_t size[3], uint64_t channels, uint64_t count)
{
    const uint64_t factors[4] = {size[0], size[1], size[2], count}, most = (uint64_t)1 << 62;
    uint64_t bytes = channels * sizeof(float);
    for (int i = 0; i < 4; i++) {
        if (factors[i] > most / bytes)
            return 0;
        bytes *= factors[i];
    }
    return bytes;
}

static blr_result_t check_form(struct blr_spline *spline, const blr_spline_filter_t *filter)
{
    static const char *const axes[] = {"x", "y", "z"};
    if (filter->channels < 1 || filter->channels > MOST_CHANNELS)
        return blr_fail(BLR_RESULT_INVALID_ARGUMENT, "%u channels: 1 to %u are filtered", filter->channels, MOST_CHANNELS);
    if (filter->dimensions < 1 || filter->dimensions > 3)
        return blr_fail(BLR_RESULT_INVALID_ARGUMENT, "%u dimensions: 1 (along x), 2 or 3", filter->dimensions);
    if (filter->count == 0)
        return blr_fail(BLR_RESULT_INVALID_SIZE, "0 arrays: a filter needs at least one");
    for (uint32_t i = 0; i < 3; i++) {
        const bool filtered = i < filter->dimensions;
        if (filter->extent[i] < 1 || filter->extent[i] > INT32_MAX)
            return blr_fail(BLR_RESULT_INVALID_SIZE, "%s: %" PRIu64 " samples: 1 or more, below 2^31", axes[i],
                            filter->extent[i]);
        if (filter->margin[i] > (filtered ? INT32_MAX : 0))
            return blr_fail(BLR_RESULT_INVALID_SIZE, "%s: margin %" PRIu64 ": below 2^31, and 0 for axes that are not filtered",
                            axes[i], filter->margin[i]);
        if (filtered && (filter->boundary[i] < BLR_SPLINE_MIRROR || filter->boundary[i] > BLR_SPLINE_REPEAT))
            return blr_fail(BLR_RESULT_INVALID_ARGUMENT, "%s: boundary %d is unknown", axes[i], (int)filter->boundary[i]);
        spline->extent[i] = filter->extent[i];
        spline->margin[i] = filter->margin[i];
        spline->size[i] = filter->extent[i] + 2 * filter->margin[i];
        spline->boundary[i] = filter->boundary[i];
    }
    return BLR_RESULT_SUCCESS;
}

static blr_result_t take_poles(struct blr_spline *spline, const blr_spline_filter_t *filter)
{
    if (filter->num_poles < 1 || filter->num_poles > BLR_SPLINE_POLES)
        return blr_fail(BLR_RESULT_INVALID_ARGUMENT, "%u poles: 1 or 2", filter->num_poles);
    spline->num_poles = filter->num_poles;
    for (uint32_t i = 0; i < filter->num_poles; i++) {
        const double pole = filter->poles[i];
        if (!(pole > -0.5 && pole < 0))
            return blr_fail(BLR_RESULT_INVALID_ARGUMENT, "pole %g: between -1/2 and 0", pole);
        const uint32_t reach = (uint32_t)ceil(log(4e-12) / log(-pole));
        spline->poles[i] = (struct blr_spline_pole){(float)pole, (float)((1 - pole) * (1 - 1 / pole)), reach};
        spline->reach += reach;
    }
    return BLR_RESULT_SUCCESS;
}

/* context is NULL for memory that is not looked up. */
static blr_result_t resolve(struct blr_context *context, const void *pointer, uint64_t bytes, const char *name,
                            struct blr_allocation **allocation)
{
    if (bytes == 0)
        return blr_fail(BLR_RESULT_INVALID_SIZE, "the %s is larger than memory", name);
    if ((uintptr_t)pointer % sizeof(float) != 0)
        return blr_fail(BLR_RESULT_INVALID_ARGUMENT, "the %s at 0x%" PRIxPTR " is not aligned to floats", name,
                        (uintptr_t)pointer);
    if (context != NULL)
        return blr_memory_use(context, pointer, bytes, name, allocation);
    if (pointer == NULL)
        return blr_fail(BLR_RESULT_INVALID_ARGUMENT, "the %s is NULL: an address is needed", name);
    return BLR_RESULT_SUCCESS;
}

static blr_result_t prepare(struct spline_command *own, struct blr_context *context, const blr_spline_filter_t *filter)
{
    struct blr_spline *spline = &own->spline;
    blr_result_t result = check_form(spline, filter);
    if (result == BLR_RESULT_SUCCESS)
        result = take_poles(spline, filter);
    if (result != BLR_RESULT_SUCCESS)
        return result;
    spline->source = filter->source;
    spline->target = filter->target;
    spline->count = filter->count;
    spline->channels = filter->channels;
    spline->dimensions = filter->dimensions;
    spline->fills_margin = filter->fills_margin != 0;
    spline->fill = filter->fill;
    const uint64_t read = bytes_of(spline->extent, spline->channels, spline->count);
    const uint64_t written = bytes_of(spline->size, spline->channels, spline->count);
    result = resolve(context, filter->source, read, "source", &own->source);
    if (result == BLR_RESULT_SUCCESS)
        result = resolve(context, filter->target, written, "target", &own->target);
    if (result != BLR_RESULT_SUCCESS)
        return result;
    const uintptr_t from = (uintptr_t)filter->source, to = (uintptr_t)filter->target;
    if (from < to ? to - from < read : from - to < written)
        return blr_fail(BLR_RESULT_INVALID_ARGUMENT, "source and target of a filter overlap in memory");
    return BLR_RESULT_SUCCESS;
}

blr_result_t blrSplineFilter(const blr_spline_filter_t *filter)
{
    if (filter == NULL)
        return blr_fail(BLR_RESULT_INVALID_ARGUMENT, "filter is NULL: a description of the filter is needed");
    struct spline_command own = {0};
    blr_result_t result = prepare(&own, NULL, filter);
    return result == BLR_RESULT_SUCCESS ? blr_spline_filter(&own.spline) : result;
}

blr_result_t blrEnqueueSplineFilter(blr_queue_t handle, const blr_spline_filter_t *filter, uint32_t num_waits,
                                    const blr_event_t *waits, blr_event_t *event)
{
    struct blr_queue *queue = blr_queue_acquire(handle);
    if (queue == NULL)
        return BLR_RESULT_INVALID_HANDLE;
    blr_result_t result = BLR_RESULT_OUT_OF_MEMORY;
    struct spline_command *own;
    if (filter == NULL) {
        result = blr_fail(BLR_RESULT_INVALID_ARGUMENT, "filter is NULL: a description of the filter is needed");
    } else if ((own = blr_command_new(sizeof *own, run, release)) != NULL) {
        result = prepare(own, queue->context, filter);
        own->command.is_repeatable = true;
        if (result == BLR_RESULT_SUCCESS)
            result = blr_submit(queue, &own->command, num_waits, waits, event);
        else
            blr_command_discard(&own->command);
    }
    blr_queue_release(queue);
    return result;
}
