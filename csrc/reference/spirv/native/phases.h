/*
 * Phases of a program: what a batch runs from one barrier to the next. Blocks that lead to one another without a barrier
 * are one phase, so that each block is in one.
 */
#ifndef BINDLESS_REFERENCE_SPIRV_NATIVE_PHASES_H
#define BINDLESS_REFERENCE_SPIRV_NATIVE_PHASES_H

#include "spirv/native/value_classes.h"

enum blr_native_use { BLR_USE_NONE, BLR_USE_READ, BLR_USE_WRITE };

/* The phase of each block, by its lowest block; allocated with blr_new, or NULL without memory. */
uint32_t *blr_native_phases(const struct blr_spirv_program *program);

/* Whether batches start in a block: the kernel's first one, or one behind a barrier. */
bool blr_native_enters(const struct blr_spirv_program *program, uint32_t block);

/* Whether an operation reads a value. */
bool blr_native_reads(const struct blr_native_values *values, uint32_t op, const struct blr_native_value *value);

/* What the blocks of a phase do with a value that blocks share. */
enum blr_native_use blr_native_use_in(const struct blr_native_values *values, const uint32_t *phases, uint32_t phase,
                                      const struct blr_native_value *value);

/* Whether a phase that a batch enters in a block leads work-items to its one barrier at once, unless their number is below a
 * bound: behind a batch without such items, all others wait. component: of the built-in variables, the number. */
bool blr_native_rests(const struct blr_native_values *values, const uint32_t *phases, uint32_t block, uint32_t *component);

#endif
