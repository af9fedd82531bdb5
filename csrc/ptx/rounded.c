/*
 * Arithmetic in directed rounding, by operations that round to nearest.
 *
 * Singles are computed in double precision with the last bit set where bits are lost (round to odd), then converted once.
 * Doubles are moved to the neighbour where the error of the rounded result, which is exact, points there.
 */
#include "emit.h"

struct ptx_value ptx_rounded_conversion(struct ptx_emitter *e, uint32_t opcode, enum ptx_kind kind, struct ptx_value a, enum ptx_rounding mode)
{
    const struct ptx_value result = ptx_op1(e, opcode, kind, a);
    const uint32_t decoration[3] = {result.id, DECORATION_ROUNDING, mode};
    ptx_append(e->build, &e->words->decorations, OP_Decorate, decoration, 3);
    return result;
}

static struct ptx_value add(struct ptx_emitter *e, struct ptx_value a, struct ptx_value b) { return ptx_op2(e, OP_FAdd, PTX_D, a, b); }
static struct ptx_value minus(struct ptx_emitter *e, struct ptx_value a, struct ptx_value b) { return ptx_op2(e, OP_FSub, PTX_D, a, b); }

/* What a + b lost when it was rounded to sum. */
static struct ptx_value lost(struct ptx_emitter *e, struct ptx_value a, struct ptx_value b, struct ptx_value sum)
{
    const struct ptx_value own = minus(e, sum, a);
    return add(e, minus(e, a, minus(e, sum, own)), minus(e, b, own));
}

static struct ptx_value is(struct ptx_emitter *e, uint32_t opcode, struct ptx_value a, double value)
{
    return ptx_op2(e, opcode, PTX_BOOL, a, ptx_float_value(e, PTX_D, value));
}

/* The neighbour of a finite double, away from zero or towards it. */
static struct ptx_value step(struct ptx_emitter *e, struct ptx_value value, struct ptx_value up)
{
    const struct ptx_value bits = ptx_cast(e, value, PTX_I64), one = ptx_bits_value(e, PTX_I64, 1);
    const struct ptx_value negative = ptx_op1(e, OP_SignBitSet, PTX_BOOL, value);
    const struct ptx_value larger = ptx_op2(e, OP_LogicalNotEqual, PTX_BOOL, up, negative); /* in magnitude */
    const struct ptx_value next = ptx_select(e, larger, ptx_op2(e, OP_IAdd, PTX_I64, bits, one), ptx_op2(e, OP_ISub, PTX_I64, bits, one));
    const struct ptx_value smallest = ptx_select(e, up, one, ptx_bits_value(e, PTX_I64, 0x8000000000000001u));
    return ptx_cast(e, ptx_select(e, is(e, OP_FOrdEqual, value, 0), smallest, next), PTX_D);
}

/* A nearest double as another mode rounds it; error: what it lost, of which the sign matters. */
static struct ptx_value adjust(struct ptx_emitter *e, struct ptx_value value, struct ptx_value error, enum ptx_rounding mode)
{
    const struct ptx_value above = is(e, OP_FOrdLessThan, error, 0), below = is(e, OP_FOrdGreaterThan, error, 0);
    const struct ptx_value negative = ptx_op1(e, OP_SignBitSet, PTX_BOOL, value);
    struct ptx_value moves;
    if (mode == ROUND_UP)
        moves = below;
    else if (mode == ROUND_DOWN)
        moves = above;
    else
        moves = ptx_select(e, negative, below, above);
    const struct ptx_value up = mode == ROUND_UP ? ptx_bits_value(e, PTX_BOOL, 1) : mode == ROUND_DOWN ? ptx_bits_value(e, PTX_BOOL, 0) : negative;
    const struct ptx_value finite = ptx_op1(e, OP_IsFinite, PTX_BOOL, value);
    return ptx_select(e, ptx_op2(e, OP_LogicalAnd, PTX_BOOL, moves, finite), step(e, value, up), value);
}

/* A double that lost something, with an odd last bit. */
static struct ptx_value make_odd(struct ptx_emitter *e, struct ptx_value value, struct ptx_value error)
{
    const struct ptx_value bits = ptx_cast(e, value, PTX_I64);
    const struct ptx_value even = ptx_op2(e, OP_IEqual, PTX_BOOL, ptx_op2(e, OP_BitwiseAnd, PTX_I64, bits, ptx_bits_value(e, PTX_I64, 1)), ptx_bits_value(e, PTX_I64, 0));
    const struct ptx_value loses = ptx_op2(e, OP_LogicalAnd, PTX_BOOL, is(e, OP_FOrdNotEqual, error, 0), ptx_op1(e, OP_IsFinite, PTX_BOOL, value));
    const struct ptx_value next = step(e, value, is(e, OP_FOrdGreaterThan, error, 0));
    return ptx_select(e, ptx_op2(e, OP_LogicalAnd, PTX_BOOL, even, loses), next, value);
}

static struct ptx_value wide(struct ptx_emitter *e, struct ptx_value a) { return a.kind == PTX_D ? a : ptx_op1(e, OP_FConvert, PTX_D, a); }

static struct ptx_value narrow(struct ptx_emitter *e, struct ptx_value a, enum ptx_rounding mode)
{
    return ptx_rounded_conversion(e, OP_FConvert, PTX_F, a, mode);
}

/* An exact sum of zero is -0 when rounded down, unless both are +0. */
static struct ptx_value zero_sum(struct ptx_emitter *e, struct ptx_value sum, struct ptx_value a, struct ptx_value b, enum ptx_rounding mode)
{
    if (mode != ROUND_DOWN)
        return sum;
    const struct ptx_value bits = ptx_op2(e, OP_BitwiseOr, PTX_I64, ptx_cast(e, a, PTX_I64), ptx_cast(e, b, PTX_I64));
    const struct ptx_value some = ptx_op2(e, OP_INotEqual, PTX_BOOL, bits, ptx_bits_value(e, PTX_I64, 0));
    const struct ptx_value zero = ptx_op2(e, OP_LogicalAnd, PTX_BOOL, some, is(e, OP_FOrdEqual, sum, 0));
    return ptx_select(e, zero, ptx_bits_value(e, PTX_D, 0x8000000000000000u), sum);
}

struct ptx_value ptx_rounded_add(struct ptx_emitter *e, struct ptx_value a, struct ptx_value b, enum ptx_rounding mode)
{
    const bool single = a.kind == PTX_F;
    a = wide(e, a);
    b = wide(e, b);
    const struct ptx_value sum = add(e, a, b), error = lost(e, a, b, sum), exact = zero_sum(e, sum, a, b, mode);
    return single ? narrow(e, make_odd(e, exact, error), mode) : adjust(e, exact, error, mode);
}

struct ptx_value ptx_rounded_multiply(struct ptx_emitter *e, struct ptx_value a, struct ptx_value b, enum ptx_rounding mode)
{
    const bool single = a.kind == PTX_F;
    a = wide(e, a);
    b = wide(e, b);
    const struct ptx_value product = ptx_op2(e, OP_FMul, PTX_D, a, b);
    if (single)
        return narrow(e, product, mode); /* exact in double precision */
    return adjust(e, product, ptx_math3(e, MATH_FMA, a, b, ptx_negate_float(e, product)), mode);
}

struct ptx_value ptx_rounded_fma(struct ptx_emitter *e, struct ptx_value a, struct ptx_value b, struct ptx_value c, enum ptx_rounding mode)
{
    const bool single = a.kind == PTX_F;
    a = wide(e, a);
    b = wide(e, b);
    c = wide(e, c);
    const struct ptx_value product = ptx_op2(e, OP_FMul, PTX_D, a, b);
    if (single) {
        const struct ptx_value sum = add(e, product, c);
        return narrow(e, make_odd(e, zero_sum(e, sum, product, c, mode), lost(e, product, c, sum)), mode);
    }
    /* Boldo and Muller, "Exact and approximated error of the FMA", 2011. */
    const struct ptx_value result = ptx_math3(e, MATH_FMA, a, b, c), rest = ptx_math3(e, MATH_FMA, a, b, ptx_negate_float(e, product));
    const struct ptx_value low = add(e, c, rest), low_rest = lost(e, c, rest, low);
    const struct ptx_value high = add(e, product, low), high_rest = lost(e, product, low, high);
    const struct ptx_value error = add(e, add(e, minus(e, high, result), high_rest), low_rest);
    return adjust(e, zero_sum(e, result, product, c, mode), error, mode);
}

struct ptx_value ptx_rounded_divide(struct ptx_emitter *e, struct ptx_value a, struct ptx_value b, enum ptx_rounding mode)
{
    const bool single = a.kind == PTX_F;
    a = wide(e, a);
    b = wide(e, b);
    const struct ptx_value quotient = ptx_op2(e, OP_FDiv, PTX_D, a, b);
    const struct ptx_value rest = ptx_math3(e, MATH_FMA, ptx_negate_float(e, quotient), b, a);
    /* The error of the quotient has the sign of rest / b. */
    const struct ptx_value error = ptx_select(e, ptx_op1(e, OP_SignBitSet, PTX_BOOL, b), ptx_negate_float(e, rest), rest);
    return single ? narrow(e, make_odd(e, quotient, error), mode) : adjust(e, quotient, error, mode);
}

struct ptx_value ptx_rounded_root(struct ptx_emitter *e, struct ptx_value a, enum ptx_rounding mode)
{
    const bool single = a.kind == PTX_F;
    a = wide(e, a);
    const struct ptx_value root = ptx_math1(e, MATH_SQRT, a);
    const struct ptx_value error = ptx_math3(e, MATH_FMA, ptx_negate_float(e, root), root, a);
    return single ? narrow(e, make_odd(e, root, error), mode) : adjust(e, root, error, mode);
}
