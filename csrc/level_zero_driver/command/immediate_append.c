/* Execution of regular command lists by an immediate list. */
#include "level_zero_driver/command/command_list.h"

/* Wraps a command that only waits or signals in its own work item. */
static struct blz_work *order(const struct blz_list *list, ze_event_handle_t signal, uint32_t wait_count, ze_event_handle_t *waits,
                              ze_result_t *result)
{
    struct blz_command *command = blz_command_new(sizeof *command, NULL, NULL);
    *result = command == NULL ? ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY
                              : blz_command_set_events(command, blz_list_placement(list), signal, wait_count, waits);
    if (*result == ZE_RESULT_SUCCESS) {
        command->work.command = command;
        return &command->work;
    }
    if (command != NULL)
        blz_command_delete(command);
    return NULL;
}

/* Collects the work items: the waits, the lists, the signal. */
static ze_result_t gather(struct blz_list *list, uint32_t count, ze_command_list_handle_t *lists, ze_event_handle_t signal,
                          uint32_t wait_count, ze_event_handle_t *waits, struct blz_work **first, struct blz_following *following)
{
    ze_result_t result;
    struct blz_work **last = first, *work = order(list, NULL, wait_count, waits, &result);
    for (uint32_t i = 0; i < count && result == ZE_RESULT_SUCCESS; i++) {
        *last = work;
        last = &work->next;
        if ((work = blr_new(sizeof *work)) == NULL)
            return blz_fail_memory("the execution of a command list");
        result = blz_list_recording(lists[i], &list->queue, &work->recording);
    }
    *last = work;
    if (result == ZE_RESULT_SUCCESS)
        work->next = order(list, signal, 0, NULL, &result);
    if (result == ZE_RESULT_SUCCESS)
        *following = blz_command_take_following(work->next->command);
    return result;
}

static ze_result_t append(struct blz_list *list, uint32_t count, ze_command_list_handle_t *lists, ze_event_handle_t signal,
                          uint32_t wait_count, ze_event_handle_t *waits)
{
    struct blz_work *first = NULL;
    struct blz_following following = {NULL, NULL};
    bool synchronous = list->queue.mode == ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS;
    if (list->stream == NULL)
        return blz_fail(ZE_RESULT_ERROR_INVALID_COMMAND_LIST_TYPE, "a regular command list cannot execute lists: an immediate one is needed");
    if (lists == NULL || count == 0)
        return lists == NULL ? blz_fail_null("phCommandLists")
                             : blz_fail(ZE_RESULT_ERROR_INVALID_SIZE, "numCommandLists is 0: at least one command list is needed");
    ze_result_t result = gather(list, count, lists, signal, wait_count, waits, &first, &following);
    blr_mutex_lock(&list->mutex);
    if (result == ZE_RESULT_SUCCESS && list->closed)
        result = blz_fail(ZE_RESULT_ERROR_INVALID_ARGUMENT, "the command list is closed: zeCommandListReset opens it again");
    blr_mutex_unlock(&list->mutex);
    if (result == ZE_RESULT_SUCCESS)
        result = blz_work_begin(first);
    if (result == ZE_RESULT_SUCCESS)
        result = blz_stream_submit(list->stream, first, synchronous);
    blz_following_end(following, result == ZE_RESULT_SUCCESS);
    if (result != ZE_RESULT_SUCCESS)
        blz_work_drop(first);
    else if (synchronous)
        result = blz_stream_synchronize(list->stream, UINT64_MAX);
    return result;
}

ze_result_t zeCommandListImmediateAppendCommandListsExp(ze_command_list_handle_t handle, uint32_t count,
                                                        ze_command_list_handle_t *lists, ze_event_handle_t signal,
                                                        uint32_t wait_count, ze_event_handle_t *waits)
{
    struct blz_list *list;
    ze_result_t result = blz_list_acquire(handle, BLZ_LIST_COPY, &list);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    result = append(list, count, lists, signal, wait_count, waits);
    blz_list_release(list);
    return result;
}
