/*
 * When commands run: the graph of what waits for what, across all queues.
 *
 * A command counts the things it waits for: the events it names, in an in-order queue the command before it, after a
 * barrier that barrier. When the count is 0 it is ready, and a worker of its queue runs it, or a thread that waits
 * for it. One lock guards the whole graph; it is held for counting and linking only, never while work runs.
 */
#ifndef BLR_SCHEDULER_H
#define BLR_SCHEDULER_H

#include "context.h"
#include "threads.h"

struct blr_command;
struct blr_event;
struct blr_queue;

extern blr_mutex_t blr_scheduler_mutex;

/* "command waits for event", kept in the event's list. An ordering edge passes no failure on. */
struct blr_edge {
    struct blr_edge *next;
    struct blr_command *command;
    bool ordering;
};

#define BLR_INLINE_EDGES 4

/* One piece of submitted work. Each kind of work embeds it at the start of its own struct. */
struct blr_command {
    struct blr_queue *queue; /* outlives its commands */
    struct blr_event *event; /* retained; completes with the command */
    blr_result_t (*run)(struct blr_command *command);      /* reports by blr_fail */
    void (*release)(struct blr_command *command);          /* gives back what the command retains; may be NULL */
    bool is_host_function; /* runs the caller's code: never on a thread that waits */
    bool waits_outside;    /* for what this driver does not do: like a function of the host it keeps its thread */
    bool is_barrier;
    bool is_brief;         /* a waiting thread may run it even if it has a deadline */
    bool is_instant;       /* done sooner than another thread is woken: who submits it runs it, if nothing is ahead of it */
    bool is_repeatable;    /* run leaves it as it was, so that a batch can hold it */
    struct blr_event **follows; /* or NULL: waits for the event there, however that ends, and puts its own there; retained */

    /* under the lock */
    uint64_t sequence;     /* number within the queue */
    uint32_t waiting_for;
    struct blr_event *failed; /* retained: the first event waited for that failed */
    struct blr_command *next_ready;
    struct blr_command *older, *newer; /* the queue's work that is not complete, by submission */
    struct blr_edge *edges;
    uint32_t edge_count;
    struct blr_edge inline_edges[BLR_INLINE_EDGES];
};

/* A zeroed command of size bytes (the kind's own struct), or NULL after blr_fail. */
void *blr_command_new(size_t size, blr_result_t (*run)(struct blr_command *command),
                      void (*release)(struct blr_command *command));

/* For a command that was never submitted. */
void blr_command_discard(struct blr_command *command);

/* Hands the command over, also when it fails. The event's handle goes to *event unless that is NULL. A queue that records keeps
 * the command for the batch, and the handle is NULL. */
blr_result_t blr_submit(struct blr_queue *queue, struct blr_command *command, uint32_t num_waits,
                        const blr_event_t *waits, blr_event_t *event);

/* Called and returning with the lock, releasing it while the command runs. The command is gone afterwards. */
void blr_scheduler_execute(struct blr_command *command);

/* Marks the event complete and tells all that wait for it. Needs the lock. message is NULL for success. */
void blr_scheduler_complete(struct blr_event *event, blr_result_t result, const char *message);

/* Runs a ready command of the queue on the calling thread if that helps it to an earlier end of its wait for work up
 * to a sequence number: never the caller's code, and only brief work when there is a deadline. Called and returning
 * with the lock. */
bool blr_scheduler_help(struct blr_queue *queue, uint64_t sequence, uint64_t deadline);

/* The id of the queue whose command this thread is running; 0 for none. */
uint64_t blr_scheduler_current_queue(void);

/* Makes the running host function's command fail. */
blr_result_t blr_scheduler_fail_current(blr_result_t code, const char *message);

#endif
