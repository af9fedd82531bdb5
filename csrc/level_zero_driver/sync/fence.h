/* A fence: the work of one command queue signals it. */
#ifndef BINDLESS_LEVEL_ZERO_DRIVER_SYNC_FENCE_H
#define BINDLESS_LEVEL_ZERO_DRIVER_SYNC_FENCE_H

#include "level_zero_driver/core/handle.h"
#include "level_zero_driver/sync/signal_slot.h"

struct blz_queue;

struct blz_fence {
    struct blr_object object;
    struct blz_queue *queue; /* retained */
    struct blz_slot slot;
};

/* Adds a reference; fails with INVALID_SYNCHRONIZATION_OBJECT for a fence of another queue. */
ze_result_t blz_fence_acquire(ze_fence_handle_t handle, const struct blz_queue *queue, struct blz_fence **fence);

#endif
