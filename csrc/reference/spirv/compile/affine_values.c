/*
 * The values that can be affine (spirv/execute/affine.h): one scalar, which only operations with an affine form write,
 * from operands that can be affine. Ids of work-items, constants and arguments are the first of them.
 */
#include "spirv/compile/builder.h"
#include "spirv/execute/isa_operations.h"

/* The operands that must be affine, one bit each; for a result that can be affine. */
static uint32_t needed(const struct blr_spirv_step *step)
{
    switch ((enum blr_affine_form)step->op.form) {
    case BLR_AFFINE_NONE: return 0;
    case BLR_AFFINE_COPY:
    case BLR_AFFINE_NEGATE:
    case BLR_AFFINE_NOT:
    case BLR_AFFINE_CONVERT_UNSIGNED:
    case BLR_AFFINE_CONVERT_SIGNED:
    case BLR_AFFINE_OFFSET:
    case BLR_AFFINE_LOAD:
    case BLR_AFFINE_STORE: return 1;
    case BLR_AFFINE_SELECT: return 7;
    case BLR_AFFINE_ARRAY_INDEX: return 1 | 2u << (step->op.literal & 0xff);
    case BLR_AFFINE_UNIFORM: return step->in[1] != BLR_NONE ? 3 : 1;
    default: return 3;
    }
}

static bool operand_is_affine(const struct blr_spirv_builder *b, const struct blr_spirv_step *step, uint32_t k)
{
    return step->in[k] != BLR_NONE && b->values[step->in[k]].is_affine;
}

/* Whether an operand counts lanes. Of ids with three components the first counts. */
static bool operand_is_strided(const struct blr_spirv_builder *b, const struct blr_spirv_step *step, uint32_t k)
{
    return b->values[step->in[k]].is_strided && step->in_lane[k] == 0;
}

/* Whether a step can have an affine result; is_strided: whether that counts lanes. */
static bool operands_are_affine(const struct blr_spirv_builder *b, const struct blr_spirv_step *step, bool *is_strided)
{
    const uint32_t operands = needed(step);
    uint32_t strided = 0;
    for (uint32_t k = 0; k < 4; k++)
        if ((operands >> k & 1) != 0) {
            if (!operand_is_affine(b, step, k))
                return false;
            strided |= (uint32_t)operand_is_strided(b, step, k) << k;
        }
    *is_strided = strided != 0;
    switch ((enum blr_affine_form)step->op.form) {
    case BLR_AFFINE_NONE: return false;
    case BLR_AFFINE_MULTIPLY: return strided != 3;
    case BLR_AFFINE_SHIFT_LEFT: return strided < 2;
    case BLR_AFFINE_BOTH:
    case BLR_AFFINE_EITHER:
    case BLR_AFFINE_DIFFER:
    case BLR_AFFINE_UNIFORM:
    case BLR_AFFINE_NOT: return strided == 0;
    case BLR_AFFINE_LOAD: return strided == 0;
    case BLR_AFFINE_SELECT: *is_strided = strided > 1; return true;
    case BLR_AFFINE_ADD:
    case BLR_AFFINE_SUBTRACT:
    case BLR_AFFINE_INDEX:
    case BLR_AFFINE_ARRAY_INDEX:
    case BLR_AFFINE_COPY:
    case BLR_AFFINE_NEGATE:
    case BLR_AFFINE_OFFSET:
    case BLR_AFFINE_CONVERT_UNSIGNED:
    case BLR_AFFINE_CONVERT_SIGNED: return true;
    default: *is_strided = false; return true; /* comparisons */
    }
}

/* Whether a step writes the whole of a value of one scalar, by an affine form. */
static bool writes_scalar(const struct blr_spirv_builder *b, const struct blr_spirv_step *step)
{
    return step->op.form != BLR_AFFINE_NONE && step->op.count == BLR_LANES && step->result_lane == 0 &&
           step->op.element == b->values[step->result].lane_bytes;
}


typedef void (*visit_t)(struct blr_spirv_builder *b, const struct blr_spirv_step *step, bool *changed);

static void visit_steps(struct blr_spirv_builder *b, const uint32_t *order, uint32_t count, visit_t visit, bool *changed)
{
    for (uint32_t n = 0; n < count; n++) {
        const struct blr_spirv_part *part = &b->parts[order[n]];
        for (uint32_t s = part->first; s < part->end; s++)
            visit(b, &b->steps[s], changed);
        for (uint32_t e = part->first_edge; e < part->first_edge + part->edge_count; e++)
            for (uint32_t s = b->branches[e].first_move; s < b->branches[e].end_move; s++)
                visit(b, &b->steps[s], changed);
    }
}

static void assume(struct blr_spirv_builder *b, const struct blr_spirv_step *step, bool *changed)
{
    (void)changed;
    if (step->result != BLR_NONE && !b->values[step->result].preset)
        b->values[step->result].is_affine = true;
}

static void refute(struct blr_spirv_builder *b, const struct blr_spirv_step *step, bool *changed)
{
    bool is_strided;
    if (step->result == BLR_NONE || !b->values[step->result].is_affine)
        return;
    struct blr_spirv_value *value = &b->values[step->result];
    if (value->preset || !writes_scalar(b, step) || !operands_are_affine(b, step, &is_strided)) {
        value->is_affine = false;
        *changed = true;
    } else if (is_strided && !value->is_strided) {
        value->is_strided = true;
        *changed = true;
    }
}

/* Whether a step becomes an operation on affine values. */
static bool applies(const struct blr_spirv_builder *b, const struct blr_spirv_step *step)
{
    if (step->op.form == BLR_AFFINE_LOAD || step->op.form == BLR_AFFINE_STORE)
        return operand_is_affine(b, step, 0);
    return step->result != BLR_NONE && b->values[step->result].is_affine;
}

/* Whether an operand of an operation on affine values is one scalar: a store may write a vector. */
static bool is_scalar(const struct blr_spirv_step *step, uint32_t k)
{
    return step->op.form != BLR_AFFINE_STORE || k != 1 || (uint32_t)(step->op.literal >> 8) == 1;
}

/* Notes which components of built-in variables are read. An operation on lanes may read several. */
static void note_reads(struct blr_spirv_builder *b, const struct blr_spirv_step *step, bool *changed)
{
    (void)changed;
    for (uint32_t k = 0; k < 4; k++) {
        if (!operand_is_affine(b, step, k) || !b->values[step->in[k]].preset)
            continue;
        if (applies(b, step) && is_scalar(step, k))
            b->values[step->in[k]].reads |= 1u << step->in_lane[k];
        else
            b->values[step->in[k]].has_lanes = true;
    }
}

void blr_spirv_find_affine(struct blr_spirv_builder *b, const uint32_t *order, uint32_t count)
{
    bool changed = true;
    for (uint32_t i = 0; i < b->filling_count; i++) {
        const struct blr_spirv_filling *filling = &b->fillings[i];
        struct blr_spirv_value *value = &b->values[filling->value];
        value->is_affine = value->has_lanes = filling->lane == 0 && filling->preset.size == value->lane_bytes;
        value->is_strided = filling->preset.kind == BLR_PRESET_PRIVATE;
    }
    for (uint32_t i = 0; i < b->builtin_count; i++) {
        const enum blr_spirv_builtin what = b->builtins[i].what;
        b->values[b->builtin_values[i]].is_affine = true;
        b->values[b->builtin_values[i]].is_strided =
            what == BLR_BUILTIN_GLOBAL_INVOCATION_ID || what == BLR_BUILTIN_GLOBAL_LINEAR_ID ||
            what == BLR_BUILTIN_LOCAL_INVOCATION_ID || what == BLR_BUILTIN_LOCAL_INVOCATION_INDEX;
    }
    visit_steps(b, order, count, assume, &changed);
    for (uint32_t n = 0; n < count; n++) {
        const struct blr_spirv_part *part = &b->parts[order[n]];
        const struct blr_spirv_step *step = &b->steps[part->meeting];
        for (uint32_t k = 0; part->meeting != BLR_NONE && k < 4; k++)
            if (step->in[k] != BLR_NONE)
                b->values[step->in[k]].is_affine = false;
        if (part->meeting != BLR_NONE && step->result != BLR_NONE)
            b->values[step->result].is_affine = false;
    }
    while (changed) {
        changed = false;
        visit_steps(b, order, count, refute, &changed);
    }
    visit_steps(b, order, count, note_reads, &changed);
    for (uint32_t n = 0; n < count; n++) {
        const struct blr_spirv_part *part = &b->parts[order[n]];
        if ((part->kind == BLR_END_CHOICE || part->kind == BLR_END_SWITCH) && b->values[part->condition].preset)
            b->values[part->condition].has_lanes = true;
    }
}

void blr_spirv_use_affine(const struct blr_spirv_builder *b, const struct blr_spirv_step *step, struct blr_spirv_op *op)
{
    const bool is_affine = applies(b, step);
    op->is_affine = step->result != BLR_NONE && b->values[step->result].is_affine;
    for (uint32_t k = 0; k < 4; k++)
        if (operand_is_affine(b, step, k) && (is_affine || !b->values[step->in[k]].has_lanes))
            op->expand |= (uint8_t)(1u << k);
    if (!is_affine && op->expand == 0)
        return;
    op->plain = op->run;
    op->run = blr_spirv_best_set()->affine[is_affine ? op->form : BLR_AFFINE_NONE];
    if (!is_affine)
        return;
    op->keeps = op->is_affine && op->blend;
    op->blend = !op->is_affine && op->blend;
}
