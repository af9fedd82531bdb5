/*
 * Rows of batches that take one path.
 *
 * Ids of work-items, and what programs compute from them to address memory, are lines over a whole row of work-items,
 * not over the 64 of a batch alone. A row is therefore first followed as if it were one long batch, with bases and
 * strides only: each branch must go the same way for all of its work-items. What remains are the steps that need lanes:
 * loads, stores, arithmetic. They run batch by batch, with the lines that they read moved on by 64 work-items each time.
 */
#include "spirv/execute/rows.h"

#include "spirv/execute/affine.h"

#define MOST_STEPS 128u
#define MOST_LINES 256u
#define MOST_BATCHES 64u
#define MOST_FETCHED 512u
#define AHEAD 8u /* batches from the fetch of memory to its use */

struct line {
    uint32_t place;
    struct blr_affine value; /* of the next batch */
};

struct blr_spirv_row {
    struct step {
        const struct blr_spirv_op *op;
        uint32_t lines; /* how many of the lines precede its own */
    } steps[MOST_STEPS + 1];
    struct line lines[MOST_LINES];
    uint32_t step_count, line_count;
};

bool blr_spirv_has_rows(const struct blr_spirv_program *program)
{
    /* Addresses of private memory count lanes, but do not go on from batch to batch. */
    if (program->has_loops || program->has_barriers || program->uses_local || program->private_bytes > 0 || program->op_count > MOST_STEPS)
        return false;
    for (uint32_t b = 0; b < program->block_count; b++)
        if (program->blocks[b].kind == BLR_END_SWITCH || (program->blocks[b].kind == BLR_END_CHOICE && !program->blocks[b].is_affine))
            return false;
    return true;
}

struct blr_spirv_row *blr_spirv_row_new(void) { return blr_new(sizeof(struct blr_spirv_row)); }

/* ---------------------------------------------------------------- the path */

static void leave_out(struct blr_spirv_batch *batch, const struct blr_spirv_op *op, unsigned char *result)
{
    (void)batch;
    (void)op;
    (void)result;
}

/* Whether an operation computes base and stride alone from those of its operands. */
static bool is_of_lines(const struct blr_spirv_op *op)
{
    return op->is_affine && op->form != BLR_AFFINE_NONE && op->form != BLR_AFFINE_UNIFORM && op->form != BLR_AFFINE_LOAD;
}

/* Follows one operation with lines alone, or notes it as a step. False if there are too many. */
static bool follow_op(struct blr_spirv_batch *batch, const struct blr_spirv_op *op)
{
    struct blr_spirv_row *row = batch->worker->row;
    if (is_of_lines(op)) {
        struct blr_spirv_op alone = *op;
        alone.plain = leave_out;
        alone.expand = 0;
        alone.run(batch, &alone, batch->registers + op->result);
        if (blr_affine_at(batch, op->result)->is_affine)
            return true;
    } else if (op->is_affine) {
        blr_affine_at(batch, op->result)->is_affine = false;
    }
    row->steps[row->step_count++] = (struct step){op, row->line_count};
    for (uint32_t operands = op->expand; operands != 0; operands &= operands - 1) {
        const uint32_t place = op->in[__builtin_ctz(operands)];
        const struct blr_affine *value = blr_affine_at(batch, place);
        if (!value->is_affine || value->has_lanes)
            continue; /* lanes; or the same in all batches, or filled anew for each */
        if (row->line_count == MOST_LINES)
            return false;
        row->lines[row->line_count++] = (struct line){place, *value};
    }
    return true;
}

static bool follow_ops(struct blr_spirv_batch *batch, uint32_t first, uint32_t end)
{
    for (uint32_t n = first; n < end; n++)
        if (!follow_op(batch, &batch->worker->program->ops[n]))
            return false;
    return true;
}

/* Follows the path of a number of batches, whose first one has its built-in variables. False if they part. */
static bool follow(struct blr_spirv_batch *batch, uint64_t batches)
{
    const struct blr_spirv_program *program = batch->worker->program;
    struct blr_spirv_row *row = batch->worker->row;
    row->step_count = row->line_count = 0;
    batch->mask = batch->alive = BLR_ALL_LANES;
    batch->whole = true;
    batch->low = 0;
    batch->high = (uint32_t)(batches * BLR_LANES - 1);
    for (uint32_t number = program->first_block;;) {
        const struct blr_spirv_block *block = &program->blocks[number];
        const struct blr_affine *condition = blr_affine_at(batch, block->condition);
        if (!follow_ops(batch, block->first, block->end))
            return false;
        if (block->kind == BLR_END_RETURN)
            return true;
        if (block->kind == BLR_END_CHOICE && !condition->is_affine)
            return false;
        const bool no = block->kind == BLR_END_CHOICE && condition->base == 0;
        const struct blr_spirv_edge *edge = &program->edges[block->first_edge + no];
        if (!follow_ops(batch, edge->first_move, edge->end_move))
            return false;
        number = edge->target;
    }
}

/* ---------------------------------------------------------------- batches */

/* Whether each batch needs lanes of built-in variables. */
static bool fills_lanes(const struct blr_spirv_launch *launch)
{
    const struct blr_spirv_program *program = launch->program;
    const bool single = launch->local[0] * launch->local[1] * launch->local[2] == 1;
    for (uint32_t i = 0; i < program->builtin_count; i++) {
        const struct blr_spirv_builtin_use *use = &program->builtins[i];
        if (!blr_spirv_is_of_launch(use->what) &&
            (!use->is_affine || use->has_lanes || blr_spirv_course_of(use->what, 0, single) == BLR_COURSE_OTHER))
            return true;
    }
    return false;
}

/* Fetches what a later batch will load or store, which need not exist. */
static inline void prefetch(uint64_t base, uint64_t stride)
{
    const uint64_t bytes = BLR_LANES * stride;
    for (uint64_t k = 0; k < bytes && bytes <= MOST_FETCHED; k += 64)
        __builtin_prefetch((const void *)(uintptr_t)(base + AHEAD * bytes + k));
}

/* Runs the steps of the row for one batch; false after a fault. */
static bool run_steps(struct blr_spirv_batch *batch)
{
    struct blr_spirv_row *row = batch->worker->row;
    const struct blr_spirv_op *const running = batch->worker->program->ops + batch->worker->program->op_count;
    batch->end = running;
    row->steps[row->step_count].lines = row->line_count;
    for (uint32_t n = 0; n < row->step_count && batch->end == running; n++) {
        const struct blr_spirv_op *op = row->steps[n].op;
        for (uint32_t k = row->steps[n].lines; k < row->steps[n + 1].lines; k++) {
            struct line *line = &row->lines[k];
            blr_affine_set(batch, line->place, line->value.size, line->value.base, line->value.stride, false);
            if ((op->form == BLR_AFFINE_LOAD || op->form == BLR_AFFINE_STORE) && line->place == op->in[0])
                prefetch(line->value.base, line->value.stride);
            line->value.base += BLR_LANES * line->value.stride;
        }
        op->run(batch, op, batch->registers + op->result);
    }
    return batch->end == running;
}

uint64_t blr_spirv_run_row(struct blr_spirv_worker *worker, uint64_t first_item, uint64_t most, struct blr_spirv_position *at,
                           bool *goes_on)
{
    struct blr_spirv_batch *batch = worker->batches;
    const bool fills = fills_lanes(worker->launch);
    const struct blr_spirv_position start = *at;
    uint64_t batches = most < MOST_BATCHES ? most : MOST_BATCHES;
    for (; batches > 1; batches /= 2) {
        *at = start;
        blr_spirv_fill_builtins(batch, BLR_LANES, at);
        if (follow(batch, batches))
            break;
    }
    *at = start;
    if (batches < 2)
        return 0;
    batch->high = BLR_LANES - 1;
    for (uint64_t b = 0; b < batches; b++) {
        batch->first_item = first_item + b * BLR_LANES;
        if (fills)
            blr_spirv_fill_builtins(batch, BLR_LANES, at);
        *goes_on = run_steps(batch) && (--worker->patience > 0 || blr_spirv_may_go_on(worker));
        if (!*goes_on)
            return b;
    }
    if (!fills)
        blr_spirv_advance(worker->launch, at, batches * BLR_LANES);
    return batches;
}
