/* Command queues: they execute regular command lists. */
#ifndef BINDLESS_LEVEL_ZERO_DRIVER_COMMAND_COMMAND_QUEUE_H
#define BINDLESS_LEVEL_ZERO_DRIVER_COMMAND_COMMAND_QUEUE_H

#include "level_zero_driver/driver/driver.h"
#include "level_zero_driver/command/executor.h"

struct blz_queue {
    struct blr_object object;
    struct blz_context *context; /* retained */
    struct blz_device *device;
    ze_command_queue_desc_t desc;
    struct blz_stream *stream;
};

/* Adds a reference. */
ze_result_t blz_queue_acquire(ze_command_queue_handle_t handle, struct blz_queue **queue);
void blz_queue_release(struct blz_queue *queue);

#endif
