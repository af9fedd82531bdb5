/*
 * The scheduler: the dependency graph of commands across all queues, and their execution.
 *
 * Each command counts its unfulfilled dependencies: the events of its wait list, in an in-order queue the previous
 * command, and after a barrier that barrier. At count 0 the command is ready: a worker of its queue runs it, or a
 * thread that waits for it. One lock guards the graph; it is held for counting and linking only, never while a command
 * runs.
 */
#ifndef BINDLESS_REFERENCE_RUNTIME_SCHEDULER_H
#define BINDLESS_REFERENCE_RUNTIME_SCHEDULER_H

#include "platform/shared.h"
#include "runtime/context.h"
#include "platform/threads.h"

struct blr_command;
struct blr_event;
struct blr_queue;

extern blr_mutex_t blr_scheduler_mutex;

/* "command waits for event", linked in the event's list. An ordering edge does not propagate failures. */
struct blr_edge {
    struct blr_edge *next;
    struct blr_command *command;
    bool ordering;
};

#define BLR_INLINE_EDGES 4

/* A submitted command. Each kind of command embeds this struct at the start of its own. */
struct blr_command {
    struct blr_queue *queue; /* outlives its commands */
    struct blr_event *event; /* retained; completed with the command */
    blr_result_t (*run)(struct blr_command *command);      /* executes the command; reports failures by blr_fail */
    void (*release)(struct blr_command *command);          /* releases the resources that the command retains; may be
                                                            * NULL */
    bool is_host_function; /* runs the caller's code: never on a waiting thread */
    bool waits_outside;    /* waits for work outside this driver: occupies its thread, as a host function does */
    bool is_barrier;
    bool is_brief;         /* a waiting thread may run it even if the wait has a deadline */
    bool is_instant;       /* shorter than waking another thread: the submitting thread runs it, if nothing precedes it */
    bool is_repeatable;    /* run leaves it unchanged, so that a batch can contain it */
    struct blr_event **follows; /* or NULL: the command waits for the event stored there, ignoring its result, and
                                 * replaces it by its own; retained */

    /* guarded by the lock */
    uint64_t sequence;     /* sequence number within the queue */
    uint32_t waiting_for;
    struct blr_event *failed; /* retained: the first failed event of the wait list */
    struct blr_command *next_ready;
    struct blr_command *older, *newer; /* links of the queue's incomplete commands, by submission */
    struct blr_edge *edges;
    uint32_t edge_count;
    struct blr_edge inline_edges[BLR_INLINE_EDGES];
};

/* A zeroed command of size bytes (the size of the kind's own struct), or NULL after blr_fail. */
void *blr_command_new(size_t size, blr_result_t (*run)(struct blr_command *command),
                      void (*release)(struct blr_command *command));

/* Frees a command that was never submitted. */
BLR_SHARED void blr_command_discard(struct blr_command *command);

/* Submits the command; takes it over, also on failure. *event receives the event's handle unless event is NULL. A
 * recording queue adds the command to its batch, and the handle is NULL. */
blr_result_t blr_submit(struct blr_queue *queue, struct blr_command *command, uint32_t num_waits,
                        const blr_event_t *waits, blr_event_t *event);

/* Runs a command. Called and returns with the lock held, which is released while the command runs. The command is
 * freed afterwards. */
void blr_scheduler_execute(struct blr_command *command);

/* Lets no command begin that accesses memory, and waits for those that run, until work goes on: commands that wait for
 * something outside keep waiting. Host functions that access memory of the device do so between begin and end. */
BLR_SHARED void blr_work_hold(void);
BLR_SHARED void blr_work_go_on(void);
BLR_SHARED void blr_work_begin(void);
BLR_SHARED void blr_work_end(void);

/* Marks the event complete and resolves the dependencies of its waiters. Needs the lock. message is NULL for
 * success. */
void blr_scheduler_complete(struct blr_event *event, blr_result_t result, const char *message);

/* Runs a ready command of the queue on the calling thread if that can shorten its wait for work up to a sequence
 * number: never a host function, and only brief commands when there is a deadline. Called and returns with the lock
 * held. */
bool blr_scheduler_help(struct blr_queue *queue, uint64_t sequence, uint64_t deadline);

/* The id of the queue whose command this thread is running; 0 for none. */
uint64_t blr_scheduler_current_queue(void);

/* Fails the command of the running host function. */
blr_result_t blr_scheduler_fail_current(blr_result_t code, const char *message);

#endif
