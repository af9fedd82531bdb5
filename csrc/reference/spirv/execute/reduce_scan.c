/* Reductions and scans: the step functions of each operation and type. */
#include "spirv/execute/reduce_scan.h"

#include "spirv/half.h"

#include <math.h>
#include <string.h>

#define FOLD(name, T, W, GET, PUT, start, expression)                                                                  \
    static void name(const void *values, void *results, uint64_t lanes, enum blr_fold_step step, void *carry)          \
    {                                                                                                                  \
        const T *x = values;                                                                                           \
        T *r = results;                                                                                                \
        W a = (W)(start);                                                                                              \
        if (step != BLR_FOLD_START)                                                                                    \
            memcpy(&a, carry, sizeof a);                                                                               \
        for (uint64_t rest = step == BLR_FOLD_START ? 0 : lanes; rest != 0; rest &= rest - 1) {                        \
            const uint32_t i = (uint32_t)__builtin_ctzll(rest);                                                        \
            if (step == BLR_FOLD_EXCLUSIVE || step == BLR_FOLD_SPREAD)                                                 \
                r[i] = PUT(a);                                                                                         \
            if (step == BLR_FOLD_SPREAD)                                                                               \
                continue;                                                                                              \
            const W b = GET(x[i]);                                                                                     \
            a = (W)(expression);                                                                                       \
            if (step == BLR_FOLD_INCLUSIVE)                                                                            \
                r[i] = PUT(a);                                                                                         \
        }                                                                                                              \
        memcpy(carry, &a, sizeof a);                                                                                   \
    }
#define SAME(value) (value)
#define UNSIGNED(name, start, expression)                                                                              \
    FOLD(name##_8, uint8_t, uint8_t, SAME, SAME, start, expression)                                                    \
    FOLD(name##_16, uint16_t, uint16_t, SAME, SAME, start, expression)                                                 \
    FOLD(name##_32, uint32_t, uint32_t, SAME, SAME, start, expression)                                                 \
    FOLD(name##_64, uint64_t, uint64_t, SAME, SAME, start, expression)
#define SIGNED(name, start, expression)                                                                                \
    FOLD(name##_8, int8_t, int8_t, SAME, SAME, start##8##_END, expression)                                             \
    FOLD(name##_16, int16_t, int16_t, SAME, SAME, start##16##_END, expression)                                         \
    FOLD(name##_32, int32_t, int32_t, SAME, SAME, start##32##_END, expression)                                         \
    FOLD(name##_64, int64_t, int64_t, SAME, SAME, start##64##_END, expression)
#define LOW_8_END INT8_MIN
#define LOW_16_END INT16_MIN
#define LOW_32_END INT32_MIN
#define LOW_64_END INT64_MIN
#define HIGH_8_END INT8_MAX
#define HIGH_16_END INT16_MAX
#define HIGH_32_END INT32_MAX
#define HIGH_64_END INT64_MAX
#define FLOATS(name, start, expression)                                                                                \
    FOLD(name##_16, uint16_t, float, blr_lane_from_half, blr_lane_to_half, start, expression)                          \
    FOLD(name##_32, float, float, SAME, SAME, start, expression)                                                       \
    FOLD(name##_64, double, double, SAME, SAME, start, expression)

UNSIGNED(sum, 0, a + b)
UNSIGNED(product, 1, (uint64_t)a *b)
UNSIGNED(both, UINT64_MAX, a &b)
UNSIGNED(either, 0, a | b)
UNSIGNED(differ, 0, a ^ b)
UNSIGNED(least, UINT64_MAX, a < b ? a : b)
UNSIGNED(most, 0, a > b ? a : b)
SIGNED(signed_least, HIGH_, a < b ? a : b)
SIGNED(signed_most, LOW_, a > b ? a : b)
FLOATS(float_sum, 0, a + b)
FLOATS(float_product, 1, a *b)
FLOATS(float_least, INFINITY, b < a ? b : a)
FLOATS(float_most, -INFINITY, b > a ? b : a)
FOLD(all_hold, uint8_t, uint8_t, SAME, SAME, 1, a &b)

#define ALL(name) {name##_8, name##_16, name##_32, name##_64}
#define WIDE(name) {NULL, name##_16, name##_32, name##_64}

static const struct blr_fold folds[] = {
    {BLR_OP_GroupIAdd, BLR_TYPE_INT, ALL(sum)},
    {BLR_OP_GroupFAdd, BLR_TYPE_FLOAT, WIDE(float_sum)},
    {BLR_OP_GroupFMin, BLR_TYPE_FLOAT, WIDE(float_least)},
    {BLR_OP_GroupUMin, BLR_TYPE_INT, ALL(least)},
    {BLR_OP_GroupSMin, BLR_TYPE_INT, ALL(signed_least)},
    {BLR_OP_GroupFMax, BLR_TYPE_FLOAT, WIDE(float_most)},
    {BLR_OP_GroupUMax, BLR_TYPE_INT, ALL(most)},
    {BLR_OP_GroupSMax, BLR_TYPE_INT, ALL(signed_most)},
    {BLR_OP_GroupIMulKHR, BLR_TYPE_INT, ALL(product)},
    {BLR_OP_GroupFMulKHR, BLR_TYPE_FLOAT, WIDE(float_product)},
    {BLR_OP_GroupBitwiseAndKHR, BLR_TYPE_INT, ALL(both)},
    {BLR_OP_GroupBitwiseOrKHR, BLR_TYPE_INT, ALL(either)},
    {BLR_OP_GroupBitwiseXorKHR, BLR_TYPE_INT, ALL(differ)},
    {BLR_OP_GroupLogicalAndKHR, BLR_TYPE_BOOL, {all_hold}},
    {BLR_OP_GroupLogicalOrKHR, BLR_TYPE_BOOL, {either_8}},
    {BLR_OP_GroupLogicalXorKHR, BLR_TYPE_BOOL, {differ_8}},
    {BLR_OP_GroupNonUniformIAdd, BLR_TYPE_INT, ALL(sum)},
    {BLR_OP_GroupNonUniformFAdd, BLR_TYPE_FLOAT, WIDE(float_sum)},
    {BLR_OP_GroupNonUniformIMul, BLR_TYPE_INT, ALL(product)},
    {BLR_OP_GroupNonUniformFMul, BLR_TYPE_FLOAT, WIDE(float_product)},
    {BLR_OP_GroupNonUniformSMin, BLR_TYPE_INT, ALL(signed_least)},
    {BLR_OP_GroupNonUniformUMin, BLR_TYPE_INT, ALL(least)},
    {BLR_OP_GroupNonUniformFMin, BLR_TYPE_FLOAT, WIDE(float_least)},
    {BLR_OP_GroupNonUniformSMax, BLR_TYPE_INT, ALL(signed_most)},
    {BLR_OP_GroupNonUniformUMax, BLR_TYPE_INT, ALL(most)},
    {BLR_OP_GroupNonUniformFMax, BLR_TYPE_FLOAT, WIDE(float_most)},
    {BLR_OP_GroupNonUniformBitwiseAnd, BLR_TYPE_INT, ALL(both)},
    {BLR_OP_GroupNonUniformBitwiseOr, BLR_TYPE_INT, ALL(either)},
    {BLR_OP_GroupNonUniformBitwiseXor, BLR_TYPE_INT, ALL(differ)},
    {BLR_OP_GroupNonUniformLogicalAnd, BLR_TYPE_BOOL, {all_hold}},
    {BLR_OP_GroupNonUniformLogicalOr, BLR_TYPE_BOOL, {either_8}},
    {BLR_OP_GroupNonUniformLogicalXor, BLR_TYPE_BOOL, {differ_8}},
};

const struct blr_fold *blr_fold_of(unsigned opcode)
{
    for (unsigned row = 0; row < sizeof folds / sizeof *folds; row++)
        if (folds[row].opcode == opcode)
            return &folds[row];
    return NULL;
}
