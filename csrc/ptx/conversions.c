/* cvt: conversions between integers and floats of all sizes. */
#include "emit.h"

#include <string.h>

static bool is_whole(enum ptx_type type) { return strchr("bus", ptx_class(type)) != NULL; }

/* An integer limited to the values of another type. */
static struct ptx_value limit(struct ptx_emitter *e, struct ptx_value value, enum ptx_type from, enum ptx_type to)
{
    const uint32_t bits = ptx_bits(to), own = ptx_bits(from);
    const bool from_sign = ptx_class(from) == 's', to_sign = ptx_class(to) == 's';
    const uint64_t most = (to_sign ? UINT64_MAX >> (65 - bits) : bits == 64 ? UINT64_MAX : ((uint64_t)1 << bits) - 1);
    const uint64_t own_most = from_sign ? UINT64_MAX >> (65 - own) : own == 64 ? UINT64_MAX : ((uint64_t)1 << own) - 1;
    if (from_sign && !to_sign)
        value = ptx_math2(e, MATH_SMAX, value, ptx_bits_value(e, value.kind, 0));
    else if (from_sign && bits < own)
        value = ptx_math2(e, MATH_SMAX, value, ptx_bits_value(e, value.kind, ~most));
    if (most < own_most)
        value = ptx_math2(e, from_sign ? MATH_SMIN : MATH_UMIN, value, ptx_bits_value(e, value.kind, most));
    return value;
}

static struct ptx_value to_integer(struct ptx_emitter *e, struct ptx_value value, enum ptx_type from, enum ptx_type to)
{
    const enum ptx_rounding mode = ptx_rounding_of(e);
    const bool by_sign = ptx_class(to) == 's';
    if (is_whole(from)) {
        if (ptx_has(e->instruction, "sat"))
            value = limit(e, value, from, to);
        return ptx_resize(e, value, ptx_kind_of(to), ptx_class(from) == 's');
    }
    const uint32_t opcode = by_sign ? OP_ConvertFToS : OP_ConvertFToU;
    return mode == ROUND_ZERO ? ptx_op1(e, opcode, ptx_kind_of(to), value) : ptx_rounded_conversion(e, opcode, ptx_kind_of(to), value, mode);
}

static struct ptx_value whole_number(struct ptx_emitter *e, struct ptx_value value)
{
    const struct ptx_instruction *i = e->instruction;
    if (ptx_has(i, "rni"))
        return ptx_math1(e, MATH_RINT, value);
    if (ptx_has(i, "rzi"))
        return ptx_math1(e, MATH_TRUNC, value);
    if (ptx_has(i, "rmi"))
        return ptx_math1(e, MATH_FLOOR, value);
    return ptx_has(i, "rpi") ? ptx_math1(e, MATH_CEIL, value) : value;
}

static struct ptx_value to_float(struct ptx_emitter *e, struct ptx_value value, enum ptx_type from, enum ptx_type to)
{
    const enum ptx_kind kind = to == PTX_BF16 ? PTX_F : ptx_kind_of(to);
    const enum ptx_rounding mode = to == PTX_BF16 ? ROUND_EVEN : ptx_rounding_of(e);
    if (is_whole(from)) {
        const uint32_t opcode = ptx_class(from) == 's' ? OP_ConvertSToF : OP_ConvertUToF;
        return mode == ROUND_EVEN ? ptx_op1(e, opcode, kind, value) : ptx_rounded_conversion(e, opcode, kind, value, mode);
    }
    if (value.kind == kind)
        return whole_number(e, value);
    const bool narrows = ptx_bits_of(kind) < ptx_bits_of(value.kind);
    return narrows && mode != ROUND_EVEN ? ptx_rounded_conversion(e, OP_FConvert, kind, value, mode) : ptx_op1(e, OP_FConvert, kind, value);
}

static struct ptx_value convert(struct ptx_emitter *e, struct ptx_value value, enum ptx_type from, enum ptx_type to)
{
    const struct ptx_instruction *i = e->instruction;
    const bool flushes = ptx_has(i, "ftz");
    if (from == PTX_BF16)
        value = ptx_from_bfloat(e, value);
    if (flushes && value.kind == PTX_F)
        value = ptx_flush(e, value);
    if (is_whole(to))
        return to_integer(e, value, from, to);
    struct ptx_value result = to_float(e, value, from, to);
    if (flushes && result.kind == PTX_F)
        result = ptx_flush(e, result);
    if (ptx_has(i, "sat"))
        result = ptx_saturate(e, result);
    if (ptx_has(i, "relu"))
        result = ptx_larger(e, result, ptx_float_value(e, result.kind, 0), true, true);
    return to == PTX_BF16 ? ptx_to_bfloat(e, result, ptx_rounding_of(e)) : result;
}

/* ---------------------------------------------------------------- floats of 8 bits, in pairs */

static bool is_octets(enum ptx_type type) { return type == PTX_E4M3X2 || type == PTX_E5M2X2; }

static struct ptx_value word(struct ptx_emitter *e, uint32_t value) { return ptx_bits_value(e, PTX_I32, value); }

/* The byte of a single: rounded to even, finite, NaN as 0x7f. */
static struct ptx_value octet_of(struct ptx_emitter *e, struct ptx_value single, enum ptx_type to)
{
    const uint32_t fraction = to == PTX_E4M3X2 ? 3 : 2, bias = to == PTX_E4M3X2 ? 7 : 15, most = to == PTX_E4M3X2 ? 0x7e : 0x7b;
    const uint32_t shift = 23 - fraction, least = 128 - bias; /* the exponent of the least normal number, as a single has it */
    const struct ptx_value bits = ptx_cast(e, single, PTX_I32), sign = ptx_op2(e, OP_BitwiseAnd, PTX_I32, bits, word(e, 0x80000000));
    const struct ptx_value size = ptx_op2(e, OP_BitwiseXor, PTX_I32, bits, sign);
    /* normal numbers: half a unit is added, less one where the last bit that stays is 0 */
    const struct ptx_value odd = ptx_op2(e, OP_BitwiseAnd, PTX_I32, ptx_op2(e, OP_ShiftRightLogical, PTX_I32, size, word(e, shift)), word(e, 1));
    struct ptx_value normal = ptx_op2(e, OP_IAdd, PTX_I32, size, ptx_op2(e, OP_IAdd, PTX_I32, odd, word(e, (1u << (shift - 1)) - 1)));
    normal = ptx_op2(e, OP_ShiftRightLogical, PTX_I32, normal, word(e, shift));
    normal = ptx_math2(e, MATH_UMIN, ptx_op2(e, OP_ISub, PTX_I32, normal, word(e, (127 - bias) << fraction)), word(e, most));
    /* others: the sum with a number whose last bit is their unit */
    const struct ptx_value unit = word(e, (least + shift) << 23);
    const struct ptx_value sum = ptx_op2(e, OP_FAdd, PTX_F, ptx_cast(e, size, PTX_F), ptx_cast(e, unit, PTX_F));
    const struct ptx_value small = ptx_op2(e, OP_ISub, PTX_I32, ptx_cast(e, sum, PTX_I32), unit);
    struct ptx_value result = ptx_select(e, ptx_op2(e, OP_ULessThan, PTX_BOOL, size, word(e, least << 23)), small, normal);
    if (ptx_has(e->instruction, "relu"))
        result = ptx_select(e, ptx_op2(e, OP_INotEqual, PTX_BOOL, sign, word(e, 0)), word(e, 0), result);
    else
        result = ptx_op2(e, OP_BitwiseOr, PTX_I32, result, ptx_op2(e, OP_ShiftRightLogical, PTX_I32, sign, word(e, 24)));
    return ptx_select(e, ptx_op1(e, OP_IsNan, PTX_BOOL, single), word(e, 0x7f), result);
}

/* The half of a byte, exactly: the bits in their places, times the quotient of the exponents' biases. */
static struct ptx_value half_of_octet(struct ptx_emitter *e, struct ptx_value pair, uint32_t number, enum ptx_type from)
{
    const uint32_t up = from == PTX_E4M3X2 ? 7 : 8;
    const struct ptx_value octet = ptx_op2(e, OP_ShiftRightLogical, PTX_I32, pair, word(e, 8 * number));
    const struct ptx_value sign = ptx_op2(e, OP_BitwiseAnd, PTX_I32, octet, word(e, 0x80)), size = ptx_op2(e, OP_BitwiseAnd, PTX_I32, octet, word(e, 0x7f));
    struct ptx_value bits = ptx_op2(e, OP_ShiftLeftLogical, PTX_I32, size, word(e, up));
    if (from == PTX_E4M3X2) {
        const struct ptx_value half = ptx_cast(e, ptx_resize(e, bits, PTX_I16, false), PTX_H);
        bits = ptx_resize(e, ptx_cast(e, ptx_op2(e, OP_FMul, PTX_H, half, ptx_float_value(e, PTX_H, 256)), PTX_I16), PTX_I32, false);
    }
    bits = ptx_op2(e, OP_BitwiseOr, PTX_I32, bits, ptx_op2(e, OP_ShiftLeftLogical, PTX_I32, sign, word(e, 8)));
    if (ptx_has(e->instruction, "relu"))
        bits = ptx_select(e, ptx_op2(e, OP_INotEqual, PTX_BOOL, sign, word(e, 0)), word(e, 0), bits);
    const struct ptx_value is_nan = ptx_op2(e, OP_UGreaterThan, PTX_BOOL, size, word(e, from == PTX_E4M3X2 ? 0x7e : 0x7c));
    return ptx_resize(e, ptx_select(e, is_nan, word(e, 0x7fff), bits), PTX_I16, false);
}

static void convert_octets(struct ptx_emitter *e, enum ptx_type to, enum ptx_type from)
{
    if (is_octets(from)) {
        const struct ptx_value pair = ptx_resize(e, ptx_operand(e, 1, PTX_B16), PTX_I32, false);
        ptx_result(e, ptx_pair_of(e, half_of_octet(e, pair, 0, from), half_of_octet(e, pair, 1, from)));
        return;
    }
    struct ptx_value octets[2];
    for (uint32_t k = 0; k < 2; k++) {
        struct ptx_value single;
        if (from == PTX_F32)
            single = ptx_operand(e, 2 - k, PTX_F32);
        else
            single = ptx_op1(e, OP_FConvert, PTX_F, ptx_cast(e, ptx_half_of(e, ptx_operand(e, 1, from), k), PTX_H));
        octets[k] = octet_of(e, single, to);
    }
    const struct ptx_value high = ptx_op2(e, OP_ShiftLeftLogical, PTX_I32, octets[1], word(e, 8));
    ptx_result(e, ptx_resize(e, ptx_op2(e, OP_BitwiseOr, PTX_I32, octets[0], high), PTX_I16, false));
}

/* ---------------------------------------------------------------- all */

void ptx_emit_conversion(struct ptx_emitter *e)
{
    const enum ptx_type to = ptx_type_at(e, 0), from = ptx_type_at(e, 1);
    if (is_octets(to) || is_octets(from)) {
        convert_octets(e, to, from);
        return;
    }
    if (ptx_has(e->instruction, "pack"))
        ptx_refuse(e, "it is not supported");
    if (to == PTX_TF32) { /* 10 bits of the fraction, ties away from zero */
        const struct ptx_value bits = ptx_cast(e, ptx_operand(e, 1, PTX_F32), PTX_I32);
        const struct ptx_value more = ptx_op2(e, OP_IAdd, PTX_I32, bits, ptx_bits_value(e, PTX_I32, 0x1000));
        ptx_result(e, ptx_op2(e, OP_BitwiseAnd, PTX_I32, more, ptx_bits_value(e, PTX_I32, 0xffffe000)));
        return;
    }
    if (to == PTX_F16X2 || to == PTX_BF16X2) {
        const enum ptx_type half = to == PTX_F16X2 ? PTX_F16 : PTX_BF16;
        const struct ptx_value high = convert(e, ptx_operand(e, 1, from), from, half);
        const struct ptx_value low = convert(e, ptx_operand(e, 2, from), from, half);
        ptx_result(e, ptx_pair_of(e, low, high));
        return;
    }
    if (from == PTX_TF32 || ptx_class(from) == '2' || ptx_class(to) == '2' || ptx_bits(to) < 8 || ptx_bits(from) < 8 || ptx_bits(to) > 64 ||
        ptx_bits(from) > 64)
        ptx_refuse(e, "it is not supported");
    ptx_result(e, convert(e, ptx_operand(e, 1, from), from, to));
}
