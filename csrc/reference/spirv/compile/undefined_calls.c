/*
 * Calls of functions that no module defines. They are refused where the kernel can reach them: what a specialization
 * constant switches off may call functions of other devices.
 */
#include "spirv/compile/builder.h"

void blr_spirv_note_undefined(struct blr_spirv_builder *b, uint32_t word, const char *name)
{
    const struct blr_spirv_type *type = blr_spirv_result_type(b, word);
    b->undefined = blr_spirv_grow(b->build, b->undefined, b->undefined_count, &b->undefined_capacity, sizeof *b->undefined);
    b->undefined[b->undefined_count++] =
        (struct blr_spirv_undefined){.unit = b->unit, .word = word, .part = b->current, .name = name};
    if (type->kind != BLR_TYPE_VOID)
        blr_spirv_result(b, word);
}

static void mark(bool *reached, uint32_t *parts, uint32_t *count, uint32_t part)
{
    if (!reached[part])
        parts[(*count)++] = part;
    reached[part] = true;
}

void blr_spirv_check_undefined(struct blr_spirv_builder *b)
{
    if (b->undefined_count == 0)
        return;
    bool *reached = blr_spirv_allocate(b->build, b->part_count, sizeof *reached);
    uint32_t *parts = blr_spirv_allocate(b->build, b->part_count, sizeof *parts), count = 0;
    mark(reached, parts, &count, 0);
    for (uint32_t i = 0; i < count; i++) {
        const struct blr_spirv_part *part = &b->parts[parts[i]];
        if (part->behind != BLR_NONE)
            mark(reached, parts, &count, part->behind);
        for (uint32_t k = 0; k < part->edge_count && !part->is_end; k++) /* a call goes on behind itself, not behind others */
            mark(reached, parts, &count, b->branches[part->first_edge + k].target);
    }
    for (uint32_t i = 0; i < b->undefined_count; i++) {
        const struct blr_spirv_undefined *call = &b->undefined[i];
        if (!reached[call->part])
            continue;
        blr_spirv_enter(b, call->unit);
        blr_spirv_unresolved(b->build, call->word, "function", call->name);
    }
}
