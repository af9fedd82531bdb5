/* Streams: the common part of command queues and immediate command lists. Work runs in the order of submission, on
 * the stream's thread or on a thread that waits for it.
 *
 * The owner, the thread and the events that the work signals hold references to a stream. Work of a stream without
 * an owner still runs. */
#ifndef BINDLESS_LEVEL_ZERO_DRIVER_COMMAND_EXECUTOR_H
#define BINDLESS_LEVEL_ZERO_DRIVER_COMMAND_EXECUTOR_H

#include "level_zero_driver/driver/context.h"
#include "reference/platform/threads.h"
#include "level_zero_driver/sync/signal_slot.h"

struct blz_command;
struct blz_event;
struct blz_fence;
struct blz_recording;
struct blz_stream;

/* One submission: a single command, the commands of a list, or neither; with an optional fence. */
struct blz_work {
    struct blz_work *next;
    struct blz_command *command;     /* the command that embeds this struct, owned */
    struct blz_recording *recording; /* retained */
    struct blz_fence *fence;         /* retained */
    struct blz_event **points;       /* retained: of counter-based events, as the commands of the recording name them one after the other */
    uint32_t point_count;
};

struct blz_stream *blz_stream_new(struct blz_context *context);

/* Waits for the work that can run now, and releases the stream. */
void blz_stream_delete(struct blz_stream *stream);

struct blz_context *blz_stream_context(struct blz_stream *stream);
void blz_stream_retain(struct blz_stream *stream);
void blz_stream_release(struct blz_stream *stream);

/* Submits a chain of work linked by next. On failure the caller keeps the work. at_once: the caller waits right
 * away, so that no other thread needs to wake. An instant command on an idle stream runs before this call returns. */
ze_result_t blz_stream_submit(struct blz_stream *stream, struct blz_work *first, bool at_once);

/* Waits until all work submitted so far is done: NOT_READY after timeout nanoseconds; else the oldest unreported
 * failure, once. The calling thread may run the work itself. */
ze_result_t blz_stream_synchronize(struct blz_stream *stream, uint64_t timeout);

/* Runs submitted work on the calling thread until the slot is signalled or another thread runs the stream. */
void blz_stream_help(struct blz_stream *stream, struct blz_slot *until);

/* Waits until all work submitted to any stream is done. Must not be called from a command. */
void blz_stream_wait_all(void);

/* Returns, while a command runs, an in-order queue of the reference driver in the stream's context; the caller waits
 * for what it enqueues. */
blr_queue_t blz_stream_native(void);

/* Enclose a command's wait for a condition outside the driver: meanwhile the end of its stream does not wait for the
   command. */
void blz_stream_step_aside(void);
void blz_stream_step_back(void);

/* Between these two calls no command runs. Must not be called from a command. */
void blz_stream_hold_all(void);
void blz_stream_go_on(void);

#endif
