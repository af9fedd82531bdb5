/* Elementwise instructions of OpenCL.std. */
#ifndef BINDLESS_REFERENCE_SPIRV_EXECUTE_OPENCL_STD_H
#define BINDLESS_REFERENCE_SPIRV_EXECUTE_OPENCL_STD_H

#include "spirv/program.h"

struct blr_spirv_extended {
    uint16_t number;
    uint8_t operands;
    enum blr_spirv_type_kind kind; /* type of elements: floats or integers */
    const char *name;
    blr_spirv_run_t run[4];        /* by size: 1, 2, 4, 8 bytes */
};

extern const struct blr_spirv_extended blr_spirv_float_functions[];
extern const unsigned blr_spirv_float_function_count;
extern const struct blr_spirv_extended blr_spirv_integer_functions[];
extern const unsigned blr_spirv_integer_function_count;

/* Component functions of instructions whose operands differ in type from the result. */
enum blr_spirv_mixed {
    BLR_MIXED_FRACTION,
    BLR_MIXED_FLOOR,
    BLR_MIXED_MANTISSA,
    BLR_MIXED_BINARY_EXPONENT,
    BLR_MIXED_AFTER_POINT,
    BLR_MIXED_WHOLE,
    BLR_MIXED_SINE,
    BLR_MIXED_COSINE,
    BLR_MIXED_LOG_GAMMA,
    BLR_MIXED_GAMMA_SIGN,
    BLR_MIXED_LOG_EXPONENT,
    BLR_MIXED_REMAINDER,
    BLR_MIXED_QUOTIENT,
    BLR_MIXED_SCALED,
    BLR_MIXED_POWER,
    BLR_MIXED_ROOT,
    BLR_MIXED_NAN,
    BLR_MIXED_LENGTH,
    BLR_MIXED_DISTANCE,
    BLR_MIXED_NORMALIZED,
    BLR_MIXED_CROSS,
    BLR_MIXED_BIT_SELECT,
    BLR_MIXED_HIGH_SELECT,
    BLR_MIXED_SELECT,
    BLR_MIXED_UPSAMPLE
};

/* The operation for elements of a number of bytes (of the first operand), or NULL. */
blr_spirv_run_t blr_spirv_mixed(enum blr_spirv_mixed function, uint32_t size);

#define BLR_EXTENDED_S_MUL_HI 160u
#define BLR_EXTENDED_U_MUL_HI 203u

/* The table entry of an instruction, or NULL. */
const struct blr_spirv_extended *blr_spirv_extended(uint32_t number);

#endif
