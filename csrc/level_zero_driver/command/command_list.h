/* Command lists: a regular list records commands; an immediate list submits them to its own stream. */
#ifndef BINDLESS_LEVEL_ZERO_DRIVER_COMMAND_COMMAND_LIST_H
#define BINDLESS_LEVEL_ZERO_DRIVER_COMMAND_COMMAND_LIST_H

#include "level_zero_driver/command/command.h"
#include "level_zero_driver/driver/driver.h"

struct blz_list {
    struct blr_object object;
    struct blz_context *context; /* retained */
    struct blz_device *device;
    uint32_t ordinal;
    ze_command_list_flags_t flags;
    struct blz_stream *stream;   /* of an immediate list, or NULL */
    ze_command_queue_desc_t queue; /* the descriptor of an immediate list */
    blr_mutex_t mutex;

    /* under the mutex */
    bool closed;
    struct blz_recording *recording; /* of a regular list, retained */
};

/* The engine that a command needs. */
enum blz_need { BLZ_LIST_COPY, BLZ_LIST_COMPUTE };

/* Acquires a list that accepts the command, and adds a reference. Fails with INVALID_COMMAND_LIST_TYPE for another
 * command on a copy-only list. */
ze_result_t blz_list_acquire(ze_command_list_handle_t handle, enum blz_need need, struct blz_list **list);
void blz_list_release(struct blz_list *list);

struct blz_placement blz_list_placement(const struct blz_list *list);

/* Records the command or submits it, and waits for it if the list is synchronous. Takes ownership of the command
   even on failure. */
ze_result_t blz_list_append(struct blz_list *list, struct blz_command *command, ze_event_handle_t signal, uint32_t wait_count,
                            ze_event_handle_t *waits);

/* Ends what blz_list_acquire began: appends the command if result is a success, deletes it otherwise (NULL: out of
 * memory), and releases the list. */
ze_result_t blz_list_end(struct blz_list *list, struct blz_command *command, ze_result_t result, ze_event_handle_t signal,
                         uint32_t wait_count, ze_event_handle_t *waits);

/* Returns the recorded commands of a closed regular list that a queue of this descriptor executes, retained. */
ze_result_t blz_list_recording(ze_command_list_handle_t handle, const ze_command_queue_desc_t *queue,
                               struct blz_recording **recording);

/* Checks the descriptor of a queue or an immediate list. name is the parameter's name. */
ze_result_t blz_queue_check(const ze_command_queue_desc_t *desc, const char *name);

#endif
