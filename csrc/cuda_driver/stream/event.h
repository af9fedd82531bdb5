/* Events: the reference driver's event of the last record. */
#ifndef BINDLESS_CUDA_DRIVER_STREAM_EVENT_H
#define BINDLESS_CUDA_DRIVER_STREAM_EVENT_H

#include "cuda_driver/stream/command.h"
#include "cuda_driver/stream/shared_event.h"

struct bcu_node_list;

struct bcu_event {
    struct bcu_resource resource;
    unsigned flags;
    blr_mutex_t mutex;
    blr_event_t native;             /* of the last record, or NULL; under the mutex */
    struct bcu_shared_event *shared; /* of an event between processes, owned; or NULL */
    struct bcu_capture *capture;    /* under the mutex of captures: the capture that recorded it last, or NULL */
    struct bcu_node_list *captured; /* the nodes that it stands for */
};

/* Makes an event, which owns the shared one, or NULL. */
CUresult bcu_event_create(struct bcu_context *context, unsigned flags, struct bcu_shared_event *shared, CUevent *handle);

/* The reference driver's event with a reference added, or NULL for an event that was never recorded, or that is shared and
 * done. */
blr_event_t bcu_event_native(struct bcu_event *event);

/* Commands that record an event, and that wait for one. */
struct bcu_event_command {
    struct bcu_command command;
    struct bcu_event *event;
};

struct bcu_event_command bcu_event_record_command(struct bcu_event *event);
struct bcu_event_command bcu_event_wait_command(struct bcu_event *event);

#endif
