/*
 * Translation of a function: blocks of its instructions in order of a search, each with words of SPIR-V of its own, and the
 * values of variables (registers, arguments of calls, results) in static single assignment.
 */
#ifndef BINDLESS_PTX_EMIT_H
#define BINDLESS_PTX_EMIT_H

#include "module.h"
#include "words.h"

enum ptx_end { PTX_END_BRANCH, PTX_END_CHOICE, PTX_END_SWITCH, PTX_END_RETURN, PTX_END_STOP };

struct ptx_block {
    uint32_t first, end;         /* instructions */
    bool is_decided;             /* its instruction's guard was that of the branch to it */
    enum ptx_end kind;
    const struct ptx_instruction *last; /* that chooses the successor */
    uint32_t *successors;
    uint32_t successor_count, successor_capacity;
    uint32_t *predecessors;
    uint32_t predecessor_count, predecessor_capacity;
    bool is_reached;
    uint32_t number;             /* in the order */
    uint32_t dominator;
    uint32_t *frontier;          /* of dominance */
    uint32_t frontier_count, frontier_capacity;
    uint32_t first_phi;          /* 1 + its number */
    uint32_t label, last_label;  /* ids; a block may become several in SPIR-V */
    struct ptx_buffer words;
};

/* The value of a variable at the end of a block. */
struct ptx_definition {
    uint64_t key; /* 1 + (block << 32 | variable) */
    uint32_t id;
};

struct ptx_phi {
    uint32_t block, variable, id;
    uint32_t next;               /* 1 + the number of the block's next phi */
    uint32_t *operands;          /* one for each predecessor */
    uint32_t same;               /* the id that it equals, or 0 */
};

/* Blocks that define a variable. */
struct ptx_sites {
    uint32_t *blocks;
    uint32_t count, capacity;
    bool is_placed; /* the possible phis are known */
};

/* What is known of a value: the address of a symbol. */
struct ptx_known {
    const struct ptx_symbol *symbol;
    uint64_t offset;
};

/* A parameter of an entry that is an aggregate: its accesses read members of a struct, or memory. */
struct ptx_aggregate {
    bool in_memory;
    uint64_t *offsets;
    enum ptx_kind *kinds;
    uint32_t count, capacity;
};

#define PTX_APPROXIMATIONS 6u
#define PTX_IMPORTS 4u /* waits/imports.h */

/* What all functions share. */
struct ptx_program {
    uint32_t globals_base, shared_variable; /* ids, 0: none */
    uint32_t builtins[64];                  /* variables, by the number of the built-in */
    uint32_t approximations[PTX_APPROXIMATIONS]; /* variables: the tables of approx.c */
    uint32_t imports[PTX_IMPORTS];          /* functions of the executor */
    bool numbers_barriers;                  /* a barrier has another number than 0, or a count */
    struct ptx_known *facts;                /* by id */
    uint32_t known_capacity;
};

struct ptx_emitter {
    struct ptx_program *program;
    struct ptx_build *build;
    struct ptx_module *module;
    struct ptx_words *words;
    struct ptx_function *function;
    uint32_t level;              /* of its recursion */
    struct ptx_block *blocks;
    uint32_t block_count, block_capacity;
    uint32_t *order;             /* reachable blocks */
    uint32_t order_count;
    uint32_t block;              /* the current one */
    struct ptx_buffer *out;      /* its words */
    const struct ptx_instruction *instruction;
    struct ptx_value guard;      /* id 0: none; else writes keep the old value where it is false */
    struct ptx_definition *definitions;
    uint32_t definition_count, definition_room;
    struct ptx_sites *sites;     /* by variable */
    struct ptx_phi *phis;
    uint32_t phi_count, phi_capacity;
    struct ptx_buffer variables, prologue; /* of the first block */
    uint32_t *parameters;        /* ids */
    struct ptx_aggregate *aggregates; /* of parameters of an entry */
    uint32_t *local_addresses;   /* ids, by number of the local variable */
    uint32_t *parameter_addresses, *result_addresses;
    uint32_t shared_base;
    struct ptx_steady {
        const char *name;
        uint32_t component;
        struct ptx_value value;
    } specials[48];              /* special registers that were read */
    uint32_t special_count;
    uint32_t carry;              /* the variable of add.cc */
};

/* ---- flow.c: blocks of the function */
void ptx_find_blocks(struct ptx_emitter *emitter);

/* ---- dominance.c: which blocks precede a block on every path, and where variables are defined */
void ptx_find_dominators(struct ptx_emitter *emitter);
void ptx_find_sites(struct ptx_emitter *emitter);

/* ---- ssa.c: variables */
enum ptx_kind ptx_kind_of(enum ptx_type type);
uint32_t ptx_variable_of(const struct ptx_emitter *emitter, const struct ptx_symbol *symbol);
enum ptx_kind ptx_variable_kind(const struct ptx_emitter *emitter, uint32_t variable);
struct ptx_value ptx_get(struct ptx_emitter *emitter, uint32_t variable);
void ptx_set(struct ptx_emitter *emitter, uint32_t variable, struct ptx_value value);
void ptx_finish_phis(struct ptx_emitter *emitter);
/* Appends the phis of a block to the module. */
void ptx_append_phis(struct ptx_emitter *emitter, uint32_t block, struct ptx_buffer *buffer);

/* ---- values.c: instructions of SPIR-V in the current block, operands and results */
struct ptx_value ptx_emit(struct ptx_emitter *emitter, uint32_t opcode, enum ptx_kind kind, const uint32_t *operands, uint32_t count);
uint32_t ptx_emit_typed(struct ptx_emitter *emitter, uint32_t opcode, uint32_t type, const uint32_t *operands, uint32_t count);
void ptx_emit_plain(struct ptx_emitter *emitter, uint32_t opcode, const uint32_t *operands, uint32_t count);
struct ptx_value ptx_op1(struct ptx_emitter *emitter, uint32_t opcode, enum ptx_kind kind, struct ptx_value a);
struct ptx_value ptx_op2(struct ptx_emitter *emitter, uint32_t opcode, enum ptx_kind kind, struct ptx_value a, struct ptx_value b);
struct ptx_value ptx_select(struct ptx_emitter *emitter, struct ptx_value condition, struct ptx_value yes, struct ptx_value no);
struct ptx_value ptx_math(struct ptx_emitter *emitter, uint32_t number, enum ptx_kind kind, const struct ptx_value *inputs, uint32_t count);
struct ptx_value ptx_math1(struct ptx_emitter *emitter, uint32_t number, struct ptx_value a);
struct ptx_value ptx_math2(struct ptx_emitter *emitter, uint32_t number, struct ptx_value a, struct ptx_value b);
struct ptx_value ptx_math3(struct ptx_emitter *emitter, uint32_t number, struct ptx_value a, struct ptx_value b, struct ptx_value c);
struct ptx_value ptx_bits_value(struct ptx_emitter *emitter, enum ptx_kind kind, uint64_t bits); /* a constant */
struct ptx_value ptx_float_value(struct ptx_emitter *emitter, enum ptx_kind kind, double value);
enum ptx_kind ptx_integer(uint32_t bits);
struct ptx_value ptx_cast(struct ptx_emitter *emitter, struct ptx_value value, enum ptx_kind kind); /* the same bits */
/* An integer of another size: extended by its sign or zeros, or its low bits. */
struct ptx_value ptx_resize(struct ptx_emitter *emitter, struct ptx_value value, enum ptx_kind kind, bool by_sign);
void ptx_label(struct ptx_emitter *emitter, uint32_t id);
void ptx_jump(struct ptx_emitter *emitter, uint32_t label);
void ptx_choose(struct ptx_emitter *emitter, struct ptx_value condition, uint32_t yes, uint32_t no);

/* An operand as a value of a type. */
struct ptx_value ptx_read(struct ptx_emitter *emitter, const struct ptx_operand *operand, enum ptx_type type);
struct ptx_value ptx_operand(struct ptx_emitter *emitter, uint32_t number, enum ptx_type type);
/* The element k of an operand that may be a vector. */
const struct ptx_operand *ptx_element(struct ptx_emitter *emitter, const struct ptx_operand *operand, uint32_t k, uint32_t count);
/* An integer that is not negative and known. */
uint64_t ptx_immediate(struct ptx_emitter *emitter, uint32_t number);
/* Writes a result; by_sign: how a wider register is filled. */
void ptx_write(struct ptx_emitter *emitter, const struct ptx_operand *operand, struct ptx_value value, bool by_sign);
void ptx_result(struct ptx_emitter *emitter, struct ptx_value value);
void ptx_know(struct ptx_emitter *emitter, uint32_t id, const struct ptx_symbol *symbol, uint64_t offset);
const struct ptx_known *ptx_what_is(const struct ptx_emitter *emitter, uint32_t id);
noreturn void ptx_refuse(struct ptx_emitter *emitter, const char *why);
enum ptx_type ptx_type_at(struct ptx_emitter *emitter, uint32_t number);

/* ---- addresses.c */
enum ptx_space { PTX_SPACE_GENERIC, PTX_SPACE_GLOBAL, PTX_SPACE_SHARED, PTX_SPACE_LOCAL, PTX_SPACE_PARAM };
enum ptx_space ptx_space_of(struct ptx_emitter *emitter);
struct ptx_value ptx_symbol_address(struct ptx_emitter *emitter, struct ptx_symbol *symbol);
struct ptx_value ptx_shared_base(struct ptx_emitter *emitter);
/* The flat address that the operand [ ] names in a space. */
struct ptx_value ptx_address(struct ptx_emitter *emitter, const struct ptx_operand *operand, enum ptx_space space);
uint32_t ptx_as_pointer(struct ptx_emitter *emitter, struct ptx_value address, uint32_t type);
struct ptx_value ptx_load(struct ptx_emitter *emitter, struct ptx_value address, enum ptx_kind kind);
uint32_t ptx_block_type(struct ptx_emitter *emitter, uint64_t size, uint64_t alignment);
uint32_t ptx_private(struct ptx_emitter *emitter, uint64_t size, uint64_t alignment); /* id of a variable's address */
void ptx_trap(struct ptx_emitter *emitter);
#define PTX_GLOBAL_ID "" /* ctaid * ntid + tid, which the executor has; no name in PTX */
/* Whether a value is a special register of a component that was read before. */
bool ptx_is_special(const struct ptx_emitter *emitter, struct ptx_value value, const char *name, uint32_t component);
struct ptx_value ptx_launch_address(struct ptx_emitter *emitter, uint32_t word); /* of one of the words of the launch */
struct ptx_value ptx_special(struct ptx_emitter *emitter, const char *name, uint32_t component);

/* ---- parameters.c */
void ptx_declare_function(struct ptx_emitter *emitter, struct ptx_function *function);
void ptx_survey_parameters(struct ptx_emitter *emitter);
uint32_t ptx_entry_parameter_type(struct ptx_emitter *emitter, uint32_t number, bool *by_value);
/* A scalar of an entry's or function's parameter, or of an argument; true where it is no memory. */
bool ptx_read_parameter_value(struct ptx_emitter *emitter, const struct ptx_operand *address, enum ptx_kind kind, struct ptx_value *value);
bool ptx_write_parameter_value(struct ptx_emitter *emitter, const struct ptx_operand *address, struct ptx_value value);

/* ---- instructions of PTX, by name */
typedef void (*ptx_handler_t)(struct ptx_emitter *emitter);
struct ptx_handler {
    const char *name;
    ptx_handler_t run;
};
extern const struct ptx_handler ptx_integer_handlers[], ptx_bit_handlers[], ptx_float_handlers[], ptx_move_handlers[],
    ptx_memory_handlers[], ptx_atomic_handlers[], ptx_warp_handlers[], ptx_texture_handlers[], ptx_control_handlers[],
    ptx_video_handlers[], ptx_barrier_handlers[], ptx_mbarrier_handlers[];

/* Floats (floats.c, approx.c, rounded.c) */
void ptx_float_arithmetic(struct ptx_emitter *emitter);
void ptx_emit_conversion(struct ptx_emitter *emitter);
struct ptx_value ptx_flush(struct ptx_emitter *emitter, struct ptx_value value); /* denormals of a single float to zero */
struct ptx_value ptx_saturate(struct ptx_emitter *emitter, struct ptx_value value);
enum ptx_rounding ptx_rounding_of(struct ptx_emitter *emitter);
struct ptx_value ptx_rounded_add(struct ptx_emitter *emitter, struct ptx_value a, struct ptx_value b, enum ptx_rounding mode);
struct ptx_value ptx_rounded_multiply(struct ptx_emitter *emitter, struct ptx_value a, struct ptx_value b, enum ptx_rounding mode);
struct ptx_value ptx_rounded_fma(struct ptx_emitter *emitter, struct ptx_value a, struct ptx_value b, struct ptx_value c, enum ptx_rounding mode);
struct ptx_value ptx_rounded_divide(struct ptx_emitter *emitter, struct ptx_value a, struct ptx_value b, enum ptx_rounding mode);
struct ptx_value ptx_rounded_root(struct ptx_emitter *emitter, struct ptx_value a, enum ptx_rounding mode);
struct ptx_value ptx_rounded_conversion(struct ptx_emitter *emitter, uint32_t opcode, enum ptx_kind kind, struct ptx_value a, enum ptx_rounding mode);
struct ptx_value ptx_from_bfloat(struct ptx_emitter *emitter, struct ptx_value bits);
struct ptx_value ptx_to_bfloat(struct ptx_emitter *emitter, struct ptx_value single, enum ptx_rounding mode);
struct ptx_value ptx_half_of(struct ptx_emitter *emitter, struct ptx_value pair, uint32_t number); /* 16 of 32 bits */
struct ptx_value ptx_pair_of(struct ptx_emitter *emitter, struct ptx_value low, struct ptx_value high);
struct ptx_value ptx_approximate(struct ptx_emitter *emitter, const char *name, struct ptx_value a);

/* div.approx and div.full of singles: the product with an approximate reciprocal. */
struct ptx_value ptx_approximate_quotient(struct ptx_emitter *emitter, struct ptx_value a, struct ptx_value b);
struct ptx_value ptx_larger(struct ptx_emitter *emitter, struct ptx_value a, struct ptx_value b, bool largest, bool nan);
struct ptx_value ptx_negate_float(struct ptx_emitter *emitter, struct ptx_value a);

/* function.c */
void ptx_emit_function(struct ptx_emitter *emitter);

#endif
