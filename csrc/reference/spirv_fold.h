/* Sums and the like of a value over work-items: of a sub-group, of a part of one, or of a work-group batch by batch. */
#ifndef BLR_SPIRV_FOLD_H
#define BLR_SPIRV_FOLD_H

#include "spirv_run.h"

enum blr_fold_step {
    BLR_FOLD_REDUCE = 0,    /* takes the values of lanes into the carry */
    BLR_FOLD_INCLUSIVE = 1, /* the same, and each lane gets what there is with its own */
    BLR_FOLD_EXCLUSIVE = 2, /* the same without its own */
    BLR_FOLD_CLUSTERED = 3, /* of instructions alone: reduces each cluster by itself */
    BLR_FOLD_START,         /* sets the carry to what changes nothing */
    BLR_FOLD_SPREAD         /* gives every lane the carry */
};

/* A step over lanes of one batch and one component; the carry has room for 8 bytes. */
typedef void (*blr_fold_t)(const void *values, void *results, uint64_t lanes, enum blr_fold_step step, void *carry);

struct blr_fold {
    uint16_t opcode;
    enum blr_spirv_type_kind kind; /* of elements */
    blr_fold_t run[4];             /* by size: 1, 2, 4, 8 bytes */
};

/* The row of OpGroupIAdd, OpGroupNonUniformIAdd and their like, or NULL. */
const struct blr_fold *blr_fold_of(unsigned opcode);

#endif
