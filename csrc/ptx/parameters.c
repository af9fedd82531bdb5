/*
 * Parameters of functions, their results, and arguments of calls.
 *
 * A scalar is a value. An aggregate of an entry whose accesses are loads at known offsets is a struct of these, also a
 * value; others are memory. An aggregate of a function is the address of memory of the caller, also one that it returns.
 */
#include "emit.h"

#include <string.h>

#define MOST_MEMBERS 200u

/* ---------------------------------------------------------------- survey */

static uint32_t vector_of(const struct ptx_instruction *i)
{
    return ptx_has(i, "v2") ? 2 : ptx_has(i, "v4") ? 4 : ptx_has(i, "v8") ? 8 : 1;
}

static void note_access(struct ptx_emitter *e, struct ptx_aggregate *own, uint64_t offset, enum ptx_kind kind)
{
    uint32_t at = 0;
    while (at < own->count && own->offsets[at] < offset)
        at++;
    if (at < own->count && own->offsets[at] == offset && own->kinds[at] == kind)
        return;
    if (own->count == MOST_MEMBERS) {
        own->in_memory = true;
        return;
    }
    if (own->offsets == NULL) {
        own->offsets = ptx_allocate(e->build, 2 * MOST_MEMBERS + 8, sizeof *own->offsets);
        own->kinds = ptx_allocate(e->build, 2 * MOST_MEMBERS + 8, sizeof *own->kinds);
    }
    memmove(own->offsets + at + 1, own->offsets + at, (own->count - at) * sizeof *own->offsets);
    memmove(own->kinds + at + 1, own->kinds + at, (own->count - at) * sizeof *own->kinds);
    own->offsets[at] = offset;
    own->kinds[at] = kind;
    own->count++;
}

static void visit(struct ptx_emitter *e, const struct ptx_instruction *i, const struct ptx_operand *operand, bool is_load)
{
    if (operand->kind == PTX_OPERAND_SYMBOL && operand->symbol->kind == PTX_PARAMETER && !operand->symbol->is_result) {
        struct ptx_aggregate *own = &e->aggregates[operand->symbol->number];
        const enum ptx_type type = i->type_count > 0 ? i->types[0] : PTX_NONE;
        if (!is_load || type == PTX_NONE || ptx_bits(type) > 64 || ptx_bits(type) < 8 || operand->bits > operand->symbol->size) {
            own->in_memory = true;
            return;
        }
        for (uint32_t k = 0; k < vector_of(i); k++)
            note_access(e, own, operand->bits + (uint64_t)k * ptx_bits(type) / 8, ptx_integer(ptx_bits(type)));
    }
    for (uint32_t k = 0; k < operand->count; k++)
        visit(e, i, &operand->items[k], is_load && operand->kind == PTX_OPERAND_ADDRESS);
}

/* Fills the gaps between members, so that each has its offset. */
static void fill(struct ptx_emitter *e, struct ptx_aggregate *own, uint64_t size)
{
    struct ptx_aggregate whole = {0};
    uint64_t at = 0;
    whole.offsets = ptx_allocate(e->build, 2 * MOST_MEMBERS + 8, sizeof *whole.offsets);
    whole.kinds = ptx_allocate(e->build, 2 * MOST_MEMBERS + 8, sizeof *whole.kinds);
    for (uint32_t k = 0; k <= own->count; k++) {
        const uint64_t next = k < own->count ? own->offsets[k] : size;
        if (next < at || next > size)
            own->in_memory = true; /* overlapping members */
        while (!own->in_memory && at < next) {
            const uint64_t rest = next - at, unit = rest >= 8 ? 8 : rest >= 4 ? 4 : rest >= 2 ? 2 : 1;
            if (whole.count >= MOST_MEMBERS) {
                own->in_memory = true;
                break;
            }
            whole.offsets[whole.count] = at;
            whole.kinds[whole.count++] = ptx_integer((uint32_t)unit * 8);
            at += unit;
        }
        if (own->in_memory)
            return;
        if (k < own->count) {
            if (whole.count >= MOST_MEMBERS) {
                own->in_memory = true;
                return;
            }
            whole.offsets[whole.count] = at;
            whole.kinds[whole.count++] = own->kinds[k];
            at += ptx_bits_of(own->kinds[k]) / 8;
        }
    }
    own->in_memory = at != size;
    own->offsets = whole.offsets;
    own->kinds = whole.kinds;
    own->count = whole.count;
}

void ptx_survey_parameters(struct ptx_emitter *e)
{
    const struct ptx_function *function = e->function;
    e->aggregates = ptx_allocate(e->build, function->parameter_count + 1u, sizeof *e->aggregates);
    for (uint32_t k = 0; k < function->instruction_count; k++) {
        const struct ptx_instruction *i = &function->instructions[k];
        for (uint32_t n = 0; n < i->operand_count; n++)
            visit(e, i, &i->operands[n], strcmp(i->name, "ld") == 0);
    }
    for (uint32_t n = 0; n < function->parameter_count; n++) {
        const struct ptx_symbol *symbol = function->parameters[n];
        if (symbol->kind == PTX_PARAMETER && symbol->is_array && function->is_entry && !e->aggregates[n].in_memory)
            fill(e, &e->aggregates[n], symbol->size);
    }
}

/* ---------------------------------------------------------------- types */

static uint32_t struct_of(struct ptx_emitter *e, const struct ptx_aggregate *own)
{
    uint32_t members[MOST_MEMBERS];
    for (uint32_t k = 0; k < own->count; k++)
        members[k] = ptx_scalar(e->words, own->kinds[k]);
    const uint32_t before = e->words->bound, type = ptx_declare(e->words, OP_TypeStruct, 0, members, own->count);
    if (type == before) {
        const uint32_t packed[2] = {type, DECORATION_CPACKED};
        ptx_append(e->build, &e->words->decorations, OP_Decorate, packed, 2);
    }
    return type;
}

uint32_t ptx_entry_parameter_type(struct ptx_emitter *e, uint32_t number, bool *by_value)
{
    const struct ptx_symbol *symbol = e->function->parameters[number];
    *by_value = e->aggregates[number].in_memory;
    if (symbol->size == 0)
        ptx_fail(e->build, symbol->line, "the parameter '%.80s' has no size", symbol->name);
    if (*by_value) {
        uint64_t unit = symbol->alignment;
        while (unit > 1 && symbol->size % unit != 0)
            unit /= 2;
        return ptx_pointer(e->words, STORAGE_FUNCTION, ptx_block_type(e, symbol->size, unit));
    }
    return symbol->is_array ? struct_of(e, &e->aggregates[number]) : ptx_scalar(e->words, ptx_kind_of(symbol->type));
}

/* The type of a function that is called. */
void ptx_declare_function(struct ptx_emitter *e, struct ptx_function *function)
{
    if (function->ids != NULL)
        return;
    struct ptx_buffer operands = {0};
    if (function->result_count > 1)
        ptx_fail(e->build, function->line, "the function '%.80s' returns more than one value",
                 function->name != NULL ? function->name : "");
    const bool returns = function->result_count == 1 && !function->results[0]->is_array;
    ptx_push(e->build, &operands, returns ? ptx_scalar(e->words, ptx_kind_of(function->results[0]->type)) : ptx_void(e->words));
    for (uint32_t k = 0; k < function->parameter_count; k++) {
        const struct ptx_symbol *symbol = function->parameters[k];
        ptx_push(e->build, &operands, ptx_scalar(e->words, symbol->is_array ? PTX_I64 : ptx_kind_of(symbol->type)));
    }
    if (function->result_count == 1 && !returns)
        ptx_push(e->build, &operands, ptx_scalar(e->words, PTX_I64));
    function->type_id = ptx_declare(e->words, OP_TypeFunction, 0, operands.words, operands.count);
    function->ids = ptx_allocate(e->build, PTX_LEVELS, sizeof *function->ids);
    for (uint32_t level = 0; level < (function->is_recursive ? PTX_LEVELS : 1); level++)
        function->ids[level] = ptx_new_id(e->words);
}

/* ---------------------------------------------------------------- values */

static struct ptx_value part_of(struct ptx_emitter *e, struct ptx_value whole, uint64_t offset, enum ptx_kind kind)
{
    if (offset == 0 && ptx_bits_of(kind) == ptx_bits_of(whole.kind))
        return ptx_cast(e, whole, kind);
    if ((offset * 8 + ptx_bits_of(kind)) > ptx_bits_of(whole.kind) && offset != 0)
        ptx_refuse(e, "it reads behind a parameter");
    struct ptx_value bits = ptx_cast(e, whole, ptx_integer(ptx_bits_of(whole.kind)));
    if (offset != 0)
        bits = ptx_op2(e, OP_ShiftRightLogical, bits.kind, bits, ptx_bits_value(e, bits.kind, offset * 8));
    return ptx_cast(e, bits, kind);
}

/* The symbol in brackets that is no memory, or NULL. */
static struct ptx_symbol *value_symbol(struct ptx_emitter *e, const struct ptx_operand *address)
{
    if (address->kind != PTX_OPERAND_ADDRESS || address->count == 0 || address->items[0].kind != PTX_OPERAND_SYMBOL)
        return NULL;
    struct ptx_symbol *symbol = address->items[0].symbol;
    if (symbol->kind == PTX_ARGUMENT || (symbol->kind == PTX_PARAMETER && symbol->is_result))
        return symbol->is_array ? NULL : symbol;
    if (symbol->kind != PTX_PARAMETER || e->parameter_addresses[symbol->number] != 0)
        return NULL;
    return symbol;
}

bool ptx_read_parameter_value(struct ptx_emitter *e, const struct ptx_operand *address, enum ptx_kind kind, struct ptx_value *value)
{
    const struct ptx_symbol *symbol = value_symbol(e, address);
    if (symbol == NULL)
        return false;
    const uint64_t offset = address->items[0].bits;
    if (symbol->kind == PTX_PARAMETER && !symbol->is_result && symbol->is_array) {
        const struct ptx_aggregate *own = &e->aggregates[symbol->number];
        const enum ptx_kind bits = ptx_integer(ptx_bits_of(kind));
        for (uint32_t k = 0; k < own->count; k++)
            if (own->offsets[k] == offset && own->kinds[k] == bits) {
                const uint32_t operands[2] = {e->parameters[symbol->number], k};
                *value = ptx_cast(e, ptx_emit(e, OP_CompositeExtract, bits, operands, 2), kind);
                return true;
            }
        ptx_refuse(e, "it reads behind a parameter");
    }
    const struct ptx_value whole = symbol->kind == PTX_PARAMETER && !symbol->is_result
                                       ? (struct ptx_value){e->parameters[symbol->number], ptx_kind_of(symbol->type)}
                                       : ptx_get(e, ptx_variable_of(e, symbol));
    *value = part_of(e, whole, offset, kind);
    return true;
}

bool ptx_write_parameter_value(struct ptx_emitter *e, const struct ptx_operand *address, struct ptx_value value)
{
    const struct ptx_symbol *symbol = value_symbol(e, address);
    if (symbol == NULL)
        return false;
    if (address->items[0].bits != 0 || (symbol->kind == PTX_PARAMETER && !symbol->is_result))
        ptx_refuse(e, "it writes a part of a parameter");
    const uint32_t variable = ptx_variable_of(e, symbol);
    ptx_set(e, variable, ptx_cast(e, value, ptx_variable_kind(e, variable)));
    return true;
}
