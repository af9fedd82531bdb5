/*
 * Calls. Most are decoded in place, where constants and built-in variables are known. A kernel that would grow beyond a
 * size has shared functions instead: their blocks exist once.
 *
 * A call of a shared function writes the parameters and the number of the call site, and continues at the function's
 * first block. The function ends with a switch of that number, with an edge to the block behind each call. Lanes may be
 * in different calls; no call is open twice in one lane, because recursion is refused. The blocks of a function precede
 * those of its callers, so that lanes leave it before others go on, and meet behind the call.
 */
#include "spirv/compile/builder.h"
#include "spirv/execute/operations.h"

#define LARGEST_IN_PLACE (1u << 18) /* words of a kernel with its calls in place */
#define SMALLEST_SHARED 256u        /* words of a function with its calls in place */

/* ---------------------------------------------------------------- choice */

struct survey {
    struct blr_spirv_builder *builder;
    uint64_t *words;  /* by function: with its calls in place; 0 before the visit */
    uint32_t *sites;  /* by function: calls of it */
};

static const struct blr_spirv_function *callee_at(const struct blr_spirv_builder *b, uint32_t word)
{
    const uint32_t id = blr_spirv_length_at(b->build, word) > 3 ? b->build->words[word + 3] : 0;
    if (blr_spirv_opcode_at(b->build, word) != BLR_OP_FunctionCall || id == 0 || id >= b->module->bound ||
        b->module->ids[id].kind != BLR_ID_FUNCTION || b->module->ids[id].function->body == 0)
        return NULL;
    return b->module->ids[id].function;
}

static uint64_t visit(struct survey *survey, const struct blr_spirv_function *function, uint32_t depth)
{
    const struct blr_spirv_builder *b = survey->builder;
    uint64_t *words = &survey->words[function - b->module->functions];
    if (*words != 0 || depth > BLR_SPIRV_DEEPEST_CALL)
        return *words;
    *words = function->end - function->body; /* also what a recursive call sees, which is refused later */
    uint64_t sum = *words;
    for (uint32_t at = function->body; at < function->end; at += blr_spirv_length_at(b->build, at)) {
        const struct blr_spirv_function *callee = callee_at(b, at);
        if (callee == NULL)
            continue;
        survey->sites[callee - b->module->functions]++;
        const uint64_t more = visit(survey, callee, depth + 1);
        sum = sum > UINT64_MAX - more ? UINT64_MAX : sum + more;
    }
    return *words = sum;
}

static bool is_plain(const struct blr_spirv_type *type)
{
    return type->kind == BLR_TYPE_VOID || type->kind == BLR_TYPE_BOOL || type->kind == BLR_TYPE_INT || type->kind == BLR_TYPE_FLOAT ||
           type->kind == BLR_TYPE_VECTOR || type->kind == BLR_TYPE_ARRAY || type->kind == BLR_TYPE_STRUCT ||
           type->kind == BLR_TYPE_POINTER;
}

/* Whether all values that the function takes and returns are numbers or addresses. */
static bool is_shareable(const struct blr_spirv_builder *b, const struct blr_spirv_function *function)
{
    bool result = is_plain(b->module->ids[function->type->element].of_type);
    for (uint32_t i = 0; i < function->type->count; i++)
        result = result && is_plain(b->module->ids[function->type->members[i]].of_type);
    return result;
}

void blr_spirv_choose_shared(struct blr_spirv_builder *b, const struct blr_spirv_function *kernel)
{
    const uint32_t count = b->module->function_count;
    struct survey survey = {.builder = b};
    survey.words = blr_spirv_allocate(b->build, count, sizeof *survey.words);
    survey.sites = blr_spirv_allocate(b->build, count, sizeof *survey.sites);
    if (visit(&survey, kernel, 0) <= LARGEST_IN_PLACE)
        return;
    struct blr_spirv_shared **shared = b->units[b->unit].shared = blr_spirv_allocate(b->build, count, sizeof *shared);
    b->shared = blr_spirv_allocate(b->build, count, sizeof(struct blr_spirv_shared *));
    for (uint32_t i = 0; i < count; i++)
        if (survey.sites[i] > 1 && survey.words[i] >= SMALLEST_SHARED && is_shareable(b, &b->module->functions[i]))
            shared[i] = blr_spirv_allocate(b->build, 1, sizeof **shared);
}

/* ---------------------------------------------------------------- calls */

static struct blr_spirv_ref variable_of(struct blr_spirv_builder *b, uint32_t word, struct blr_spirv_type *type)
{
    blr_spirv_leaves(b->module, word, type);
    return (struct blr_spirv_ref){.value = blr_spirv_new_value(b, type->lane_bytes) + 1, .type = type};
}

/* Creates what the calls of the function share, at the first of them. */
static void prepare(struct blr_spirv_builder *b, uint32_t word, struct blr_spirv_shared *shared,
                    const struct blr_spirv_function *function)
{
    const struct blr_spirv_type *type = function->type;
    struct blr_spirv_type *returned = b->module->ids[type->element].of_type;
    shared->parameters = blr_spirv_allocate(b->build, type->count + 1u, sizeof *shared->parameters);
    for (uint32_t i = 0; i < type->count; i++)
        shared->parameters[i] = variable_of(b, word, b->module->ids[type->members[i]].of_type);
    if (returned->kind != BLR_TYPE_VOID)
        shared->result = variable_of(b, word, returned);
    shared->site = (struct blr_spirv_ref){.value = blr_spirv_new_value(b, 4) + 1};
    shared->end = blr_spirv_new_part(b);
    b->parts[shared->end].is_end = true;
}

bool blr_spirv_pass(struct blr_spirv_builder *b, uint32_t word, struct blr_spirv_shared *shared,
                    const struct blr_spirv_function *function, const struct blr_spirv_ref *arguments, uint32_t behind)
{
    const bool first = shared->parameters == NULL;
    if (first)
        prepare(b, word, shared, function);
    for (uint32_t i = 0; i < function->type->count; i++) {
        const bool is_builtin = arguments[i].builtin != 0;
        blr_spirv_copy(b, word, shared->parameters[i], 0, is_builtin ? blr_spirv_addressed(b, word, arguments[i]) : arguments[i],
                       b->module->ids[function->type->members[i]].of_type);
    }
    const struct blr_spirv_ref number = blr_spirv_number(b, shared->count, 4);
    struct blr_spirv_step *step = blr_spirv_step(b, word);
    step->op.run = blr_spirv_run_copy;
    step->op.form = BLR_AFFINE_COPY;
    step->pure = true;
    blr_spirv_step_result(step, shared->site, 0, 4, 1);
    blr_spirv_step_input(step, 0, number);
    shared->behind = blr_spirv_grow(b->build, shared->behind, shared->count, &shared->capacity, sizeof *shared->behind);
    shared->behind[shared->count++] = behind;
    b->parts[b->current].behind = behind;
    return first;
}

void blr_spirv_end_shared(struct blr_spirv_builder *b)
{
    for (uint32_t n = 0; n < b->shared_count; n++) {
        const struct blr_spirv_shared *shared = b->shared[n];
        uint64_t *literals = blr_spirv_allocate(b->build, shared->count, sizeof *literals);
        blr_spirv_open_part(b, shared->end);
        struct blr_spirv_part *part = blr_spirv_close_part(b, shared->count > 1 ? BLR_END_SWITCH : BLR_END_BRANCH);
        part->condition = shared->count > 1 ? shared->site.value - 1 : BLR_NONE;
        part->size = 4;
        part->literals = literals;
        for (uint32_t i = 0; i < shared->count; i++) {
            if (i > 0)
                literals[i - 1] = i;
            blr_spirv_add_edge(b, 0, shared->behind[i]);
        }
    }
}
