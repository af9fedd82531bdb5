/*
 * A CUDA driver without a GPU, for testing what the backend asks of the real one.
 *
 * Memory, arrays and copies are real. Streams are asynchronous and deterministic: a command waits in its stream until
 * somebody asks the stream, or one of its events, whether it is ready; every question runs one command. So a wait
 * that is missing, an event that is recorded at the wrong place, or memory released too early shows in every run.
 * Kernels do nothing but note their launch. Every call of interest is written into a log.
 *
 * It checks what the real driver leaves undefined: the current context, handles of other contexts, use after release.
 */
#define _GNU_SOURCE /* memfd_create */
#include <pthread.h>
#include <sched.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <poll.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cuda_types.h"

#define EXPORT __attribute__((visibility("default")))
enum { DEVICES = 2, MOST_ALLOCATIONS = 4096, MOST_NUMBERS = 4096, MOST_FAILURES = 8, MOST_STREAMS = 1024 };

typedef struct context { int device; unsigned retained; } context;
typedef struct ticket { int done, captured; double time; } ticket;
typedef struct event { context *owner; int timed; int alive; ticket *last; } event;
typedef struct array {
    context *owner; CUDA_ARRAY3D_DESCRIPTOR desc; size_t pixel, width, height, depth; unsigned char *data; struct array *levels; unsigned num_levels;
    void *external; /* that it is mapped of */
} array;
typedef struct semaphore { context *owner; int fd; volatile uint64_t *value; /* of a timeline */ } semaphore;
typedef enum kind { COPY, BOX, SET, RECORD, WAIT, KERNEL, AWAIT, SIGNAL } kind;
typedef struct command {
    struct command *next; kind kind; CUDA_MEMCPY3D box; unsigned char *dst; const unsigned char *src; size_t pitch, unit, width, height, bytes;
    unsigned value; ticket *ticket; semaphore *semaphore;
} command;
typedef struct stream { context *owner; command *first, *last; int alive; } stream;
typedef struct allocation { uint64_t base; size_t size; int kind; context *owner; void *external; } allocation;
typedef struct module { context *owner; char *text; } module;
typedef struct function { module *module; char name[128]; } function;

static context contexts[DEVICES];
static int peers[DEVICES][DEVICES], without_peers; /* whether the first reaches memory of the second */
static _Thread_local context *current;
static allocation allocations[MOST_ALLOCATIONS];
static int textures[DEVICES][MOST_NUMBERS], surfaces[DEVICES][MOST_NUMBERS];
static int initialised, sticky, devices = DEVICES, live_arrays;
static struct { char name[64]; int result, after; } failures[MOST_FAILURES];
static size_t parameter_sizes[64];
static int parameter_count;
static char *log_text;
static size_t log_size, log_room;

static void unmapped(void *external);

/* Some functions call it without the driver's lock, from threads of their own. */
static pthread_mutex_t log_lock = PTHREAD_MUTEX_INITIALIZER;

static void note(const char *line)
{
    size_t length = strlen(line);
    pthread_mutex_lock(&log_lock);
    if (log_size + length + 2 > log_room) {
        log_room = (log_room + length + 2) * 2;
        log_text = realloc(log_text, log_room);
    }
    memcpy(log_text + log_size, line, length);
    memcpy(log_text + log_size + length, "\n", 2);
    log_size += length + 1;
    pthread_mutex_unlock(&log_lock);
}

EXPORT const char *fake_log(void) { return log_text ? log_text : ""; }
EXPORT void fake_clear(void)
{
    pthread_mutex_lock(&log_lock);
    log_size = 0;
    if (log_text) *log_text = 0;
    pthread_mutex_unlock(&log_lock);
    sticky = 0;
    memset(failures, 0, sizeof failures);
}
EXPORT void fake_sticky(int result) { sticky = result; }
EXPORT void fake_devices(int count) { devices = count; }
EXPORT void fake_without_peers(int none) { without_peers = none; memset(peers, 0, sizeof peers); }
EXPORT int fake_live_arrays(void) { return live_arrays; }
EXPORT void fake_parameters(int count, const size_t *sizes) { parameter_count = count; memcpy(parameter_sizes, sizes, (size_t)count * sizeof *sizes); }
/* Kernels do nothing; with bytes they move so many of each item between what two parameters point to, a third counts. */
static struct { int from, to, count; size_t bytes; } work;
EXPORT void fake_work(int from, int to, int count, size_t bytes) { work.from = from, work.to = to, work.count = count, work.bytes = bytes; }
EXPORT int fake_live_allocations(void)
{
    int count = 0;
    for (int i = 0; i < MOST_ALLOCATIONS; i++) count += allocations[i].base != 0;
    return count;
}
EXPORT int fake_live_objects(void)
{
    int count = 0;
    for (int d = 0; d < DEVICES; d++)
        for (int i = 0; i < MOST_NUMBERS; i++) count += textures[d][i] + surfaces[d][i];
    return count;
}

/* From the call after next ones on, NAME returns RESULT once. */
EXPORT void fake_fail(const char *name, int result, int after)
{
    for (int i = 0; i < MOST_FAILURES; i++)
        if (!failures[i].name[0]) {
            snprintf(failures[i].name, sizeof failures[i].name, "%s", name);
            failures[i].result = result;
            failures[i].after = after;
            return;
        }
}

static int failure(const char *name)
{
    for (int i = 0; i < MOST_FAILURES; i++)
        if (!strcmp(failures[i].name, name) && failures[i].after-- <= 0) {
            failures[i].name[0] = 0;
            return failures[i].result;
        }
    return sticky;
}

/* Calls come from several threads; a call that came in holds the lock until it returns. */
static pthread_mutex_t mutex;
__attribute__((constructor)) static void make_mutex(void)
{
    pthread_mutexattr_t kind;
    pthread_mutexattr_init(&kind);
    pthread_mutexattr_settype(&kind, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&mutex, &kind);
}
static void leave(int *unused) { (void)unused; pthread_mutex_unlock(&mutex); }
#define ENTER(name)                                                                                                    \
    __attribute__((cleanup(leave))) int failed = (pthread_mutex_lock(&mutex), failure(name));                          \
    if (failed) return failed;                                                                                         \
    if (!initialised) return CUDA_ERROR_NOT_INITIALIZED
#define ENTER_CONTEXT(name)                                                                                            \
    ENTER(name);                                                                                                       \
    if (!current) return CUDA_ERROR_INVALID_CONTEXT

/* ---------------------------------------------------------------- device */

EXPORT CUresult cuInit(unsigned flags) { int f = failure("cuInit"); if (f) return f; (void)flags; initialised = 1; return devices ? 0 : CUDA_ERROR_NO_DEVICE; }
EXPORT CUresult cuDriverGetVersion(int *version) { *version = 13000; return 0; }
EXPORT CUresult cuDeviceGetCount(int *count) { *count = devices; return 0; }
EXPORT CUresult cuDeviceGet(CUdevice *device, int ordinal) { *device = ordinal; return ordinal < DEVICES ? 0 : CUDA_ERROR_INVALID_DEVICE; }
EXPORT CUresult cuDeviceGetName(char *name, int size, CUdevice device) { snprintf(name, (size_t)size, "Fake GPU %d", device); return 0; }
EXPORT CUresult cuDeviceTotalMem_v2(size_t *bytes, CUdevice device) { (void)device; *bytes = (size_t)8 << 30; return 0; }
EXPORT CUresult cuDeviceGetUuid_v2(CUuuid *uuid, CUdevice device) { memset(uuid, 0xA0 + device, sizeof *uuid); return 0; }
EXPORT CUresult cuDeviceGetPCIBusId(char *text, int size, CUdevice device) { snprintf(text, (size_t)size, "0000:0%d:00.0", device); return 0; }

EXPORT CUresult cuDeviceGetAttribute(int *value, CUdevice_attribute attribute, CUdevice device)
{
    static const struct { int attribute, value; } known[] = {
        {CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, 1024}, {CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X, 1024},
        {CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y, 1024}, {CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z, 64},
        {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X, 2147483647}, {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y, 65535},
        {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z, 65535}, {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK, 49152},
        {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, 232448}, {CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT, 512},
        {CU_DEVICE_ATTRIBUTE_TEXTURE_PITCH_ALIGNMENT, 32}, {CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 132},
        {CU_DEVICE_ATTRIBUTE_CLOCK_RATE, 1980000}, {CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE, 62914560},
        {CU_DEVICE_ATTRIBUTE_CAN_MAP_HOST_MEMORY, 1}, {CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY, 1},
        {CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS, 1}, {CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS, 1},
        {CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 9}, {CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, 0},
        {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_WIDTH, 131072}, {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_WIDTH, 131072},
        {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_HEIGHT, 65536}, {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_WIDTH, 16384},
        {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_HEIGHT, 16384}, {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_DEPTH, 16384},
        {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_LAYERED_WIDTH, 32768}, {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_LAYERED_LAYERS, 2048},
        {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LAYERED_WIDTH, 32768}, {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LAYERED_HEIGHT, 32768},
        {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LAYERED_LAYERS, 2048}, {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURECUBEMAP_WIDTH, 32768},
        {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_LINEAR_WIDTH, 268435456}, {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LINEAR_WIDTH, 131072},
        {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LINEAR_HEIGHT, 65000}, {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LINEAR_PITCH, 2097120},
        {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_MIPMAPPED_WIDTH, 32768}, {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_MIPMAPPED_WIDTH, 32768},
        {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_MIPMAPPED_HEIGHT, 32768}, {CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE1D_WIDTH, 32768},
        {CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE2D_WIDTH, 131072}, {CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE2D_HEIGHT, 65536},
        {CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE3D_WIDTH, 16384}, {CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE3D_HEIGHT, 16384},
        {CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE3D_DEPTH, 16384}, {CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE1D_LAYERED_WIDTH, 32768},
        {CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE1D_LAYERED_LAYERS, 2048}, {CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE2D_LAYERED_WIDTH, 32768},
        {CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE2D_LAYERED_HEIGHT, 32768}, {CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE2D_LAYERED_LAYERS, 2048},
        {CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACECUBEMAP_WIDTH, 32768}, {CU_DEVICE_ATTRIBUTE_MAX_PITCH, 2147483647},
        {CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH, 1},
    };
    (void)device;
    *value = 0;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (known[i].attribute == attribute) *value = known[i].value;
    return 0;
}

EXPORT CUresult cuGetErrorName(CUresult error, const char **text) { (void)error; *text = "CUDA_ERROR"; return 0; }
EXPORT CUresult cuGetErrorString(CUresult error, const char **text) { (void)error; *text = "fake"; return 0; }

/* ---------------------------------------------------------------- contexts */

EXPORT CUresult cuDevicePrimaryCtxRetain(CUcontext *out, CUdevice device)
{
    ENTER("cuDevicePrimaryCtxRetain");
    contexts[device].device = device;
    contexts[device].retained++;
    *out = (CUcontext)&contexts[device];
    note("cuDevicePrimaryCtxRetain");
    return 0;
}
enum { MOST_PUSHED = 64 };
static _Thread_local context *stack[MOST_PUSHED];
static _Thread_local int depth;
EXPORT CUresult cuCtxGetCurrent(CUcontext *out) { *out = (CUcontext)current; return 0; }
EXPORT CUresult cuCtxSetCurrent(CUcontext context_) { ENTER("cuCtxSetCurrent"); current = (context *)context_; return 0; }
EXPORT CUresult cuCtxPushCurrent_v2(CUcontext context_) { ENTER("cuCtxPushCurrent"); if (depth == MOST_PUSHED) return CUDA_ERROR_OUT_OF_MEMORY; stack[depth++] = current; current = (context *)context_; return 0; }
EXPORT CUresult cuCtxPopCurrent_v2(CUcontext *out) { if (!depth) return CUDA_ERROR_INVALID_CONTEXT; *out = (CUcontext)current; current = stack[--depth]; return 0; }

/* ---------------------------------------------------------------- memory */

static unsigned count_of_allocations; /* of memory, since the process began */
EXPORT unsigned fake_allocations(void) { return count_of_allocations; }

static CUresult allocate(uint64_t *out, size_t size, int kind, const char *name)
{
    ENTER_CONTEXT(name);
    if (size > ((size_t)1 << 32)) return CUDA_ERROR_OUT_OF_MEMORY;
    for (int i = 0; i < MOST_ALLOCATIONS; i++)
        if (!allocations[i].base) {
            void *memory = NULL;
            if (posix_memalign(&memory, 512, size)) return CUDA_ERROR_OUT_OF_MEMORY;
            memset(memory, 0xCD, size);
            allocations[i] = (allocation){(uint64_t)(uintptr_t)memory, size, kind, current, NULL};
            *out = allocations[i].base;
            count_of_allocations++;
            return 0;
        }
    return CUDA_ERROR_OUT_OF_MEMORY;
}
static CUresult deallocate(uint64_t base, int host, const char *name)
{
    ENTER_CONTEXT(name);
    for (int i = 0; i < MOST_ALLOCATIONS; i++)
        if (allocations[i].base == base && base && (allocations[i].kind == 2) == host) {
            if (allocations[i].external) unmapped(allocations[i].external); else free((void *)(uintptr_t)base);
            allocations[i].base = 0;
            return 0;
        }
    return CUDA_ERROR_INVALID_VALUE;
}
EXPORT CUresult cuMemAlloc_v2(CUdeviceptr *out, size_t size) { uint64_t a = 0; CUresult r = allocate(&a, size, 1, "cuMemAlloc"); *out = a; return r; }
EXPORT CUresult cuMemAllocManaged(CUdeviceptr *out, size_t size, unsigned flags) { uint64_t a = 0; (void)flags; CUresult r = allocate(&a, size, 3, "cuMemAllocManaged"); *out = a; return r; }
EXPORT CUresult cuMemHostAlloc(void **out, size_t size, unsigned flags)
{
    uint64_t a = 0;
    CUresult r = allocate(&a, size, 2, "cuMemHostAlloc");
    *out = (void *)(uintptr_t)a;
    return flags == (CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP) ? r : CUDA_ERROR_INVALID_VALUE;
}
EXPORT CUresult cuMemAllocPitch_v2(CUdeviceptr *out, size_t *pitch, size_t width, size_t height, unsigned element)
{
    if (element != 4 && element != 8 && element != 16) return CUDA_ERROR_INVALID_VALUE;
    uint64_t a = 0;
    *pitch = (width + 511) / 512 * 512;
    CUresult r = allocate(&a, *pitch * height, 1, "cuMemAllocPitch");
    *out = a;
    return r;
}
EXPORT CUresult cuMemFree_v2(CUdeviceptr base) { return deallocate(base, 0, "cuMemFree"); }
EXPORT CUresult cuMemFreeHost(void *base) { return deallocate((uint64_t)(uintptr_t)base, 1, "cuMemFreeHost"); }
EXPORT CUresult cuMemGetInfo_v2(size_t *free_, size_t *total) { *free_ = (size_t)7 << 30; *total = (size_t)8 << 30; return 0; }

static allocation *allocation_of(uint64_t address)
{
    for (int i = 0; i < MOST_ALLOCATIONS; i++)
        if (allocations[i].base && address >= allocations[i].base && address < allocations[i].base + allocations[i].size) return &allocations[i];
    return NULL;
}
EXPORT CUresult cuPointerGetAttributes(unsigned count, CUpointer_attribute *attributes, void **data, CUdeviceptr address)
{
    ENTER_CONTEXT("cuPointerGetAttributes");
    allocation *a = allocation_of(address);
    for (unsigned i = 0; i < count; i++) switch (attributes[i]) {
        case CU_POINTER_ATTRIBUTE_MEMORY_TYPE: *(unsigned *)data[i] = a ? (a->kind == 2 ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE) : 0; break;
        case CU_POINTER_ATTRIBUTE_IS_MANAGED: *(unsigned *)data[i] = a && a->kind == 3; break;
        case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL: *(int *)data[i] = a ? a->owner->device : -2; break;
        case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR: *(CUdeviceptr *)data[i] = a ? a->base : 0; break;
        case CU_POINTER_ATTRIBUTE_RANGE_SIZE: *(size_t *)data[i] = a ? a->size : 0; break;
        default: return CUDA_ERROR_INVALID_VALUE;
        }
    return 0;
}

/* ---------------------------------------------------------------- streams and events */

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}
static stream *streams[MOST_STREAMS];
static int stream_count;
/* The stream behind a handle: the default streams, which have numbers, are one here. */
static stream *real(CUstream h)
{
    static stream *standard;
    if ((uintptr_t)h > 2) return (stream *)h;
    if (!standard) {
        standard = calloc(1, sizeof *standard);
        standard->owner = current;
        standard->alive = 1;
        streams[stream_count++] = standard;
    }
    return standard;
}
/* A stream that captures puts its commands into a graph. A question about it, or about an event that it has recorded, is
 * refused and invalidates the capture: it takes no more commands, and its end gives no graph. */
typedef struct graph { command *commands; int count, invalid; } graph;
static stream *recorded;
static graph *recording;
static CUresult refuse_question(CUresult result)
{
    if (recorded) recording->invalid = 1;
    return result;
}
static CUresult put(stream *s, command c)
{
    s = real((CUstream)s);
    if (!s || !s->alive || s->owner != current) return CUDA_ERROR_INVALID_HANDLE;
    if (s == recorded) {
        if (recording->invalid) return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
        recording->commands = realloc(recording->commands, sizeof c * (size_t)(recording->count + 1));
        recording->commands[recording->count++] = c;
        return 0;
    }
    command *copy = malloc(sizeof *copy);
    *copy = c;
    copy->next = NULL;
    if (s->last) s->last->next = copy; else s->first = copy;
    s->last = copy;
    return 0;
}

static unsigned char *box_address(CUmemorytype type, CUdeviceptr device, const void *host, CUarray handle, size_t x, size_t y, size_t z, size_t pitch, size_t rows)
{
    if (type == CU_MEMORYTYPE_ARRAY) {
        array *a = (array *)handle;
        return a->data + ((z * a->height + y) * a->width) * a->pixel + x;
    }
    unsigned char *base = type == CU_MEMORYTYPE_HOST ? (unsigned char *)(uintptr_t)host : (unsigned char *)(uintptr_t)device;
    return base + z * rows * pitch + y * pitch + x;
}
static void copy_box(const CUDA_MEMCPY3D *c)
{
    for (size_t z = 0; z < c->Depth; z++)
        for (size_t y = 0; y < c->Height; y++)
            memmove(box_address(c->dstMemoryType, c->dstDevice, c->dstHost, c->dstArray, c->dstXInBytes, c->dstY + y, c->dstZ + z, c->dstPitch, c->dstHeight),
                    box_address(c->srcMemoryType, c->srcDevice, c->srcHost, c->srcArray, c->srcXInBytes, c->srcY + y, c->srcZ + z, c->srcPitch, c->srcHeight),
                    c->WidthInBytes);
}

/* Whether a wait for it is over, which resets a binary one. */
static int take(const semaphore *s, uint64_t value)
{
    if (s->value) return *s->value >= value;
    struct pollfd place = {s->fd, POLLIN, 0};
    uint64_t count;
    return poll(&place, 1, 0) == 1 && read(s->fd, &count, sizeof count) == sizeof count;
}
static void give(const semaphore *s, uint64_t value)
{
    const uint64_t one = 1;
    if (s->value) *s->value = value; else if (write(s->fd, &one, sizeof one) != sizeof one) abort();
}

/* Runs the first command of a stream; 0 if it waits for what is not done. */
static int run_one(stream *s)
{
    command *c = s->first;
    if (c->kind == WAIT && !c->ticket->done) return 0;
    if (c->kind == AWAIT && !take(c->semaphore, c->bytes)) return 0;
    switch (c->kind) {
    case COPY: memmove(c->dst, c->src, c->bytes); break;
    case BOX: copy_box(&c->box); break;
    case SET:
        for (size_t y = 0; y < c->height; y++)
            if (c->unit == 1) memset(c->dst + y * c->pitch, (int)c->value, c->width);
            else for (size_t x = 0; x < c->width; x++) memcpy(c->dst + y * c->pitch + x * c->unit, &c->value, c->unit);
        break;
    case SIGNAL: give(c->semaphore, c->bytes); break;
    case RECORD: c->ticket->done = 1; c->ticket->time = now(); break;
    default: break;
    }
    s->first = c->next;
    if (!s->first) s->last = NULL;
    free(c);
    return 1;
}

static int pumped;
/* One command of some stream, in turn: progress as long as there is any. */
static void pump(void)
{
    for (int i = 0; i < stream_count; i++) {
        stream *s = streams[(pumped + i) % stream_count];
        if (s->alive && s->first && run_one(s)) {
            pumped = (pumped + i + 1) % stream_count;
            return;
        }
    }
}

EXPORT CUresult cuStreamCreate(CUstream *out, unsigned flags)
{
    ENTER_CONTEXT("cuStreamCreate");
    if (flags != CU_STREAM_NON_BLOCKING) return CUDA_ERROR_INVALID_VALUE;
    stream *s = calloc(1, sizeof *s);
    s->owner = current;
    s->alive = 1;
    if (stream_count == MOST_STREAMS) return CUDA_ERROR_OUT_OF_MEMORY;
    streams[stream_count++] = s;
    *out = (CUstream)s;
    note("cuStreamCreate");
    return 0;
}
EXPORT CUresult cuStreamDestroy_v2(CUstream h) { ENTER_CONTEXT("cuStreamDestroy"); stream *s = (stream *)h; if (!s->alive) return CUDA_ERROR_INVALID_HANDLE; while (s->first) pump(); s->alive = 0; if (s == recorded) recorded = NULL;
    for (int i = 0; i < stream_count; i++)
        if (streams[i] == s) streams[i--] = streams[--stream_count];
    pumped = 0;
    note("cuStreamDestroy");
    return 0;
}
EXPORT CUresult cuStreamQuery(CUstream h) { ENTER_CONTEXT("cuStreamQuery"); stream *s = real(h); if (s == recorded) return refuse_question(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED); if (!s->alive) return CUDA_ERROR_INVALID_HANDLE; pump(); return s->first ? CUDA_ERROR_NOT_READY : 0; }
EXPORT CUresult cuStreamSynchronize(CUstream h)
{
    CUresult result;
    while ((result = cuStreamQuery(h)) == CUDA_ERROR_NOT_READY) sched_yield();
    return result;
}
EXPORT CUresult cuEventCreate(CUevent *out, unsigned flags)
{
    ENTER_CONTEXT("cuEventCreate");
    event *e = calloc(1, sizeof *e);
    e->owner = current;
    e->timed = !(flags & CU_EVENT_DISABLE_TIMING);
    e->alive = 1;
    *out = (CUevent)e;
    note(e->timed ? "cuEventCreate timed" : "cuEventCreate");
    return 0;
}
EXPORT CUresult cuEventDestroy_v2(CUevent h) { __attribute__((cleanup(leave))) int unused = pthread_mutex_lock(&mutex); ((event *)h)->alive = 0; note("cuEventDestroy"); return 0; }
EXPORT CUresult cuEventRecord(CUevent h, CUstream s)
{
    ENTER_CONTEXT("cuEventRecord");
    event *e = (event *)h;
    if (!e->alive || e->owner != real(s)->owner) return CUDA_ERROR_INVALID_HANDLE;
    e->last = calloc(1, sizeof(ticket));
    e->last->captured = real(s) == recorded;
    note("cuEventRecord");
    return put((stream *)s, (command){.kind = RECORD, .ticket = e->last});
}
EXPORT CUresult cuEventQuery(CUevent h) { ENTER_CONTEXT("cuEventQuery"); event *e = (event *)h; if (!e->alive) return CUDA_ERROR_INVALID_HANDLE; if (e->last && e->last->captured) return refuse_question(CUDA_ERROR_CAPTURED_EVENT); pump(); return !e->last || e->last->done ? 0 : CUDA_ERROR_NOT_READY; }
EXPORT CUresult cuEventSynchronize(CUevent h)
{
    CUresult result;
    while ((result = cuEventQuery(h)) == CUDA_ERROR_NOT_READY) sched_yield();
    return result;
}
EXPORT CUresult cuStreamWaitEvent(CUstream s, CUevent h, unsigned flags)
{
    (void)flags;
    ENTER_CONTEXT("cuStreamWaitEvent");
    event *e = (event *)h;
    if (!e->alive) return CUDA_ERROR_INVALID_HANDLE;
    note("cuStreamWaitEvent");
    return e->last ? put((stream *)s, (command){.kind = WAIT, .ticket = e->last}) : 0;
}
EXPORT CUresult cuEventElapsedTime_v2(float *out, CUevent a, CUevent b)
{
    ENTER_CONTEXT("cuEventElapsedTime");
    event *x = (event *)a, *y = (event *)b;
    if (!x->timed || !y->timed || !x->last || !y->last) return CUDA_ERROR_INVALID_HANDLE;
    if (!x->last->done || !y->last->done) return CUDA_ERROR_NOT_READY;
    *out = (float)(y->last->time - x->last->time);
    return 0;
}

/* ---------------------------------------------------------------- commands */

EXPORT CUresult cuMemcpyAsync(CUdeviceptr dst, CUdeviceptr src, size_t bytes, CUstream s)
{
    ENTER_CONTEXT("cuMemcpyAsync");
    note("cuMemcpyAsync");
    return put((stream *)s, (command){.kind = COPY, .dst = (void *)(uintptr_t)dst, .src = (void *)(uintptr_t)src, .bytes = bytes});
}
static int side_fits(CUmemorytype type, CUarray handle, size_t x, size_t y, size_t z, size_t pitch, size_t rows, const CUDA_MEMCPY3D *c)
{
    if (type == CU_MEMORYTYPE_ARRAY && ((array *)handle)->owner != current) return 0;
    if (type != CU_MEMORYTYPE_ARRAY) return pitch >= c->WidthInBytes + x && pitch <= 2147483647 && (c->Depth == 1 || rows >= c->Height + y);
    array *a = (array *)handle;
    return x % a->pixel == 0 && x + c->WidthInBytes <= a->width * a->pixel && y + c->Height <= a->height && z + c->Depth <= a->depth;
}
EXPORT CUresult cuMemcpy3DAsync_v2(const CUDA_MEMCPY3D *c, CUstream s)
{
    ENTER_CONTEXT("cuMemcpy3DAsync");
    if (!c->Height || !c->Depth || !side_fits(c->srcMemoryType, c->srcArray, c->srcXInBytes, c->srcY, c->srcZ, c->srcPitch, c->srcHeight, c) ||
        !side_fits(c->dstMemoryType, c->dstArray, c->dstXInBytes, c->dstY, c->dstZ, c->dstPitch, c->dstHeight, c)) return CUDA_ERROR_INVALID_VALUE;
    if (c->srcMemoryType == CU_MEMORYTYPE_ARRAY && c->dstMemoryType == CU_MEMORYTYPE_ARRAY && ((array *)c->srcArray)->pixel != ((array *)c->dstArray)->pixel) return CUDA_ERROR_INVALID_VALUE;
    note("cuMemcpy3DAsync");
    return put((stream *)s, (command){.kind = BOX, .box = *c});
}
static CUresult set(CUdeviceptr dst, size_t pitch, unsigned value, size_t unit, size_t width, size_t height, CUstream s, const char *name)
{
    ENTER_CONTEXT(name);
    if (dst % unit || pitch % unit) return CUDA_ERROR_INVALID_VALUE;
    allocation *a = allocation_of(dst);
    if (a && a->kind == 1 && a->owner != current && !peers[current->device][a->owner->device]) return CUDA_ERROR_INVALID_VALUE;
    note(name);
    return put((stream *)s, (command){.kind = SET, .dst = (void *)(uintptr_t)dst, .pitch = pitch, .value = value, .unit = unit, .width = width, .height = height});
}
EXPORT CUresult cuMemsetD8Async(CUdeviceptr d, unsigned char v, size_t n, CUstream s) { return set(d, 1, v, 1, n, 1, s, "cuMemsetD8Async"); }
EXPORT CUresult cuMemsetD16Async(CUdeviceptr d, unsigned short v, size_t n, CUstream s) { return set(d, 2, v, 2, n, 1, s, "cuMemsetD16Async"); }
EXPORT CUresult cuMemsetD32Async(CUdeviceptr d, unsigned v, size_t n, CUstream s) { return set(d, 4, v, 4, n, 1, s, "cuMemsetD32Async"); }
EXPORT CUresult cuMemsetD2D8Async(CUdeviceptr d, size_t p, unsigned char v, size_t w, size_t h, CUstream s) { return set(d, p, v, 1, w, h, s, "cuMemsetD2D8Async"); }
EXPORT CUresult cuMemsetD2D16Async(CUdeviceptr d, size_t p, unsigned short v, size_t w, size_t h, CUstream s) { return set(d, p, v, 2, w, h, s, "cuMemsetD2D16Async"); }
EXPORT CUresult cuMemsetD2D32Async(CUdeviceptr d, size_t p, unsigned v, size_t w, size_t h, CUstream s) { return set(d, p, v, 4, w, h, s, "cuMemsetD2D32Async"); }
EXPORT CUresult cuMemPrefetchAsync_v2(CUdeviceptr d, size_t n, CUmemLocation l, unsigned f, CUstream s)
{
    char line[96];
    (void)n, (void)f, (void)s;
    snprintf(line, sizeof line, "cuMemPrefetchAsync location %d %d managed %d", l.type, l.id, allocation_of(d)->kind == 3);
    note(line);
    return 0;
}
EXPORT CUresult cuMemAdvise_v2(CUdeviceptr d, size_t n, CUmem_advise a, CUmemLocation l)
{
    char line[64];
    (void)d, (void)n;
    snprintf(line, sizeof line, "cuMemAdvise %d location %d", a, l.id);
    note(line);
    return 0;
}

#include "fake_cuda_images.h"
#include "fake_cuda_modules.h"
#include "fake_cuda_native.h"
#include "fake_cuda_external.h"
#include "fake_cuda_interop.h"
