/* Operations that are not elementwise. */
#ifndef BINDLESS_REFERENCE_SPIRV_EXECUTE_OPERATIONS_H
#define BINDLESS_REFERENCE_SPIRV_EXECUTE_OPERATIONS_H

#include "spirv/program.h"

/* Copies registers. */
void blr_spirv_run_copy(struct blr_spirv_batch *batch, const struct blr_spirv_op *op, unsigned char *result);

/* Extracts a vector component by an index in a register, or inserts one. in[0]: the vector, in[1]: the index of 4 or
 * 8 bytes (literal), in[2]: the inserted value; info: components. */
void blr_spirv_run_extract(struct blr_spirv_batch *batch, const struct blr_spirv_op *op, unsigned char *result);
/* The same with only the low bits of the index, as many as the number of components needs. */
void blr_spirv_run_extract_wrapped(struct blr_spirv_batch *batch, const struct blr_spirv_op *op, unsigned char *result);
void blr_spirv_run_insert(struct blr_spirv_batch *batch, const struct blr_spirv_op *op, unsigned char *result);

/* Reinterprets the bytes of each lane as elements of another size; literal: bytes of in[0]'s elements. */
void blr_spirv_run_bitcast(struct blr_spirv_batch *batch, const struct blr_spirv_op *op, unsigned char *result);

/* Selects elementwise: in[1] where in[0] is true, else in[2]; size: bytes of an element. */
blr_spirv_run_t blr_spirv_select(uint32_t size);

/* Selects whole values: in[0] holds one boolean a lane, in[1] and in[2] the values. */
void blr_spirv_run_choose(struct blr_spirv_batch *batch, const struct blr_spirv_op *op, unsigned char *result);

/* in[0] times a scalar in[1]; the dot product; any or all of a number of components (literal). */
blr_spirv_run_t blr_spirv_scale(uint32_t size);
blr_spirv_run_t blr_spirv_dot(uint32_t size);
void blr_spirv_run_any(struct blr_spirv_batch *batch, const struct blr_spirv_op *op, unsigned char *result);
void blr_spirv_run_all(struct blr_spirv_batch *batch, const struct blr_spirv_op *op, unsigned char *result);

/* Addresses: in[0] plus a literal; or plus in[1], an integer of a number of bytes (info), times the literal. */
void blr_spirv_run_offset(struct blr_spirv_batch *batch, const struct blr_spirv_op *op, unsigned char *result);
blr_spirv_run_t blr_spirv_index(uint32_t size);
/* An index of an array, counted from the end where it is negative. in[0]: the index, in[1..]: the array's sizes, all of 8
 * bytes; literal: BLR_ARRAY_AXIS. Faults outside of the axis. */
void blr_spirv_run_array_index(struct blr_spirv_batch *batch, const struct blr_spirv_op *op, unsigned char *result);
/* The same for sizes that all lanes have in common. */
void blr_spirv_run_argument_index(struct blr_spirv_batch *batch, const struct blr_spirv_op *op, unsigned char *result);
void blr_spirv_run_difference(struct blr_spirv_batch *batch, const struct blr_spirv_op *op, unsigned char *result);

/* in[0]: addresses. literal: 1 for boolean elements. The elements of a lane are contiguous in memory. */
void blr_spirv_run_load(struct blr_spirv_batch *batch, const struct blr_spirv_op *op, unsigned char *result);
/* in[1]: the stored value; literal: its shape, BLR_STORE_SHAPE. */
void blr_spirv_run_store(struct blr_spirv_batch *batch, const struct blr_spirv_op *op, unsigned char *result);
/* in[0]: destination, in[1]: source, in[2]: number of bytes, 8 bytes wide. */
void blr_spirv_run_move_memory(struct blr_spirv_batch *batch, const struct blr_spirv_op *op, unsigned char *result);

/* in[0]: addresses; literal: the target storage class of the cast. */
void blr_spirv_run_explicit_cast(struct blr_spirv_batch *batch, const struct blr_spirv_op *op, unsigned char *result);

/* in[0]: addresses; result: the memory semantics bits of their storage class. */
void blr_spirv_run_semantics(struct blr_spirv_batch *batch, const struct blr_spirv_op *op, unsigned char *result);

/* Faults at an address that is no function of a call's type; at a function that runs already. in[0]: the addresses; the
 * numbers of the function's open calls. */
void blr_spirv_run_wrong_call(struct blr_spirv_batch *batch, const struct blr_spirv_op *op, unsigned char *result);
void blr_spirv_run_check_call(struct blr_spirv_batch *batch, const struct blr_spirv_op *op, unsigned char *result);

/* The axis of an index, and the array's number of dimensions. */
#define BLR_ARRAY_DIMENSIONS 3u
#define BLR_ARRAY_AXIS(axis, dimensions) ((uint64_t)(axis) | (uint64_t)(dimensions) << 8)

/* The shape of a stored value, in the literal of an operation without a result. */
#define BLR_STORE_SHAPE(size, components, boolean)                                                                     \
    ((uint64_t)(size) | (uint64_t)(components) << 8 | (uint64_t)(boolean) << 40)


#endif
