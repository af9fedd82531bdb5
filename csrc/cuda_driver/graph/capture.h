/* Captures: streams whose commands become nodes of a graph. */
#ifndef BINDLESS_CUDA_DRIVER_GRAPH_CAPTURE_H
#define BINDLESS_CUDA_DRIVER_GRAPH_CAPTURE_H

#include "cuda_driver/graph/graph.h"

struct bcu_event;

bool bcu_capture_is_active(struct bcu_stream *stream);

/* Adds a command to the stream's capture, after the nodes before it. */
CUresult bcu_capture_add(struct bcu_stream *stream, const struct bcu_command *command);

/* Invalidates the stream's capture because of a call that is not possible in one. */
CUresult bcu_capture_refuse(struct bcu_stream *stream, const char *what);

/* Lets an event stand for the stream's latest nodes; and a stream, which joins the capture, wait for them. */
CUresult bcu_capture_record(struct bcu_stream *stream, struct bcu_event *event);
CUresult bcu_capture_wait(struct bcu_stream *stream, struct bcu_event *event);

/* Whether an event was recorded last in a capture that goes on. */
bool bcu_capture_has(struct bcu_event *event);

/* The end of an event and of a stream: it ends a capture that began on the stream, and the nodes of others stay. */
void bcu_capture_forget(struct bcu_event *event);
void bcu_capture_leave(struct bcu_stream *stream);

#endif
