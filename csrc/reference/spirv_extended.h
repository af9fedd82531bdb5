/* Instructions of OpenCL.std that work element by element. */
#ifndef BLR_SPIRV_EXTENDED_H
#define BLR_SPIRV_EXTENDED_H

#include "spirv_program.h"

struct blr_spirv_extended {
    uint16_t number;
    uint8_t operands;
    enum blr_spirv_type_kind kind; /* of elements: floats or integers */
    const char *name;
    blr_spirv_run_t run[4];        /* by size: 1, 2, 4, 8 bytes */
};

extern const struct blr_spirv_extended blr_spirv_float_functions[];
extern const unsigned blr_spirv_float_function_count;
extern const struct blr_spirv_extended blr_spirv_integer_functions[];
extern const unsigned blr_spirv_integer_function_count;

/* The row of an instruction, or NULL. */
const struct blr_spirv_extended *blr_spirv_extended(uint32_t number);

#endif
