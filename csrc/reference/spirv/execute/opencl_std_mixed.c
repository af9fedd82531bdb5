/* Functions of OpenCL.std with mixed types: float and integer operands, two results. */
#include "spirv/execute/opencl_std.h"
#include "spirv/execute/geometric.h"
#include "spirv/half.h"
#include "spirv/execute/lane_operations.h"

#include <limits.h>
#include <math.h>

/* Functions are written once for doubles and instantiated for halves, floats and doubles. */
static inline double get_half(uint16_t value) { return blr_lane_from_half(value); }
static inline double get_float(float value) { return value; }
static inline double get_double(double value) { return value; }
static inline uint16_t put_half(double value) { return blr_lane_to_half_from_double(value); }
static inline float put_float(double value) { return (float)value; }
static inline double put_double(double value) { return value; }

#define SIZES(X, name, ...)                                                                                            \
    X(name##_16, uint16_t, get_half, put_half, __VA_ARGS__)                                                            \
    X(name##_32, float, get_float, put_float, __VA_ARGS__)                                                             \
    X(name##_64, double, get_double, put_double, __VA_ARGS__)
#define RUN(name) static void name(struct blr_spirv_batch *batch, const struct blr_spirv_op *op, unsigned char *result)

/* Float from a float a. */
#define FROM_FLOAT(name, T, GET, PUT, expression)                                                                      \
    RUN(name)                                                                                                          \
    {                                                                                                                  \
        T *restrict r = (T *)result;                                                                                   \
        const T *x = blr_register(batch, op->in[0]);                                                                   \
        BLR_FOR_ELEMENTS(op, i)                                                                                        \
        {                                                                                                              \
            const double a = GET(x[i]);                                                                                \
            r[i] = PUT(expression);                                                                                    \
        }                                                                                                              \
    }
/* 32-bit integer from a float a. */
#define TO_INTEGER(name, T, GET, PUT, expression)                                                                      \
    RUN(name)                                                                                                          \
    {                                                                                                                  \
        int32_t *restrict r = (int32_t *)result;                                                                       \
        const T *x = blr_register(batch, op->in[0]);                                                                   \
        BLR_FOR_ELEMENTS(op, i)                                                                                        \
        {                                                                                                              \
            const double a = GET(x[i]);                                                                                \
            r[i] = expression;                                                                                         \
        }                                                                                                              \
    }
/* 32-bit integer from floats a and b. */
#define TO_INTEGER_2(name, T, GET, PUT, expression)                                                                    \
    RUN(name)                                                                                                          \
    {                                                                                                                  \
        int32_t *restrict r = (int32_t *)result;                                                                       \
        const T *x = blr_register(batch, op->in[0]), *y = blr_register(batch, op->in[1]);                              \
        BLR_FOR_ELEMENTS(op, i)                                                                                        \
        {                                                                                                              \
            const double a = GET(x[i]), b = GET(y[i]);                                                                 \
            r[i] = expression;                                                                                         \
        }                                                                                                              \
    }
/* Float from a float a and a 32-bit integer n. */
#define WITH_INTEGER(name, T, GET, PUT, expression)                                                                    \
    RUN(name)                                                                                                          \
    {                                                                                                                  \
        T *restrict r = (T *)result;                                                                                   \
        const T *x = blr_register(batch, op->in[0]);                                                                   \
        const int32_t *y = blr_register(batch, op->in[1]);                                                             \
        BLR_FOR_ELEMENTS(op, i)                                                                                        \
        {                                                                                                              \
            const double a = GET(x[i]);                                                                                \
            const int32_t n = y[i];                                                                                    \
            r[i] = PUT(expression);                                                                                    \
        }                                                                                                              \
    }

static int32_t exponent_of(double a)
{
    return a == 0 || a != a ? INT32_MIN : isinf(a) ? INT32_MAX : ilogb(a);
}
static double root_of(double a, int32_t n)
{
    if (n == 0 || (a < 0 && n % 2 == 0))
        return NAN;
    if (a < 0)
        return -pow(-a, 1.0 / n);
    return a == 0 && n % 2 != 0 ? copysign(n < 0 ? INFINITY : 0.0, a) : pow(a, 1.0 / n);
}
/* Fractional part, below 1. */
static double fraction_half(double a) { return isinf(a) ? copysign(0.0, a) : fmin(a - floor(a), 0x1.ffcp-1); }
static double fraction_float(double a) { return isinf(a) ? copysign(0.0, a) : fmin(a - floor(a), 0x1.fffffep-1); }
static double fraction_double(double a) { return isinf(a) ? copysign(0.0, a) : fmin(a - floor(a), 0x1.fffffffffffffp-1); }
static double mantissa(double a)
{
    int unused;
    return frexp(a, &unused);
}
static int32_t binary_exponent(double a)
{
    int exponent = 0;
    if (isfinite(a))
        frexp(a, &exponent);
    return exponent;
}
static double after_point(double a) { return isinf(a) ? copysign(0.0, a) : copysign(a - trunc(a), a); }
static int32_t gamma_sign(double a)
{
    if (a > 0)
        return 1;
    return a == floor(a) ? 0 : fmod(floor(a), 2.0) == 0 ? 1 : -1;
}
/* The seven low bits of the quotient that remainder() rounds, with its sign. */
static int32_t quotient_bits(double a, double b)
{
    double divisor = fabs(b), rest = fabs(a);
    if (!(divisor > 0) || !isfinite(rest))
        return 0;
    if (isfinite(128 * divisor))
        rest = fmod(rest, 128 * divisor);
    int32_t bits = (int32_t)rint((rest - remainder(rest, divisor)) / divisor) & 0x7f;
    return signbit(a) != signbit(b) ? -bits : bits;
}

FROM_FLOAT(fraction_16, uint16_t, get_half, put_half, fraction_half(a))
FROM_FLOAT(fraction_32, float, get_float, put_float, isnan(a) ? a : fraction_float(a))
FROM_FLOAT(fraction_64, double, get_double, put_double, isnan(a) ? a : fraction_double(a))
SIZES(FROM_FLOAT, floored, floor(a))
SIZES(FROM_FLOAT, mantissa_of, mantissa(a))
SIZES(TO_INTEGER, binary_exponent_of, binary_exponent(a))
SIZES(FROM_FLOAT, after_point_of, after_point(a))
SIZES(FROM_FLOAT, whole, trunc(a))
SIZES(FROM_FLOAT, sine, sin(a))
SIZES(FROM_FLOAT, cosine, cos(a))
SIZES(FROM_FLOAT, log_gamma, lgamma(a))
SIZES(TO_INTEGER, gamma_sign_of, gamma_sign(a))
SIZES(TO_INTEGER, log_exponent, exponent_of(a))
SIZES(TO_INTEGER_2, quotient, quotient_bits(a, b))
SIZES(WITH_INTEGER, scaled, ldexp(a, n))
SIZES(WITH_INTEGER, power, pow(a, n))
SIZES(WITH_INTEGER, root, root_of(a, n))

#define HALF_REMAINDER(name, T, GET, PUT, unused)                                                                      \
    RUN(name)                                                                                                          \
    {                                                                                                                  \
        T *restrict r = (T *)result;                                                                                   \
        const T *x = blr_register(batch, op->in[0]), *y = blr_register(batch, op->in[1]);                              \
        BLR_FOR_ELEMENTS(op, i) r[i] = PUT(remainder(GET(x[i]), GET(y[i])));                                           \
    }
SIZES(HALF_REMAINDER, ieee_remainder, 0)

BLR_UNARY(nan_16, uint16_t, uint16_t, 0x7e00u | (a & 0x1ffu))
BLR_UNARY(nan_32, uint32_t, uint32_t, 0x7fc00000u | (a & 0x3fffffu))
BLR_UNARY(nan_64, uint64_t, uint64_t, 0x7ff8000000000000u | (a & 0x7ffffffffffffu))

/* Lengths: the literal is the number of components; for halves, sums in double precision cannot overflow. Floats:
 * spirv/execute/geometric.c. */
#define LENGTH(name, T, GET, PUT, unused)                                                                              \
    RUN(name)                                                                                                          \
    {                                                                                                                  \
        T *restrict r = (T *)result;                                                                                   \
        const T *x = blr_register(batch, op->in[0]);                                                                   \
        for (uint32_t lane = 0; lane < BLR_LANES; lane++) {                                                            \
            double sum = 0;                                                                                            \
            for (uint32_t c = 0; c < op->literal; c++)                                                                 \
                sum += GET(x[c * BLR_LANES + lane]) * GET(x[c * BLR_LANES + lane]);                                    \
            r[lane] = PUT(sqrt(sum));                                                                                  \
        }                                                                                                              \
    }
#define DISTANCE(name, T, GET, PUT, unused)                                                                            \
    RUN(name)                                                                                                          \
    {                                                                                                                  \
        T *restrict r = (T *)result;                                                                                   \
        const T *x = blr_register(batch, op->in[0]), *y = blr_register(batch, op->in[1]);                              \
        for (uint32_t lane = 0; lane < BLR_LANES; lane++) {                                                            \
            double sum = 0;                                                                                            \
            for (uint32_t c = 0; c < op->literal; c++) {                                                               \
                double d = GET(x[c * BLR_LANES + lane]) - GET(y[c * BLR_LANES + lane]);                                \
                sum += d * d;                                                                                          \
            }                                                                                                          \
            r[lane] = PUT(sqrt(sum));                                                                                  \
        }                                                                                                              \
    }
#define NORMALIZED(name, T, GET, PUT, unused)                                                                          \
    RUN(name)                                                                                                          \
    {                                                                                                                  \
        T *restrict r = (T *)result;                                                                                   \
        const T *x = blr_register(batch, op->in[0]);                                                                   \
        for (uint32_t lane = 0; lane < BLR_LANES; lane++) {                                                            \
            double sum = 0;                                                                                            \
            for (uint32_t c = 0; c < op->literal; c++)                                                                 \
                sum += GET(x[c * BLR_LANES + lane]) * GET(x[c * BLR_LANES + lane]);                                    \
            for (uint32_t c = 0; c < op->literal; c++) {                                                               \
                double a = GET(x[c * BLR_LANES + lane]);                                                               \
                r[c * BLR_LANES + lane] = PUT(sum == 0 ? a : a / sqrt(sum));                                           \
            }                                                                                                          \
        }                                                                                                              \
    }
#define CROSS(name, T, GET, PUT, unused)                                                                               \
    RUN(name)                                                                                                          \
    {                                                                                                                  \
        T *restrict r = (T *)result;                                                                                   \
        const T *x = blr_register(batch, op->in[0]), *y = blr_register(batch, op->in[1]);                              \
        for (uint32_t i = 0; i < op->count; i++) {                                                                     \
            uint32_t c = i / BLR_LANES, lane = i % BLR_LANES;                                                          \
            uint32_t j = (c + 1) % 3 * BLR_LANES + lane, k = (c + 2) % 3 * BLR_LANES + lane;                           \
            r[i] = PUT(c == 3 ? 0.0 : GET(x[j]) * GET(y[k]) - GET(x[k]) * GET(y[j]));                                  \
        }                                                                                                              \
    }
LENGTH(length_16, uint16_t, get_half, put_half, 0)
LENGTH(length_64, double, get_double, put_double, 0)
DISTANCE(distance_16, uint16_t, get_half, put_half, 0)
DISTANCE(distance_64, double, get_double, put_double, 0)
NORMALIZED(normalized_16, uint16_t, get_half, put_half, 0)
NORMALIZED(normalized_64, double, get_double, put_double, 0)
CROSS(cross_16, uint16_t, get_half, put_half, 0)
CROSS(cross_64, double, get_double, put_double, 0)

#define BITS(X, name, expression)                                                                                      \
    X(name##_8, uint8_t, uint8_t, expression)                                                                          \
    X(name##_16, uint16_t, uint16_t, expression)                                                                       \
    X(name##_32, uint32_t, uint32_t, expression)                                                                       \
    X(name##_64, uint64_t, uint64_t, expression)
BITS(BLR_TERNARY, bit_select, (a & ~c) | (b & c))
/* The highest bit of the third operand selects. */
BITS(BLR_TERNARY, high_select, c >> (sizeof(c) * CHAR_BIT - 1) ? b : a)
/* For scalars, a nonzero third operand selects. */
BITS(BLR_TERNARY, select, c != 0 ? b : a)

#define UPSAMPLE(name, R, T)                                                                                           \
    RUN(name)                                                                                                          \
    {                                                                                                                  \
        R *restrict r = (R *)result;                                                                                   \
        const T *x = blr_register(batch, op->in[0]), *y = blr_register(batch, op->in[1]);                              \
        BLR_FOR_ELEMENTS(op, i) r[i] = (R)((R)x[i] << (sizeof(T) * CHAR_BIT) | y[i]);                                  \
    }
UPSAMPLE(upsample_8, uint16_t, uint8_t)
UPSAMPLE(upsample_16, uint32_t, uint16_t)
UPSAMPLE(upsample_32, uint64_t, uint32_t)

#define FLOATS(name) {NULL, name##_16, name##_32, name##_64}
#define ALL(name) {name##_8, name##_16, name##_32, name##_64}

static const blr_spirv_run_t table[][4] = {
    [BLR_MIXED_FRACTION] = FLOATS(fraction),
    [BLR_MIXED_FLOOR] = FLOATS(floored),
    [BLR_MIXED_MANTISSA] = FLOATS(mantissa_of),
    [BLR_MIXED_BINARY_EXPONENT] = FLOATS(binary_exponent_of),
    [BLR_MIXED_AFTER_POINT] = FLOATS(after_point_of),
    [BLR_MIXED_WHOLE] = FLOATS(whole),
    [BLR_MIXED_SINE] = FLOATS(sine),
    [BLR_MIXED_COSINE] = FLOATS(cosine),
    [BLR_MIXED_LOG_GAMMA] = FLOATS(log_gamma),
    [BLR_MIXED_GAMMA_SIGN] = FLOATS(gamma_sign_of),
    [BLR_MIXED_LOG_EXPONENT] = FLOATS(log_exponent),
    [BLR_MIXED_REMAINDER] = FLOATS(ieee_remainder),
    [BLR_MIXED_QUOTIENT] = FLOATS(quotient),
    [BLR_MIXED_SCALED] = FLOATS(scaled),
    [BLR_MIXED_POWER] = FLOATS(power),
    [BLR_MIXED_ROOT] = FLOATS(root),
    [BLR_MIXED_NAN] = FLOATS(nan),
    [BLR_MIXED_LENGTH] = {NULL, length_16, blr_spirv_length_float, length_64},
    [BLR_MIXED_DISTANCE] = {NULL, distance_16, blr_spirv_distance_float, distance_64},
    [BLR_MIXED_NORMALIZED] = {NULL, normalized_16, blr_spirv_normalized_float, normalized_64},
    [BLR_MIXED_CROSS] = {NULL, cross_16, blr_spirv_cross_float, cross_64},
    [BLR_MIXED_BIT_SELECT] = ALL(bit_select),
    [BLR_MIXED_HIGH_SELECT] = ALL(high_select),
    [BLR_MIXED_SELECT] = ALL(select),
    [BLR_MIXED_UPSAMPLE] = {upsample_8, upsample_16, upsample_32, NULL},
};

blr_spirv_run_t blr_spirv_mixed(enum blr_spirv_mixed function, uint32_t size)
{
    return table[function][blr_size_index(size)];
}
