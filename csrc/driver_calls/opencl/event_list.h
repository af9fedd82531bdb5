/* Events of a queue's launches, kept until they are known to be complete without a failure: no other code may query
   their status. */
#ifndef BINDLESS_OPENCL_EVENTS_H
#define BINDLESS_OPENCL_EVENTS_H

#include <stdlib.h>

#include "../../reference/platform/threads.h"
#include "opencl/declarations.h"

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

/* Returns CL_COMPLETE, a positive number for an incomplete command, or the negative error code of the command or the
   query. */
static cl_int bindless_ask_event(cl_event event)
{
    cl_int status = CL_QUEUED;
    cl_int result = clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, NULL);
    return result == CL_SUCCESS ? status : result;
}

static void bindless_ask_events(cl_uint count, const cl_event *events, cl_int *statuses)
{
    for (cl_uint i = 0; i < count; i++) {
        statuses[i] = bindless_ask_event(events[i]);
    }
}

/* Releases complete events except the last one; the lock is held. */
static void bindless_events_prune(bindless_events_t *kept)
{
    cl_uint left = 0;
    for (cl_uint i = 0; i < kept->count; i++) {
        if (i + 1 < kept->count && bindless_ask_event(kept->events[i]) == CL_COMPLETE) {
            clReleaseEvent(kept->events[i]);
        } else {
            kept->events[left++] = kept->events[i];
        }
    }
    kept->count = left;
}

/* Reserves room for one more event; the limit becomes twice the number of remaining events, so that queries stay
   rare. */
static int bindless_events_reserve(bindless_events_t *kept)
{
    int there = 1;
    blr_mutex_lock(&kept->lock->mutex);
    if (kept->count >= kept->most) {
        bindless_events_prune(kept);
        kept->most = kept->count < 128 ? 256 : 2 * kept->count;
    }
    if (kept->count == kept->capacity) {
        cl_uint capacity = kept->capacity < 128 ? 256 : 2 * kept->capacity;
        cl_event *events = realloc(kept->events, capacity * sizeof *events);
        there = events != NULL;
        if (there) {
            kept->events = events;
            kept->capacity = capacity;
        }
    }
    blr_mutex_unlock(&kept->lock->mutex);
    return there;
}

/* Takes ownership of the reference. The room was reserved: one thread at a time submits to a queue. */
static void bindless_events_add(bindless_events_t *kept, cl_event event)
{
    blr_mutex_lock(&kept->lock->mutex);
    kept->events[kept->count++] = event;
    blr_mutex_unlock(&kept->lock->mutex);
}

/* Returns the last event with a new reference; NULL if there is none. */
static cl_event bindless_events_last(bindless_events_t *kept)
{
    cl_event last = NULL;
    blr_mutex_lock(&kept->lock->mutex);
    if (kept->count > 0) {
        last = kept->events[kept->count - 1];
        clRetainEvent(last);
    }
    blr_mutex_unlock(&kept->lock->mutex);
    return last;
}

/* Counts incomplete events, and returns up to `most` of them, last ones first, each with a new reference. With
 * `last`, looks at the last event only: the others of an in-order queue are complete before it. With most 0, the
 * count stops at 1. */
static cl_uint bindless_events_pending(bindless_events_t *kept, int last, cl_event *pending, cl_uint most)
{
    cl_uint found = 0;
    blr_mutex_lock(&kept->lock->mutex);
    for (cl_uint i = kept->count; i > 0; i--) {
        if (bindless_ask_event(kept->events[i - 1]) > CL_COMPLETE) {
            if (found < most) {
                pending[found] = kept->events[i - 1];
                clRetainEvent(pending[found]);
            }
            found++;
        }
        if (last || (most == 0 && found > 0)) {
            break;
        }
    }
    blr_mutex_unlock(&kept->lock->mutex);
    return found;
}

/* Returns up to `most` events with an unreported failure, each with a new reference, and releases complete and
   reported ones. */
static cl_uint bindless_events_failed(bindless_events_t *kept, cl_event *failed, cl_uint most)
{
    cl_uint found = 0, left = 0;
    blr_mutex_lock(&kept->lock->mutex);
    for (cl_uint i = 0; i < kept->count; i++) {
        cl_event event = kept->events[i];
        int last = i + 1 == kept->count;
        cl_int status = bindless_ask_event(event);
        if (status < CL_COMPLETE && event != kept->told) {
            if (found == most) { /* left for the next call */
                kept->events[left++] = event;
                continue;
            }
            clRetainEvent(event);
            failed[found++] = event;
            if (last) {
                kept->told = event;
            }
        }
        if (last || status > CL_COMPLETE) {
            kept->events[left++] = event;
        } else {
            if (event == kept->told) {
                kept->told = NULL;
            }
            clReleaseEvent(event);
        }
    }
    kept->count = left;
    blr_mutex_unlock(&kept->lock->mutex);
    return found;
}

/* Marks the failure of an event as reported, so that it is reported once. */
static void bindless_events_tell(bindless_events_t *kept, cl_event event)
{
    cl_uint left = 0;
    blr_mutex_lock(&kept->lock->mutex);
    for (cl_uint i = 0; i < kept->count; i++) {
        if (kept->events[i] == event && i + 1 < kept->count) {
            clReleaseEvent(event);
        } else {
            if (kept->events[i] == event) {
                kept->told = event;
            }
            kept->events[left++] = kept->events[i];
        }
    }
    kept->count = left;
    blr_mutex_unlock(&kept->lock->mutex);
}

/* Releases all events. */
static void bindless_events_clear(bindless_events_t *kept)
{
    blr_mutex_lock(&kept->lock->mutex);
    for (cl_uint i = 0; i < kept->count; i++) {
        clReleaseEvent(kept->events[i]);
    }
    free(kept->events);
    kept->events = NULL;
    kept->count = kept->capacity = 0;
    blr_mutex_unlock(&kept->lock->mutex);
}

#endif
