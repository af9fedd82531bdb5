/* Events of a queue's commands, kept until they are known to be complete without a failure: no other code may query
   their status. */
#ifndef BINDLESS_DRIVER_CALLS_OPENCL_EVENT_LIST_H
#define BINDLESS_DRIVER_CALLS_OPENCL_EVENT_LIST_H

#include <stdlib.h>

#include "../../reference/platform/threads.h"

struct bindless_lock {
    blr_mutex_t mutex;
};

static bindless_lock_t *bindless_lock_create(void)
{
    bindless_lock_t *lock = malloc(sizeof *lock);
    if (lock != NULL) {
        blr_mutex_init(&lock->mutex);
    }
    return lock;
}

static void bindless_lock_destroy(bindless_lock_t *lock)
{
    blr_mutex_destroy(&lock->mutex);
    free(lock);
}

static int bindless_in_child;

static void bindless_after_fork(void)
{
    bindless_in_child = 1;
}

static int bindless_watch_forks(void)
{
    return blr_watch_forks(bindless_after_fork);
}

/* ---- single events */

/* Returns CL_COMPLETE, a positive number for an incomplete command, or the negative error code of the command or the
   query. */
static cl_int bindless_ask_event(cl_event event)
{
    cl_int status = CL_QUEUED;
    cl_int result = clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, NULL);
    return result == CL_SUCCESS ? status : result;
}

static int bindless_event_release(void *event)
{
    return bindless_in_child ? CL_SUCCESS : clReleaseEvent((cl_event)event);
}

static void bindless_hold_events(cl_uint count, const cl_event *events, cl_event *held)
{
    for (cl_uint i = 0; i < count; i++) {
        clRetainEvent(events[i]);
        held[i] = events[i];
    }
}

static void bindless_release_events(void *events)
{
    for (cl_event *event = events; *event != NULL; event++) {
        (void)bindless_event_release(*event);
    }
}

/* Queries events until all commands have ended, or a time has passed. Returns the number of incomplete ones, which
   then come first. */
static cl_uint bindless_poll(cl_uint count, cl_event *events, uint64_t nanoseconds)
{
    uint64_t end = blr_clock_now() + nanoseconds;
    do {
        cl_uint pending = 0;
        for (cl_uint i = 0; i < count; i++) {
            if (bindless_ask_event(events[i]) > CL_COMPLETE) {
                events[pending++] = events[i];
            }
        }
        count = pending;
    } while (count > 0 && blr_clock_now() < end);
    return count;
}

/* Returns 0 for a complete command, INT32_MIN while it is incomplete, else the error of the command. */
static int bindless_event_query(const void *event)
{
    cl_event native = (cl_event)(uintptr_t)event;
    cl_int status = bindless_ask_event(native);
    return status > CL_COMPLETE ? INT32_MIN : status;
}

/* ---- the list */

/* Releases the events of commands that are complete without a failure, newest first; with `until_pending`, up to the
   first incomplete one. Returns whether there is an incomplete one. The lock is held. */
static int bindless_events_prune(bindless_queue_t *queue, int until_pending)
{
    int pending = 0;
    cl_uint i = queue->count, to;
    for (to = i; i > 0 && !(pending && until_pending); i--) {
        cl_event event = queue->events[i - 1];
        cl_int status = bindless_ask_event(event);
        pending = pending || status > CL_COMPLETE;
        if (status == CL_COMPLETE) {
            clReleaseEvent(event);
        } else {
            queue->events[--to] = event; /* the kept events move to the end */
        }
    }
    if (to > i) {
        memmove(queue->events + i, queue->events + to, (queue->count - to) * sizeof *queue->events);
        queue->count -= to - i;
    }
    return pending;
}

/* Makes room for one more event; the limit becomes twice the number of remaining events, so that queries stay rare.
   The lock is held. */
static int bindless_events_grow(bindless_queue_t *queue)
{
    if (queue->count >= queue->limit) {
        (void)bindless_events_prune(queue, 0);
        queue->limit = 2 * queue->count < queue->lowest_limit ? queue->lowest_limit : 2 * queue->count;
    }
    if (queue->count == queue->capacity) {
        cl_uint capacity = queue->capacity < 32 ? 32 : 2 * queue->capacity;
        cl_event *events = realloc(queue->events, capacity * sizeof *events);
        if (events == NULL) {
            return 0;
        }
        queue->events = events;
        queue->capacity = capacity;
    }
    return 1;
}

static uint64_t bindless_note(bindless_queue_t *queue, cl_event event)
{
    (void)clFlush(queue->handle); /* the event reports a failure of the command */
    blr_mutex_lock(&queue->lock->mutex);
    int recorded = bindless_events_grow(queue);
    if (recorded) {
        clRetainEvent(event);
        queue->events[queue->count++] = event;
    }
    blr_mutex_unlock(&queue->lock->mutex);
    if (!recorded) { /* without memory for its event, the command is complete before anyone asks */
        clWaitForEvents(1, &event);
    }
    return (uint64_t)(uintptr_t)event;
}

/* Returns the result of a prepared command's submission, after recording its event. */
static cl_int bindless_submitted(bindless_queue_t *queue, cl_int result)
{
    if (result == CL_SUCCESS) {
        (void)bindless_note(queue, queue->last_event);
    }
    return result;
}

/* Returns whether a prepared command can be submitted without Python: the host waits for events of other contexts. */
static int bindless_takes_commands(const bindless_queue_t *queue, const bindless_context_t *context)
{
    int takes = queue->handle != NULL && !context->needs_acquire && !bindless_in_child;
    for (uint64_t i = 0; takes && i < queue->wait_count; i++) {
        cl_context home = NULL;
        takes = clGetEventInfo(queue->waits[i], CL_EVENT_CONTEXT, sizeof home, &home, NULL) == CL_SUCCESS &&
                home == context->handle;
    }
    return takes;
}

/* Returns 0 when all commands are complete, with or without a failure, and INT32_MIN when not, after at most
   `questions` queries. */
static int bindless_queue_wait(const void *native, int questions)
{
    bindless_queue_t *queue = (bindless_queue_t *)(uintptr_t)native;
    int pending = 1;
    for (int i = 0; pending && i < questions; i++) {
        blr_mutex_lock(&queue->lock->mutex);
        pending = bindless_events_prune(queue, 1);
        blr_mutex_unlock(&queue->lock->mutex);
    }
    return pending ? INT32_MIN : 0;
}

/* Returns the number of incomplete events, and up to `room` of them, each with a new reference. */
static cl_uint bindless_events_pending(bindless_queue_t *queue, cl_event *pending, cl_uint room)
{
    cl_uint number = 0;
    blr_mutex_lock(&queue->lock->mutex);
    for (cl_uint i = 0; i < queue->count; i++) {
        if (bindless_ask_event(queue->events[i]) > CL_COMPLETE) {
            if (number < room) {
                pending[number] = queue->events[i];
                clRetainEvent(pending[number]);
            }
            number++;
        }
    }
    blr_mutex_unlock(&queue->lock->mutex);
    return number;
}

/* Moves up to `room` events of failed commands from the list to the caller, and releases complete ones. */
static cl_uint bindless_events_failed(bindless_queue_t *queue, cl_event *failed, cl_uint room)
{
    cl_uint number = 0, rest = 0;
    blr_mutex_lock(&queue->lock->mutex);
    for (cl_uint i = 0; i < queue->count; i++) {
        cl_event event = queue->events[i];
        cl_int status = bindless_ask_event(event);
        if (status == CL_COMPLETE) {
            clReleaseEvent(event);
        } else if (status < CL_COMPLETE && number < room) {
            failed[number++] = event;
        } else {
            queue->events[rest++] = event;
        }
    }
    queue->count = rest;
    blr_mutex_unlock(&queue->lock->mutex);
    return number;
}

/* Releases an event, whose failure is reported. */
static void bindless_events_tell(bindless_queue_t *queue, uint64_t number)
{
    blr_mutex_lock(&queue->lock->mutex);
    for (cl_uint i = 0; i < queue->count; i++) {
        if ((uint64_t)(uintptr_t)queue->events[i] == number) {
            clReleaseEvent(queue->events[i]);
            memmove(queue->events + i, queue->events + i + 1, (queue->count - i - 1) * sizeof *queue->events);
            queue->count--;
            break;
        }
    }
    blr_mutex_unlock(&queue->lock->mutex);
}

/* Releases all events. */
static void bindless_events_clear(bindless_queue_t *queue)
{
    blr_mutex_lock(&queue->lock->mutex);
    for (cl_uint i = 0; i < queue->count; i++) {
        clReleaseEvent(queue->events[i]);
    }
    free(queue->events);
    queue->events = NULL;
    queue->count = queue->capacity = 0;
    blr_mutex_unlock(&queue->lock->mutex);
}

#endif
