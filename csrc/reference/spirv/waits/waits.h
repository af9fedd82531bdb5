/*
 * Lanes that wait for others of their work-group: barriers by number, barriers in memory, and rest.
 *
 * A program may be independent (struct blr_spirv_program): work-items of a sub-group may wait for each other. A lane that loops
 * long, or asks for it, rests, and the other sub-groups go on. After several rests the other lanes of its own sub-group go on,
 * too: the batch is loose. Operations of a sub-group then wait until its lanes are together.
 */
#ifndef BINDLESS_REFERENCE_SPIRV_WAITS_WAITS_H
#define BINDLESS_REFERENCE_SPIRV_WAITS_WAITS_H

#include "spirv/execute/interpreter.h"

#define BLR_WARP 32u /* lanes that arrive at a barrier by number together */

/* in[0]: number, in[1]: work-items that take part, 0 for all. Others do not wait for these lanes, which go on. */
void blr_barrier_arrive(struct blr_spirv_batch *batch, const struct blr_spirv_op *op, unsigned char *result);

/* The same, and in[2]: a boolean; the result is the number of lanes in which it holds. An operation of a meeting: the lanes of
 * the batch's mask wait in the block. */
void blr_barrier_wait(struct blr_spirv_batch *batch, const struct blr_spirv_op *op, unsigned char *result);

/* Lanes of the mask wait at barrier 0 for all others, in a block without an operation. */
void blr_barrier_wait_for_all(struct blr_spirv_batch *batch, uint32_t block, uint64_t lanes);

/* Releases lanes that wait for work-items that have ended; false if there are none. */
bool blr_barriers_settle(struct blr_spirv_worker *worker);

/* The fault of lanes at barriers by number that none will release. */
void blr_barriers_fault(struct blr_spirv_worker *worker);

/* At the start of a work-group. */
void blr_barriers_start(struct blr_spirv_worker *worker);

/* Lanes rest before a block; all of a batch go on. */
void blr_spirv_rest(struct blr_spirv_batch *batch, uint32_t block, uint64_t lanes);
void blr_spirv_wake(struct blr_spirv_batch *batch);

enum blr_mbarrier_step {
    BLR_MBARRIER_INIT, BLR_MBARRIER_INVALIDATE, BLR_MBARRIER_ARRIVE, BLR_MBARRIER_DROP, BLR_MBARRIER_ARRIVE_EARLY, /* of a phase */
    BLR_MBARRIER_TEST, BLR_MBARRIER_TEST_PARITY, BLR_MBARRIER_EXPECT_BYTES, BLR_MBARRIER_COMPLETE_BYTES, BLR_MBARRIER_STEPS
};
/* A barrier in memory of the work-group. in[0]: its address, in[1]: a count, the state of an arrival, or a parity, of 64 bits;
 * literal: the step. The result is the state before an arrival, or 1 where the phase is complete. */
void blr_mbarrier(struct blr_spirv_batch *batch, const struct blr_spirv_op *op, unsigned char *result);

#endif
