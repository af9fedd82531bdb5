/* Queues: ready commands, worker threads, unreported failures, waits and barriers. */
#include "runtime/queue.h"

#include "platform/heap.h"
#include "runtime/batch.h"
#include "runtime/event.h"
#include "platform/thread_pool.h"

struct blr_queue *blr_queue_acquire(blr_queue_t handle)
{
    return (struct blr_queue *)blr_object_acquire(blr_handle_id(handle), BLR_KIND_QUEUE);
}

void blr_queue_release(struct blr_queue *queue) { blr_object_release(&queue->object); }

/* ---------------------------------------------------------------- threads */

static void work(void *argument)
{
    struct blr_queue *queue = argument;
    blr_mutex_lock(&blr_scheduler_mutex);
    for (;;) {
        if (queue->ready_first != NULL) {
            blr_scheduler_execute(blr_queue_pop_ready(queue));
        } else if (queue->stopping) {
            break;
        } else {
            queue->idle_workers++;
            blr_condition_wait(&queue->work, &blr_scheduler_mutex, BLR_NO_DEADLINE);
            queue->idle_workers--;
        }
    }
    blr_mutex_unlock(&blr_scheduler_mutex);
}

static bool add_worker(struct blr_queue *queue)
{
    if (queue->worker_count == queue->worker_limit)
        return false;
    blr_process_has_threads();
    if (!blr_thread_create(&queue->workers[queue->worker_count], work, queue))
        return false;
    queue->worker_count++;
    return true;
}

bool blr_queue_start(struct blr_queue *queue) { return queue->worker_count > 0 || add_worker(queue); }

void blr_queue_push_ready(struct blr_queue *queue, struct blr_command *command)
{
    command->next_ready = NULL;
    *queue->ready_last = command;
    queue->ready_last = &command->next_ready;
    queue->ready_count++;
    /* Each sleeping worker takes one command; a busy worker takes another when it has finished its own. */
    if (queue->idle_workers > 0)
        blr_condition_signal(&queue->work);
    blr_queue_add_workers(queue);
}

void blr_queue_add_workers(struct blr_queue *queue)
{
    if (queue->ready_count > queue->idle_workers && queue->worker_count - queue->running_functions < queue->free_workers)
        add_worker(queue);
}

struct blr_command **blr_queue_find_ready(struct blr_queue *queue, uint64_t sequence)
{
    struct blr_command **link = &queue->ready_first;
    while (*link != NULL && (*link)->sequence > sequence)
        link = &(*link)->next_ready;
    return *link != NULL ? link : NULL;
}

struct blr_command *blr_queue_take_ready(struct blr_queue *queue, struct blr_command **link)
{
    struct blr_command *command = *link;
    *link = command->next_ready;
    if (queue->ready_first == NULL)
        queue->ready_last = &queue->ready_first;
    else if (queue->ready_last == &command->next_ready)
        queue->ready_last = link;
    queue->ready_count--;
    return command;
}

struct blr_command *blr_queue_pop_ready(struct blr_queue *queue)
{
    return blr_queue_take_ready(queue, &queue->ready_first);
}

/* ---------------------------------------------------------------- failures */

enum { FAILURES_KEPT = 64 };

static void link_failure(struct blr_queue *queue, struct blr_event *event)
{
    event->next_failure = NULL;
    if (queue->failures_last != NULL)
        queue->failures_last->next_failure = event;
    else
        queue->failures_first = event;
    queue->failures_last = event;
    queue->failures++;
}

/* Whether the event only propagates a failure that was already reported to this queue's caller. */
static bool repeats(const struct blr_event *event, const struct blr_event *root)
{
    const struct blr_event *cause = event->cause;
    return cause != NULL && (cause == root || (cause->reported && cause->queue == event->queue));
}

/* Takes the list of failures over from the queue. */
static struct blr_event *take_failures(struct blr_queue *queue)
{
    struct blr_event *events = queue->failures_first;
    queue->failures_first = queue->failures_last = NULL;
    queue->failures = 0;
    return events;
}

/* Drops the failures that were reported through their events, each time the list has doubled since the last time. */
static void drop_reported(struct blr_queue *queue)
{
    struct blr_event *next;
    for (struct blr_event *event = take_failures(queue); event != NULL; event = next) {
        next = event->next_failure;
        event->next_failure = NULL;
        if (event->reported || repeats(event, NULL))
            blr_event_release(event);
        else
            link_failure(queue, event);
    }
    queue->failures_limit = 2 * queue->failures + FAILURES_KEPT;
}

void blr_queue_add_failure(struct blr_queue *queue, struct blr_event *event)
{
    if (queue->failures >= queue->failures_limit)
        drop_reported(queue);
    blr_event_retain(event);
    link_failure(queue, event);
}

/* The oldest unreported failure, with the queue's reference to it, or NULL. Failures that only propagate it are
 * dropped with it: each cause is reported once. Needs the lock. */
static struct blr_event *take_failure(struct blr_queue *queue)
{
    struct blr_event *failure = NULL, *root = NULL, *next;
    for (struct blr_event *event = take_failures(queue); event != NULL; event = next) {
        next = event->next_failure;
        event->next_failure = NULL;
        if (event->reported || repeats(event, root)) {
            blr_event_release(event);
        } else if (failure == NULL) {
            failure = event;
            failure->reported = true;
            root = failure->cause != NULL ? failure->cause : failure;
        } else {
            link_failure(queue, event);
        }
    }
    return failure;
}

blr_result_t blrQueueTakeFailure(blr_queue_t handle, blr_result_t *code, const char **message)
{
    struct blr_queue *queue = blr_queue_acquire(handle);
    if (queue == NULL)
        return BLR_RESULT_INVALID_HANDLE;
    blr_result_t result = BLR_RESULT_SUCCESS;
    if (code == NULL || message == NULL) {
        result = blr_fail(BLR_RESULT_INVALID_ARGUMENT, "%s is NULL: output pointers for code and message are required",
                          code == NULL ? "code" : "message");
    } else {
        static _Thread_local struct blr_error copy;
        blr_mutex_lock(&blr_scheduler_mutex);
        struct blr_event *event = take_failure(queue);
        blr_mutex_unlock(&blr_scheduler_mutex);
        copy.code = BLR_RESULT_SUCCESS;
        copy.message[0] = '\0';
        if (event != NULL) {
            struct blr_error *before = blr_error_redirect(&copy);
            blr_fail(event->result, "%s", blr_event_message(event));
            blr_error_redirect(before);
            blr_event_release(event);
        }
        *code = copy.code;
        *message = copy.message;
    }
    blr_queue_release(queue);
    return result;
}

/* ---------------------------------------------------------------- life */

static void destroy(struct blr_object *object)
{
    struct blr_queue *queue = (struct blr_queue *)object;
    blr_mutex_lock(&blr_scheduler_mutex);
    while (queue->oldest != NULL) {
        queue->waiters++;
        blr_condition_wait(&queue->progress, &blr_scheduler_mutex, BLR_NO_DEADLINE);
        queue->waiters--;
    }
    queue->stopping = true;
    blr_condition_broadcast(&queue->work);
    blr_mutex_unlock(&blr_scheduler_mutex);
    for (uint32_t i = 0; i < queue->worker_count; i++)
        blr_thread_join(queue->workers[i]);
    for (struct blr_event *event = queue->failures_first; event != NULL;) {
        struct blr_event *next = event->next_failure;
        blr_event_release(event);
        event = next;
    }
    blr_batch_drop(queue);
    blr_condition_destroy(&queue->work);
    blr_condition_destroy(&queue->progress);
    blr_context_release(queue->context);
    blr_delete(queue);
}

static blr_result_t create(struct blr_context *context, blr_queue_flags_t flags, blr_queue_t *handle)
{
    if (handle == NULL)
        return blr_fail(BLR_RESULT_INVALID_ARGUMENT, "queue is NULL: an output pointer is required");
    *handle = NULL;
    if (flags != BLR_QUEUE_OUT_OF_ORDER && flags != BLR_QUEUE_IN_ORDER)
        return blr_fail(BLR_RESULT_INVALID_ARGUMENT, "queue flags %d: OUT_OF_ORDER (0) or IN_ORDER (1) is needed",
                        (int)flags);
    struct blr_queue *queue = blr_new(sizeof *queue);
    if (queue == NULL)
        return blr_fail(BLR_RESULT_OUT_OF_MEMORY, "no memory for a queue");
    queue->context = context;
    queue->ready_last = &queue->ready_first;
    queue->in_order = flags == BLR_QUEUE_IN_ORDER;
    uint32_t processors = 1;
    blr_thread_pool_size(&processors);
    queue->worker_limit = queue->in_order ? 1 : BLR_QUEUE_MAX_WORKERS;
    queue->free_workers = processors < 2 ? 2 : processors;
    blr_condition_init(&queue->work);
    blr_condition_init(&queue->progress);
    blr_result_t result = blr_object_register(&queue->object, BLR_KIND_QUEUE, destroy);
    if (result != BLR_RESULT_SUCCESS) {
        blr_condition_destroy(&queue->work);
        blr_condition_destroy(&queue->progress);
        blr_delete(queue);
        return result;
    }
    blr_context_retain(context);
    *handle = (blr_queue_t)(uintptr_t)queue->object.id;
    return BLR_RESULT_SUCCESS;
}

blr_result_t blrQueueCreate(blr_context_t context_handle, blr_queue_flags_t flags, blr_queue_t *handle)
{
    struct blr_context *context = blr_context_acquire(context_handle);
    if (context == NULL)
        return BLR_RESULT_INVALID_HANDLE;
    blr_result_t result = create(context, flags, handle);
    blr_context_release(context);
    return result;
}

static blr_result_t fail_inside(const char *function)
{
    return blr_fail(BLR_RESULT_INVALID_ARGUMENT,
                    "%s was called by a function that runs in the same queue: it would wait for itself", function);
}

/* Waits until all work up to the sequence number is complete; false when the deadline passed. Needs the lock. */
static bool wait_for(struct blr_queue *queue, uint64_t sequence, uint64_t deadline)
{
    while (queue->oldest != NULL && queue->oldest->sequence <= sequence) {
        if (blr_scheduler_help(queue, sequence, deadline))
            continue;
        queue->waiters++;
        bool in_time = blr_condition_wait(&queue->progress, &blr_scheduler_mutex, deadline);
        queue->waiters--;
        if (!in_time && blr_clock_now() >= deadline)
            return queue->oldest == NULL || queue->oldest->sequence > sequence;
    }
    return true;
}

static blr_result_t wait_for_queue(struct blr_queue *queue, uint64_t timeout)
{
    if (blr_scheduler_current_queue() == queue->object.id)
        return fail_inside("blrQueueWait");
    uint64_t deadline = blr_clock_deadline(timeout);
    struct blr_event *failure = NULL;
    blr_mutex_lock(&blr_scheduler_mutex);
    bool done = wait_for(queue, queue->submitted, deadline);
    if (done)
        failure = take_failure(queue);
    blr_mutex_unlock(&blr_scheduler_mutex);
    if (!done)
        return blr_fail(BLR_RESULT_TIMEOUT, "the queue still has work to do after %.6g s", (double)timeout * 1e-9);
    if (failure == NULL)
        return BLR_RESULT_SUCCESS;
    blr_result_t result = blr_fail(failure->result, "%s", blr_event_message(failure));
    blr_event_release(failure);
    return result;
}

blr_result_t blrQueueWait(blr_queue_t handle, uint64_t timeout)
{
    struct blr_queue *queue = blr_queue_acquire(handle);
    if (queue == NULL)
        return BLR_RESULT_INVALID_HANDLE;
    blr_result_t result = wait_for_queue(queue, timeout);
    blr_queue_release(queue);
    return result;
}

blr_result_t blrQueueQuery(blr_queue_t handle)
{
    struct blr_queue *queue = blr_queue_acquire(handle);
    if (queue == NULL)
        return BLR_RESULT_INVALID_HANDLE;
    blr_mutex_lock(&blr_scheduler_mutex);
    bool idle = queue->oldest == NULL;
    blr_mutex_unlock(&blr_scheduler_mutex);
    blr_queue_release(queue);
    return idle ? BLR_RESULT_SUCCESS : BLR_RESULT_NOT_READY;
}

blr_result_t blrQueueDestroy(blr_queue_t handle)
{
    struct blr_queue *queue = blr_queue_acquire(handle);
    if (queue == NULL)
        return BLR_RESULT_INVALID_HANDLE;
    if (blr_scheduler_current_queue() == queue->object.id) {
        blr_queue_release(queue);
        return fail_inside("blrQueueDestroy");
    }
    bool first = blr_object_close(&queue->object);
    if (first) {
        blr_mutex_lock(&blr_scheduler_mutex);
        wait_for(queue, UINT64_MAX, BLR_NO_DEADLINE);
        blr_mutex_unlock(&blr_scheduler_mutex);
    }
    blr_queue_release(queue);
    if (!first)
        return blr_fail(BLR_RESULT_INVALID_HANDLE, "the queue was destroyed by another thread");
    return BLR_RESULT_SUCCESS;
}

/* ---------------------------------------------------------------- barriers */

static blr_result_t do_nothing(struct blr_command *command)
{
    (void)command;
    return BLR_RESULT_SUCCESS;
}

blr_result_t blrEnqueueBarrier(blr_queue_t handle, uint32_t num_waits, const blr_event_t *waits, blr_event_t *event)
{
    struct blr_queue *queue = blr_queue_acquire(handle);
    if (queue == NULL)
        return BLR_RESULT_INVALID_HANDLE;
    blr_result_t result = BLR_RESULT_OUT_OF_MEMORY;
    struct blr_command *command = blr_command_new(sizeof *command, do_nothing, NULL);
    if (command != NULL) {
        command->is_barrier = true;
        command->is_brief = true;
        command->is_repeatable = true;
        command->is_instant = true;
        result = blr_submit(queue, command, num_waits, waits, event);
    }
    blr_queue_release(queue);
    return result;
}
