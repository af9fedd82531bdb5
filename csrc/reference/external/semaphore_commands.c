/* External semaphores as objects of the driver, and the commands that wait for them and signal them. A wait blocks the
 * thread of its queue and no other. */
#include "platform/heap.h"
#include "runtime/device.h"
#include "external/semaphore_file.h"
#include "runtime/queue.h"

struct external_semaphore {
    struct blr_object object;
    struct blr_context *context; /* retained */
    struct blr_semaphore semaphore;
};

static void destroy(struct blr_object *object)
{
    struct external_semaphore *own = (struct external_semaphore *)object;
    blr_semaphore_close(&own->semaphore);
    blr_context_release(own->context);
    blr_delete(own);
}

static struct external_semaphore *acquire(blr_external_semaphore_t handle)
{
    return (struct external_semaphore *)blr_object_acquire(blr_handle_id(handle), BLR_KIND_EXTERNAL_SEMAPHORE);
}

/* ---------------------------------------------------------------- import */

static blr_result_t import(struct blr_context *context, blr_semaphore_type_t type, int file, uint64_t offset, blr_external_semaphore_t *handle)
{
    if (handle == NULL)
        return blr_fail(BLR_RESULT_INVALID_ARGUMENT, "semaphore is NULL: an output pointer is required");
    *handle = NULL;
    if (type != BLR_SEMAPHORE_BINARY && type != BLR_SEMAPHORE_TIMELINE)
        return blr_fail(BLR_RESULT_INVALID_ARGUMENT, "semaphore type %d: BINARY (0) or TIMELINE (1) is needed", (int)type);
    struct external_semaphore *own = blr_new(sizeof *own);
    if (own == NULL)
        return blr_fail(BLR_RESULT_OUT_OF_MEMORY, "no memory to describe an external semaphore");
    blr_result_t result = blr_semaphore_open(&own->semaphore, type == BLR_SEMAPHORE_TIMELINE, file, offset);
    if (result == BLR_RESULT_SUCCESS) {
        result = blr_object_register(&own->object, BLR_KIND_EXTERNAL_SEMAPHORE, destroy);
        if (result != BLR_RESULT_SUCCESS)
            blr_semaphore_close(&own->semaphore);
    }
    if (result != BLR_RESULT_SUCCESS) {
        blr_delete(own);
        return result;
    }
    own->context = context;
    blr_context_retain(context);
    *handle = (blr_external_semaphore_t)(uintptr_t)own->object.id;
    return BLR_RESULT_SUCCESS;
}

blr_result_t blrExternalSemaphoreImport(blr_context_t context_handle, blr_semaphore_type_t type, int32_t file,
                                        blr_external_semaphore_t *handle)
{
    struct blr_context *context = blr_context_acquire(context_handle);
    if (context == NULL)
        return BLR_RESULT_INVALID_HANDLE;
    blr_result_t result = import(context, type, file, 0, handle);
    blr_context_release(context);
    return result;
}

blr_result_t blr_timeline_import(blr_context_t context_handle, int32_t file, uint64_t offset, blr_external_semaphore_t *handle)
{
    struct blr_context *context = blr_context_acquire(context_handle);
    if (context == NULL)
        return BLR_RESULT_INVALID_HANDLE;
    blr_result_t result = import(context, BLR_SEMAPHORE_TIMELINE, file, offset, handle);
    blr_context_release(context);
    return result;
}

blr_result_t blrExternalSemaphoreRelease(blr_external_semaphore_t handle)
{
    struct external_semaphore *own = acquire(handle);
    if (own == NULL)
        return BLR_RESULT_INVALID_HANDLE;
    blr_result_t result = BLR_RESULT_SUCCESS;
    if (!blr_object_close(&own->object))
        result = blr_fail(BLR_RESULT_INVALID_HANDLE, "the external semaphore was released by another thread");
    blr_object_release(&own->object);
    return result;
}

/* ---------------------------------------------------------------- commands */

struct semaphore_command {
    struct blr_command command;
    struct external_semaphore *external; /* retained */
    uint64_t value;
    double limit;                        /* time limit in seconds; 0: none */
};

static void release(struct blr_command *command)
{
    struct semaphore_command *own = (struct semaphore_command *)command;
    if (own->external != NULL)
        blr_object_release(&own->external->object);
}

static blr_result_t run_wait(struct blr_command *command)
{
    const struct semaphore_command *own = (const struct semaphore_command *)command;
    struct blr_semaphore *semaphore = &own->external->semaphore;
    uint64_t deadline = own->limit > 0 ? blr_clock_deadline((uint64_t)(own->limit * 1e9)) : BLR_NO_DEADLINE;
    blr_result_t result = blr_semaphore_wait(semaphore, own->value, deadline);
    if (result == BLR_RESULT_TIMEOUT)
        return blr_semaphore_fail_late(semaphore, own->external->object.id, own->value, own->limit);
    return result;
}

static blr_result_t run_signal(struct blr_command *command)
{
    const struct semaphore_command *own = (const struct semaphore_command *)command;
    return blr_semaphore_signal(&own->external->semaphore, own->value);
}

static blr_result_t prepare(struct semaphore_command *own, struct blr_queue *queue, blr_external_semaphore_t handle, uint64_t value)
{
    own->value = value;
    own->external = acquire(handle);
    if (own->external == NULL)
        return BLR_RESULT_INVALID_HANDLE;
    if (own->external->context != queue->context)
        return blr_fail(BLR_RESULT_INVALID_HANDLE, "the external semaphore is of another context than the queue: import it there");
    return blr_device_time_limit(&own->limit);
}

static blr_result_t enqueue(blr_queue_t queue_handle, blr_external_semaphore_t handle, uint64_t value, bool waits,
                            uint32_t num_waits, const blr_event_t *wait_events, blr_event_t *event)
{
    struct blr_queue *queue = blr_queue_acquire(queue_handle);
    if (queue == NULL)
        return BLR_RESULT_INVALID_HANDLE;
    blr_result_t result = BLR_RESULT_OUT_OF_MEMORY;
    struct semaphore_command *own = blr_command_new(sizeof *own, waits ? run_wait : run_signal, release);
    if (own != NULL) {
        own->command.waits_outside = waits;
        own->command.is_brief = !waits;
        result = prepare(own, queue, handle, value);
        if (result == BLR_RESULT_SUCCESS)
            result = blr_submit(queue, &own->command, num_waits, wait_events, event);
        else
            blr_command_discard(&own->command);
    }
    blr_queue_release(queue);
    return result;
}

blr_result_t blrEnqueueSemaphoreWait(blr_queue_t queue, blr_external_semaphore_t semaphore, uint64_t value, uint32_t num_waits,
                                     const blr_event_t *waits, blr_event_t *event)
{
    return enqueue(queue, semaphore, value, true, num_waits, waits, event);
}

blr_result_t blrEnqueueSemaphoreSignal(blr_queue_t queue, blr_external_semaphore_t semaphore, uint64_t value, uint32_t num_waits,
                                       const blr_event_t *waits, blr_event_t *event)
{
    return enqueue(queue, semaphore, value, false, num_waits, waits, event);
}
