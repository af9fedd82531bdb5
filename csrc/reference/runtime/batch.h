/*
 * Batches: commands recorded once and executed as one command, any number of times.
 *
 * A batch owns the resources that its commands retain until it is destroyed; executing it leaves the commands
 * unchanged.
 */
#ifndef BINDLESS_REFERENCE_RUNTIME_BATCH_H
#define BINDLESS_REFERENCE_RUNTIME_BATCH_H

#include "runtime/queue.h"

struct blr_batch;

/* The batch that the queue is recording, or NULL. Another thread may end the recording at any time. */
static inline struct blr_batch *blr_batch_of(const struct blr_queue *queue)
{
    return atomic_load_explicit(&queue->recording, memory_order_relaxed);
}

/* Adds a command to the recording; the batch owns it unless the call fails. num_waits: number of events in the
 * command's wait list. */
blr_result_t blr_batch_record(struct blr_queue *queue, struct blr_command *command, uint32_t num_waits);

/* Discards the recording of the queue, if any. */
void blr_batch_drop(struct blr_queue *queue);

#endif
