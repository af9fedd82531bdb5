/*
 * Calls. Most are decoded in place, where constants and built-in variables are known. A kernel that would grow beyond a
 * size has shared functions instead: their blocks exist once. So do functions that are called by pointer, and those that
 * call pointers (pointer_calls.c).
 *
 * A call of a shared function writes the parameters and the number of the call site, and continues at the function's
 * first block. The function ends with a switch of that number, with an edge to the block behind each call. Lanes may be
 * in different calls, but no call is open twice in one lane: recursion is refused, or faults where pointers decide. The
 * blocks of a function precede those of its callers, so that lanes leave it before others go on, and meet behind the call.
 */
#include "spirv/compile/builder.h"
#include "spirv/execute/operations.h"

#define LARGEST_IN_PLACE (1u << 18) /* words of a kernel with its calls in place */
#define SMALLEST_SHARED 256u        /* words of a function with its calls in place */

static uint32_t word_at(const struct blr_spirv_builder *b, uint32_t word) { return b->build->words[word]; }

/* ---------------------------------------------------------------- choice */

/* What is known of a function before its calls are decoded. */
struct tally {
    uint64_t words;      /* with its calls in place; 0 before the visit */
    uint32_t sites;      /* calls of it */
    bool calls_pointers; /* or a function that it calls does */
};

struct survey {
    struct blr_spirv_builder *builder;
    struct tally **tallies; /* by unit and function */
};

/* The function that an instruction of a unit calls by name, and its unit; NULL for none with a body. */
static const struct blr_spirv_function *callee_at(const struct blr_spirv_builder *b, uint32_t *unit, uint32_t word)
{
    const struct blr_spirv_module *module = b->units[*unit].module;
    const uint32_t length = module->words[word] >> 16, id = length > 3 ? module->words[word + 3] : 0;
    if ((module->words[word] & 0xffff) != BLR_OP_FunctionCall || id == 0 || id >= module->bound ||
        module->ids[id].kind != BLR_ID_FUNCTION)
        return NULL;
    const struct blr_spirv_function *function = module->ids[id].function;
    if (function->definition != NULL) {
        *unit = function->definition_module;
        function = function->definition;
    }
    return function->body != 0 ? function : NULL;
}

static const struct tally *visit(struct survey *survey, uint32_t unit, const struct blr_spirv_function *function, uint32_t depth)
{
    const struct blr_spirv_module *module = survey->builder->units[unit].module;
    struct tally *tally = &survey->tallies[unit][function - module->functions];
    if (tally->words != 0 || depth > BLR_SPIRV_DEEPEST_CALL)
        return tally;
    tally->words = function->end - function->body; /* also what a recursive call sees */
    uint64_t sum = tally->words;
    for (uint32_t at = function->body; at < function->end; at += module->words[at] >> 16) {
        uint32_t other = unit;
        const struct blr_spirv_function *callee = callee_at(survey->builder, &other, at);
        if ((module->words[at] & 0xffff) == BLR_OP_FunctionPointerCallINTEL)
            tally->calls_pointers = true;
        if (callee == NULL)
            continue;
        survey->tallies[other][callee - survey->builder->units[other].module->functions].sites++;
        const struct tally *its = visit(survey, other, callee, depth + 1);
        sum = sum > UINT64_MAX - its->words ? UINT64_MAX : sum + its->words;
        tally->calls_pointers = tally->calls_pointers || its->calls_pointers;
    }
    tally->words = sum;
    return tally;
}

static bool is_plain(const struct blr_spirv_type *type)
{
    return type->kind == BLR_TYPE_VOID || type->kind == BLR_TYPE_BOOL || type->kind == BLR_TYPE_INT || type->kind == BLR_TYPE_FLOAT ||
           type->kind == BLR_TYPE_VECTOR || type->kind == BLR_TYPE_ARRAY || type->kind == BLR_TYPE_STRUCT ||
           type->kind == BLR_TYPE_POINTER;
}

/* Whether all values that the function takes and returns are numbers or addresses. */
static bool is_shareable(const struct blr_spirv_module *module, const struct blr_spirv_function *function)
{
    bool result = is_plain(module->ids[function->type->element].of_type);
    for (uint32_t i = 0; i < function->type->count; i++)
        result = result && is_plain(module->ids[function->type->members[i]].of_type);
    return result;
}

/* Visits the functions that pointers may reach. */
static void visit_addressed(struct survey *survey)
{
    const struct blr_spirv_builder *b = survey->builder;
    for (uint32_t unit = 0; unit < b->program->module_count; unit++)
        for (uint32_t i = 0; i < b->units[unit].module->function_count; i++) {
            const struct blr_spirv_function *function = &b->units[unit].module->functions[i];
            if (b->units[unit].module->ids[function->id].has_address && function->body != 0)
                visit(survey, unit, function, 0);
        }
}

void blr_spirv_choose_shared(struct blr_spirv_builder *b, const struct blr_spirv_function *kernel)
{
    const uint32_t units = b->program->module_count;
    uint32_t most = 0;
    struct survey survey = {.builder = b, .tallies = blr_spirv_allocate(b->build, units, sizeof *survey.tallies)};
    for (uint32_t unit = 0; unit < units; unit++)
        survey.tallies[unit] = blr_spirv_allocate(b->build, b->units[unit].module->function_count + 1u, sizeof **survey.tallies);
    const struct tally *whole = visit(&survey, b->unit, kernel, 0);
    const bool is_large = whole->words > LARGEST_IN_PLACE;
    b->calls_pointers = whole->calls_pointers;
    if (!is_large && !b->calls_pointers)
        return;
    if (b->calls_pointers)
        visit_addressed(&survey);
    for (uint32_t unit = 0; unit < units; unit++) {
        const struct blr_spirv_module *module = b->units[unit].module;
        struct blr_spirv_shared **shared = blr_spirv_allocate(b->build, module->function_count + 1u, sizeof *shared);
        b->units[unit].shared = shared;
        most += module->function_count;
        for (uint32_t i = 0; i < module->function_count; i++) {
            const struct tally *tally = &survey.tallies[unit][i];
            const bool has_address = module->ids[module->functions[i].id].has_address;
            const bool by_pointer = b->calls_pointers && (has_address || tally->calls_pointers);
            const bool by_size = is_large && tally->sites > 1 && tally->words >= SMALLEST_SHARED;
            if ((by_pointer || by_size) && is_shareable(module, &module->functions[i]))
                shared[i] = blr_spirv_allocate(b->build, 1, sizeof **shared);
        }
    }
    b->shared = blr_spirv_allocate(b->build, most + 1u, sizeof(struct blr_spirv_shared *));
}

/* ---------------------------------------------------------------- shared functions */

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

/* Writes the number of a call; 0: none. */
static void set_site(struct blr_spirv_builder *b, uint32_t word, struct blr_spirv_ref site, struct blr_spirv_ref number)
{
    struct blr_spirv_step *step = blr_spirv_step(b, word);
    step->op.run = blr_spirv_run_copy;
    step->op.form = BLR_AFFINE_COPY;
    step->pure = true;
    blr_spirv_step_result(step, site, 0, 4, 1);
    blr_spirv_step_input(step, 0, number);
}

/* Passes the arguments of a call to a shared function. True at the first call. */
static bool pass(struct blr_spirv_builder *b, uint32_t word, struct blr_spirv_shared *shared,
                 const struct blr_spirv_function *function, const struct blr_spirv_ref *arguments, uint32_t behind)
{
    const bool first = shared->parameters == NULL;
    if (first)
        prepare(b, word, shared, function);
    if (b->calls_pointers) {
        struct blr_spirv_step *step = blr_spirv_step(b, word);
        step->op.run = blr_spirv_run_check_call;
        blr_spirv_step_input(step, 0, shared->site);
    }
    for (uint32_t i = 0; i < function->type->count; i++) {
        const bool is_builtin = arguments[i].builtin != 0;
        blr_spirv_copy(b, word, shared->parameters[i], 0, is_builtin ? blr_spirv_addressed(b, word, arguments[i]) : arguments[i],
                       b->module->ids[function->type->members[i]].of_type);
    }
    shared->behind = blr_spirv_grow(b->build, shared->behind, shared->count, &shared->capacity, sizeof *shared->behind);
    shared->behind[shared->count++] = behind;
    set_site(b, word, shared->site, blr_spirv_number(b, shared->count, 4));
    b->parts[b->current].behind = behind;
    return first;
}

/* No call is open at the start of the kernel: the sites are set before its first block. */
static void clear_sites(struct blr_spirv_builder *b)
{
    const uint32_t start = blr_spirv_new_part(b);
    blr_spirv_open_part(b, start);
    for (uint32_t n = 0; n < b->shared_count; n++)
        set_site(b, b->program->entry->word, b->shared[n]->site, blr_spirv_number(b, 0, 4));
    blr_spirv_close_part(b, BLR_END_BRANCH);
    blr_spirv_add_edge(b, 0, b->branches[b->parts[0].first_edge].target);
    b->branches[b->parts[0].first_edge].target = start;
}

void blr_spirv_end_shared(struct blr_spirv_builder *b)
{
    for (uint32_t n = 0; n < b->shared_count; n++) {
        const struct blr_spirv_shared *shared = b->shared[n];
        uint64_t *literals = blr_spirv_allocate(b->build, shared->count, sizeof *literals);
        struct blr_spirv_ref site = shared->site;
        blr_spirv_open_part(b, shared->end);
        if (b->calls_pointers) {
            site.value = blr_spirv_new_value(b, 4) + 1;
            set_site(b, b->program->entry->word, site, shared->site);
            set_site(b, b->program->entry->word, shared->site, blr_spirv_number(b, 0, 4));
        }
        struct blr_spirv_part *part = blr_spirv_close_part(b, shared->count > 1 ? BLR_END_SWITCH : BLR_END_BRANCH);
        part->condition = shared->count > 1 ? site.value - 1 : BLR_NONE;
        part->size = 4;
        part->literals = literals;
        for (uint32_t i = 0; i < shared->count; i++) {
            if (i > 0)
                literals[i - 1] = i + 1;
            blr_spirv_add_edge(b, 0, shared->behind[i]);
        }
    }
    if (b->calls_pointers)
        clear_sites(b);
}

/* ---------------------------------------------------------------- calls */

bool *blr_spirv_is_open(struct blr_spirv_builder *b, uint32_t unit, const struct blr_spirv_function *function)
{
    return &b->units[unit].open[function - b->units[unit].module->functions];
}

static struct blr_spirv_shared *shared_of(const struct blr_spirv_builder *b, uint32_t unit, const struct blr_spirv_function *function)
{
    return b->units[unit].shared != NULL ? b->units[unit].shared[function - b->units[unit].module->functions] : NULL;
}

bool blr_spirv_can_call(struct blr_spirv_builder *b, uint32_t unit, const struct blr_spirv_function *function)
{
    const struct blr_spirv_shared *shared = shared_of(b, unit, function);
    if (!*blr_spirv_is_open(b, unit, function))
        return b->depth < BLR_SPIRV_DEEPEST_CALL;
    return b->calls_pointers && shared != NULL && shared->parameters != NULL;
}

static void bind_parameters(struct blr_spirv_builder *b, const struct blr_spirv_function *function, const struct blr_spirv_ref *refs)
{
    uint32_t at = function->parameters;
    for (uint32_t i = 0; i < function->type->count; at += blr_spirv_length_at(b->build, at))
        if (blr_spirv_opcode_at(b->build, at) == BLR_OP_FunctionParameter)
            b->refs[word_at(b, at + 2)] = refs[i++];
}

/* Calls a function whose blocks exist once; the first call decodes it. */
static void call_shared(struct blr_spirv_builder *b, uint32_t word, struct blr_spirv_shared *shared,
                        struct blr_spirv_function *callee, const struct blr_spirv_ref *arguments, struct blr_spirv_call call)
{
    const uint32_t behind = call.continuation;
    const struct blr_spirv_ref result = call.result;
    if (pass(b, word, shared, callee, arguments, behind)) {
        call.continuation = shared->end;
        call.result = shared->result;
        shared->first = b->part_count;
        bind_parameters(b, callee, shared->parameters);
        blr_spirv_decode_function(b, word, callee, &call);
        b->shared[b->shared_count++] = shared;
    } else {
        blr_spirv_close_part(b, BLR_END_BRANCH);
        blr_spirv_add_edge(b, 0, shared->first);
    }
    blr_spirv_open_part(b, behind);
    if (call.returns_value)
        blr_spirv_copy(b, word, result, 0, shared->result, b->module->ids[call.type->id].of_type);
}

void blr_spirv_call(struct blr_spirv_builder *b, uint32_t word, uint32_t unit, struct blr_spirv_function *callee,
                    const struct blr_spirv_ref *arguments, struct blr_spirv_ref result)
{
    const uint32_t own = b->unit;
    struct blr_spirv_shared *shared = shared_of(b, unit, callee);
    struct blr_spirv_call call = {.continuation = blr_spirv_new_part(b), .result = result, .returns_value = result.value != 0};
    blr_spirv_enter(b, unit);
    call.type = b->module->ids[callee->type->element].of_type;
    if (shared != NULL) {
        call_shared(b, word, shared, callee, arguments, call);
        blr_spirv_enter(b, own);
        return;
    }
    bind_parameters(b, callee, arguments);
    blr_spirv_decode_function(b, word, callee, &call);
    blr_spirv_enter(b, own);
    blr_spirv_open_part(b, call.continuation);
}

void blr_spirv_decode_call(struct blr_spirv_builder *b, uint32_t word)
{
    blr_spirv_require_words(b->module, word, 4);
    uint32_t id = word_at(b, word + 3), argument_count = blr_spirv_length_at(b->build, word) - 4;
    if (id == 0 || id >= b->module->bound || b->module->ids[id].kind != BLR_ID_FUNCTION)
        blr_spirv_refuse(b->build, word, "%%%u is no function", id);
    struct blr_spirv_function *callee = b->module->ids[id].function;
    const char *name = b->module->ids[id].linkage != NULL ? b->module->ids[id].linkage : b->module->ids[id].name;
    const uint32_t unit = callee->definition != NULL ? callee->definition_module : b->unit;
    struct blr_spirv_module *module = b->module, *its = b->units[unit].module;
    if (callee->definition != NULL)
        callee = callee->definition;
    if (callee->body == 0 && name != NULL && (blr_spirv_decode_array_index(b, word, name) || blr_spirv_decode_waits(b, word, name)))
        return;
    if (callee->body == 0) {
        blr_spirv_note_undefined(b, word, name);
        return;
    }
    if (!blr_spirv_can_call(b, unit, callee))
        blr_spirv_refuse(b->build, word, "the function '%.80s' calls itself, or calls are nested deeper than %u",
                         name != NULL ? name : "", BLR_SPIRV_DEEPEST_CALL);
    struct blr_spirv_type *type = blr_spirv_result_type(b, word), *returned = its->ids[callee->type->element].of_type;
    if (argument_count != callee->type->count || !blr_spirv_alike(module, type, its, returned))
        blr_spirv_refuse(b->build, word, "%u arguments or a result type that the function '%.80s' does not have",
                         argument_count, name != NULL ? name : "");
    struct blr_spirv_ref *arguments = blr_spirv_allocate(b->build, argument_count + 1u, sizeof *arguments);
    for (uint32_t i = 0; i < argument_count; i++) {
        arguments[i] = blr_spirv_any_operand(b, word, word_at(b, word + 4 + i));
        struct blr_spirv_type *parameter = its->ids[callee->type->members[i]].of_type;
        if (!blr_spirv_alike(module, module->ids[arguments[i].type->id].of_type, its, parameter))
            blr_spirv_refuse(b->build, word, "argument %u is of another type than the parameter", i);
        arguments[i].type = parameter;
    }
    const struct blr_spirv_ref none = {0};
    blr_spirv_call(b, word, unit, callee, arguments, type->kind != BLR_TYPE_VOID ? blr_spirv_result(b, word) : none);
}
