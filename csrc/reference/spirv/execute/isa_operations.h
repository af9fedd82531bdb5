/*
 * Instruction sets: kernel operations are compiled once for each set of vector instructions. Programs are decoded with
 * the baseline operations; the last step of decoding replaces them with those of the best set.
 */
#ifndef BINDLESS_REFERENCE_SPIRV_EXECUTE_ISA_OPERATIONS_H
#define BINDLESS_REFERENCE_SPIRV_EXECUTE_ISA_OPERATIONS_H

#include "spirv/execute/interpreter.h"

#define BLR_SET_MOST 2048u /* capacity for the operations of a set */

struct blr_spirv_set {
    const char *name;
    bool (*run_batch)(struct blr_spirv_batch *batch);
    const blr_spirv_run_t *affine; /* by form */
    /* Lists its operations, in an order common to all sets, with duplicates, and NULL for missing ones. */
    uint32_t (*list)(blr_spirv_run_t *runs);
};

extern const struct blr_spirv_set blr_spirv_set_of_this;

/* The sets that this processor supports, baseline first; returns their number. */
#define BLR_SETS 3u
uint32_t blr_spirv_sets(const struct blr_spirv_set *sets[BLR_SETS]);

/* The best supported set. */
const struct blr_spirv_set *blr_spirv_best_set(void);

/* The best set's version of a baseline operation; an operation without one is returned unchanged. */
blr_spirv_run_t blr_spirv_in_best_set(blr_spirv_run_t run);

#endif
