/* Evaluation of OpSpecConstantOp, and of operations with known operands. */
#ifndef BINDLESS_REFERENCE_SPIRV_PARSE_SPEC_CONSTANT_OP_H
#define BINDLESS_REFERENCE_SPIRV_PARSE_SPEC_CONSTANT_OP_H

#include "spirv/parse/module.h"

/* Writes the result of OpSpecConstantOp at word to constant->bytes, which are zeros. */
void blr_spirv_evaluate(struct blr_spirv_module *module, uint32_t word, struct blr_spirv_constant *constant);

/* Working memory of blr_spirv_run_once, aligned for vector instructions. */
struct blr_spirv_once;
struct blr_spirv_once *blr_spirv_once_new(struct blr_spirv_module *module);

/* Runs an elementwise operation on known values: operands are packed component by component, NULL for zeros. */
struct blr_spirv_op;
void blr_spirv_run_once(struct blr_spirv_once *once, struct blr_spirv_module *module, const struct blr_spirv_op *op, uint32_t count,
                        const struct blr_spirv_type *const *types, const unsigned char *const *operands, unsigned char *result);

#endif
