/* Operations that are no loop over equal elements. */
#ifndef BLR_SPIRV_OPERATIONS_H
#define BLR_SPIRV_OPERATIONS_H

#include "spirv_program.h"

/* Registers as they are. */
void blr_spirv_run_copy(struct blr_spirv_batch *batch, const struct blr_spirv_op *op, unsigned char *result);

/* One component of a vector by a number in a register, and a vector with one replaced. in[0] the vector, in[1] the
 * number of 4 or 8 bytes (literal), in[2] what is put there; info: components. */
void blr_spirv_run_extract(struct blr_spirv_batch *batch, const struct blr_spirv_op *op, unsigned char *result);
/* The same, of the number's low bits alone. */
void blr_spirv_run_extract_wrapped(struct blr_spirv_batch *batch, const struct blr_spirv_op *op, unsigned char *result);
void blr_spirv_run_insert(struct blr_spirv_batch *batch, const struct blr_spirv_op *op, unsigned char *result);

/* The bytes of each lane of a value as elements of another size; literal: bytes of in[0]'s elements. */
void blr_spirv_run_bitcast(struct blr_spirv_batch *batch, const struct blr_spirv_op *op, unsigned char *result);

/* Where in[0] holds, an element of in[1], of so many bytes, elsewhere one of in[2]. */
blr_spirv_run_t blr_spirv_select(uint32_t size);

/* in[0] holds a boolean for a whole lane, in[1] and in[2] values. */
void blr_spirv_run_choose(struct blr_spirv_batch *batch, const struct blr_spirv_op *op, unsigned char *result);

/* in[0] times a scalar in[1]; the scalar product; whether any or all of literal components hold. */
blr_spirv_run_t blr_spirv_scale(uint32_t size);
blr_spirv_run_t blr_spirv_dot(uint32_t size);
void blr_spirv_run_any(struct blr_spirv_batch *batch, const struct blr_spirv_op *op, unsigned char *result);
void blr_spirv_run_all(struct blr_spirv_batch *batch, const struct blr_spirv_op *op, unsigned char *result);

/* Addresses: in[0] plus a literal; plus in[1], a whole number of so many bytes (info), times the literal. */
void blr_spirv_run_offset(struct blr_spirv_batch *batch, const struct blr_spirv_op *op, unsigned char *result);
blr_spirv_run_t blr_spirv_index(uint32_t size);
void blr_spirv_run_difference(struct blr_spirv_batch *batch, const struct blr_spirv_op *op, unsigned char *result);

/* in[0]: addresses. literal: 1 where the elements are booleans. The elements of a lane follow each other in memory. */
void blr_spirv_run_load(struct blr_spirv_batch *batch, const struct blr_spirv_op *op, unsigned char *result);
/* in[1]: what is stored; literal: its shape, see below. */
void blr_spirv_run_store(struct blr_spirv_batch *batch, const struct blr_spirv_op *op, unsigned char *result);
/* in[0] to, in[1] from, in[2] the number of bytes, 8 bytes wide. */
void blr_spirv_run_move_memory(struct blr_spirv_batch *batch, const struct blr_spirv_op *op, unsigned char *result);

/* in[0]: addresses; literal: the storage class that they are cast to. */
void blr_spirv_run_explicit_cast(struct blr_spirv_batch *batch, const struct blr_spirv_op *op, unsigned char *result);

/* in[0]: addresses; the bits of memory semantics that say which memory they are in. */
void blr_spirv_run_semantics(struct blr_spirv_batch *batch, const struct blr_spirv_op *op, unsigned char *result);

/* The shape of what is stored, in the literal of an operation without a result. */
#define BLR_STORE_SHAPE(size, components, boolean)                                                                     \
    ((uint64_t)(size) | (uint64_t)(components) << 8 | (uint64_t)(boolean) << 40)


#endif
