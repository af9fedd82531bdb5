/* Events between processes: a page of the store with two numbers, of the last record and of the last that is done. */
#ifndef BINDLESS_CUDA_DRIVER_STREAM_SHARED_EVENT_H
#define BINDLESS_CUDA_DRIVER_STREAM_SHARED_EVENT_H

#include "cuda_driver/core/result.h"

struct bcu_shared_event;

/* A new one. */
CUresult bcu_shared_event_new(struct bcu_shared_event **event);
void bcu_shared_event_delete(struct bcu_shared_event *event);

/* Enqueues a record, which completes with native. Callers lock. */
CUresult bcu_shared_event_record(struct bcu_shared_event *event, blr_queue_t queue, uint32_t count, const blr_event_t *waits,
                                 blr_event_t *native);

/* An event of the reference driver, with a reference added, that completes with the last record of any process; NULL
 * where that is done. Callers lock. */
blr_event_t bcu_shared_event_native(struct bcu_shared_event *event);

#endif
