/* Queries of the descriptor of a command list. */
#include "level_zero_driver/command/command_list.h"

/* Runs the assignment for a list; place is the result parameter, and name its name. */
#define ANSWER(handle, place, name, assignment)                                                                               \
    do {                                                                                                                      \
        struct blz_list *list;                                                                                                \
        ze_result_t result = blz_acquire(handle, BLR_KIND_ZE_LIST, &list);                                                    \
        if (result != ZE_RESULT_SUCCESS)                                                                                      \
            return result;                                                                                                    \
        if ((place) == NULL)                                                                                                  \
            result = blz_fail_null(name);                                                                                     \
        else                                                                                                                  \
            assignment;                                                                                                       \
        blz_list_release(list);                                                                                               \
        return result;                                                                                                        \
    } while (0)

#define IMMEDIATE(assignment) result = list->stream == NULL ? regular() : (assignment, ZE_RESULT_SUCCESS)

static ze_result_t regular(void)
{
    return blz_fail(ZE_RESULT_ERROR_INVALID_ARGUMENT, "a regular command list has no queue of its own: an immediate one is needed");
}

ze_result_t zeCommandListGetDeviceHandle(ze_command_list_handle_t handle, ze_device_handle_t *device)
{
    ANSWER(handle, device, "phDevice", *device = blz_handle_of(&list->device->object));
}

ze_result_t zeCommandListGetContextHandle(ze_command_list_handle_t handle, ze_context_handle_t *context)
{
    ANSWER(handle, context, "phContext", *context = blz_handle_of(&list->context->object));
}

ze_result_t zeCommandListGetOrdinal(ze_command_list_handle_t handle, uint32_t *ordinal)
{
    ANSWER(handle, ordinal, "pOrdinal", *ordinal = list->ordinal);
}

ze_result_t zeCommandListIsImmediate(ze_command_list_handle_t handle, ze_bool_t *immediate)
{
    ANSWER(handle, immediate, "pIsImmediate", *immediate = list->stream != NULL);
}

ze_result_t zeCommandListGetFlags(ze_command_list_handle_t handle, ze_command_list_flags_t *flags)
{
    ANSWER(handle, flags, "pFlags", *flags = list->flags);
}

ze_result_t zeCommandListImmediateGetIndex(ze_command_list_handle_t handle, uint32_t *index)
{
    ANSWER(handle, index, "pIndex", IMMEDIATE(*index = list->queue.index));
}

ze_result_t zeCommandListImmediateGetFlags(ze_command_list_handle_t handle, ze_command_queue_flags_t *flags)
{
    ANSWER(handle, flags, "pFlags", IMMEDIATE(*flags = list->queue.flags));
}

ze_result_t zeCommandListImmediateGetMode(ze_command_list_handle_t handle, ze_command_queue_mode_t *mode)
{
    ANSWER(handle, mode, "pMode", IMMEDIATE(*mode = list->queue.mode));
}

ze_result_t zeCommandListImmediateGetPriority(ze_command_list_handle_t handle, ze_command_queue_priority_t *priority)
{
    ANSWER(handle, priority, "pPriority", IMMEDIATE(*priority = list->queue.priority));
}
