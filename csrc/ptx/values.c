/* Instructions of SPIR-V in the current block; operands and results of instructions of PTX. */
#include "emit.h"

#include <string.h>

/* ---------------------------------------------------------------- instructions */

void ptx_emit_plain(struct ptx_emitter *e, uint32_t opcode, const uint32_t *operands, uint32_t count)
{
    ptx_append(e->build, e->out, opcode, operands, count);
}

uint32_t ptx_emit_typed(struct ptx_emitter *e, uint32_t opcode, uint32_t type, const uint32_t *operands, uint32_t count)
{
    const uint32_t id = ptx_new_id(e->words);
    ptx_push(e->build, e->out, (count + 3) << 16 | opcode); /* the callers have few operands */
    ptx_push(e->build, e->out, type);
    ptx_push(e->build, e->out, id);
    for (uint32_t i = 0; i < count; i++)
        ptx_push(e->build, e->out, operands[i]);
    return id;
}

struct ptx_value ptx_emit(struct ptx_emitter *e, uint32_t opcode, enum ptx_kind kind, const uint32_t *operands, uint32_t count)
{
    return (struct ptx_value){ptx_emit_typed(e, opcode, ptx_scalar(e->words, kind), operands, count), kind};
}

struct ptx_value ptx_op1(struct ptx_emitter *e, uint32_t opcode, enum ptx_kind kind, struct ptx_value a)
{
    return ptx_emit(e, opcode, kind, &a.id, 1);
}

struct ptx_value ptx_op2(struct ptx_emitter *e, uint32_t opcode, enum ptx_kind kind, struct ptx_value a, struct ptx_value b)
{
    const uint32_t operands[2] = {a.id, b.id};
    return ptx_emit(e, opcode, kind, operands, 2);
}

struct ptx_value ptx_select(struct ptx_emitter *e, struct ptx_value condition, struct ptx_value yes, struct ptx_value no)
{
    const uint32_t operands[3] = {condition.id, yes.id, no.id};
    return ptx_emit(e, OP_Select, yes.kind, operands, 3);
}

struct ptx_value ptx_math(struct ptx_emitter *e, uint32_t number, enum ptx_kind kind, const struct ptx_value *inputs, uint32_t count)
{
    uint32_t operands[5] = {e->words->math, number};
    for (uint32_t i = 0; i < count; i++)
        operands[2 + i] = inputs[i].id;
    return ptx_emit(e, OP_ExtInst, kind, operands, 2 + count);
}

struct ptx_value ptx_math1(struct ptx_emitter *e, uint32_t number, struct ptx_value a) { return ptx_math(e, number, a.kind, &a, 1); }

struct ptx_value ptx_math2(struct ptx_emitter *e, uint32_t number, struct ptx_value a, struct ptx_value b)
{
    const struct ptx_value inputs[2] = {a, b};
    return ptx_math(e, number, a.kind, inputs, 2);
}

struct ptx_value ptx_math3(struct ptx_emitter *e, uint32_t number, struct ptx_value a, struct ptx_value b, struct ptx_value c)
{
    const struct ptx_value inputs[3] = {a, b, c};
    return ptx_math(e, number, a.kind, inputs, 3);
}

/* ---------------------------------------------------------------- blocks inside of one */

void ptx_label(struct ptx_emitter *e, uint32_t id)
{
    ptx_emit_plain(e, OP_Label, &id, 1);
    e->blocks[e->block].last_label = id;
}

void ptx_jump(struct ptx_emitter *e, uint32_t label) { ptx_emit_plain(e, OP_Branch, &label, 1); }

void ptx_choose(struct ptx_emitter *e, struct ptx_value condition, uint32_t yes, uint32_t no)
{
    const uint32_t operands[3] = {condition.id, yes, no};
    ptx_emit_plain(e, OP_BranchConditional, operands, 3);
}

/* ---------------------------------------------------------------- constants and conversions of bits */

enum ptx_kind ptx_integer(uint32_t bits) { return bits <= 8 ? PTX_I8 : bits == 16 ? PTX_I16 : bits == 32 ? PTX_I32 : PTX_I64; }

struct ptx_value ptx_bits_value(struct ptx_emitter *e, enum ptx_kind kind, uint64_t bits)
{
    return ptx_constant_of(e->words, kind, bits);
}

/* The bits of a half nearest to a number that is a half or lies outside of their range. */
static uint64_t half_bits(double value)
{
    float single = (float)value;
    uint32_t bits;
    memcpy(&bits, &single, sizeof bits);
    const uint32_t sign = bits >> 16 & 0x8000u;
    const int32_t exponent = (int32_t)(bits >> 23 & 0xff) - 127;
    if (exponent < -24)
        return sign;
    if (exponent > 15)
        return sign | ((bits & 0x7fffffffu) > 0x7f800000u ? 0x7e00u : 0x7c00u);
    if (exponent < -14)
        return sign | ((bits & 0x7fffffu) | 0x800000u) >> (-exponent - 1);
    return sign | (uint32_t)(exponent + 15) << 10 | (bits >> 13 & 0x3ffu);
}

struct ptx_value ptx_float_value(struct ptx_emitter *e, enum ptx_kind kind, double value)
{
    const float single = (float)value;
    uint32_t few;
    uint64_t bits;
    memcpy(&few, &single, sizeof few);
    memcpy(&bits, &value, sizeof bits);
    return ptx_bits_value(e, kind, kind == PTX_D ? bits : kind == PTX_F ? few : half_bits(value));
}

struct ptx_value ptx_resize(struct ptx_emitter *e, struct ptx_value value, enum ptx_kind kind, bool by_sign)
{
    if (value.kind == kind)
        return value;
    if (value.kind == PTX_BOOL)
        return ptx_select(e, value, ptx_bits_value(e, kind, 1), ptx_bits_value(e, kind, 0));
    if (kind == PTX_BOOL)
        return ptx_op2(e, OP_INotEqual, PTX_BOOL, value, ptx_bits_value(e, value.kind, 0));
    return ptx_op1(e, by_sign && kind > value.kind ? OP_SConvert : OP_UConvert, kind, value);
}

struct ptx_value ptx_cast(struct ptx_emitter *e, struct ptx_value value, enum ptx_kind kind)
{
    if (value.kind == kind)
        return value;
    const uint32_t from = ptx_bits_of(value.kind), to = ptx_bits_of(kind);
    if (ptx_is_float(value.kind))
        value = ptx_op1(e, OP_Bitcast, ptx_integer(from), value);
    if (from != to || kind == PTX_BOOL || value.kind == PTX_BOOL)
        value = ptx_resize(e, value, kind == PTX_BOOL ? PTX_BOOL : ptx_integer(to), false);
    return ptx_is_float(kind) ? ptx_op1(e, OP_Bitcast, kind, value) : value;
}

/* ---------------------------------------------------------------- errors */

void ptx_describe(const struct ptx_instruction *i, char *text, size_t size)
{
    size_t used = 0;
    for (const char *c = i->name; *c != '\0' && used + 1 < size; c++)
        text[used++] = *c;
    for (uint32_t k = 0; k < i->modifier_count; k++) {
        if (used + 1 < size)
            text[used++] = '.';
        for (const char *c = i->modifiers[k]; *c != '\0' && used + 1 < size; c++)
            text[used++] = *c;
    }
    text[used] = '\0';
}

noreturn void ptx_refuse(struct ptx_emitter *e, const char *why)
{
    char text[96];
    ptx_describe(e->instruction, text, sizeof text);
    ptx_fail(e->build, e->instruction->line, "instruction '%s': %s", text, why);
}

enum ptx_type ptx_type_at(struct ptx_emitter *e, uint32_t number)
{
    if (number >= e->instruction->type_count)
        ptx_refuse(e, "a type is missing");
    return e->instruction->types[number];
}

/* ---------------------------------------------------------------- operands */

void ptx_know(struct ptx_emitter *e, uint32_t id, const struct ptx_symbol *symbol, uint64_t offset)
{
    struct ptx_program *program = e->program;
    if (id >= program->known_capacity) {
        struct ptx_known *larger = ptx_allocate(e->build, 2 * (uint64_t)id + 256, sizeof *larger);
        if (program->known_capacity > 0)
            memcpy(larger, program->facts, program->known_capacity * sizeof *larger);
        program->facts = larger;
        program->known_capacity = 2 * id + 256;
    }
    program->facts[id] = (struct ptx_known){symbol, offset};
}

const struct ptx_known *ptx_what_is(const struct ptx_emitter *e, uint32_t id)
{
    const struct ptx_program *program = e->program;
    return id < program->known_capacity && program->facts[id].symbol != NULL ? &program->facts[id] : NULL;
}

static double as_number(const struct ptx_operand *operand)
{
    double value;
    float single;
    const uint32_t bits = (uint32_t)operand->bits;
    memcpy(&value, &operand->bits, sizeof value);
    memcpy(&single, &bits, sizeof single);
    return operand->kind == PTX_OPERAND_INTEGER ? (double)(int64_t)operand->bits
           : operand->kind == PTX_OPERAND_SINGLE ? (double)single
                                                 : value;
}

static struct ptx_value literal(struct ptx_emitter *e, const struct ptx_operand *operand, enum ptx_type type)
{
    const enum ptx_kind kind = ptx_kind_of(type);
    const bool is_whole = operand->kind == PTX_OPERAND_INTEGER;
    if (is_whole ? !ptx_is_float(kind) : operand->kind == PTX_OPERAND_SINGLE && ptx_bits_of(kind) == 32)
        return ptx_bits_value(e, kind, kind == PTX_BOOL ? operand->bits != 0 : operand->bits);
    if (operand->kind == PTX_OPERAND_DOUBLE && kind == PTX_I64)
        return ptx_bits_value(e, kind, operand->bits);
    if (kind == PTX_I32) /* a decimal float in a register of bits */
        return ptx_cast(e, ptx_float_value(e, PTX_F, as_number(operand)), PTX_I32);
    if (!ptx_is_float(kind))
        ptx_refuse(e, "a float where an integer is needed");
    return ptx_float_value(e, kind, as_number(operand));
}

struct ptx_value ptx_read(struct ptx_emitter *e, const struct ptx_operand *operand, enum ptx_type type)
{
    struct ptx_value value;
    switch (operand->kind) {
    case PTX_OPERAND_REGISTER:
        value = ptx_get(e, operand->number);
        if (operand->bits != 0)
            value = ptx_op2(e, OP_IAdd, value.kind, value, ptx_bits_value(e, value.kind, operand->bits));
        break;
    case PTX_OPERAND_INTEGER:
    case PTX_OPERAND_SINGLE:
    case PTX_OPERAND_DOUBLE: value = literal(e, operand, type); break;
    case PTX_OPERAND_SPECIAL: value = ptx_special(e, operand->name, operand->component); break;
    case PTX_OPERAND_SYMBOL:
        value = ptx_symbol_address(e, operand->symbol);
        if (operand->bits != 0)
            value = ptx_op2(e, OP_IAdd, PTX_I64, value, ptx_bits_value(e, PTX_I64, operand->bits));
        ptx_know(e, value.id, operand->symbol, operand->bits);
        break;
    case PTX_OPERAND_LABEL: ptx_fail(e->build, e->instruction->line, "'%.80s' is not defined", operand->name);
    default: ptx_refuse(e, "an operand that is neither a register nor a number");
    }
    const enum ptx_kind kind = ptx_kind_of(type);
    if (value.kind != kind && !ptx_is_float(value.kind) && !ptx_is_float(kind) && kind != PTX_BOOL && value.kind != PTX_BOOL)
        value = ptx_resize(e, value, kind, ptx_class(type) == 's');
    else
        value = ptx_cast(e, value, kind);
    return operand->negated ? ptx_op1(e, OP_LogicalNot, PTX_BOOL, ptx_cast(e, value, PTX_BOOL)) : value;
}

struct ptx_value ptx_operand(struct ptx_emitter *e, uint32_t number, enum ptx_type type)
{
    if (number >= e->instruction->operand_count)
        ptx_refuse(e, "operands are missing");
    return ptx_read(e, &e->instruction->operands[number], type);
}

const struct ptx_operand *ptx_element(struct ptx_emitter *e, const struct ptx_operand *operand, uint32_t k, uint32_t count)
{
    if (operand->kind != PTX_OPERAND_VECTOR && count == 1)
        return operand;
    if (operand->kind != PTX_OPERAND_VECTOR || operand->count != count)
        ptx_refuse(e, "a vector of another size");
    return &operand->items[k];
}

uint64_t ptx_immediate(struct ptx_emitter *e, uint32_t number)
{
    if (number >= e->instruction->operand_count || e->instruction->operands[number].kind != PTX_OPERAND_INTEGER)
        ptx_refuse(e, "an operand that has to be a number");
    return e->instruction->operands[number].bits;
}

/* ---------------------------------------------------------------- results */

void ptx_write(struct ptx_emitter *e, const struct ptx_operand *operand, struct ptx_value value, bool by_sign)
{
    if (operand->kind == PTX_OPERAND_SINK)
        return;
    if (operand->kind != PTX_OPERAND_REGISTER)
        ptx_refuse(e, "a result that is no register");
    const enum ptx_kind kind = ptx_variable_kind(e, operand->number);
    if (by_sign && !ptx_is_float(kind) && !ptx_is_float(value.kind) && kind != PTX_BOOL && value.kind != PTX_BOOL)
        value = ptx_resize(e, value, kind, true);
    else
        value = ptx_cast(e, value, kind);
    if (e->guard.id != 0)
        value = ptx_select(e, e->guard, value, ptx_get(e, operand->number));
    ptx_set(e, operand->number, value);
}

void ptx_result(struct ptx_emitter *e, struct ptx_value value)
{
    if (e->instruction->operand_count == 0)
        ptx_refuse(e, "operands are missing");
    ptx_write(e, &e->instruction->operands[0], value, e->instruction->type_count > 0 && ptx_class(e->instruction->types[0]) == 's');
}
