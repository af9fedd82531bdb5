/* Command queue groups, queues and lists; fences, events, timestamps and barriers. */
#include "guide.h"

enum { COUNT = 20000 };

void section_queue_groups(void)
{
    /* Copy commands use the copy group, which need not support compute. */
    ze_command_queue_desc_t desc = {
        ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC, NULL, copy_ordinal, 0, 0, ZE_COMMAND_QUEUE_MODE_DEFAULT,
        ZE_COMMAND_QUEUE_PRIORITY_PRIORITY_LOW};
    ze_command_list_desc_t list_desc = {ZE_STRUCTURE_TYPE_COMMAND_LIST_DESC, NULL, copy_ordinal, 0};
    ze_command_queue_handle_t queue = NULL;
    ze_command_list_handle_t list = NULL;
    OK(zeCommandQueueCreate(context, device, &desc, &queue));
    OK(zeCommandListCreate(context, device, &list_desc, &list));
    uint32_t *from = make_numbers(COUNT), *to = make_numbers(COUNT);
    for (uint32_t i = 0; i < COUNT; i++)
        from[i] = i * i;
    OK(zeCommandListAppendMemoryCopy(list, to, from, COUNT * sizeof *to, NULL, 0, NULL));
    run_list(queue, list);
    HOLDS(memcmp(from, to, COUNT * sizeof *to) == 0);
    OK(zeCommandListDestroy(list));
    OK(zeCommandQueueDestroy(queue));
    OK(zeMemFree(context, from));
    OK(zeMemFree(context, to));
}

void section_command_lists(void)
{
    uint32_t *numbers = make_numbers(COUNT);
    ze_command_queue_handle_t queue = make_queue(), other = make_queue();
    ze_command_list_handle_t first = make_list(), second = make_list();
    append_work(first, numbers, 1, COUNT, NULL, 0, NULL);
    append_work(second, numbers, 2, COUNT / 2, NULL, 0, NULL);
    OK(zeCommandListClose(first));
    OK(zeCommandListClose(second));
    ze_command_list_handle_t both[] = {first, second};
    for (int i = 0; i < 3; i++) { /* a list may be submitted repeatedly, to any queue of its group */
        OK(zeCommandQueueExecuteCommandLists(i == 1 ? other : queue, 2, both, NULL));
        OK(zeCommandQueueSynchronize(i == 1 ? other : queue, UINT64_MAX));
        HOLDS(all_are(numbers, 2, COUNT / 2) && all_are(numbers + COUNT / 2, 1, COUNT / 2));
        memset(numbers, 0, COUNT * sizeof *numbers);
    }
    OK(zeCommandListReset(first)); /* recycled */
    append_work(first, numbers, 3, COUNT, NULL, 0, NULL);
    run_list(queue, first);
    HOLDS(all_are(numbers, 3, COUNT));
    OK(zeCommandListDestroy(first));
    OK(zeCommandListDestroy(second));
    OK(zeCommandQueueDestroy(queue));
    OK(zeCommandQueueDestroy(other));
    OK(zeMemFree(context, numbers));
}

void section_immediate_lists(void)
{
    static const ze_command_queue_mode_t modes[] = {ZE_COMMAND_QUEUE_MODE_DEFAULT, ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS,
                                                    ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS};
    for (int i = 0; i < 3; i++) {
        ze_command_queue_desc_t desc = {
            ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC, NULL, compute_ordinal, 0, 0, modes[i], ZE_COMMAND_QUEUE_PRIORITY_NORMAL};
        ze_command_list_handle_t list = NULL;
        OK(zeCommandListCreateImmediate(context, device, &desc, &list));
        uint32_t *numbers = make_numbers(COUNT);
        ze_event_pool_handle_t pool = make_pool(ZE_EVENT_POOL_FLAG_HOST_VISIBLE, 1);
        ze_event_handle_t done = make_event(pool, 0);
        append_work(list, numbers, 40 + (uint32_t)i, COUNT, done, 0, NULL);
        if (modes[i] == ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS)
            OK(zeEventQueryStatus(done)); /* the call has returned: the event is signalled */
        OK(zeEventHostSynchronize(done, UINT64_MAX));
        HOLDS(all_are(numbers, 40 + (uint32_t)i, COUNT));
        OK(zeCommandListDestroy(list));
        OK(zeEventDestroy(done));
        OK(zeEventPoolDestroy(pool));
        OK(zeMemFree(context, numbers));
    }
}

void section_fences(void)
{
    uint32_t *numbers = make_numbers(COUNT);
    ze_command_queue_handle_t queue = make_queue();
    ze_command_list_handle_t list = make_list();
    ze_fence_desc_t desc = {ZE_STRUCTURE_TYPE_FENCE_DESC, NULL, 0};
    ze_fence_handle_t fence = NULL;
    OK(zeFenceCreate(queue, &desc, &fence));
    HOLDS(zeFenceQueryStatus(fence) == ZE_RESULT_NOT_READY);
    append_work(list, numbers, 9, COUNT, NULL, 0, NULL);
    OK(zeCommandListClose(list));
    for (int i = 0; i < 2; i++) {
        OK(zeCommandQueueExecuteCommandLists(queue, 1, &list, fence));
        OK(zeFenceHostSynchronize(fence, UINT64_MAX));
        HOLDS(all_are(numbers, 9, COUNT));
        OK(zeFenceQueryStatus(fence));
        OK(zeFenceReset(fence));
        HOLDS(zeFenceQueryStatus(fence) == ZE_RESULT_NOT_READY);
        memset(numbers, 0, COUNT * sizeof *numbers);
    }
    OK(zeFenceDestroy(fence));
    OK(zeCommandListDestroy(list));
    OK(zeCommandQueueDestroy(queue));
    OK(zeMemFree(context, numbers));
}

void section_events(void)
{
    ze_event_pool_handle_t pool = make_pool(ZE_EVENT_POOL_FLAG_HOST_VISIBLE, 4);
    ze_event_handle_t from_host = make_event(pool, 0), between = make_event(pool, 1), done = make_event(pool, 2);
    uint32_t *first = make_numbers(COUNT), *second = make_numbers(COUNT);
    ze_command_queue_handle_t queue = make_queue(), other = make_queue();
    ze_command_list_handle_t writer = make_list(), reader = make_list();
    /* Dependencies from the host to one queue, to another, and back to the host. */
    append_work(writer, first, 11, COUNT, between, 1, &from_host);
    OK(zeCommandListAppendMemoryCopy(reader, second, first, COUNT * sizeof *first, NULL, 1, &between));
    OK(zeCommandListAppendEventReset(reader, between));
    OK(zeCommandListAppendSignalEvent(reader, done));
    OK(zeCommandListClose(writer));
    OK(zeCommandListClose(reader));
    for (int i = 0; i < 2; i++) {
        OK(zeCommandQueueExecuteCommandLists(other, 1, &reader, NULL));
        OK(zeCommandQueueExecuteCommandLists(queue, 1, &writer, NULL));
        HOLDS(zeEventQueryStatus(done) == ZE_RESULT_NOT_READY);
        HOLDS(zeEventHostSynchronize(done, 1000) == ZE_RESULT_NOT_READY);
        OK(zeEventHostSignal(from_host));
        OK(zeEventHostSynchronize(done, UINT64_MAX));
        HOLDS(all_are(second, 11, COUNT));
        HOLDS(zeEventQueryStatus(between) == ZE_RESULT_NOT_READY);
        OK(zeCommandQueueSynchronize(queue, UINT64_MAX));
        OK(zeCommandQueueSynchronize(other, UINT64_MAX));
        OK(zeEventHostReset(from_host)); /* events are reset before a list runs again */
        OK(zeEventHostReset(done));
        memset(second, 0, COUNT * sizeof *second);
    }
    OK(zeCommandListDestroy(writer));
    OK(zeCommandListDestroy(reader));
    OK(zeCommandQueueDestroy(queue));
    OK(zeCommandQueueDestroy(other));
    OK(zeEventDestroy(from_host));
    OK(zeEventDestroy(between));
    OK(zeEventDestroy(done));
    OK(zeEventPoolDestroy(pool));
    OK(zeMemFree(context, first));
    OK(zeMemFree(context, second));
}

void section_timestamps(void)
{
    ze_device_properties_t properties = {.stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES};
    OK(zeDeviceGetProperties(device, &properties));
    HOLDS(properties.kernelTimestampValidBits > 0 && properties.kernelTimestampValidBits < 64);
    const uint64_t max = ~(UINT64_MAX << properties.kernelTimestampValidBits);
    ze_event_pool_handle_t stamped_pool = make_pool(ZE_EVENT_POOL_FLAG_KERNEL_TIMESTAMP, 1), pool = make_pool(0, 1);
    ze_event_handle_t stamped = make_event(stamped_pool, 0), done = make_event(pool, 0);
    uint32_t *numbers = make_numbers(COUNT);
    ze_kernel_timestamp_result_t *result = (void *)make_numbers(sizeof *result / sizeof(uint32_t)), asked;
    uint64_t *global = (void *)make_numbers(4);
    ze_command_queue_handle_t queue = make_queue();
    ze_command_list_handle_t list = make_list();
    OK(zeCommandListAppendWriteGlobalTimestamp(list, &global[0], NULL, 0, NULL));
    append_work(list, numbers, 77, COUNT, stamped, 0, NULL);
    OK(zeCommandListAppendQueryKernelTimestamps(list, 1, &stamped, result, NULL, done, 1, &stamped));
    OK(zeCommandListAppendBarrier(list, NULL, 0, NULL));
    OK(zeCommandListAppendWriteGlobalTimestamp(list, &global[1], NULL, 0, NULL));
    OK(zeCommandListClose(list));
    OK(zeCommandQueueExecuteCommandLists(queue, 1, &list, NULL));
    OK(zeEventHostSynchronize(done, UINT64_MAX));
    OK(zeCommandQueueSynchronize(queue, UINT64_MAX));
    OK(zeEventQueryKernelTimestamp(stamped, &asked));
    HOLDS(memcmp(&asked, result, sizeof asked) == 0);
    uint64_t start = result->context.kernelStart, end = result->context.kernelEnd;
    uint64_t ticks = end >= start ? end - start : max - start + end + 1;
    HOLDS(start <= max && end <= max && ticks > 0);
    HOLDS(ticks * properties.timerResolution < UINT64_C(600000000000)); /* ten minutes */
    HOLDS(global[1] > global[0]);
    OK(zeCommandListDestroy(list));
    OK(zeCommandQueueDestroy(queue));
    OK(zeEventDestroy(stamped));
    OK(zeEventDestroy(done));
    OK(zeEventPoolDestroy(stamped_pool));
    OK(zeEventPoolDestroy(pool));
    OK(zeMemFree(context, numbers));
    OK(zeMemFree(context, result));
    OK(zeMemFree(context, global));
}

void section_barriers(void)
{
    uint32_t *first = make_numbers(COUNT), *second = make_numbers(COUNT);
    ze_command_queue_handle_t queue = make_queue();
    ze_command_list_handle_t list = make_list();
    append_work(list, first, 21, COUNT, NULL, 0, NULL);
    OK(zeCommandListAppendBarrier(list, NULL, 0, NULL));
    OK(zeCommandListAppendMemoryCopy(list, second, first, COUNT * sizeof *first, NULL, 0, NULL));
    const size_t size = COUNT * sizeof *second;
    const void *range = second;
    OK(zeCommandListAppendMemoryRangesBarrier(list, 1, &size, &range, NULL, 0, NULL));
    OK(zeCommandListAppendMemoryCopy(list, first + COUNT / 2, second, COUNT / 2 * sizeof *first, NULL, 0, NULL));
    run_list(queue, list);
    HOLDS(all_are(first, 21, COUNT) && all_are(second, 21, COUNT));
    OK(zeCommandListDestroy(list));
    OK(zeCommandQueueDestroy(queue));
    OK(zeMemFree(context, first));
    OK(zeMemFree(context, second));
}

/* Not in the guide: a program may end while a queue waits for an event that is never signalled. */
void section_unfinished(void)
{
    ze_event_pool_handle_t pool = make_pool(0, 1);
    ze_event_handle_t never = make_event(pool, 0);
    ze_command_queue_handle_t queue = make_queue();
    ze_command_list_handle_t list = make_list();
    OK(zeCommandListAppendWaitOnEvents(list, 1, &never));
    OK(zeCommandListClose(list));
    OK(zeCommandQueueExecuteCommandLists(queue, 1, &list, NULL));
    HOLDS(zeCommandQueueSynchronize(queue, 1000) == ZE_RESULT_NOT_READY);
}
