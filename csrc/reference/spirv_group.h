/* Operations among work-items. Those of a sub-group are lanes of one batch that came to the operation together: up to 64
 * neighbours of one work-group. Those of a work-group are all that wait at the meeting, whichever batch they are in. */
#ifndef BLR_SPIRV_GROUP_H
#define BLR_SPIRV_GROUP_H

#include "spirv_fold.h"

/* ---- of a sub-group: in[0] is the value */

void blr_sub_group_elect(struct blr_spirv_batch *batch, const struct blr_spirv_op *op, unsigned char *result);
void blr_sub_group_all(struct blr_spirv_batch *batch, const struct blr_spirv_op *op, unsigned char *result);
void blr_sub_group_any(struct blr_spirv_batch *batch, const struct blr_spirv_op *op, unsigned char *result);
/* literal: bytes of an element; info: how many of them a value has. */
void blr_sub_group_all_equal(struct blr_spirv_batch *batch, const struct blr_spirv_op *op, unsigned char *result);

void blr_sub_group_ballot(struct blr_spirv_batch *batch, const struct blr_spirv_op *op, unsigned char *result);
/* Of a ballot in four numbers of 32 bits: the lane's own bit, or the one that in[1] names. */
void blr_sub_group_own_bit(struct blr_spirv_batch *batch, const struct blr_spirv_op *op, unsigned char *result);
void blr_sub_group_bit(struct blr_spirv_batch *batch, const struct blr_spirv_op *op, unsigned char *result);
/* literal: how much of a ballot each lane counts, an enum blr_fold_step. */
void blr_sub_group_count(struct blr_spirv_batch *batch, const struct blr_spirv_op *op, unsigned char *result);
/* The number of the first bit that is set, and of the last; all ones where none is. */
void blr_sub_group_lowest(struct blr_spirv_batch *batch, const struct blr_spirv_op *op, unsigned char *result);
void blr_sub_group_highest(struct blr_spirv_batch *batch, const struct blr_spirv_op *op, unsigned char *result);

enum blr_lane_source {
    BLR_LANE_NUMBER,  /* the number itself */
    BLR_LANE_FIRST,   /* the first that takes part */
    BLR_LANE_XOR,     /* the own number, some bits of it turned */
    BLR_LANE_BELOW,   /* so many lanes below */
    BLR_LANE_ABOVE,   /* so many lanes above */
    BLR_LANE_ROTATED, /* the same, around the end of a cluster */
    BLR_LANE_OF_FOUR  /* one of the four neighbours that the own lane is of */
};
/* The value of another lane; a lane that does not exist stands for the own one. literal: BLR_LANE_...; in[1]: a number of
 * 32 bits; info: lanes of a cluster, 0 for all of the sub-group. */
void blr_sub_group_exchange(struct blr_spirv_batch *batch, const struct blr_spirv_op *op, unsigned char *result);
/* in[0] and in[1] stand one behind the other; in[2]: how far above (literal BLR_LANE_ABOVE) or below a lane takes from. */
void blr_sub_group_exchange_two(struct blr_spirv_batch *batch, const struct blr_spirv_op *op, unsigned char *result);

struct blr_fold_use {
    blr_fold_t run;
    enum blr_fold_step step;
    uint32_t cluster; /* lanes */
    uint32_t components;
    uint32_t size;    /* bytes of each */
};
/* info: a struct blr_fold_use. */
void blr_sub_group_fold(struct blr_spirv_batch *batch, const struct blr_spirv_op *op, unsigned char *result);

/* Elements of memory, one behind the other as lanes are: in[0] addresses, in[1] what is written; literal: bytes of an
 * element; info: elements of each lane. */
void blr_sub_group_read_block(struct blr_spirv_batch *batch, const struct blr_spirv_op *op, unsigned char *result);
void blr_sub_group_write_block(struct blr_spirv_batch *batch, const struct blr_spirv_op *op, unsigned char *result);

/* ---- of a work-group: run once, with its first batch, and write registers of all of them */

void blr_work_group_all(struct blr_spirv_batch *batch, const struct blr_spirv_op *op, unsigned char *result);
void blr_work_group_any(struct blr_spirv_batch *batch, const struct blr_spirv_op *op, unsigned char *result);
/* in[1]: the local id; literal: its components; info: bytes of each, then components and bytes of the value. */
void blr_work_group_broadcast(struct blr_spirv_batch *batch, const struct blr_spirv_op *op, unsigned char *result);
void blr_work_group_fold(struct blr_spirv_batch *batch, const struct blr_spirv_op *op, unsigned char *result);

struct blr_async_copy {
    uint32_t element;       /* bytes */
    bool strided_target;    /* the stride is the target's, not the source's */
};
/* in[0] to, in[1] from, in[2] how many elements, in[3] their distance; all of 64 bits; info: a struct blr_async_copy. */
void blr_work_group_copy(struct blr_spirv_batch *batch, const struct blr_spirv_op *op, unsigned char *result);

#endif
