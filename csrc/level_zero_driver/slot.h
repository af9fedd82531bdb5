/*
 * Things that become signalled, are waited for and may be reset: events and fences.
 *
 * The state lies in a slot, which processes may share. One lock and one condition serve all: whoever waits looks at its
 * own slot again after each signal. A slot that another process may signal is looked at from time to time besides.
 */
#ifndef BLZ_SLOT_H
#define BLZ_SLOT_H

#include "failure.h"

#include <stdatomic.h>

#define BLZ_SLOT_TEXT 472

struct blz_slot {
    _Atomic uint32_t signaled;
    ze_result_t result;           /* of the command that signalled it */
    uint64_t started, ended;      /* nanoseconds of the device's clock */
    char text[BLZ_SLOT_TEXT];     /* of a failure */
};

/* What a command leaves when it ends. text may be NULL for success. */
struct blz_outcome {
    ze_result_t result;
    const char *text;
    uint64_t started, ended;
};

/* Marks the slot and wakes who waits. A slot that is signalled stays so, with its new outcome. */
void blz_slot_set(struct blz_slot *slot, const struct blz_outcome *outcome);
void blz_slot_reset(struct blz_slot *slot);

static inline bool blz_slot_is_set(struct blz_slot *slot)
{
    return atomic_load_explicit(&slot->signaled, memory_order_acquire) != 0;
}

/* Waits until a deadline of blr_clock_now, or BLR_NO_DEADLINE; false when it passed. */
bool blz_slot_wait(struct blz_slot *slot, bool shared, uint64_t deadline);

/* NOT_READY, or what the slot was signalled with, whose sentence becomes the calling thread's. */
ze_result_t blz_slot_result(struct blz_slot *slot);

/* When the command that signalled it ran; false when nothing has. */
bool blz_slot_times(struct blz_slot *slot, uint64_t *started, uint64_t *ended);

#endif
