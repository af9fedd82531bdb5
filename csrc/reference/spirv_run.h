/* A batch of work-items on its way through a kernel, and the thread's part of a launch that it belongs to. */
#ifndef BLR_SPIRV_RUN_H
#define BLR_SPIRV_RUN_H

#include "image_handle.h"
#include "memory.h"
#include "spirv_program.h"

/* What a launch is, the same for all its threads. */
struct blr_spirv_launch {
    const struct blr_spirv_program *program;
    struct blr_context *context;
    const char *name;
    uint32_t dimensions;
    uint64_t global[3], local[3], groups[3], offset[3];
    const unsigned char *const *values; /* bytes of each argument, or NULL for local memory */
    const uint64_t *local_offsets;      /* of such an argument in the work-group's memory */
    struct blr_allocation *const *allocations; /* that arguments point into, retained by the command */
    uint32_t allocation_count;
    uint64_t local_bytes;               /* of a work-group, arguments included */
    uint64_t deadline;                  /* on the clock of events; 0 for none */
    double timeout;                     /* seconds */
    bool (*run_batch)(struct blr_spirv_batch *); /* blr_spirv_run_batch of the set of instructions chosen */
    _Atomic uint64_t end;               /* parts that begin here or later need not go on: one before them failed */
};

/* Memory that lanes may touch. */
struct blr_spirv_range {
    uint64_t begin, end;
    bool writable;
    struct blr_allocation *allocation;  /* retained, or NULL */
};

#define BLR_SPIRV_CACHED_RANGES 16u
#define BLR_SPIRV_CACHED_VIEWS 8u
#define BLR_SPIRV_CACHED_PAIRS 4u

struct blr_spirv_fault {
    bool happened;
    char message[512];
};

/* One thread's share: the registers of one batch after another, or of all batches of one work-group. */
struct blr_spirv_worker {
    struct blr_spirv_worker *next;
    const struct blr_spirv_program *program;
    struct blr_spirv_launch *launch;    /* NULL between launches */
    struct blr_spirv_batch *batches;
    uint32_t batch_count, batch_room;
    unsigned char *local;
    uint64_t local_room;
    struct blr_spirv_range ranges[BLR_SPIRV_CACHED_RANGES];
    uint32_t range_count, range_next;
    struct blr_image_view *views[BLR_SPIRV_CACHED_VIEWS]; /* retained, or NULL */
    uint32_t view_next;
    struct blr_spirv_pair {
        uint64_t image, sampler;        /* 0 for none */
        struct blr_texture texture;     /* of the image's pixels, while its view is cached too */
    } *pairs;                           /* BLR_SPIRV_CACHED_PAIRS of them, or NULL */
    uint32_t pair_next;
    uint64_t part;                      /* where its part of the launch begins */
    struct blr_spirv_fault fault;
    blr_result_t result;
    uint32_t patience;                  /* blocks until the clock is looked at again */
};

struct blr_spirv_batch {
    unsigned char *registers;
    unsigned char *scratch;
    unsigned char *private_memory;      /* of lane 0; the next lane's lies private_bytes further */
    uint64_t mask;                      /* lanes that take part in the running block */
    uint64_t alive;                     /* lanes that have not returned */
    uint64_t waiting;                   /* lanes at a barrier */
    uint32_t waiting_in;                /* the block that ends with it */
    uint64_t first_item;                /* number of lane 0's work-item */
    uint64_t *arrived;                  /* for each block, lanes that are to run it */
    uint64_t *occupied;                 /* one bit for each block that lanes have arrived at */
    struct blr_spirv_worker *worker;
    uint64_t expanded;                  /* the mask that the arrays below hold */
    _Alignas(64) uint8_t mask8[BLR_LANES];
    uint16_t mask16[BLR_LANES];
    uint32_t mask32[BLR_LANES];
    uint64_t mask64[BLR_LANES];
};

static inline void *blr_register(const struct blr_spirv_batch *batch, uint32_t place)
{
    return batch->registers + place;
}

static inline bool blr_spirv_within(uint64_t address, uint64_t size, uint64_t begin, uint64_t end)
{
    return address >= begin && address <= end && size <= end - address;
}

/* Writes the mask out, for operations that blend by it. */
static inline void blr_spirv_expand_mask(struct blr_spirv_batch *batch)
{
    const uint64_t mask = batch->mask;
    for (uint64_t i = 0; i < BLR_LANES; i++)
        batch->mask64[i] = 0 - (mask >> i & 1);
    for (size_t i = 0; i < BLR_LANES; i++)
        batch->mask32[i] = (uint32_t)batch->mask64[i];
    for (size_t i = 0; i < BLR_LANES; i++)
        batch->mask16[i] = (uint16_t)batch->mask32[i];
    for (size_t i = 0; i < BLR_LANES; i++)
        batch->mask8[i] = (uint8_t)batch->mask16[i];
    batch->expanded = mask;
}

/* Lanes that are to run a block. */
static inline void blr_spirv_arrive(struct blr_spirv_batch *batch, uint32_t block, uint64_t lanes)
{
    batch->arrived[block] |= lanes;
    batch->occupied[block / 64] |= (uint64_t)1 << block % 64;
}

/* Whether the bytes may be touched; looks them up among the worker's ranges and the driver's allocations. */
bool blr_spirv_reachable(struct blr_spirv_batch *batch, uint64_t address, uint64_t size, bool write);

/* Ends the launch with a sentence about what one lane did; only the first counts. */
void blr_spirv_fault(struct blr_spirv_batch *batch, const struct blr_spirv_op *op, uint32_t lane, blr_result_t result,
                     const char *format, ...) BLR_PRINTF(5, 6);

/* False when the part is to end: one before it failed, or the launch takes too long. Parts before one that failed go on,
 * so that the fault that is told is the first in the order of work-items, whatever threads do. */
bool blr_spirv_may_go_on(struct blr_spirv_worker *worker);

/* Runs a batch until all its lanes have returned or wait at a barrier. False when the launch is to end. */
bool blr_spirv_run_batch(struct blr_spirv_batch *batch);

/* Runs work-items [begin, end) of a kernel without barriers, or the work-groups of one with them. */
bool blr_spirv_run_items(struct blr_spirv_worker *worker, uint64_t begin, uint64_t end);
bool blr_spirv_run_groups(struct blr_spirv_worker *worker, uint64_t begin, uint64_t end);

/* A worker for a launch; NULL after blr_fail. */
struct blr_spirv_worker *blr_spirv_worker_new(struct blr_spirv_launch *launch);
void blr_spirv_worker_free(struct blr_spirv_worker *worker);

/* A worker whose launch is done lets go of all that it retains, and serves another launch of the same program if that
 * needs no more room. */
void blr_spirv_worker_rest(struct blr_spirv_worker *worker);
bool blr_spirv_worker_fits(const struct blr_spirv_worker *worker, const struct blr_spirv_launch *launch);
void blr_spirv_worker_start(struct blr_spirv_worker *worker, struct blr_spirv_launch *launch);
uint64_t blr_spirv_worker_bytes(const struct blr_spirv_worker *worker);

#endif
