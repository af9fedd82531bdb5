/* Work-items of a launch: their positions, arguments and built-in variables. */
#ifndef BINDLESS_REFERENCE_SPIRV_EXECUTE_WORK_ITEMS_H
#define BINDLESS_REFERENCE_SPIRV_EXECUTE_WORK_ITEMS_H

#include "spirv/execute/interpreter.h"

#define BLR_SHORTEST_ROW 16u /* work-items of a row that are worth a batch of their own */

struct blr_spirv_position {
    uint64_t group[3], local[3];
    uint64_t index; /* index within the group */
};

/* Behaviour of a built-in variable along a row: increments by 1, stays constant, or neither. */
enum blr_spirv_course { BLR_COURSE_COUNTS, BLR_COURSE_STAYS, BLR_COURSE_OTHER };

/* What a preset holds, in lane 0. */
uint64_t blr_spirv_preset_value(const struct blr_spirv_batch *batch, const struct blr_spirv_preset *preset);

/* Fills presets that are the same for all work-items, and structs passed by value in each work-item's memory. */
void blr_spirv_fill_presets(struct blr_spirv_batch *batch);
void blr_spirv_fill_structs(struct blr_spirv_batch *batch);

/* Writes the variables that hold addresses in the work-group's memory. */
void blr_spirv_fill_tables(struct blr_spirv_worker *worker);

struct blr_spirv_position blr_spirv_position_of(const struct blr_spirv_launch *launch, uint64_t item);
uint64_t blr_spirv_row_from(const struct blr_spirv_launch *launch, const struct blr_spirv_position *at);
void blr_spirv_advance(const struct blr_spirv_launch *launch, struct blr_spirv_position *at, uint64_t items);

uint64_t blr_spirv_builtin_value(const struct blr_spirv_launch *launch, const struct blr_spirv_position *at,
                                 enum blr_spirv_builtin what, uint32_t c);
bool blr_spirv_is_of_launch(enum blr_spirv_builtin what);
enum blr_spirv_course blr_spirv_course_of(enum blr_spirv_builtin what, uint32_t c, bool single);

/* Fills the built-in variables for the work-items from a position on, and advances it to the one behind them. */
void blr_spirv_fill_builtins(struct blr_spirv_batch *batch, uint32_t lanes, struct blr_spirv_position *at);
/* Fills the launch's uniform built-in variables, once for all batches that run in these registers. */
void blr_spirv_fill_launch_builtins(struct blr_spirv_batch *batch);

#endif
