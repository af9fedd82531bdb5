/* Commands that order other commands: barriers, event signals, waits and resets, timestamps. */
#include "level_zero_driver/sync/counter_event.h"
#include "level_zero_driver/command/command_list.h"
#include "level_zero_driver/command/memory_ranges.h"

#include <inttypes.h>
#include <string.h>

/* Commands of a list run in order: a command that only orders them has no effect of its own. */
static ze_result_t append_order(ze_command_list_handle_t handle, ze_event_handle_t signal, uint32_t wait_count,
                                ze_event_handle_t *waits)
{
    struct blz_list *list;
    ze_result_t result = blz_list_acquire(handle, BLZ_LIST_COPY, &list);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    struct blz_command *command = blz_command_new(sizeof *command, NULL, NULL);
    result = command == NULL ? ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY : ZE_RESULT_SUCCESS;
    if (command != NULL)
        command->is_instant = true;
    return blz_list_end(list, command, result, signal, wait_count, waits);
}

ze_result_t zeCommandListAppendBarrier(ze_command_list_handle_t list, ze_event_handle_t signal, uint32_t wait_count,
                                       ze_event_handle_t *waits)
{
    return append_order(list, signal, wait_count, waits);
}

ze_result_t zeCommandListAppendMemoryRangesBarrier(ze_command_list_handle_t list, uint32_t range_count, const size_t *sizes,
                                                   const void **ranges, ze_event_handle_t signal, uint32_t wait_count,
                                                   ze_event_handle_t *waits)
{
    if (sizes == NULL || ranges == NULL)
        return blz_fail_null(sizes == NULL ? "pRangeSizes" : "pRanges");
    for (uint32_t i = 0; i < range_count; i++)
        if (ranges[i] == NULL)
            return blz_fail(ZE_RESULT_ERROR_INVALID_NULL_POINTER, "range %u of %u is NULL", i, range_count);
    return append_order(list, signal, wait_count, waits);
}

ze_result_t zeContextSystemBarrier(ze_context_handle_t context_handle, ze_device_handle_t device_handle)
{
    struct blz_context *context;
    struct blz_device *device;
    ze_result_t result = blz_context_acquire(context_handle, &context);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    blz_context_release(context);
    result = blz_device_check(device_handle, &device);
    atomic_thread_fence(memory_order_seq_cst);
    return result;
}

ze_result_t zeCommandListAppendWaitOnEvents(ze_command_list_handle_t list, uint32_t count, ze_event_handle_t *events)
{
    if (events == NULL)
        return blz_fail_null("phEvents");
    return append_order(list, NULL, count, events);
}

ze_result_t zeCommandListAppendSignalEvent(ze_command_list_handle_t list, ze_event_handle_t event)
{
    if (event == NULL)
        return blz_fail(ZE_RESULT_ERROR_INVALID_NULL_HANDLE, "hEvent is NULL: an event is needed");
    return append_order(list, event, 0, NULL);
}

/* ---------------------------------------------------------------- resetting events */

struct reset_command {
    struct blz_command command;
    struct blz_event *event; /* retained */
};

static ze_result_t run_reset(const struct blz_command *command)
{
    blz_slot_reset(((const struct reset_command *)command)->event->slot);
    return ZE_RESULT_SUCCESS;
}

static void release_reset(struct blz_command *command)
{
    struct reset_command *own = (struct reset_command *)command;
    if (own->event != NULL)
        blz_event_release(own->event);
}

ze_result_t zeCommandListAppendEventReset(ze_command_list_handle_t handle, ze_event_handle_t event)
{
    struct blz_list *list;
    ze_result_t result = blz_list_acquire(handle, BLZ_LIST_COPY, &list);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    struct reset_command *own = blz_command_new(sizeof *own, run_reset, release_reset);
    result = own == NULL ? ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY : blz_event_acquire(event, &own->event);
    if (result == ZE_RESULT_SUCCESS)
        result = blz_event_check_settable(own->event);
    return blz_list_end(list, (struct blz_command *)own, result, NULL, 0, NULL);
}

/* ---------------------------------------------------------------- timestamps in memory */

struct stamp_command {
    struct blz_command command;
    struct blz_region region;
    uint64_t *destination;
};

static ze_result_t run_stamp(const struct blz_command *command)
{
    const struct stamp_command *own = (const struct stamp_command *)command;
    uint64_t now = blr_clock_now();
    ze_result_t result = blz_region_check_access(&own->region, true);
    if (result == ZE_RESULT_SUCCESS)
        memcpy(own->destination, &now, sizeof now);
    return result;
}

static void release_stamp(struct blz_command *command) { blz_region_release(&((struct stamp_command *)command)->region); }

ze_result_t zeCommandListAppendWriteGlobalTimestamp(ze_command_list_handle_t handle, uint64_t *destination,
                                                    ze_event_handle_t signal, uint32_t wait_count, ze_event_handle_t *waits)
{
    struct blz_list *list;
    ze_result_t result = blz_list_acquire(handle, BLZ_LIST_COPY, &list);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    struct stamp_command *own = blz_command_new(sizeof *own, run_stamp, release_stamp);
    result = own == NULL ? ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY
                         : blz_region_keep(&own->region, destination, sizeof *destination, "dstptr");
    if (result == ZE_RESULT_SUCCESS)
        own->destination = destination;
    return blz_list_end(list, (struct blz_command *)own, result, signal, wait_count, waits);
}

struct query_command {
    struct blz_command command;
    struct blz_region *regions; /* one per event */
    struct blz_event **events;  /* retained */
    unsigned char **destinations;
    uint32_t count;
};

static ze_result_t run_query(const struct blz_command *command)
{
    const struct query_command *own = (const struct query_command *)command;
    ze_result_t result = ZE_RESULT_SUCCESS;
    for (uint32_t i = 0; i < own->count && result == ZE_RESULT_SUCCESS; i++) {
        ze_kernel_timestamp_result_t times;
        result = blz_region_check_access(&own->regions[i], true);
        blz_event_timestamps(own->events[i], &times);
        if (result == ZE_RESULT_SUCCESS)
            memcpy(own->destinations[i], &times, sizeof times);
    }
    return result;
}

static void release_query(struct blz_command *command)
{
    struct query_command *own = (struct query_command *)command;
    for (uint32_t i = 0; i < own->count; i++) {
        blz_region_release(&own->regions[i]);
        blz_event_release(own->events[i]);
    }
    blr_delete(own->regions);
    blr_delete(own->events);
    blr_delete(own->destinations);
}

static ze_result_t fill_query(struct query_command *own, bool recorded, uint32_t count, ze_event_handle_t *events, void *destination,
                              const size_t *offsets)
{
    if (events == NULL || destination == NULL)
        return blz_fail_null(events == NULL ? "phEvents" : "dstptr");
    own->regions = blr_new(((size_t)count + 1) * sizeof *own->regions);
    own->events = blr_new(((size_t)count + 1) * sizeof *own->events);
    own->destinations = blr_new(((size_t)count + 1) * sizeof *own->destinations);
    if (own->regions == NULL || own->events == NULL || own->destinations == NULL)
        return blz_fail_memory("a query of timestamps");
    for (uint32_t i = 0; i < count; i++) {
        struct blz_event *event;
        ze_result_t result = blz_event_acquire(events[i], &event);
        if (result != ZE_RESULT_SUCCESS)
            return result;
        result = blz_event_check_timestamps(event);
        own->events[own->count] = result == ZE_RESULT_SUCCESS ? blz_event_to_wait(event, recorded) : NULL;
        blz_event_release(event);
        if (result != ZE_RESULT_SUCCESS)
            return result;
        if (own->events[own->count] == NULL)
            return blz_fail(ZE_RESULT_ERROR_INVALID_ARGUMENT, "event %u of %u has no timestamps: it was passed to no command yet", i, count);
        own->count++;
        size_t offset = offsets != NULL ? offsets[i] : (size_t)i * sizeof(ze_kernel_timestamp_result_t);
        own->destinations[i] = (unsigned char *)destination + offset;
        result = blz_region_keep(&own->regions[i], own->destinations[i], sizeof(ze_kernel_timestamp_result_t), "dstptr");
        if (result != ZE_RESULT_SUCCESS)
            return result;
    }
    return ZE_RESULT_SUCCESS;
}

ze_result_t zeCommandListAppendQueryKernelTimestamps(ze_command_list_handle_t handle, uint32_t count, ze_event_handle_t *events,
                                                     void *destination, const size_t *offsets, ze_event_handle_t signal,
                                                     uint32_t wait_count, ze_event_handle_t *waits)
{
    struct blz_list *list;
    ze_result_t result = blz_list_acquire(handle, BLZ_LIST_COPY, &list);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    struct query_command *own = blz_command_new(sizeof *own, run_query, release_query);
    result = own == NULL ? ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY
                         : fill_query(own, blz_list_placement(list).recorded, count, events, destination, offsets);
    return blz_list_end(list, (struct blz_command *)own, result, signal, wait_count, waits);
}
