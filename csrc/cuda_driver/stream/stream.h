/* Streams: in-order queues of the reference driver, with the rules of the default streams. */
#ifndef BINDLESS_CUDA_DRIVER_STREAM_STREAM_H
#define BINDLESS_CUDA_DRIVER_STREAM_STREAM_H

#include "cuda_driver/driver/context.h"

#include <pthread.h>

#define BCU_GREATEST_PRIORITY (-5)

struct bcu_capture;

struct bcu_stream {
    struct bcu_resource resource;
    blr_queue_t queue;
    unsigned flags;
    int priority;
    unsigned long long id;
    bool is_legacy;              /* the default stream that waits for others */
    bool is_own;                 /* the default stream of one thread */
    pthread_t thread;
    uint64_t workspace;          /* address of the memory where the blocks of a grid meet, or 0: under the context's mutex */
    struct bcu_capture *capture; /* under the mutex of captures (capture.c), or NULL */
};

/* The stream of a handle with a reference added; the default streams for NULL, 1 and 2. */
CUresult bcu_stream_acquire(CUstream handle, struct bcu_stream **stream);
static inline void bcu_stream_release(struct bcu_stream *stream) { bcu_resource_release(&stream->resource); }

/* The memory where the blocks of a cooperative launch on the stream meet: a size, and a word that is 0 at first. */
CUresult bcu_stream_workspace(struct bcu_stream *stream, uint64_t *address);

/* The next stream of a context with a reference added (the first for NULL); releases the one before. */
struct bcu_stream *bcu_stream_next(struct bcu_context *context, struct bcu_stream *stream);

/* The events that a command on the stream waits for, by the rules of the default stream: owned by the caller, who
 * releases them and the array by bcu_stream_free_waits. */
CUresult bcu_stream_waits(struct bcu_stream *stream, blr_event_t **waits, uint32_t *count);
void bcu_stream_free_waits(blr_event_t *waits, uint32_t count);

/* Waits until the queue is idle and records its failures in the context. */
void bcu_stream_wait_idle(struct bcu_stream *stream);

/* Records the failures of finished commands in the context. */
void bcu_stream_take_failures(struct bcu_stream *stream);

#endif
