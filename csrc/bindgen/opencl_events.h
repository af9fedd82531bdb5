/* Events of a queue's launches, kept until they are known to have ended well: nobody else may ask how they did. */
#ifndef BINDLESS_OPENCL_EVENTS_H
#define BINDLESS_OPENCL_EVENTS_H

#include <stdlib.h>

#include "../reference/threads.h"
#include "opencl_additions.h"

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

/* CL_COMPLETE, a larger number for a command that is not, or the negative code of a failure, its own or the query's. */
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

/* Lets go of what is complete, but for the last one; the lock is held. */
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

/* Room for one more; twice as many as are left may be kept next time, so that asking stays rare. */
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

/* Takes over the reference. The room was reserved: one thread at a time submits to a queue. */
static void bindless_events_add(bindless_events_t *kept, cl_event event)
{
    blr_mutex_lock(&kept->lock->mutex);
    kept->events[kept->count++] = event;
    blr_mutex_unlock(&kept->lock->mutex);
}

/* The last one with another reference; NULL if there is none. */
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

/*
 * How many are not complete, and up to most of them, each with another reference, the last ones first. With last, of the
 * last one alone: an in-order queue's others are complete before it. Where none are wanted one that is not complete will
 * do.
 */
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

/* Gives those whose failure was not told, up to most, each with a reference, and lets go of what is complete or told. */
static cl_uint bindless_events_failed(bindless_events_t *kept, cl_event *failed, cl_uint most)
{
    cl_uint found = 0, left = 0;
    blr_mutex_lock(&kept->lock->mutex);
    for (cl_uint i = 0; i < kept->count; i++) {
        cl_event event = kept->events[i];
        int last = i + 1 == kept->count;
        cl_int status = bindless_ask_event(event);
        if (status < CL_COMPLETE && event != kept->told) {
            if (found == most) { /* another time */
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

/* The failure of an event was told: nobody else is told of it. */
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

/* The end: lets go of all. */
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
