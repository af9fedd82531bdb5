/* Events, and the event pools that hold their states. Each event keeps its pool alive. Counter-based events are in
   counter_event.h. */
#ifndef BINDLESS_LEVEL_ZERO_DRIVER_SYNC_EVENT_H
#define BINDLESS_LEVEL_ZERO_DRIVER_SYNC_EVENT_H

#include "level_zero_driver/driver/context.h"
#include "level_zero_driver/sync/signal_slot.h"
#include "reference/external/shared_store.h"

struct blz_stream;

struct blz_event_pool {
    struct blr_object object;
    struct blz_context *context; /* retained */
    ze_event_pool_flags_t flags;
    ze_event_counter_based_flags_t counter; /* of a pool of counter-based events, else 0 */
    uint32_t count;
    bool opened;                 /* opened from an IPC handle: closed, not destroyed */
    struct blz_slot *slots;       /* of a pool that can be shared; NULL otherwise: each event has its own slot */
    struct blr_store_range range; /* where the slots are stored */
};

struct blz_event {
    struct blr_object object;
    struct blz_event_pool *pool; /* retained, or NULL: a counter-based event of its own, or a tracking point */
    ze_event_pool_flags_t stamps; /* ZE_EVENT_POOL_FLAG_KERNEL_TIMESTAMP and _MAPPED_TIMESTAMP: the times that the event keeps */
    struct blz_slot *slot;
    struct blz_slot own; /* the state, if the pool cannot be shared */
    ze_event_desc_t desc;
    struct blz_stream *source; /* the stream whose work signals the event, where known: retained, or NULL */

    /* of a counter-based event, whose own slot is not used */
    ze_event_counter_based_flags_t counter; /* 0: the event is none */
    struct blz_event *latest; /* the tracking point: retained, or NULL before the first. Under the mutex of counter_event.c */
    bool begun;               /* of the point of a recorded command: latest belongs to an execution already */
};

/* Each adds a reference. */
ze_result_t blz_event_pool_acquire(ze_event_pool_handle_t handle, struct blz_event_pool **pool);
ze_result_t blz_event_acquire(ze_event_handle_t handle, struct blz_event **event);

static inline void blz_event_release(struct blz_event *event) { blr_object_release(&event->object); }

/* Sets or clears the stream whose submitted work signals the event. */
void blz_event_set_source(struct blz_event *event, struct blz_stream *stream);
void blz_event_clear_source(struct blz_event *event, struct blz_stream *stream);

/* Runs submitted work that leads to the signal on the calling thread, unless another thread runs it. */
void blz_event_help(struct blz_event *event);

static inline bool blz_event_is_shared(const struct blz_event *event) { return event->pool != NULL && event->pool->range.size != 0; }

/* Fails with INVALID_ARGUMENT for an event without timestamps. */
ze_result_t blz_event_check_timestamps(const struct blz_event *event);

/* Checks the scopes of a descriptor. */
ze_result_t blz_event_check_scopes(ze_event_scope_flags_t signal, ze_event_scope_flags_t wait);

/* Releases what an event holds, and the event. */
void blz_event_free(struct blr_object *object);

/* Returns the timestamps of a signalled event in the API's form; zeros before the signal. */
void blz_event_timestamps(struct blz_event *event, ze_kernel_timestamp_result_t *result);

#endif
