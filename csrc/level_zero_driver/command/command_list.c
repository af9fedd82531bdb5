/* Command lists: creation, appending, closing, resetting and cloning. */

#include "level_zero_driver/command/command_list.h"

#include "level_zero_driver/driver/device.h"
#include "level_zero_driver/core/intel_extensions.h"
#include "level_zero_driver/core/descriptor_chain.h"

#define LIST_FLAGS                                                                                                            \
    (ZE_COMMAND_LIST_FLAG_RELAXED_ORDERING | ZE_COMMAND_LIST_FLAG_MAXIMIZE_THROUGHPUT | ZE_COMMAND_LIST_FLAG_EXPLICIT_ONLY |  \
     ZE_COMMAND_LIST_FLAG_IN_ORDER | ZE_COMMAND_LIST_FLAG_EXP_CLONEABLE | ZE_COMMAND_LIST_FLAG_COPY_OFFLOAD_HINT)

/* ---------------------------------------------------------------- life */

static void destroy(struct blr_object *object)
{
    struct blz_list *list = (struct blz_list *)object;
    if (list->stream != NULL)
        blz_stream_delete(list->stream);
    if (list->recording != NULL)
        blz_recording_release(list->recording);
    blr_mutex_destroy(&list->mutex);
    blz_context_release(list->context);
    blr_delete(list);
}

void blz_list_release(struct blz_list *list) { blr_object_release(&list->object); }

static struct blz_list *new_list(struct blz_context *context, struct blz_device *device)
{
    struct blz_list *list = blr_new(sizeof *list);
    if (list == NULL) {
        blz_fail_memory("a command list");
        return NULL;
    }
    blz_context_retain(context);
    list->context = context;
    list->device = device;
    blr_mutex_init(&list->mutex);
    return list;
}

static ze_result_t check_ordinal(uint32_t ordinal, const char *name)
{
    if (blz_queue_group(ordinal) != NULL)
        return ZE_RESULT_SUCCESS;
    return blz_fail(ZE_RESULT_ERROR_INVALID_ARGUMENT, "%s is %u: the device has %u command queue groups", name, ordinal,
                    BLZ_QUEUE_GROUPS);
}

static ze_result_t create_regular(struct blz_context *context, struct blz_device *device, const ze_command_list_desc_t *desc,
                                  ze_command_list_handle_t *handle)
{
    struct blz_list *list = new_list(context, device);
    if (list == NULL)
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    list->ordinal = desc->commandQueueGroupOrdinal;
    list->flags = desc->flags;
    list->recording = blz_recording_new();
    if (list->recording == NULL) {
        destroy(&list->object);
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    }
    return blz_register(&list->object, BLR_KIND_ZE_LIST, destroy, handle);
}

ze_result_t zeCommandListCreate(ze_context_handle_t context_handle, ze_device_handle_t device_handle,
                                const ze_command_list_desc_t *desc, ze_command_list_handle_t *handle)
{
    struct blz_context *context;
    struct blz_device *device;
    ze_result_t result = blz_place_acquire(context_handle, device_handle, &context, &device);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    struct blz_extension extensions[] = {{(ze_structure_type_t)BLZ_INTEL_COPY_OFFLOAD_HINT_DESC, NULL}};
    result = blz_descriptor(desc, ZE_STRUCTURE_TYPE_COMMAND_LIST_DESC, "desc", extensions, 1);
    if (result == ZE_RESULT_SUCCESS && handle == NULL)
        result = blz_fail_null("phCommandList");
    if (result == ZE_RESULT_SUCCESS && (desc->flags & ~(uint32_t)LIST_FLAGS) != 0)
        result = blz_fail_enumeration("desc->flags", desc->flags, "flags that are known are 0x3f");
    if (result == ZE_RESULT_SUCCESS)
        result = check_ordinal(desc->commandQueueGroupOrdinal, "desc->commandQueueGroupOrdinal");
    if (result == ZE_RESULT_SUCCESS)
        result = create_regular(context, device, desc, handle);
    blz_context_release(context);
    return result;
}

ze_result_t blz_queue_check(const ze_command_queue_desc_t *desc, const char *name)
{
    struct blz_extension extensions[] = {{(ze_structure_type_t)BLZ_INTEL_COPY_OFFLOAD_HINT_DESC, NULL}};
    ze_result_t result = blz_descriptor(desc, ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC, name, extensions, 1);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    if ((desc->flags & ~(uint32_t)(ZE_COMMAND_QUEUE_FLAG_EXPLICIT_ONLY | ZE_COMMAND_QUEUE_FLAG_IN_ORDER |
                                   ZE_COMMAND_QUEUE_FLAG_COPY_OFFLOAD_HINT)) != 0)
        return blz_fail_enumeration("the flags of a command queue", desc->flags, "flags that are known are 0x7");
    if (desc->mode < ZE_COMMAND_QUEUE_MODE_DEFAULT || desc->mode > ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS)
        return blz_fail_enumeration("the mode of a command queue", desc->mode, "0 (default), 1 (synchronous) or 2 (asynchronous) is needed");
    if (desc->priority < ZE_COMMAND_QUEUE_PRIORITY_NORMAL || desc->priority > ZE_COMMAND_QUEUE_PRIORITY_PRIORITY_HIGH)
        return blz_fail_enumeration("the priority of a command queue", desc->priority, "0 (normal), 1 (low) or 2 (high) is needed");
    result = check_ordinal(desc->ordinal, "the ordinal of a command queue");
    if (result == ZE_RESULT_SUCCESS && desc->index >= blz_queue_group(desc->ordinal)->queues)
        result = blz_fail(ZE_RESULT_ERROR_INVALID_ARGUMENT, "the index of a command queue is %u: group %u has %u queues", desc->index,
                          desc->ordinal, blz_queue_group(desc->ordinal)->queues);
    return result;
}

static ze_result_t create_immediate(struct blz_context *context, struct blz_device *device, const ze_command_queue_desc_t *desc,
                                    ze_command_list_handle_t *handle)
{
    struct blz_list *list = new_list(context, device);
    if (list == NULL)
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    list->ordinal = desc->ordinal;
    list->queue = *desc;
    list->queue.pNext = NULL;
    list->stream = blz_stream_new(context);
    if (list->stream == NULL) {
        destroy(&list->object);
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    }
    return blz_register(&list->object, BLR_KIND_ZE_LIST, destroy, handle);
}

ze_result_t zeCommandListCreateImmediate(ze_context_handle_t context_handle, ze_device_handle_t device_handle,
                                         const ze_command_queue_desc_t *desc, ze_command_list_handle_t *handle)
{
    struct blz_context *context;
    struct blz_device *device;
    ze_result_t result = blz_place_acquire(context_handle, device_handle, &context, &device);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    result = blz_queue_check(desc, "altdesc");
    if (result == ZE_RESULT_SUCCESS)
        result = handle == NULL ? blz_fail_null("phCommandList") : create_immediate(context, device, desc, handle);
    blz_context_release(context);
    return result;
}

ze_result_t zeCommandListDestroy(ze_command_list_handle_t handle) { return blz_destroy(handle, BLR_KIND_ZE_LIST); }

/* ---------------------------------------------------------------- closing and resetting */

static ze_result_t acquire(ze_command_list_handle_t handle, struct blz_list **list)
{
    return blz_acquire(handle, BLR_KIND_ZE_LIST, list);
}

ze_result_t zeCommandListClose(ze_command_list_handle_t handle)
{
    struct blz_list *list;
    ze_result_t result = acquire(handle, &list);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    blr_mutex_lock(&list->mutex);
    list->closed = true;
    blr_mutex_unlock(&list->mutex);
    blz_list_release(list);
    return ZE_RESULT_SUCCESS;
}

/* A running execution continues with the commands it retained. */
ze_result_t zeCommandListReset(ze_command_list_handle_t handle)
{
    struct blz_list *list;
    ze_result_t result = acquire(handle, &list);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    struct blz_recording *before = NULL, *fresh = list->stream == NULL ? blz_recording_new() : NULL;
    if (list->stream == NULL && fresh == NULL) {
        result = ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    } else {
        blr_mutex_lock(&list->mutex);
        before = list->recording;
        list->recording = fresh;
        list->closed = false;
        blr_mutex_unlock(&list->mutex);
    }
    if (before != NULL)
        blz_recording_release(before);
    blz_list_release(list);
    return result;
}

/* ---------------------------------------------------------------- commands */

ze_result_t blz_list_acquire(ze_command_list_handle_t handle, enum blz_need need, struct blz_list **list)
{
    ze_result_t result = acquire(handle, list);
    if (result != ZE_RESULT_SUCCESS || need == BLZ_LIST_COPY ||
        (blz_queue_group((*list)->ordinal)->flags & ZE_COMMAND_QUEUE_GROUP_PROPERTY_FLAG_COMPUTE) != 0)
        return result;
    result = blz_fail(ZE_RESULT_ERROR_INVALID_COMMAND_LIST_TYPE,
                      "a command list of group %u, which runs copies only: kernels need a list of group 0", (*list)->ordinal);
    blz_list_release(*list);
    *list = NULL;
    return result;
}

struct blz_placement blz_list_placement(const struct blz_list *list)
{
    bool in_order = list->stream != NULL ? (list->queue.flags & ZE_COMMAND_QUEUE_FLAG_IN_ORDER) != 0
                                         : (list->flags & ZE_COMMAND_LIST_FLAG_IN_ORDER) != 0;
    return (struct blz_placement){.recorded = list->stream == NULL, .in_order = in_order};
}

static ze_result_t submit(struct blz_list *list, struct blz_command *command)
{
    bool synchronous = list->queue.mode == ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS;
    struct blz_following following = blz_command_take_following(command);
    command->work.command = command;
    if (command->signal != NULL && !synchronous)
        blz_event_set_source(command->signal, list->stream);
    ze_result_t result = blz_stream_submit(list->stream, &command->work, synchronous);
    blz_following_end(following, result == ZE_RESULT_SUCCESS);
    if (result != ZE_RESULT_SUCCESS)
        blz_command_delete(command);
    else if (synchronous)
        result = blz_stream_synchronize(list->stream, UINT64_MAX);
    return result;
}

ze_result_t blz_list_append(struct blz_list *list, struct blz_command *command, ze_event_handle_t signal, uint32_t wait_count,
                            ze_event_handle_t *waits)
{
    ze_result_t result = blz_command_set_events(command, blz_list_placement(list), signal, wait_count, waits);
    blr_mutex_lock(&list->mutex);
    if (result == ZE_RESULT_SUCCESS && list->closed)
        result = blz_fail(ZE_RESULT_ERROR_INVALID_ARGUMENT, "the command list is closed: zeCommandListReset opens it again, empty");
    if (result == ZE_RESULT_SUCCESS && list->recording != NULL) {
        blz_recording_add(list->recording, command);
        blz_following_end(blz_command_take_following(command), true);
    }
    blr_mutex_unlock(&list->mutex);
    if (result != ZE_RESULT_SUCCESS)
        blz_command_delete(command);
    else if (list->stream != NULL)
        result = submit(list, command);
    return result;
}

ze_result_t blz_list_end(struct blz_list *list, struct blz_command *command, ze_result_t result, ze_event_handle_t signal,
                         uint32_t wait_count, ze_event_handle_t *waits)
{
    if (result == ZE_RESULT_SUCCESS)
        result = blz_list_append(list, command, signal, wait_count, waits);
    else if (command != NULL)
        blz_command_delete(command);
    blz_list_release(list);
    return result;
}

ze_result_t blz_list_recording(ze_command_list_handle_t handle, const ze_command_queue_desc_t *queue,
                               struct blz_recording **recording)
{
    struct blz_list *list;
    ze_result_t result = acquire(handle, &list);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    blr_mutex_lock(&list->mutex);
    if (list->stream != NULL)
        result = blz_fail(ZE_RESULT_ERROR_INVALID_COMMAND_LIST_TYPE, "an immediate command list cannot be executed: a regular one is needed");
    else if (list->ordinal != queue->ordinal)
        result = blz_fail(ZE_RESULT_ERROR_INVALID_COMMAND_LIST_TYPE, "a command list of group %u on a queue of group %u: both must be equal",
                          list->ordinal, queue->ordinal);
    else if ((queue->flags & ZE_COMMAND_QUEUE_FLAG_EXPLICIT_ONLY) != 0 && (list->flags & ZE_COMMAND_LIST_FLAG_EXPLICIT_ONLY) == 0)
        result = blz_fail(ZE_RESULT_ERROR_INVALID_COMMAND_LIST_TYPE,
                          "a command list without ZE_COMMAND_LIST_FLAG_EXPLICIT_ONLY on a queue with "
                          "ZE_COMMAND_QUEUE_FLAG_EXPLICIT_ONLY: create the list with the flag");
    else if (!list->closed)
        result = blz_fail(ZE_RESULT_ERROR_INVALID_ARGUMENT, "the command list is not closed: call zeCommandListClose before its execution");
    else
        blz_recording_retain(*recording = list->recording);
    blr_mutex_unlock(&list->mutex);
    blz_list_release(list);
    return result;
}

ze_result_t zeCommandListHostSynchronize(ze_command_list_handle_t handle, uint64_t timeout)
{
    struct blz_list *list;
    ze_result_t result = acquire(handle, &list);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    if (list->stream == NULL)
        result = blz_fail(ZE_RESULT_ERROR_INVALID_ARGUMENT, "a regular command list has no stream: synchronize its queue");
    else
        result = blz_stream_synchronize(list->stream, timeout);
    blz_list_release(list);
    return result;
}

/* ---------------------------------------------------------------- copies of lists */

static ze_result_t duplicate(struct blz_list *list, ze_command_list_handle_t *handle)
{
    ze_command_list_desc_t desc = {.commandQueueGroupOrdinal = list->ordinal, .flags = list->flags};
    struct blz_recording *recording = NULL;
    if ((list->flags & ZE_COMMAND_LIST_FLAG_EXP_CLONEABLE) == 0)
        return blz_fail(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                        "the command list was created without ZE_COMMAND_LIST_FLAG_EXP_CLONEABLE: it cannot be copied");
    blr_mutex_lock(&list->mutex);
    if (list->closed)
        blz_recording_retain(recording = list->recording);
    blr_mutex_unlock(&list->mutex);
    if (recording == NULL)
        return blz_fail(ZE_RESULT_ERROR_INVALID_ARGUMENT, "the command list is not closed: call zeCommandListClose before its copy");
    ze_result_t result = create_regular(list->context, list->device, &desc, handle);
    struct blz_list *copy = NULL;
    if (result == ZE_RESULT_SUCCESS)
        result = acquire(*handle, &copy);
    if (result == ZE_RESULT_SUCCESS) {
        blr_mutex_lock(&copy->mutex);
        struct blz_recording *empty = copy->recording;
        copy->recording = recording;
        copy->closed = true;
        blr_mutex_unlock(&copy->mutex);
        recording = empty;
        blz_list_release(copy);
    }
    blz_recording_release(recording);
    return result;
}

ze_result_t zeCommandListCreateCloneExp(ze_command_list_handle_t handle, ze_command_list_handle_t *cloned)
{
    struct blz_list *list;
    ze_result_t result = acquire(handle, &list);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    result = cloned == NULL ? blz_fail_null("phClonedCommandList") : duplicate(list, cloned);
    blz_list_release(list);
    return result;
}
