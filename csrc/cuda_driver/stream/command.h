/* Commands: work that is enqueued on a stream at once, or becomes a node of a graph while the stream is captured. */
#ifndef BINDLESS_CUDA_DRIVER_STREAM_COMMAND_H
#define BINDLESS_CUDA_DRIVER_STREAM_COMMAND_H

#include "cuda_driver/stream/stream.h"

/* The head of every command's struct. */
struct bcu_command {
    CUgraphNodeType type;
    size_t size;                 /* bytes of the whole struct */

    /* Enqueues the work after the events; event may be NULL. */
    CUresult (*enqueue)(const struct bcu_command *command, struct bcu_stream *stream, uint32_t count, const blr_event_t *waits,
                        blr_event_t *event);

    CUresult (*retain)(struct bcu_command *command); /* of a copy of the struct: makes it own what it names; or NULL */
    void (*release)(struct bcu_command *command);    /* undoes retain, or NULL */
};

/* Enqueues the command, or adds it to the graph of the stream's capture. */
CUresult bcu_submit(struct bcu_stream *stream, const struct bcu_command *command);

/* The same, and waits for the command. Refused in a capture. */
CUresult bcu_submit_and_wait(struct bcu_stream *stream, const struct bcu_command *command);

/* Enqueues the command now, with the waits of the stream; event may be NULL. */
CUresult bcu_enqueue(struct bcu_stream *stream, const struct bcu_command *command, blr_event_t *event);

#endif
