/*
 * The program builder: operations over numbered values, blocks and edges, with most calls in place.
 *
 * A value is a sequence of registers. Extracting a part or forwarding a value creates no operation: the result is the
 * same value at a byte offset within each lane.
 */
#ifndef BINDLESS_REFERENCE_SPIRV_COMPILE_BUILDER_H
#define BINDLESS_REFERENCE_SPIRV_COMPILE_BUILDER_H

#include "spirv/program.h"

#define BLR_NONE UINT32_MAX
#define BLR_SPIRV_DEEPEST_CALL 64u

/* The meaning of an id in the function being decoded. */
struct blr_spirv_ref {
    uint32_t value;  /* value number plus 1; 0 for undefined */
    uint32_t lane;   /* byte offset of the part in each lane of the value */
    const struct blr_spirv_type *type;
    uint32_t builtin; /* 1: a pointer to a built-in variable; the value is the variable's registers */
};

struct blr_spirv_value {
    uint32_t lane_bytes;
    uint32_t block;  /* the only block that uses it, or BLR_NONE */
    bool crosses;    /* used by several blocks */
    bool preset;     /* written before the kernel starts */
    bool is_affine;  /* can be an affine value of one scalar, or is a built-in variable */
    bool is_strided; /* if it is affine, then hardly uniform: it follows from the number of the lane */
    bool has_lanes;  /* its lanes are always written, too */
    uint32_t reads;  /* bit n: an operation on affine values reads the part at byte n of each lane */
    const unsigned char *constant_bytes; /* bytes of a lane if known at decoding, else NULL */
    uint32_t place;
    uint32_t first, last; /* first and last operation that uses it, within its block */
};

/* An operation before register allocation: operands are values. */
struct blr_spirv_step {
    struct blr_spirv_op op;
    uint32_t result, result_lane;
    uint32_t in[4], in_lane[4];
    bool pure; /* no effect except its result */
};

struct blr_spirv_branch {
    uint32_t from, target; /* blocks */
    uint32_t label;        /* id of the source block, for phis */
    uint32_t next_in;      /* next edge into the same block */
    uint32_t first_move, end_move;
};

struct blr_spirv_part {
    uint32_t first, end;
    enum blr_spirv_end kind;
    uint32_t condition, condition_lane; /* value and byte offset of the condition */
    uint32_t size;
    uint32_t first_edge, edge_count;
    const uint64_t *literals;
    uint32_t edges_in;     /* first edge into the block */
    uint32_t meeting;      /* of a barrier: the step executed once for the group when all work-items have arrived, or
                            * BLR_NONE */
    uint32_t behind;       /* of a call of a shared function: the block behind it; else BLR_NONE */
    bool is_end;           /* the end of a shared function: its edges lead behind the calls */
    bool yields, gathers, is_numbered; /* as in struct blr_spirv_block */
    uint32_t number;       /* position in execution order; BLR_NONE if unreachable */
};

/* A preset whose register is given by value and lane offset. */
struct blr_spirv_filling {
    struct blr_spirv_preset preset;
    uint32_t value, lane;
};

/* A function whose blocks exist once (calls.c). */
struct blr_spirv_shared {
    struct blr_spirv_ref *parameters; /* NULL before the first call */
    struct blr_spirv_ref result, site; /* what it returns, and the number of the call */
    uint32_t first, end;              /* blocks */
    uint32_t *behind;                 /* by call: the block behind it */
    uint32_t count, capacity;
};

/* The builder's state for one of the linked modules. */
struct blr_spirv_unit {
    struct blr_spirv_module *module;
    struct blr_spirv_ref *refs;      /* by id */
    uint32_t *labels;                /* by id: block number plus 1 */
    struct blr_spirv_shared **shared; /* by function: NULL for calls in place; or NULL */
    bool *open;                      /* by function number: currently being decoded. The builder holds the flags, because a
                                      * refused kernel leaves functions partially decoded */
    uint64_t local_offset;           /* offset of its work-group variables */
};

/* A call of a function that no module defines (undefined_calls.c). */
struct blr_spirv_undefined {
    uint32_t unit, word, part;
    const char *name;
};

/* Return point and result of a call. */
struct blr_spirv_call {
    uint32_t continuation;
    struct blr_spirv_ref result;
    const struct blr_spirv_type *type; /* return type of the function */
    bool returns_value;
};

struct blr_spirv_builder {
    struct blr_spirv_unit *units;
    uint32_t unit;                   /* unit being decoded: module, refs and labels belong to it */
    struct blr_spirv_module *module;
    struct blr_spirv_build *build;
    struct blr_spirv_program *program;
    struct blr_spirv_ref *refs;      /* by id */
    uint32_t *labels;                /* by id: block number plus 1 */
    uint64_t effort;
    struct blr_spirv_step *steps;
    uint32_t step_count, step_capacity;
    struct blr_spirv_value *values;
    uint32_t value_count, value_capacity;
    struct blr_spirv_part *parts;
    uint32_t part_count, part_capacity;
    struct blr_spirv_branch *branches;
    uint32_t branch_count, branch_capacity;
    struct blr_spirv_filling *fillings;
    uint32_t filling_count, filling_capacity;
    struct blr_spirv_builtin_use *builtins;
    uint32_t *builtin_values;
    struct blr_spirv_shared **shared; /* by the order of their ends: callees first */
    uint32_t shared_count;
    bool calls_pointers;             /* the kernel calls pointers to functions */
    struct blr_spirv_undefined *undefined;
    uint32_t undefined_count, undefined_capacity;
    uint32_t table_capacity;         /* of the program's tables */
    uint32_t builtin_count, builtin_capacity, builtin_value_capacity;
    const struct blr_spirv_function *function; /* function being decoded */
    struct blr_spirv_once *once;     /* state of constant folding, created at first use */
    uint32_t current;                /* block being filled */
    uint32_t gathered;               /* the step behind the last operation of a sub-group */
    uint32_t depth;                  /* nesting depth of calls */
};

/* Marks the values that can be affine. */
void blr_spirv_find_affine(struct blr_spirv_builder *builder, const uint32_t *order, uint32_t count);

/* Makes the operation of a step one on affine values, if its operands can be affine. */
void blr_spirv_use_affine(const struct blr_spirv_builder *builder, const struct blr_spirv_step *step, struct blr_spirv_op *op);

/* Creates a value with a number of bytes a lane. */
uint32_t blr_spirv_new_value(struct blr_spirv_builder *builder, uint32_t lane_bytes);

/* Creates a value for the result of the instruction at word. */
struct blr_spirv_ref blr_spirv_result(struct blr_spirv_builder *builder, uint32_t word);

/* Binds the result of the instruction at word to a reference. */
void blr_spirv_bind(struct blr_spirv_builder *builder, uint32_t word, struct blr_spirv_ref ref);

/* The value of an operand. A pointer to a built-in variable becomes the address of a copy of the variable. */
struct blr_spirv_ref blr_spirv_operand(struct blr_spirv_builder *builder, uint32_t word, uint32_t id);

/* Copies the built-in variable, or its component, that a reference points to into the work-item's private memory. */
struct blr_spirv_ref blr_spirv_addressed(struct blr_spirv_builder *builder, uint32_t word, struct blr_spirv_ref ref);

/* The reference of an operand, where a pointer to a built-in variable stays one. */
struct blr_spirv_ref blr_spirv_any_operand(struct blr_spirv_builder *builder, uint32_t word, uint32_t id);

/* Type of the result of the instruction at word. */
struct blr_spirv_type *blr_spirv_result_type(struct blr_spirv_builder *builder, uint32_t word);

/* Appends an operation to the current block; the caller sets run. The pointer is valid until the next call. */
struct blr_spirv_step *blr_spirv_step(struct blr_spirv_builder *builder, uint32_t word);
void blr_spirv_step_result(struct blr_spirv_step *step, struct blr_spirv_ref ref, uint32_t lane, uint32_t element,
                           uint32_t components);
void blr_spirv_step_input(struct blr_spirv_step *step, uint32_t number, struct blr_spirv_ref ref);

/* A work-group barrier with an operation that executes once, when all work-items have arrived: run receives the
 * worker's first batch, and accesses the registers of the waiting lanes of every batch. */
struct blr_spirv_step *blr_spirv_meeting(struct blr_spirv_builder *builder, uint32_t word);

/* Begins an operation of a sub-group, or the meeting of its lanes: what precedes it needs no others. */
void blr_spirv_gather(struct blr_spirv_builder *builder);

/* The end of the sequence of equally sized scalars that starts at i. */
uint32_t blr_spirv_of_one_size(const struct blr_spirv_leaf *leaves, uint32_t count, uint32_t i);

/* Copies a value of a type into a part of another: one operation for each sequence of equally sized scalars. */
void blr_spirv_copy(struct blr_spirv_builder *builder, uint32_t word, struct blr_spirv_ref to, uint32_t to_lane,
                    struct blr_spirv_ref from, struct blr_spirv_type *type);

/* A uniform integer constant with a number of bytes. */
struct blr_spirv_ref blr_spirv_number(struct blr_spirv_builder *builder, uint64_t number, uint8_t size);

/* A uniform constant of a type, from the bytes of one lane. */
struct blr_spirv_ref blr_spirv_known(struct blr_spirv_builder *builder, const struct blr_spirv_type *type, const unsigned char *bytes,
                                     uint32_t size);

/* The bytes of a lane of an operand, or NULL where they are known only at execution. */
const unsigned char *blr_spirv_known_bytes(const struct blr_spirv_builder *builder, struct blr_spirv_ref ref);

/* Adds a preset of one register. */
void blr_spirv_fill(struct blr_spirv_builder *builder, struct blr_spirv_filling filling);

/* Decoders of instruction groups; false for an instruction of another group. */
bool blr_spirv_decode_composite(struct blr_spirv_builder *builder, uint32_t word);
bool blr_spirv_decode_arithmetic(struct blr_spirv_builder *builder, uint32_t word);
bool blr_spirv_decode_bits(struct blr_spirv_builder *builder, uint32_t word);
bool blr_spirv_decode_memory(struct blr_spirv_builder *builder, uint32_t word);
bool blr_spirv_decode_atomic(struct blr_spirv_builder *builder, uint32_t word);
bool blr_spirv_decode_image(struct blr_spirv_builder *builder, uint32_t word);
bool blr_spirv_decode_clock(struct blr_spirv_builder *builder, uint32_t word);
bool blr_spirv_decode_extended(struct blr_spirv_builder *builder, uint32_t word);
bool blr_spirv_decode_printf(struct blr_spirv_builder *builder, uint32_t word);
/* Calls of imported functions that let lanes wait for others; false for other names. */
bool blr_spirv_decode_waits(struct blr_spirv_builder *builder, uint32_t word, const char *name);

/* A call of the imported function that checks an index of an array; false for other names. */
bool blr_spirv_decode_array_index(struct blr_spirv_builder *builder, uint32_t word, const char *name);
bool blr_spirv_decode_group(struct blr_spirv_builder *builder, uint32_t word);

/* Address of a function variable in the work-item's private memory, with the type's alignment or a larger one. */
struct blr_spirv_ref blr_spirv_private(struct blr_spirv_builder *builder, uint32_t word,
                                       const struct blr_spirv_type *pointer, const struct blr_spirv_type *holds,
                                       uint64_t alignment, uint64_t *offset);

/* Loads and stores a whole value: one operation for each sequence of scalars that are contiguous in memory. */
void blr_spirv_load(struct blr_spirv_builder *builder, uint32_t word, struct blr_spirv_ref pointer,
                    struct blr_spirv_ref to, struct blr_spirv_type *type);
void blr_spirv_store(struct blr_spirv_builder *builder, uint32_t word, struct blr_spirv_ref pointer,
                     struct blr_spirv_ref from, struct blr_spirv_type *type);

/* Blocks while decoding: a new one, its start and end, and edges from the current one. */
uint32_t blr_spirv_new_part(struct blr_spirv_builder *builder);
void blr_spirv_open_part(struct blr_spirv_builder *builder, uint32_t part);
struct blr_spirv_part *blr_spirv_close_part(struct blr_spirv_builder *builder, enum blr_spirv_end kind);
void blr_spirv_add_edge(struct blr_spirv_builder *builder, uint32_t label, uint32_t target);

/* Chooses the shared functions of a kernel, before it is decoded. */
void blr_spirv_choose_shared(struct blr_spirv_builder *builder, const struct blr_spirv_function *kernel);

/* Decodes calls of functions by name, and by pointer. */
void blr_spirv_decode_call(struct blr_spirv_builder *builder, uint32_t word);
void blr_spirv_decode_pointer_call(struct blr_spirv_builder *builder, uint32_t word);

/* Calls a function of a unit, whose types the arguments have, and continues behind the call. result receives its value; it
 * is undefined for functions without. */
void blr_spirv_call(struct blr_spirv_builder *builder, uint32_t word, uint32_t unit, struct blr_spirv_function *callee,
                    const struct blr_spirv_ref *arguments, struct blr_spirv_ref result);

/* False for a function that is being decoded, unless pointers decide whether it calls itself, and for deep nesting. */
bool blr_spirv_can_call(struct blr_spirv_builder *builder, uint32_t unit, const struct blr_spirv_function *function);

/* Decodes a function of the current unit, behind the current block; call is NULL for the kernel. */
void blr_spirv_decode_function(struct blr_spirv_builder *builder, uint32_t word, struct blr_spirv_function *function,
                               const struct blr_spirv_call *call);

/* Switches to decoding another linked module. */
void blr_spirv_enter(struct blr_spirv_builder *builder, uint32_t unit);

/* The flag that a unit's function is being decoded. */
bool *blr_spirv_is_open(struct blr_spirv_builder *builder, uint32_t unit, const struct blr_spirv_function *function);

/* Notes a call of a function that no module defines; refuses the noted calls that can be reached, once all blocks are
 * known. */
void blr_spirv_note_undefined(struct blr_spirv_builder *builder, uint32_t word, const char *name);
void blr_spirv_check_undefined(struct blr_spirv_builder *builder);

/* Refuses small modules whose inlining would take too long. */
void blr_spirv_spend(struct blr_spirv_builder *builder, uint32_t word, uint32_t effort);

/* Connects the ends of shared functions with the blocks behind their calls. */
void blr_spirv_end_shared(struct blr_spirv_builder *builder);

/* An empty block with one edge to another block. */
uint32_t blr_spirv_bridge(struct blr_spirv_builder *builder, uint32_t target);

/* Numbers the blocks in execution order, without unreachable ones. order has room for twice as many as there are and
 * receives the blocks by number; returns their number. */
uint32_t blr_spirv_order(struct blr_spirv_builder *builder, uint32_t *order);

/* Merges blocks that always follow each other, and removes operations whose results are unused. Takes and returns
 * the order of blocks. */
uint32_t blr_spirv_join(struct blr_spirv_builder *builder, uint32_t *order, uint32_t count);

/* Allocates registers for all values and creates the final arrays of the program. */
void blr_spirv_finish(struct blr_spirv_builder *builder, const uint32_t *order, uint32_t count);

#endif
