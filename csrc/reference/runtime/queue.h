/*
 * A queue: its ready commands, its worker threads, and its unreported failures.
 *
 * Threads start with the first command that needs them. An in-order queue has one thread. An out-of-order queue has one
 * for each running host function, because such a function may block, as may a semaphore wait, and in addition enough to
 * keep the processors busy, up to a limit.
 */
#ifndef BINDLESS_REFERENCE_RUNTIME_QUEUE_H
#define BINDLESS_REFERENCE_RUNTIME_QUEUE_H

#include "runtime/scheduler.h"

#include <stdatomic.h>

#define BLR_QUEUE_MAX_WORKERS 16

struct blr_batch;

struct blr_queue {
    struct blr_object object;
    struct blr_context *context; /* retained */
    bool in_order;

    /* guarded by the scheduler's lock */
    uint64_t submitted; /* sequence number of the newest command */
    struct blr_command *oldest, *newest; /* incomplete commands, by submission */
    struct blr_command *barrier; /* newest incomplete barrier of an out-of-order queue */
    struct blr_batch *_Atomic recording; /* batch being recorded, or NULL; changed under the lock */
    struct blr_command *ready_first, **ready_last; /* list of ready commands; ready_last points to its end's link */
    uint32_t ready_count;
    uint32_t running_functions; /* running host functions and semaphore waits */
    struct blr_event *failures_first, *failures_last; /* retained */
    size_t failures, failures_limit;                  /* number of failures; reaching the limit drops the reported ones */
    blr_condition_t work;
    blr_condition_t progress; /* signalled when a command completes while a thread waits for the queue */
    uint32_t waiters;
    uint32_t idle_workers;
    uint32_t worker_count;
    uint32_t worker_limit;
    uint32_t free_workers; /* worker target, without those that run host functions */
    blr_thread_t workers[BLR_QUEUE_MAX_WORKERS];
    bool stopping;
};

struct blr_queue *blr_queue_acquire(blr_queue_t handle);
void blr_queue_release(struct blr_queue *queue);

/* The following functions need the scheduler's lock. */

/* Ensures that the queue has a thread; false when none could be started. */
bool blr_queue_start(struct blr_queue *queue);
/* Starts another thread when no existing one will take the ready commands. */
void blr_queue_add_workers(struct blr_queue *queue);
void blr_queue_push_ready(struct blr_queue *queue, struct blr_command *command);
struct blr_command *blr_queue_pop_ready(struct blr_queue *queue);

/* The first ready command up to a sequence number: the link that points to it, for removal. */
struct blr_command **blr_queue_find_ready(struct blr_queue *queue, uint64_t sequence);
struct blr_command *blr_queue_take_ready(struct blr_queue *queue, struct blr_command **link);
void blr_queue_add_failure(struct blr_queue *queue, struct blr_event *event);

#endif
