/* Group operations. A sub-group operation covers the lanes of one sub-group that execute it together: up to 64
 * consecutive work-items of one work-group, in one batch. A work-group operation covers all work-items that wait at the meeting,
 * in all batches. */
#ifndef BINDLESS_REFERENCE_SPIRV_EXECUTE_GROUPS_H
#define BINDLESS_REFERENCE_SPIRV_EXECUTE_GROUPS_H

#include "spirv/execute/reduce_scan.h"

/* ---- sub-group operations: in[0] is the value */

void blr_sub_group_elect(struct blr_spirv_batch *batch, const struct blr_spirv_op *op, unsigned char *result);
void blr_sub_group_all(struct blr_spirv_batch *batch, const struct blr_spirv_op *op, unsigned char *result);
void blr_sub_group_any(struct blr_spirv_batch *batch, const struct blr_spirv_op *op, unsigned char *result);
/* literal: bytes of an element; info: number of elements of a value. */
void blr_sub_group_all_equal(struct blr_spirv_batch *batch, const struct blr_spirv_op *op, unsigned char *result);

void blr_sub_group_ballot(struct blr_spirv_batch *batch, const struct blr_spirv_op *op, unsigned char *result);
/* Bit of a ballot in four 32-bit numbers: the lane's own one, or the one that in[1] selects. */
void blr_sub_group_own_bit(struct blr_spirv_batch *batch, const struct blr_spirv_op *op, unsigned char *result);
void blr_sub_group_bit(struct blr_spirv_batch *batch, const struct blr_spirv_op *op, unsigned char *result);
/* literal: the part of a ballot that each lane counts, an enum blr_fold_step. */
void blr_sub_group_count(struct blr_spirv_batch *batch, const struct blr_spirv_op *op, unsigned char *result);
/* Index of the first and of the last set bit; all ones where none is set. */
void blr_sub_group_lowest(struct blr_spirv_batch *batch, const struct blr_spirv_op *op, unsigned char *result);
void blr_sub_group_highest(struct blr_spirv_batch *batch, const struct blr_spirv_op *op, unsigned char *result);

enum blr_lane_source {
    BLR_LANE_NUMBER,  /* in[1] is the lane */
    BLR_LANE_FIRST,   /* first active lane */
    BLR_LANE_XOR,     /* own lane XOR in[1] */
    BLR_LANE_BELOW,   /* in[1] lanes below */
    BLR_LANE_ABOVE,   /* in[1] lanes above */
    BLR_LANE_ROTATED, /* the same, wrapping within a cluster */
    BLR_LANE_OF_FOUR  /* a lane of the own quad of four */
};
/* The value of another lane; a lane that does not exist is replaced by the own one. literal: BLR_LANE_...; in[1]: a
 * 32-bit number; info: lanes of a cluster, 0 for the whole sub-group. */
void blr_sub_group_exchange(struct blr_spirv_batch *batch, const struct blr_spirv_op *op, unsigned char *result);
/* Exchange over the concatenation of in[0] and in[1]; in[2]: distance of the source lane above (literal
 * BLR_LANE_ABOVE) or below. */
void blr_sub_group_exchange_two(struct blr_spirv_batch *batch, const struct blr_spirv_op *op, unsigned char *result);

struct blr_fold_use {
    blr_fold_t run;
    enum blr_fold_step step;
    uint32_t cluster; /* lanes of a cluster */
    uint32_t components;
    uint32_t size;    /* bytes of each */
};
/* info: a struct blr_fold_use. */
void blr_sub_group_fold(struct blr_spirv_batch *batch, const struct blr_spirv_op *op, unsigned char *result);

/* Block loads and stores: consecutive elements of memory for consecutive lanes. in[0]: addresses, in[1]: stored
 * values; literal: bytes of an element; info: elements of each lane. */
void blr_sub_group_read_block(struct blr_spirv_batch *batch, const struct blr_spirv_op *op, unsigned char *result);
void blr_sub_group_write_block(struct blr_spirv_batch *batch, const struct blr_spirv_op *op, unsigned char *result);

/* ---- work-group operations: executed once, in the first batch; they write the registers of all batches */

void blr_work_group_all(struct blr_spirv_batch *batch, const struct blr_spirv_op *op, unsigned char *result);
void blr_work_group_any(struct blr_spirv_batch *batch, const struct blr_spirv_op *op, unsigned char *result);
/* in[1]: the local id; literal: its components; info: bytes of each, then components and bytes of the value. */
void blr_work_group_broadcast(struct blr_spirv_batch *batch, const struct blr_spirv_op *op, unsigned char *result);
void blr_work_group_fold(struct blr_spirv_batch *batch, const struct blr_spirv_op *op, unsigned char *result);

struct blr_async_copy {
    uint32_t element;       /* bytes of an element */
    bool strided_target;    /* the stride applies to the destination, else to the source */
};
/* in[0]: destination, in[1]: source, in[2]: number of elements, in[3]: stride; all 64 bits; info: a struct
 * blr_async_copy. */
void blr_work_group_copy(struct blr_spirv_batch *batch, const struct blr_spirv_op *op, unsigned char *result);

#endif
