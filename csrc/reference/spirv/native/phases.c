/* Phases: blocks between barriers, and the values that they use. */
#include "spirv/native/phases.h"

#include "platform/heap.h"

uint32_t *blr_native_phases(const struct blr_spirv_program *program)
{
    uint32_t *phases = blr_new((program->block_count + 1u) * sizeof *phases);
    if (phases == NULL)
        return NULL;
    for (uint32_t b = 0; b < program->block_count; b++)
        phases[b] = b;
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t b = 0; b < program->block_count; b++) {
            const struct blr_spirv_block *block = &program->blocks[b];
            for (uint32_t e = block->first_edge; block->kind != BLR_END_BARRIER && e < block->first_edge + block->edge_count; e++) {
                uint32_t *const to = &phases[program->edges[e].target], *const from = &phases[b];
                changed |= *to != *from;
                *to = *from = *to < *from ? *to : *from;
            }
        }
    }
    return phases;
}

bool blr_native_enters(const struct blr_spirv_program *program, uint32_t to)
{
    for (uint32_t b = 0; b < program->block_count; b++)
        if (program->blocks[b].kind == BLR_END_BARRIER && program->edges[program->blocks[b].first_edge].target == to)
            return true;
    return to == program->first_block;
}

bool blr_native_reads(const struct blr_native_values *values, uint32_t op, const struct blr_native_value *value)
{
    const struct blr_native_value *x;
    for (uint32_t c = 0; c < blr_native_components(values, op); c++)
        for (uint32_t k = 0; (x = blr_native_operand(values, op, k, c)) != NULL; k++)
            if (x == value)
                return true;
    return false;
}

static bool writes(const struct blr_native_values *values, uint32_t op, const struct blr_native_value *value)
{
    const struct blr_native_value *x;
    for (uint32_t c = 0; c < blr_native_components(values, op) && (x = blr_native_result(values, op, c)) != NULL; c++)
        if (x == value)
            return true;
    return false;
}

static void look(const struct blr_native_values *values, uint32_t first, uint32_t end, const struct blr_native_value *value,
                 enum blr_native_use *use)
{
    for (uint32_t n = first; n < end && *use != BLR_USE_WRITE; n++)
        if (writes(values, n, value))
            *use = BLR_USE_WRITE;
        else if (blr_native_reads(values, n, value))
            *use = BLR_USE_READ;
}

enum blr_native_use blr_native_use_in(const struct blr_native_values *values, const uint32_t *phases, uint32_t phase,
                                      const struct blr_native_value *value)
{
    const struct blr_spirv_program *program = values->program;
    enum blr_native_use use = BLR_USE_NONE;
    for (uint32_t b = phase; b < program->block_count; b++) {
        const struct blr_spirv_block *block = &program->blocks[b];
        if (phases[b] != phase)
            continue;
        if (values->conditions[b] == value)
            use = BLR_USE_READ;
        look(values, block->first, block->end, value, &use);
        for (uint32_t e = block->first_edge; e < block->first_edge + block->edge_count; e++)
            look(values, program->edges[e].first_move, program->edges[e].end_move, value, &use);
        if (use == BLR_USE_WRITE)
            break;
    }
    return use;
}

/* Whether an operation has no effect outside its block, and no fault. */
static bool is_pure(const struct blr_native_values *values, uint32_t op)
{
    switch (values->recipes[op].kind) {
    case BLR_RECIPE_VALUE:
    case BLR_RECIPE_TEST:
    case BLR_RECIPE_CONVERT:
    case BLR_RECIPE_COPY:
    case BLR_RECIPE_OFFSET:
    case BLR_RECIPE_INDEX: return !blr_native_blends(&values->program->ops[op]);
    default: return false;
    }
}

bool blr_native_rests(const struct blr_native_values *values, const uint32_t *phases, uint32_t number, uint32_t *component)
{
    const struct blr_spirv_program *program = values->program;
    const struct blr_spirv_block *block = &program->blocks[number];
    const struct blr_spirv_edge *edges = &program->edges[block->first_edge];
    uint32_t barriers = 0;
    if (block->kind != BLR_END_CHOICE || number == program->first_block || !blr_native_enters(program, number) ||
        !blr_native_is_below_bound(values, values->conditions[number], component))
        return false;
    const struct blr_spirv_block *waits = &program->blocks[edges[1].target];
    if (waits->kind != BLR_END_BARRIER || waits->first != waits->end || edges[1].first_move != edges[1].end_move)
        return false;
    for (uint32_t n = block->first; n < block->end; n++)
        if (!is_pure(values, n))
            return false;
    for (uint32_t b = phases[number]; b < program->block_count; b++) {
        const struct blr_spirv_block *other = &program->blocks[b];
        if (phases[b] != phases[number])
            continue;
        barriers += other->kind == BLR_END_BARRIER;
        for (uint32_t e = other->first_edge; other->kind != BLR_END_BARRIER && e < other->first_edge + other->edge_count; e++)
            if (program->edges[e].target == number)
                return false;
    }
    return barriers == 1;
}
