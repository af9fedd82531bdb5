/* Execution of blocks: the mask of active lanes, and the edges that lanes take. */
#include "spirv/execute/affine.h"
#include "spirv/execute/operations.h"
#include "spirv/execute/interpreter.h"
#include "spirv/waits/waits.h"

#include <string.h>

/* ---------------------------------------------------------------- masks */

#define BLEND(T, mask)                                                                                                 \
    for (size_t k = 0; k < op->count; k += BLR_LANES) {                                                                \
        T *r = (T *)(batch->registers + op->result) + k;                                                               \
        const T *s = (const T *)from + k;                                                                              \
        for (size_t i = 0; i < BLR_LANES; i++)                                                                         \
            r[i] = (T)((r[i] & ~batch->mask[i]) | (s[i] & batch->mask[i]));                                            \
    }

void blr_spirv_blend(struct blr_spirv_batch *batch, const struct blr_spirv_op *op, const unsigned char *from)
{
    if (batch->expanded != batch->mask)
        blr_spirv_expand_mask(batch);
    switch (op->element) {
    case 1: BLEND(uint8_t, mask8); break;
    case 2: BLEND(uint16_t, mask16); break;
    case 4: BLEND(uint32_t, mask32); break;
    default: BLEND(uint64_t, mask64); break;
    }
}

static void run_ops(struct blr_spirv_batch *batch, uint32_t first, uint32_t end)
{
    const struct blr_spirv_op *ops = batch->worker->launch->program->ops;
    const bool whole = (batch->alive & ~batch->mask) == 0; /* the values of lanes that have returned do not matter */
    batch->whole = whole;
    batch->low = (uint32_t)__builtin_ctzll(batch->mask);
    batch->high = 63u - (uint32_t)__builtin_clzll(batch->mask);
    batch->end = ops + end;
    if (whole) {
        for (const struct blr_spirv_op *op = ops + first; op < batch->end; op++)
            op->run(batch, op, batch->registers + op->result);
        return;
    }
    for (const struct blr_spirv_op *op = ops + first; op < batch->end; op++) {
        if (!op->blend) {
            op->run(batch, op, batch->registers + op->result);
        } else if (op->run == blr_spirv_run_copy) {
            blr_spirv_blend(batch, op, batch->registers + op->in[0]);
        } else {
            op->run(batch, op, batch->scratch);
            blr_spirv_blend(batch, op, batch->scratch);
        }
    }
}

/* ---------------------------------------------------------------- edges */

static void follow_edge(struct blr_spirv_batch *batch, const struct blr_spirv_edge *edge, uint64_t lanes)
{
    if (lanes == 0)
        return;
    if (edge->end_move > edge->first_move) {
        uint64_t mask = batch->mask;
        batch->mask = lanes;
        run_ops(batch, edge->first_move, edge->end_move);
        batch->mask = mask;
    }
    if (batch->is_restless && edge->target <= batch->running)
        blr_spirv_rest(batch, edge->target, lanes);
    else
        blr_spirv_arrive(batch, edge->target, lanes);
}

/* Mask of the lanes whose byte is 1; the others are 0. */
static uint64_t lanes_of_bytes(const uint8_t *bytes)
{
    uint64_t lanes = 0;
    for (uint32_t byte = 0; byte < 8; byte++) {
        uint64_t eight;
        memcpy(&eight, bytes + byte * 8, 8);
        /* Gathers the bits into the highest byte. */
        lanes |= ((eight * 0x0102040810204080u) >> 56) << byte * 8;
    }
    return lanes;
}

/* Mask of the lanes in which the condition of a block holds. */
static uint64_t lanes_that_hold(const struct blr_spirv_batch *batch, const struct blr_spirv_block *block)
{
    const struct blr_affine *value = blr_affine_at(batch, block->condition);
    if (block->is_affine && value->is_affine)
        return value->base != 0 ? BLR_ALL_LANES : 0;
    return lanes_of_bytes(batch->registers + block->condition);
}

#define EQUAL(T)                                                                                                       \
    for (size_t i = 0; i < BLR_LANES; i++)                                                                             \
        equal[i] = (uint64_t)((const T *)selector)[i] == literal

static uint64_t lanes_that_equal(const struct blr_spirv_batch *batch, uint32_t place, uint32_t size, uint64_t literal)
{
    const void *selector = batch->registers + place;
    uint8_t equal[BLR_LANES];
    switch (size) {
    case 1: EQUAL(uint8_t); break;
    case 2: EQUAL(uint16_t); break;
    case 4: EQUAL(uint32_t); break;
    default: EQUAL(uint64_t); break;
    }
    return lanes_of_bytes(equal);
}

static void follow_switch(struct blr_spirv_batch *batch, const struct blr_spirv_block *block,
                          const struct blr_spirv_edge *edges)
{
    uint64_t rest = batch->mask;
    if (block->is_affine)
        blr_affine_expand(batch, block->condition);
    for (uint32_t i = 1; i < block->edge_count && rest != 0; i++) {
        uint64_t lanes = rest & lanes_that_equal(batch, block->condition, block->size, block->literals[i - 1]);
        follow_edge(batch, &edges[i], lanes);
        rest &= ~lanes;
    }
    follow_edge(batch, &edges[0], rest);
}

/* ---------------------------------------------------------------- blocks */

static bool lowest_occupied(const struct blr_spirv_batch *batch, uint32_t words, uint32_t *block)
{
    for (uint32_t w = 0; w < words; w++)
        if (batch->occupied[w] != 0) {
            *block = w * 64 + (uint32_t)__builtin_ctzll(batch->occupied[w]);
            return true;
        }
    return false;
}

/* The lanes of sub-groups in which some rest. */
static uint64_t tired(const struct blr_spirv_batch *batch)
{
    return ((uint32_t)batch->resting != 0 ? UINT32_MAX : 0) | (batch->resting >> BLR_WARP != 0 ? (uint64_t)UINT32_MAX << BLR_WARP : 0);
}

/* The same as lowest_occupied, for lanes that need not wait. In a loose batch, what needs the lanes of a sub-group together comes
 * after everything else. */
static bool next_block(const struct blr_spirv_batch *batch, uint32_t words, uint32_t *number, uint64_t *lanes)
{
    const struct blr_spirv_block *blocks = batch->worker->launch->program->blocks;
    const uint64_t rested = ~tired(batch);
    bool any = false;
    for (uint32_t w = 0; w < words; w++)
        for (uint64_t bits = batch->occupied[w]; bits != 0; bits &= bits - 1) {
            const uint32_t block = w * 64 + (uint32_t)__builtin_ctzll(bits);
            const bool goes = batch->is_loose && !blocks[block].gathers;
            const uint64_t able = goes ? batch->arrived[block] : batch->arrived[block] & rested;
            if (able == 0 || (any && !goes))
                continue;
            *number = block;
            *lanes = able;
            if (goes || !batch->is_loose)
                return true;
            any = true;
        }
    return any;
}

bool blr_spirv_run_batch(struct blr_spirv_batch *batch)
{
    struct blr_spirv_worker *worker = batch->worker;
    const struct blr_spirv_program *program = worker->launch->program;
    const uint32_t words = (program->block_count + 63) / 64;
    uint32_t number;
    for (;;) {
        uint64_t lanes;
        if (batch->resting == 0 && !batch->is_loose) {
            if (!lowest_occupied(batch, words, &number))
                break;
            lanes = batch->arrived[number];
        } else if (!next_block(batch, words, &number, &lanes)) {
            break;
        }
        const struct blr_spirv_block *block = &program->blocks[number];
        const struct blr_spirv_edge *edges = &program->edges[block->first_edge];
        batch->mask = lanes;
        batch->arrived[number] &= ~lanes;
        if (batch->arrived[number] == 0)
            batch->occupied[number / 64] &= ~((uint64_t)1 << number % 64);
        run_ops(batch, batch->resume != 0 ? batch->resume - 1 : block->first, block->end);
        batch->resume = 0;
        if (worker->fault.happened)
            return false;
        bool pauses = false;
        if (block->loops && --worker->patience == 0) {
            if (!blr_spirv_may_go_on(worker))
                return false;
            batch->is_restless = program->is_independent && program->has_atomics;
            batch->running = number;
            pauses = worker->launch->is_cooperative && !batch->is_restless;
        }
        if (block->yields) {
            batch->is_restless = true;
            batch->running = UINT32_MAX;
        }
        if (block->kind == BLR_END_BRANCH) {
            follow_edge(batch, &edges[0], batch->mask);
        } else if (block->kind == BLR_END_CHOICE) {
            uint64_t yes = lanes_that_hold(batch, block) & batch->mask;
            follow_edge(batch, &edges[0], yes);
            follow_edge(batch, &edges[1], batch->mask & ~yes);
        } else if (block->kind == BLR_END_SWITCH) {
            follow_switch(batch, block, edges);
        } else if (block->kind == BLR_END_RETURN) {
            batch->alive &= ~batch->mask;
        } else if (block->is_numbered) {
            const struct blr_spirv_op *op = &program->ops[block->meeting];
            batch->running = number;
            op->run(batch, op, NULL);
            if (worker->fault.happened)
                return false;
        } else if (batch->waiting != 0 && batch->waiting_in != number && program->is_independent) {
            blr_barrier_wait_for_all(batch, number, batch->mask);
        } else {
            if (batch->waiting != 0 && batch->waiting_in != number) {
                blr_spirv_fault(batch, NULL, 0, BLR_RESULT_KERNEL_FAULT,
                                "work-items of one group wait at different barriers");
                return false;
            }
            batch->waiting |= batch->mask;
            batch->waiting_in = number;
        }
        batch->is_restless = false;
        if (pauses) {
            worker->pauses = true;
            return true;
        }
    }
    if (batch->resting != 0) {
        worker->pauses = true;
        blr_spirv_wake(batch);
    }
    return true;
}
