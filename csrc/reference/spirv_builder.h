/*
 * A program while it is being made: operations over numbered values, blocks and edges, calls already put in place.
 *
 * A value is a number of registers. What takes a value apart or passes it on makes no operation: it is the same value,
 * or a part of it that starts behind so many bytes of each lane.
 */
#ifndef BLR_SPIRV_BUILDER_H
#define BLR_SPIRV_BUILDER_H

#include "spirv_program.h"

#define BLR_NONE UINT32_MAX

/* What an id stands for in the function that is being decoded. */
struct blr_spirv_ref {
    uint32_t value;  /* plus 1; 0 for not defined */
    uint32_t lane;   /* bytes before it in each lane of the value */
    const struct blr_spirv_type *type;
    uint32_t builtin; /* 1: a pointer to a built-in variable, whose registers the value is */
};

struct blr_spirv_value {
    uint32_t lane_bytes;
    uint32_t block;  /* the only one that needs it, or BLR_NONE */
    bool crosses;    /* several blocks need it */
    bool preset;     /* filled before anything runs */
    const unsigned char *known; /* the bytes of a lane where they are known when the program is made, else NULL */
    uint32_t place;
    uint32_t first, last; /* operations that name it, within its block */
};

/* An operation whose operands are values. */
struct blr_spirv_step {
    struct blr_spirv_op op;
    uint32_t result, result_lane;
    uint32_t in[4], in_lane[4];
    bool pure; /* does nothing but make its result */
};

struct blr_spirv_branch {
    uint32_t from, target; /* blocks */
    uint32_t label;        /* id of the block that it leaves, for phis */
    uint32_t next_in;      /* the next edge into the same block */
    uint32_t first_move, end_move;
};

struct blr_spirv_part {
    uint32_t first, end;
    enum blr_spirv_end kind;
    uint32_t condition, condition_lane; /* value */
    uint32_t size;
    uint32_t first_edge, edge_count;
    const uint64_t *literals;
    uint32_t edges_in;     /* the first of the edges into it */
    uint32_t meeting;      /* of a barrier: the step that is done once for the group when all are there, or BLR_NONE */
    uint32_t number;       /* in the order in which blocks run, BLR_NONE for one that is never reached */
};

/* A preset whose register is told by value and lane. */
struct blr_spirv_filling {
    struct blr_spirv_preset preset;
    uint32_t value, lane;
};

/* What a builder knows of one of the modules that are linked. */
struct blr_spirv_unit {
    struct blr_spirv_module *module;
    struct blr_spirv_ref *refs;      /* by id */
    uint32_t *labels;                /* by id: block plus 1 */
    bool *open;                      /* by number of the function: it is being decoded */
    uint64_t local_offset;           /* of its variables in the work-group's memory */
};

struct blr_spirv_builder {
    struct blr_spirv_unit *units;
    uint32_t unit;                   /* that is being decoded: module, refs and labels are its own */
    struct blr_spirv_module *module;
    struct blr_spirv_build *build;
    struct blr_spirv_program *program;
    struct blr_spirv_ref *refs;      /* by id */
    uint32_t *labels;                /* by id: block plus 1 */
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
    uint32_t builtin_count, builtin_capacity, builtin_value_capacity;
    const struct blr_spirv_function *function; /* being decoded */
    struct blr_spirv_once *once;     /* what runs operations on known values, once there are any */
    uint32_t current;                /* block being filled */
    uint32_t depth;                  /* of calls */
};

/* A new value of so many bytes a lane. */
uint32_t blr_spirv_new_value(struct blr_spirv_builder *builder, uint32_t lane_bytes);

/* A new value for the result of the instruction at word. */
struct blr_spirv_ref blr_spirv_result(struct blr_spirv_builder *builder, uint32_t word);

/* Makes the result of the instruction at word stand for this. */
void blr_spirv_bind(struct blr_spirv_builder *builder, uint32_t word, struct blr_spirv_ref ref);

/* What an operand stands for: a value. A pointer to a built-in variable is the address of a copy of it. */
struct blr_spirv_ref blr_spirv_operand(struct blr_spirv_builder *builder, uint32_t word, uint32_t id);

/* A copy in the work-item's own memory of the built-in variable, or component of one, that a reference points to. */
struct blr_spirv_ref blr_spirv_addressed(struct blr_spirv_builder *builder, uint32_t word, struct blr_spirv_ref ref);

/* What an operand stands for, where a pointer to a built-in variable stays one. */
struct blr_spirv_ref blr_spirv_any_operand(struct blr_spirv_builder *builder, uint32_t word, uint32_t id);

/* The type of the result of the instruction at word. */
struct blr_spirv_type *blr_spirv_result_type(struct blr_spirv_builder *builder, uint32_t word);

/* A new operation at the end of the block being filled; run is still to be set. The pointer is good until the next. */
struct blr_spirv_step *blr_spirv_step(struct blr_spirv_builder *builder, uint32_t word);
void blr_spirv_step_result(struct blr_spirv_step *step, struct blr_spirv_ref ref, uint32_t lane, uint32_t element,
                           uint32_t components);
void blr_spirv_step_input(struct blr_spirv_step *step, uint32_t number, struct blr_spirv_ref ref);

/* A barrier of the work-group with an operation that is done once, when all its work-items are there: run is called with the
 * worker's first batch, and reads and writes registers of the lanes of every batch that wait. */
struct blr_spirv_step *blr_spirv_meeting(struct blr_spirv_builder *builder, uint32_t word);

/* The end of the scalars from i on that are of one size. */
uint32_t blr_spirv_of_one_size(const struct blr_spirv_leaf *leaves, uint32_t count, uint32_t i);

/* Copies a value of a type into a part of another: an operation for each run of scalars of one size. */
void blr_spirv_copy(struct blr_spirv_builder *builder, uint32_t word, struct blr_spirv_ref to, uint32_t to_lane,
                    struct blr_spirv_ref from, struct blr_spirv_type *type);

/* A value that is the same in all lanes: a whole number of so many bytes. */
struct blr_spirv_ref blr_spirv_number(struct blr_spirv_builder *builder, uint64_t number, uint8_t size);

/* A value of so many bytes a lane that is the same in all lanes: scalars of one size. */
struct blr_spirv_ref blr_spirv_known(struct blr_spirv_builder *builder, const struct blr_spirv_type *type, const unsigned char *bytes,
                                     uint32_t size);

/* The bytes of a lane of an operand, or NULL where they are known only when the kernel runs. */
const unsigned char *blr_spirv_known_bytes(const struct blr_spirv_builder *builder, struct blr_spirv_ref ref);

/* A filling of one register. */
void blr_spirv_fill(struct blr_spirv_builder *builder, struct blr_spirv_filling filling);

/* Decoders of groups of instructions; false for an instruction of another group. */
bool blr_spirv_decode_composite(struct blr_spirv_builder *builder, uint32_t word);
bool blr_spirv_decode_arithmetic(struct blr_spirv_builder *builder, uint32_t word);
bool blr_spirv_decode_bits(struct blr_spirv_builder *builder, uint32_t word);
bool blr_spirv_decode_memory(struct blr_spirv_builder *builder, uint32_t word);
bool blr_spirv_decode_atomic(struct blr_spirv_builder *builder, uint32_t word);
bool blr_spirv_decode_image(struct blr_spirv_builder *builder, uint32_t word);
bool blr_spirv_decode_extended(struct blr_spirv_builder *builder, uint32_t word);
bool blr_spirv_decode_printf(struct blr_spirv_builder *builder, uint32_t word);
bool blr_spirv_decode_group(struct blr_spirv_builder *builder, uint32_t word);

/* A variable of a function: an address in each work-item's own memory. */
struct blr_spirv_ref blr_spirv_private(struct blr_spirv_builder *builder, uint32_t word,
                                       const struct blr_spirv_type *pointer, const struct blr_spirv_type *holds,
                                       uint64_t *offset);

/* Loads and stores a whole value: an operation for each run of scalars that lie together. */
void blr_spirv_load(struct blr_spirv_builder *builder, uint32_t word, struct blr_spirv_ref pointer,
                    struct blr_spirv_ref to, struct blr_spirv_type *type);
void blr_spirv_store(struct blr_spirv_builder *builder, uint32_t word, struct blr_spirv_ref pointer,
                     struct blr_spirv_ref from, struct blr_spirv_type *type);

/* An empty block that leads to another. */
uint32_t blr_spirv_bridge(struct blr_spirv_builder *builder, uint32_t target);

/* Numbers the blocks in the order in which they run, those never reached apart. order has room for twice as many as there
 * are: the blocks by number; returns how many. */
uint32_t blr_spirv_order(struct blr_spirv_builder *builder, uint32_t *order);

/* Makes one block of those that always run one after the other, and leaves out operations whose results nothing needs.
 * Takes and gives the order of blocks. */
uint32_t blr_spirv_join(struct blr_spirv_builder *builder, uint32_t *order, uint32_t count);

/* Gives every value its registers and makes the final arrays of the program. */
void blr_spirv_finish(struct blr_spirv_builder *builder, const uint32_t *order, uint32_t count);

#endif
