/*
 * Simplification after decoding: blocks that always follow each other are merged, and operations with unused results
 * are removed. Inlined calls and folded branches leave both.
 */
#include "spirv/compile/builder.h"

#include <string.h>

struct join {
    struct blr_spirv_builder *builder;
    struct blr_spirv_step *steps; /* the new steps */
    uint32_t count;
    uint32_t *edges_in;           /* by block */
    uint32_t *uses;               /* by value: number of operations and blocks that read it */
};

static const struct blr_spirv_branch *only_edge(const struct join *join, const struct blr_spirv_part *part)
{
    return part->kind == BLR_END_BRANCH && !part->yields ? &join->builder->branches[part->first_edge] : NULL;
}

/* The only successor of a block that has no other predecessor, or BLR_NONE. */
static uint32_t follower(const struct join *join, uint32_t block)
{
    const struct blr_spirv_branch *edge = only_edge(join, &join->builder->parts[block]);
    if (edge == NULL || edge->target == block || join->builder->parts[edge->target].gathers)
        return BLR_NONE;
    return join->edges_in[edge->target] == 1 ? edge->target : BLR_NONE;
}

static void count_edges(struct join *join, const uint32_t *order, uint32_t count)
{
    join->edges_in[0] = 1; /* the entry from outside */
    for (uint32_t n = 0; n < count; n++) {
        const struct blr_spirv_part *part = &join->builder->parts[order[n]];
        for (uint32_t e = part->first_edge; e < part->first_edge + part->edge_count; e++)
            join->edges_in[join->builder->branches[e].target]++;
    }
}

/* ---------------------------------------------------------------- unused results */

static void count_uses(struct join *join, const struct blr_spirv_step *step, uint32_t change)
{
    for (int k = 0; k < 4; k++)
        if (step->in[k] != BLR_NONE)
            join->uses[step->in[k]] += change;
}

static void count_uses_of(struct join *join, uint32_t first, uint32_t end)
{
    for (uint32_t s = first; s < end; s++)
        count_uses(join, &join->builder->steps[s], 1);
}

/* Removes the reads of operations whose results are unused, from the last to the first. */
static void drop(struct join *join, uint32_t first, uint32_t end, bool *changed)
{
    for (uint32_t s = end; s-- > first;) {
        struct blr_spirv_step *step = &join->builder->steps[s];
        if (!step->pure || step->result == BLR_NONE || join->uses[step->result] != 0)
            continue;
        count_uses(join, step, UINT32_MAX);
        step->result = BLR_NONE;
        *changed = true;
    }
}

static void leave_out(struct join *join, const uint32_t *order, uint32_t count)
{
    struct blr_spirv_builder *builder = join->builder;
    for (uint32_t n = 0; n < count; n++) {
        const struct blr_spirv_part *part = &builder->parts[order[n]];
        count_uses_of(join, part->first, part->end);
        if (part->meeting != BLR_NONE)
            count_uses_of(join, part->meeting, part->meeting + 1);
        if (part->kind == BLR_END_CHOICE || part->kind == BLR_END_SWITCH)
            join->uses[part->condition]++;
        for (uint32_t e = part->first_edge; e < part->first_edge + part->edge_count; e++)
            count_uses_of(join, builder->branches[e].first_move, builder->branches[e].end_move);
    }
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t n = count; n-- > 0;) {
            const struct blr_spirv_part *part = &builder->parts[order[n]];
            for (uint32_t e = part->first_edge; e < part->first_edge + part->edge_count; e++)
                drop(join, builder->branches[e].first_move, builder->branches[e].end_move, &changed);
            drop(join, part->first, part->end, &changed);
        }
    }
}

/* ---------------------------------------------------------------- merging */

static void append(struct join *join, uint32_t first, uint32_t end)
{
    for (uint32_t s = first; s < end; s++)
        if (!join->builder->steps[s].pure || join->builder->steps[s].result != BLR_NONE)
            join->steps[join->count++] = join->builder->steps[s];
}

/* Appends a block and its chain of only successors; phi moves become ordinary operations. */
static void join_chain(struct join *join, uint32_t block)
{
    struct blr_spirv_builder *builder = join->builder;
    struct blr_spirv_part *part = &builder->parts[block];
    uint32_t begin = join->count, last = block;
    append(join, part->first, part->end);
    for (uint32_t next; (next = follower(join, last)) != BLR_NONE; last = next) {
        const struct blr_spirv_branch *edge = only_edge(join, &builder->parts[last]);
        append(join, edge->first_move, edge->end_move);
        append(join, builder->parts[next].first, builder->parts[next].end);
    }
    uint32_t edges_in = part->edges_in;
    bool gathers = part->gathers;
    *part = builder->parts[last];
    part->edges_in = edges_in;
    part->gathers = gathers;
    part->first = begin;
    part->end = join->count;
    if (part->meeting != BLR_NONE) {
        join->steps[join->count] = builder->steps[part->meeting];
        part->meeting = join->count++;
    }
    for (uint32_t e = part->first_edge; e < part->first_edge + part->edge_count; e++) {
        struct blr_spirv_branch *branch = &builder->branches[e];
        uint32_t first = join->count;
        append(join, branch->first_move, branch->end_move);
        branch->first_move = first;
        branch->end_move = join->count;
    }
}

uint32_t blr_spirv_join(struct blr_spirv_builder *builder, uint32_t *order, uint32_t count)
{
    struct join join = {.builder = builder};
    join.steps = blr_spirv_allocate(builder->build, builder->step_count + 1u, sizeof *join.steps);
    join.edges_in = blr_spirv_allocate(builder->build, builder->part_count, sizeof *join.edges_in);
    join.uses = blr_spirv_allocate(builder->build, builder->value_count + 1u, sizeof *join.uses);
    bool *followers = blr_spirv_allocate(builder->build, builder->part_count, sizeof *followers);
    count_edges(&join, order, count);
    leave_out(&join, order, count);
    for (uint32_t n = 0; n < count; n++) {
        uint32_t next = follower(&join, order[n]);
        if (next != BLR_NONE)
            followers[next] = true;
    }
    uint32_t number = 0;
    for (uint32_t n = 0; n < count; n++) {
        if (followers[order[n]])
            continue;
        join_chain(&join, order[n]);
        builder->parts[order[n]].number = number;
        order[number++] = order[n];
    }
    builder->steps = join.steps;
    builder->step_count = join.count;
    return number;
}
