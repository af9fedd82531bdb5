/* Command lists of a stream. Regular lists take one command each; the list is closed and executed in the command queue,
 * and a fence signals when the list can be reused. */
#ifndef BINDLESS_DRIVER_CALLS_LEVEL_ZERO_LISTS_H
#define BINDLESS_DRIVER_CALLS_LEVEL_ZERO_LISTS_H

#include <stdlib.h>

static void bindless_slot_release(bindless_lists_t *lists, bindless_slot_t *slot)
{
    slot->next = lists->free;
    lists->free = slot;
}

static ze_result_t bindless_tidy(bindless_lists_t *lists)
{
    ze_result_t result = ZE_RESULT_SUCCESS;
    while (result == ZE_RESULT_SUCCESS && lists->running != NULL &&
           zeFenceQueryStatus(lists->running->fence) != ZE_RESULT_NOT_READY) {
        bindless_slot_t *slot = lists->running;
        lists->running = slot->next;
        result = zeFenceReset(slot->fence);
        if (result == ZE_RESULT_SUCCESS) {
            result = zeCommandListReset(slot->list);
        }
        if (result == ZE_RESULT_SUCCESS) {
            bindless_slot_release(lists, slot);
        }
    }
    return result;
}

static ze_result_t bindless_slot_create(bindless_lists_t *lists, bindless_slot_t **created)
{
    const ze_command_list_desc_t of_list = {
        .stype = ZE_STRUCTURE_TYPE_COMMAND_LIST_DESC,
        .commandQueueGroupOrdinal = lists->ordinal,
    };
    const ze_fence_desc_t of_fence = {.stype = ZE_STRUCTURE_TYPE_FENCE_DESC};
    bindless_slot_t *slot = calloc(1, sizeof *slot);
    if (slot == NULL) {
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    }
    ze_result_t result = zeCommandListCreate(lists->context, lists->device, &of_list, &slot->list);
    if (result == ZE_RESULT_SUCCESS) {
        result = zeFenceCreate(lists->queue, &of_fence, &slot->fence);
        if (result != ZE_RESULT_SUCCESS) {
            (void)zeCommandListDestroy(slot->list);
        }
    }
    if (result != ZE_RESULT_SUCCESS) {
        free(slot);
        return result;
    }
    slot->older = lists->slots;
    lists->slots = slot;
    *created = slot;
    return ZE_RESULT_SUCCESS;
}

static ze_result_t bindless_begin(bindless_lists_t *lists, bindless_open_t *opened)
{
    opened->list = lists->list;
    opened->slot = NULL;
    if (lists->list == NULL) {
        ze_result_t result = bindless_tidy(lists);
        if (result == ZE_RESULT_SUCCESS && lists->free == NULL) {
            result = bindless_slot_create(lists, &opened->slot);
        } else if (result == ZE_RESULT_SUCCESS) {
            opened->slot = lists->free;
            lists->free = opened->slot->next;
        }
        if (result != ZE_RESULT_SUCCESS) {
            return result;
        }
        opened->list = opened->slot->list;
    }
    if (!lists->barrier) {
        return ZE_RESULT_SUCCESS;
    }
    ze_result_t result = zeCommandListAppendBarrier(opened->list, NULL, 0, NULL);
    if (result == ZE_RESULT_SUCCESS) {
        lists->barrier = !lists->in_order;
    }
    return result;
}

static ze_result_t bindless_end(bindless_lists_t *lists, const bindless_open_t *opened, ze_result_t result)
{
    bindless_slot_t *slot = opened->slot;
    if (slot == NULL) {
        return result;
    }
    if (result == ZE_RESULT_SUCCESS) {
        result = zeCommandListClose(slot->list);
    }
    if (result == ZE_RESULT_SUCCESS) {
        result = zeCommandQueueExecuteCommandLists(lists->queue, 1, &slot->list, slot->fence);
    }
    if (result != ZE_RESULT_SUCCESS) {
        (void)zeCommandListReset(slot->list);
        bindless_slot_release(lists, slot);
        return result;
    }
    slot->next = NULL;
    if (lists->running == NULL) {
        lists->running = slot;
    } else {
        lists->newest->next = slot;
    }
    lists->newest = slot;
    return result;
}

static ze_result_t bindless_lists_clear(bindless_lists_t *lists)
{
    ze_result_t first = ZE_RESULT_SUCCESS;
    for (const bindless_slot_t *slot = lists->running; slot != NULL; slot = slot->next) {
        (void)zeFenceHostSynchronize(slot->fence, UINT64_MAX);
    }
    while (lists->slots != NULL) {
        bindless_slot_t *slot = lists->slots;
        lists->slots = slot->older;
        ze_result_t result = zeFenceDestroy(slot->fence);
        first = first == ZE_RESULT_SUCCESS ? result : first;
        result = zeCommandListDestroy(slot->list);
        first = first == ZE_RESULT_SUCCESS ? result : first;
        free(slot);
    }
    lists->free = lists->running = lists->newest = NULL;
    return first;
}

#endif
