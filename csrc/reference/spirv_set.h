/*
 * The operations of kernels as compiled for one set of vector instructions. Programs are decoded with the plain ones,
 * which every processor runs; the last step of decoding puts those of the best set in their places.
 */
#ifndef BLR_SPIRV_SET_H
#define BLR_SPIRV_SET_H

#include "spirv_run.h"

#define BLR_SET_MOST 2048u /* operations of a set */

struct blr_spirv_set {
    const char *name;
    bool (*run_batch)(struct blr_spirv_batch *batch);
    /* Writes its operations, in an order that all sets have, some more than once and NULL where there is none. */
    uint32_t (*list)(blr_spirv_run_t *runs);
};

extern const struct blr_spirv_set blr_spirv_set_of_this;

/* Sets that this processor runs, the plain one first; returns how many. */
#define BLR_SETS 3u
uint32_t blr_spirv_sets(const struct blr_spirv_set *sets[BLR_SETS]);

/* The best of them. */
const struct blr_spirv_set *blr_spirv_best_set(void);

/* A plain operation as the best set has it; one that no set has stays what it is. */
blr_spirv_run_t blr_spirv_in_best_set(blr_spirv_run_t run);

#endif
