/* The scheduler: the dependency graph of commands and events, their submission, execution and completion. */
#include "runtime/scheduler.h"

#include "platform/heap.h"
#include "runtime/batch.h"
#include "platform/fp_environment.h"
#include "runtime/event.h"
#include "runtime/queue.h"

blr_mutex_t blr_scheduler_mutex = BLR_MUTEX_INIT;

/* Command that this thread is running. */
static _Thread_local uint64_t current_queue;
static _Thread_local struct blr_error *current_host_error;

/* Under the lock: who holds work, and how many commands and host functions access memory. */
static uint32_t holders, accesses;

void *blr_command_new(size_t size, blr_result_t (*run)(struct blr_command *command),
                      void (*release)(struct blr_command *command))
{
    struct blr_command *command = blr_block_new(size);
    if (command == NULL) {
        blr_fail(BLR_RESULT_OUT_OF_MEMORY, "no memory for a command of %zu bytes", size);
        return NULL;
    }
    command->run = run;
    command->release = release;
    return command;
}

static void free_command(struct blr_command *command)
{
    if (command->edges != command->inline_edges)
        blr_delete(command->edges);
    blr_block_delete(command);
}

void blr_command_discard(struct blr_command *command)
{
    if (command->release != NULL)
        command->release(command);
    free_command(command);
}

uint64_t blr_scheduler_current_queue(void) { return current_queue; }

blr_result_t blr_scheduler_fail_current(blr_result_t code, const char *message)
{
    if (current_host_error == NULL)
        return blr_fail(BLR_RESULT_INVALID_ARGUMENT,
                        "no host function is running on this thread: only a host function of a queue can fail its "
                        "command");
    struct blr_error *before = blr_error_redirect(current_host_error);
    blr_fail(code, "%s", message);
    blr_error_redirect(before);
    return BLR_RESULT_SUCCESS;
}

/* Runs the command on the calling thread, which is not one of the queue's workers. Called and returns with the lock
 * held. */
static void execute_here(struct blr_command *command)
{
    struct blr_environment environment;
    blr_environment_enter(&environment);
    blr_scheduler_execute(command);
    blr_environment_leave(&environment);
}

/* ---------------------------------------------------------------- submission */

static void depend(struct blr_command *command, struct blr_event *event, bool ordering)
{
    if (blr_event_is_complete(event)) {
        if (!ordering && event->status == BLR_EVENT_FAILED && command->failed == NULL) {
            blr_event_retain(event);
            command->failed = event;
        }
        return;
    }
    struct blr_edge *edge = &command->edges[command->edge_count++];
    edge->command = command;
    edge->ordering = ordering;
    edge->next = event->dependents;
    event->dependents = edge;
    command->waiting_for++;
}

static void follow(struct blr_command *command)
{
    struct blr_event *before = *command->follows;
    if (before != NULL) {
        depend(command, before, true);
        blr_event_release(before);
    }
    blr_event_retain(command->event);
    *command->follows = command->event;
}

/* Number of commands since the previous barrier, for which a barrier must wait; that barrier covers all earlier
 * ones. */
static uint32_t count_since_barrier(const struct blr_queue *queue)
{
    uint32_t count = 0;
    for (const struct blr_command *other = queue->newest; other != NULL; other = other->older) {
        count++;
        if (other == queue->barrier)
            break;
    }
    return count;
}

static bool link_command(struct blr_queue *queue, struct blr_command *command, uint32_t num_waits,
                         struct blr_event *const *waits)
{
    bool barrier = command->is_barrier && !queue->in_order;
    size_t edges = (size_t)num_waits + (barrier ? count_since_barrier(queue) : 1) + (command->follows != NULL);
    if (edges > BLR_INLINE_EDGES) {
        struct blr_edge *own = blr_new(edges * sizeof *own);
        if (own == NULL)
            return false;
        command->edges = own;
    }
    for (uint32_t i = 0; i < num_waits; i++)
        depend(command, waits[i], false);
    if (command->follows != NULL)
        follow(command);
    if (queue->in_order) {
        if (queue->newest != NULL)
            depend(command, queue->newest->event, true);
    } else if (barrier) {
        for (struct blr_command *other = queue->newest; other != NULL; other = other->older) {
            depend(command, other->event, true);
            if (other == queue->barrier)
                break;
        }
        queue->barrier = command;
    } else if (queue->barrier != NULL) {
        depend(command, queue->barrier->event, true);
    }
    command->sequence = ++queue->submitted;
    command->older = queue->newest;
    if (queue->newest != NULL)
        queue->newest->newer = command;
    else
        queue->oldest = command;
    queue->newest = command;
    return true;
}

static blr_result_t submit_with(struct blr_queue *queue, struct blr_command *command, uint32_t num_waits,
                                struct blr_event *const *waits, blr_event_t *handle)
{
    struct blr_event *event = blr_event_new(queue->context, queue->object.id);
    if (event == NULL)
        return BLR_RESULT_OUT_OF_MEMORY;
    uint64_t id = event->object.id;
    command->queue = queue;
    command->event = event;
    command->edges = command->inline_edges;
    event->command = command;
    if (handle != NULL) {
        blr_event_retain(event); /* the command's reference, in addition to the caller's */
        atomic_store_explicit(&event->owners, 1, memory_order_relaxed);
    }
    event->submitted = blr_clock_now();
    blr_result_t result = BLR_RESULT_SUCCESS;
    blr_mutex_lock(&blr_scheduler_mutex);
    if (!blr_queue_start(queue))
        result = blr_fail(BLR_RESULT_OUT_OF_MEMORY, "the system has no thread for the queue");
    else if (!link_command(queue, command, num_waits, waits))
        result = blr_fail(BLR_RESULT_OUT_OF_MEMORY, "no memory for what a command waits for");
    else if (command->waiting_for == 0 && command->is_instant)
        execute_here(command);
    else if (command->waiting_for == 0)
        blr_queue_push_ready(queue, command);
    blr_mutex_unlock(&blr_scheduler_mutex);
    if (result != BLR_RESULT_SUCCESS) {
        if (handle != NULL)
            blr_event_release(event);
        blr_object_close(&event->object);
        return result;
    }
    if (handle != NULL)
        *handle = (blr_event_t)(uintptr_t)id;
    return BLR_RESULT_SUCCESS;
}

#define INLINE_WAITS 16

blr_result_t blr_submit(struct blr_queue *queue, struct blr_command *command, uint32_t num_waits,
                        const blr_event_t *handles, blr_event_t *event)
{
    struct blr_event *inline_waits[INLINE_WAITS], **waits = inline_waits;
    uint32_t acquired = 0;
    blr_result_t result = BLR_RESULT_SUCCESS;
    if (event != NULL)
        *event = NULL;
    if (num_waits > 0 && handles == NULL)
        result = blr_fail(BLR_RESULT_INVALID_ARGUMENT, "waits is NULL, with num_waits %u", num_waits);
    else if (num_waits > INLINE_WAITS && (waits = blr_new(num_waits * sizeof(struct blr_event *))) == NULL)
        result = blr_fail(BLR_RESULT_OUT_OF_MEMORY, "no memory for %u events to wait for", num_waits);
    while (result == BLR_RESULT_SUCCESS && acquired < num_waits) {
        struct blr_event *wait = blr_event_acquire(handles[acquired]);
        if (wait == NULL)
            result = BLR_RESULT_INVALID_HANDLE;
        else
            waits[acquired++] = wait;
    }
    if (result == BLR_RESULT_SUCCESS)
        result = blr_batch_of(queue) != NULL ? blr_batch_record(queue, command, num_waits)
                                             : submit_with(queue, command, num_waits, waits, event);
    for (uint32_t i = 0; i < acquired; i++)
        blr_event_release(waits[i]);
    if (waits != inline_waits)
        blr_delete(waits);
    if (result != BLR_RESULT_SUCCESS) {
        if (command->edges == NULL)
            command->edges = command->inline_edges;
        blr_command_discard(command);
    }
    return result;
}

/* ---------------------------------------------------------------- holding work */

/* Waits, with the lock, until a number is 0: that is rare and brief. */
static void wait_for_zero(const uint32_t *number)
{
    while (*number > 0) {
        blr_mutex_unlock(&blr_scheduler_mutex);
        blr_thread_yield();
        blr_mutex_lock(&blr_scheduler_mutex);
    }
}

static void begin_access(void)
{
    wait_for_zero(&holders);
    accesses++;
}

void blr_work_begin(void)
{
    blr_mutex_lock(&blr_scheduler_mutex);
    begin_access();
    blr_mutex_unlock(&blr_scheduler_mutex);
}

void blr_work_end(void)
{
    blr_mutex_lock(&blr_scheduler_mutex);
    accesses--;
    blr_mutex_unlock(&blr_scheduler_mutex);
}

void blr_work_hold(void)
{
    blr_mutex_lock(&blr_scheduler_mutex);
    holders++;
    wait_for_zero(&accesses);
    blr_mutex_unlock(&blr_scheduler_mutex);
}

void blr_work_go_on(void)
{
    blr_mutex_lock(&blr_scheduler_mutex);
    holders--;
    blr_mutex_unlock(&blr_scheduler_mutex);
}

/* ---------------------------------------------------------------- execution */

static blr_result_t run_command(struct blr_command *command, struct blr_error *error)
{
    uint64_t queue_before = current_queue;
    struct blr_error *host_before = current_host_error;
    current_queue = command->event->queue;
    blr_result_t result;
    if (command->is_host_function) {
        /* Driver functions called by a host function report errors to the thread as usual. */
        current_host_error = error;
        struct blr_error *before = blr_error_redirect(NULL);
        command->run(command);
        blr_error_redirect(before);
        result = error->code;
    } else {
        current_host_error = NULL;
        struct blr_error *before = blr_error_redirect(error);
        result = command->run(command);
        blr_error_redirect(before);
    }
    current_host_error = host_before;
    current_queue = queue_before;
    return result;
}

static void unlink_command(struct blr_command *command)
{
    struct blr_queue *queue = command->queue;
    if (command->older != NULL)
        command->older->newer = command->newer;
    else
        queue->oldest = command->newer;
    if (command->newer != NULL)
        command->newer->older = command->older;
    else
        queue->newest = command->older;
    if (queue->barrier == command)
        queue->barrier = NULL;
}

void blr_scheduler_execute(struct blr_command *command)
{
    struct blr_queue *queue = command->queue;
    struct blr_event *event = command->event;
    struct blr_event *failed = command->failed;
    struct blr_error error;
    error.code = BLR_RESULT_SUCCESS;
    error.message[0] = '\0';
    event->status = BLR_EVENT_RUNNING;
    bool keeps_thread = command->is_host_function || command->waits_outside;
    if (keeps_thread) {
        queue->running_functions++;
        blr_queue_add_workers(queue); /* the host function may wait for ready commands behind it */
    } else {
        begin_access();
    }
    blr_mutex_unlock(&blr_scheduler_mutex);

    event->started = blr_clock_now();
    blr_result_t result;
    if (failed != NULL) {
        /* Complete events do not change: reading this one needs no lock. */
        struct blr_event *cause = failed->cause != NULL ? failed->cause : failed;
        struct blr_error *before = blr_error_redirect(&error);
        result = blr_fail(BLR_RESULT_DEPENDENCY_FAILED, "not run, because work it waited for failed with %s: %s",
                          blr_result_name(cause->result), blr_event_message(cause));
        blr_error_redirect(before);
        blr_event_retain(cause);
        event->cause = cause;
        blr_event_release(failed);
    } else {
        result = run_command(command, &error);
    }
    if (command->release != NULL)
        command->release(command);

    blr_mutex_lock(&blr_scheduler_mutex);
    if (keeps_thread)
        queue->running_functions--;
    else
        accesses--;
    unlink_command(command);
    event->command = NULL;
    blr_scheduler_complete(event, result, error.message);
    if (result != BLR_RESULT_SUCCESS)
        blr_queue_add_failure(queue, event);
    if (queue->waiters > 0)
        blr_condition_broadcast(&queue->progress);
    free_command(command);
    blr_event_release(event);
}

void blr_scheduler_complete(struct blr_event *event, blr_result_t result, const char *message)
{
    bool failure = result != BLR_RESULT_SUCCESS;
    event->ended = blr_clock_now();
    event->result = result;
    if (failure)
        event->message = blr_copy_text(message);
    event->status = failure ? BLR_EVENT_FAILED : BLR_EVENT_COMPLETE;
    struct blr_edge *next;
    for (struct blr_edge *edge = event->dependents; edge != NULL; edge = next) {
        struct blr_command *command = edge->command;
        next = edge->next; /* the edge is part of the command, which may run and be freed at once */
        if (failure && !edge->ordering && command->failed == NULL) {
            blr_event_retain(event);
            command->failed = event;
        }
        if (--command->waiting_for == 0)
            blr_queue_push_ready(command->queue, command);
    }
    event->dependents = NULL;
    if (event->waiters > 0)
        blr_condition_broadcast(&event->changed);
}

bool blr_scheduler_help(struct blr_queue *queue, uint64_t sequence, uint64_t deadline)
{
    struct blr_command **link = blr_queue_find_ready(queue, sequence);
    if (link == NULL || (*link)->is_host_function || (*link)->waits_outside)
        return false;
    if (deadline != BLR_NO_DEADLINE && (!(*link)->is_brief || blr_clock_now() >= deadline))
        return false;
    execute_here(blr_queue_take_ready(queue, link));
    return true;
}
