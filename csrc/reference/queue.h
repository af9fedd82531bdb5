/*
 * A queue: commands that are ready to run, the threads that run them, and the failures nobody has asked for yet.
 *
 * Threads start with the first command that needs them. An in-order queue has one. An out-of-order queue has one for
 * each function of the host that is running, because such a function may wait for anything, as a wait for a semaphore does, and beside those as many
 * as keep the processors busy; there is a limit.
 */
#ifndef BLR_QUEUE_H
#define BLR_QUEUE_H

#include "scheduler.h"

#include <stdatomic.h>

#define BLR_QUEUE_MAX_WORKERS 16

struct blr_batch;

struct blr_queue {
    struct blr_object object;
    struct blr_context *context; /* retained */
    bool in_order;

    /* under the scheduler's lock */
    uint64_t submitted; /* sequence number of the newest command */
    struct blr_command *oldest, *newest; /* not complete */
    struct blr_command *barrier; /* the newest barrier that is not complete, out of order */
    struct blr_batch *_Atomic recording; /* commands go there; NULL when they run. Changed under the lock */
    struct blr_command *ready_first, **ready_last; /* the last is the link where the next one goes */
    uint32_t ready_count;
    uint32_t running_functions; /* functions of the host at work, and waits for what is outside */
    struct blr_event *failures_first, *failures_last; /* retained */
    size_t failures, failures_limit;                  /* so many; at this number those that were reported are dropped */
    blr_condition_t work;
    blr_condition_t progress; /* a command completed while someone waited for the queue */
    uint32_t waiters;
    uint32_t idle_workers;
    uint32_t worker_count;
    uint32_t worker_limit;
    uint32_t free_workers; /* wanted beside those that run functions of the host */
    blr_thread_t workers[BLR_QUEUE_MAX_WORKERS];
    bool stopping;
};

struct blr_queue *blr_queue_acquire(blr_queue_t handle);
void blr_queue_release(struct blr_queue *queue);

/* All with the scheduler's lock. */

/* Makes sure that the queue has a thread; false when none could be started. */
bool blr_queue_start(struct blr_queue *queue);
/* Starts another thread when commands are ready that none of the others will come to. */
void blr_queue_add_workers(struct blr_queue *queue);
void blr_queue_push_ready(struct blr_queue *queue, struct blr_command *command);
struct blr_command *blr_queue_pop_ready(struct blr_queue *queue);

/* The first ready command up to a sequence number, left where it is, and the link to take it out by. */
struct blr_command **blr_queue_find_ready(struct blr_queue *queue, uint64_t sequence);
struct blr_command *blr_queue_take_ready(struct blr_queue *queue, struct blr_command **link);
void blr_queue_add_failure(struct blr_queue *queue, struct blr_event *event);

#endif
