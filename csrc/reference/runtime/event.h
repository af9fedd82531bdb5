/* An event: the completion state, result and timestamps of a command, and the commands that wait for it. */
#ifndef BINDLESS_REFERENCE_RUNTIME_EVENT_H
#define BINDLESS_REFERENCE_RUNTIME_EVENT_H

#include "runtime/scheduler.h"

#include <stdatomic.h>

struct blr_event {
    struct blr_object object;
    struct blr_context *context; /* retained */
    uint64_t queue;              /* id of the queue, 0 for a user event */
    _Atomic uint32_t owners;     /* number of references that callers hold */

    /* guarded by the scheduler's lock */
    blr_event_status_t status;
    blr_result_t result;
    char *message;               /* error message of a failure; NULL when there was no memory for it */
    struct blr_event *cause;     /* root failure that this event propagates; retained */
    bool reported;               /* the failure was reported to a caller */
    uint64_t submitted, started, ended;
    struct blr_command *command; /* command to run; NULL when complete, and for a user event */
    struct blr_edge *dependents;
    blr_condition_t changed;
    uint32_t waiters;
    struct blr_event *next_failure;
};

/* A new event with one reference, which can become a caller's; NULL after blr_fail. */
struct blr_event *blr_event_new(struct blr_context *context, uint64_t queue);
struct blr_event *blr_event_acquire(blr_event_t handle);
void blr_event_retain(struct blr_event *event);
void blr_event_release(struct blr_event *event);

static inline bool blr_event_is_complete(const struct blr_event *event)
{
    return event->status == BLR_EVENT_COMPLETE || event->status == BLR_EVENT_FAILED;
}

/* Error message of the failure, never NULL. */
const char *blr_event_message(const struct blr_event *event);

#endif
