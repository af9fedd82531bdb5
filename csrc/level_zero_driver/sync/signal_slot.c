/* Slots: the signalled state of events and fences. */

#include "level_zero_driver/sync/signal_slot.h"

#include "reference/platform/threads.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#define LOOK_AGAIN ((uint64_t)500000) /* nanoseconds between polls of a shared slot */

static blr_mutex_t mutex = BLR_MUTEX_INIT;
static blr_condition_t changed;
static uint32_t waiters;

static void initialise(void) { blr_condition_init(&changed); }

static void lock(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, initialise);
    blr_mutex_lock(&mutex);
}

void blz_slot_set(struct blz_slot *slot, const struct blz_outcome *outcome)
{
    lock();
    slot->result = outcome->result;
    slot->started = outcome->started;
    slot->ended = outcome->ended;
    snprintf(slot->text, sizeof slot->text, "%s", outcome->result == ZE_RESULT_SUCCESS || outcome->text == NULL ? "" : outcome->text);
    atomic_store_explicit(&slot->signaled, 1, memory_order_release);
    if (waiters > 0)
        blr_condition_broadcast(&changed);
    blr_mutex_unlock(&mutex);
}

void blz_slot_reset(struct blz_slot *slot)
{
    lock();
    atomic_store_explicit(&slot->signaled, 0, memory_order_release);
    slot->result = ZE_RESULT_SUCCESS;
    blr_mutex_unlock(&mutex);
}

bool blz_slot_wait(struct blz_slot *slot, bool shared, uint64_t deadline)
{
    if (blz_slot_is_set(slot))
        return true;
    lock();
    bool set, in_time = true;
    while (!(set = blz_slot_is_set(slot)) && in_time) {
        uint64_t now = shared || deadline != BLR_NO_DEADLINE ? blr_clock_now() : 0;
        in_time = deadline == BLR_NO_DEADLINE || now < deadline;
        uint64_t until = shared && (deadline == BLR_NO_DEADLINE || deadline - now > LOOK_AGAIN) ? now + LOOK_AGAIN : deadline;
        waiters++;
        if (in_time)
            blr_condition_wait(&changed, &mutex, until);
        waiters--;
    }
    blr_mutex_unlock(&mutex);
    return set;
}

ze_result_t blz_slot_result(struct blz_slot *slot)
{
    if (!blz_slot_is_set(slot))
        return ZE_RESULT_NOT_READY;
    char text[BLZ_SLOT_TEXT];
    lock();
    ze_result_t result = slot->result;
    if (result != ZE_RESULT_SUCCESS)
        memcpy(text, slot->text, sizeof text);
    blr_mutex_unlock(&mutex);
    return result == ZE_RESULT_SUCCESS ? result : blz_fail(result, "%.*s", BLZ_SLOT_TEXT - 1, text);
}

bool blz_slot_times(struct blz_slot *slot, uint64_t *started, uint64_t *ended)
{
    lock();
    bool set = blz_slot_is_set(slot);
    *started = slot->started;
    *ended = slot->ended;
    blr_mutex_unlock(&mutex);
    return set;
}
