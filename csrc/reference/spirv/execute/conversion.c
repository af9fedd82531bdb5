/* Conversions between integers and floats of all sizes. A float out of an integer's range saturates, and NaN gives
 * 0, as on GPUs. */
#include "spirv/half.h"
#include "spirv/execute/lane_operations.h"

#include <limits.h>

/* ---------------------------------------------------------------- integers to integers */

#define RESIZE(kind, letter, from, to) BLR_UNARY(resize_##letter##_##from##_##to, kind##to##_t, kind##from##_t, (kind##to##_t)a)
#define RESIZES(kind, letter)                                                                                          \
    RESIZE(kind, letter, 8, 16) RESIZE(kind, letter, 8, 32) RESIZE(kind, letter, 8, 64) RESIZE(kind, letter, 16, 8)    \
    RESIZE(kind, letter, 16, 32) RESIZE(kind, letter, 16, 64) RESIZE(kind, letter, 32, 8)                              \
    RESIZE(kind, letter, 32, 16) RESIZE(kind, letter, 32, 64) RESIZE(kind, letter, 64, 8)                              \
    RESIZE(kind, letter, 64, 16) RESIZE(kind, letter, 64, 32)
RESIZES(uint, u)
RESIZES(int, s)
BLR_UNARY(keep_8, uint8_t, uint8_t, a)
BLR_UNARY(keep_16, uint16_t, uint16_t, a)
BLR_UNARY(keep_32, uint32_t, uint32_t, a)
BLR_UNARY(keep_64, uint64_t, uint64_t, a)

#define RESIZE_TABLE(letter)                                                                                           \
    {                                                                                                                  \
        {keep_8, resize_##letter##_8_16, resize_##letter##_8_32, resize_##letter##_8_64},                              \
            {resize_##letter##_16_8, keep_16, resize_##letter##_16_32, resize_##letter##_16_64},                       \
            {resize_##letter##_32_8, resize_##letter##_32_16, keep_32, resize_##letter##_32_64},                       \
        {                                                                                                              \
            resize_##letter##_64_8, resize_##letter##_64_16, resize_##letter##_64_32, keep_64                          \
        }                                                                                                              \
    }

static const blr_spirv_run_t unsigned_sizes[4][4] = RESIZE_TABLE(u);
static const blr_spirv_run_t signed_sizes[4][4] = RESIZE_TABLE(s);

/* ---------------------------------------------------------------- saturating conversions */

static inline bool above(uint64_t value, uint64_t limit) { return value > limit; }

#define SATURATE_U(from, to, high)                                                                                     \
    BLR_UNARY(saturate_u_##from##_##to, uint##to##_t, int##from##_t,                                                     \
            a < 0 ? 0 : above((uint64_t)a, high) ? (uint##to##_t)(high) : (uint##to##_t)a)
#define SATURATE_S(from, to, high)                                                                                     \
    BLR_UNARY(saturate_s_##from##_##to, int##to##_t, uint##from##_t,                                                     \
            above(a, (uint64_t)(high)) ? (int##to##_t)(high) : (int##to##_t)a)
#define SATURATES(from)                                                                                                \
    SATURATE_U(from, 8, UINT8_MAX) SATURATE_U(from, 16, UINT16_MAX) SATURATE_U(from, 32, UINT32_MAX)                   \
    SATURATE_U(from, 64, UINT64_MAX) SATURATE_S(from, 8, INT8_MAX) SATURATE_S(from, 16, INT16_MAX)                     \
    SATURATE_S(from, 32, INT32_MAX) SATURATE_S(from, 64, INT64_MAX)
SATURATES(8)
SATURATES(16)
SATURATES(32)
SATURATES(64)

#define SATURATE_TABLE(letter)                                                                                         \
    {                                                                                                                  \
        {saturate_##letter##_8_8, saturate_##letter##_8_16, saturate_##letter##_8_32, saturate_##letter##_8_64},       \
            {saturate_##letter##_16_8, saturate_##letter##_16_16, saturate_##letter##_16_32,                           \
             saturate_##letter##_16_64},                                                                               \
            {saturate_##letter##_32_8, saturate_##letter##_32_16, saturate_##letter##_32_32,                           \
             saturate_##letter##_32_64},                                                                               \
        {                                                                                                              \
            saturate_##letter##_64_8, saturate_##letter##_64_16, saturate_##letter##_64_32, saturate_##letter##_64_64  \
        }                                                                                                              \
    }

static const blr_spirv_run_t saturate_to_unsigned[4][4] = SATURATE_TABLE(u);
static const blr_spirv_run_t saturate_to_signed[4][4] = SATURATE_TABLE(s);

/* ---------------------------------------------------------------- floats to integers */

/* The bounds are powers of two, hence exact in every float type: high is the first number too large. */
#define FLOAT_TO(R, value, low, high, largest)                                                                         \
    ((value) != (value) ? (R)0 : (value) < (low) ? (R)(low) : (value) >= (high) ? (largest) : (R)(value))

#define TO_INTEGER(bits, low_s, high_s, high_u)                                                                        \
    BLR_UNARY(half_to_s##bits, int##bits##_t, uint16_t,                                                                  \
            FLOAT_TO(int##bits##_t, blr_lane_from_half(a), low_s, high_s, INT##bits##_MAX))                            \
    BLR_UNARY(half_to_u##bits, uint##bits##_t, uint16_t,                                                                 \
            FLOAT_TO(uint##bits##_t, blr_lane_from_half(a), 0, high_u, UINT##bits##_MAX))                              \
    BLR_UNARY(float_to_s##bits, int##bits##_t, float, FLOAT_TO(int##bits##_t, a, low_s, high_s, INT##bits##_MAX))        \
    BLR_UNARY(float_to_u##bits, uint##bits##_t, float, FLOAT_TO(uint##bits##_t, a, 0, high_u, UINT##bits##_MAX))         \
    BLR_UNARY(double_to_s##bits, int##bits##_t, double, FLOAT_TO(int##bits##_t, a, low_s, high_s, INT##bits##_MAX))      \
    BLR_UNARY(double_to_u##bits, uint##bits##_t, double, FLOAT_TO(uint##bits##_t, a, 0, high_u, UINT##bits##_MAX))
TO_INTEGER(8, -0x1p7f, 0x1p7f, 0x1p8f)
TO_INTEGER(16, -0x1p15f, 0x1p15f, 0x1p16f)
TO_INTEGER(32, -0x1p31f, 0x1p31f, 0x1p32f)
TO_INTEGER(64, -0x1p63f, 0x1p63f, 0x1p64f)

/* From half, float, double; to 8, 16, 32, 64 bits. */
static const blr_spirv_run_t float_to_signed[3][4] = {
    {half_to_s8, half_to_s16, half_to_s32, half_to_s64},
    {float_to_s8, float_to_s16, float_to_s32, float_to_s64},
    {double_to_s8, double_to_s16, double_to_s32, double_to_s64},
};
static const blr_spirv_run_t float_to_unsigned[3][4] = {
    {half_to_u8, half_to_u16, half_to_u32, half_to_u64},
    {float_to_u8, float_to_u16, float_to_u32, float_to_u64},
    {double_to_u8, double_to_u16, double_to_u32, double_to_u64},
};

/* ---------------------------------------------------------------- integers to floats */

/* 64-bit integers convert to half through float without double rounding: half overflows to infinity long before
 * float is inexact. */
#define FROM_INTEGER(kind, letter, bits)                                                                               \
    BLR_UNARY(letter##bits##_to_half, uint16_t, kind##bits##_t, blr_lane_to_half((float)a))                              \
    BLR_UNARY(letter##bits##_to_float, float, kind##bits##_t, (float)a)                                                  \
    BLR_UNARY(letter##bits##_to_double, double, kind##bits##_t, (double)a)
FROM_INTEGER(int, s, 8)
FROM_INTEGER(int, s, 16)
FROM_INTEGER(int, s, 32)
FROM_INTEGER(int, s, 64)
FROM_INTEGER(uint, u, 8)
FROM_INTEGER(uint, u, 16)
FROM_INTEGER(uint, u, 32)
FROM_INTEGER(uint, u, 64)

#define FROM_TABLE(letter)                                                                                             \
    {                                                                                                                  \
        {letter##8_to_half, letter##8_to_float, letter##8_to_double},                                                  \
            {letter##16_to_half, letter##16_to_float, letter##16_to_double},                                           \
            {letter##32_to_half, letter##32_to_float, letter##32_to_double},                                           \
        {                                                                                                              \
            letter##64_to_half, letter##64_to_float, letter##64_to_double                                              \
        }                                                                                                              \
    }

static const blr_spirv_run_t signed_to_float[4][3] = FROM_TABLE(s);
static const blr_spirv_run_t unsigned_to_float[4][3] = FROM_TABLE(u);

/* ---------------------------------------------------------------- floats to floats */

BLR_UNARY(half_to_float, float, uint16_t, blr_lane_from_half(a))
BLR_UNARY(half_to_double, double, uint16_t, (double)blr_lane_from_half(a))
BLR_UNARY(float_to_half, uint16_t, float, blr_lane_to_half(a))
BLR_UNARY(float_to_double, double, float, (double)a)
BLR_UNARY(double_to_half, uint16_t, double, blr_lane_to_half_from_double(a))
BLR_UNARY(double_to_float, float, double, (float)a)
BLR_UNARY(quantize, float, float, blr_lane_from_half(blr_lane_to_half(a)))

static const blr_spirv_run_t float_sizes[3][3] = {
    {keep_16, half_to_float, half_to_double},
    {float_to_half, keep_32, float_to_double},
    {double_to_half, double_to_float, keep_64},
};

blr_spirv_run_t blr_spirv_conversion(unsigned opcode, uint32_t from, uint32_t to)
{
    unsigned a = blr_size_index(from), b = blr_size_index(to);
    switch (opcode) {
    case BLR_OP_UConvert:
    case BLR_OP_ConvertPtrToU:
    case BLR_OP_ConvertUToPtr: return unsigned_sizes[a][b];
    case BLR_OP_SConvert: return signed_sizes[a][b];
    case BLR_OP_SatConvertSToU: return saturate_to_unsigned[a][b];
    case BLR_OP_SatConvertUToS: return saturate_to_signed[a][b];
    case BLR_OP_ConvertFToU: return a > 0 ? float_to_unsigned[a - 1][b] : NULL;
    case BLR_OP_ConvertFToS: return a > 0 ? float_to_signed[a - 1][b] : NULL;
    case BLR_OP_ConvertUToF: return b > 0 ? unsigned_to_float[a][b - 1] : NULL;
    case BLR_OP_ConvertSToF: return b > 0 ? signed_to_float[a][b - 1] : NULL;
    case BLR_OP_FConvert: return a > 0 && b > 0 ? float_sizes[a - 1][b - 1] : NULL;
    case BLR_OP_QuantizeToF16: return from == 4 && to == 4 ? quantize : NULL;
    default: return NULL;
    }
}
