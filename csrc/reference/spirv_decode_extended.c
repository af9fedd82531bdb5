/* OpExtInst: instructions of OpenCL.std. */
#include "spirv_builder.h"
#include "spirv_extended.h"

#define MOST_OPERANDS 3u

static uint32_t word_at(const struct blr_spirv_builder *b, uint32_t word) { return b->build->words[word]; }

/* An instruction that works element by element on operands like its result, or on an integer beside them. */
static bool elementwise(struct blr_spirv_builder *b, uint32_t word, uint32_t number)
{
    const struct blr_spirv_extended *row = blr_spirv_extended(number);
    if (row == NULL)
        return false;
    const struct blr_spirv_type *type = blr_spirv_result_type(b, word), *scalar = blr_spirv_scalar(b->module, type);
    uint32_t count = blr_spirv_length_at(b->build, word) - 5;
    if (count != row->operands)
        blr_spirv_refuse(b->build, word, "%u operands of %s: it takes %u", count, row->name, row->operands);
    struct blr_spirv_ref inputs[MOST_OPERANDS];
    for (uint32_t i = 0; i < count; i++) {
        inputs[i] = blr_spirv_operand(b, word, word_at(b, word + 5 + i));
        if (blr_spirv_same(b->module, inputs[i].type, type))
            continue;
        blr_spirv_refuse(b->build, word, "operand %u of %s is of another type than its result", i, row->name);
    }
    bool floats = row->kind == BLR_TYPE_FLOAT;
    unsigned size = scalar->scalar_size == 1 ? 0 : scalar->scalar_size == 2 ? 1 : scalar->scalar_size == 4 ? 2 : 3;
    blr_spirv_run_t run = scalar->kind == (floats ? BLR_TYPE_FLOAT : BLR_TYPE_INT) ? row->run[size] : NULL;
    if (run == NULL)
        blr_spirv_refuse(b->build, word, "%s of values of %%%u is not supported", row->name, type->id);
    struct blr_spirv_ref result = blr_spirv_result(b, word);
    struct blr_spirv_step *step = blr_spirv_step(b, word);
    step->op.run = run;
    blr_spirv_step_result(step, result, 0, scalar->scalar_size, blr_spirv_components(type));
    for (uint32_t i = 0; i < count; i++)
        blr_spirv_step_input(step, i, inputs[i]);
    return true;
}

bool blr_spirv_decode_extended(struct blr_spirv_builder *b, uint32_t word)
{
    blr_spirv_require_words(b->module, word, 5);
    uint32_t set = word_at(b, word + 3), number = word_at(b, word + 4);
    if (set == 0 || set >= b->module->bound || b->module->ids[set].kind != BLR_ID_EXTENDED)
        blr_spirv_refuse(b->build, word, "%%%u is no imported set of instructions", set);
    if (b->module->ids[set].set == 0)
        return true; /* descriptions for debuggers */
    if (!elementwise(b, word, number))
        blr_spirv_refuse(b->build, word, "instruction %u of OpenCL.std is not supported by the reference driver", number);
    return true;
}
