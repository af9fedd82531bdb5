/* Events: status, waiting, errors and timestamps, and user events. */
#include "runtime/event.h"

#include "platform/heap.h"
#include "runtime/queue.h"

static void destroy(struct blr_object *object)
{
    struct blr_event *event = (struct blr_event *)object;
    if (event->cause != NULL)
        blr_event_release(event->cause);
    blr_delete(event->message);
    blr_condition_destroy(&event->changed);
    blr_context_release(event->context);
    blr_block_delete(event);
}

struct blr_event *blr_event_new(struct blr_context *context, uint64_t queue)
{
    struct blr_event *event = blr_block_new(sizeof *event);
    if (event == NULL) {
        blr_fail(BLR_RESULT_OUT_OF_MEMORY, "no memory for an event");
        return NULL;
    }
    event->context = context;
    event->queue = queue;
    blr_condition_init(&event->changed);
    if (blr_object_register(&event->object, BLR_KIND_EVENT, destroy) != BLR_RESULT_SUCCESS) {
        blr_condition_destroy(&event->changed);
        blr_block_delete(event);
        return NULL;
    }
    blr_context_retain(context);
    return event;
}

struct blr_event *blr_event_acquire(blr_event_t handle)
{
    return (struct blr_event *)blr_object_acquire(blr_handle_id(handle), BLR_KIND_EVENT);
}

void blr_event_retain(struct blr_event *event) { blr_object_retain(&event->object); }

void blr_event_release(struct blr_event *event) { blr_object_release(&event->object); }

const char *blr_event_message(const struct blr_event *event)
{
    if (event->message != NULL)
        return event->message;
    return event->result == BLR_RESULT_SUCCESS ? "" : "the error message was lost: no memory to store it";
}

/* ---------------------------------------------------------------- asking */

/* Waits until the event is complete; false when the deadline passed. Needs the lock. */
static bool wait_for(struct blr_event *event, uint64_t deadline)
{
    while (!blr_event_is_complete(event)) {
        struct blr_command *command = event->command;
        if (command != NULL && blr_scheduler_help(command->queue, command->sequence, deadline))
            continue;
        event->waiters++;
        bool in_time = blr_condition_wait(&event->changed, &blr_scheduler_mutex, deadline);
        event->waiters--;
        if (!in_time && blr_clock_now() >= deadline)
            return blr_event_is_complete(event);
    }
    return true;
}

static blr_result_t wait_for_event(struct blr_event *event, uint64_t timeout)
{
    uint64_t deadline = blr_clock_deadline(timeout);
    blr_mutex_lock(&blr_scheduler_mutex);
    bool own = event->queue != 0 && event->queue == blr_scheduler_current_queue();
    bool done = blr_event_is_complete(event);
    if (!done && !own)
        done = wait_for(event, deadline);
    if (done)
        event->reported = true;
    blr_mutex_unlock(&blr_scheduler_mutex);
    if (!done && own)
        return blr_fail(BLR_RESULT_INVALID_ARGUMENT,
                        "blrEventWait was called by a function that runs in the event's own queue: it would wait for "
                        "itself");
    if (!done)
        return blr_fail(BLR_RESULT_TIMEOUT, "the event is not complete after %.6g s", (double)timeout * 1e-9);
    /* A complete event does not change. */
    if (event->status == BLR_EVENT_FAILED)
        return blr_fail(event->result, "%s", blr_event_message(event));
    return BLR_RESULT_SUCCESS;
}

blr_result_t blrEventWait(blr_event_t handle, uint64_t timeout)
{
    struct blr_event *event = blr_event_acquire(handle);
    if (event == NULL)
        return BLR_RESULT_INVALID_HANDLE;
    blr_result_t result = wait_for_event(event, timeout);
    blr_event_release(event);
    return result;
}

blr_result_t blrEventGetStatus(blr_event_t handle, blr_event_status_t *status)
{
    struct blr_event *event = blr_event_acquire(handle);
    if (event == NULL)
        return BLR_RESULT_INVALID_HANDLE;
    blr_result_t result = BLR_RESULT_SUCCESS;
    if (status == NULL) {
        result = blr_fail(BLR_RESULT_INVALID_ARGUMENT, "status is NULL: an output pointer is required");
    } else {
        blr_mutex_lock(&blr_scheduler_mutex);
        *status = event->status;
        blr_mutex_unlock(&blr_scheduler_mutex);
    }
    blr_event_release(event);
    return result;
}

blr_result_t blrEventGetError(blr_event_t handle, blr_result_t *code, const char **message)
{
    static _Thread_local struct blr_error copy;
    struct blr_event *event = blr_event_acquire(handle);
    if (event == NULL)
        return BLR_RESULT_INVALID_HANDLE;
    blr_result_t result = BLR_RESULT_SUCCESS;
    if (code == NULL || message == NULL) {
        result = blr_fail(BLR_RESULT_INVALID_ARGUMENT, "%s is NULL: output pointers for code and message are required",
                          code == NULL ? "code" : "message");
    } else {
        blr_mutex_lock(&blr_scheduler_mutex);
        bool done = blr_event_is_complete(event);
        if (done)
            event->reported = true;
        blr_mutex_unlock(&blr_scheduler_mutex);
        struct blr_error *before = blr_error_redirect(&copy);
        *code = blr_fail(done ? event->result : BLR_RESULT_NOT_READY, "%s", done ? blr_event_message(event) : "");
        blr_error_redirect(before);
        *message = copy.message;
    }
    blr_event_release(event);
    return result;
}

blr_result_t blrEventGetTimestamps(blr_event_t handle, uint64_t *submitted, uint64_t *started, uint64_t *ended)
{
    struct blr_event *event = blr_event_acquire(handle);
    if (event == NULL)
        return BLR_RESULT_INVALID_HANDLE;
    blr_result_t result = BLR_RESULT_SUCCESS;
    if (submitted == NULL || started == NULL || ended == NULL) {
        result = blr_fail(BLR_RESULT_INVALID_ARGUMENT, "an output pointer is NULL: submitted, started and ended are "
                                                       "required");
    } else {
        blr_mutex_lock(&blr_scheduler_mutex);
        if (blr_event_is_complete(event)) {
            *submitted = event->submitted;
            *started = event->started;
            *ended = event->ended;
        } else {
            result = BLR_RESULT_NOT_READY;
        }
        blr_mutex_unlock(&blr_scheduler_mutex);
    }
    blr_event_release(event);
    return result;
}

/* ---------------------------------------------------------------- life */

blr_result_t blrEventRetain(blr_event_t handle)
{
    struct blr_event *event = blr_event_acquire(handle);
    if (event == NULL)
        return BLR_RESULT_INVALID_HANDLE;
    uint32_t owners = atomic_load(&event->owners);
    bool retained = false;
    while (owners > 0 && owners < UINT32_MAX && !retained)
        retained = atomic_compare_exchange_weak(&event->owners, &owners, owners + 1);
    blr_event_release(event);
    if (!retained)
        return blr_fail(BLR_RESULT_INVALID_HANDLE, "the event was released by another thread");
    return BLR_RESULT_SUCCESS;
}

/* Fails a user event that can no longer be signalled, so that nothing waits for it for ever. */
static void abandon(struct blr_event *event)
{
    blr_mutex_lock(&blr_scheduler_mutex);
    if (!blr_event_is_complete(event)) {
        event->started = blr_clock_now();
        blr_scheduler_complete(event, BLR_RESULT_INVALID_HANDLE,
                               "the user event was released before it was signalled");
    }
    blr_mutex_unlock(&blr_scheduler_mutex);
}

blr_result_t blrEventRelease(blr_event_t handle)
{
    struct blr_event *event = blr_event_acquire(handle);
    if (event == NULL)
        return BLR_RESULT_INVALID_HANDLE;
    uint32_t owners = atomic_load(&event->owners);
    while (owners > 0 && !atomic_compare_exchange_weak(&event->owners, &owners, owners - 1)) {
    }
    if (owners == 1) {
        blr_object_close(&event->object);
        if (event->queue == 0)
            abandon(event);
    }
    blr_event_release(event);
    if (owners == 0)
        return blr_fail(BLR_RESULT_INVALID_HANDLE, "the event was released by another thread");
    return BLR_RESULT_SUCCESS;
}

blr_result_t blrEventCreateUser(blr_context_t context_handle, blr_event_t *handle)
{
    struct blr_context *context = blr_context_acquire(context_handle);
    if (context == NULL)
        return BLR_RESULT_INVALID_HANDLE;
    blr_result_t result = BLR_RESULT_SUCCESS;
    if (handle == NULL) {
        result = blr_fail(BLR_RESULT_INVALID_ARGUMENT, "event is NULL: an output pointer is required");
    } else {
        *handle = NULL;
        struct blr_event *event = blr_event_new(context, 0);
        if (event == NULL) {
            result = BLR_RESULT_OUT_OF_MEMORY;
        } else {
            atomic_store_explicit(&event->owners, 1, memory_order_relaxed);
            event->submitted = blr_clock_now();
            *handle = (blr_event_t)(uintptr_t)event->object.id;
        }
    }
    blr_context_release(context);
    return result;
}

static blr_result_t signal_user(struct blr_event *event, blr_result_t outcome)
{
    if (event->queue != 0)
        return blr_fail(BLR_RESULT_INVALID_ARGUMENT,
                        "the event belongs to a command: only one of blrEventCreateUser can be signalled");
    if (outcome == BLR_RESULT_NOT_READY || (unsigned)outcome > BLR_RESULT_KERNEL_FAULT)
        return blr_fail(BLR_RESULT_INVALID_ARGUMENT,
                        "result %d: SUCCESS or an error code is required to signal an event", (int)outcome);
    struct blr_error reason;
    struct blr_error *before = blr_error_redirect(&reason);
    blr_fail(outcome, "the user event was signalled with %s", blr_result_name(outcome));
    blr_error_redirect(before);
    blr_mutex_lock(&blr_scheduler_mutex);
    bool first = !blr_event_is_complete(event);
    if (first) {
        event->started = blr_clock_now();
        blr_scheduler_complete(event, outcome, reason.message);
    }
    blr_mutex_unlock(&blr_scheduler_mutex);
    if (!first)
        return blr_fail(BLR_RESULT_INVALID_ARGUMENT, "the user event was already signalled: it can be signalled once");
    return BLR_RESULT_SUCCESS;
}

blr_result_t blrEventSignalUser(blr_event_t handle, blr_result_t result)
{
    struct blr_event *event = blr_event_acquire(handle);
    if (event == NULL)
        return BLR_RESULT_INVALID_HANDLE;
    blr_result_t outcome = signal_user(event, result);
    blr_event_release(event);
    return outcome;
}
