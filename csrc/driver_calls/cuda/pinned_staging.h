/* Staged copies between pageable host memory and a device: threads move pieces between host memory and pinned buffers,
 * two for each thread, while the device moves other pieces between buffers and device memory. The driver's own copy
 * uses a single thread.
 *
 * The calling thread alone calls the driver, whose locks would make the others wait. It submits the pieces in order,
 * and tells by the turn of a buffer that a piece may be moved; the others wait for turns by polling. While it has
 * nothing to submit it moves pieces that no thread has taken.
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

enum { BINDLESS_SMALLEST_PIECE = 256 << 10, BINDLESS_LARGEST_PIECE = 1 << 20 };
enum { BINDLESS_SMALLEST_STREAM = 256, BINDLESS_CACHES = 8 << 20 };
/* Bytes per thread: for each of the first threads, and for each further one. */
enum { BINDLESS_SHARE = 1 << 20, BINDLESS_FIRST_THREADS = 4, BINDLESS_LARGE_SHARE = 5 << 19, BINDLESS_LAST_PIECES = 4 };
/* Turns of a buffer: 2 * number of the piece that may be moved, and one more when it has been. */
#define BINDLESS_NO_TURN SIZE_MAX
enum { BINDLESS_POLLS = 64 }; /* of a turn, before other threads may have the processor */

/* One thread with its buffers. */
typedef struct bindless_stager {
    struct bindless_staging *staging;
    unsigned char *buffers[BINDLESS_STAGING_BUFFERS];
    CUevent events[BINDLESS_STAGING_BUFFERS]; /* recorded after the last copy of each buffer */
    int in_flight[BINDLESS_STAGING_BUFFERS]; /* whether that copy may be incomplete; the calling thread's */
    atomic_size_t turns[BINDLESS_STAGING_BUFFERS];
    CUdeviceptr places[BINDLESS_STAGING_BUFFERS]; /* device memory of host calls, as large as the buffers */
    CUstream stream;                              /* of host calls, see pipelined_image_call.h */
} bindless_stager_t;

struct bindless_staging {
    CUcontext context;
    size_t piece;
    int maximum, threads; /* maximum and current number; the first is the calling thread */
    bindless_stager_t *stagers;
    blr_mutex_t turn; /* held by a copy: one runs at a time */
    blr_mutex_t lock; /* guards the members below */
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
    size_t crew;                        /* threads of a copy, whose buffers it uses */
    size_t opened, submitted, arrived;  /* pieces that got a buffer, went to the driver, have come from the device */
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
        size_t rest = job->depth - number * staging->slices;
        piece.z = number * staging->slices;
        piece.depth = rest < staging->slices ? rest : staging->slices;
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

/* Copies a part of a piece; large copies bypass the caches, which could not hold them. */
static void bindless_give(const bindless_staging_t *staging, unsigned char *to, const unsigned char *from, size_t size)
{
    if (staging->past_caches && size >= BINDLESS_SMALLEST_STREAM) {
        blr_stream_bytes(to, from, size);
    } else {
        memcpy(to, from, size);
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
            bindless_give(staging, buffer + line * length, place, length);
        } else {
            bindless_give(staging, place, buffer + line * length, length);
        }
    }
    blr_stream_end();
}

/* The thread that has the buffer of a piece, and which of its buffers that is. */
static bindless_stager_t *bindless_buffer_of(const bindless_staging_t *staging, size_t number, int *slot)
{
    size_t at = number % (staging->crew * BINDLESS_STAGING_BUFFERS);
    *slot = (int)(at / staging->crew);
    return &staging->stagers[at % staging->crew];
}

static atomic_size_t *bindless_turn_of(const bindless_staging_t *staging, size_t number)
{
    int slot;
    bindless_stager_t *stager = bindless_buffer_of(staging, number, &slot);
    return &stager->turns[slot];
}

/* Enqueues the device's copy of the next piece. */
static CUresult bindless_submit(bindless_staging_t *staging)
{
    const bindless_stage_t *job = staging->job;
    int slot, array = job->type == CU_MEMORYTYPE_ARRAY;
    bindless_stager_t *stager = bindless_buffer_of(staging, staging->submitted, &slot);
    bindless_piece_t piece = bindless_piece_of(staging, staging->submitted);
    int straight = !array && job->pitch == job->width && (piece.depth == 1 || job->rows == job->height);
    size_t bytes = job->width * piece.height * piece.depth;
    uint64_t device = job->device, buffer = (uint64_t)(uintptr_t)stager->buffers[slot];
    size_t y = job->y + piece.y, z = job->z + piece.z;
    if (!array) {
        device += (z * job->rows + y) * job->pitch;
        y = z = 0;
    }
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
    stager->in_flight[slot] = 1;
    staging->submitted++;
    return result;
}

/* Whether the last copy of a piece's buffer is complete. */
static int bindless_is_complete(const bindless_staging_t *staging, size_t number, CUresult *result)
{
    int slot;
    bindless_stager_t *stager = bindless_buffer_of(staging, number, &slot);
    if (stager->in_flight[slot]) {
        CUresult status = cuEventQuery(stager->events[slot]);
        if (status != CUDA_SUCCESS) {
            *result = status == CUDA_ERROR_NOT_READY ? *result : status;
            return 0;
        }
        stager->in_flight[slot] = 0;
    }
    return 1;
}

/* Gives buffers to the next pieces for the device, where the copies of earlier ones are complete. */
static CUresult bindless_open_buffers(bindless_staging_t *staging)
{
    CUresult result = CUDA_SUCCESS;
    size_t buffers = staging->crew * BINDLESS_STAGING_BUFFERS;
    while (staging->opened < staging->count && staging->opened < staging->submitted + buffers &&
           bindless_is_complete(staging, staging->opened, &result)) {
        atomic_store(bindless_turn_of(staging, staging->opened), 2 * staging->opened);
        staging->opened++;
    }
    return result;
}

/* Between two looks at a turn. */
static void bindless_relax(unsigned int *polls)
{
    if (++*polls % BINDLESS_POLLS == 0) {
        blr_thread_yield();
    } else {
        blr_pause();
    }
}

/* Moves the next piece below a limit that no thread has taken, in its turn; returns whether there was one. */
static int bindless_move_next(bindless_staging_t *staging, size_t limit)
{
    size_t number = atomic_load(&staging->next);
    int slot;
    unsigned int polls = 0;
    do {
        if (number >= limit) {
            return 0;
        }
    } while (!atomic_compare_exchange_weak(&staging->next, &number, number + 1));
    bindless_stager_t *stager = bindless_buffer_of(staging, number, &slot);
    while (atomic_load(&stager->turns[slot]) != 2 * number) {
        if (atomic_load(&staging->result) != CUDA_SUCCESS) {
            return 0;
        }
        bindless_relax(&polls);
    }
    bindless_move(staging, bindless_piece_of(staging, number), stager->buffers[slot]);
    atomic_store(&stager->turns[slot], 2 * number + 1);
    return 1;
}

/* Submits the pieces for the device in order, as threads have filled their buffers. */
static CUresult bindless_upload(bindless_staging_t *staging)
{
    CUresult result = CUDA_SUCCESS;
    unsigned int polls = 0;
    while (result == CUDA_SUCCESS && staging->submitted < staging->count) {
        size_t number = staging->submitted;
        result = bindless_open_buffers(staging);
        if (atomic_load(bindless_turn_of(staging, number)) == 2 * number + 1) {
            result = result == CUDA_SUCCESS ? bindless_submit(staging) : result;
        } else if (result == CUDA_SUCCESS && atomic_load(&staging->next) <= number) {
            bindless_move_next(staging, staging->opened); /* of which it need not wait for a turn */
        } else {
            bindless_relax(&polls);
        }
        result = result == CUDA_SUCCESS ? (CUresult)atomic_load(&staging->result) : result;
    }
    return result;
}

/* Submits the pieces from the device while there are buffers, and has threads empty those that have arrived. */
static CUresult bindless_download(bindless_staging_t *staging)
{
    CUresult result = CUDA_SUCCESS;
    size_t buffers = staging->crew * BINDLESS_STAGING_BUFFERS;
    while (result == CUDA_SUCCESS && staging->arrived < staging->count) {
        size_t number = staging->submitted, next = atomic_load(&staging->next);
        int is_free = number < staging->count && bindless_is_complete(staging, number, &result) &&
                      (number < buffers || atomic_load(bindless_turn_of(staging, number)) == 2 * (number - buffers) + 1);
        if (is_free && number < staging->arrived + buffers) {
            result = bindless_submit(staging);
        } else if (result == CUDA_SUCCESS && staging->arrived < number &&
                   bindless_is_complete(staging, staging->arrived, &result)) {
            atomic_store(bindless_turn_of(staging, staging->arrived), 2 * staging->arrived);
            staging->arrived++;
        } else if (result == CUDA_SUCCESS && next < staging->arrived &&
                   (number == staging->count || staging->arrived - next >= staging->crew)) {
            bindless_move_next(staging, staging->arrived);
        }
        result = result == CUDA_SUCCESS ? (CUresult)atomic_load(&staging->result) : result;
    }
    while (result == CUDA_SUCCESS && bindless_move_next(staging, staging->count)) {
    }
    return result;
}

static CUresult bindless_call_pieces(bindless_stager_t *stager);

static void bindless_take_part(bindless_stager_t *stager)
{
    bindless_staging_t *staging = stager->staging;
    int none = CUDA_SUCCESS;
    CUresult result = CUDA_SUCCESS;
    if (staging->job == NULL) {
        result = bindless_call_pieces(stager);
    } else if (stager == &staging->stagers[0]) {
        result = staging->job->to_device ? bindless_upload(staging) : bindless_download(staging);
    } else {
        while (bindless_move_next(staging, staging->count)) {
        }
    }
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
    size_t piece = total / (2 * (size_t)threads * BINDLESS_STAGING_BUFFERS);
    piece = piece < BINDLESS_SMALLEST_PIECE  ? BINDLESS_SMALLEST_PIECE
            : piece > BINDLESS_LARGEST_PIECE ? BINDLESS_LARGEST_PIECE
                                             : piece;
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
    staging->crew = (size_t)threads;
    staging->opened = staging->submitted = staging->arrived = 0;
    for (size_t number = 0; number < staging->crew * BINDLESS_STAGING_BUFFERS; number++) {
        atomic_store(bindless_turn_of(staging, number), BINDLESS_NO_TURN);
    }
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
