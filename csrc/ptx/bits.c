/* Operations on bits. */
#include "emit.h"

#include <string.h>

static struct ptx_value number(struct ptx_emitter *e, enum ptx_kind kind, uint64_t bits) { return ptx_bits_value(e, kind, bits); }

static void logic(struct ptx_emitter *e, uint32_t whole, uint32_t predicate)
{
    const enum ptx_type type = ptx_type_at(e, 0);
    const struct ptx_value a = ptx_operand(e, 1, type), b = ptx_operand(e, 2, type);
    ptx_result(e, ptx_op2(e, type == PTX_PRED ? predicate : whole, a.kind, a, b));
}

static void emit_and(struct ptx_emitter *e) { logic(e, OP_BitwiseAnd, OP_LogicalAnd); }
static void emit_or(struct ptx_emitter *e) { logic(e, OP_BitwiseOr, OP_LogicalOr); }
static void emit_xor(struct ptx_emitter *e) { logic(e, OP_BitwiseXor, OP_LogicalNotEqual); }

static void emit_not(struct ptx_emitter *e)
{
    const struct ptx_value a = ptx_operand(e, 1, ptx_type_at(e, 0));
    ptx_result(e, ptx_op1(e, a.kind == PTX_BOOL ? OP_LogicalNot : OP_Not, a.kind, a));
}

static void emit_cnot(struct ptx_emitter *e)
{
    const struct ptx_value a = ptx_operand(e, 1, ptx_type_at(e, 0));
    ptx_result(e, ptx_resize(e, ptx_op2(e, OP_IEqual, PTX_BOOL, a, number(e, a.kind, 0)), a.kind, false));
}

/* ---------------------------------------------------------------- shifts */

/* A shift by an amount of 32 bits; amounts of the width and above shift everything out. */
static struct ptx_value shift(struct ptx_emitter *e, uint32_t opcode, struct ptx_value a, struct ptx_value amount)
{
    const uint32_t bits = ptx_bits_of(a.kind);
    struct ptx_value few = amount;
    if (opcode == OP_ShiftRightArithmetic)
        few = ptx_math2(e, MATH_UMIN, amount, number(e, PTX_I32, bits - 1));
    const struct ptx_value result = ptx_op2(e, opcode, a.kind, a, ptx_resize(e, few, a.kind, false));
    if (opcode == OP_ShiftRightArithmetic)
        return result;
    return ptx_select(e, ptx_op2(e, OP_ULessThan, PTX_BOOL, amount, number(e, PTX_I32, bits)), result, number(e, a.kind, 0));
}

static void emit_shl(struct ptx_emitter *e)
{
    ptx_result(e, shift(e, OP_ShiftLeftLogical, ptx_operand(e, 1, ptx_type_at(e, 0)), ptx_operand(e, 2, PTX_U32)));
}

static void emit_shr(struct ptx_emitter *e)
{
    const enum ptx_type type = ptx_type_at(e, 0);
    ptx_result(e, shift(e, ptx_class(type) == 's' ? OP_ShiftRightArithmetic : OP_ShiftRightLogical, ptx_operand(e, 1, type),
                        ptx_operand(e, 2, PTX_U32)));
}

static void emit_shf(struct ptx_emitter *e)
{
    const struct ptx_value low = ptx_resize(e, ptx_operand(e, 1, PTX_B32), PTX_I64, false);
    const struct ptx_value high = ptx_resize(e, ptx_operand(e, 2, PTX_B32), PTX_I64, false);
    const struct ptx_value half = number(e, PTX_I64, 32);
    const struct ptx_value all = ptx_op2(e, OP_BitwiseOr, PTX_I64, low, ptx_op2(e, OP_ShiftLeftLogical, PTX_I64, high, half));
    struct ptx_value amount = ptx_operand(e, 3, PTX_U32);
    amount = ptx_has(e->instruction, "wrap") ? ptx_op2(e, OP_BitwiseAnd, PTX_I32, amount, number(e, PTX_I32, 31))
                                             : ptx_math2(e, MATH_UMIN, amount, number(e, PTX_I32, 32));
    amount = ptx_resize(e, amount, PTX_I64, false);
    struct ptx_value result;
    if (ptx_has(e->instruction, "l"))
        result = ptx_op2(e, OP_ShiftRightLogical, PTX_I64, ptx_op2(e, OP_ShiftLeftLogical, PTX_I64, all, amount), half);
    else
        result = ptx_op2(e, OP_ShiftRightLogical, PTX_I64, all, amount);
    ptx_result(e, ptx_resize(e, result, PTX_I32, false));
}

/* ---------------------------------------------------------------- counts */

static void emit_popc(struct ptx_emitter *e)
{
    const struct ptx_value a = ptx_operand(e, 1, ptx_type_at(e, 0));
    ptx_result(e, ptx_resize(e, ptx_op1(e, OP_BitCount, a.kind, a), PTX_I32, false));
}

static void emit_clz(struct ptx_emitter *e) { ptx_result(e, ptx_resize(e, ptx_math1(e, MATH_CLZ, ptx_operand(e, 1, ptx_type_at(e, 0))), PTX_I32, false)); }

static void emit_brev(struct ptx_emitter *e)
{
    const struct ptx_value a = ptx_operand(e, 1, ptx_type_at(e, 0));
    ptx_need(e->words, CAN_BIT_INSTRUCTIONS);
    ptx_need_extension(e->words, "SPV_KHR_bit_instructions");
    ptx_result(e, ptx_op1(e, OP_BitReverse, a.kind, a));
}

static void emit_bfind(struct ptx_emitter *e)
{
    const enum ptx_type type = ptx_type_at(e, 0);
    struct ptx_value a = ptx_operand(e, 1, type);
    const struct ptx_value top = number(e, PTX_I32, ptx_bits(type) - 1);
    if (ptx_class(type) == 's') {
        const struct ptx_value sign = ptx_op2(e, OP_ShiftRightArithmetic, a.kind, a, number(e, a.kind, ptx_bits(type) - 1));
        a = ptx_op2(e, OP_BitwiseXor, a.kind, a, sign);
    }
    const struct ptx_value zeros = ptx_resize(e, ptx_math1(e, MATH_CLZ, a), PTX_I32, false);
    const struct ptx_value index = ptx_has(e->instruction, "shiftamt") ? zeros : ptx_op2(e, OP_ISub, PTX_I32, top, zeros);
    const struct ptx_value none = ptx_op2(e, OP_IEqual, PTX_BOOL, a, number(e, a.kind, 0));
    ptx_write(e, &e->instruction->operands[0], ptx_select(e, none, number(e, PTX_I32, UINT32_MAX), index), false);
}

/* The place of the n-th bit that is set, from a base upward (n > 0), downward (n < 0), or at the base itself. */
static void emit_fns(struct ptx_emitter *e)
{
    const struct ptx_value base = ptx_operand(e, 2, PTX_U32), offset = ptx_operand(e, 3, PTX_S32), zero = number(e, PTX_I32, 0);
    const struct ptx_value down = ptx_op2(e, OP_SLessThan, PTX_BOOL, offset, zero), reversed_base = ptx_op2(e, OP_ISub, PTX_I32, number(e, PTX_I32, 31), base);
    const struct ptx_value mask = ptx_operand(e, 1, PTX_B32), from = ptx_select(e, down, reversed_base, base);
    struct ptx_value count = ptx_math1(e, MATH_SABS, offset), result = number(e, PTX_I32, UINT32_MAX);
    const struct ptx_value at_base = ptx_op2(e, OP_IEqual, PTX_BOOL, offset, zero);
    count = ptx_select(e, at_base, number(e, PTX_I32, 1), count);
    for (uint32_t k = 0; k < 32; k++) {
        const struct ptx_value up = ptx_op2(e, OP_BitwiseAnd, PTX_I32, mask, number(e, PTX_I32, 1u << k));
        const struct ptx_value bit = ptx_select(e, down, ptx_op2(e, OP_BitwiseAnd, PTX_I32, mask, number(e, PTX_I32, 0x80000000u >> k)), up);
        const struct ptx_value place = number(e, PTX_I32, k), reaches = ptx_op2(e, OP_ULessThanEqual, PTX_BOOL, from, place);
        const struct ptx_value is_base = ptx_op2(e, OP_IEqual, PTX_BOOL, from, place), may = ptx_select(e, at_base, is_base, reaches);
        const struct ptx_value counts = ptx_op2(e, OP_LogicalAnd, PTX_BOOL, may, ptx_op2(e, OP_INotEqual, PTX_BOOL, bit, zero));
        count = ptx_op2(e, OP_ISub, PTX_I32, count, ptx_resize(e, counts, PTX_I32, false));
        const struct ptx_value last = ptx_op2(e, OP_LogicalAnd, PTX_BOOL, counts, ptx_op2(e, OP_IEqual, PTX_BOOL, count, zero));
        const struct ptx_value own = ptx_select(e, down, number(e, PTX_I32, 31 - k), place);
        result = ptx_select(e, last, own, result);
    }
    ptx_result(e, result);
}

/* ---------------------------------------------------------------- fields */

static struct ptx_value byte_of(struct ptx_emitter *e, uint32_t operand)
{
    return ptx_op2(e, OP_BitwiseAnd, PTX_I32, ptx_operand(e, operand, PTX_U32), number(e, PTX_I32, 255));
}

/* A number of low bits that are set. */
static struct ptx_value low_bits(struct ptx_emitter *e, enum ptx_kind kind, struct ptx_value count)
{
    return ptx_op2(e, OP_ISub, kind, shift(e, OP_ShiftLeftLogical, number(e, kind, 1), count), number(e, kind, 1));
}

static void emit_bfe(struct ptx_emitter *e)
{
    const enum ptx_type type = ptx_type_at(e, 0);
    const struct ptx_value a = ptx_operand(e, 1, type), from = byte_of(e, 2), length = byte_of(e, 3);
    if (ptx_class(type) != 's') {
        ptx_result(e, ptx_op2(e, OP_BitwiseAnd, a.kind, shift(e, OP_ShiftRightLogical, a, from), low_bits(e, a.kind, length)));
        return;
    }
    const struct ptx_value width = number(e, PTX_I32, ptx_bits(type));
    const struct ptx_value unused = ptx_op2(e, OP_ISub, PTX_I32, width, ptx_math2(e, MATH_UMIN, length, width));
    const struct ptx_value field = shift(e, OP_ShiftLeftLogical, shift(e, OP_ShiftRightArithmetic, a, from), unused);
    const struct ptx_value none = ptx_op2(e, OP_IEqual, PTX_BOOL, length, number(e, PTX_I32, 0));
    ptx_result(e, ptx_select(e, none, number(e, a.kind, 0), shift(e, OP_ShiftRightArithmetic, field, unused)));
}

static void emit_bfi(struct ptx_emitter *e)
{
    const enum ptx_type type = ptx_type_at(e, 0);
    const struct ptx_value a = ptx_operand(e, 1, type), b = ptx_operand(e, 2, type), from = byte_of(e, 3), length = byte_of(e, 4);
    const struct ptx_value mask = shift(e, OP_ShiftLeftLogical, low_bits(e, a.kind, length), from);
    const struct ptx_value inner = ptx_op2(e, OP_BitwiseAnd, a.kind, shift(e, OP_ShiftLeftLogical, a, from), mask);
    const struct ptx_value outer = ptx_op2(e, OP_BitwiseAnd, a.kind, b, ptx_op1(e, OP_Not, a.kind, mask));
    ptx_result(e, ptx_op2(e, OP_BitwiseOr, a.kind, inner, outer));
}

static void emit_bmsk(struct ptx_emitter *e)
{
    struct ptx_value from = ptx_operand(e, 1, PTX_U32), length = ptx_operand(e, 2, PTX_U32);
    if (ptx_has(e->instruction, "wrap")) {
        from = ptx_op2(e, OP_BitwiseAnd, PTX_I32, from, number(e, PTX_I32, 31));
        length = ptx_op2(e, OP_BitwiseAnd, PTX_I32, length, number(e, PTX_I32, 31));
    }
    ptx_result(e, shift(e, OP_ShiftLeftLogical, low_bits(e, PTX_I32, length), from));
}

static void emit_szext(struct ptx_emitter *e)
{
    const enum ptx_type type = ptx_type_at(e, 0);
    struct ptx_value length = ptx_operand(e, 2, PTX_U32);
    if (ptx_has(e->instruction, "wrap"))
        length = ptx_op2(e, OP_BitwiseAnd, PTX_I32, length, number(e, PTX_I32, 31));
    const struct ptx_value unused = ptx_op2(e, OP_ISub, PTX_I32, number(e, PTX_I32, 32), ptx_math2(e, MATH_UMIN, length, number(e, PTX_I32, 32)));
    const struct ptx_value top = shift(e, OP_ShiftLeftLogical, ptx_operand(e, 1, type), unused);
    const struct ptx_value field = shift(e, ptx_class(type) == 's' ? OP_ShiftRightArithmetic : OP_ShiftRightLogical, top, unused);
    ptx_result(e, ptx_select(e, ptx_op2(e, OP_IEqual, PTX_BOOL, length, number(e, PTX_I32, 0)), number(e, PTX_I32, 0), field));
}

/* ---------------------------------------------------------------- permuted bytes */

/* Byte of a pair of words that a number of 4 bits selects; its bit 3 fills the byte with the sign. */
static struct ptx_value selected(struct ptx_emitter *e, struct ptx_value both, struct ptx_value which)
{
    const struct ptx_value place = ptx_op2(e, OP_IMul, PTX_I32, ptx_op2(e, OP_BitwiseAnd, PTX_I32, which, number(e, PTX_I32, 7)), number(e, PTX_I32, 8));
    const struct ptx_value low = ptx_op2(e, OP_ShiftRightLogical, PTX_I64, both, ptx_resize(e, place, PTX_I64, false));
    const struct ptx_value byte = ptx_op2(e, OP_BitwiseAnd, PTX_I32, ptx_resize(e, low, PTX_I32, false), number(e, PTX_I32, 255));
    const struct ptx_value is_sign = ptx_op2(e, OP_INotEqual, PTX_BOOL, ptx_op2(e, OP_BitwiseAnd, PTX_I32, which, number(e, PTX_I32, 8)), number(e, PTX_I32, 0));
    const struct ptx_value high = ptx_op2(e, OP_UGreaterThan, PTX_BOOL, byte, number(e, PTX_I32, 127));
    return ptx_select(e, is_sign, ptx_select(e, high, number(e, PTX_I32, 255), number(e, PTX_I32, 0)), byte);
}

/* The number that selects byte k in a mode of prmt. */
static struct ptx_value selector(struct ptx_emitter *e, struct ptx_value control, uint32_t k)
{
    static const char *const modes[] = {"f4e", "b4e", "rc8", "ecl", "ecr", "rc16"};
    const struct ptx_value low = ptx_op2(e, OP_BitwiseAnd, PTX_I32, control, number(e, PTX_I32, 3)), own = number(e, PTX_I32, k);
    uint32_t mode = 0;
    while (mode < 6 && !ptx_has(e->instruction, modes[mode]))
        mode++;
    switch (mode) {
    case 0: return ptx_op2(e, OP_BitwiseAnd, PTX_I32, ptx_op2(e, OP_IAdd, PTX_I32, low, own), number(e, PTX_I32, 7));
    case 1: return ptx_op2(e, OP_BitwiseAnd, PTX_I32, ptx_op2(e, OP_ISub, PTX_I32, low, own), number(e, PTX_I32, 7));
    case 2: return low;
    case 3: return ptx_math2(e, MATH_UMAX, low, own);
    case 4: return ptx_math2(e, MATH_UMIN, low, own);
    case 5:
        return ptx_op2(e, OP_IAdd, PTX_I32, number(e, PTX_I32, k & 1),
                       ptx_op2(e, OP_IMul, PTX_I32, ptx_op2(e, OP_BitwiseAnd, PTX_I32, low, number(e, PTX_I32, 1)), number(e, PTX_I32, 2)));
    default:
        return ptx_op2(e, OP_BitwiseAnd, PTX_I32, ptx_op2(e, OP_ShiftRightLogical, PTX_I32, control, number(e, PTX_I32, 4 * k)), number(e, PTX_I32, 15));
    }
}

static void emit_prmt(struct ptx_emitter *e)
{
    const struct ptx_value low = ptx_resize(e, ptx_operand(e, 1, PTX_B32), PTX_I64, false);
    const struct ptx_value high = ptx_resize(e, ptx_operand(e, 2, PTX_B32), PTX_I64, false), control = ptx_operand(e, 3, PTX_B32);
    const struct ptx_value both = ptx_op2(e, OP_BitwiseOr, PTX_I64, low, ptx_op2(e, OP_ShiftLeftLogical, PTX_I64, high, number(e, PTX_I64, 32)));
    struct ptx_value result = selected(e, both, selector(e, control, 0));
    for (uint32_t k = 1; k < 4; k++) {
        const struct ptx_value byte = selected(e, both, selector(e, control, k));
        result = ptx_op2(e, OP_BitwiseOr, PTX_I32, result, ptx_op2(e, OP_ShiftLeftLogical, PTX_I32, byte, number(e, PTX_I32, 8 * k)));
    }
    ptx_result(e, result);
}

/* ---------------------------------------------------------------- functions of three bits */

static struct ptx_value not(struct ptx_emitter *e, struct ptx_value a) { return ptx_op1(e, OP_Not, PTX_I32, a); }

/* The function of two bits whose value at b, c is bit 2 b + c of the table. */
static struct ptx_value of_two(struct ptx_emitter *e, uint32_t table, struct ptx_value b, struct ptx_value c)
{
    if ((table & 8) != 0 && table != 15 && table != 12 && table != 10 && table != 8 && table != 14)
        return not(e, of_two(e, ~table & 15, b, c));
    switch (table) {
    case 0: return number(e, PTX_I32, 0);
    case 1: return not(e, ptx_op2(e, OP_BitwiseOr, PTX_I32, b, c));
    case 2: return ptx_op2(e, OP_BitwiseAnd, PTX_I32, not(e, b), c);
    case 3: return not(e, b);
    case 4: return ptx_op2(e, OP_BitwiseAnd, PTX_I32, b, not(e, c));
    case 5: return not(e, c);
    case 6: return ptx_op2(e, OP_BitwiseXor, PTX_I32, b, c);
    case 7: return not(e, ptx_op2(e, OP_BitwiseAnd, PTX_I32, b, c));
    case 8: return ptx_op2(e, OP_BitwiseAnd, PTX_I32, b, c);
    case 10: return c;
    case 12: return b;
    case 14: return ptx_op2(e, OP_BitwiseOr, PTX_I32, b, c);
    default: return number(e, PTX_I32, UINT32_MAX);
    }
}

static void emit_lop3(struct ptx_emitter *e)
{
    const struct ptx_value a = ptx_operand(e, 1, PTX_B32), b = ptx_operand(e, 2, PTX_B32), c = ptx_operand(e, 3, PTX_B32);
    const uint32_t table = (uint32_t)ptx_immediate(e, 4) & 255, yes = table >> 4, no = table & 15;
    if (e->instruction->operands[0].kind == PTX_OPERAND_PAIR)
        ptx_refuse(e, "its second result");
    if (yes == no) {
        ptx_result(e, of_two(e, yes, b, c));
    } else if (yes == (~no & 15)) {
        ptx_result(e, ptx_op2(e, OP_BitwiseXor, PTX_I32, a, of_two(e, no, b, c)));
    } else if (no == 0) {
        ptx_result(e, ptx_op2(e, OP_BitwiseAnd, PTX_I32, a, of_two(e, yes, b, c)));
    } else if (yes == 15) {
        ptx_result(e, ptx_op2(e, OP_BitwiseOr, PTX_I32, a, of_two(e, no, b, c)));
    } else {
        const struct ptx_value one = ptx_op2(e, OP_BitwiseAnd, PTX_I32, a, of_two(e, yes, b, c));
        ptx_result(e, ptx_op2(e, OP_BitwiseOr, PTX_I32, one, ptx_op2(e, OP_BitwiseAnd, PTX_I32, not(e, a), of_two(e, no, b, c))));
    }
}

const struct ptx_handler ptx_bit_handlers[] = {
    {"and", emit_and}, {"or", emit_or}, {"xor", emit_xor}, {"not", emit_not}, {"cnot", emit_cnot}, {"shl", emit_shl},
    {"shr", emit_shr}, {"shf", emit_shf}, {"popc", emit_popc}, {"clz", emit_clz}, {"brev", emit_brev}, {"bfind", emit_bfind},
    {"bfe", emit_bfe}, {"bfi", emit_bfi}, {"bmsk", emit_bmsk}, {"szext", emit_szext}, {"prmt", emit_prmt}, {"lop3", emit_lop3}, {"fns", emit_fns},
    {NULL, NULL}};
