/* Execution state of a launch: batches of work-items, and the worker of each thread. */
#ifndef BINDLESS_REFERENCE_SPIRV_EXECUTE_INTERPRETER_H
#define BINDLESS_REFERENCE_SPIRV_EXECUTE_INTERPRETER_H

#include "image/image_handle.h"
#include "memory/allocation.h"
#include "spirv/program.h"

struct blr_native_frame;
struct blr_spirv_native;
struct blr_spirv_row;

/* A launch; shared by all its threads. */
struct blr_spirv_launch {
    const struct blr_spirv_program *program;
    struct blr_context *context;
    const char *name;
    uint32_t dimensions;
    uint64_t global[3], local[3], groups[3], offset[3];
    const unsigned char *const *values; /* bytes of each argument, or NULL for local memory */
    const uint64_t *local_offsets;      /* offset of such an argument in the work-group's memory */
    struct blr_allocation *const *allocations; /* memory that arguments point into, retained by the command */
    uint32_t allocation_count;
    uint64_t local_bytes;               /* local memory of a work-group, arguments included */
    uint64_t deadline;                  /* on the clock of events; 0 for none */
    double timeout;                     /* time limit in seconds */
    bool is_cooperative;                /* work-groups may wait for each other: each has a worker, which pauses in loops */
    unsigned (*native)(struct blr_native_frame *); /* the kernel as native code, or NULL */
    bool (*run_batch)(struct blr_spirv_batch *); /* blr_spirv_run_batch of the chosen instruction set */
    _Atomic uint64_t end;               /* parts that begin here or later may stop: an earlier one failed */
};

/* Memory that lanes may access. */
struct blr_spirv_range {
    uint64_t begin, end;
    bool writable;
    struct blr_allocation *allocation;  /* retained, or NULL */
};

#define BLR_BARRIERS 16u /* by number */
#define BLR_MOST_WARPS 32u /* of a work-group */
#define BLR_SPIRV_CACHED_RANGES 16u
#define BLR_SPIRV_CACHED_VIEWS 8u
#define BLR_SPIRV_CACHED_PAIRS 4u

struct blr_spirv_fault {
    bool happened;
    char message[832]; /* a name, an item, a sentence and a place */
};

/* A barrier by number (spirv/waits/waits.h), in its phase. */
struct blr_spirv_barrier {
    uint32_t threads;                   /* that it waits for; 0 for all of the work-group */
    uint32_t arrivals, sum;             /* lanes that have arrived, and those in which a condition holds */
    uint32_t again;                     /* arrivals of warps that had arrived before */
    uint32_t lanes[BLR_MOST_WARPS];     /* that have arrived, by warp */
};

/* State of one thread: the registers of one batch at a time, or of all batches of one work-group. */
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
        uint64_t image, sampler;        /* handles of image and sampler; 0 for none */
        struct blr_texture texture;     /* texture of the image's pixels, valid while its view is cached */
    } *pairs;                           /* BLR_SPIRV_CACHED_PAIRS of them, or NULL */
    uint32_t pair_next;
    uint64_t part;                      /* start of the worker's part of the launch */
    struct blr_spirv_fault fault;
    blr_result_t result;
    uint32_t patience;                  /* block executions until the next read of the clock */
    bool pauses;                        /* a batch goes on later: it stopped in a loop, its lanes rested, or were at a barrier */
    bool is_loose;                      /* a batch is */
    uint32_t holds;                     /* bit n: lanes wait at barrier n */
    struct blr_spirv_barrier barriers[BLR_BARRIERS];
    struct blr_spirv_native *native;    /* of a launch with native code, or NULL */
    struct blr_spirv_row *row;          /* of a program with rows (spirv/execute/rows.h), or NULL */
};

struct blr_spirv_batch {
    unsigned char *registers;
    unsigned char *scratch;
    struct blr_affine *affine;          /* by place / BLR_LANES: what the register there holds */
    unsigned char *private_memory;      /* private memory of lane 0; the next lane's is private_bytes further */
    uint64_t mask;                      /* active lanes of the running block */
    uint64_t alive;                     /* lanes that have not returned */
    bool whole;                         /* all of them are active */
    uint32_t low, high;                 /* first and last active lane */
    uint64_t waiting;                   /* lanes at a barrier */
    uint32_t waiting_in;                /* the block that ends with the barrier */
    uint64_t held[BLR_BARRIERS];        /* lanes at barriers by number */
    uint64_t resting;                   /* lanes that run when no other can */
    uint32_t stop[BLR_LANES];           /* of held lanes: the block that ends with the barrier; of resting ones: the next block */
    uint32_t running;                   /* the block, where lanes may wait */
    uint32_t rests;                     /* how often lanes rested */
    bool is_loose;                      /* lanes go on without those of their sub-group that rest */
    bool is_restless;                   /* lanes rest that take an edge up to the running block */
    uint32_t resume;                    /* 1 + the operation from which the next block runs; 0 for its first */
    uint64_t first_item;                /* index of lane 0's work-item */
    const struct blr_spirv_op *end;     /* of the running operations; NULL after a fault */
    uint64_t *arrived;                  /* by block: lanes that wait to run it */
    uint64_t *occupied;                 /* one bit for each block with waiting lanes */
    struct blr_spirv_worker *worker;
    uint64_t expanded;                  /* mask that the arrays below hold */
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

/* Expands the mask to one element a lane, for operations that blend by it. */
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

/* Sends lanes to a block. */
static inline void blr_spirv_arrive(struct blr_spirv_batch *batch, uint32_t block, uint64_t lanes)
{
    batch->arrived[block] |= lanes;
    batch->occupied[block / 64] |= (uint64_t)1 << block % 64;
}

/* Whether an access is permitted; checks the worker's cached ranges, then the driver's allocations. */
bool blr_spirv_reachable(struct blr_spirv_batch *batch, uint64_t address, uint64_t size, bool write);

/* The same, with the bounds of the memory that contains it. */
bool blr_spirv_window(struct blr_spirv_batch *batch, uint64_t address, uint64_t size, bool write, uint64_t *begin, uint64_t *end);

/* Writes the file and line that OpLine gives for the instruction at a word; false without one. */
bool blr_spirv_source_line(const struct blr_spirv_module *module, uint32_t word, char *text, size_t size);

/* Ends the launch with an error message about one lane's fault; only the first fault is reported. */
void blr_spirv_fault(struct blr_spirv_batch *batch, const struct blr_spirv_op *op, uint32_t lane, blr_result_t result,
                     const char *format, ...) BLR_PRINTF(5, 6);

/* False when the part must stop: an earlier one failed, or the time limit is exceeded. Parts before a failed one
 * continue, so that the reported fault is the first in the order of work-items, independent of thread timing. */
bool blr_spirv_may_go_on(struct blr_spirv_worker *worker);

/* Runs a batch until all its lanes have returned or wait at a barrier, or it pauses. False when the launch must end. */
bool blr_spirv_run_batch(struct blr_spirv_batch *batch);

/* Runs work-items [begin, end) of a kernel without barriers, or work-groups [begin, end) of one with them. */
bool blr_spirv_run_items(struct blr_spirv_worker *worker, uint64_t begin, uint64_t end);
bool blr_spirv_run_groups(struct blr_spirv_worker *worker, uint64_t begin, uint64_t end);

/* The same for one work-group of a cooperative launch: its start, and its execution until it ends or pauses. */
void blr_spirv_start_group(struct blr_spirv_worker *worker, uint64_t group);
bool blr_spirv_run_group(struct blr_spirv_worker *worker);

/* A worker for a launch; NULL after blr_fail. */
struct blr_spirv_worker *blr_spirv_worker_new(struct blr_spirv_launch *launch);
void blr_spirv_worker_free(struct blr_spirv_worker *worker);

/* Releases all that a worker of a completed launch retains; it can then serve another launch of the same program
 * that needs no more memory. */
void blr_spirv_worker_rest(struct blr_spirv_worker *worker);
bool blr_spirv_worker_fits(const struct blr_spirv_worker *worker, const struct blr_spirv_launch *launch);
void blr_spirv_worker_start(struct blr_spirv_worker *worker, struct blr_spirv_launch *launch);
uint64_t blr_spirv_worker_bytes(const struct blr_spirv_worker *worker);

#endif
