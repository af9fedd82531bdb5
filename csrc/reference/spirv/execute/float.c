/* Elementwise operations on floats: IEEE arithmetic, each operation rounded separately. */
#include "spirv/half.h"
#include "spirv/execute/lane_operations.h"

#include <math.h>

#define HALF_UNARY(name, expression)                                                                                   \
    static void name(struct blr_spirv_batch *batch, const struct blr_spirv_op *op, unsigned char *result)              \
    {                                                                                                                  \
        uint16_t *restrict r = (uint16_t *)result;                                                                     \
        const uint16_t *x = (const uint16_t *)(batch->registers + op->in[0]);                                          \
        BLR_FOR_ELEMENTS(op, i)                                                                                        \
        {                                                                                                              \
            float a = blr_lane_from_half(x[i]);                                                                        \
            r[i] = blr_lane_to_half((float)(expression));                                                              \
        }                                                                                                              \
    }

#define HALF_BINARY(name, expression)                                                                                  \
    static void name(struct blr_spirv_batch *batch, const struct blr_spirv_op *op, unsigned char *result)              \
    {                                                                                                                  \
        uint16_t *restrict r = (uint16_t *)result;                                                                     \
        const uint16_t *x = (const uint16_t *)(batch->registers + op->in[0]);                                          \
        const uint16_t *y = (const uint16_t *)(batch->registers + op->in[1]);                                          \
        BLR_FOR_ELEMENTS(op, i)                                                                                        \
        {                                                                                                              \
            float a = blr_lane_from_half(x[i]), b = blr_lane_from_half(y[i]);                                          \
            r[i] = blr_lane_to_half((float)(expression));                                                              \
        }                                                                                                              \
    }

#define HALF_COMPARE(name, expression)                                                                                 \
    static void name(struct blr_spirv_batch *batch, const struct blr_spirv_op *op, unsigned char *result)              \
    {                                                                                                                  \
        uint8_t *restrict r = result;                                                                                  \
        const uint16_t *x = (const uint16_t *)(batch->registers + op->in[0]);                                          \
        const uint16_t *y = (const uint16_t *)(batch->registers + op->in[1]);                                          \
        BLR_FOR_ELEMENTS(op, i)                                                                                        \
        {                                                                                                              \
            float a = blr_lane_from_half(x[i]), b = blr_lane_from_half(y[i]);                                          \
            r[i] = (uint8_t)(expression);                                                                              \
        }                                                                                                              \
    }

#define HALF_TEST(name, expression)                                                                                    \
    static void name(struct blr_spirv_batch *batch, const struct blr_spirv_op *op, unsigned char *result)              \
    {                                                                                                                  \
        uint8_t *restrict r = result;                                                                                  \
        const uint16_t *x = (const uint16_t *)(batch->registers + op->in[0]);                                          \
        BLR_FOR_ELEMENTS(op, i)                                                                                        \
        {                                                                                                              \
            float a = blr_lane_from_half(x[i]);                                                                        \
            (void)a;                                                                                                   \
            r[i] = (uint8_t)(expression);                                                                              \
        }                                                                                                              \
    }

#define BINARY(name, expression)                                                                                       \
    HALF_BINARY(name##_16, expression)                                                                                 \
    BLR_BINARY(name##_32, float, float, expression) BLR_BINARY(name##_64, double, double, expression)

#define COMPARE(name, expression)                                                                                      \
    HALF_COMPARE(name##_16, expression)                                                                                \
    BLR_BINARY(name##_32, uint8_t, float, expression) BLR_BINARY(name##_64, uint8_t, double, expression)

#define TEST(name, expression)                                                                                         \
    HALF_TEST(name##_16, expression)                                                                                   \
    BLR_UNARY(name##_32, uint8_t, float, expression) BLR_UNARY(name##_64, uint8_t, double, expression)

BINARY(add, a + b)
BINARY(subtract, a - b)
BINARY(multiply, a *b)
BINARY(divide, a / b)

HALF_BINARY(remainder_16, fmodf(a, b))
BLR_BINARY(remainder_32, float, float, fmodf(a, b))
BLR_BINARY(remainder_64, double, double, fmod(a, b))

/* Remainder with the sign of the divisor. */
static inline double modulo(double a, double b)
{
    double rest = fmod(a, b);
    return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest == 0 ? copysign(0.0, b) : rest;
}
HALF_BINARY(modulo_16, modulo(a, b))
BLR_BINARY(modulo_32, float, float, modulo(a, b))
BLR_BINARY(modulo_64, double, double, modulo(a, b))

/* Flips only the sign bit, also of NaN. */
BLR_UNARY(negate_16, uint16_t, uint16_t, a ^ 0x8000u)
BLR_UNARY(negate_32, uint32_t, uint32_t, a ^ 0x80000000u)
BLR_UNARY(negate_64, uint64_t, uint64_t, a ^ 0x8000000000000000u)

COMPARE(ordered_equal, a == b)
COMPARE(unordered_equal, !(a < b || a > b))
COMPARE(ordered_unequal, a < b || a > b)
COMPARE(unordered_unequal, a != b)
COMPARE(ordered_less, a < b)
COMPARE(unordered_less, !(a >= b))
COMPARE(ordered_greater, a > b)
COMPARE(unordered_greater, !(a <= b))
COMPARE(ordered_less_equal, a <= b)
COMPARE(unordered_less_equal, !(a > b))
COMPARE(ordered_greater_equal, a >= b)
COMPARE(unordered_greater_equal, !(a < b))
COMPARE(ordered, a == a && b == b)
COMPARE(unordered, a != a || b != b)

TEST(is_nan, a != a)
TEST(is_infinite, a == INFINITY || a == -INFINITY)
TEST(is_finite, a - a == 0)
HALF_TEST(is_normal_16, (x[i] & 0x7c00u) != 0 && (x[i] & 0x7c00u) != 0x7c00u)
BLR_UNARY(is_normal_32, uint8_t, uint32_t, (a & 0x7f800000u) != 0 && (a & 0x7f800000u) != 0x7f800000u)
BLR_UNARY(is_normal_64, uint8_t, uint64_t, (a << 1 >> 53) != 0 && (a << 1 >> 53) != 0x7ff)
BLR_UNARY(sign_16, uint8_t, uint16_t, a >> 15)
BLR_UNARY(sign_32, uint8_t, uint32_t, a >> 31)
BLR_UNARY(sign_64, uint8_t, uint64_t, a >> 63)

#define ALL(name) {NULL, name##_16, name##_32, name##_64}

const struct blr_spirv_lanes blr_spirv_float_lanes[] = {
    {BLR_OP_FNegate, BLR_FORM_FLOAT, 1, ALL(negate)},
    {BLR_OP_FAdd, BLR_FORM_FLOAT, 2, ALL(add)},
    {BLR_OP_FSub, BLR_FORM_FLOAT, 2, ALL(subtract)},
    {BLR_OP_FMul, BLR_FORM_FLOAT, 2, ALL(multiply)},
    {BLR_OP_FDiv, BLR_FORM_FLOAT, 2, ALL(divide)},
    {BLR_OP_FRem, BLR_FORM_FLOAT, 2, ALL(remainder)},
    {BLR_OP_FMod, BLR_FORM_FLOAT, 2, ALL(modulo)},
    {BLR_OP_IsNan, BLR_FORM_COMPARE_FLOAT, 1, ALL(is_nan)},
    {BLR_OP_IsInf, BLR_FORM_COMPARE_FLOAT, 1, ALL(is_infinite)},
    {BLR_OP_IsFinite, BLR_FORM_COMPARE_FLOAT, 1, ALL(is_finite)},
    {BLR_OP_IsNormal, BLR_FORM_COMPARE_FLOAT, 1, ALL(is_normal)},
    {BLR_OP_SignBitSet, BLR_FORM_COMPARE_FLOAT, 1, ALL(sign)},
    {BLR_OP_LessOrGreater, BLR_FORM_COMPARE_FLOAT, 2, ALL(ordered_unequal)},
    {BLR_OP_Ordered, BLR_FORM_COMPARE_FLOAT, 2, ALL(ordered)},
    {BLR_OP_Unordered, BLR_FORM_COMPARE_FLOAT, 2, ALL(unordered)},
    {BLR_OP_FOrdEqual, BLR_FORM_COMPARE_FLOAT, 2, ALL(ordered_equal)},
    {BLR_OP_FUnordEqual, BLR_FORM_COMPARE_FLOAT, 2, ALL(unordered_equal)},
    {BLR_OP_FOrdNotEqual, BLR_FORM_COMPARE_FLOAT, 2, ALL(ordered_unequal)},
    {BLR_OP_FUnordNotEqual, BLR_FORM_COMPARE_FLOAT, 2, ALL(unordered_unequal)},
    {BLR_OP_FOrdLessThan, BLR_FORM_COMPARE_FLOAT, 2, ALL(ordered_less)},
    {BLR_OP_FUnordLessThan, BLR_FORM_COMPARE_FLOAT, 2, ALL(unordered_less)},
    {BLR_OP_FOrdGreaterThan, BLR_FORM_COMPARE_FLOAT, 2, ALL(ordered_greater)},
    {BLR_OP_FUnordGreaterThan, BLR_FORM_COMPARE_FLOAT, 2, ALL(unordered_greater)},
    {BLR_OP_FOrdLessThanEqual, BLR_FORM_COMPARE_FLOAT, 2, ALL(ordered_less_equal)},
    {BLR_OP_FUnordLessThanEqual, BLR_FORM_COMPARE_FLOAT, 2, ALL(unordered_less_equal)},
    {BLR_OP_FOrdGreaterThanEqual, BLR_FORM_COMPARE_FLOAT, 2, ALL(ordered_greater_equal)},
    {BLR_OP_FUnordGreaterThanEqual, BLR_FORM_COMPARE_FLOAT, 2, ALL(unordered_greater_equal)},
};
const unsigned blr_spirv_float_lane_count = sizeof blr_spirv_float_lanes / sizeof *blr_spirv_float_lanes;
