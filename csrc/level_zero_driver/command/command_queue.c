/* Command queues: creation, execution of lists, synchronisation. */

#include "level_zero_driver/command/command_queue.h"

#include "level_zero_driver/sync/fence.h"
#include "level_zero_driver/command/command_list.h"

/* ---------------------------------------------------------------- life */

static void destroy(struct blr_object *object)
{
    struct blz_queue *queue = (struct blz_queue *)object;
    if (queue->stream != NULL)
        blz_stream_delete(queue->stream);
    blz_context_release(queue->context);
    blr_delete(queue);
}

ze_result_t blz_queue_acquire(ze_command_queue_handle_t handle, struct blz_queue **queue)
{
    return blz_acquire(handle, BLR_KIND_ZE_QUEUE, queue);
}

void blz_queue_release(struct blz_queue *queue) { blr_object_release(&queue->object); }

static ze_result_t create(struct blz_context *context, struct blz_device *device, const ze_command_queue_desc_t *desc,
                          ze_command_queue_handle_t *handle)
{
    struct blz_queue *queue = blr_new(sizeof *queue);
    if (queue == NULL)
        return blz_fail_memory("a command queue");
    blz_context_retain(context);
    queue->context = context;
    queue->device = device;
    queue->desc = *desc;
    queue->desc.pNext = NULL;
    queue->stream = blz_stream_new(context);
    if (queue->stream == NULL) {
        destroy(&queue->object);
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    }
    return blz_register(&queue->object, BLR_KIND_ZE_QUEUE, destroy, handle);
}

ze_result_t zeCommandQueueCreate(ze_context_handle_t context_handle, ze_device_handle_t device_handle,
                                 const ze_command_queue_desc_t *desc, ze_command_queue_handle_t *handle)
{
    struct blz_context *context;
    struct blz_device *device;
    ze_result_t result = blz_place_acquire(context_handle, device_handle, &context, &device);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    result = blz_queue_check(desc, "desc");
    if (result == ZE_RESULT_SUCCESS)
        result = handle == NULL ? blz_fail_null("phCommandQueue") : create(context, device, desc, handle);
    blz_context_release(context);
    return result;
}

ze_result_t zeCommandQueueDestroy(ze_command_queue_handle_t handle) { return blz_destroy(handle, BLR_KIND_ZE_QUEUE); }

/* ---------------------------------------------------------------- execution */

/* Creates one work item per list; the last one holds the fence. */
static ze_result_t gather(const struct blz_queue *queue, uint32_t count, ze_command_list_handle_t *lists, ze_fence_handle_t fence,
                          struct blz_work **first)
{
    ze_result_t result = ZE_RESULT_SUCCESS;
    struct blz_work **last = first, *work = NULL;
    for (uint32_t i = 0; i < count && result == ZE_RESULT_SUCCESS; i++) {
        if ((work = blr_new(sizeof *work)) == NULL)
            return blz_fail_memory("the execution of a command list");
        *last = work;
        last = &work->next;
        result = blz_list_recording(lists[i], &queue->desc, &work->recording);
    }
    if (result == ZE_RESULT_SUCCESS && fence != NULL)
        result = blz_fence_acquire(fence, queue, &work->fence);
    return result;
}

ze_result_t zeCommandQueueExecuteCommandLists(ze_command_queue_handle_t handle, uint32_t count, ze_command_list_handle_t *lists,
                                              ze_fence_handle_t fence)
{
    struct blz_queue *queue;
    struct blz_work *first = NULL;
    ze_result_t result = blz_queue_acquire(handle, &queue);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    bool synchronous = queue->desc.mode == ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS;
    if (lists == NULL)
        result = blz_fail_null("phCommandLists");
    else if (count == 0)
        result = blz_fail(ZE_RESULT_ERROR_INVALID_SIZE, "numCommandLists is 0: at least one command list is needed");
    else
        result = gather(queue, count, lists, fence, &first);
    if (result == ZE_RESULT_SUCCESS)
        result = blz_work_begin(first);
    if (result == ZE_RESULT_SUCCESS)
        result = blz_stream_submit(queue->stream, first, synchronous);
    if (result != ZE_RESULT_SUCCESS)
        blz_work_drop(first);
    else if (synchronous)
        result = blz_stream_synchronize(queue->stream, UINT64_MAX);
    blz_queue_release(queue);
    return result;
}

ze_result_t zeCommandQueueSynchronize(ze_command_queue_handle_t handle, uint64_t timeout)
{
    struct blz_queue *queue;
    ze_result_t result = blz_queue_acquire(handle, &queue);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    result = blz_stream_synchronize(queue->stream, timeout);
    blz_queue_release(queue);
    return result;
}

/* ---------------------------------------------------------------- what a queue was made from */

#define ANSWER(handle, place, name, value)                                                                                    \
    do {                                                                                                                      \
        struct blz_queue *queue;                                                                                              \
        ze_result_t result = blz_queue_acquire(handle, &queue);                                                               \
        if (result != ZE_RESULT_SUCCESS)                                                                                      \
            return result;                                                                                                    \
        if ((place) == NULL)                                                                                                  \
            result = blz_fail_null(name);                                                                                     \
        else                                                                                                                  \
            *(place) = queue->desc.value;                                                                                     \
        blz_queue_release(queue);                                                                                             \
        return result;                                                                                                        \
    } while (0)

ze_result_t zeCommandQueueGetOrdinal(ze_command_queue_handle_t handle, uint32_t *ordinal)
{
    ANSWER(handle, ordinal, "pOrdinal", ordinal);
}

ze_result_t zeCommandQueueGetIndex(ze_command_queue_handle_t handle, uint32_t *index) { ANSWER(handle, index, "pIndex", index); }

ze_result_t zeCommandQueueGetFlags(ze_command_queue_handle_t handle, ze_command_queue_flags_t *flags)
{
    ANSWER(handle, flags, "pFlags", flags);
}

ze_result_t zeCommandQueueGetMode(ze_command_queue_handle_t handle, ze_command_queue_mode_t *mode)
{
    ANSWER(handle, mode, "pMode", mode);
}

ze_result_t zeCommandQueueGetPriority(ze_command_queue_handle_t handle, ze_command_queue_priority_t *priority)
{
    ANSWER(handle, priority, "pPriority", priority);
}
