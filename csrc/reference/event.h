/* An event: whether a command is complete, how it ended, when, and what waits for it. */
#ifndef BLR_EVENT_H
#define BLR_EVENT_H

#include "scheduler.h"

#include <stdatomic.h>

struct blr_event {
    struct blr_object object;
    struct blr_context *context; /* retained */
    uint64_t queue;              /* id of the queue, 0 for a user event */
    _Atomic uint32_t owners;     /* references that callers hold */

    /* under the scheduler's lock */
    blr_event_status_t status;
    blr_result_t result;
    char *message;               /* of a failure; NULL when there was no memory for it */
    struct blr_event *cause;     /* retained: the failure that this one only passes on */
    bool reported;               /* somebody was given the failure */
    uint64_t submitted, started, ended;
    struct blr_command *command; /* NULL when complete, and for a user event */
    struct blr_edge *dependents;
    blr_condition_t changed;
    uint32_t waiters;
    struct blr_event *next_failure;
};

/* A new event with one reference, which callers may come to hold; NULL after blr_fail. */
struct blr_event *blr_event_new(struct blr_context *context, uint64_t queue);
struct blr_event *blr_event_acquire(blr_event_t handle);
void blr_event_retain(struct blr_event *event);
void blr_event_release(struct blr_event *event);

static inline bool blr_event_is_complete(const struct blr_event *event)
{
    return event->status == BLR_EVENT_COMPLETE || event->status == BLR_EVENT_FAILED;
}

/* The failure's sentence, never NULL. */
const char *blr_event_message(const struct blr_event *event);

#endif
