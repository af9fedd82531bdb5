/*
 * Calls of pointers to functions (SPV_INTEL_function_pointers): a switch of the address, with a case for every function
 * that has an address and the types of the call. Other addresses fault.
 *
 * The functions are shared (calls.c): any of them may call any other, also in a circle. A function that is called while it
 * runs faults.
 */
#include "spirv/compile/builder.h"
#include "spirv/execute/operations.h"

#include <string.h>

struct candidate {
    struct blr_spirv_function *function;
    uint32_t unit, part;
    uint64_t address;
};

struct candidates {
    struct candidate *all;
    uint32_t count, capacity;
};

static uint32_t word_at(const struct blr_spirv_builder *b, uint32_t word) { return b->build->words[word]; }

/* Whether a function of another module takes the arguments and returns the type. */
static bool fits(struct blr_spirv_builder *b, struct blr_spirv_module *its, const struct blr_spirv_function *function,
                 struct blr_spirv_type *returned, const struct blr_spirv_ref *arguments, uint32_t count)
{
    const struct blr_spirv_type *type = function->type;
    bool result = type->count == count && blr_spirv_alike(b->module, returned, its, its->ids[type->element].of_type);
    for (uint32_t i = 0; i < count && result; i++)
        result = blr_spirv_alike(b->module, b->module->ids[arguments[i].type->id].of_type, its, its->ids[type->members[i]].of_type);
    return result;
}

/* The functions with an address that a call can reach; bytes: those of the address if decoding knows them. */
static struct candidates find_candidates(struct blr_spirv_builder *b, uint32_t word, struct blr_spirv_type *returned,
                                         const struct blr_spirv_ref *arguments, uint32_t count, const unsigned char *bytes)
{
    struct candidates list = {0};
    for (uint32_t unit = 0; unit < b->program->module_count; unit++) {
        const struct blr_spirv_module *module = b->units[unit].module;
        blr_spirv_spend(b, word, module->addresses != NULL ? module->function_count : 0);
        for (uint32_t i = 0; module->addresses != NULL && i < module->function_count; i++) {
            struct blr_spirv_function *function = &module->functions[i];
            struct candidate next = {.unit = unit, .function = function};
            next.address = (uint64_t)(uintptr_t)(module->addresses + function->id);
            if (!module->ids[function->id].has_address || (bytes != NULL && memcmp(bytes, &next.address, sizeof next.address) != 0))
                continue;
            if (function->definition != NULL) {
                next.function = function->definition;
                next.unit = function->definition_module;
            }
            if (next.function->body == 0 || !blr_spirv_can_call(b, next.unit, next.function) ||
                !fits(b, b->units[next.unit].module, next.function, returned, arguments, count))
                continue;
            next.part = blr_spirv_new_part(b);
            list.all = blr_spirv_grow(b->build, list.all, list.count, &list.capacity, sizeof *list.all);
            list.all[list.count++] = next;
        }
    }
    return list;
}

/* Ends the current block with a switch of the address, whose other values fault. */
static void choose(struct blr_spirv_builder *b, uint32_t word, struct blr_spirv_ref pointer, const struct candidates *list)
{
    const uint32_t none = blr_spirv_new_part(b);
    uint64_t *literals = blr_spirv_allocate(b->build, list->count + 1u, sizeof *literals);
    struct blr_spirv_part *part = blr_spirv_close_part(b, BLR_END_SWITCH);
    part->condition = pointer.value - 1;
    part->condition_lane = pointer.lane;
    part->size = 8;
    part->literals = literals;
    blr_spirv_add_edge(b, 0, none);
    for (uint32_t i = 0; i < list->count; i++) {
        literals[i] = list->all[i].address;
        blr_spirv_add_edge(b, 0, list->all[i].part);
    }
    blr_spirv_open_part(b, none);
    struct blr_spirv_step *step = blr_spirv_step(b, word);
    step->op.run = blr_spirv_run_wrong_call;
    blr_spirv_step_input(step, 0, pointer);
    blr_spirv_close_part(b, BLR_END_RETURN);
}

void blr_spirv_decode_pointer_call(struct blr_spirv_builder *b, uint32_t word)
{
    blr_spirv_require_words(b->module, word, 4);
    const uint32_t count = blr_spirv_length_at(b->build, word) - 4;
    struct blr_spirv_type *returned = blr_spirv_result_type(b, word);
    const struct blr_spirv_ref pointer = blr_spirv_operand(b, word, word_at(b, word + 3));
    if (pointer.type->kind != BLR_TYPE_POINTER)
        blr_spirv_refuse(b->build, word, "%%%u is no pointer", word_at(b, word + 3));
    struct blr_spirv_ref *arguments = blr_spirv_allocate(b->build, count + 1u, sizeof *arguments);
    for (uint32_t i = 0; i < count; i++)
        arguments[i] = blr_spirv_operand(b, word, word_at(b, word + 4 + i));
    const struct candidates list = find_candidates(b, word, returned, arguments, count, blr_spirv_known_bytes(b, pointer));
    const uint32_t behind = blr_spirv_new_part(b);
    struct blr_spirv_ref result = {0};
    if (returned->kind != BLR_TYPE_VOID)
        result = blr_spirv_result(b, word);
    choose(b, word, pointer, &list);
    for (uint32_t i = 0; i < list.count; i++) {
        const struct candidate *candidate = &list.all[i];
        const struct blr_spirv_module *its = b->units[candidate->unit].module;
        for (uint32_t k = 0; k < count; k++)
            arguments[k].type = its->ids[candidate->function->type->members[k]].of_type;
        blr_spirv_open_part(b, candidate->part);
        blr_spirv_call(b, word, candidate->unit, candidate->function, arguments, result);
        blr_spirv_close_part(b, BLR_END_BRANCH);
        blr_spirv_add_edge(b, 0, behind);
    }
    blr_spirv_open_part(b, behind);
}
