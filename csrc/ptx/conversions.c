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

void ptx_emit_conversion(struct ptx_emitter *e)
{
    const enum ptx_type to = ptx_type_at(e, 0), from = ptx_type_at(e, 1);
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
