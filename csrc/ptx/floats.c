/* Arithmetic of floats: single and double, halves, bfloats, and pairs of these. */
#include "emit.h"

#include <string.h>

/* ---------------------------------------------------------------- modifiers */

enum ptx_rounding ptx_rounding_of(struct ptx_emitter *e)
{
    static const struct {
        const char *name;
        enum ptx_rounding mode;
    } modes[] = {{"rz", ROUND_ZERO}, {"rzi", ROUND_ZERO}, {"rp", ROUND_UP}, {"rpi", ROUND_UP}, {"rm", ROUND_DOWN}, {"rmi", ROUND_DOWN}};
    for (unsigned k = 0; k < sizeof modes / sizeof *modes; k++)
        if (ptx_has(e->instruction, modes[k].name))
            return modes[k].mode;
    return ROUND_EVEN;
}

struct ptx_value ptx_flush(struct ptx_emitter *e, struct ptx_value value)
{
    if (value.kind == PTX_D)
        return value;
    const bool half = value.kind == PTX_H;
    const enum ptx_kind kind = half ? PTX_I16 : PTX_I32;
    const struct ptx_value bits = ptx_cast(e, value, kind), zero = ptx_bits_value(e, kind, 0);
    const struct ptx_value exponent = ptx_op2(e, OP_BitwiseAnd, kind, bits, ptx_bits_value(e, kind, half ? 0x7c00 : 0x7f800000));
    const struct ptx_value sign = ptx_op2(e, OP_BitwiseAnd, kind, bits, ptx_bits_value(e, kind, half ? 0x8000 : 0x80000000));
    return ptx_cast(e, ptx_select(e, ptx_op2(e, OP_IEqual, PTX_BOOL, exponent, zero), sign, bits), value.kind);
}

/* Clamps to [0, 1]; NaN gives +0. */
struct ptx_value ptx_saturate(struct ptx_emitter *e, struct ptx_value value)
{
    const struct ptx_value zero = ptx_float_value(e, value.kind, 0), one = ptx_float_value(e, value.kind, 1);
    const struct ptx_value positive = ptx_select(e, ptx_op2(e, OP_FOrdGreaterThan, PTX_BOOL, value, zero), value, zero);
    return ptx_select(e, ptx_op2(e, OP_FOrdLessThan, PTX_BOOL, positive, one), positive, one);
}

struct ptx_value ptx_negate_float(struct ptx_emitter *e, struct ptx_value a) { return ptx_op1(e, OP_FNegate, a.kind, a); }

/* ---------------------------------------------------------------- bfloats and pairs */

struct ptx_value ptx_from_bfloat(struct ptx_emitter *e, struct ptx_value bits)
{
    const struct ptx_value wide = ptx_resize(e, ptx_cast(e, bits, PTX_I16), PTX_I32, false);
    return ptx_cast(e, ptx_op2(e, OP_ShiftLeftLogical, PTX_I32, wide, ptx_bits_value(e, PTX_I32, 16)), PTX_F);
}

struct ptx_value ptx_to_bfloat(struct ptx_emitter *e, struct ptx_value single, enum ptx_rounding mode)
{
    const struct ptx_value bits = ptx_cast(e, single, PTX_I32), half = ptx_bits_value(e, PTX_I32, 16);
    struct ptx_value rounded = bits;
    if (mode == ROUND_EVEN) {
        const struct ptx_value last = ptx_op2(e, OP_BitwiseAnd, PTX_I32, ptx_op2(e, OP_ShiftRightLogical, PTX_I32, bits, half), ptx_bits_value(e, PTX_I32, 1));
        rounded = ptx_op2(e, OP_IAdd, PTX_I32, bits, ptx_op2(e, OP_IAdd, PTX_I32, last, ptx_bits_value(e, PTX_I32, 0x7fff)));
    } else if (mode != ROUND_ZERO) { /* away from zero for one of the signs */
        const struct ptx_value is_negative = ptx_op2(e, OP_SLessThan, PTX_BOOL, bits, ptx_bits_value(e, PTX_I32, 0));
        const struct ptx_value most = ptx_bits_value(e, PTX_I32, 0xffff), zero = ptx_bits_value(e, PTX_I32, 0);
        const struct ptx_value more = mode == ROUND_UP ? ptx_select(e, is_negative, zero, most) : ptx_select(e, is_negative, most, zero);
        rounded = ptx_op2(e, OP_IAdd, PTX_I32, bits, more);
    }
    rounded = ptx_resize(e, ptx_op2(e, OP_ShiftRightLogical, PTX_I32, rounded, half), PTX_I16, false);
    return ptx_select(e, ptx_op1(e, OP_IsNan, PTX_BOOL, single), ptx_bits_value(e, PTX_I16, 0x7fff), rounded);
}

struct ptx_value ptx_half_of(struct ptx_emitter *e, struct ptx_value pair, uint32_t number)
{
    if (number == 1)
        pair = ptx_op2(e, OP_ShiftRightLogical, PTX_I32, pair, ptx_bits_value(e, PTX_I32, 16));
    return ptx_resize(e, pair, PTX_I16, false);
}

struct ptx_value ptx_pair_of(struct ptx_emitter *e, struct ptx_value low, struct ptx_value high)
{
    const struct ptx_value one = ptx_resize(e, ptx_cast(e, low, PTX_I16), PTX_I32, false);
    const struct ptx_value two = ptx_resize(e, ptx_cast(e, high, PTX_I16), PTX_I32, false);
    return ptx_op2(e, OP_BitwiseOr, PTX_I32, one, ptx_op2(e, OP_ShiftLeftLogical, PTX_I32, two, ptx_bits_value(e, PTX_I32, 16)));
}

/* ---------------------------------------------------------------- one operation */

/* The larger or smaller of two; of zeros, +0 is larger. A number goes before NaN, unless nan. */
struct ptx_value ptx_larger(struct ptx_emitter *e, struct ptx_value a, struct ptx_value b, bool largest, bool nan)
{
    const enum ptx_kind kind = ptx_integer(ptx_bits_of(a.kind));
    struct ptx_value result = ptx_math2(e, largest ? MATH_FMAX : MATH_FMIN, a, b);
    const struct ptx_value both = ptx_op2(e, largest ? OP_BitwiseAnd : OP_BitwiseOr, kind, ptx_cast(e, a, kind), ptx_cast(e, b, kind));
    result = ptx_select(e, ptx_op2(e, OP_FOrdEqual, PTX_BOOL, a, b), ptx_cast(e, both, a.kind), result);
    if (nan)
        result = ptx_select(e, ptx_op2(e, OP_Unordered, PTX_BOOL, a, b),
                            ptx_bits_value(e, a.kind, a.kind == PTX_H ? 0x7fff : a.kind == PTX_F ? 0x7fffffff : 0x7fffffffffffffff), result);
    return result;
}

static struct ptx_value magnitude(struct ptx_emitter *e, struct ptx_value a) { return ptx_math1(e, MATH_FABS, a); }

static struct ptx_value least(struct ptx_emitter *e, const struct ptx_value *in, uint32_t count, bool largest)
{
    const bool nan = ptx_has(e->instruction, "NaN"), signs = ptx_has(e->instruction, "xorsign");
    struct ptx_value result = in[0];
    for (uint32_t k = 1; k < count; k++)
        result = signs ? ptx_larger(e, magnitude(e, result), magnitude(e, in[k]), largest, nan) : ptx_larger(e, result, in[k], largest, nan);
    if (!signs)
        return ptx_has(e->instruction, "abs") ? magnitude(e, result) : result;
    const enum ptx_kind kind = ptx_integer(ptx_bits_of(in[0].kind));
    const struct ptx_value sign = ptx_op2(e, OP_BitwiseXor, kind, ptx_cast(e, in[0], kind), ptx_cast(e, in[1], kind));
    return ptx_math2(e, MATH_COPYSIGN, result, ptx_cast(e, sign, in[0].kind));
}

/* Directed rounding is for single and double. */
static struct ptx_value compute(struct ptx_emitter *e, const char *name, const struct ptx_value *in, uint32_t count)
{
    const enum ptx_rounding mode = in[0].kind == PTX_H ? ROUND_EVEN : ptx_rounding_of(e);
    const enum ptx_kind kind = in[0].kind;
    if (ptx_has(e->instruction, "approx") || ptx_has(e->instruction, "full"))
        return strcmp(name, "div") == 0 ? ptx_approximate_quotient(e, in[0], in[1]) : ptx_approximate(e, name, in[0]);
    if (strcmp(name, "add") == 0)
        return mode != ROUND_EVEN ? ptx_rounded_add(e, in[0], in[1], mode) : ptx_op2(e, OP_FAdd, kind, in[0], in[1]);
    if (strcmp(name, "sub") == 0)
        return mode != ROUND_EVEN ? ptx_rounded_add(e, in[0], ptx_negate_float(e, in[1]), mode) : ptx_op2(e, OP_FSub, kind, in[0], in[1]);
    if (strcmp(name, "mul") == 0)
        return mode != ROUND_EVEN ? ptx_rounded_multiply(e, in[0], in[1], mode) : ptx_op2(e, OP_FMul, kind, in[0], in[1]);
    if (strcmp(name, "fma") == 0 || strcmp(name, "mad") == 0)
        return mode != ROUND_EVEN ? ptx_rounded_fma(e, in[0], in[1], in[2], mode) : ptx_math3(e, MATH_FMA, in[0], in[1], in[2]);
    if (strcmp(name, "div") == 0)
        return mode != ROUND_EVEN ? ptx_rounded_divide(e, in[0], in[1], mode) : ptx_op2(e, OP_FDiv, kind, in[0], in[1]);
    if (strcmp(name, "rcp") == 0) {
        const struct ptx_value one = ptx_float_value(e, kind, 1);
        return mode != ROUND_EVEN ? ptx_rounded_divide(e, one, in[0], mode) : ptx_op2(e, OP_FDiv, kind, one, in[0]);
    }
    if (strcmp(name, "sqrt") == 0)
        return mode != ROUND_EVEN ? ptx_rounded_root(e, in[0], mode) : ptx_math1(e, MATH_SQRT, in[0]);
    if (strcmp(name, "neg") == 0)
        return ptx_negate_float(e, in[0]);
    if (strcmp(name, "abs") == 0)
        return magnitude(e, in[0]);
    if (strcmp(name, "min") == 0 || strcmp(name, "max") == 0)
        return least(e, in, count, name[1] == 'a');
    ptx_refuse(e, "it is not supported for floats");
}

static struct ptx_value finish(struct ptx_emitter *e, struct ptx_value value)
{
    if (ptx_has(e->instruction, "ftz"))
        value = ptx_flush(e, value);
    if (ptx_has(e->instruction, "sat"))
        value = ptx_saturate(e, value);
    if (ptx_has(e->instruction, "relu"))
        value = ptx_larger(e, value, ptx_float_value(e, value.kind, 0), true, true);
    return value;
}

/* An operation on values of a type that is no pair; bfloats are computed as singles. */
static struct ptx_value operate(struct ptx_emitter *e, const char *name, bool bfloats, struct ptx_value *in, uint32_t count)
{
    for (uint32_t k = 0; k < count; k++)
        in[k] = bfloats ? ptx_from_bfloat(e, in[k]) : ptx_has(e->instruction, "ftz") ? ptx_flush(e, in[k]) : in[k];
    if (bfloats && (strcmp(name, "neg") == 0 || strcmp(name, "abs") == 0)) {
        const struct ptx_value bits = ptx_cast(e, compute(e, name, in, count), PTX_I32);
        return ptx_half_of(e, bits, 1);
    }
    const struct ptx_value value = finish(e, compute(e, name, in, count));
    return bfloats ? ptx_to_bfloat(e, value, strcmp(name, "ex2") == 0 ? ROUND_ZERO : ROUND_EVEN) : value;
}

static uint32_t operands_of(struct ptx_emitter *e, const char *name)
{
    static const char *const two[] = {"add", "sub", "mul", "div", NULL};
    for (uint32_t k = 0; two[k] != NULL; k++)
        if (strcmp(name, two[k]) == 0)
            return 2;
    if (strcmp(name, "min") == 0 || strcmp(name, "max") == 0)
        return e->instruction->operand_count == 4 ? 3 : 2;
    return strcmp(name, "fma") == 0 || strcmp(name, "mad") == 0 ? 3 : 1;
}

void ptx_float_arithmetic(struct ptx_emitter *e)
{
    const enum ptx_type type = ptx_type_at(e, 0);
    const char *name = e->instruction->name;
    const uint32_t count = operands_of(e, name);
    struct ptx_value in[3], halves[2];
    for (uint32_t k = 0; k < count; k++) /* add.f32.bf16 and the like: a second type, of the first operand(s) */
        in[k] = ptx_operand(e, 1 + k, type);
    if (e->instruction->type_count > 1)
        ptx_refuse(e, "operands of two types");
    if (ptx_class(type) != '2') {
        ptx_result(e, operate(e, name, type == PTX_BF16, in, count));
        return;
    }
    for (uint32_t n = 0; n < 2; n++) {
        struct ptx_value parts[3];
        for (uint32_t k = 0; k < count; k++) {
            parts[k] = ptx_half_of(e, in[k], n);
            if (type == PTX_F16X2)
                parts[k] = ptx_cast(e, parts[k], PTX_H);
        }
        halves[n] = operate(e, name, type == PTX_BF16X2, parts, count);
    }
    ptx_result(e, ptx_pair_of(e, halves[0], halves[1]));
}

/* ---------------------------------------------------------------- others */

static void emit_testp(struct ptx_emitter *e)
{
    const struct ptx_value a = ptx_operand(e, 1, ptx_type_at(e, 0));
    const struct ptx_instruction *i = e->instruction;
    const uint32_t opcode = ptx_has(i, "finite")     ? OP_IsFinite
                            : ptx_has(i, "infinite") ? OP_IsInf
                            : ptx_has(i, "normal")   ? OP_IsNormal
                                                     : OP_IsNan;
    struct ptx_value result = ptx_op1(e, opcode, PTX_BOOL, a);
    if (ptx_has(i, "number"))
        result = ptx_op1(e, OP_LogicalNot, PTX_BOOL, result);
    if (ptx_has(i, "subnormal")) {
        const struct ptx_value other = ptx_op2(e, OP_LogicalOr, PTX_BOOL, ptx_op1(e, OP_IsNormal, PTX_BOOL, a), ptx_op2(e, OP_FOrdEqual, PTX_BOOL, a, ptx_float_value(e, a.kind, 0)));
        const struct ptx_value plain = ptx_op1(e, OP_IsFinite, PTX_BOOL, a);
        result = ptx_op2(e, OP_LogicalAnd, PTX_BOOL, plain, ptx_op1(e, OP_LogicalNot, PTX_BOOL, other));
    }
    ptx_write(e, &i->operands[0], result, false);
}

static void emit_copysign(struct ptx_emitter *e)
{
    const enum ptx_type type = ptx_type_at(e, 0);
    ptx_result(e, ptx_math2(e, MATH_COPYSIGN, ptx_operand(e, 2, type), ptx_operand(e, 1, type)));
}

const struct ptx_handler ptx_float_handlers[] = {
    {"fma", ptx_float_arithmetic}, {"rcp", ptx_float_arithmetic}, {"sqrt", ptx_float_arithmetic}, {"rsqrt", ptx_float_arithmetic},
    {"sin", ptx_float_arithmetic}, {"cos", ptx_float_arithmetic}, {"ex2", ptx_float_arithmetic}, {"lg2", ptx_float_arithmetic},
    {"tanh", ptx_float_arithmetic}, {"testp", emit_testp}, {"copysign", emit_copysign}, {NULL, NULL}};
