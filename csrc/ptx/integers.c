/* Arithmetic of integers. */
#include "emit.h"

#include <string.h>

static bool is_signed(enum ptx_type type) { return ptx_class(type) == 's'; }

static bool is_float(enum ptx_type type)
{
    const char letter = ptx_class(type);
    return letter == 'f' || letter == 'h' || type == PTX_F16X2 || type == PTX_BF16X2;
}

/* ---------------------------------------------------------------- pairs of 16 bits */

typedef struct ptx_value (*binary_t)(struct ptx_emitter *e, bool by_sign, struct ptx_value a, struct ptx_value b);

static struct ptx_value add(struct ptx_emitter *e, bool by_sign, struct ptx_value a, struct ptx_value b)
{
    if (ptx_has(e->instruction, "sat"))
        return ptx_math2(e, by_sign ? MATH_SADD_SAT : MATH_UADD_SAT, a, b);
    return ptx_op2(e, OP_IAdd, a.kind, a, b);
}

static struct ptx_value subtract(struct ptx_emitter *e, bool by_sign, struct ptx_value a, struct ptx_value b)
{
    if (ptx_has(e->instruction, "sat"))
        return ptx_math2(e, by_sign ? MATH_SSUB_SAT : MATH_USUB_SAT, a, b);
    return ptx_op2(e, OP_ISub, a.kind, a, b);
}

static struct ptx_value positive(struct ptx_emitter *e, struct ptx_value value)
{
    return ptx_has(e->instruction, "relu") ? ptx_math2(e, MATH_SMAX, value, ptx_bits_value(e, value.kind, 0)) : value;
}

static struct ptx_value smaller(struct ptx_emitter *e, bool by_sign, struct ptx_value a, struct ptx_value b)
{
    return positive(e, ptx_math2(e, by_sign ? MATH_SMIN : MATH_UMIN, a, b));
}

static struct ptx_value larger(struct ptx_emitter *e, bool by_sign, struct ptx_value a, struct ptx_value b)
{
    return positive(e, ptx_math2(e, by_sign ? MATH_SMAX : MATH_UMAX, a, b));
}

static void binary(struct ptx_emitter *e, binary_t function)
{
    const enum ptx_type type = ptx_type_at(e, 0);
    if (is_float(type)) {
        ptx_float_arithmetic(e);
        return;
    }
    const struct ptx_value a = ptx_operand(e, 1, type), b = ptx_operand(e, 2, type);
    if (ptx_class(type) != '2') {
        ptx_result(e, function(e, is_signed(type), a, b));
        return;
    }
    struct ptx_value halves[2];
    for (uint32_t k = 0; k < 2; k++)
        halves[k] = function(e, type == PTX_S16X2, ptx_half_of(e, a, k), ptx_half_of(e, b, k));
    ptx_result(e, ptx_pair_of(e, halves[0], halves[1]));
}

/* ---------------------------------------------------------------- carries */

static struct ptx_value carry_in(struct ptx_emitter *e, enum ptx_kind kind) { return ptx_resize(e, ptx_get(e, e->carry), kind, false); }

static void add_with_carry(struct ptx_emitter *e, struct ptx_value a, struct ptx_value b, bool takes)
{
    struct ptx_value sum = ptx_op2(e, OP_IAdd, a.kind, a, b), carry = ptx_op2(e, OP_ULessThan, PTX_BOOL, sum, a);
    if (takes) {
        const struct ptx_value more = ptx_op2(e, OP_IAdd, a.kind, sum, carry_in(e, a.kind));
        carry = ptx_op2(e, OP_LogicalOr, PTX_BOOL, carry, ptx_op2(e, OP_ULessThan, PTX_BOOL, more, sum));
        sum = more;
    }
    if (ptx_has(e->instruction, "cc"))
        ptx_set(e, e->carry, carry);
    ptx_result(e, sum);
}

static void subtract_with_borrow(struct ptx_emitter *e, struct ptx_value a, struct ptx_value b, bool takes)
{
    struct ptx_value rest = ptx_op2(e, OP_ISub, a.kind, a, b), borrow = ptx_op2(e, OP_ULessThan, PTX_BOOL, a, b);
    if (takes) {
        const struct ptx_value less = ptx_op2(e, OP_ISub, a.kind, rest, carry_in(e, a.kind));
        borrow = ptx_op2(e, OP_LogicalOr, PTX_BOOL, borrow, ptx_op2(e, OP_UGreaterThan, PTX_BOOL, less, rest));
        rest = less;
    }
    if (ptx_has(e->instruction, "cc"))
        ptx_set(e, e->carry, borrow);
    ptx_result(e, rest);
}

static void emit_add(struct ptx_emitter *e)
{
    if (ptx_has(e->instruction, "cc"))
        add_with_carry(e, ptx_operand(e, 1, ptx_type_at(e, 0)), ptx_operand(e, 2, ptx_type_at(e, 0)), false);
    else
        binary(e, add);
}

static void emit_sub(struct ptx_emitter *e)
{
    if (ptx_has(e->instruction, "cc"))
        subtract_with_borrow(e, ptx_operand(e, 1, ptx_type_at(e, 0)), ptx_operand(e, 2, ptx_type_at(e, 0)), false);
    else
        binary(e, subtract);
}

static void emit_addc(struct ptx_emitter *e)
{
    add_with_carry(e, ptx_operand(e, 1, ptx_type_at(e, 0)), ptx_operand(e, 2, ptx_type_at(e, 0)), true);
}

static void emit_subc(struct ptx_emitter *e)
{
    subtract_with_borrow(e, ptx_operand(e, 1, ptx_type_at(e, 0)), ptx_operand(e, 2, ptx_type_at(e, 0)), true);
}

/* ---------------------------------------------------------------- products */

/* The part of a product that the modifiers .lo, .hi and .wide name. */
static struct ptx_value product(struct ptx_emitter *e, enum ptx_type type)
{
    const struct ptx_value a = ptx_operand(e, 1, type), b = ptx_operand(e, 2, type);
    const bool by_sign = is_signed(type), wide = ptx_has(e->instruction, "wide"), high = ptx_has(e->instruction, "hi");
    const uint32_t bits = ptx_bits(type);
    if (!wide && !high)
        return ptx_op2(e, OP_IMul, a.kind, a, b);
    if (bits == 64 && wide)
        ptx_refuse(e, "a product of 128 bits");
    if (bits == 64)
        return ptx_math2(e, by_sign ? MATH_SMUL_HI : MATH_UMUL_HI, a, b);
    const enum ptx_kind kind = ptx_integer(2 * bits);
    const struct ptx_value all = ptx_op2(e, OP_IMul, kind, ptx_resize(e, a, kind, by_sign), ptx_resize(e, b, kind, by_sign));
    if (wide)
        return all;
    return ptx_resize(e, ptx_op2(e, OP_ShiftRightLogical, kind, all, ptx_bits_value(e, kind, bits)), a.kind, false);
}

static void write_product(struct ptx_emitter *e, struct ptx_value value)
{
    ptx_write(e, &e->instruction->operands[0], value, false);
}

static void emit_mul(struct ptx_emitter *e)
{
    if (is_float(ptx_type_at(e, 0)))
        ptx_float_arithmetic(e);
    else
        write_product(e, product(e, ptx_type_at(e, 0)));
}

/* Whether a * b + c is the number of the thread in the grid. */
static bool is_global_id(const struct ptx_emitter *e, struct ptx_value a, struct ptx_value b, struct ptx_value c, uint32_t *component)
{
    for (*component = 0; *component < 3; ++*component)
        if (ptx_is_special(e, c, "%tid", *component))
            return (ptx_is_special(e, a, "%ctaid", *component) && ptx_is_special(e, b, "%ntid", *component)) ||
                   (ptx_is_special(e, a, "%ntid", *component) && ptx_is_special(e, b, "%ctaid", *component));
    return false;
}

static void multiply_add(struct ptx_emitter *e, bool takes)
{
    const enum ptx_type type = ptx_type_at(e, 0);
    if (is_float(type)) {
        ptx_float_arithmetic(e);
        return;
    }
    uint32_t component;
    if (ptx_bits(type) == 32 && ptx_has(e->instruction, "lo") && !takes && !ptx_has(e->instruction, "cc") &&
        is_global_id(e, ptx_operand(e, 1, type), ptx_operand(e, 2, type), ptx_operand(e, 3, type), &component)) {
        write_product(e, ptx_special(e, PTX_GLOBAL_ID, component));
        return;
    }
    const struct ptx_value all = product(e, type);
    const enum ptx_type wide = type == PTX_U16 ? PTX_U32 : type == PTX_S16 ? PTX_S32 : type == PTX_U32 ? PTX_U64 : PTX_S64;
    const struct ptx_value c = ptx_operand(e, 3, ptx_has(e->instruction, "wide") ? wide : type);
    if (takes || ptx_has(e->instruction, "cc"))
        add_with_carry(e, all, c, takes);
    else if (ptx_has(e->instruction, "sat"))
        write_product(e, ptx_math2(e, MATH_SADD_SAT, all, c));
    else
        write_product(e, ptx_op2(e, OP_IAdd, all.kind, all, c));
}

static void emit_mad(struct ptx_emitter *e) { multiply_add(e, false); }
static void emit_madc(struct ptx_emitter *e) { multiply_add(e, true); }

/* A product of 24 bits each: its low 32 bits, or bits 16 to 47. */
static struct ptx_value product_24(struct ptx_emitter *e)
{
    const enum ptx_type type = ptx_type_at(e, 0);
    struct ptx_value factors[2];
    for (uint32_t k = 0; k < 2; k++) {
        const struct ptx_value eight = ptx_bits_value(e, PTX_I32, 8);
        factors[k] = ptx_op2(e, OP_ShiftLeftLogical, PTX_I32, ptx_operand(e, 1 + k, type), eight);
        factors[k] = ptx_op2(e, is_signed(type) ? OP_ShiftRightArithmetic : OP_ShiftRightLogical, PTX_I32, factors[k], eight);
        factors[k] = ptx_resize(e, factors[k], PTX_I64, is_signed(type));
    }
    struct ptx_value all = ptx_op2(e, OP_IMul, PTX_I64, factors[0], factors[1]);
    if (ptx_has(e->instruction, "hi"))
        all = ptx_op2(e, OP_ShiftRightLogical, PTX_I64, all, ptx_bits_value(e, PTX_I64, 16));
    return ptx_resize(e, all, PTX_I32, false);
}

static void emit_mul24(struct ptx_emitter *e) { ptx_result(e, product_24(e)); }
static void emit_mad24(struct ptx_emitter *e)
{
    const struct ptx_value all = product_24(e), c = ptx_operand(e, 3, ptx_type_at(e, 0));
    ptx_result(e, ptx_has(e->instruction, "sat") ? ptx_math2(e, MATH_SADD_SAT, all, c) : ptx_op2(e, OP_IAdd, PTX_I32, all, c));
}

/* Byte k of a number, or half k, as 32 bits. */
static struct ptx_value piece(struct ptx_emitter *e, struct ptx_value word, uint32_t k, uint32_t bits, bool by_sign)
{
    const struct ptx_value left = ptx_bits_value(e, PTX_I32, 32 - (k + 1) * bits), right = ptx_bits_value(e, PTX_I32, 32 - bits);
    const struct ptx_value top = ptx_op2(e, OP_ShiftLeftLogical, PTX_I32, word, left);
    return ptx_op2(e, by_sign ? OP_ShiftRightArithmetic : OP_ShiftRightLogical, PTX_I32, top, right);
}

static void dot(struct ptx_emitter *e, uint32_t count, uint32_t first_bits)
{
    const enum ptx_type one = ptx_type_at(e, 0), two = ptx_type_at(e, 1);
    const struct ptx_value a = ptx_operand(e, 1, PTX_B32), b = ptx_operand(e, 2, PTX_B32);
    struct ptx_value sum = ptx_operand(e, 3, PTX_B32);
    const uint32_t offset = ptx_has(e->instruction, "hi") ? 2 : 0;
    for (uint32_t k = 0; k < count; k++)
        sum = ptx_op2(e, OP_IAdd, PTX_I32, sum,
                      ptx_op2(e, OP_IMul, PTX_I32, piece(e, a, k, first_bits, is_signed(one)), piece(e, b, k + offset, 8, is_signed(two))));
    ptx_result(e, sum);
}

static void emit_dp4a(struct ptx_emitter *e) { dot(e, 4, 8); }
static void emit_dp2a(struct ptx_emitter *e) { dot(e, 2, 16); }

/* ---------------------------------------------------------------- others */

static void emit_sad(struct ptx_emitter *e)
{
    const enum ptx_type type = ptx_type_at(e, 0);
    const struct ptx_value a = ptx_operand(e, 1, type), b = ptx_operand(e, 2, type);
    ptx_result(e, ptx_op2(e, OP_IAdd, a.kind, ptx_math2(e, is_signed(type) ? MATH_SABS_DIFF : MATH_UABS_DIFF, a, b), ptx_operand(e, 3, type)));
}

static void divide(struct ptx_emitter *e, uint32_t by_sign, uint32_t otherwise)
{
    const enum ptx_type type = ptx_type_at(e, 0);
    if (is_float(type)) {
        ptx_float_arithmetic(e);
        return;
    }
    const struct ptx_value a = ptx_operand(e, 1, type), b = ptx_operand(e, 2, type);
    ptx_result(e, ptx_op2(e, is_signed(type) ? by_sign : otherwise, a.kind, a, b));
}

static void emit_div(struct ptx_emitter *e) { divide(e, OP_SDiv, OP_UDiv); }
static void emit_rem(struct ptx_emitter *e) { divide(e, OP_SRem, OP_UMod); }
static void emit_min(struct ptx_emitter *e) { binary(e, smaller); }
static void emit_max(struct ptx_emitter *e) { binary(e, larger); }

static void emit_abs(struct ptx_emitter *e)
{
    if (is_float(ptx_type_at(e, 0)))
        ptx_float_arithmetic(e);
    else
        ptx_result(e, ptx_math1(e, MATH_SABS, ptx_operand(e, 1, ptx_type_at(e, 0))));
}

static void emit_neg(struct ptx_emitter *e)
{
    if (is_float(ptx_type_at(e, 0))) {
        ptx_float_arithmetic(e);
        return;
    }
    const struct ptx_value a = ptx_operand(e, 1, ptx_type_at(e, 0));
    ptx_result(e, ptx_op1(e, OP_SNegate, a.kind, a));
}

const struct ptx_handler ptx_integer_handlers[] = {
    {"add", emit_add}, {"sub", emit_sub}, {"mul", emit_mul}, {"mad", emit_mad}, {"div", emit_div}, {"rem", emit_rem},
    {"min", emit_min}, {"max", emit_max}, {"neg", emit_neg}, {"abs", emit_abs}, {"addc", emit_addc}, {"subc", emit_subc},
    {"madc", emit_madc}, {"mul24", emit_mul24}, {"mad24", emit_mad24}, {"sad", emit_sad}, {"dp4a", emit_dp4a},
    {"dp2a", emit_dp2a}, {NULL, NULL}};
