/* Geometric functions of floats, with the order and the fused products of a GPU's library. */
#ifndef BINDLESS_REFERENCE_SPIRV_EXECUTE_GEOMETRIC_H
#define BINDLESS_REFERENCE_SPIRV_EXECUTE_GEOMETRIC_H

#include "spirv/program.h"

void blr_spirv_dot_float(struct blr_spirv_batch *batch, const struct blr_spirv_op *op, unsigned char *result);
void blr_spirv_dot_double(struct blr_spirv_batch *batch, const struct blr_spirv_op *op, unsigned char *result);
void blr_spirv_length_float(struct blr_spirv_batch *batch, const struct blr_spirv_op *op, unsigned char *result);
void blr_spirv_distance_float(struct blr_spirv_batch *batch, const struct blr_spirv_op *op, unsigned char *result);
void blr_spirv_normalized_float(struct blr_spirv_batch *batch, const struct blr_spirv_op *op, unsigned char *result);
void blr_spirv_cross_float(struct blr_spirv_batch *batch, const struct blr_spirv_op *op, unsigned char *result);

#endif
