/* A command of a command list. Each kind of command embeds this struct as its first member.
 *
 * A command of a regular list runs each time the list is executed, on several threads at once if the program
 * executes the list on several queues: run must not modify the command. */
#ifndef BINDLESS_LEVEL_ZERO_DRIVER_COMMAND_COMMAND_H
#define BINDLESS_LEVEL_ZERO_DRIVER_COMMAND_COMMAND_H

#include "level_zero_driver/sync/event.h"
#include "level_zero_driver/command/executor.h"

struct blz_command {
    struct blz_work work; /* of a command that is submitted on its own */
    struct blz_command *next;
    ze_result_t (*run)(const struct blz_command *command);  /* on the stream's thread; reports errors by blz_fail */
    void (*release)(struct blz_command *command);           /* releases what the command holds; may be NULL */
    bool is_instant;                                        /* running it takes less time than waking a thread */
    struct blz_event *signal;                               /* retained, or NULL */
    struct blz_event *follower;                             /* counter-based, to follow the signal: retained, or NULL */
    uint32_t wait_count;
    struct blz_event **waits;                               /* retained */
};

/* Returns a zeroed command of size bytes (the size of the kind's struct), or NULL after blz_fail. run may be NULL:
 * the command then only waits and signals. */
void *blz_command_new(size_t size, ze_result_t (*run)(const struct blz_command *command),
                      void (*release)(struct blz_command *command));

/* Deletes the command and releases what it holds. */
void blz_command_delete(struct blz_command *command);

/* What becomes of a command that is appended. */
struct blz_placement {
    bool recorded; /* in a regular list; else submitted */
    bool in_order; /* of a list that was made so, whatever the order is in which its commands run */
};

/* Sets the events of a command. */
ze_result_t blz_command_set_events(struct blz_command *command, struct blz_placement placement, ze_event_handle_t signal,
                                   uint32_t wait_count, ze_event_handle_t *waits);

/* A counter-based event and the point that it follows once the command is appended, which may run and end meanwhile. */
struct blz_following {
    struct blz_event *event, *point; /* retained, or NULL */
};

struct blz_following blz_command_take_following(struct blz_command *command);
void blz_following_end(struct blz_following following, bool appended);

/* The recorded commands of a list, shared by the list and its executions. */
struct blz_recording {
    _Atomic uint32_t references;
    struct blz_command *first, **last;
    uint32_t point_count; /* how often its commands name points of recorded commands: see counter_event.h */
};

struct blz_recording *blz_recording_new(void);
void blz_recording_retain(struct blz_recording *recording);
void blz_recording_release(struct blz_recording *recording);

/* Adds a command at the end. */
void blz_recording_add(struct blz_recording *recording, struct blz_command *command);

/* Finds the points that the executions in a chain of work wait for, and gives them those that they signal. Right before the
 * submission; when that fails nevertheless blz_work_drop ends the points with an error. */
ze_result_t blz_work_begin(struct blz_work *first);

/* Gives back a chain of work that was not submitted. */
void blz_work_drop(struct blz_work *first);

void blz_work_release_points(struct blz_work *work);

#endif
