/*
 * Counter-based events. Such an event has no state of its own: it follows the completion of the command to which it was last passed
 * to be signalled, its tracking point, and is complete before the first.
 *
 * A point is an event without a handle that is signalled once. A command of an immediate list gets a new one, and a command that
 * waits keeps the one that it found. A recorded command can be executed again: its point is in turn counter-based, and follows the
 * point of its latest execution. Recorded commands that wait for it keep it, and find its point of that time when they are submitted.
 */
#ifndef BINDLESS_LEVEL_ZERO_DRIVER_SYNC_COUNTER_EVENT_H
#define BINDLESS_LEVEL_ZERO_DRIVER_SYNC_COUNTER_EVENT_H

#include "level_zero_driver/sync/event.h"

/* What the event stands for now: itself, or the point at the end of what it follows. Retained; NULL before the first. */
struct blz_event *blz_event_latest(struct blz_event *event);

/* What a command that waits for the event keeps. Retained; NULL: nothing to wait for. */
struct blz_event *blz_event_to_wait(struct blz_event *event, bool recorded);

/* A new point for a command that signals a counter-based event. */
ze_result_t blz_event_point(bool recorded, struct blz_event **point);

/* From now on the event follows the point. */
void blz_event_follow(struct blz_event *event, struct blz_event *point);

/* The point of an execution that begins now, of a recorded command whose point is given. Retained. */
ze_result_t blz_event_begin(struct blz_event *recorded, struct blz_event **point);

/* INVALID_ARGUMENT for a counter-based event: neither the host nor a reset changes its state. */
ze_result_t blz_event_check_settable(const struct blz_event *event);

/* The function of Intel's driver that came before zeEventCounterBasedCreate, and does the same. */
ze_result_t blz_counter_event_create_intel(ze_context_handle_t context, ze_device_handle_t device,
                                           const ze_event_counter_based_desc_t *desc, ze_event_handle_t *handle);

#endif
