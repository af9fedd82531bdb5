/* Events, and the pools that hold their states. A pool lives as long as its events. Counter-based events: counter_event.h. */
#ifndef BLZ_EVENT_H
#define BLZ_EVENT_H

#include "context.h"
#include "slot.h"
#include "store.h"

struct blz_stream;

struct blz_event_pool {
    struct blr_object object;
    struct blz_context *context; /* retained */
    ze_event_pool_flags_t flags;
    ze_event_counter_based_flags_t counter; /* of a pool of counter-based events, else 0 */
    uint32_t count;
    bool opened;                 /* of another process: closed, not destroyed */
    struct blz_slot *slots;       /* of a pool that can be shared, else NULL: its events have their own */
    struct blz_store_range range; /* where the slots lie */
};

struct blz_event {
    struct blr_object object;
    struct blz_event_pool *pool; /* retained, or NULL: a counter-based event of its own, or a tracking point */
    ze_event_pool_flags_t stamps; /* ZE_EVENT_POOL_FLAG_KERNEL_TIMESTAMP and _MAPPED_TIMESTAMP: the times that the event keeps */
    struct blz_slot *slot;
    struct blz_slot own; /* its state unless the pool can be shared: what comes to the same place later leaves it alone */
    ze_event_desc_t desc;
    struct blz_stream *source; /* whose work is to signal it, as far as that is known: retained, or NULL */

    /* of a counter-based event, whose own slot is not used */
    ze_event_counter_based_flags_t counter; /* 0: the event is none */
    struct blz_event *latest; /* the tracking point: retained, or NULL before the first. Under the mutex of counter_event.c */
    bool begun;               /* of the point of a recorded command: latest belongs to an execution already */
};

/* All with a reference added. */
ze_result_t blz_event_pool_acquire(ze_event_pool_handle_t handle, struct blz_event_pool **pool);
ze_result_t blz_event_acquire(ze_event_handle_t handle, struct blz_event **event);

static inline void blz_event_release(struct blz_event *event) { blr_object_release(&event->object); }

/* Says whose work is going to signal the event; and that the stream's work has done so. */
void blz_event_set_source(struct blz_event *event, struct blz_stream *stream);
void blz_event_clear_source(struct blz_event *event, struct blz_stream *stream);

/* Does work that leads to the signal on the calling thread, if there is such that nobody is at. */
void blz_event_help(struct blz_event *event);

static inline bool blz_event_is_shared(const struct blz_event *event) { return event->pool != NULL && event->pool->range.size != 0; }

/* INVALID_ARGUMENT for an event without timestamps. */
ze_result_t blz_event_check_timestamps(const struct blz_event *event);

/* Checks the scopes of a descriptor. */
ze_result_t blz_event_check_scopes(ze_event_scope_flags_t signal, ze_event_scope_flags_t wait);

/* Gives back what an event holds, and the event. */
void blz_event_free(struct blr_object *object);

/* The timestamps of a signalled event as the API tells them; zero before. */
void blz_event_timestamps(struct blz_event *event, ze_kernel_timestamp_result_t *result);

#endif
