/* Slots: the state of events and fences, which can be signalled, waited for and reset.
 *
 * Processes may share a slot. One lock and one condition variable serve all slots: every signal wakes all waiters,
 * which check their own slots. Waiters poll a slot that another process may signal. */
#ifndef BINDLESS_LEVEL_ZERO_DRIVER_SYNC_SIGNAL_SLOT_H
#define BINDLESS_LEVEL_ZERO_DRIVER_SYNC_SIGNAL_SLOT_H

#include "level_zero_driver/core/result.h"

#include <stdatomic.h>

#define BLZ_SLOT_TEXT 472

struct blz_slot {
    _Atomic uint32_t signaled;
    ze_result_t result;           /* of the command that signalled it */
    uint64_t started, ended;      /* nanoseconds of the device's clock */
    char text[BLZ_SLOT_TEXT];     /* error text of a failure */
};

/* The outcome of a command. text may be NULL for success. */
struct blz_outcome {
    ze_result_t result;
    const char *text;
    uint64_t started, ended;
};

/* Signals the slot and wakes the waiters. A signalled slot stays signalled and takes the new outcome. */
void blz_slot_set(struct blz_slot *slot, const struct blz_outcome *outcome);
void blz_slot_reset(struct blz_slot *slot);

static inline bool blz_slot_is_set(struct blz_slot *slot)
{
    return atomic_load_explicit(&slot->signaled, memory_order_acquire) != 0;
}

/* Waits until the slot is signalled or the deadline passes (a blr_clock_now value, or BLR_NO_DEADLINE); false after
   the deadline. */
bool blz_slot_wait(struct blz_slot *slot, bool shared, uint64_t deadline);

/* Returns NOT_READY, or the result of the signalling command, whose error text becomes the calling thread's. */
ze_result_t blz_slot_result(struct blz_slot *slot);

/* Returns when the signalling command ran; false before a signal. */
bool blz_slot_times(struct blz_slot *slot, uint64_t *started, uint64_t *ended);

#endif
