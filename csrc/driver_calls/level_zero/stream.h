/* In-order commands of one engine: submission, events behind commands, and the events that commands use.
 *
 * `entries` lists, in the order of submission, the events that commands wait for or signal. The commands before an
 * event that marks the end of all earlier ones are complete when it is signalled. */
#ifndef BINDLESS_DRIVER_CALLS_LEVEL_ZERO_STREAM_H
#define BINDLESS_DRIVER_CALLS_LEVEL_ZERO_STREAM_H

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "level_zero/events.h"
#include "level_zero/lists.h"

enum { BINDLESS_SWEEP_EVERY = 64 }; /* kept events between two checks for complete ones */

/* Releases the first events. */
static void bindless_forget(bindless_stream_t *stream, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        (void)bindless_event_release(stream->entries[stream->first + i].event);
    }
    stream->first += count;
    if (stream->first == stream->end) {
        stream->first = stream->end = 0;
    }
}

static void bindless_sweep(bindless_stream_t *stream)
{
    size_t complete = 0;
    for (size_t i = stream->first; i < stream->end; i++) {
        if (stream->entries[i].index > 0) {
            if (zeEventQueryStatus(stream->entries[i].event->handle) == ZE_RESULT_NOT_READY) {
                break;
            }
            complete = i + 1 - stream->first;
        }
    }
    bindless_forget(stream, complete);
}

/* Reserves room for some more events. */
static ze_result_t bindless_reserve(bindless_stream_t *stream, size_t count)
{
    if (stream->end + count <= stream->capacity) {
        return ZE_RESULT_SUCCESS;
    }
    size_t rest = stream->end - stream->first, capacity = 2 * (rest + count) + BINDLESS_SWEEP_EVERY;
    bindless_entry_t *entries = malloc(capacity * sizeof *entries);
    if (entries == NULL) {
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    }
    if (rest > 0) {
        memcpy(entries, stream->entries + stream->first, rest * sizeof *entries);
    }
    free(stream->entries);
    stream->entries = entries;
    stream->capacity = capacity;
    stream->first = 0;
    stream->end = rest;
    return ZE_RESULT_SUCCESS;
}

/* Appends an event, with a new reference; the room is reserved. */
static void bindless_add(bindless_stream_t *stream, bindless_event_t *event, long long index)
{
    bindless_event_retain(event);
    stream->entries[stream->end++] = (bindless_entry_t){.event = event, .index = index};
}

static ze_result_t bindless_barrier(bindless_lists_t *lists, ze_event_handle_t signal)
{
    bindless_open_t opened;
    ze_result_t result = bindless_begin(lists, &opened);
    if (result == ZE_RESULT_SUCCESS) {
        result = zeCommandListAppendBarrier(opened.list, signal, 0, NULL);
    }
    return bindless_end(lists, &opened, result);
}

static void bindless_unkeep(bindless_stream_t *stream, uint32_t count)
{
    while (count-- > 0) {
        (void)bindless_event_release(stream->entries[--stream->end].event);
    }
}

static int bindless_record(bindless_stream_t *stream, long long index, bindless_event_t **recorded)
{
    bindless_event_t *event = NULL;
    ze_result_t result = bindless_reserve(stream, 1);
    if (result == ZE_RESULT_SUCCESS) {
        result = bindless_event_take(stream->pool, &event);
    }
    if (result != ZE_RESULT_SUCCESS) {
        return (int)result;
    }
    bindless_add(stream, event, index);
    result = bindless_barrier(stream->lists, event->handle);
    if (result != ZE_RESULT_SUCCESS) {
        bindless_unkeep(stream, 1);
        (void)bindless_event_release(event);
        return (int)result;
    }
    *recorded = event;
    return (int)result;
}

static int bindless_record_end(bindless_stream_t *stream, long long index, bindless_event_t **recorded)
{
    const bindless_entry_t *last = stream->end > stream->first ? &stream->entries[stream->end - 1] : NULL;
    if (last == NULL || last->index != index) {
        return bindless_record(stream, index, recorded);
    }
    bindless_event_retain(last->event);
    *recorded = last->event;
    return 0;
}

static int bindless_record_number(bindless_stream_t *stream, long long index, unsigned long long *number)
{
    bindless_event_t *event = NULL;
    int result = bindless_record_end(stream, index, &event);
    *number = (unsigned long long)(uintptr_t)event;
    return result;
}

/* Releases events from time to time. Marks the end of the submitted commands if no event does. */
static void bindless_prune(bindless_stream_t *stream)
{
    if (stream->end - stream->first < stream->sweep_at) {
        return;
    }
    bindless_sweep(stream);
    int is_marked = 0;
    for (size_t i = stream->first; i < stream->end; i++) {
        is_marked = is_marked || stream->entries[i].index > 0;
    }
    bindless_event_t *mark = NULL;
    if (!is_marked && bindless_record(stream, LLONG_MAX, &mark) == 0) {
        (void)bindless_event_release(mark);
    }
    stream->sweep_at = stream->end - stream->first + BINDLESS_SWEEP_EVERY;
}

static ze_result_t bindless_keep(bindless_stream_t *stream, uint32_t count, bindless_event_t *const *events,
                                 long long index)
{
    bindless_prune(stream);
    ze_result_t result = bindless_reserve(stream, count);
    for (uint32_t i = 0; result == ZE_RESULT_SUCCESS && i < count; i++) {
        bindless_add(stream, events[i], index);
    }
    return result;
}

static void bindless_stream_clear(bindless_stream_t *stream)
{
    bindless_forget(stream, stream->end - stream->first);
    free(stream->entries);
    stream->entries = NULL;
    stream->capacity = 0;
}

/* Begins a command that waits for the events of the stream's wait list, which the stream keeps. Their driver events are
   written to `waits`. */
static ze_result_t bindless_start(bindless_stream_t *stream, bindless_open_t *opened, ze_event_handle_t *waits)
{
    bindless_waits_t *list = &stream->waits;
    *opened = (bindless_open_t){0};
    if (list->count > 0) {
        bindless_prune(stream);
        ze_result_t result = bindless_reserve(stream, list->count);
        if (result != ZE_RESULT_SUCCESS) {
            list->count = 0;
            return result;
        }
    }
    for (uint64_t i = 0; i < list->count; i++) {
        waits[i] = list->events[i]->handle;
        bindless_add(stream, list->events[i], 0);
    }
    return bindless_begin(stream->lists, opened);
}

static int bindless_finish(bindless_stream_t *stream, const bindless_open_t *opened, ze_result_t result)
{
    result = bindless_end(stream->lists, opened, result);
    if (result != ZE_RESULT_SUCCESS) {
        bindless_unkeep(stream, (uint32_t)stream->waits.count);
    }
    return (int)result;
}

#endif
