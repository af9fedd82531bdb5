/* OpSpecConstantOp: instructions among constants. */
#ifndef BLR_SPIRV_CONSTANT_OP_H
#define BLR_SPIRV_CONSTANT_OP_H

#include "spirv_module.h"

/* Writes the result of OpSpecConstantOp at word to constant->bytes, which are zeros. */
void blr_spirv_evaluate(struct blr_spirv_module *module, uint32_t word, struct blr_spirv_constant *constant);

#endif
