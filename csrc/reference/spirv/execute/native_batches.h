/* Batches that run as native code (spirv/native/native_code.h). */
#ifndef BINDLESS_REFERENCE_SPIRV_EXECUTE_NATIVE_BATCHES_H
#define BINDLESS_REFERENCE_SPIRV_EXECUTE_NATIVE_BATCHES_H

#include "spirv/execute/work_items.h"

/* What a worker needs besides, for a number of batches; NULL without memory. */
struct blr_spirv_native *blr_spirv_native_new(const struct blr_spirv_program *program, uint32_t batches);
void blr_spirv_native_free(struct blr_spirv_native *native);

/* Notes the arguments of the worker's launch. */
void blr_spirv_native_start(struct blr_spirv_worker *worker);

/* How many work-items from a position on native code runs, of a number that remain: the rest of the row, as far as the
 * executor would not run them together with those of the next row. 0 without native code. */
uint64_t blr_spirv_native_items(const struct blr_spirv_worker *worker, const struct blr_spirv_position *at, uint64_t rest);

/* Runs work-items of one row from a position on, which it advances. False when the launch must end. */
bool blr_spirv_native_run_items(struct blr_spirv_worker *worker, uint64_t first_item, uint64_t items, struct blr_spirv_position *at);

/* Whether native code runs the launch's work-groups: each batch is within a row. */
bool blr_spirv_native_runs_groups(const struct blr_spirv_worker *worker);

/* Runs work-groups of one row of groups. Where the native code leaves a group, run_group is to finish it. False when the
 * launch must end. */
bool blr_spirv_native_run_groups(struct blr_spirv_worker *worker, uint64_t first_group, uint64_t groups,
                                 bool (*run_group)(struct blr_spirv_worker *worker));

#endif
