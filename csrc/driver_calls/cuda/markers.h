/* Events of streams that other libraries use too: recorded with each command, because a later record would include the
 * owner's work. A marker holds an event and counts its uses; without one it returns to the markers of its stream. Markers
 * live as long as the process. One thread at a time takes them, any thread returns them, and no lock is left behind in
 * the child of a fork. */
#ifndef BINDLESS_DRIVER_CALLS_CUDA_MARKERS_H
#define BINDLESS_DRIVER_CALLS_CUDA_MARKERS_H

#include <stdatomic.h>
#include <stdlib.h>

#include "cuda/current_context.h"

enum { BINDLESS_MARKER_POLLS = 1024 };

struct bindless_marker {
    CUevent event;
    bindless_markers_t *markers;
    bindless_marker_t *next;      /* among the unused ones */
    bindless_marker_t *following; /* among all */
    atomic_int uses;
};

struct bindless_markers {
    CUcontext context;
    bindless_marker_t *unused;
    _Atomic(bindless_marker_t *) returned;
    _Atomic(bindless_marker_t *) all;
};

static bindless_markers_t *bindless_markers_create(CUcontext context)
{
    bindless_markers_t *markers = calloc(1, sizeof *markers);
    if (markers != NULL) {
        markers->context = context;
    }
    return markers;
}

/* Returns whether a marker has this event. */
static int bindless_markers_have(bindless_markers_t *markers, CUevent event)
{
    const bindless_marker_t *marker = atomic_load(&markers->all);
    while (marker != NULL && marker->event != event) {
        marker = marker->following;
    }
    return marker != NULL;
}

/* Takes an unused marker, or creates one in the current context. */
static CUresult bindless_marker_take(bindless_markers_t *markers, bindless_marker_t **slot)
{
    if (markers->unused == NULL) {
        markers->unused = atomic_exchange(&markers->returned, NULL);
    }
    bindless_marker_t *marker = markers->unused;
    if (marker != NULL) {
        markers->unused = marker->next;
    } else {
        marker = calloc(1, sizeof *marker);
        CUresult result =
            marker == NULL ? CUDA_ERROR_OUT_OF_MEMORY : cuEventCreate(&marker->event, CU_EVENT_DISABLE_TIMING);
        if (result != CUDA_SUCCESS) {
            free(marker);
            return result;
        }
        marker->markers = markers;
        marker->following = atomic_load(&markers->all);
        atomic_store(&markers->all, marker);
    }
    *slot = marker;
    return CUDA_SUCCESS;
}

/* Ends one use of a marker; another command records it after the last one. */
static int bindless_marker_release(bindless_marker_t *marker)
{
    if (atomic_fetch_sub(&marker->uses, 1) == 1) {
        bindless_markers_t *markers = marker->markers;
        marker->next = atomic_load(&markers->returned);
        while (!atomic_compare_exchange_weak(&markers->returned, &marker->next, marker)) {
        }
    }
    return 0;
}

static CUevent bindless_marker_event(const bindless_marker_t *marker)
{
    return marker->event;
}

/* Polls at most `questions` times: 0 if the command is complete, INT32_MIN if not, else the error. */
static int bindless_marker_poll(const bindless_marker_t *marker, int questions)
{
    CUresult result = bindless_activate(marker->markers->context);
    if (result != CUDA_SUCCESS) {
        return (int)result;
    }
    do {
        result = cuEventQuery(marker->event);
    } while (result == CUDA_ERROR_NOT_READY && --questions > 0);
    return result == CUDA_ERROR_NOT_READY ? INT32_MIN : (int)result;
}

/* The same for about a millisecond: most waits end without Python. */
static int bindless_marker_wait(const bindless_marker_t *marker)
{
    return bindless_marker_poll(marker, BINDLESS_MARKER_POLLS);
}

static void bindless_recorder_end(bindless_recorder_t *recorder)
{
    if (recorder->last != NULL) {
        bindless_marker_release(recorder->last);
        recorder->last = NULL;
    }
}

/* Records a marker after the last command: one use is the recorder's, the other one the command's event's. */
static CUresult bindless_recorder_mark(bindless_recorder_t *recorder)
{
    bindless_marker_t *marker;
    CUresult result = bindless_activate(recorder->markers->context);
    if (result == CUDA_SUCCESS) {
        result = bindless_marker_take(recorder->markers, &marker);
    }
    if (result != CUDA_SUCCESS) {
        return result;
    }
    atomic_store(&marker->uses, 2);
    result = cuEventRecord(marker->event, recorder->stream);
    if (result != CUDA_SUCCESS) {
        atomic_store(&marker->uses, 1);
        bindless_marker_release(marker);
        return result;
    }
    bindless_recorder_end(recorder);
    recorder->last = marker;
    return CUDA_SUCCESS;
}

/* Polls at most `questions` times whether the commands of the recorder are complete: INT32_MIN if not. */
static int bindless_recorder_wait(const bindless_recorder_t *recorder, int questions)
{
    return recorder->last == NULL ? 0 : bindless_marker_poll(recorder->last, questions);
}

/* Submits a command and records its marker. */
static int bindless_recorded(const bindless_recorded_t *command)
{
    int (*submit)(const void *) = (int (*)(const void *))(uintptr_t)command->submit;
    int result = submit((const void *)(uintptr_t)command->description);
    return result == 0 ? (int)bindless_recorder_mark(command->recorder) : result;
}

#endif
