/* Captures: begin, join, end and queries. */
#include "cuda_driver/graph/capture.h"

#include "cuda_driver/stream/event.h"

struct bcu_capture {
    unsigned references;
    struct bcu_graph *graph;       /* retained */
    bool owns;                     /* the graph was made for the capture */
    bool ended, invalid;
    struct bcu_stream *origin;     /* compared only */
    unsigned long long id;
    struct tail *tails;            /* of the streams that take part */
    CUgraphNode *latest;           /* that a query returned last */
};

/* The latest nodes of a stream. */
struct tail {
    struct tail *next;
    struct bcu_stream *stream;     /* NULL after its end */
    struct bcu_node_list nodes;
};

static blr_mutex_t mutex = BLR_MUTEX_INIT; /* guards all captures, and the members of streams and events about them */

static void drop(struct bcu_capture *capture)
{
    if (--capture->references > 0)
        return;
    for (struct tail *tail = capture->tails, *next; tail != NULL; tail = next) {
        next = tail->next;
        bcu_list_clear(&tail->nodes);
        blr_delete(tail);
    }
    bcu_graph_release(capture->graph);
    blr_delete(capture->latest);
    blr_delete(capture);
}

/* The capture of a stream that has not ended, or NULL. Needs the mutex. */
static struct bcu_capture *capture_of(struct bcu_stream *stream)
{
    if (stream->capture != NULL && stream->capture->ended) {
        drop(stream->capture);
        stream->capture = NULL;
    }
    return stream->capture;
}

static struct bcu_capture *capture_of_event(struct bcu_event *event)
{
    if (event->capture != NULL && event->capture->ended) {
        drop(event->capture);
        event->capture = NULL;
        bcu_list_clear(event->captured);
    }
    return event->capture;
}

static struct tail *tail_of(struct bcu_capture *capture, struct bcu_stream *stream)
{
    for (struct tail *tail = capture->tails; tail != NULL; tail = tail->next)
        if (tail->stream == stream)
            return tail;
    struct tail *tail = blr_new(sizeof *tail);
    if (tail == NULL)
        return NULL;
    tail->stream = stream;
    tail->next = capture->tails;
    capture->tails = tail;
    return tail;
}

bool bcu_capture_is_active(struct bcu_stream *stream)
{
    blr_mutex_lock(&mutex);
    bool active = capture_of(stream) != NULL;
    blr_mutex_unlock(&mutex);
    return active;
}

CUresult bcu_capture_refuse(struct bcu_stream *stream, const char *what)
{
    blr_mutex_lock(&mutex);
    struct bcu_capture *capture = capture_of(stream);
    if (capture != NULL)
        capture->invalid = true;
    blr_mutex_unlock(&mutex);
    return bcu_fail(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, "%s is not possible in a capture, which is invalid now", what);
}

CUresult bcu_capture_add(struct bcu_stream *stream, const struct bcu_command *command)
{
    struct bcu_node *node;
    CUresult result = CUDA_SUCCESS;
    blr_mutex_lock(&mutex);
    struct bcu_capture *capture = capture_of(stream);
    struct tail *tail = capture == NULL ? NULL : tail_of(capture, stream);
    if (capture == NULL || capture->invalid)
        result = bcu_fail(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, "the capture is invalid");
    else if (tail == NULL)
        result = bcu_fail_memory("a capture");
    else
        result = bcu_graph_add(capture->graph, command, NULL, &tail->nodes, &node);
    if (result == CUDA_SUCCESS) {
        bcu_list_clear(&tail->nodes);
        if (!bcu_list_add(&tail->nodes, node))
            result = bcu_fail_memory("a capture");
    }
    blr_mutex_unlock(&mutex);
    return result;
}

/* ---------------------------------------------------------------- events */

bool bcu_capture_has(struct bcu_event *event)
{
    blr_mutex_lock(&mutex);
    bool has = capture_of_event(event) != NULL;
    blr_mutex_unlock(&mutex);
    return has;
}

/* Ends what an event stands for. Needs the mutex. */
static void forget(struct bcu_event *event)
{
    if (event->capture != NULL)
        drop(event->capture);
    event->capture = NULL;
    if (event->captured != NULL)
        bcu_list_clear(event->captured);
}

void bcu_capture_forget(struct bcu_event *event)
{
    blr_mutex_lock(&mutex);
    forget(event);
    blr_delete(event->captured);
    event->captured = NULL;
    blr_mutex_unlock(&mutex);
}

CUresult bcu_capture_record(struct bcu_stream *stream, struct bcu_event *event)
{
    CUresult result = CUDA_SUCCESS;
    blr_mutex_lock(&mutex);
    struct bcu_capture *capture = capture_of(stream);
    struct tail *tail = capture == NULL ? NULL : tail_of(capture, stream);
    if (event->captured == NULL)
        event->captured = blr_new(sizeof *event->captured);
    if (tail == NULL || event->captured == NULL) {
        result = bcu_fail_memory("a capture");
    } else {
        forget(event);
        capture->references++;
        event->capture = capture;
        if (!bcu_list_copy(event->captured, &tail->nodes))
            result = bcu_fail_memory("a capture");
    }
    blr_mutex_unlock(&mutex);
    return result;
}

CUresult bcu_capture_wait(struct bcu_stream *stream, struct bcu_event *event)
{
    CUresult result = CUDA_SUCCESS;
    blr_mutex_lock(&mutex);
    struct bcu_capture *own = capture_of(stream), *capture = capture_of_event(event);
    if (capture == NULL) {
        result = bcu_fail(CUDA_ERROR_STREAM_CAPTURE_ISOLATION, "the event's capture ended meanwhile");
    } else if (own != NULL && own != capture) {
        own->invalid = capture->invalid = true;
        result = bcu_fail(CUDA_ERROR_STREAM_CAPTURE_MERGE, "the stream takes part in another capture");
    } else if (stream->is_legacy) {
        result = bcu_fail(CUDA_ERROR_STREAM_CAPTURE_IMPLICIT, "the default stream takes part in no capture");
    } else {
        struct tail *tail = tail_of(capture, stream);
        bool good = tail != NULL;
        for (size_t i = 0; good && i < event->captured->count; i++)
            good = bcu_list_add(&tail->nodes, event->captured->nodes[i]);
        if (!good)
            result = bcu_fail_memory("a capture");
        if (own == NULL) {
            capture->references++;
            stream->capture = capture;
        }
    }
    blr_mutex_unlock(&mutex);
    return result;
}

void bcu_capture_leave(struct bcu_stream *stream)
{
    blr_mutex_lock(&mutex);
    struct bcu_capture *capture = stream->capture;
    stream->capture = NULL;
    if (capture != NULL) {
        capture->invalid |= capture->origin == stream;
        for (struct tail *tail = capture->tails; tail != NULL; tail = tail->next)
            if (tail->stream == stream)
                tail->stream = NULL;
        drop(capture);
    }
    blr_mutex_unlock(&mutex);
}

/* ---------------------------------------------------------------- functions */

static CUresult begin(struct bcu_stream *stream, struct bcu_graph *graph, const struct bcu_node_list *first)
{
    static unsigned long long last_id;
    struct bcu_capture *capture = blr_new(sizeof *capture);
    CUresult result = CUDA_SUCCESS;
    if (capture == NULL)
        return bcu_fail_memory("a capture");
    blr_mutex_lock(&mutex);
    if (capture_of(stream) != NULL)
        result = bcu_fail(CUDA_ERROR_ILLEGAL_STATE, "the stream is captured already");
    else if (stream->is_legacy)
        result = bcu_fail(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, "the default stream takes part in no capture");
    else if (graph != NULL)
        bcu_resource_retain(&graph->resource);
    else if ((result = bcu_graph_new(&graph, NULL)) == CUDA_SUCCESS)
        capture->owns = true;
    if (result == CUDA_SUCCESS) {
        capture->references = 1;
        capture->graph = graph;
        capture->origin = stream;
        capture->id = ++last_id;
        stream->capture = capture;
        struct tail *tail = tail_of(capture, stream);
        if (tail == NULL || !bcu_list_copy(&tail->nodes, first))
            result = bcu_fail_memory("a capture");
    } else {
        blr_delete(capture);
    }
    blr_mutex_unlock(&mutex);
    return result;
}

CUresult cuStreamBeginCapture_v2(CUstream handle, CUstreamCaptureMode mode)
{
    struct bcu_stream *stream;
    CUresult result = bcu_stream_acquire(handle, &stream);
    if (result != CUDA_SUCCESS)
        return result;
    if (mode < CU_STREAM_CAPTURE_MODE_GLOBAL || mode > CU_STREAM_CAPTURE_MODE_RELAXED)
        result = bcu_fail(CUDA_ERROR_INVALID_VALUE, "capture mode %d", (int)mode);
    else
        result = begin(stream, NULL, &(struct bcu_node_list){0});
    bcu_stream_release(stream);
    return result;
}

CUresult cuStreamBeginCapture(CUstream handle) { return cuStreamBeginCapture_v2(handle, CU_STREAM_CAPTURE_MODE_GLOBAL); }

CUresult cuStreamBeginCaptureToGraph(CUstream handle, CUgraph graph_handle, const CUgraphNode *dependencies,
                                     const CUgraphEdgeData *data, size_t count, CUstreamCaptureMode mode)
{
    struct bcu_stream *stream;
    struct bcu_graph *graph;
    struct bcu_node_list first = {0};
    (void)data;
    CUresult result = bcu_stream_acquire(handle, &stream);
    if (result != CUDA_SUCCESS)
        return result;
    result = bcu_graph_acquire(graph_handle, &graph);
    if (result == CUDA_SUCCESS) {
        if (mode < CU_STREAM_CAPTURE_MODE_GLOBAL || mode > CU_STREAM_CAPTURE_MODE_RELAXED || (count > 0 && dependencies == NULL))
            result = bcu_fail(CUDA_ERROR_INVALID_VALUE, "capture mode %d, or dependencies is NULL", (int)mode);
        for (size_t i = 0; i < count && result == CUDA_SUCCESS; i++) {
            struct bcu_node *node;
            result = bcu_resource_acquire(dependencies[i], BCU_NODE, &node);
            if (result == CUDA_SUCCESS) {
                if (node->graph != graph || !bcu_list_add(&first, node))
                    result = bcu_fail(CUDA_ERROR_INVALID_VALUE, "a dependency is of another graph");
                bcu_resource_release(&node->resource);
            }
        }
        if (result == CUDA_SUCCESS)
            result = begin(stream, graph, &first);
        bcu_list_clear(&first);
        bcu_graph_release(graph);
    }
    bcu_stream_release(stream);
    return result;
}

/* Whether every node that no other depends on is among the origin's latest. */
static bool is_joined(const struct bcu_capture *capture, const struct bcu_node_list *latest)
{
    for (const struct bcu_node *node = capture->graph->first; node != NULL; node = node->next) {
        bool used = false;
        for (size_t i = 0; i < latest->count && !used; i++)
            used = latest->nodes[i] == node;
        for (const struct bcu_node *other = node->next; other != NULL && !used; other = other->next)
            for (size_t i = 0; i < other->dependencies.count && !used; i++)
                used = other->dependencies.nodes[i] == node;
        if (!used)
            return false;
    }
    return true;
}

CUresult cuStreamEndCapture(CUstream handle, CUgraph *graph)
{
    struct bcu_stream *stream;
    CUresult result = bcu_stream_acquire(handle, &stream);
    if (result != CUDA_SUCCESS)
        return result;
    blr_mutex_lock(&mutex);
    struct bcu_capture *capture = capture_of(stream);
    if (capture == NULL) {
        result = bcu_fail(CUDA_ERROR_ILLEGAL_STATE, "the stream is not captured");
    } else if (graph == NULL) {
        result = bcu_fail_null("phGraph");
    } else if (capture->origin != stream) {
        result = bcu_fail(CUDA_ERROR_STREAM_CAPTURE_UNMATCHED, "the capture began on another stream");
        capture->invalid = true;
    } else {
        struct tail *tail = tail_of(capture, stream);
        *graph = NULL;
        capture->ended = true;
        if (capture->invalid)
            result = bcu_fail(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, "the capture is invalid");
        else if (capture->owns && (tail == NULL || !is_joined(capture, &tail->nodes)))
            result = bcu_fail(CUDA_ERROR_STREAM_CAPTURE_UNJOINED, "work of another stream is not waited for");
        if (result == CUDA_SUCCESS)
            *graph = bcu_handle(&capture->graph->resource);
        if (result == CUDA_SUCCESS && capture->owns)
            bcu_resource_retain(&capture->graph->resource); /* the caller's */
        capture_of(stream);
    }
    blr_mutex_unlock(&mutex);
    bcu_stream_release(stream);
    return result;
}

/* The handles of a stream's latest nodes, in memory of the capture that lasts until the next call. */
static CUresult copy_latest(struct bcu_capture *capture, struct bcu_stream *stream, const CUgraphNode **nodes, size_t *count)
{
    const struct tail *tail = tail_of(capture, stream);
    const size_t number = tail != NULL ? tail->nodes.count : 0;
    CUgraphNode *handles = blr_new((number + 1) * sizeof *handles);
    if (handles == NULL)
        return bcu_fail_memory("the nodes of a capture");
    for (size_t i = 0; i < number; i++)
        handles[i] = bcu_handle(&tail->nodes.nodes[i]->resource);
    blr_delete(capture->latest);
    capture->latest = handles;
    if (nodes != NULL)
        *nodes = handles;
    if (count != NULL)
        *count = number;
    return CUDA_SUCCESS;
}

static CUresult get_info(CUstream handle, CUstreamCaptureStatus *status, cuuint64_t *id, CUgraph *graph, const CUgraphNode **nodes,
                         size_t *count)
{
    struct bcu_stream *stream;
    if (status == NULL)
        return bcu_fail_null("captureStatus_out");
    CUresult result = bcu_stream_acquire(handle, &stream);
    if (result != CUDA_SUCCESS)
        return result;
    blr_mutex_lock(&mutex);
    struct bcu_capture *capture = capture_of(stream);
    *status = capture == NULL    ? CU_STREAM_CAPTURE_STATUS_NONE
              : capture->invalid ? CU_STREAM_CAPTURE_STATUS_INVALIDATED
                                 : CU_STREAM_CAPTURE_STATUS_ACTIVE;
    if (capture != NULL && id != NULL)
        *id = capture->id;
    if (capture != NULL && graph != NULL)
        *graph = bcu_handle(&capture->graph->resource);
    if (capture != NULL && (nodes != NULL || count != NULL))
        result = copy_latest(capture, stream, nodes, count);
    blr_mutex_unlock(&mutex);
    bcu_stream_release(stream);
    return result;
}

CUresult cuStreamIsCapturing(CUstream handle, CUstreamCaptureStatus *status) { return get_info(handle, status, NULL, NULL, NULL, NULL); }

CUresult cuStreamGetCaptureInfo(CUstream handle, CUstreamCaptureStatus *status, cuuint64_t *id)
{
    return get_info(handle, status, id, NULL, NULL, NULL);
}

CUresult cuStreamGetCaptureInfo_v2(CUstream handle, CUstreamCaptureStatus *status, cuuint64_t *id, CUgraph *graph,
                                   const CUgraphNode **nodes, size_t *count)
{
    return get_info(handle, status, id, graph, nodes, count);
}

CUresult cuStreamGetCaptureInfo_v3(CUstream handle, CUstreamCaptureStatus *status, cuuint64_t *id, CUgraph *graph,
                                   const CUgraphNode **nodes, const CUgraphEdgeData **data, size_t *count)
{
    if (data != NULL)
        *data = NULL; /* all edges are full dependencies */
    return get_info(handle, status, id, graph, nodes, count);
}

CUresult cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode *mode)
{
    static _Thread_local CUstreamCaptureMode own = CU_STREAM_CAPTURE_MODE_GLOBAL;
    if (mode == NULL || *mode < CU_STREAM_CAPTURE_MODE_GLOBAL || *mode > CU_STREAM_CAPTURE_MODE_RELAXED)
        return bcu_fail(CUDA_ERROR_INVALID_VALUE, "mode is NULL or unknown");
    CUstreamCaptureMode before = own;
    own = *mode;
    *mode = before;
    return CUDA_SUCCESS;
}
