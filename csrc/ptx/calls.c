/*
 * Calls: of functions, of pointers to functions, and of those that the system defines (vprintf).
 *
 * The address of a function is its number. A call of a pointer is a choice among the functions that have an address and the
 * call's types. Instructions without effect on values are here too.
 */
#include "emit.h"

#include <string.h>

#define MOST_PRINTED 32u

struct call {
    const struct ptx_operand *results, *arguments; /* lists, or NULL */
    const struct ptx_operand *target;
    const struct ptx_function *prototype;          /* of a call of a pointer */
};

static struct call read_call(struct ptx_emitter *e)
{
    const struct ptx_instruction *i = e->instruction;
    struct call call = {0};
    uint32_t at = 0;
    if (at < i->operand_count && i->operands[at].kind == PTX_OPERAND_LIST)
        call.results = &i->operands[at++];
    if (at == i->operand_count)
        ptx_refuse(e, "a function is missing");
    call.target = &i->operands[at++];
    if (at < i->operand_count && i->operands[at].kind == PTX_OPERAND_LIST)
        call.arguments = &i->operands[at++];
    if (at < i->operand_count && i->operands[at].name != NULL) {
        const struct ptx_symbol *symbol = ptx_find(e->module, i->scope, i->operands[at].name);
        if (symbol != NULL && symbol->kind == PTX_PROTOTYPE)
            call.prototype = symbol->function;
        else if (symbol != NULL && symbol->kind == PTX_TARGETS && symbol->target_count > 0) {
            const struct ptx_symbol *one = ptx_find(e->module, i->scope, symbol->targets[0]->name);
            call.prototype = one != NULL && one->kind == PTX_FUNCTION ? one->function : NULL;
        }
    }
    return call;
}

/* ---------------------------------------------------------------- arguments */

static struct ptx_value argument(struct ptx_emitter *e, const struct ptx_operand *operand, const struct ptx_symbol *parameter)
{
    if (operand->kind == PTX_OPERAND_SYMBOL && operand->symbol->kind == PTX_ARGUMENT) {
        struct ptx_symbol *symbol = operand->symbol;
        if (parameter->is_array != symbol->is_array)
            ptx_refuse(e, "an argument of another type than the parameter");
        if (symbol->is_array)
            return ptx_symbol_address(e, symbol);
        return ptx_cast(e, ptx_get(e, ptx_variable_of(e, symbol)), ptx_kind_of(parameter->type));
    }
    if (parameter->is_array)
        ptx_refuse(e, "an argument of another type than the parameter");
    return ptx_read(e, operand, parameter->type);
}

static uint32_t count_of(const struct ptx_operand *list) { return list != NULL ? list->count : 0; }

/* Whether the text of the call declares a result that the definition, in another text, does not have: its value is any. */
static bool lacks_result(const struct call *call, const struct ptx_function *callee)
{
    const struct ptx_symbol *declaration = call->target->kind == PTX_OPERAND_SYMBOL ? call->target->symbol : NULL;
    return declaration != NULL && declaration->kind == PTX_FUNCTION && declaration->function != callee && callee->result_count == 0 &&
           count_of(call->results) == declaration->function->result_count;
}

/* The ids of all arguments, addresses of results included. */
static uint32_t *arguments_of(struct ptx_emitter *e, const struct call *call, const struct ptx_function *callee, uint32_t *count)
{
    uint32_t *ids = ptx_allocate(e->build, callee->parameter_count + 2u, sizeof *ids);
    *count = callee->parameter_count;
    if (count_of(call->arguments) != callee->parameter_count ||
        (count_of(call->results) != callee->result_count && !lacks_result(call, callee)))
        ptx_refuse(e, "a number of arguments or results that the function does not have");
    for (uint32_t k = 0; k < callee->parameter_count; k++)
        ids[1 + k] = argument(e, &call->arguments->items[k], callee->parameters[k]).id;
    if (callee->result_count == 1 && callee->results[0]->is_array)
        ids[1 + (*count)++] = argument(e, &call->results->items[0], callee->results[0]).id;
    return ids;
}

static void take_result(struct ptx_emitter *e, const struct call *call, struct ptx_value value)
{
    const struct ptx_operand *to = &call->results->items[0];
    if (to->kind == PTX_OPERAND_SYMBOL && to->symbol->kind == PTX_ARGUMENT) {
        const uint32_t variable = ptx_variable_of(e, to->symbol);
        ptx_set(e, variable, ptx_cast(e, value, ptx_variable_kind(e, variable)));
    } else {
        ptx_write(e, to, value, false);
    }
}

static bool returns_value(const struct ptx_function *callee) { return callee->result_count == 1 && !callee->results[0]->is_array; }

static struct ptx_value call_function(struct ptx_emitter *e, struct ptx_function *callee, uint32_t *ids, uint32_t count)
{
    struct ptx_value value = {.kind = PTX_I32};
    if (returns_value(callee))
        value.kind = ptx_kind_of(callee->results[0]->type);
    uint32_t level = 0;
    ptx_declare_function(e, callee);
    if (callee->is_recursive && callee->component == e->function->component)
        level = e->level + 1;
    if (level == PTX_LEVELS) {
        ptx_trap(e);
        return ptx_bits_value(e, value.kind, 0);
    }
    ids[0] = callee->ids[level];
    value.id = ptx_emit_typed(e, OP_FunctionCall, returns_value(callee) ? ptx_scalar(e->words, value.kind) : ptx_void(e->words), ids, count + 1);
    return value;
}

/* ---------------------------------------------------------------- functions of the system */

/* The bytes of a string that a value points to, or NULL. */
static const char *string_of(struct ptx_emitter *e, struct ptx_value address, uint64_t *room)
{
    const struct ptx_known *fact = ptx_what_is(e, address.id);
    if (fact == NULL || fact->symbol->kind != PTX_GLOBAL || fact->symbol->definition->bytes == NULL ||
        fact->offset >= fact->symbol->definition->size)
        return NULL;
    *room = fact->symbol->definition->size - fact->offset;
    return (const char *)fact->symbol->definition->bytes + fact->offset;
}

/* One conversion of a format: the kind of its argument in memory, or PTX_BOOL for none. */
static enum ptx_kind next_conversion(const char *format, uint64_t room, uint64_t *at)
{
    for (; *at < room && format[*at] != '\0'; ++*at) {
        if (format[*at] != '%')
            continue;
        uint32_t longs = 0;
        for (++*at; *at < room && format[*at] != '\0' && strchr("-+ #0123456789.hlzjtL", format[*at]) != NULL; ++*at)
            longs += format[*at] == 'l' || format[*at] == 'z' || format[*at] == 'j' || format[*at] == 't';
        if (*at == room || format[*at] == '\0')
            break;
        const char letter = format[(*at)++];
        if (letter == '%') {
            --*at;
            continue;
        }
        return strchr("eEfFgGaA", letter) != NULL ? PTX_D : letter == 's' || letter == 'p' || longs > 0 ? PTX_I64 : PTX_I32;
    }
    return PTX_BOOL;
}

/* vprintf(format, memory with the arguments) */
static void print(struct ptx_emitter *e, const struct call *call)
{
    if (count_of(call->arguments) != 2 || call->arguments->items[0].kind != PTX_OPERAND_SYMBOL)
        ptx_refuse(e, "vprintf takes two arguments");
    const struct ptx_symbol parameter = {.type = PTX_B64};
    const struct ptx_value format = argument(e, &call->arguments->items[0], &parameter), memory = argument(e, &call->arguments->items[1], &parameter);
    uint64_t room = 0, at = 0, offset = 0;
    const char *text = string_of(e, format, &room);
    if (text == NULL)
        ptx_refuse(e, "a format of vprintf that is no constant string");
    const uint32_t byte = ptx_scalar(e->words, PTX_I8);
    uint32_t operands[3 + MOST_PRINTED] = {e->words->math, MATH_PRINTF, 0}, count = 3;
    operands[2] = ptx_emit_typed(e, OP_ConvertUToPtr, ptx_pointer(e->words, STORAGE_CONSTANT, byte), &format.id, 1);
    for (enum ptx_kind kind; (kind = next_conversion(text, room, &at)) != PTX_BOOL; count++) {
        const uint64_t size = ptx_bits_of(kind) / 8;
        if (count == 3 + MOST_PRINTED)
            ptx_refuse(e, "a format of more than 32 conversions");
        offset = (offset + size - 1) / size * size;
        const struct ptx_value place = ptx_op2(e, OP_IAdd, PTX_I64, memory, ptx_bits_value(e, PTX_I64, offset));
        operands[count] = ptx_load(e, place, kind).id;
        offset += size;
    }
    const struct ptx_value printed = ptx_emit(e, OP_ExtInst, PTX_I32, operands, count);
    if (count_of(call->results) == 1)
        take_result(e, call, printed);
}

static bool call_system(struct ptx_emitter *e, const struct call *call, const char *name)
{
    if (strcmp(name, "vprintf") == 0) {
        print(e, call);
        return true;
    }
    if (strcmp(name, "__assertfail") == 0 || strcmp(name, "__assert_fail") == 0) {
        ptx_trap(e);
        return true;
    }
    return false;
}

/* ---------------------------------------------------------------- pointers */

static bool same_types(struct ptx_symbol *const *a, uint32_t a_count, struct ptx_symbol *const *b, uint32_t b_count)
{
    for (uint32_t k = 0; k < a_count && k < b_count; k++)
        if (a[k]->is_array != b[k]->is_array || (!a[k]->is_array && ptx_kind_of(a[k]->type) != ptx_kind_of(b[k]->type)))
            return false;
    return a_count == b_count;
}

static bool fits(const struct ptx_function *one, const struct ptx_function *two)
{
    return one->address != 0 && same_types(one->parameters, one->parameter_count, two->parameters, two->parameter_count) &&
           same_types(one->results, one->result_count, two->results, two->result_count);
}

static void call_pointer(struct ptx_emitter *e, const struct call *call)
{
    if (call->prototype == NULL)
        ptx_refuse(e, "a call of a pointer without a prototype");
    uint32_t count, *ids = arguments_of(e, call, call->prototype, &count);
    const struct ptx_value pointer = ptx_read(e, call->target, PTX_U64);
    struct ptx_buffer choice = {0}, results = {0}, labels = {0};
    const uint32_t wrong = ptx_new_id(e->words), behind = ptx_new_id(e->words);
    ptx_push(e->build, &choice, pointer.id);
    ptx_push(e->build, &choice, wrong);
    for (uint32_t k = 0; k < e->module->function_count; k++) {
        const struct ptx_function *function = e->module->functions[k];
        if (!fits(function, call->prototype))
            continue;
        ptx_push(e->build, &choice, (uint32_t)function->address);
        ptx_push(e->build, &choice, (uint32_t)(function->address >> 32));
        ptx_push(e->build, &choice, ptx_new_id(e->words));
        ptx_push(e->build, &labels, choice.words[choice.count - 1]);
    }
    ptx_append(e->build, e->out, OP_Switch, choice.words, choice.count);
    for (uint32_t k = 0, n = 0; k < e->module->function_count; k++) {
        struct ptx_function *function = e->module->functions[k];
        if (!fits(function, call->prototype))
            continue;
        ptx_label(e, labels.words[n]);
        ptx_push(e->build, &results, call_function(e, function, ids, count).id);
        ptx_push(e->build, &results, labels.words[n++]);
        ptx_jump(e, behind);
    }
    ptx_label(e, wrong);
    ptx_trap(e);
    if (labels.count == 0) {
        ptx_jump(e, behind);
        ptx_label(e, behind);
        return;
    }
    ptx_emit_plain(e, OP_Unreachable, NULL, 0);
    ptx_label(e, behind);
    if (returns_value(call->prototype))
        take_result(e, call, ptx_emit(e, OP_Phi, ptx_kind_of(call->prototype->results[0]->type), results.words, results.count));
}

/* ---------------------------------------------------------------- call */

static void emit_call(struct ptx_emitter *e)
{
    const struct call call = read_call(e);
    if (call.target->kind != PTX_OPERAND_SYMBOL || call.target->symbol->kind != PTX_FUNCTION) {
        call_pointer(e, &call);
        return;
    }
    struct ptx_function *callee = call.target->symbol->definition->function;
    if (!callee->has_body && call_system(e, &call, callee->name))
        return;
    if (!callee->has_body)
        ptx_fail(e->build, e->instruction->line, "the function '%.80s' is not defined", callee->name);
    uint32_t count, *ids = arguments_of(e, &call, callee, &count);
    const struct ptx_value value = call_function(e, callee, ids, count);
    if (returns_value(callee))
        take_result(e, &call, value);
}

static void emit_nothing(struct ptx_emitter *e) { (void)e; }

const struct ptx_handler ptx_control_handlers[] = {
    {"call", emit_call}, {"pmevent", emit_nothing}, {"griddepcontrol", emit_nothing},
    {"brkpt", ptx_trap}, {NULL, NULL}};
