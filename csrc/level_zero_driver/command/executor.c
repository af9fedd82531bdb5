/* Streams: in-order execution of submitted work by the stream's thread or by a waiting thread. */

#if !defined(_GNU_SOURCE)
#define _GNU_SOURCE
#endif

#include "level_zero_driver/command/executor.h"

#include "reference/platform/fp_environment.h"
#include "level_zero_driver/command/command.h"
#include "level_zero_driver/sync/fence.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

struct blz_stream {
    _Atomic uint32_t references;
    struct blz_context *context; /* retained */
    blr_queue_t native;
    struct blz_stream *older, *newer; /* links of the list of all streams, guarded by its mutex */
    blr_mutex_t mutex;
    blr_condition_t work;        /* signalled when work arrives or the stream stops */
    blr_condition_t progress;    /* signalled when work is done or blocks on an event */

    /* under the mutex */
    struct blz_work *first, **last;
    uint64_t submitted, done;
    uint32_t waiters;
    bool has_thread;
    bool idle;      /* the thread sleeps */
    bool running;   /* a thread runs work */
    bool blocked;   /* that thread waits for an event */
    bool stopping;
    ze_result_t failure;         /* a failure that no caller has received */
    char text[BLR_MESSAGE_SIZE];
};

static _Thread_local struct blz_stream *current;

/* ---------------------------------------------------------------- all streams at once */

/* Held for reading while a command runs. Writers have priority, else they would starve. */
#ifdef PTHREAD_RWLOCK_WRITER_NONRECURSIVE_INITIALIZER_NP
static pthread_rwlock_t running_commands = PTHREAD_RWLOCK_WRITER_NONRECURSIVE_INITIALIZER_NP;
#else                                     /* musl: readers that follow each other may delay a writer */
static pthread_rwlock_t running_commands = PTHREAD_RWLOCK_INITIALIZER;
#endif

void blz_stream_hold_all(void) { pthread_rwlock_wrlock(&running_commands); }
void blz_stream_go_on(void) { pthread_rwlock_unlock(&running_commands); }

/* ---------------------------------------------------------------- life */

static blr_mutex_t all_mutex = BLR_MUTEX_INIT;
static struct blz_stream *oldest, *newest;

void blz_stream_retain(struct blz_stream *stream)
{
    atomic_fetch_add_explicit(&stream->references, 1, memory_order_relaxed);
}

/* What a stream was made from. */
struct origin {
    blr_queue_t native;
    struct blz_context *context;
};

/* Moves the members out; the caller releases them. No work may be running. Needs the mutex. */
static struct origin take_origin(struct blz_stream *stream)
{
    struct origin origin = {stream->native, stream->context};
    stream->native = NULL;
    stream->context = NULL;
    return origin;
}

static void give_back(struct origin origin)
{
    if (origin.native != NULL)
        blrQueueDestroy(origin.native);
    if (origin.context != NULL)
        blz_context_release(origin.context);
}

void blz_stream_release(struct blz_stream *stream)
{
    blr_mutex_lock(&all_mutex);
    bool last = atomic_fetch_sub_explicit(&stream->references, 1, memory_order_acq_rel) == 1;
    if (last) {
        *(stream->older != NULL ? &stream->older->newer : &oldest) = stream->newer;
        *(stream->newer != NULL ? &stream->newer->older : &newest) = stream->older;
    }
    blr_mutex_unlock(&all_mutex);
    if (!last)
        return;
    give_back(take_origin(stream));
    blr_mutex_destroy(&stream->mutex);
    blr_condition_destroy(&stream->work);
    blr_condition_destroy(&stream->progress);
    blr_delete(stream);
}

struct blz_stream *blz_stream_new(struct blz_context *context)
{
    struct blz_stream *stream = blr_new(sizeof *stream);
    if (stream == NULL) {
        blz_fail_memory("a command queue");
        return NULL;
    }
    atomic_init(&stream->references, 1);
    blz_context_retain(context);
    stream->context = context;
    stream->last = &stream->first;
    blr_mutex_init(&stream->mutex);
    blr_condition_init(&stream->work);
    blr_condition_init(&stream->progress);
    blr_mutex_lock(&all_mutex);
    stream->older = newest;
    *(newest != NULL ? &newest->newer : &oldest) = stream;
    newest = stream;
    blr_mutex_unlock(&all_mutex);
    if (blrQueueCreate(context->native, BLR_QUEUE_IN_ORDER, &stream->native) != BLR_RESULT_SUCCESS) {
        blz_stream_release(stream);
        return NULL;
    }
    return stream;
}

struct blz_context *blz_stream_context(struct blz_stream *stream) { return stream->context; }

blr_queue_t blz_stream_native(void) { return current->native; }

/* ---------------------------------------------------------------- doing work */

static void note_failure(struct blz_stream *stream, ze_result_t result, const struct blr_error *error)
{
    if (result == ZE_RESULT_SUCCESS)
        return;
    blr_mutex_lock(&stream->mutex);
    if (stream->failure == ZE_RESULT_SUCCESS) {
        stream->failure = result;
        snprintf(stream->text, sizeof stream->text, "%s", error->message);
    }
    blr_mutex_unlock(&stream->mutex);
}

/* The outcome for an event or a fence that is signalled now; does not clear the stream's unreported failure. */
static struct blz_outcome outcome_now(struct blz_stream *stream, uint64_t started, char text[BLZ_SLOT_TEXT])
{
    struct blz_outcome outcome = {.text = text, .started = started};
    blr_mutex_lock(&stream->mutex);
    outcome.result = stream->failure;
    if (outcome.result != ZE_RESULT_SUCCESS)
        snprintf(text, BLZ_SLOT_TEXT, "%.*s", BLZ_SLOT_TEXT - 1, stream->text);
    blr_mutex_unlock(&stream->mutex);
    outcome.ended = blr_clock_now();
    return outcome;
}

static void set_blocked(struct blz_stream *stream, bool blocked)
{
    blr_mutex_lock(&stream->mutex);
    stream->blocked = blocked;
    if (blocked)
        blr_condition_broadcast(&stream->progress);
    blr_mutex_unlock(&stream->mutex);
}

void blz_stream_step_aside(void)
{
    pthread_rwlock_unlock(&running_commands);
    set_blocked(current, true);
}

void blz_stream_step_back(void)
{
    set_blocked(current, false);
    pthread_rwlock_rdlock(&running_commands);
}

static void await(struct blz_stream *stream, struct blz_event *event)
{
    if (blz_slot_is_set(event->slot))
        return;
    set_blocked(stream, true);
    blz_slot_wait(event->slot, blz_event_is_shared(event), BLR_NO_DEADLINE);
    set_blocked(stream, false);
}

/* Returns the event to use for one that a command names: the execution's tracking point for a counter-based event. */
static struct blz_event *plain(struct blz_event *event, struct blz_event ***points)
{
    return event != NULL && event->counter != 0 ? *(*points)++ : event;
}

/* error is the error record of this thread during the command; points are the execution's next tracking points. */
static void run_command(struct blz_stream *stream, const struct blz_command *command, struct blz_event ***points,
                        const struct blr_error *error)
{
    for (uint32_t i = 0; i < command->wait_count; i++)
        await(stream, plain(command->waits[i], points));
    struct blz_event *signal = plain(command->signal, points);
    uint64_t started = signal != NULL ? blr_clock_now() : 0;
    if (command->run != NULL) {
        pthread_rwlock_rdlock(&running_commands);
        ze_result_t result = command->run(command);
        pthread_rwlock_unlock(&running_commands);
        note_failure(stream, result, error);
    }
    if (signal != NULL) {
        char text[BLZ_SLOT_TEXT];
        struct blz_outcome outcome = outcome_now(stream, started, text);
        blz_slot_set(signal->slot, &outcome);
        blz_event_clear_source(signal, stream);
    }
}

static void run_work(struct blz_stream *stream, struct blz_work *work)
{
    struct blr_error unseen; /* a thread that helps keeps its own last error */
    struct blr_error *before = blr_error_redirect(&unseen);
    struct blz_stream *outer = current;
    struct blz_fence *fence = work->fence;
    struct blz_event **points = work->points;
    struct blr_environment environment;
    blr_environment_enter(&environment);
    current = stream;
    if (work->command != NULL)
        run_command(stream, work->command, &points, &unseen);
    for (struct blz_command *command = work->recording == NULL ? NULL : work->recording->first; command != NULL;
         command = command->next)
        run_command(stream, command, &points, &unseen);
    if (work->recording != NULL)
        blz_recording_release(work->recording);
    blz_work_release_points(work);
    if (fence != NULL) {
        char text[BLZ_SLOT_TEXT];
        struct blz_outcome outcome = outcome_now(stream, 0, text);
        blz_slot_set(&fence->slot, &outcome);
    }
    if (work->command != NULL)
        blz_command_delete(work->command); /* deletes the work too */
    else
        blr_delete(work);
    if (fence != NULL)
        blr_object_release((struct blr_object *)fence);
    current = outer;
    blr_environment_leave(&environment);
    blr_error_redirect(before);
}

/* Runs the oldest work. Called and returns with the mutex held. */
static void run_first(struct blz_stream *stream)
{
    struct blz_work *work = stream->first;
    stream->first = work->next;
    if (stream->first == NULL)
        stream->last = &stream->first;
    stream->running = true;
    blr_mutex_unlock(&stream->mutex);
    run_work(stream, work);
    blr_mutex_lock(&stream->mutex);
    stream->running = false;
    stream->done++;
    if (stream->waiters > 0)
        blr_condition_broadcast(&stream->progress);
    if (stream->first != NULL && stream->idle)
        blr_condition_signal(&stream->work);
}

static void work_on(void *argument)
{
    struct blz_stream *stream = argument;
    blr_mutex_lock(&stream->mutex);
    for (;;) {
        if (stream->first != NULL && !stream->running) {
            run_first(stream);
        } else if (stream->first == NULL && stream->stopping) {
            break;
        } else {
            stream->idle = true;
            blr_condition_wait(&stream->work, &stream->mutex, BLR_NO_DEADLINE);
            stream->idle = false;
        }
    }
    struct origin origin = take_origin(stream);
    blr_mutex_unlock(&stream->mutex);
    give_back(origin);
    blz_stream_release(stream);
}

/* Needs the mutex. */
static bool start_thread(struct blz_stream *stream)
{
    blr_thread_t thread;
    if (stream->has_thread)
        return true;
    blr_process_has_threads();
    blz_stream_retain(stream);
    if (!blr_thread_create(&thread, work_on, stream)) {
        atomic_fetch_sub(&stream->references, 1); /* not the last reference: the owner makes this call */
        return false;
    }
    blr_thread_detach(thread);
    stream->has_thread = true;
    return true;
}

/* ---------------------------------------------------------------- submission and waiting */

/* Returns whether the calling thread finishes the work sooner than it could wake the stream's thread. Needs the
   mutex. */
static bool is_done_here(const struct blz_stream *stream, const struct blz_work *work)
{
    const struct blz_command *command = work->command;
    if (stream->first != NULL || stream->running || work->next != NULL || command == NULL || !command->is_instant)
        return false;
    for (uint32_t i = 0; i < command->wait_count; i++)
        if (!blz_slot_is_set(command->waits[i]->slot))
            return false;
    return true;
}

ze_result_t blz_stream_submit(struct blz_stream *stream, struct blz_work *first, bool at_once)
{
    blr_mutex_lock(&stream->mutex);
    if (!at_once && !start_thread(stream)) {
        blr_mutex_unlock(&stream->mutex);
        return blz_fail(ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY, "no thread could be started for a command queue");
    }
    const bool here = is_done_here(stream, first);
    *stream->last = first;
    for (; first != NULL; first = first->next) {
        stream->last = &first->next;
        stream->submitted++;
    }
    if (here)
        run_first(stream);
    else if (!at_once && stream->idle)
        blr_condition_signal(&stream->work);
    blr_mutex_unlock(&stream->mutex);
    return ZE_RESULT_SUCCESS;
}

/* Waits until the given number of work items is done, or no more can run; false when the deadline passed. Needs the
   mutex. */
static bool wait_for(struct blz_stream *stream, uint64_t number, uint64_t deadline, bool even_blocked)
{
    while (stream->done < number) {
        if (stream->first != NULL && !stream->running && deadline == BLR_NO_DEADLINE && even_blocked) {
            run_first(stream);
            continue;
        }
        if (!even_blocked && stream->blocked)
            return true;
        if (deadline != BLR_NO_DEADLINE && blr_clock_now() >= deadline)
            return false;
        stream->waiters++;
        blr_condition_wait(&stream->progress, &stream->mutex, deadline);
        stream->waiters--;
    }
    return true;
}

ze_result_t blz_stream_synchronize(struct blz_stream *stream, uint64_t timeout)
{
    char text[BLR_MESSAGE_SIZE];
    if (current == stream)
        return blz_fail(ZE_RESULT_ERROR_INVALID_ARGUMENT, "a command of the queue waits for its own queue: a deadlock");
    uint64_t deadline = timeout == 0 ? 0 : blr_clock_deadline(timeout);
    ze_result_t result = ZE_RESULT_NOT_READY;
    blr_mutex_lock(&stream->mutex);
    if (wait_for(stream, stream->submitted, deadline, true)) {
        result = stream->failure;
        stream->failure = ZE_RESULT_SUCCESS;
        if (result != ZE_RESULT_SUCCESS)
            memcpy(text, stream->text, sizeof text);
    }
    blr_mutex_unlock(&stream->mutex);
    return result == ZE_RESULT_SUCCESS || result == ZE_RESULT_NOT_READY ? result : blz_fail(result, "%s", text);
}

/* Returns the next stream (the first for NULL) with a reference added, and releases the given one. */
static struct blz_stream *next_of_all(struct blz_stream *stream)
{
    blr_mutex_lock(&all_mutex);
    struct blz_stream *next = stream == NULL ? oldest : stream->newer;
    if (next != NULL)
        blz_stream_retain(next);
    blr_mutex_unlock(&all_mutex);
    if (stream != NULL)
        blz_stream_release(stream);
    return next;
}

void blz_stream_wait_all(void)
{
    for (struct blz_stream *stream = next_of_all(NULL); stream != NULL; stream = next_of_all(stream)) {
        blr_mutex_lock(&stream->mutex);
        wait_for(stream, stream->submitted, BLR_NO_DEADLINE, true);
        blr_mutex_unlock(&stream->mutex);
    }
}

void blz_stream_help(struct blz_stream *stream, struct blz_slot *until)
{
    if (current == stream)
        return;
    blr_mutex_lock(&stream->mutex);
    while (stream->first != NULL && !stream->running && !blz_slot_is_set(until))
        run_first(stream);
    blr_mutex_unlock(&stream->mutex);
}

void blz_stream_delete(struct blz_stream *stream)
{
    blr_mutex_lock(&stream->mutex);
    if (current != stream)
        wait_for(stream, stream->submitted, BLR_NO_DEADLINE, false);
    stream->stopping = true;
    struct origin origin = {NULL, NULL};
    if (stream->done == stream->submitted)
        origin = take_origin(stream); /* the thread ends later, and uses neither */
    blr_condition_signal(&stream->work);
    blr_mutex_unlock(&stream->mutex);
    give_back(origin);
    blz_stream_release(stream);
}
