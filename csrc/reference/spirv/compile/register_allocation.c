/*
 * Register allocation, and the final form of a program.
 *
 * A value used in one block occupies its registers from its first to its last operation; later values reuse them. A
 * value used in several blocks has registers of its own, and inactive lanes keep their previous value when it is
 * written.
 */
#include "spirv/compile/builder.h"
#include "spirv/execute/isa_operations.h"

#include <string.h>

#define SHARED_SIZES 129u /* values of fewer bytes a lane share registers */

struct place_list {
    uint32_t *places;
    uint32_t count, capacity;
};

struct allotter {
    struct blr_spirv_builder *builder;
    uint64_t used; /* bytes of registers allocated */
    struct place_list free[SHARED_SIZES];
};

static void touch(struct blr_spirv_builder *builder, uint32_t value, uint32_t block, uint32_t step)
{
    if (value == BLR_NONE)
        return;
    struct blr_spirv_value *entry = &builder->values[value];
    if (entry->block == BLR_NONE) {
        entry->block = block;
        entry->first = step;
    }
    if (entry->block != block)
        entry->crosses = true;
    entry->last = step;
}

/* Operands and results of a meeting have registers of their own: other lanes may run other blocks until all have
 * arrived. */
static void keep(struct blr_spirv_builder *builder, uint32_t value)
{
    if (value != BLR_NONE)
        builder->values[value].crosses = true;
}

/* Computes the blocks that use each value. Steps are numbered in the order of the walk. */
static void find_uses(struct blr_spirv_builder *builder, const uint32_t *order, uint32_t count)
{
    for (uint32_t n = 0; n < count; n++) {
        const struct blr_spirv_part *part = &builder->parts[order[n]];
        for (uint32_t s = part->first; s < part->end; s++) {
            for (int k = 0; k < 4; k++)
                touch(builder, builder->steps[s].in[k], n, s);
            touch(builder, builder->steps[s].result, n, s);
        }
        if (part->kind == BLR_END_CHOICE || part->kind == BLR_END_SWITCH)
            touch(builder, part->condition, n, part->end);
        for (int k = 0; k < 4 && part->meeting != BLR_NONE; k++)
            keep(builder, builder->steps[part->meeting].in[k]);
        if (part->meeting != BLR_NONE)
            keep(builder, builder->steps[part->meeting].result);
        for (uint32_t e = part->first_edge; e < part->first_edge + part->edge_count; e++) {
            const struct blr_spirv_branch *branch = &builder->branches[e];
            for (uint32_t s = branch->first_move; s < branch->end_move; s++) {
                touch(builder, builder->steps[s].in[0], n, part->end);
                builder->values[builder->steps[s].result].crosses = true;
            }
        }
    }
}

static uint32_t new_place(struct allotter *allotter, uint32_t lane_bytes)
{
    uint64_t place = allotter->used;
    allotter->used += (uint64_t)lane_bytes * BLR_LANES;
    if (allotter->used > BLR_SPIRV_MAX_REGISTERS)
        blr_spirv_refuse(allotter->builder->build, allotter->builder->program->entry->word,
                         "the kernel '%.80s' needs more than %u bytes of registers for each work-item",
                         allotter->builder->program->entry->name, (unsigned)(BLR_SPIRV_MAX_REGISTERS / BLR_LANES));
    return (uint32_t)place;
}

static void take(struct allotter *allotter, uint32_t value, uint32_t step)
{
    if (value == BLR_NONE)
        return;
    struct blr_spirv_value *entry = &allotter->builder->values[value];
    if (entry->crosses || entry->preset || entry->first != step || entry->place != BLR_NONE)
        return;
    struct place_list *list = entry->lane_bytes < SHARED_SIZES ? &allotter->free[entry->lane_bytes] : NULL;
    if (list != NULL && list->count > 0)
        entry->place = list->places[--list->count];
    else
        entry->place = new_place(allotter, entry->lane_bytes);
}

static void give_back(struct allotter *allotter, uint32_t value, uint32_t step)
{
    if (value == BLR_NONE)
        return;
    struct blr_spirv_value *entry = &allotter->builder->values[value];
    if (entry->crosses || entry->preset || entry->last != step || entry->lane_bytes >= SHARED_SIZES)
        return;
    struct place_list *list = &allotter->free[entry->lane_bytes];
    entry->last = BLR_NONE; /* handled once */
    list->places = blr_spirv_grow(allotter->builder->build, list->places, list->count, &list->capacity, sizeof(uint32_t));
    list->places[list->count++] = entry->place;
}

static void allot(struct allotter *allotter, const uint32_t *order, uint32_t count)
{
    struct blr_spirv_builder *builder = allotter->builder;
    for (uint32_t v = 0; v < builder->value_count; v++) {
        struct blr_spirv_value *value = &builder->values[v];
        value->place = value->crosses || value->preset ? new_place(allotter, value->lane_bytes) : BLR_NONE;
    }
    for (uint32_t n = 0; n < count; n++) {
        const struct blr_spirv_part *part = &builder->parts[order[n]];
        for (uint32_t s = part->first; s < part->end; s++) {
            const struct blr_spirv_step *step = &builder->steps[s];
            take(allotter, step->result, s);
            for (int k = 0; k < 4; k++)
                take(allotter, step->in[k], s); /* a value that nothing wrote: any registers will do */
            give_back(allotter, step->result, s);
            for (int k = 0; k < 4; k++)
                give_back(allotter, step->in[k], s);
        }
        if (part->kind == BLR_END_CHOICE || part->kind == BLR_END_SWITCH)
            take(allotter, part->condition, part->end);
        for (uint32_t e = part->first_edge; e < part->first_edge + part->edge_count; e++)
            for (uint32_t s = builder->branches[e].first_move; s < builder->branches[e].end_move; s++)
                take(allotter, builder->steps[s].in[0], part->end);
        for (uint32_t e = part->first_edge; e < part->first_edge + part->edge_count; e++)
            for (uint32_t s = builder->branches[e].first_move; s < builder->branches[e].end_move; s++)
                give_back(allotter, builder->steps[s].in[0], part->end);
        if (part->kind == BLR_END_CHOICE || part->kind == BLR_END_SWITCH)
            give_back(allotter, part->condition, part->end);
    }
}

static uint32_t place_of(const struct blr_spirv_builder *builder, uint32_t value, uint32_t lane)
{
    return value == BLR_NONE ? 0 : builder->values[value].place + lane * BLR_LANES;
}

static void finish_step(struct blr_spirv_builder *builder, uint32_t number, struct blr_spirv_op *op, uint64_t *scratch)
{
    const struct blr_spirv_step *step = &builder->steps[number];
    *op = step->op;
    op->run = blr_spirv_in_best_set(op->run);
    op->result = place_of(builder, step->result, step->result_lane);
    for (int k = 0; k < 4; k++)
        op->in[k] = place_of(builder, step->in[k], step->in_lane[k]);
    op->blend = step->result != BLR_NONE && builder->values[step->result].crosses;
    blr_spirv_use_affine(builder, step, op);
    uint64_t bytes = (uint64_t)op->count * op->element;
    if (bytes > *scratch)
        *scratch = bytes;
}

void blr_spirv_finish(struct blr_spirv_builder *builder, const uint32_t *order, uint32_t count)
{
    struct blr_spirv_program *program = builder->program;
    struct allotter *allotter = blr_spirv_allocate(builder->build, 1, sizeof *allotter);
    allotter->builder = builder;
    find_uses(builder, order, count);
    blr_spirv_find_affine(builder, order, count);
    allot(allotter, order, count);
    struct blr_spirv_op *ops = blr_spirv_allocate(builder->build, builder->step_count + 1u, sizeof *ops);
    struct blr_spirv_block *blocks = blr_spirv_allocate(builder->build, count + 1u, sizeof *blocks);
    struct blr_spirv_edge *edges = blr_spirv_allocate(builder->build, builder->branch_count + 1u, sizeof *edges);
    uint32_t op_count = 0, edge_count = 0;
    for (uint32_t n = 0; n < count; n++) {
        const struct blr_spirv_part *part = &builder->parts[order[n]];
        struct blr_spirv_block *block = &blocks[n];
        block->kind = part->kind;
        block->condition = part->kind == BLR_END_CHOICE || part->kind == BLR_END_SWITCH
                               ? place_of(builder, part->condition, part->condition_lane)
                               : 0;
        block->is_affine = (part->kind == BLR_END_CHOICE || part->kind == BLR_END_SWITCH) &&
                           builder->values[part->condition].is_affine;
        block->size = part->size;
        block->literals = part->literals;
        block->yields = part->yields;
        block->gathers = part->gathers;
        block->is_numbered = part->is_numbered;
        block->first = op_count;
        for (uint32_t s = part->first; s < part->end; s++)
            finish_step(builder, s, &ops[op_count++], &program->scratch_bytes);
        block->end = op_count;
        block->first_edge = edge_count;
        block->edge_count = part->edge_count;
        for (uint32_t e = part->first_edge; e < part->first_edge + part->edge_count; e++) {
            const struct blr_spirv_branch *branch = &builder->branches[e];
            struct blr_spirv_edge *edge = &edges[edge_count++];
            edge->target = builder->parts[branch->target].number;
            edge->first_move = op_count;
            for (uint32_t s = branch->first_move; s < branch->end_move; s++)
                finish_step(builder, s, &ops[op_count++], &program->scratch_bytes);
            edge->end_move = op_count;
            block->loops |= edge->target <= n;
        }
        program->has_loops |= block->loops;
        block->meets = part->meeting != BLR_NONE;
        if (block->meets) {
            block->meeting = op_count;
            finish_step(builder, part->meeting, &ops[op_count++], &program->scratch_bytes);
        }
    }
    struct blr_spirv_preset *presets = blr_spirv_allocate(builder->build, builder->filling_count + 1u, sizeof *presets);
    for (uint32_t i = 0; i < builder->filling_count; i++) {
        presets[i] = builder->fillings[i].preset;
        presets[i].place = place_of(builder, builder->fillings[i].value, builder->fillings[i].lane);
        presets[i].is_affine = builder->values[builder->fillings[i].value].is_affine;
    }
    for (uint32_t i = 0; i < builder->builtin_count; i++) {
        builder->builtins[i].place = place_of(builder, builder->builtin_values[i], 0);
        builder->builtins[i].is_affine = builder->values[builder->builtin_values[i]].is_affine;
        builder->builtins[i].reads = builder->values[builder->builtin_values[i]].reads;
        builder->builtins[i].has_lanes = builder->values[builder->builtin_values[i]].has_lanes;
    }
    program->ops = ops;
    program->op_count = op_count;
    program->blocks = blocks;
    program->block_count = count;
    program->first_block = builder->parts[0].number;
    program->edges = edges;
    program->presets = presets;
    program->preset_count = builder->filling_count;
    program->builtins = builder->builtins;
    program->builtin_count = builder->builtin_count;
    program->register_bytes = allotter->used;
}
