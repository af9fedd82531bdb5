/*
 * The functions that hardware approximates, with its bits: an interval of a table by the first bits of the significand, and a
 * quadratic polynomial of the other 17 whose square lacks the columns below 2^19. tanh, and rcp and rsqrt of doubles, are the
 * nearest results.
 */
#include "emit.h"

#include "approx_tables.h"

#include <string.h>

static const struct {
    const struct ptx_interval *intervals;
    uint32_t count;
} tables[PTX_APPROXIMATIONS] = {{reciprocals, 128}, {reciprocal_roots, 128}, {roots, 128}, {powers, 64}, {logarithms, 64}, {sines, 64}};

enum { RECIPROCALS, RECIPROCAL_ROOTS, ROOTS, POWERS, LOGARITHMS, SINES };

#define NAN_BITS 0x7fffffffu
#define INFINITY_BITS 0x7f800000u
#define SMALLEST_NORMAL 0x00800000u

typedef struct ptx_value value_t;

static value_t word(struct ptx_emitter *e, uint32_t bits) { return ptx_bits_value(e, PTX_I32, bits); }
static value_t same(struct ptx_emitter *e, uint32_t opcode, value_t a, value_t b) { return ptx_op2(e, opcode, a.kind, a, b); }
static value_t with(struct ptx_emitter *e, uint32_t opcode, value_t a, uint64_t b) { return same(e, opcode, a, ptx_bits_value(e, a.kind, b)); }
static value_t is(struct ptx_emitter *e, uint32_t opcode, value_t a, uint32_t b) { return ptx_op2(e, opcode, PTX_BOOL, a, word(e, b)); }
static value_t wide(struct ptx_emitter *e, value_t a) { return ptx_resize(e, a, PTX_I64, true); }
static value_t single(struct ptx_emitter *e, double a) { return ptx_float_value(e, PTX_F, a); }

/* ---------------------------------------------------------------- tables */

/* The address of a table, a constant variable of the module. */
static value_t table_of(struct ptx_emitter *e, uint32_t number)
{
    struct ptx_words *words = e->words;
    uint32_t *place = &e->program->approximations[number];
    if (*place == 0) {
        const uint32_t count = 2 * tables[number].count;
        const uint32_t array[2] = {ptx_scalar(words, PTX_I64), ptx_bits_value(e, PTX_I64, count).id}, type = ptx_declare(words, OP_TypeArray, 0, array, 2);
        uint32_t *ids = ptx_allocate(e->build, count, sizeof *ids);
        for (uint32_t k = 0; k < count; k += 2) {
            const struct ptx_interval *one = &tables[number].intervals[k / 2];
            ids[k] = ptx_bits_value(e, PTX_I64, (uint64_t)one->c0).id;
            ids[k + 1] = ptx_bits_value(e, PTX_I64, (uint64_t)(uint32_t)one->c2 << 32 | (uint32_t)one->c1).id;
        }
        const uint32_t initial = ptx_declare(words, OP_ConstantComposite, type, ids, count);
        *place = ptx_new_id(words);
        const uint32_t operands[4] = {ptx_pointer(words, STORAGE_CONSTANT, type), *place, STORAGE_CONSTANT, initial};
        ptx_append(e->build, &words->declarations, OP_Variable, operands, 4);
    }
    return ptx_emit(e, OP_ConvertPtrToU, PTX_I64, place, 1);
}

/* The square of 17 bits in units of 2^18, without the columns below 2^19. */
static value_t square(struct ptx_emitter *e, value_t x)
{
    const value_t high = with(e, OP_ShiftRightLogical, x, 9);
    value_t cross = word(e, 0);
    for (uint32_t k = 2; k < 9; k++) {
        const value_t bit = with(e, OP_BitwiseAnd, with(e, OP_ShiftRightLogical, x, k), 1);
        cross = same(e, OP_IAdd, cross, same(e, OP_IMul, bit, with(e, OP_ShiftRightLogical, x, 18 - k)));
    }
    const value_t own = same(e, OP_ISub, same(e, OP_IMul, high, high), with(e, OP_BitwiseAnd, high, 1));
    return same(e, OP_IAdd, own, with(e, OP_ShiftLeftLogical, cross, 1));
}

static value_t interpolate(struct ptx_emitter *e, uint32_t number, value_t interval, value_t x)
{
    const value_t offset = ptx_resize(e, with(e, OP_ShiftLeftLogical, interval, 4), PTX_I64, false);
    const value_t place = same(e, OP_IAdd, table_of(e, number), offset);
    const value_t c0 = ptx_load(e, place, PTX_I64), both = ptx_load(e, with(e, OP_IAdd, place, 8), PTX_I64);
    const value_t c1 = wide(e, ptx_resize(e, both, PTX_I32, false)), c2 = with(e, OP_ShiftRightArithmetic, both, 32);
    const value_t linear = same(e, OP_IAdd, c0, same(e, OP_IMul, c1, wide(e, x)));
    return same(e, OP_IAdd, linear, same(e, OP_IMul, c2, wide(e, square(e, x))));
}

/* The interval and the rest of a fraction of 23 bits. */
static value_t approximate(struct ptx_emitter *e, uint32_t number, value_t fraction, value_t more)
{
    value_t interval = with(e, OP_ShiftRightLogical, fraction, 17), x = with(e, OP_BitwiseAnd, fraction, 0x1ffff);
    if (number == RECIPROCALS) { /* 128 intervals of 16 bits */
        interval = with(e, OP_ShiftRightLogical, fraction, 16);
        x = with(e, OP_ShiftLeftLogical, with(e, OP_BitwiseAnd, fraction, 0xffff), 1);
    }
    if (more.id != 0)
        interval = same(e, OP_IAdd, interval, with(e, OP_ShiftLeftLogical, more, 6));
    return interpolate(e, number, interval, x);
}

static value_t narrow(struct ptx_emitter *e, value_t a, uint32_t shift)
{
    return ptx_resize(e, with(e, OP_ShiftRightArithmetic, a, shift), PTX_I32, false);
}

static value_t fraction_of(struct ptx_emitter *e, value_t bits) { return with(e, OP_BitwiseAnd, bits, 0x7fffff); }

static value_t exponent_of(struct ptx_emitter *e, value_t magnitude)
{
    return with(e, OP_ISub, with(e, OP_ShiftRightLogical, magnitude, 23), 127);
}

/* The float that is a positive number of units 2^-unit, truncated: its bits, and 0 for 0. */
static value_t truncate(struct ptx_emitter *e, value_t number, uint32_t unit)
{
    const value_t zeros = ptx_resize(e, ptx_math1(e, MATH_CLZ, number), PTX_I32, false), high = same(e, OP_ISub, word(e, 63), zeros);
    const value_t top = same(e, OP_ShiftLeftLogical, number, ptx_resize(e, with(e, OP_BitwiseAnd, zeros, 63), PTX_I64, false));
    const value_t fraction = fraction_of(e, ptx_resize(e, with(e, OP_ShiftRightLogical, top, 40), PTX_I32, false));
    const value_t exponent = with(e, OP_ShiftLeftLogical, with(e, OP_IAdd, high, 127 - unit), 23);
    const value_t none = ptx_op2(e, OP_IEqual, PTX_BOOL, number, ptx_bits_value(e, PTX_I64, 0));
    return ptx_select(e, none, word(e, 0), same(e, OP_BitwiseOr, fraction, exponent));
}

/* ---------------------------------------------------------------- functions of bits */

/* Of normal magnitudes; below the smallest normal where the result is. */
static value_t reciprocal(struct ptx_emitter *e, value_t magnitude)
{
    const value_t fraction = fraction_of(e, magnitude), one = is(e, OP_IEqual, fraction, 0);
    const value_t result = narrow(e, approximate(e, RECIPROCALS, fraction, (value_t){0}), 16);
    return same(e, OP_ISub, ptx_select(e, one, word(e, 0x3f800000), result), with(e, OP_ShiftLeftLogical, exponent_of(e, magnitude), 23));
}

static value_t root(struct ptx_emitter *e, uint32_t number, value_t magnitude)
{
    const value_t fraction = fraction_of(e, magnitude), exponent = exponent_of(e, magnitude), odd = with(e, OP_BitwiseAnd, exponent, 1);
    const value_t half = with(e, OP_ShiftLeftLogical, with(e, OP_ShiftRightArithmetic, same(e, OP_ISub, exponent, odd), 1), 23);
    value_t result = narrow(e, approximate(e, number, fraction, odd), number == ROOTS ? 17 : 16);
    if (number == ROOTS)
        return same(e, OP_IAdd, result, half);
    result = ptx_select(e, is(e, OP_IEqual, same(e, OP_BitwiseOr, fraction, odd), 0), word(e, 0x3f800000), result);
    return same(e, OP_ISub, result, half);
}

/* Of a float; results below the smallest normal are 0. Negative exponents are the complement of positive ones. */
static value_t power(struct ptx_emitter *e, value_t a)
{
    const value_t least = ptx_math2(e, MATH_FMIN, ptx_math1(e, MATH_FABS, a), single(e, 512));
    const value_t scale = ptx_op2(e, OP_FMul, PTX_D, ptx_op1(e, OP_FConvert, PTX_D, least), ptx_float_value(e, PTX_D, 8388608));
    const value_t fixed = ptx_resize(e, ptx_op1(e, OP_ConvertFToS, PTX_I64, scale), PTX_I64, false), part = with(e, OP_BitwiseAnd, fixed, 0x7fffff);
    const value_t whole = ptx_op2(e, OP_IEqual, PTX_BOOL, part, ptx_bits_value(e, PTX_I64, 0));
    const value_t below = ptx_select(e, whole, ptx_op1(e, OP_SNegate, PTX_I64, fixed), ptx_op1(e, OP_Not, PTX_I64, fixed));
    const value_t place = ptx_select(e, ptx_op1(e, OP_SignBitSet, PTX_BOOL, a), below, fixed);
    const value_t fraction = with(e, OP_BitwiseAnd, ptx_resize(e, place, PTX_I32, false), 0x7fffff), exponent = with(e, OP_ShiftRightArithmetic, place, 23);
    const value_t significand = with(e, OP_ShiftRightArithmetic, approximate(e, POWERS, fraction, (value_t){0}), 16);
    const value_t result = same(e, OP_IAdd, with(e, OP_ISub, significand, 0x800000), with(e, OP_ShiftLeftLogical, exponent, 23));
    const value_t most = ptx_math2(e, MATH_SMIN, result, ptx_bits_value(e, PTX_I64, INFINITY_BITS));
    const value_t small = ptx_op2(e, OP_SLessThan, PTX_BOOL, most, ptx_bits_value(e, PTX_I64, SMALLEST_NORMAL));
    return ptx_select(e, small, word(e, 0), ptx_resize(e, most, PTX_I32, false));
}

static value_t logarithm(struct ptx_emitter *e, value_t magnitude)
{
    const value_t exponent = with(e, OP_ShiftLeftLogical, wide(e, exponent_of(e, magnitude)), 39);
    value_t number = same(e, OP_IAdd, approximate(e, LOGARITHMS, fraction_of(e, magnitude), (value_t){0}), exponent);
    number = with(e, OP_ShiftRightArithmetic, number, 3);
    const value_t sign = with(e, OP_ShiftRightArithmetic, number, 63), positive = same(e, OP_BitwiseXor, number, sign);
    const value_t bits = same(e, OP_BitwiseOr, truncate(e, positive, 36), with(e, OP_BitwiseAnd, ptx_resize(e, sign, PTX_I32, false), 0x80000000));
    return ptx_select(e, is(e, OP_IEqual, magnitude, 0x3f800000), word(e, 0), bits);
}

/* The sine of an angle in turns, or its cosine: 25 bits of the fraction of a turn. */
static value_t sine(struct ptx_emitter *e, value_t a, bool is_cosine)
{
    const value_t turns = ptx_math1(e, MATH_FABS, ptx_rounded_multiply(e, a, ptx_bits_value(e, PTX_F, 0x3e22f983), ROUND_ZERO));
    const value_t bits = ptx_cast(e, turns, PTX_I32), exponent = with(e, OP_ShiftRightLogical, bits, 23);
    /* significand 2^(exponent - 150), in units of 2^-25, without whole turns */
    const value_t significand = wide(e, ptx_select(e, is(e, OP_IEqual, exponent, 0), word(e, 0), with(e, OP_BitwiseOr, fraction_of(e, bits), SMALLEST_NORMAL)));
    const value_t left = ptx_math2(e, MATH_SMIN, ptx_math2(e, MATH_SMAX, with(e, OP_ISub, exponent, 125), word(e, 0)), word(e, 32));
    const value_t right = ptx_math2(e, MATH_SMIN, ptx_math2(e, MATH_SMAX, same(e, OP_ISub, word(e, 125), exponent), word(e, 0)), word(e, 32));
    const value_t large = same(e, OP_ShiftLeftLogical, significand, wide(e, left)), fixed = same(e, OP_ShiftRightLogical, large, wide(e, right));
    const value_t turn = ptx_resize(e, fixed, PTX_I32, false), quarter = with(e, OP_IAdd, with(e, OP_ShiftRightLogical, turn, 23), is_cosine);
    const value_t odd = is(e, OP_INotEqual, with(e, OP_BitwiseAnd, quarter, 1), 0), part = fraction_of(e, turn);
    const value_t place = ptx_select(e, odd, same(e, OP_ISub, word(e, 0x7fffff), part), part);
    const value_t result = truncate(e, approximate(e, SINES, place, (value_t){0}), 40);
    value_t sign = with(e, OP_ShiftLeftLogical, quarter, 30);
    if (!is_cosine)
        sign = same(e, OP_BitwiseXor, sign, ptx_cast(e, a, PTX_I32));
    return same(e, OP_BitwiseOr, result, with(e, OP_BitwiseAnd, sign, 0x80000000));
}

/* ---------------------------------------------------------------- singles */

static value_t scaled(struct ptx_emitter *e, value_t a, value_t factor) { return ptx_op2(e, OP_FMul, PTX_F, a, factor); }

/* Arguments that are not normal, or near the ends of the range, are scaled and so are the results. */
static value_t approximate_single(struct ptx_emitter *e, const char *name, value_t a)
{
    const bool flushes = ptx_has(e->instruction, "ftz");
    const value_t bits = ptx_cast(e, a, PTX_I32), sign = with(e, OP_BitwiseAnd, bits, 0x80000000), positive = with(e, OP_BitwiseAnd, bits, NAN_BITS);
    const value_t magnitude = ptx_cast(e, positive, PTX_F), small = is(e, OP_ULessThan, positive, SMALLEST_NORMAL), zero = is(e, OP_IEqual, positive, 0);
    const value_t larger = ptx_select(e, small, scaled(e, magnitude, single(e, 16777216)), magnitude), normal = ptx_cast(e, larger, PTX_I32);
    value_t result;
    if (strcmp(name, "rcp") == 0) {
        const value_t big = is(e, OP_UGreaterThan, positive, 0x7e800000);
        value_t factor = ptx_select(e, big, single(e, 0.25), ptx_select(e, small, single(e, 16777216), single(e, 1)));
        result = reciprocal(e, ptx_cast(e, scaled(e, magnitude, factor), PTX_I32));
        result = ptx_cast(e, scaled(e, ptx_cast(e, ptx_math2(e, MATH_SMAX, result, word(e, 0)), PTX_F), factor), PTX_I32);
        if (flushes)
            result = ptx_select(e, is(e, OP_ULessThan, result, SMALLEST_NORMAL), word(e, 0), result);
        result = ptx_select(e, is(e, OP_UGreaterThanEqual, positive, INFINITY_BITS), word(e, 0), result);
        result = same(e, OP_BitwiseOr, ptx_select(e, zero, word(e, INFINITY_BITS), result), sign);
    } else if (strcmp(name, "rsqrt") == 0 || strcmp(name, "sqrt") == 0) {
        const bool inverse = name[0] == 'r';
        const uint32_t of_zero = inverse ? INFINITY_BITS : 0, of_infinity = inverse ? 0 : INFINITY_BITS;
        result = root(e, inverse ? RECIPROCAL_ROOTS : ROOTS, normal);
        const value_t back = scaled(e, ptx_cast(e, result, PTX_F), single(e, inverse ? 4096 : 1.0 / 4096));
        result = ptx_select(e, small, ptx_cast(e, back, PTX_I32), result);
        result = ptx_select(e, is(e, OP_IEqual, bits, INFINITY_BITS), word(e, of_infinity), result);
        result = ptx_select(e, is(e, OP_INotEqual, sign, 0), word(e, NAN_BITS), result);
        result = ptx_select(e, zero, with(e, OP_BitwiseOr, sign, of_zero), result);
    } else if (strcmp(name, "ex2") == 0) {
        const value_t low = ptx_op2(e, OP_FOrdLessThan, PTX_BOOL, a, single(e, -126));
        const value_t half = flushes ? a : ptx_select(e, low, scaled(e, a, single(e, 0.5)), a), value = ptx_cast(e, power(e, half), PTX_F);
        result = ptx_cast(e, flushes ? value : ptx_select(e, low, scaled(e, value, value), value), PTX_I32);
    } else if (strcmp(name, "lg2") == 0) {
        const value_t value = ptx_cast(e, logarithm(e, normal), PTX_F);
        result = ptx_cast(e, ptx_select(e, small, ptx_op2(e, OP_FSub, PTX_F, value, single(e, 24)), value), PTX_I32);
        result = ptx_select(e, is(e, OP_IEqual, bits, INFINITY_BITS), word(e, INFINITY_BITS), result);
        result = ptx_select(e, is(e, OP_INotEqual, sign, 0), word(e, NAN_BITS), result);
        result = ptx_select(e, zero, word(e, 0xff800000), result);
    } else {
        result = sine(e, a, name[0] == 'c');
        result = ptx_select(e, is(e, OP_IEqual, positive, INFINITY_BITS), word(e, NAN_BITS), result);
    }
    return ptx_cast(e, ptx_select(e, is(e, OP_UGreaterThan, positive, INFINITY_BITS), word(e, NAN_BITS), result), PTX_F);
}

/* ---------------------------------------------------------------- other types */

static bool has_tables(const char *name)
{
    static const char *const names[] = {"rcp", "rsqrt", "sqrt", "ex2", "lg2", "sin", "cos"};
    for (unsigned k = 0; k < sizeof names / sizeof *names; k++)
        if (strcmp(names[k], name) == 0)
            return true;
    return false;
}

/* The result, or the hardware's NaN where the argument is one. */
static value_t nan_of(struct ptx_emitter *e, value_t a, value_t result)
{
    const value_t nan = ptx_bits_value(e, a.kind, a.kind == PTX_H ? 0x7fff : NAN_BITS);
    return ptx_select(e, ptx_op1(e, OP_IsNan, PTX_BOOL, a), nan, result);
}

value_t ptx_approximate(struct ptx_emitter *e, const char *name, value_t a)
{
    if (a.kind == PTX_F && has_tables(name))
        return approximate_single(e, name, a);
    if (a.kind == PTX_H && strcmp(name, "ex2") == 0) {
        const value_t result = approximate_single(e, name, ptx_op1(e, OP_FConvert, PTX_F, a));
        const value_t over = ptx_op2(e, OP_FOrdGreaterThanEqual, PTX_BOOL, result, single(e, 65536));
        const value_t half = ptx_rounded_conversion(e, OP_FConvert, PTX_H, result, ROUND_ZERO);
        return ptx_select(e, over, ptx_bits_value(e, PTX_H, 0x7c00), nan_of(e, a, half));
    }
    if (strcmp(name, "tanh") == 0)
        return nan_of(e, a, ptx_math1(e, MATH_TANH, a));
    if (strcmp(name, "rcp") == 0)
        return ptx_op2(e, OP_FDiv, a.kind, ptx_float_value(e, a.kind, 1), a);
    return ptx_math1(e, MATH_RSQRT, a);
}

value_t ptx_approximate_quotient(struct ptx_emitter *e, value_t a, value_t b)
{
    const bool full = ptx_has(e->instruction, "full");
    const value_t positive = with(e, OP_BitwiseAnd, ptx_cast(e, b, PTX_I32), NAN_BITS);
    value_t factor = ptx_select(e, is(e, OP_ULessThan, positive, SMALLEST_NORMAL), single(e, 16777216), single(e, 1));
    if (full)
        factor = ptx_select(e, is(e, OP_UGreaterThanEqual, positive, 0x7e800000), single(e, 0.25), factor);
    value_t reciprocal_of_b = approximate_single(e, "rcp", scaled(e, b, factor));
    if (!full) /* above 2^126 the quotient is 0 */
        reciprocal_of_b = ptx_flush(e, reciprocal_of_b);
    const value_t result = scaled(e, scaled(e, a, factor), reciprocal_of_b);
    return nan_of(e, result, result);
}
