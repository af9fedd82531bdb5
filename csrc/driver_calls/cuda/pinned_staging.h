/* Staged copies between pageable host memory and a device: threads move pieces between host memory and their two
 * pinned buffers each, while the device moves other pieces between buffers and device memory. The driver's own copy
 * uses a single thread.
 *
 * A copy returns when host memory has been read or written. The next copy that needs a buffer still in flight to the
 * device waits for it. */
#ifndef BINDLESS_DRIVER_CALLS_CUDA_PINNED_STAGING_H
#define BINDLESS_DRIVER_CALLS_CUDA_PINNED_STAGING_H

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "../../reference/memory/streaming_store.h"
#include "../../reference/platform/threads.h"
#include "cuda/copy.h"
#include "cuda/current_context.h"
#include "cuda/image.h"

enum { BINDLESS_SMALLEST_PIECE = 256 << 10, BINDLESS_SMALLEST_STREAM = 256, BINDLESS_CACHES = 8 << 20 };
/* Bytes per thread: for each of the first threads, and for each further one. */
enum { BINDLESS_SHARE = 1 << 20, BINDLESS_FIRST_THREADS = 4, BINDLESS_LARGE_SHARE = 4 << 20, BINDLESS_LAST_PIECES = 4 };

/* One thread with its buffers. */
typedef struct bindless_stager {
    struct bindless_staging *staging;
    unsigned char *buffers[BINDLESS_STAGING_BUFFERS];
    CUevent events[BINDLESS_STAGING_BUFFERS]; /* recorded after the last copy of each buffer */
    CUdeviceptr places[BINDLESS_STAGING_BUFFERS]; /* device memory of host calls, as large as the buffers */
    CUstream stream;                              /* of host calls, see pipelined_image_call.h */
} bindless_stager_t;

struct bindless_staging {
    CUcontext context;
    size_t piece;
    int maximum, threads; /* maximum and current number; the first is the calling thread */
    bindless_stager_t *stagers;
    blr_mutex_t turn;   /* held by a copy: one runs at a time */
    blr_mutex_t submit; /* held between a copy and the record of its event */
    blr_mutex_t lock;   /* guards the members below */
    blr_condition_t begin, end;
    int missing; /* threads called that have not started */
    int working; /* threads called that have not finished */
    const bindless_stage_t *job; /* NULL: a host call */
    int past_caches;             /* whether the copy is too large for the caches to hold its result */
    const bindless_call_t *call;
    size_t items; /* items per piece of a host call */
    CUstream stream;
    size_t rows, slices, blocks, count; /* of a piece; pieces per slice; total pieces */
    size_t whole, last_rows;            /* of one slice: pieces before the smaller ones; rows of the smaller ones */
    atomic_size_t next;
    atomic_int result;
};

/* The part of the box that a piece covers. */
typedef struct bindless_piece {
    size_t y, z, height, depth;
} bindless_piece_t;

static bindless_piece_t bindless_piece_of(const bindless_staging_t *staging, size_t number)
{
    const bindless_stage_t *job = staging->job;
    bindless_piece_t piece = {0, 0, job->height, 1};
    if (job->depth == 1) {
        /* The bus is idle while the last pieces from the device, and the first ones to it, are moved: these pieces
           are small. */
        size_t at = job->to_device ? staging->count - 1 - number : number;
        int is_whole = at < staging->whole;
        piece.y = is_whole ? at * staging->rows : staging->whole * staging->rows + (at - staging->whole) * staging->last_rows;
        piece.height = is_whole ? staging->rows : staging->last_rows;
        if (piece.height > job->height - piece.y) {
            piece.height = job->height - piece.y;
        }
        return piece;
    }
    if (staging->slices > 1 || staging->rows >= job->height) {
        size_t left = job->depth - number * staging->slices;
        piece.z = number * staging->slices;
        piece.depth = left < staging->slices ? left : staging->slices;
        return piece;
    }
    piece.z = number / staging->blocks;
    piece.y = number % staging->blocks * staging->rows;
    if (job->height - piece.y < staging->rows) {
        piece.height = job->height - piece.y;
    } else {
        piece.height = staging->rows;
    }
    return piece;
}

/* Copies a piece that arrived from the device to host memory; large copies bypass the caches, which could not hold
   them. */
static void bindless_give(const bindless_staging_t *staging, unsigned char *host, const unsigned char *buffer, size_t size)
{
    if (staging->past_caches && size >= BINDLESS_SMALLEST_STREAM) {
        blr_stream_bytes(host, buffer, size);
    } else {
        memcpy(host, buffer, size);
    }
}

/* Copies between host memory and a buffer, whose rows are contiguous. */
static void bindless_move(const bindless_staging_t *staging, bindless_piece_t piece, unsigned char *buffer)
{
    const bindless_stage_t *job = staging->job;
    unsigned char *host = (unsigned char *)(uintptr_t)job->host + piece.z * job->host_slice + piece.y * job->host_pitch;
    int whole_rows = job->host_pitch == job->width || piece.height == 1;
    size_t slice = job->width * piece.height;
    int whole = whole_rows && (job->host_slice == slice || piece.depth == 1);
    size_t lines = whole ? 1 : whole_rows ? piece.depth : piece.height * piece.depth;
    size_t length = whole ? slice * piece.depth : whole_rows ? slice : job->width;
    for (size_t line = 0; line < lines; line++) {
        size_t y = whole_rows ? 0 : line % piece.height, z = whole_rows ? line : line / piece.height;
        unsigned char *place = host + z * job->host_slice + y * job->host_pitch;
        if (job->to_device) {
            memcpy(buffer + line * length, place, length);
        } else {
            bindless_give(staging, place, buffer + line * length, length);
        }
    }
    blr_stream_end();
}

/* Enqueues the device's copy of a piece. */
static CUresult bindless_submit(bindless_stager_t *stager, int slot, bindless_piece_t piece)
{
    bindless_staging_t *staging = stager->staging;
    const bindless_stage_t *job = staging->job;
    int array = job->type == CU_MEMORYTYPE_ARRAY;
    int straight = !array && job->pitch == job->width && (piece.depth == 1 || job->rows == job->height);
    size_t bytes = job->width * piece.height * piece.depth;
    uint64_t device = job->device, buffer = (uint64_t)(uintptr_t)stager->buffers[slot];
    size_t y = job->y + piece.y, z = job->z + piece.z;
    if (!array) {
        device += (z * job->rows + y) * job->pitch;
        y = z = 0;
    }
    blr_mutex_lock(&staging->submit);
    CUresult result =
        straight ? cuMemcpyAsync(job->to_device ? device : buffer, job->to_device ? buffer : device, bytes, staging->stream)
        : job->to_device
            ? bindless_copy_box(staging->stream, CU_MEMORYTYPE_HOST, buffer, 0, 0, 0, job->width, piece.height, job->type,
                                device, job->x, y, z, job->pitch, job->rows, job->width, piece.height, piece.depth)
            : bindless_copy_box(staging->stream, job->type, device, job->x, y, z, job->pitch, job->rows,
                                CU_MEMORYTYPE_HOST, buffer, 0, 0, 0, job->width, piece.height, job->width, piece.height,
                                piece.depth);
    if (result == CUDA_SUCCESS) {
        result = cuEventRecord(stager->events[slot], staging->stream);
    }
    blr_mutex_unlock(&staging->submit);
    return result;
}

/* Processes pieces until none are left. */
static CUresult bindless_upload(bindless_stager_t *stager)
{
    bindless_staging_t *staging = stager->staging;
    CUresult result = CUDA_SUCCESS;
    for (int slot = 0; result == CUDA_SUCCESS; slot = (slot + 1) % BINDLESS_STAGING_BUFFERS) {
        size_t number = atomic_fetch_add(&staging->next, 1);
        if (number >= staging->count || atomic_load(&staging->result) != CUDA_SUCCESS) {
            break;
        }
        bindless_piece_t piece = bindless_piece_of(staging, number);
        result = cuEventSynchronize(stager->events[slot]);
        if (result == CUDA_SUCCESS) {
            bindless_move(staging, piece, stager->buffers[slot]);
            result = bindless_submit(stager, slot, piece);
        }
    }
    return result;
}

/* One piece arrives while the previous one is moved. */
static CUresult bindless_download(bindless_stager_t *stager)
{
    bindless_staging_t *staging = stager->staging;
    bindless_piece_t coming = {0}, piece;
    int slot = 0, expected = 0;
    CUresult result = CUDA_SUCCESS;
    while (result == CUDA_SUCCESS) {
        size_t number = atomic_fetch_add(&staging->next, 1);
        int more = number < staging->count && atomic_load(&staging->result) == CUDA_SUCCESS;
        if (more) {
            piece = bindless_piece_of(staging, number);
            result = cuEventSynchronize(stager->events[slot]);
            if (result == CUDA_SUCCESS) {
                result = bindless_submit(stager, slot, piece);
            }
        }
        if (expected && result == CUDA_SUCCESS) {
            int last = (slot + BINDLESS_STAGING_BUFFERS - 1) % BINDLESS_STAGING_BUFFERS;
            result = cuEventSynchronize(stager->events[last]);
            if (result == CUDA_SUCCESS) {
                bindless_move(staging, coming, stager->buffers[last]);
            }
        }
        if (!more) {
            break;
        }
        coming = piece;
        expected = 1;
        slot = (slot + 1) % BINDLESS_STAGING_BUFFERS;
    }
    return result;
}

static CUresult bindless_call_pieces(bindless_stager_t *stager);

static void bindless_take_part(bindless_stager_t *stager)
{
    bindless_staging_t *staging = stager->staging;
    CUresult result = staging->job == NULL         ? bindless_call_pieces(stager)
                      : staging->job->to_device ? bindless_upload(stager) : bindless_download(stager);
    int none = CUDA_SUCCESS;
    if (result != CUDA_SUCCESS) {
        atomic_compare_exchange_strong(&staging->result, &none, (int)result);
    }
}

static void bindless_stager_main(void *argument)
{
    bindless_stager_t *stager = argument;
    bindless_staging_t *staging = stager->staging;
    CUresult status = cuCtxSetCurrent(staging->context);
    for (;;) {
        int none = CUDA_SUCCESS;
        blr_mutex_lock(&staging->lock);
        while (staging->missing == 0) {
            blr_condition_wait(&staging->begin, &staging->lock, BLR_NO_DEADLINE);
        }
        staging->missing--;
        blr_mutex_unlock(&staging->lock);
        if (status == CUDA_SUCCESS) {
            bindless_take_part(stager);
        } else {
            atomic_compare_exchange_strong(&staging->result, &none, (int)status);
        }
        blr_mutex_lock(&staging->lock);
        if (--staging->working == 0) {
            blr_condition_signal(&staging->end);
        }
        blr_mutex_unlock(&staging->lock);
    }
}

static void bindless_stager_end(bindless_stager_t *stager)
{
    for (int slot = 0; slot < BINDLESS_STAGING_BUFFERS; slot++) {
        if (stager->events[slot] != NULL) {
            cuEventDestroy(stager->events[slot]);
        }
    }
    if (stager->buffers[0] != NULL) {
        cuMemFreeHost(stager->buffers[0]);
    }
    memset(stager, 0, sizeof *stager);
}

/* Adds a thread with its buffers and events, for the lifetime of the process; the context is current. The first is
   the calling thread. */
static CUresult bindless_stager_begin(bindless_staging_t *staging)
{
    bindless_stager_t *stager = &staging->stagers[staging->threads];
    void *memory = NULL;
    blr_thread_t started;
    stager->staging = staging;
    CUresult result = cuMemHostAlloc(&memory, BINDLESS_STAGING_BUFFERS * staging->piece,
                                     CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP);
    for (int slot = 0; slot < BINDLESS_STAGING_BUFFERS && result == CUDA_SUCCESS; slot++) {
        stager->buffers[slot] = (unsigned char *)memory + (size_t)slot * staging->piece;
        result = cuEventCreate(&stager->events[slot], CU_EVENT_DISABLE_TIMING);
    }
    if (result == CUDA_SUCCESS && staging->threads > 0) {
        if (blr_thread_create(&started, bindless_stager_main, stager)) {
            blr_thread_detach(started);
        } else {
            result = CUDA_ERROR_OUT_OF_MEMORY;
        }
    }
    if (result == CUDA_SUCCESS) {
        staging->threads++;
    } else {
        bindless_stager_end(stager);
    }
    return result;
}

/* Creates up to `number` threads; fewer suffice. The turn is held. */
static int bindless_staging_grow(bindless_staging_t *staging, int number)
{
    while (staging->threads < number && staging->threads < staging->maximum) {
        if (bindless_stager_begin(staging) != CUDA_SUCCESS) {
            staging->maximum = staging->threads;
        }
    }
    return number < staging->threads ? number : staging->threads;
}

/* Lives as long as the process; the context is current. */
static bindless_staging_t *bindless_staging_create(CUcontext context, int threads, size_t piece)
{
    bindless_staging_t *staging = calloc(1, sizeof *staging);
    CUresult result = CUDA_ERROR_OUT_OF_MEMORY;
    if (staging != NULL) {
        staging->stagers = calloc((size_t)threads, sizeof *staging->stagers);
    }
    if (staging != NULL && staging->stagers != NULL) {
        staging->context = context;
        staging->piece = piece;
        staging->maximum = threads;
        blr_mutex_init(&staging->turn);
        blr_mutex_init(&staging->submit);
        blr_mutex_init(&staging->lock);
        blr_condition_init(&staging->begin);
        blr_condition_init(&staging->end);
        result = bindless_stager_begin(staging);
    }
    bindless_refused = result;
    if (result == CUDA_SUCCESS) {
        return staging;
    }
    if (staging != NULL) {
        free(staging->stagers);
        free(staging);
    }
    return NULL;
}

/* Runs the given number of threads until no piece is left; the caller is one of them. */
static void bindless_round(bindless_staging_t *staging, int threads)
{
    atomic_store(&staging->next, 0);
    atomic_store(&staging->result, CUDA_SUCCESS);
    if (threads > 1) {
        blr_mutex_lock(&staging->lock);
        staging->missing = staging->working = threads - 1;
        for (int thread = 1; thread < threads; thread++) {
            blr_condition_signal(&staging->begin);
        }
        blr_mutex_unlock(&staging->lock);
    }
    bindless_take_part(&staging->stagers[0]);
    if (threads > 1) {
        blr_mutex_lock(&staging->lock);
        staging->working -= staging->missing; /* threads that have not started are no longer needed */
        staging->missing = 0;
        while (staging->working > 0) {
            blr_condition_wait(&staging->end, &staging->lock, BLR_NO_DEADLINE);
        }
        blr_mutex_unlock(&staging->lock);
    }
}

static int bindless_threads_for(const bindless_staging_t *staging, size_t bytes)
{
    size_t first = bytes / BINDLESS_SHARE, more = bytes / BINDLESS_LARGE_SHARE;
    size_t threads = first < BINDLESS_FIRST_THREADS ? first : more < BINDLESS_FIRST_THREADS ? BINDLESS_FIRST_THREADS : more;
    return threads < 1 ? 1 : threads > (size_t)staging->maximum ? staging->maximum : (int)threads;
}

/* Copies a box whose rows are no longer than a buffer; the context is current, and the stream idle. */
static CUresult bindless_stage(bindless_staging_t *staging, CUstream stream, const bindless_stage_t *job)
{
    blr_mutex_lock(&staging->turn);
    /* Small copies have smaller pieces, so that every thread has work. */
    size_t total = job->width * job->height * job->depth;
    int threads = bindless_staging_grow(staging, bindless_threads_for(staging, total));
    size_t piece = total / ((size_t)threads * BINDLESS_STAGING_BUFFERS);
    piece = piece < BINDLESS_SMALLEST_PIECE ? BINDLESS_SMALLEST_PIECE : piece;
    piece = piece > staging->piece ? staging->piece : piece;
    staging->rows = piece / job->width > 0 ? piece / job->width : 1;
    staging->slices = staging->rows / job->height > 0 ? staging->rows / job->height : 1;
    staging->blocks = staging->rows < job->height ? (job->height + staging->rows - 1) / staging->rows : 1;
    staging->count = staging->rows < job->height ? job->depth * staging->blocks
                                                 : (job->depth + staging->slices - 1) / staging->slices;
    if (job->depth == 1) {
        size_t large = staging->count > 2 * (size_t)threads ? (size_t)threads : 0; /* pieces to split */
        staging->whole = staging->count - large;
        staging->last_rows = staging->rows / BINDLESS_LAST_PIECES > 0 ? staging->rows / BINDLESS_LAST_PIECES : 1;
        size_t done = staging->whole * staging->rows < job->height ? staging->whole * staging->rows : job->height;
        staging->count = staging->whole + (job->height - done + staging->last_rows - 1) / staging->last_rows;
    }
    staging->job = job;
    staging->past_caches = total >= BINDLESS_CACHES;
    staging->stream = stream;
    bindless_round(staging, threads);
    CUresult result = (CUresult)atomic_load(&staging->result);
    if (result != CUDA_SUCCESS) {
        /* Pieces in flight would read buffers that the next copy fills, and finish after it. */
        cuStreamSynchronize(stream);
    }
    blr_mutex_unlock(&staging->turn);
    return result;
}

/* Returns INT32_MIN where Python must act first: the stream has work, or the driver knows the memory. */
static int bindless_stage_again(const bindless_staged_t *copy)
{
    unsigned int type;
    CUresult result = bindless_activate(copy->context);
    if (result != CUDA_SUCCESS) {
        return (int)result;
    }
    if (cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, copy->job.host) == CUDA_SUCCESS ||
        cuStreamQuery(copy->stream) != CUDA_SUCCESS) {
        return INT32_MIN;
    }
    return (int)bindless_stage(copy->staging, copy->stream, &copy->job);
}

#endif
