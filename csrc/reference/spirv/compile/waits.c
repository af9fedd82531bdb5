/* Decoding of calls that let lanes wait for others, and of the places where lanes of a sub-group come together. */
#include "spirv/waits/waits.h"

#include "spirv/compile/builder.h"

#include <string.h>

static uint32_t word_at(const struct blr_spirv_builder *b, uint32_t word) { return b->build->words[word]; }

void blr_spirv_gather(struct blr_spirv_builder *b)
{
    struct blr_spirv_part *part = &b->parts[b->current];
    uint32_t step = part->first > b->gathered ? part->first : b->gathered;
    if (!b->program->is_independent)
        return;
    while (step < b->step_count && b->steps[step].pure)
        step++;
    if (step < b->step_count) { /* what has an effect does not wait for other lanes */
        const uint32_t behind = blr_spirv_new_part(b);
        blr_spirv_close_part(b, BLR_END_BRANCH);
        blr_spirv_add_edge(b, 0, behind);
        blr_spirv_open_part(b, behind);
        part = &b->parts[behind];
    }
    part->gathers = true;
    b->gathered = b->step_count;
}

/* Checks that a call has arguments of these sizes in bytes, 0 for a boolean, and takes them. */
static void take(struct blr_spirv_builder *b, uint32_t word, const char *name, uint32_t count, const uint8_t *sizes, struct blr_spirv_ref *inputs)
{
    blr_spirv_require_words(b->module, word, 4 + count);
    for (uint32_t k = 0; k < count; k++) {
        inputs[k] = blr_spirv_operand(b, word, word_at(b, word + 4 + k));
        const struct blr_spirv_type *type = inputs[k].type;
        if (sizes[k] == 0 ? type->kind != BLR_TYPE_BOOL : type->kind != BLR_TYPE_INT || type->scalar_size != sizes[k])
            blr_spirv_refuse(b->build, word, "argument %u of '%.80s' is of another type than it has", k, name);
    }
}

static void require_result(struct blr_spirv_builder *b, uint32_t word, const char *name, uint32_t size)
{
    const struct blr_spirv_type *type = blr_spirv_result_type(b, word);
    if (type->kind != BLR_TYPE_INT || type->scalar_size != size)
        blr_spirv_refuse(b->build, word, "'%.80s' gives an integer of %u bytes", name, size);
}

static void give_inputs(struct blr_spirv_step *step, const struct blr_spirv_ref *inputs, uint32_t count)
{
    for (uint32_t k = 0; k < count; k++)
        blr_spirv_step_input(step, k, inputs[k]);
}

static void decode_yield(struct blr_spirv_builder *b)
{
    const uint32_t behind = blr_spirv_new_part(b);
    blr_spirv_close_part(b, BLR_END_BRANCH)->yields = true;
    blr_spirv_add_edge(b, 0, behind);
    blr_spirv_open_part(b, behind);
}

static void decode_wait(struct blr_spirv_builder *b, uint32_t word, const char *name)
{
    struct blr_spirv_ref inputs[3];
    take(b, word, name, 3, (const uint8_t[]){4, 4, 0}, inputs);
    require_result(b, word, name, 4);
    const struct blr_spirv_ref result = blr_spirv_result(b, word);
    const uint32_t own = b->current;
    struct blr_spirv_step *step = blr_spirv_meeting(b, word);
    b->parts[own].is_numbered = true;
    step->op.run = blr_barrier_wait;
    blr_spirv_step_result(step, result, 0, 4, 1);
    give_inputs(step, inputs, 3);
}

static void decode_arrive(struct blr_spirv_builder *b, uint32_t word, const char *name)
{
    struct blr_spirv_ref inputs[2];
    take(b, word, name, 2, (const uint8_t[]){4, 4}, inputs);
    b->program->has_barriers = true;
    struct blr_spirv_step *step = blr_spirv_step(b, word);
    step->op.run = blr_barrier_arrive;
    give_inputs(step, inputs, 2);
}

static void decode_mbarrier(struct blr_spirv_builder *b, uint32_t word, const char *name)
{
    struct blr_spirv_ref inputs[2];
    take(b, word, name, 2, (const uint8_t[]){8, 8}, inputs);
    blr_spirv_require_words(b->module, word, 7);
    const uint64_t kind = blr_spirv_constant_number(b->module, word, word_at(b, word + 6));
    require_result(b, word, name, 8);
    if (kind >= BLR_MBARRIER_STEPS)
        blr_spirv_refuse(b->build, word, "'%.80s' has no step %llu", name, (unsigned long long)kind);
    b->program->uses_local = true;
    const struct blr_spirv_ref result = blr_spirv_result(b, word);
    struct blr_spirv_step *step = blr_spirv_step(b, word);
    step->op.run = blr_mbarrier;
    step->op.literal = kind;
    blr_spirv_step_result(step, result, 0, 8, 1);
    give_inputs(step, inputs, 2);
}

bool blr_spirv_decode_waits(struct blr_spirv_builder *b, uint32_t word, const char *name)
{
    if (!b->program->is_independent)
        return false;
    if (strcmp(name, "__bindless_yield") == 0)
        decode_yield(b);
    else if (strcmp(name, "__bindless_barrier_wait") == 0)
        decode_wait(b, word, name);
    else if (strcmp(name, "__bindless_barrier_arrive") == 0)
        decode_arrive(b, word, name);
    else if (strcmp(name, "__bindless_mbarrier") == 0)
        decode_mbarrier(b, word, name);
    else
        return false;
    return true;
}
