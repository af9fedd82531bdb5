/*
 * Batches: commands that are recorded once and run as one command, as often as it is submitted.
 *
 * Commands keep what they retain until the batch goes, and their runs leave them as they are.
 */
#ifndef BLR_BATCH_H
#define BLR_BATCH_H

#include "queue.h"

struct blr_batch;

/* The batch that the queue records, or NULL. Another thread may end the recording at any time. */
static inline struct blr_batch *blr_batch_of(const struct blr_queue *queue)
{
    return atomic_load_explicit(&queue->recording, memory_order_relaxed);
}

/* Adds a command, which is the batch's unless this fails. num_waits: events that it was to wait for. */
blr_result_t blr_batch_record(struct blr_queue *queue, struct blr_command *command, uint32_t num_waits);

/* Lets go of what the queue has recorded, if it records. */
void blr_batch_drop(struct blr_queue *queue);

#endif
