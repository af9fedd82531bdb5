/* Command lists: regular ones record commands, immediate ones hand them to a stream of their own. */
#ifndef BLZ_LIST_H
#define BLZ_LIST_H

#include "command.h"
#include "driver.h"

struct blz_list {
    struct blr_object object;
    struct blz_context *context; /* retained */
    struct blz_device *device;
    uint32_t ordinal;
    ze_command_list_flags_t flags;
    struct blz_stream *stream;   /* of an immediate list, or NULL */
    ze_command_queue_desc_t queue; /* what an immediate list was made from */
    blr_mutex_t mutex;

    /* under the mutex */
    bool closed;
    struct blz_recording *recording; /* of a regular list, retained */
};

/* What a command needs of its engine. */
enum blz_need { BLZ_LIST_COPY, BLZ_LIST_COMPUTE };

/* A list that takes such commands, with a reference added; INVALID_COMMAND_LIST_TYPE for a list of copies that is asked for
 * more. */
ze_result_t blz_list_acquire(ze_command_list_handle_t handle, enum blz_need need, struct blz_list **list);
void blz_list_release(struct blz_list *list);

struct blz_placement blz_list_placement(const struct blz_list *list);

/* Takes the command over, also when it fails: records it, or submits it, and waits for it if the list is synchronous. */
ze_result_t blz_list_append(struct blz_list *list, struct blz_command *command, ze_event_handle_t signal, uint32_t wait_count,
                            ze_event_handle_t *waits);

/* Ends what blz_list_acquire began: appends the command if result says that it was filled in, or drops it (NULL: there was
 * no memory for one), and lets go of the list. */
ze_result_t blz_list_end(struct blz_list *list, struct blz_command *command, ze_result_t result, ze_event_handle_t signal,
                         uint32_t wait_count, ze_event_handle_t *waits);

/* The commands of a closed regular list of this ordinal, retained. */
ze_result_t blz_list_recording(ze_command_list_handle_t handle, uint32_t ordinal, struct blz_recording **recording);

/* Checks what queues and immediate lists are made from. name is that of the parameter. */
ze_result_t blz_queue_check(const ze_command_queue_desc_t *desc, const char *name);

#endif
