/* Fences: creation, waits, queries and destruction. */

#include "level_zero_driver/sync/fence.h"

#include "level_zero_driver/command/command_queue.h"
#include "level_zero_driver/core/descriptor_chain.h"

static void destroy(struct blr_object *object)
{
    struct blz_fence *fence = (struct blz_fence *)object;
    blz_queue_release(fence->queue);
    blr_delete(fence);
}

static ze_result_t acquire(ze_fence_handle_t handle, struct blz_fence **fence)
{
    return blz_acquire(handle, BLR_KIND_ZE_FENCE, fence);
}

ze_result_t blz_fence_acquire(ze_fence_handle_t handle, const struct blz_queue *queue, struct blz_fence **fence)
{
    ze_result_t result = acquire(handle, fence);
    if (result != ZE_RESULT_SUCCESS || (*fence)->queue == queue)
        return result;
    blr_object_release(&(*fence)->object);
    *fence = NULL;
    return blz_fail(ZE_RESULT_ERROR_INVALID_SYNCHRONIZATION_OBJECT, "the fence belongs to another command queue");
}

static ze_result_t create(struct blz_queue *queue, const ze_fence_desc_t *desc, ze_fence_handle_t *handle)
{
    if ((desc->flags & ~(uint32_t)ZE_FENCE_FLAG_SIGNALED) != 0)
        return blz_fail_enumeration("desc->flags", desc->flags, "ZE_FENCE_FLAG_SIGNALED is known");
    struct blz_fence *fence = blr_new(sizeof *fence);
    if (fence == NULL)
        return blz_fail_memory("a fence");
    blr_object_retain(&queue->object);
    fence->queue = queue;
    atomic_init(&fence->slot.signaled, (desc->flags & ZE_FENCE_FLAG_SIGNALED) != 0);
    return blz_register(&fence->object, BLR_KIND_ZE_FENCE, destroy, handle);
}

ze_result_t zeFenceCreate(ze_command_queue_handle_t queue_handle, const ze_fence_desc_t *desc, ze_fence_handle_t *handle)
{
    struct blz_queue *queue;
    ze_result_t result = blz_queue_acquire(queue_handle, &queue);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    result = blz_descriptor(desc, ZE_STRUCTURE_TYPE_FENCE_DESC, "desc", NULL, 0);
    if (result == ZE_RESULT_SUCCESS)
        result = handle == NULL ? blz_fail_null("phFence") : create(queue, desc, handle);
    blz_queue_release(queue);
    return result;
}

ze_result_t zeFenceDestroy(ze_fence_handle_t handle) { return blz_destroy(handle, BLR_KIND_ZE_FENCE); }

ze_result_t zeFenceHostSynchronize(ze_fence_handle_t handle, uint64_t timeout)
{
    struct blz_fence *fence;
    ze_result_t result = acquire(handle, &fence);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    if (timeout == UINT64_MAX)
        blz_stream_help(fence->queue->stream, &fence->slot);
    if (timeout > 0)
        blz_slot_wait(&fence->slot, false, blr_clock_deadline(timeout));
    result = blz_slot_result(&fence->slot);
    blr_object_release(&fence->object);
    return result;
}

ze_result_t zeFenceQueryStatus(ze_fence_handle_t handle) { return zeFenceHostSynchronize(handle, 0); }

ze_result_t zeFenceReset(ze_fence_handle_t handle)
{
    struct blz_fence *fence;
    ze_result_t result = acquire(handle, &fence);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    blz_slot_reset(&fence->slot);
    blr_object_release(&fence->object);
    return result;
}
