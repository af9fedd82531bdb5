/* Reductions and scans of values over the work-items of a sub-group, of a cluster of lanes, or of a work-group batch
 * by batch. */
#ifndef BINDLESS_REFERENCE_SPIRV_EXECUTE_REDUCE_SCAN_H
#define BINDLESS_REFERENCE_SPIRV_EXECUTE_REDUCE_SCAN_H

#include "spirv/execute/interpreter.h"

enum blr_fold_step {
    BLR_FOLD_REDUCE = 0,    /* accumulates the values of the lanes in the carry */
    BLR_FOLD_INCLUSIVE = 1, /* the same; each lane receives the accumulated value including its own */
    BLR_FOLD_EXCLUSIVE = 2, /* the same, excluding its own */
    BLR_FOLD_CLUSTERED = 3, /* as an instruction operand only: reduces each cluster separately */
    BLR_FOLD_START,         /* sets the carry to the identity */
    BLR_FOLD_SPREAD         /* writes the carry to every lane */
};

/* Performs a step for the lanes of one batch and one component; the carry holds up to 8 bytes. */
typedef void (*blr_fold_t)(const void *values, void *results, uint64_t lanes, enum blr_fold_step step, void *carry);

struct blr_fold {
    uint16_t opcode;
    enum blr_spirv_type_kind kind; /* type of elements */
    blr_fold_t run[4];             /* by size: 1, 2, 4, 8 bytes */
};

/* The table entry of OpGroupIAdd, OpGroupNonUniformIAdd and the like, or NULL. */
const struct blr_fold *blr_fold_of(unsigned opcode);

#endif
