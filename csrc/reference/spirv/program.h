/*
 * A decoded kernel: operations over registers, grouped into blocks.
 *
 * Work-items run 64 at a time, as the lanes of a batch. A register holds one scalar of every lane, contiguously; a
 * vector occupies as many consecutive registers as it has components. Most operations are therefore loops over
 * components x 64 numbers that compilers vectorise.
 *
 * Diverged lanes reconverge because the lowest-numbered block with waiting lanes always runs next.
 */
#ifndef BINDLESS_REFERENCE_SPIRV_PROGRAM_H
#define BINDLESS_REFERENCE_SPIRV_PROGRAM_H

#include "spirv/parse/module.h"
#include "spirv/execute/isa_names.h"

#define BLR_LANES 64u
#define BLR_ALL_LANES UINT64_MAX
#define BLR_PRINT_BYTES 8192u /* text of one call of printf at most; each call is written out at once */

struct blr_spirv_batch;
struct blr_spirv_op;

/* Executes an operation for all lanes of the batch; result is its destination. Operations with memory accesses
 * respect the batch's mask, all others compute a value for every lane. */
typedef void (*blr_spirv_run_t)(struct blr_spirv_batch *batch, const struct blr_spirv_op *op, unsigned char *result);

/* How an operation's result follows from affine operands (spirv/execute/affine.h). */
enum blr_affine_form {
    BLR_AFFINE_NONE,    /* lanes alone */
    BLR_AFFINE_COPY,
    BLR_AFFINE_ADD,
    BLR_AFFINE_SUBTRACT,
    BLR_AFFINE_MULTIPLY,
    BLR_AFFINE_SHIFT_LEFT,
    BLR_AFFINE_NEGATE,
    BLR_AFFINE_BOTH,
    BLR_AFFINE_EITHER,
    BLR_AFFINE_DIFFER,
    BLR_AFFINE_NOT,
    BLR_AFFINE_CONVERT_UNSIGNED,
    BLR_AFFINE_CONVERT_SIGNED,
    BLR_AFFINE_UNIFORM, /* uniform if all operands are */
    BLR_AFFINE_EQUAL,
    BLR_AFFINE_UNEQUAL,
    BLR_AFFINE_ABOVE,
    BLR_AFFINE_ABOVE_OR_EQUAL,
    BLR_AFFINE_BELOW,
    BLR_AFFINE_BELOW_OR_EQUAL,
    BLR_AFFINE_GREATER,
    BLR_AFFINE_GREATER_OR_EQUAL,
    BLR_AFFINE_LESS,
    BLR_AFFINE_LESS_OR_EQUAL,
    BLR_AFFINE_SELECT,
    BLR_AFFINE_OFFSET,
    BLR_AFFINE_INDEX,
    BLR_AFFINE_ARRAY_INDEX,
    BLR_AFFINE_LOAD,
    BLR_AFFINE_STORE,
    BLR_AFFINE_FORMS
};

struct blr_spirv_op {
    blr_spirv_run_t run;
    blr_spirv_run_t plain; /* on lanes, where run first considers affine operands */
    uint32_t result; /* register offsets in bytes from the start of the batch's registers */
    uint32_t in[4];
    uint32_t count;  /* elements of the result: components x lanes */
    uint8_t element; /* bytes of each */
    bool blend;      /* inactive lanes keep their previous value; run leaves that to its caller */
    bool keeps;      /* the same, but run itself keeps them */
    uint8_t form;    /* enum blr_affine_form */
    uint8_t expand;  /* bit k: operand k may be affine, and lanes are read of it */
    bool is_affine;  /* the result may be affine */
    uint32_t word;   /* word in the module */
    uint64_t literal;
    const void *info;
};

enum blr_spirv_end {
    BLR_END_BRANCH,  /* one edge */
    BLR_END_CHOICE,  /* two edges: condition true, condition false */
    BLR_END_SWITCH,  /* the first edge is the default, each other one has a literal */
    BLR_END_BARRIER, /* one edge, taken when all work-items of the group have arrived */
    BLR_END_RETURN
};

/* Target block of lanes, and the copies made on the edge. */
struct blr_spirv_edge {
    uint32_t target;
    uint32_t first_move, end_move;
};

struct blr_spirv_block {
    uint32_t first, end; /* range of operations */
    enum blr_spirv_end kind;
    uint32_t condition;  /* register of the condition or of a switch's selector */
    bool is_affine;      /* it may be affine */
    uint32_t size;       /* bytes of the selector */
    uint32_t first_edge, edge_count;
    const uint64_t *literals;
    bool loops;          /* a back edge leaves this block */
    bool yields;         /* lanes rest behind it until no other one can run */
    bool gathers;        /* it begins with an operation of a sub-group, for which diverged lanes wait */
    bool is_numbered;    /* a barrier by number: its operation waits */
    bool meets;          /* a barrier with an operation that executes once when all work-items have arrived */
    uint32_t meeting;    /* that operation */
};

/* A register that is initialised before execution. */
enum blr_spirv_preset_kind {
    BLR_PRESET_BYTES,    /* the same scalar for all lanes */
    BLR_PRESET_ARGUMENT, /* one scalar of an argument */
    BLR_PRESET_PRIVATE,  /* address of a private variable */
    BLR_PRESET_LOCAL     /* address of a work-group variable */
};

struct blr_spirv_preset {
    enum blr_spirv_preset_kind kind;
    bool is_affine;
    uint32_t place;
    uint8_t size;
    uint32_t argument;
    uint64_t offset;     /* offset of a variable, or of the scalar in the argument */
    uint64_t bytes;
};

struct blr_spirv_builtin_use {
    enum blr_spirv_builtin what;
    uint32_t place;
    uint32_t components;
    uint8_t size;
    uint32_t reads;      /* bit n: an operation on affine values reads the component at byte n of each lane */
    bool is_affine;      /* components that are affine are described as such */
    bool has_lanes;      /* and their lanes are written, too */
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
    bool by_value;        /* pointer to a private copy of the argument */
    uint64_t private_offset;
};

/* A variable in the work-group's memory with the addresses of others there, written before a worker's first launch. */
struct blr_spirv_table {
    const struct blr_spirv_constant *content;
    uint64_t offset; /* its own offset */
    uint64_t base;   /* offset of what the addresses are relative to */
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
    struct blr_spirv_table *tables;
    uint32_t table_count;
    const struct blr_spirv_argument *arguments;
    uint32_t argument_count;
    uint64_t register_bytes;
    uint64_t scratch_bytes;   /* size of an operation's largest result */
    uint64_t private_bytes;   /* private memory of a work-item */
    uint64_t private_end, private_alignment; /* of its variables */
    uint64_t local_bytes;     /* memory of a work-group, without arguments */
    const struct blr_spirv_module *modules; /* modules whose variables it can access */
    uint32_t module_count;
    bool has_barriers;
    bool has_loops;
    bool uses_local;
    bool uses_groups;         /* results depend on the grouping of work-items */
    bool is_independent;      /* work-items may wait for others of their sub-group, and at different barriers */
    bool has_atomics;
    uint32_t sub_group_size;  /* lanes of a sub-group: a part of a batch, from a multiple of the size on */
};

/* Decodes an entry point of one of several parsed and linked modules. */
const struct blr_spirv_program *blr_spirv_decode(struct blr_spirv_module *modules, uint32_t count, uint32_t number,
                                                 const struct blr_spirv_entry *entry);

#define BLR_SPIRV_MAX_OPS (1u << 20)
#define BLR_SPIRV_MAX_REGISTERS ((uint64_t)64 << 20)
#define BLR_SPIRV_MAX_PRIVATE ((uint64_t)1 << 20)

#endif
