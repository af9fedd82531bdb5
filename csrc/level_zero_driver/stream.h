/*
 * What a command queue and an immediate command list have in common: work that is run in the order of its submission, by
 * a thread of the stream, or by a thread that waits for it.
 *
 * A stream is counted by its owner, its thread and the events that its work signals. Work of a stream whose owner is gone is
 * still done.
 */
#ifndef BLZ_STREAM_H
#define BLZ_STREAM_H

#include "context.h"
#include "reference/threads.h"
#include "slot.h"

struct blz_command;
struct blz_event;
struct blz_fence;
struct blz_recording;
struct blz_stream;

/* One submission: a single command, or the commands of a list, or neither; and a fence, or none. */
struct blz_work {
    struct blz_work *next;
    struct blz_command *command;     /* that this is part of, owned */
    struct blz_recording *recording; /* retained */
    struct blz_fence *fence;         /* retained */
    struct blz_event **points;       /* retained: of counter-based events, as the commands of the recording name them one after the other */
    uint32_t point_count;
};

struct blz_stream *blz_stream_new(struct blz_context *context);

/* Waits for the work that can be done now, and lets go of the stream. */
void blz_stream_delete(struct blz_stream *stream);

struct blz_context *blz_stream_context(struct blz_stream *stream);
void blz_stream_retain(struct blz_stream *stream);
void blz_stream_release(struct blz_stream *stream);

/* Hands work over, in a chain by next. When it fails the work is still the caller's. at_once: the caller waits for it right
 * away, so that no other thread need be woken. An instant command with nothing ahead of it is done before this returns. */
ze_result_t blz_stream_submit(struct blz_stream *stream, struct blz_work *first, bool at_once);

/* Waits until all work submitted so far is done: NOT_READY after so many nanoseconds; else the oldest failure that nobody was told
 * of, once. The calling thread may do the work itself. */
ze_result_t blz_stream_synchronize(struct blz_stream *stream, uint64_t timeout);

/* Does what is submitted on the calling thread until the slot is signalled or another thread is at it. */
void blz_stream_help(struct blz_stream *stream, struct blz_slot *until);

/* Waits until all work that was submitted to any stream is done. Not to be called from a command. */
void blz_stream_wait_all(void);

/* While a command runs: an in-order queue of the reference driver in the stream's context, for what is enqueued there and
 * waited for. */
blr_queue_t blz_stream_native(void);

/* Around the wait of a command for something outside the driver: the end of its stream does not wait for it meanwhile. */
void blz_stream_step_aside(void);
void blz_stream_step_back(void);

/* Between these two no command runs. Not to be called from a command. */
void blz_stream_hold_all(void);
void blz_stream_go_on(void);

#endif
