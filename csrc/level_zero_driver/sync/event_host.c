/* Host calls on events: signal, wait, query, reset, timestamps. */
#include "level_zero_driver/sync/counter_event.h"
#include "level_zero_driver/driver/driver.h"
#include "reference/platform/threads.h"
#include "level_zero_driver/core/descriptor_chain.h"

ze_result_t zeEventHostSignal(ze_event_handle_t handle)
{
    struct blz_event *event;
    ze_result_t result = blz_event_acquire(handle, &event);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    uint64_t now = blr_clock_now();
    result = blz_event_check_settable(event);
    if (result == ZE_RESULT_SUCCESS)
        blz_slot_set(event->slot, &(struct blz_outcome){.result = ZE_RESULT_SUCCESS, .started = now, .ended = now});
    blz_event_release(event);
    return result;
}

ze_result_t zeEventHostReset(ze_event_handle_t handle)
{
    struct blz_event *event;
    ze_result_t result = blz_event_acquire(handle, &event);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    result = blz_event_check_settable(event);
    if (result == ZE_RESULT_SUCCESS)
        blz_slot_reset(event->slot);
    blz_event_release(event);
    return result;
}

ze_result_t zeEventHostSynchronize(ze_event_handle_t handle, uint64_t timeout)
{
    struct blz_event *event;
    ze_result_t result = blz_event_acquire(handle, &event);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    struct blz_event *point = blz_event_latest(event);
    blz_event_release(event);
    if (point == NULL)
        return ZE_RESULT_SUCCESS;
    if (timeout == UINT64_MAX && !blz_slot_is_set(point->slot))
        blz_event_help(point);
    if (timeout > 0)
        blz_slot_wait(point->slot, blz_event_is_shared(point), blr_clock_deadline(timeout));
    result = blz_slot_result(point->slot);
    blz_event_release(point);
    return result;
}

ze_result_t zeEventQueryStatus(ze_event_handle_t handle) { return zeEventHostSynchronize(handle, 0); }

/* ---------------------------------------------------------------- timestamps */

/* Acquires an event that is signalled and has timestamps. */
static ze_result_t acquire_stamped(ze_event_handle_t handle, struct blz_event **event)
{
    ze_result_t result = blz_event_acquire(handle, event);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    result = blz_event_check_timestamps(*event);
    if (result == ZE_RESULT_SUCCESS) {
        struct blz_event *point = blz_event_latest(*event);
        if (point == NULL || !blz_slot_is_set(point->slot))
            result = ZE_RESULT_NOT_READY;
        if (point != NULL)
            blz_event_release(point);
    }
    if (result != ZE_RESULT_SUCCESS)
        blz_event_release(*event);
    return result;
}

ze_result_t zeEventQueryKernelTimestamp(ze_event_handle_t handle, ze_kernel_timestamp_result_t *times)
{
    struct blz_event *event;
    ze_result_t result = acquire_stamped(handle, &event);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    if (times == NULL)
        result = blz_fail_null("dstptr");
    else
        blz_event_timestamps(event, times);
    blz_event_release(event);
    return result;
}

/* A command has one pair of timestamps: it runs as one piece. */
ze_result_t zeEventQueryTimestampsExp(ze_event_handle_t handle, ze_device_handle_t device_handle, uint32_t *count,
                                      ze_kernel_timestamp_result_t *times)
{
    struct blz_event *event;
    struct blz_device *device;
    uint32_t written = 0;
    ze_result_t result = blz_device_check(device_handle, &device);
    if (result == ZE_RESULT_SUCCESS)
        result = acquire_stamped(handle, &event);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    result = blz_count(1, count, times, &written);
    if (result == ZE_RESULT_SUCCESS && written > 0)
        blz_event_timestamps(event, times);
    blz_event_release(event);
    return result;
}

ze_result_t zeEventQueryKernelTimestampsExt(ze_event_handle_t handle, ze_device_handle_t device_handle, uint32_t *count,
                                            ze_event_query_kernel_timestamps_results_ext_properties_t *results)
{
    struct blz_event *event;
    struct blz_device *device;
    uint32_t written = 0;
    ze_result_t result = blz_device_check(device_handle, &device);
    if (result == ZE_RESULT_SUCCESS)
        result = acquire_stamped(handle, &event);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    result = blz_count(1, count, results, &written);
    if (result == ZE_RESULT_SUCCESS && written > 0)
        result = blz_properties(results, ZE_STRUCTURE_TYPE_EVENT_QUERY_KERNEL_TIMESTAMPS_RESULTS_EXT_PROPERTIES, "pResults");
    if (result == ZE_RESULT_SUCCESS && written > 0) {
        ze_kernel_timestamp_result_t times;
        blz_event_timestamps(event, &times);
        if (results->pKernelTimestampsBuffer != NULL)
            results->pKernelTimestampsBuffer[0] = times;
        /* Host and device have the same clock. */
        ze_synchronized_timestamp_data_ext_t both = {times.global.kernelStart, times.global.kernelEnd};
        bool mapped = (event->stamps & ZE_EVENT_POOL_FLAG_KERNEL_MAPPED_TIMESTAMP) != 0;
        if (results->pSynchronizedTimestampsBuffer != NULL && mapped)
            results->pSynchronizedTimestampsBuffer[0] = (ze_synchronized_timestamp_result_ext_t){.global = both, .context = both};
    }
    blz_event_release(event);
    return result;
}

/* ---------------------------------------------------------------- what an event was made from */

#define ANSWER(handle, place, name, value)                                                                                    \
    do {                                                                                                                      \
        struct blz_event *event;                                                                                              \
        ze_result_t result = blz_event_acquire(handle, &event);                                                               \
        if (result != ZE_RESULT_SUCCESS)                                                                                      \
            return result;                                                                                                    \
        if ((place) == NULL)                                                                                                  \
            result = blz_fail_null(name);                                                                                     \
        else                                                                                                                  \
            *(place) = value;                                                                                                 \
        blz_event_release(event);                                                                                             \
        return result;                                                                                                        \
    } while (0)

ze_result_t zeEventGetEventPool(ze_event_handle_t handle, ze_event_pool_handle_t *pool)
{
    struct blz_event *event;
    ze_result_t result = blz_event_acquire(handle, &event);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    if (pool == NULL)
        result = blz_fail_null("phEventPool");
    else if (event->pool == NULL)
        result = blz_fail(ZE_RESULT_ERROR_INVALID_ARGUMENT, "the event was made by zeEventCounterBasedCreate: it is of no pool");
    else
        *pool = blz_handle_of(&event->pool->object);
    blz_event_release(event);
    return result;
}

ze_result_t zeEventGetSignalScope(ze_event_handle_t handle, ze_event_scope_flags_t *scope)
{
    ANSWER(handle, scope, "pSignalScope", event->desc.signal);
}

ze_result_t zeEventGetWaitScope(ze_event_handle_t handle, ze_event_scope_flags_t *scope)
{
    ANSWER(handle, scope, "pWaitScope", event->desc.wait);
}

ze_result_t zeEventGetCounterBasedFlags(ze_event_handle_t handle, ze_event_counter_based_flags_t *flags)
{
    ANSWER(handle, flags, "pFlags", event->counter);
}
