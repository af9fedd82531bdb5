/*
 * A kernel ready to run: a stream of operations over registers, cut into blocks.
 *
 * Work-items run 64 at a time, as the lanes of a batch. A register holds one scalar of every lane, one beside the
 * other; a vector is as many registers in a row as it has components. So most operations are a loop over
 * components x 64 numbers that compilers turn into vector instructions.
 *
 * Blocks are numbered so that lanes which took different ways meet again when always the lowest block that any lane
 * has come to runs next.
 */
#ifndef BLR_SPIRV_PROGRAM_H
#define BLR_SPIRV_PROGRAM_H

#include "spirv_module.h"
#include "spirv_set_names.h"

#define BLR_LANES 64u
#define BLR_ALL_LANES UINT64_MAX

struct blr_spirv_batch;
struct blr_spirv_op;

/* Does an operation for all lanes of the batch; result is where it goes. Operations that touch memory mind the
 * batch's mask, all others compute something for every lane. */
typedef void (*blr_spirv_run_t)(struct blr_spirv_batch *batch, const struct blr_spirv_op *op, unsigned char *result);

struct blr_spirv_op {
    blr_spirv_run_t run;
    uint32_t result; /* places of registers: bytes from the start of the batch's */
    uint32_t in[4];
    uint32_t count;  /* elements of the result: components x lanes */
    uint8_t element; /* bytes of each */
    bool blend;      /* lanes that do not take part keep what they had */
    uint32_t word;   /* of the module */
    uint64_t literal;
    const void *info;
};

enum blr_spirv_end {
    BLR_END_BRANCH,  /* one edge */
    BLR_END_CHOICE,  /* two edges: where the condition holds, and where not */
    BLR_END_SWITCH,  /* the first edge is the default, each other has a literal */
    BLR_END_BARRIER, /* one edge, once all work-items of the group are here */
    BLR_END_RETURN
};

/* Where lanes go, and what is copied for them on the way. */
struct blr_spirv_edge {
    uint32_t target;
    uint32_t first_move, end_move;
};

struct blr_spirv_block {
    uint32_t first, end; /* operations */
    enum blr_spirv_end kind;
    uint32_t condition;  /* register of the condition or of what a switch looks at */
    uint32_t size;       /* bytes of the latter */
    uint32_t first_edge, edge_count;
    const uint64_t *literals;
    bool loops;          /* an edge goes back from here */
    bool meets;          /* an operation is done once for the group when all work-items wait at this barrier */
    uint32_t meeting;    /* that one */
};

/* A register that is filled before anything runs. */
enum blr_spirv_preset_kind {
    BLR_PRESET_BYTES,    /* the same scalar for all lanes */
    BLR_PRESET_ARGUMENT, /* one scalar of an argument */
    BLR_PRESET_PRIVATE,  /* address of a work-item's own variable */
    BLR_PRESET_LOCAL     /* address of a work-group's variable */
};

struct blr_spirv_preset {
    enum blr_spirv_preset_kind kind;
    uint32_t place;
    uint8_t size;
    uint32_t argument;
    uint64_t offset;     /* of a variable, or of the scalar in the argument */
    uint64_t bytes;
};

struct blr_spirv_builtin_use {
    enum blr_spirv_builtin what;
    uint32_t place;
    uint32_t components;
    uint8_t size;
};

enum blr_spirv_argument_kind {
    BLR_ARGUMENT_VALUE = 0,
    BLR_ARGUMENT_POINTER = 1,
    BLR_ARGUMENT_LOCAL = 2,
    BLR_ARGUMENT_IMAGE = 3,
    BLR_ARGUMENT_SAMPLER = 4
};

struct blr_spirv_argument {
    enum blr_spirv_argument_kind kind;
    uint64_t size;
    const char *name;
    bool by_value;        /* a pointer to a copy of the work-item's own */
    uint64_t private_offset;
};

struct blr_spirv_program {
    const struct blr_spirv_entry *entry;
    const struct blr_spirv_op *ops;
    uint32_t op_count;
    const struct blr_spirv_block *blocks;
    uint32_t block_count, first_block;
    const struct blr_spirv_edge *edges;
    const struct blr_spirv_preset *presets;
    uint32_t preset_count;
    const struct blr_spirv_builtin_use *builtins;
    uint32_t builtin_count;
    const struct blr_spirv_argument *arguments;
    uint32_t argument_count;
    uint64_t register_bytes;
    uint64_t scratch_bytes;   /* the largest result of one operation */
    uint64_t private_bytes;   /* of each work-item */
    uint64_t local_bytes;     /* of a work-group, arguments not counted */
    const struct blr_spirv_module *modules; /* whose variables it may reach */
    uint32_t module_count;
    bool has_barriers;
    bool has_loops;
    bool uses_local;
    bool uses_groups;         /* a result depends on how work-items are grouped */
};

/* Decodes an entry point of one of several modules that were read and linked. */
const struct blr_spirv_program *blr_spirv_decode(struct blr_spirv_module *modules, uint32_t count, uint32_t number,
                                                 const struct blr_spirv_entry *entry);

#define BLR_SPIRV_MAX_OPS (1u << 20)
#define BLR_SPIRV_MAX_REGISTERS ((uint64_t)64 << 20)
#define BLR_SPIRV_MAX_PRIVATE ((uint64_t)1 << 20)

#endif
