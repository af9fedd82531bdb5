/* Integer functions of OpenCL.std. */
#include "spirv/execute/opencl_std.h"
#include "spirv/execute/lane_operations.h"

#include <limits.h>

#define ALL(X, name, kind, expression)                                                                                 \
    X(name##_8, kind##8_t, kind##8_t, expression)                                                                      \
    X(name##_16, kind##16_t, kind##16_t, expression)                                                                   \
    X(name##_32, kind##32_t, kind##32_t, expression)                                                                   \
    X(name##_64, kind##64_t, kind##64_t, expression)

#define BITS(a) (sizeof(a) * CHAR_BIT)

/* The high half of a 128-bit product. */
static inline uint64_t high_unsigned(uint64_t a, uint64_t b)
{
    uint64_t al = a & UINT32_MAX, ah = a >> 32, bl = b & UINT32_MAX, bh = b >> 32;
    uint64_t low = al * bl, one = ah * bl + (low >> 32), two = al * bh + (one & UINT32_MAX);
    return ah * bh + (one >> 32) + (two >> 32);
}
static inline int64_t high_signed(int64_t a, int64_t b)
{
    return (int64_t)(high_unsigned((uint64_t)a, (uint64_t)b) - (a < 0 ? (uint64_t)b : 0) - (b < 0 ? (uint64_t)a : 0));
}

ALL(BLR_UNARY, absolute, int, a < 0 ? (int64_t)(0 - (uint64_t)a) : a)
ALL(BLR_UNARY, same, uint, a)
ALL(BLR_BINARY, distance_s, int, a > b ? (int64_t)((uint64_t)a - (uint64_t)b) : (int64_t)((uint64_t)b - (uint64_t)a))
ALL(BLR_BINARY, distance_u, uint, a > b ? a - b : b - a)
ALL(BLR_BINARY, larger_s, int, a > b ? a : b)
ALL(BLR_BINARY, larger_u, uint, a > b ? a : b)
ALL(BLR_BINARY, smaller_s, int, a < b ? a : b)
ALL(BLR_BINARY, smaller_u, uint, a < b ? a : b)
ALL(BLR_TERNARY, clamp_s, int, (a > b ? a : b) < c ? (a > b ? a : b) : c)
ALL(BLR_TERNARY, clamp_u, uint, (a > b ? a : b) < c ? (a > b ? a : b) : c)
ALL(BLR_BINARY, half_sum_s, int, (a >> 1) + (b >> 1) + (a & b & 1))
ALL(BLR_BINARY, half_sum_u, uint, (a >> 1) + (b >> 1) + (a & b & 1))
ALL(BLR_BINARY, rounded_half_sum_s, int, (a >> 1) + (b >> 1) + ((a | b) & 1))
ALL(BLR_BINARY, rounded_half_sum_u, uint, (a >> 1) + (b >> 1) + ((a | b) & 1))
ALL(BLR_BINARY, rotated, uint, (b % BITS(a)) == 0 ? a : a << (b % BITS(a)) | a >> (BITS(a) - b % BITS(a)))

/* Saturating sums; for 64 bits by comparison with the remaining range. */
#define SATURATE(value, low, high) ((value) < (low) ? (low) : (value) > (high) ? (high) : (value))
BLR_BINARY(add_sat_s_8, int8_t, int8_t, SATURATE(a + b, INT8_MIN, INT8_MAX))
BLR_BINARY(add_sat_s_16, int16_t, int16_t, SATURATE(a + b, INT16_MIN, INT16_MAX))
BLR_BINARY(add_sat_s_32, int32_t, int32_t, SATURATE((int64_t)a + b, INT32_MIN, INT32_MAX))
BLR_BINARY(add_sat_s_64, int64_t, int64_t, b > 0 && a > INT64_MAX - b ? INT64_MAX : b < 0 && a < INT64_MIN - b ? INT64_MIN : a + b)
BLR_BINARY(sub_sat_s_8, int8_t, int8_t, SATURATE(a - b, INT8_MIN, INT8_MAX))
BLR_BINARY(sub_sat_s_16, int16_t, int16_t, SATURATE(a - b, INT16_MIN, INT16_MAX))
BLR_BINARY(sub_sat_s_32, int32_t, int32_t, SATURATE((int64_t)a - b, INT32_MIN, INT32_MAX))
BLR_BINARY(sub_sat_s_64, int64_t, int64_t, b < 0 && a > INT64_MAX + b ? INT64_MAX : b > 0 && a < INT64_MIN + b ? INT64_MIN : a - b)
#define ADD_SAT_U(T, bits) BLR_BINARY(add_sat_u_##bits, T, T, (T)(a + b) < a ? (T)-1 : (T)(a + b))
ADD_SAT_U(uint8_t, 8)
ADD_SAT_U(uint16_t, 16)
ADD_SAT_U(uint32_t, 32)
ADD_SAT_U(uint64_t, 64)
ALL(BLR_BINARY, sub_sat_u, uint, a < b ? 0 : a - b)

/* a x b + c, saturated to the type's range. The exact sum is high x 2^64 + low. */
static inline int64_t mad_sat_signed(int64_t a, int64_t b, int64_t c, int64_t low, int64_t high)
{
    uint64_t bits = (uint64_t)a * (uint64_t)b, sum = bits + (uint64_t)c;
    int64_t above = high_signed(a, b) + (c < 0 ? -1 : 0) + (sum < bits);
    if (above != ((int64_t)sum < 0 ? -1 : 0))
        return above < 0 ? low : high;
    return SATURATE((int64_t)sum, low, high);
}
static inline uint64_t mad_sat_unsigned(uint64_t a, uint64_t b, uint64_t c, uint64_t high)
{
    uint64_t bits = a * b, sum = bits + c;
    return high_unsigned(a, b) + (sum < bits) != 0 || sum > high ? high : sum;
}
BLR_TERNARY(mad_sat_s_8, int8_t, int8_t, mad_sat_signed(a, b, c, INT8_MIN, INT8_MAX))
BLR_TERNARY(mad_sat_s_16, int16_t, int16_t, mad_sat_signed(a, b, c, INT16_MIN, INT16_MAX))
BLR_TERNARY(mad_sat_s_32, int32_t, int32_t, mad_sat_signed(a, b, c, INT32_MIN, INT32_MAX))
BLR_TERNARY(mad_sat_s_64, int64_t, int64_t, mad_sat_signed(a, b, c, INT64_MIN, INT64_MAX))
BLR_TERNARY(mad_sat_u_8, uint8_t, uint8_t, mad_sat_unsigned(a, b, c, UINT8_MAX))
BLR_TERNARY(mad_sat_u_16, uint16_t, uint16_t, mad_sat_unsigned(a, b, c, UINT16_MAX))
BLR_TERNARY(mad_sat_u_32, uint32_t, uint32_t, mad_sat_unsigned(a, b, c, UINT32_MAX))
BLR_TERNARY(mad_sat_u_64, uint64_t, uint64_t, mad_sat_unsigned(a, b, c, UINT64_MAX))

static inline uint64_t leading(uint64_t value, unsigned bits)
{
    unsigned count = 0;
    for (unsigned half = 32; half > 0; half /= 2)
        if (value >> (64 - half) == 0) {
            count += half;
            value <<= half;
        }
    return value == 0 ? bits : count - (64 - bits);
}
static inline uint64_t trailing(uint64_t value, unsigned bits)
{
    unsigned count = 0;
    while (count < bits && (value >> count & 1) == 0)
        count++;
    return count;
}
static inline uint64_t ones(uint64_t value)
{
    unsigned count = 0;
    for (; value != 0; value &= value - 1)
        count++;
    return count;
}
ALL(BLR_UNARY, leading_zeros, uint, leading(a, BITS(a)))
ALL(BLR_UNARY, trailing_zeros, uint, trailing(a, BITS(a)))
ALL(BLR_UNARY, population, uint, ones(a))

BLR_BINARY(high_s_8, int8_t, int8_t, (a * b) >> 8)
BLR_BINARY(high_s_16, int16_t, int16_t, (a * b) >> 16)
BLR_BINARY(high_s_32, int32_t, int32_t, ((int64_t)a * b) >> 32)
BLR_BINARY(high_s_64, int64_t, int64_t, high_signed(a, b))
BLR_BINARY(high_u_8, uint8_t, uint8_t, (a * b) >> 8)
BLR_BINARY(high_u_16, uint16_t, uint16_t, ((uint32_t)a * b) >> 16)
BLR_BINARY(high_u_32, uint32_t, uint32_t, ((uint64_t)a * b) >> 32)
BLR_BINARY(high_u_64, uint64_t, uint64_t, high_unsigned(a, b))
BLR_TERNARY(mad_high_s_8, uint8_t, int8_t, ((a * b) >> 8) + c)
BLR_TERNARY(mad_high_s_16, uint16_t, int16_t, ((a * b) >> 16) + c)
BLR_TERNARY(mad_high_s_32, uint32_t, int32_t, (uint32_t)(((int64_t)a * b) >> 32) + (uint32_t)c)
BLR_TERNARY(mad_high_s_64, uint64_t, int64_t, (uint64_t)high_signed(a, b) + (uint64_t)c)
BLR_TERNARY(mad_high_u_8, uint8_t, uint8_t, ((a * b) >> 8) + c)
BLR_TERNARY(mad_high_u_16, uint16_t, uint16_t, (((uint32_t)a * b) >> 16) + c)
BLR_TERNARY(mad_high_u_32, uint32_t, uint32_t, (((uint64_t)a * b) >> 32) + c)
BLR_TERNARY(mad_high_u_64, uint64_t, uint64_t, high_unsigned(a, b) + c)

static inline int32_t low24(int32_t a) { return (int32_t)((uint32_t)a << 8) >> 8; }
BLR_BINARY(product24_s, uint32_t, int32_t, (uint32_t)((int64_t)low24(a) * low24(b)))
BLR_BINARY(product24_u, uint32_t, uint32_t, (a & 0xffffffu) * (b & 0xffffffu))
BLR_TERNARY(mad24_s, uint32_t, int32_t, (uint32_t)((int64_t)low24(a) * low24(b)) + (uint32_t)c)
BLR_TERNARY(mad24_u, uint32_t, uint32_t, (a & 0xffffffu) * (b & 0xffffffu) + c)

#define I(number, operands, label, name)                                                                               \
    {                                                                                                                  \
        number, operands, BLR_TYPE_INT, label, { name##_8, name##_16, name##_32, name##_64 }                           \
    }

const struct blr_spirv_extended blr_spirv_integer_functions[] = {
    I(141, 1, "s_abs", absolute),
    I(142, 2, "s_abs_diff", distance_s),
    I(143, 2, "s_add_sat", add_sat_s),
    I(144, 2, "u_add_sat", add_sat_u),
    I(145, 2, "s_hadd", half_sum_s),
    I(146, 2, "u_hadd", half_sum_u),
    I(147, 2, "s_rhadd", rounded_half_sum_s),
    I(148, 2, "u_rhadd", rounded_half_sum_u),
    I(149, 3, "s_clamp", clamp_s),
    I(150, 3, "u_clamp", clamp_u),
    I(151, 1, "clz", leading_zeros),
    I(152, 1, "ctz", trailing_zeros),
    I(153, 3, "s_mad_hi", mad_high_s),
    I(154, 3, "u_mad_sat", mad_sat_u),
    I(155, 3, "s_mad_sat", mad_sat_s),
    I(156, 2, "s_max", larger_s),
    I(157, 2, "u_max", larger_u),
    I(158, 2, "s_min", smaller_s),
    I(159, 2, "u_min", smaller_u),
    I(160, 2, "s_mul_hi", high_s),
    I(161, 2, "rotate", rotated),
    I(162, 2, "s_sub_sat", sub_sat_s),
    I(163, 2, "u_sub_sat", sub_sat_u),
    I(166, 1, "popcount", population),
    {167, 3, BLR_TYPE_INT, "s_mad24", {NULL, NULL, mad24_s, NULL}},
    {168, 3, BLR_TYPE_INT, "u_mad24", {NULL, NULL, mad24_u, NULL}},
    {169, 2, BLR_TYPE_INT, "s_mul24", {NULL, NULL, product24_s, NULL}},
    {170, 2, BLR_TYPE_INT, "u_mul24", {NULL, NULL, product24_u, NULL}},
    I(201, 1, "u_abs", same),
    I(202, 2, "u_abs_diff", distance_u),
    I(203, 2, "u_mul_hi", high_u),
    I(204, 3, "u_mad_hi", mad_high_u),
};
const unsigned blr_spirv_integer_function_count =
    sizeof blr_spirv_integer_functions / sizeof *blr_spirv_integer_functions;

const struct blr_spirv_extended *blr_spirv_extended(uint32_t number)
{
    for (unsigned i = 0; i < blr_spirv_float_function_count; i++)
        if (blr_spirv_float_functions[i].number == number)
            return &blr_spirv_float_functions[i];
    for (unsigned i = 0; i < blr_spirv_integer_function_count; i++)
        if (blr_spirv_integer_functions[i].number == number)
            return &blr_spirv_integer_functions[i];
    return NULL;
}
