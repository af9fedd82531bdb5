/* Elementwise operations: each element of the result depends only on the same elements of the operands. */
#ifndef BINDLESS_REFERENCE_SPIRV_EXECUTE_LANE_OPERATIONS_H
#define BINDLESS_REFERENCE_SPIRV_EXECUTE_LANE_OPERATIONS_H

#include "spirv/program.h"
#include "spirv/execute/interpreter.h"

/* Operand types of an operation, and their relation to the result's type. */
enum blr_spirv_form {
    BLR_FORM_INTEGER,        /* integers of the result's type */
    BLR_FORM_FLOAT,          /* floats of the result's type */
    BLR_FORM_LOGICAL,        /* booleans like the result */
    BLR_FORM_COMPARE_INTEGER,/* booleans from integers or pointers */
    BLR_FORM_COMPARE_FLOAT,  /* booleans from floats */
    BLR_FORM_SHIFT           /* integers; the second may differ in size */
};

struct blr_spirv_lanes {
    uint16_t opcode;
    uint8_t form;
    uint8_t operands;
    blr_spirv_run_t run[4];  /* by size: 1, 2, 4, 8 bytes */
};

extern const struct blr_spirv_lanes blr_spirv_integer_lanes[];
extern const unsigned blr_spirv_integer_lane_count;
extern const struct blr_spirv_lanes blr_spirv_float_lanes[];
extern const unsigned blr_spirv_float_lane_count;

/* The conversion of an instruction between scalars of the given bytes, or NULL. */
blr_spirv_run_t blr_spirv_conversion(unsigned opcode, uint32_t from, uint32_t to);

/* Applies a rounding mode to such a conversion; false for instructions that have none. */
bool blr_spirv_round(unsigned opcode, uint32_t from, uint32_t to, uint32_t mode, struct blr_spirv_op *op);

/* The first or second member of the result of OpIAddCarry, OpISubBorrow, OpUMulExtended or OpSMulExtended. */
blr_spirv_run_t blr_spirv_half(unsigned opcode, uint32_t half, uint32_t size);

/* Sets run, count and element of an elementwise operation: an entry of the tables above, a conversion or a
 * selection. False for other instructions; refused when types do not match. */
bool blr_spirv_elementwise(struct blr_spirv_module *module, uint32_t word, unsigned opcode,
                           const struct blr_spirv_type *result, const struct blr_spirv_type *const *operands,
                           uint32_t count, struct blr_spirv_op *op);

/* 0 to 3 for 1, 2, 4, 8 bytes. */
static inline unsigned blr_size_index(uint32_t size) { return size == 1 ? 0 : size == 2 ? 1 : size == 4 ? 2 : 3; }

/* The loop over all elements: for each component over all lanes, a constant count that compilers vectorise. */
#define BLR_FOR_ELEMENTS(op, i)                                                                                        \
    for (size_t i##_first = 0; i##_first < (op)->count; i##_first += BLR_LANES)                                        \
        for (size_t i##_lane = 0, i = i##_first; i##_lane < BLR_LANES; i##_lane++, i++)

#define BLR_UNARY(name, R, T, expression)                                                                              \
    static void name(struct blr_spirv_batch *batch, const struct blr_spirv_op *op, unsigned char *result)              \
    {                                                                                                                  \
        R *restrict r = (R *)result;                                                                                   \
        const T *x = (const T *)(batch->registers + op->in[0]);                                                        \
        BLR_FOR_ELEMENTS(op, i)                                                                                        \
        {                                                                                                              \
            T a = x[i];                                                                                                \
            r[i] = (R)(expression);                                                                                    \
        }                                                                                                              \
    }

#define BLR_BINARY(name, R, T, expression)                                                                             \
    static void name(struct blr_spirv_batch *batch, const struct blr_spirv_op *op, unsigned char *result)              \
    {                                                                                                                  \
        R *restrict r = (R *)result;                                                                                   \
        const T *x = (const T *)(batch->registers + op->in[0]);                                                        \
        const T *y = (const T *)(batch->registers + op->in[1]);                                                        \
        BLR_FOR_ELEMENTS(op, i)                                                                                        \
        {                                                                                                              \
            T a = x[i], b = y[i];                                                                                      \
            r[i] = (R)(expression);                                                                                    \
        }                                                                                                              \
    }

#define BLR_TERNARY(name, R, T, expression)                                                                            \
    static void name(struct blr_spirv_batch *batch, const struct blr_spirv_op *op, unsigned char *result)              \
    {                                                                                                                  \
        R *restrict r = (R *)result;                                                                                   \
        const T *x = (const T *)(batch->registers + op->in[0]);                                                        \
        const T *y = (const T *)(batch->registers + op->in[1]);                                                        \
        const T *z = (const T *)(batch->registers + op->in[2]);                                                        \
        BLR_FOR_ELEMENTS(op, i)                                                                                        \
        {                                                                                                              \
            T a = x[i], b = y[i], c = z[i];                                                                            \
            r[i] = (R)(expression);                                                                                    \
        }                                                                                                              \
    }

#endif
