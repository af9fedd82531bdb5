/* Copies and fills of linear memory as commands. */
#include "platform/heap.h"
#include "memory/allocation.h"
#include "runtime/queue.h"
#include "memory/parallel_copy.h"

#include <inttypes.h>
#include <string.h>

/* ---------------------------------------------------------------- copies and fills of memory */

struct memory_command {
    struct blr_command command;
    struct blr_allocation *used[2]; /* retained, or NULL for memory of the process */
    void *destination;
    const void *source;
    uint64_t size; /* bytes of a copy, pattern count of a fill */
    uint64_t pattern_size;
    unsigned char pattern[BLR_MAX_PATTERN];
};

static void release_memory(struct blr_command *command)
{
    struct memory_command *copy = (struct memory_command *)command;
    blr_memory_release(copy->used[0]);
    blr_memory_release(copy->used[1]);
}

static blr_result_t run_copy(struct blr_command *command)
{
    struct memory_command *copy = (struct memory_command *)command;
    blr_transfer_line(copy->destination, copy->source, copy->size);
    return BLR_RESULT_SUCCESS;
}

static blr_result_t run_fill(struct blr_command *command)
{
    struct memory_command *fill = (struct memory_command *)command;
    blr_transfer_pattern(fill->destination, fill->pattern, fill->pattern_size, fill->size);
    return BLR_RESULT_SUCCESS;
}

static blr_result_t enqueue_copy(struct blr_queue *queue, void *destination, const void *source, uint64_t size,
                                 uint32_t num_waits, const blr_event_t *waits, blr_event_t *event)
{
    struct memory_command *copy = blr_command_new(sizeof *copy, run_copy, release_memory);
    if (copy == NULL)
        return BLR_RESULT_OUT_OF_MEMORY;
    blr_result_t result = BLR_RESULT_SUCCESS;
    if (size > 0)
        result = blr_memory_use(queue->context, destination, size, "destination of the copy", &copy->used[0]);
    if (size > 0 && result == BLR_RESULT_SUCCESS)
        result = blr_memory_use(queue->context, source, size, "source of the copy", &copy->used[1]);
    if (result != BLR_RESULT_SUCCESS) {
        blr_command_discard(&copy->command);
        return result;
    }
    copy->destination = destination;
    copy->source = source;
    copy->size = size;
    copy->command.is_repeatable = true;
    copy->command.is_brief = size <= BLR_BRIEF_BYTES;
    copy->command.is_instant = blr_transfer_is_instant(queue->in_order, size);
    return blr_submit(queue, &copy->command, num_waits, waits, event);
}

blr_result_t blrEnqueueCopy(blr_queue_t handle, void *destination, const void *source, uint64_t size,
                            uint32_t num_waits, const blr_event_t *waits, blr_event_t *event)
{
    struct blr_queue *queue = blr_queue_acquire(handle);
    if (queue == NULL)
        return BLR_RESULT_INVALID_HANDLE;
    blr_result_t result = enqueue_copy(queue, destination, source, size, num_waits, waits, event);
    blr_queue_release(queue);
    return result;
}

static blr_result_t enqueue_fill(struct blr_queue *queue, void *destination, const void *pattern, uint64_t pattern_size,
                                 uint64_t count, uint32_t num_waits, const blr_event_t *waits, blr_event_t *event)
{
    if (pattern == NULL)
        return blr_fail(BLR_RESULT_INVALID_ARGUMENT, "pattern is NULL: 1 to %u bytes to repeat are needed",
                        BLR_MAX_PATTERN);
    if (pattern_size == 0 || pattern_size > BLR_MAX_PATTERN)
        return blr_fail(BLR_RESULT_INVALID_SIZE, "a pattern of %" PRIu64 " bytes: 1 to %u are needed", pattern_size,
                        BLR_MAX_PATTERN);
    if (count > UINT64_MAX / pattern_size)
        return blr_fail(BLR_RESULT_INVALID_SIZE, "%" PRIu64 " patterns of %" PRIu64 " bytes are more than memory has",
                        count, pattern_size);
    struct memory_command *fill = blr_command_new(sizeof *fill, run_fill, release_memory);
    if (fill == NULL)
        return BLR_RESULT_OUT_OF_MEMORY;
    if (count > 0) {
        blr_result_t result = blr_memory_use(queue->context, destination, pattern_size * count,
                                             "destination of the fill", &fill->used[0]);
        if (result != BLR_RESULT_SUCCESS) {
            blr_command_discard(&fill->command);
            return result;
        }
    }
    fill->destination = destination;
    memcpy(fill->pattern, pattern, pattern_size);
    fill->pattern_size = pattern_size;
    fill->size = count;
    fill->command.is_repeatable = true;
    fill->command.is_brief = pattern_size * count <= BLR_BRIEF_BYTES;
    fill->command.is_instant = blr_transfer_is_instant(queue->in_order, pattern_size * count);
    return blr_submit(queue, &fill->command, num_waits, waits, event);
}

blr_result_t blrEnqueueFill(blr_queue_t handle, void *destination, const void *pattern, uint64_t pattern_size,
                            uint64_t count, uint32_t num_waits, const blr_event_t *waits, blr_event_t *event)
{
    struct blr_queue *queue = blr_queue_acquire(handle);
    if (queue == NULL)
        return BLR_RESULT_INVALID_HANDLE;
    blr_result_t result = enqueue_fill(queue, destination, pattern, pattern_size, count, num_waits, waits, event);
    blr_queue_release(queue);
    return result;
}

