/* Batches that run as native code (spirv/native/native_code.h). */
#ifndef BINDLESS_REFERENCE_SPIRV_EXECUTE_NATIVE_BATCHES_H
#define BINDLESS_REFERENCE_SPIRV_EXECUTE_NATIVE_BATCHES_H

#include "spirv/execute/work_items.h"

/* What a worker needs besides, for a number of batches; NULL without memory. */
struct blr_spirv_native *blr_spirv_native_new(const struct blr_spirv_program *program, uint32_t batches);
void blr_spirv_native_free(struct blr_spirv_native *native);

/* Notes the arguments of the worker's launch. */
void blr_spirv_native_start(struct blr_spirv_worker *worker);

/* Prepares a batch of lanes in one row from a position on, and advances it to the one behind them. */
void blr_spirv_native_place(struct blr_spirv_batch *batch, uint32_t lanes, struct blr_spirv_position *at);

/* Runs a batch until all its lanes have returned or wait at a barrier, from the one block where they have arrived. If the
 * native code leaves it, the executor runs the rest. False when the launch must end. */
bool blr_spirv_native_run(struct blr_spirv_batch *batch);

#endif
