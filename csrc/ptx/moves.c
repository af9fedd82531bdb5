/* Moves, selections, comparisons and conversions. */
#include "emit.h"

#include <string.h>

/* ---------------------------------------------------------------- moves */

static void unpack(struct ptx_emitter *e, const struct ptx_operand *vector, struct ptx_value whole)
{
    const uint32_t bits = ptx_bits_of(whole.kind) / (vector->count == 0 ? 1 : vector->count);
    if (bits < 8 || bits * vector->count != ptx_bits_of(whole.kind))
        ptx_refuse(e, "a vector of this size");
    for (uint32_t k = 0; k < vector->count; k++) {
        struct ptx_value part = whole;
        if (k > 0)
            part = ptx_op2(e, OP_ShiftRightLogical, whole.kind, whole, ptx_bits_value(e, whole.kind, (uint64_t)k * bits));
        ptx_write(e, &vector->items[k], ptx_resize(e, part, ptx_integer(bits), false), false);
    }
}

static struct ptx_value pack(struct ptx_emitter *e, const struct ptx_operand *vector, enum ptx_kind kind)
{
    const uint32_t bits = ptx_bits_of(kind) / (vector->count == 0 ? 1 : vector->count);
    const enum ptx_type type = bits == 32 ? PTX_B32 : bits == 16 ? PTX_B16 : PTX_B8;
    if (bits < 8 || bits * vector->count != ptx_bits_of(kind))
        ptx_refuse(e, "a vector of this size");
    struct ptx_value whole = ptx_bits_value(e, kind, 0);
    for (uint32_t k = 0; k < vector->count; k++) {
        if (vector->items[k].kind == PTX_OPERAND_SINK)
            continue;
        const struct ptx_value part = ptx_resize(e, ptx_read(e, &vector->items[k], type), kind, false);
        whole = ptx_op2(e, OP_BitwiseOr, kind, whole, ptx_op2(e, OP_ShiftLeftLogical, kind, part, ptx_bits_value(e, kind, (uint64_t)k * bits)));
    }
    return whole;
}

static void emit_mov(struct ptx_emitter *e)
{
    const enum ptx_type type = ptx_type_at(e, 0);
    const struct ptx_instruction *i = e->instruction;
    if (i->operand_count != 2)
        ptx_refuse(e, "two operands are needed");
    if (i->operands[0].kind == PTX_OPERAND_VECTOR) {
        const enum ptx_kind kind = ptx_integer(ptx_bits(type));
        if (i->operands[1].kind == PTX_OPERAND_VECTOR) {
            for (uint32_t k = 0; k < i->operands[0].count && k < i->operands[1].count; k++)
                ptx_write(e, &i->operands[0].items[k], ptx_read(e, &i->operands[1].items[k], type), false);
            return;
        }
        unpack(e, &i->operands[0], ptx_cast(e, ptx_operand(e, 1, type), kind));
    } else if (i->operands[1].kind == PTX_OPERAND_VECTOR) {
        ptx_result(e, pack(e, &i->operands[1], ptx_integer(ptx_bits(type))));
    } else {
        ptx_result(e, ptx_operand(e, 1, type));
    }
}

/* Addresses in memory are flat, but those of shared memory start at 0. */
static void emit_cvta(struct ptx_emitter *e)
{
    struct ptx_value address = ptx_operand(e, 1, PTX_U64);
    if (ptx_space_of(e) == PTX_SPACE_SHARED)
        address = ptx_op2(e, ptx_has(e->instruction, "to") ? OP_ISub : OP_IAdd, PTX_I64, address, ptx_shared_base(e));
    ptx_write(e, &e->instruction->operands[0], address, false);
}

static struct ptx_value lies_in(struct ptx_emitter *e, struct ptx_value address, uint32_t storage)
{
    const uint32_t byte = ptx_scalar(e->words, PTX_I8), pointer = ptx_as_pointer(e, address, byte);
    ptx_need(e->words, CAN_GENERIC);
    const uint32_t generic = ptx_emit_typed(e, OP_PtrCastToGeneric, ptx_pointer(e->words, STORAGE_GENERIC, byte), &pointer, 1);
    const uint32_t operands[2] = {generic, storage};
    const uint32_t cast = ptx_emit_typed(e, OP_GenericCastToPtrExplicit, ptx_pointer(e->words, storage, byte), operands, 2);
    return ptx_op2(e, OP_INotEqual, PTX_BOOL, ptx_emit(e, OP_ConvertPtrToU, PTX_I64, &cast, 1), ptx_bits_value(e, PTX_I64, 0));
}

static void emit_isspacep(struct ptx_emitter *e)
{
    const struct ptx_value address = ptx_operand(e, 1, PTX_U64);
    const enum ptx_space space = ptx_space_of(e);
    struct ptx_value result = ptx_bits_value(e, PTX_BOOL, 0); /* constants are global memory */
    if (!ptx_has(e->instruction, "const") && space != PTX_SPACE_PARAM)
        result = lies_in(e, address, space == PTX_SPACE_SHARED ? STORAGE_WORKGROUP : space == PTX_SPACE_LOCAL ? STORAGE_FUNCTION : STORAGE_GLOBAL);
    ptx_write(e, &e->instruction->operands[0], result, false);
}

/* ---------------------------------------------------------------- comparisons */

static struct ptx_value compare_as(struct ptx_emitter *e, const char *name, char letter, struct ptx_value a, struct ptx_value b)
{
    static const struct {
        const char *name;
        uint32_t floats, of_unsigned, of_signed;
    } rows[] = {{"eq", OP_FOrdEqual, OP_IEqual, OP_IEqual}, {"ne", OP_FOrdNotEqual, OP_INotEqual, OP_INotEqual},
                {"lt", OP_FOrdLessThan, OP_ULessThan, OP_SLessThan}, {"le", OP_FOrdLessThanEqual, OP_ULessThanEqual, OP_SLessThanEqual},
                {"gt", OP_FOrdGreaterThan, OP_UGreaterThan, OP_SGreaterThan},
                {"ge", OP_FOrdGreaterThanEqual, OP_UGreaterThanEqual, OP_SGreaterThanEqual}, {"lo", 0, OP_ULessThan, OP_ULessThan},
                {"ls", 0, OP_ULessThanEqual, OP_ULessThanEqual}, {"hi", 0, OP_UGreaterThan, OP_UGreaterThan},
                {"hs", 0, OP_UGreaterThanEqual, OP_UGreaterThanEqual}, {"equ", OP_FUnordEqual, 0, 0}, {"neu", OP_FUnordNotEqual, 0, 0},
                {"ltu", OP_FUnordLessThan, 0, 0}, {"leu", OP_FUnordLessThanEqual, 0, 0}, {"gtu", OP_FUnordGreaterThan, 0, 0},
                {"geu", OP_FUnordGreaterThanEqual, 0, 0}, {"num", OP_Ordered, 0, 0}, {"nan", OP_Unordered, 0, 0}};
    for (unsigned k = 0; k < sizeof rows / sizeof *rows; k++) {
        const uint32_t opcode = ptx_is_float(a.kind) ? rows[k].floats : letter == 's' ? rows[k].of_signed : rows[k].of_unsigned;
        if (strcmp(rows[k].name, name) == 0 && opcode != 0)
            return ptx_op2(e, opcode, PTX_BOOL, a, b);
    }
    ptx_refuse(e, "its comparison");
}

/* The comparison of elements of a type, with the predicate that a set or setp combines it with. */
static struct ptx_value compare(struct ptx_emitter *e, enum ptx_type type, struct ptx_value a, struct ptx_value b)
{
    if (type == PTX_BF16 || type == PTX_BF16X2) {
        a = ptx_from_bfloat(e, a);
        b = ptx_from_bfloat(e, b);
    } else if (type == PTX_F16X2) {
        a = ptx_cast(e, a, PTX_H);
        b = ptx_cast(e, b, PTX_H);
    }
    if (ptx_has(e->instruction, "ftz") && ptx_is_float(a.kind)) {
        a = ptx_flush(e, a);
        b = ptx_flush(e, b);
    }
    return compare_as(e, e->instruction->modifiers[0], ptx_class(type), a, b);
}

static struct ptx_value combine(struct ptx_emitter *e, struct ptx_value result)
{
    const struct ptx_instruction *i = e->instruction;
    if (i->operand_count < 4)
        return result;
    const struct ptx_value other = ptx_operand(e, 3, PTX_PRED);
    const uint32_t opcode = ptx_has(i, "and") ? OP_LogicalAnd : ptx_has(i, "or") ? OP_LogicalOr : OP_LogicalNotEqual;
    return ptx_op2(e, opcode, PTX_BOOL, result, other);
}

static void emit_setp(struct ptx_emitter *e)
{
    const enum ptx_type type = ptx_type_at(e, 0);
    const struct ptx_value a = ptx_operand(e, 1, type), b = ptx_operand(e, 2, type);
    const struct ptx_operand *to = &e->instruction->operands[0];
    const bool pairs = ptx_class(type) == '2', two = to->kind == PTX_OPERAND_PAIR;
    struct ptx_value first = pairs ? compare(e, type, ptx_half_of(e, a, 0), ptx_half_of(e, b, 0)) : compare(e, type, a, b), second = first;
    if (pairs)
        second = compare(e, type, ptx_half_of(e, a, 1), ptx_half_of(e, b, 1));
    else if (two)
        second = ptx_op1(e, OP_LogicalNot, PTX_BOOL, first);
    first = combine(e, first);
    if (two)
        second = combine(e, second);
    ptx_write(e, two ? &to->items[0] : to, first, false);
    if (two)
        ptx_write(e, &to->items[1], second, false);
}

static struct ptx_value truth(struct ptx_emitter *e, enum ptx_type type, struct ptx_value condition)
{
    const enum ptx_kind kind = type == PTX_F16X2 ? PTX_H : ptx_kind_of(type);
    if (type == PTX_BF16 || type == PTX_BF16X2)
        return ptx_select(e, condition, ptx_bits_value(e, PTX_I16, 0x3f80), ptx_bits_value(e, PTX_I16, 0));
    if (ptx_is_float(kind))
        return ptx_select(e, condition, ptx_float_value(e, kind, 1), ptx_float_value(e, kind, 0));
    return ptx_select(e, condition, ptx_bits_value(e, kind, UINT64_MAX), ptx_bits_value(e, kind, 0));
}

static void emit_set(struct ptx_emitter *e)
{
    const enum ptx_type to = ptx_type_at(e, 0), type = ptx_type_at(e, 1);
    const struct ptx_value a = ptx_operand(e, 1, type), b = ptx_operand(e, 2, type);
    if (ptx_class(type) != '2') {
        ptx_result(e, truth(e, to, combine(e, compare(e, type, a, b))));
        return;
    }
    struct ptx_value halves[2];
    for (uint32_t k = 0; k < 2; k++) {
        const struct ptx_value result = combine(e, compare(e, type, ptx_half_of(e, a, k), ptx_half_of(e, b, k)));
        halves[k] = ptx_class(to) == '2' ? truth(e, to, result) : truth(e, PTX_B16, result);
    }
    ptx_result(e, ptx_pair_of(e, halves[0], halves[1]));
}

static void emit_selp(struct ptx_emitter *e)
{
    const enum ptx_type type = ptx_type_at(e, 0);
    const struct ptx_value yes = ptx_operand(e, 1, type), no = ptx_operand(e, 2, type);
    ptx_result(e, ptx_select(e, ptx_operand(e, 3, PTX_PRED), yes, no));
}

static void emit_slct(struct ptx_emitter *e)
{
    const enum ptx_type type = ptx_type_at(e, 0), of = ptx_type_at(e, 1);
    const struct ptx_value yes = ptx_operand(e, 1, type), no = ptx_operand(e, 2, type);
    struct ptx_value c = ptx_operand(e, 3, of);
    if (ptx_has(e->instruction, "ftz"))
        c = ptx_flush(e, c);
    const struct ptx_value zero = ptx_bits_value(e, c.kind, 0);
    ptx_result(e, ptx_select(e, ptx_op2(e, ptx_is_float(c.kind) ? OP_FOrdGreaterThanEqual : OP_SGreaterThanEqual, PTX_BOOL, c, zero), yes, no));
}

const struct ptx_handler ptx_move_handlers[] = {
    {"mov", emit_mov}, {"cvta", emit_cvta}, {"isspacep", emit_isspacep}, {"setp", emit_setp}, {"set", emit_set},
    {"selp", emit_selp}, {"slct", emit_slct}, {"cvt", ptx_emit_conversion}, {NULL, NULL}};
