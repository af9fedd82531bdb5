/*
 * Mathematical functions of OpenCL.std.
 *
 * Functions of floats and halves are computed in double precision and rounded once: results are correctly rounded
 * except for ties below double precision. Functions of doubles are the C library's. fma and functions without rounding
 * (floor, fmax ...) are exact.
 */
#include "spirv/execute/opencl_std.h"
#include "spirv/half.h"
#include "spirv/execute/lane_operations.h"

#include <math.h>

#define PI 3.14159265358979323846264338327950288

/* One function of doubles serves all sizes. */
#define FUNCTION_1(name, expression)                                                                                   \
    static inline double name##_of(double a) { return expression; }                                                    \
    static void name##_16(struct blr_spirv_batch *batch, const struct blr_spirv_op *op, unsigned char *result)         \
    {                                                                                                                  \
        uint16_t *restrict r = (uint16_t *)result;                                                                     \
        const uint16_t *x = blr_register(batch, op->in[0]);                                                            \
        BLR_FOR_ELEMENTS(op, i) r[i] = blr_lane_to_half_from_double(name##_of(blr_lane_from_half(x[i])));              \
    }                                                                                                                  \
    BLR_UNARY(name##_32, float, float, name##_of(a))                                                                   \
    BLR_UNARY(name##_64, double, double, name##_of(a))

#define FUNCTION_2(name, expression)                                                                                   \
    static inline double name##_of(double a, double b) { return expression; }                                          \
    static void name##_16(struct blr_spirv_batch *batch, const struct blr_spirv_op *op, unsigned char *result)         \
    {                                                                                                                  \
        uint16_t *restrict r = (uint16_t *)result;                                                                     \
        const uint16_t *x = blr_register(batch, op->in[0]), *y = blr_register(batch, op->in[1]);                       \
        BLR_FOR_ELEMENTS(op, i)                                                                                        \
        r[i] = blr_lane_to_half_from_double(name##_of(blr_lane_from_half(x[i]), blr_lane_from_half(y[i])));            \
    }                                                                                                                  \
    BLR_BINARY(name##_32, float, float, name##_of(a, b))                                                               \
    BLR_BINARY(name##_64, double, double, name##_of(a, b))

/* The first expression is for floats, which must not be rounded twice, the second for doubles. */
#define FUNCTION_3(name, float_expression, double_expression)                                                          \
    static inline float name##_float(float a, float b, float c) { return float_expression; }                           \
    static inline double name##_double(double a, double b, double c) { return double_expression; }                     \
    static void name##_16(struct blr_spirv_batch *batch, const struct blr_spirv_op *op, unsigned char *result)         \
    {                                                                                                                  \
        uint16_t *restrict r = (uint16_t *)result;                                                                     \
        const uint16_t *x = blr_register(batch, op->in[0]), *y = blr_register(batch, op->in[1]);                       \
        const uint16_t *z = blr_register(batch, op->in[2]);                                                            \
        BLR_FOR_ELEMENTS(op, i)                                                                                        \
        r[i] = blr_lane_to_half_from_double(                                                                           \
            name##_double(blr_lane_from_half(x[i]), blr_lane_from_half(y[i]), blr_lane_from_half(z[i])));              \
    }                                                                                                                  \
    BLR_TERNARY(name##_32, float, float, name##_float(a, b, c))                                                        \
    BLR_TERNARY(name##_64, double, double, name##_double(a, b, c))

/* sin(pi x) and the like, exact where the result is 0 or 1. */
static double reduce_angle(double a, double *sign)
{
    double rest = fmod(fabs(a), 2.0);
    *sign = rest >= 1.0 ? -1.0 : 1.0;
    return rest >= 1.0 ? rest - 1.0 : rest;
}
static double sin_pi(double a)
{
    double sign, r = reduce_angle(a, &sign);
    if (isinf(a) || isnan(a))
        return NAN;
    if (r == 0)
        return copysign(0.0, a);
    return copysign(1.0, a) * sign * (r > 0.5 ? sin(PI * (1.0 - r)) : sin(PI * r));
}
static double cos_pi(double a)
{
    double sign, r = reduce_angle(a, &sign);
    if (isinf(a) || isnan(a))
        return NAN;
    if (r > 0.25 && r < 0.75)
        return r == 0.5 ? 0.0 : sign * sin(PI * (0.5 - r)); /* exact differences, unlike the cosine of a rounded product */
    return sign * (r > 0.5 ? -cos(PI * (1.0 - r)) : cos(PI * r));
}
static double root(double x) { return sqrt(x); }
static double pow_real(double a, double b) { return a < 0 ? NAN : isnan(a) || isnan(b) ? NAN : pow(a, b); }
static double smooth(double low, double high, double x)
{
    double t = (x - low) / (high - low);
    t = t < 0 ? 0 : t > 1 ? 1 : t;
    return t * t * (3 - 2 * t);
}
/* Fused and separate products as in a GPU's library. */
static float smooth_float(float low, float high, float x)
{
    float t = (x - low) / (high - low);
    t = t > 0.0f ? t : 0.0f;
    t = t < 1.0f ? t : 1.0f;
    return t * t * fmaf(t, -2.0f, 3.0f);
}
/* NaN only when both are. */
#define LARGER(a, b) ((b) != (b) ? (a) : (a) < (b) || (a) != (a) ? (b) : (a))
#define SMALLER(a, b) ((b) != (b) ? (a) : (a) > (b) || (a) != (a) ? (b) : (a))

#define EXACT_1(name, suffix_float, suffix_double)                                                                     \
    static void name##_16(struct blr_spirv_batch *batch, const struct blr_spirv_op *op, unsigned char *result)         \
    {                                                                                                                  \
        uint16_t *restrict r = (uint16_t *)result;                                                                     \
        const uint16_t *x = blr_register(batch, op->in[0]);                                                            \
        BLR_FOR_ELEMENTS(op, i) r[i] = blr_lane_to_half(suffix_float(blr_lane_from_half(x[i])));                       \
    }                                                                                                                  \
    BLR_UNARY(name##_32, float, float, suffix_float(a))                                                                \
    BLR_UNARY(name##_64, double, double, suffix_double(a))

EXACT_1(ceiling, ceilf, ceil)
EXACT_1(floored, floorf, floor)
EXACT_1(truncated, truncf, trunc)
EXACT_1(rounded, roundf, round)
EXACT_1(to_even, rintf, rint)
EXACT_1(square_root, sqrtf, sqrt)
BLR_UNARY(magnitude_16, uint16_t, uint16_t, a & 0x7fffu)
BLR_UNARY(magnitude_32, uint32_t, uint32_t, a & 0x7fffffffu)
BLR_UNARY(magnitude_64, uint64_t, uint64_t, a & 0x7fffffffffffffffu)
BLR_BINARY(copy_sign_16, uint16_t, uint16_t, (a & 0x7fffu) | (b & 0x8000u))
BLR_BINARY(copy_sign_32, uint32_t, uint32_t, (a & 0x7fffffffu) | (b & 0x80000000u))
BLR_BINARY(copy_sign_64, uint64_t, uint64_t, (a & 0x7fffffffffffffffu) | (b & 0x8000000000000000u))

FUNCTION_1(arc_cosine, acos(a))
FUNCTION_1(arc_cosine_h, acosh(a))
FUNCTION_1(arc_cosine_pi, acos(a) / PI)
FUNCTION_1(arc_sine, asin(a))
FUNCTION_1(arc_sine_h, asinh(a))
FUNCTION_1(arc_sine_pi, asin(a) / PI)
FUNCTION_1(arc_tangent, atan(a))
FUNCTION_1(arc_tangent_h, atanh(a))
FUNCTION_1(arc_tangent_pi, atan(a) / PI)
FUNCTION_2(arc_tangent_2, atan2(a, b))
FUNCTION_2(arc_tangent_2_pi, atan2(a, b) / PI)
FUNCTION_1(cube_root, cbrt(a))
FUNCTION_1(cosine, cos(a))
FUNCTION_1(cosine_h, cosh(a))
FUNCTION_1(cosine_pi, cos_pi(a))
FUNCTION_1(error_c, erfc(a))
FUNCTION_1(error, erf(a))
FUNCTION_1(exponential, exp(a))
FUNCTION_1(exponential_2, exp2(a))
FUNCTION_1(exponential_10, pow(10.0, a))
FUNCTION_1(exponential_m1, expm1(a))
FUNCTION_2(positive_difference, fdim(a, b))
FUNCTION_2(larger, LARGER(a, b))
FUNCTION_2(smaller, SMALLER(a, b))
FUNCTION_2(remainder_c, fmod(a, b))
FUNCTION_2(hypotenuse, hypot(a, b))
FUNCTION_1(log_gamma, lgamma(a))
FUNCTION_1(logarithm, log(a))
FUNCTION_1(logarithm_2, log2(a))
FUNCTION_1(logarithm_10, log10(a))
FUNCTION_1(logarithm_1p, log1p(a))
FUNCTION_1(exponent, logb(a))
FUNCTION_2(larger_magnitude, fabs(a) > fabs(b) ? a : fabs(b) > fabs(a) ? b : LARGER(a, b))
FUNCTION_2(smaller_magnitude, fabs(a) < fabs(b) ? a : fabs(b) < fabs(a) ? b : SMALLER(a, b))
FUNCTION_2(power, pow(a, b))
FUNCTION_2(power_real, pow_real(a, b))
FUNCTION_2(remainder_ieee, remainder(a, b))
FUNCTION_1(reciprocal_root, 1.0 / root(a))
FUNCTION_1(sine, sin(a))
FUNCTION_1(sine_h, sinh(a))
FUNCTION_1(sine_pi, sin_pi(a))
FUNCTION_1(tangent, tan(a))
FUNCTION_1(tangent_h, tanh(a))
FUNCTION_1(tangent_pi, sin_pi(a) / cos_pi(a))
FUNCTION_1(gamma, tgamma(a))
FUNCTION_2(quotient, a / b)
FUNCTION_1(reciprocal, 1.0 / a)
FUNCTION_1(to_degrees, a *(180.0 / PI))
FUNCTION_1(to_radians, a *(PI / 180.0))
FUNCTION_2(stepped, b < a ? 0.0 : 1.0)
FUNCTION_1(sign_of, a > 0 ? 1.0 : a < 0 ? -1.0 : a == 0 ? a : 0.0)
FUNCTION_3(fused, fmaf(a, b, c), fma(a, b, c))
FUNCTION_3(multiply_add, fmaf(a, b, c), fma(a, b, c))
FUNCTION_3(clamped, SMALLER(LARGER(a, b), c), SMALLER(LARGER(a, b), c))
FUNCTION_3(mixed, fmaf(b - a, c, a), fma(b - a, c, a))
FUNCTION_3(smooth_step, smooth_float(a, b, c), smooth(a, b, c))

/* The next half in the direction of b. */
static inline uint16_t next_half(uint16_t a, uint16_t b)
{
    float x = blr_lane_from_half(a), y = blr_lane_from_half(b);
    if (x != x || y != y)
        return 0x7e00u;
    if (x == y)
        return b;
    if (x == 0)
        return y > 0 ? 0x0001u : 0x8001u;
    return (uint16_t)((x < y) == (x > 0) ? a + 1 : a - 1);
}
BLR_BINARY(next_16, uint16_t, uint16_t, next_half(a, b))
BLR_BINARY(next_32, float, float, nextafterf(a, b))
BLR_BINARY(next_64, double, double, nextafter(a, b))

#define F(number, operands, label, name) {number, operands, BLR_TYPE_FLOAT, label, {NULL, name##_16, name##_32, name##_64}}

const struct blr_spirv_extended blr_spirv_float_functions[] = {
    F(0, 1, "acos", arc_cosine),
    F(1, 1, "acosh", arc_cosine_h),
    F(2, 1, "acospi", arc_cosine_pi),
    F(3, 1, "asin", arc_sine),
    F(4, 1, "asinh", arc_sine_h),
    F(5, 1, "asinpi", arc_sine_pi),
    F(6, 1, "atan", arc_tangent),
    F(7, 2, "atan2", arc_tangent_2),
    F(8, 1, "atanh", arc_tangent_h),
    F(9, 1, "atanpi", arc_tangent_pi),
    F(10, 2, "atan2pi", arc_tangent_2_pi),
    F(11, 1, "cbrt", cube_root),
    F(12, 1, "ceil", ceiling),
    F(13, 2, "copysign", copy_sign),
    F(14, 1, "cos", cosine),
    F(15, 1, "cosh", cosine_h),
    F(16, 1, "cospi", cosine_pi),
    F(17, 1, "erfc", error_c),
    F(18, 1, "erf", error),
    F(19, 1, "exp", exponential),
    F(20, 1, "exp2", exponential_2),
    F(21, 1, "exp10", exponential_10),
    F(22, 1, "expm1", exponential_m1),
    F(23, 1, "fabs", magnitude),
    F(24, 2, "fdim", positive_difference),
    F(25, 1, "floor", floored),
    F(26, 3, "fma", fused),
    F(27, 2, "fmax", larger),
    F(28, 2, "fmin", smaller),
    F(29, 2, "fmod", remainder_c),
    F(32, 2, "hypot", hypotenuse),
    F(35, 1, "lgamma", log_gamma),
    F(37, 1, "log", logarithm),
    F(38, 1, "log2", logarithm_2),
    F(39, 1, "log10", logarithm_10),
    F(40, 1, "log1p", logarithm_1p),
    F(41, 1, "logb", exponent),
    F(42, 3, "mad", multiply_add),
    F(43, 2, "maxmag", larger_magnitude),
    F(44, 2, "minmag", smaller_magnitude),
    F(47, 2, "nextafter", next),
    F(48, 2, "pow", power),
    F(50, 2, "powr", power_real),
    F(51, 2, "remainder", remainder_ieee),
    F(53, 1, "rint", to_even),
    F(55, 1, "round", rounded),
    F(56, 1, "rsqrt", reciprocal_root),
    F(57, 1, "sin", sine),
    F(59, 1, "sinh", sine_h),
    F(60, 1, "sinpi", sine_pi),
    F(61, 1, "sqrt", square_root),
    F(62, 1, "tan", tangent),
    F(63, 1, "tanh", tangent_h),
    F(64, 1, "tanpi", tangent_pi),
    F(65, 1, "tgamma", gamma),
    F(66, 1, "trunc", truncated),
    F(67, 1, "half_cos", cosine),
    F(68, 2, "half_divide", quotient),
    F(69, 1, "half_exp", exponential),
    F(70, 1, "half_exp2", exponential_2),
    F(71, 1, "half_exp10", exponential_10),
    F(72, 1, "half_log", logarithm),
    F(73, 1, "half_log2", logarithm_2),
    F(74, 1, "half_log10", logarithm_10),
    F(75, 2, "half_powr", power_real),
    F(76, 1, "half_recip", reciprocal),
    F(77, 1, "half_rsqrt", reciprocal_root),
    F(78, 1, "half_sin", sine),
    F(79, 1, "half_sqrt", square_root),
    F(80, 1, "half_tan", tangent),
    F(81, 1, "native_cos", cosine),
    F(82, 2, "native_divide", quotient),
    F(83, 1, "native_exp", exponential),
    F(84, 1, "native_exp2", exponential_2),
    F(85, 1, "native_exp10", exponential_10),
    F(86, 1, "native_log", logarithm),
    F(87, 1, "native_log2", logarithm_2),
    F(88, 1, "native_log10", logarithm_10),
    F(89, 2, "native_powr", power_real),
    F(90, 1, "native_recip", reciprocal),
    F(91, 1, "native_rsqrt", reciprocal_root),
    F(92, 1, "native_sin", sine),
    F(93, 1, "native_sqrt", square_root),
    F(94, 1, "native_tan", tangent),
    F(95, 3, "fclamp", clamped),
    F(96, 1, "degrees", to_degrees),
    F(97, 2, "fmax_common", larger),
    F(98, 2, "fmin_common", smaller),
    F(99, 3, "mix", mixed),
    F(100, 1, "radians", to_radians),
    F(101, 2, "step", stepped),
    F(102, 3, "smoothstep", smooth_step),
    F(103, 1, "sign", sign_of),
};
const unsigned blr_spirv_float_function_count = sizeof blr_spirv_float_functions / sizeof *blr_spirv_float_functions;
