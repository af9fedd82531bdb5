/* Rows of batches that take one path through a program without loops. */
#ifndef BINDLESS_REFERENCE_SPIRV_EXECUTE_ROWS_H
#define BINDLESS_REFERENCE_SPIRV_EXECUTE_ROWS_H

#include "spirv/execute/work_items.h"

/* Whether all lanes of a row can take one path, which is known before any of them runs. */
bool blr_spirv_has_rows(const struct blr_spirv_program *program);

/* What a worker needs for rows; NULL without memory. */
struct blr_spirv_row *blr_spirv_row_new(void);

/* Runs whole batches of one row from a position on, which it advances: most of them at most. Returns their number; 0 if
 * even two would part. After a fault, and where the part must stop, *goes_on is false. */
uint64_t blr_spirv_run_row(struct blr_spirv_worker *worker, uint64_t first_item, uint64_t most, struct blr_spirv_position *at,
                           bool *goes_on);

#endif
