/* Elementwise operations on integers and booleans. Cases that OpenCL leaves undefined are defined here: division by
 * zero gives 0 or the dividend, shift counts are modulo the width. */
#include "spirv/execute/opencl_std.h"
#include "spirv/execute/lane_operations.h"

#include <limits.h>

#define UNSIGNED(X, name, expression)                                                                                  \
    X(name##_8, uint8_t, uint8_t, expression)                                                                          \
    X(name##_16, uint16_t, uint16_t, expression)                                                                       \
    X(name##_32, uint32_t, uint32_t, expression)                                                                       \
    X(name##_64, uint64_t, uint64_t, expression)
#define SIGNED(X, name, expression)                                                                                    \
    X(name##_8, int8_t, int8_t, expression)                                                                            \
    X(name##_16, int16_t, int16_t, expression)                                                                         \
    X(name##_32, int32_t, int32_t, expression)                                                                         \
    X(name##_64, int64_t, int64_t, expression)
#define TEST(X, kind, name, expression)                                                                                \
    X(name##_8, uint8_t, kind##8_t, expression)                                                                        \
    X(name##_16, uint8_t, kind##16_t, expression)                                                                      \
    X(name##_32, uint8_t, kind##32_t, expression)                                                                      \
    X(name##_64, uint8_t, kind##64_t, expression)

UNSIGNED(BLR_BINARY, add, a + b)
UNSIGNED(BLR_BINARY, subtract, a - b)
BLR_BINARY(multiply_8, uint8_t, uint8_t, a *b)
BLR_BINARY(multiply_16, uint16_t, uint16_t, (uint32_t)a *b)
BLR_BINARY(multiply_32, uint32_t, uint32_t, a *b)
BLR_BINARY(multiply_64, uint64_t, uint64_t, a *b)
UNSIGNED(BLR_BINARY, divide_unsigned, b == 0 ? 0 : a / b)
UNSIGNED(BLR_BINARY, remainder_unsigned, b == 0 ? a : a % b)
/* The smallest number divided by -1 stays unchanged. */
SIGNED(BLR_BINARY, divide_signed, b == 0 ? 0 : b == -1 ? (int64_t)(0 - (uint64_t)a) : a / b)
SIGNED(BLR_BINARY, remainder_signed, b == 0 ? a : b == -1 ? 0 : a % b)
SIGNED(BLR_BINARY, modulo_signed, b == 0 ? a : b == -1 ? 0 : (a % b != 0 && (a % b < 0) != (b < 0)) ? a % b + b : a % b)
UNSIGNED(BLR_UNARY, negate, 0 - a)
UNSIGNED(BLR_UNARY, complement, ~a)
UNSIGNED(BLR_BINARY, either, a | b)
UNSIGNED(BLR_BINARY, both, a &b)
UNSIGNED(BLR_BINARY, differ, a ^ b)
UNSIGNED(BLR_BINARY, shift_left, a << (b & (sizeof(a) * CHAR_BIT - 1)))
UNSIGNED(BLR_BINARY, shift_right, a >> (b & (sizeof(a) * CHAR_BIT - 1)))
SIGNED(BLR_BINARY, shift_right_signed, a >> (b & (int)(sizeof(a) * CHAR_BIT - 1)))

static inline uint64_t count_bits(uint64_t value)
{
    value -= value >> 1 & 0x5555555555555555u;
    value = (value & 0x3333333333333333u) + (value >> 2 & 0x3333333333333333u);
    return ((value + (value >> 4)) & 0x0f0f0f0f0f0f0f0fu) * 0x0101010101010101u >> 56;
}

static inline uint64_t reverse_bits(uint64_t value)
{
    value = (value >> 1 & 0x5555555555555555u) | (value & 0x5555555555555555u) << 1;
    value = (value >> 2 & 0x3333333333333333u) | (value & 0x3333333333333333u) << 2;
    value = (value >> 4 & 0x0f0f0f0f0f0f0f0fu) | (value & 0x0f0f0f0f0f0f0f0fu) << 4;
    value = (value >> 8 & 0x00ff00ff00ff00ffu) | (value & 0x00ff00ff00ff00ffu) << 8;
    value = (value >> 16 & 0x0000ffff0000ffffu) | (value & 0x0000ffff0000ffffu) << 16;
    return value >> 32 | value << 32;
}

UNSIGNED(BLR_UNARY, count, count_bits(a))
UNSIGNED(BLR_UNARY, reverse, reverse_bits(a) >> (64 - sizeof(a) * CHAR_BIT))

TEST(BLR_BINARY, uint, equal, a == b)
TEST(BLR_BINARY, uint, unequal, a != b)
TEST(BLR_BINARY, uint, above, a > b)
TEST(BLR_BINARY, uint, above_or_equal, a >= b)
TEST(BLR_BINARY, uint, below, a < b)
TEST(BLR_BINARY, uint, below_or_equal, a <= b)
TEST(BLR_BINARY, int, greater, a > b)
TEST(BLR_BINARY, int, greater_or_equal, a >= b)
TEST(BLR_BINARY, int, less, a < b)
TEST(BLR_BINARY, int, less_or_equal, a <= b)

BLR_UNARY(logical_not, uint8_t, uint8_t, !a)

#define ALL(name) {name##_8, name##_16, name##_32, name##_64}
#define LOGICAL(name) {name##_8}

const struct blr_spirv_lanes blr_spirv_integer_lanes[] = {
    {BLR_OP_SNegate, BLR_FORM_INTEGER, 1, ALL(negate)},
    {BLR_OP_IAdd, BLR_FORM_INTEGER, 2, ALL(add)},
    {BLR_OP_ISub, BLR_FORM_INTEGER, 2, ALL(subtract)},
    {BLR_OP_IMul, BLR_FORM_INTEGER, 2, ALL(multiply)},
    {BLR_OP_UDiv, BLR_FORM_INTEGER, 2, ALL(divide_unsigned)},
    {BLR_OP_SDiv, BLR_FORM_INTEGER, 2, ALL(divide_signed)},
    {BLR_OP_UMod, BLR_FORM_INTEGER, 2, ALL(remainder_unsigned)},
    {BLR_OP_SRem, BLR_FORM_INTEGER, 2, ALL(remainder_signed)},
    {BLR_OP_SMod, BLR_FORM_INTEGER, 2, ALL(modulo_signed)},
    {BLR_OP_ShiftRightLogical, BLR_FORM_SHIFT, 2, ALL(shift_right)},
    {BLR_OP_ShiftRightArithmetic, BLR_FORM_SHIFT, 2, ALL(shift_right_signed)},
    {BLR_OP_ShiftLeftLogical, BLR_FORM_SHIFT, 2, ALL(shift_left)},
    {BLR_OP_BitwiseOr, BLR_FORM_INTEGER, 2, ALL(either)},
    {BLR_OP_BitwiseXor, BLR_FORM_INTEGER, 2, ALL(differ)},
    {BLR_OP_BitwiseAnd, BLR_FORM_INTEGER, 2, ALL(both)},
    {BLR_OP_Not, BLR_FORM_INTEGER, 1, ALL(complement)},
    {BLR_OP_BitReverse, BLR_FORM_INTEGER, 1, ALL(reverse)},
    {BLR_OP_BitCount, BLR_FORM_INTEGER, 1, ALL(count)},
    {BLR_OP_LogicalEqual, BLR_FORM_LOGICAL, 2, LOGICAL(equal)},
    {BLR_OP_LogicalNotEqual, BLR_FORM_LOGICAL, 2, LOGICAL(differ)},
    {BLR_OP_LogicalOr, BLR_FORM_LOGICAL, 2, LOGICAL(either)},
    {BLR_OP_LogicalAnd, BLR_FORM_LOGICAL, 2, LOGICAL(both)},
    {BLR_OP_LogicalNot, BLR_FORM_LOGICAL, 1, {logical_not}},
    {BLR_OP_IEqual, BLR_FORM_COMPARE_INTEGER, 2, ALL(equal)},
    {BLR_OP_INotEqual, BLR_FORM_COMPARE_INTEGER, 2, ALL(unequal)},
    {BLR_OP_PtrEqual, BLR_FORM_COMPARE_INTEGER, 2, ALL(equal)},
    {BLR_OP_PtrNotEqual, BLR_FORM_COMPARE_INTEGER, 2, ALL(unequal)},
    {BLR_OP_UGreaterThan, BLR_FORM_COMPARE_INTEGER, 2, ALL(above)},
    {BLR_OP_UGreaterThanEqual, BLR_FORM_COMPARE_INTEGER, 2, ALL(above_or_equal)},
    {BLR_OP_ULessThan, BLR_FORM_COMPARE_INTEGER, 2, ALL(below)},
    {BLR_OP_ULessThanEqual, BLR_FORM_COMPARE_INTEGER, 2, ALL(below_or_equal)},
    {BLR_OP_SGreaterThan, BLR_FORM_COMPARE_INTEGER, 2, ALL(greater)},
    {BLR_OP_SGreaterThanEqual, BLR_FORM_COMPARE_INTEGER, 2, ALL(greater_or_equal)},
    {BLR_OP_SLessThan, BLR_FORM_COMPARE_INTEGER, 2, ALL(less)},
    {BLR_OP_SLessThanEqual, BLR_FORM_COMPARE_INTEGER, 2, ALL(less_or_equal)},
};
const unsigned blr_spirv_integer_lane_count = sizeof blr_spirv_integer_lanes / sizeof *blr_spirv_integer_lanes;

UNSIGNED(BLR_BINARY, carry, (uint64_t)a + b > (uint64_t)(UINT64_MAX >> (64 - sizeof(a) * CHAR_BIT)) || (sizeof(a) == 8 && a + b < a))
UNSIGNED(BLR_BINARY, borrow, a < b)

blr_spirv_run_t blr_spirv_half(unsigned opcode, uint32_t half, uint32_t size)
{
    static const blr_spirv_run_t sums[4] = ALL(add), differences[4] = ALL(subtract), products[4] = ALL(multiply);
    static const blr_spirv_run_t carries[4] = ALL(carry), borrows[4] = ALL(borrow);
    unsigned row = blr_size_index(size);
    switch (opcode) {
    case BLR_OP_IAddCarry: return half == 0 ? sums[row] : carries[row];
    case BLR_OP_ISubBorrow: return half == 0 ? differences[row] : borrows[row];
    case BLR_OP_UMulExtended: return half == 0 ? products[row] : blr_spirv_extended(BLR_EXTENDED_U_MUL_HI)->run[row];
    default: return half == 0 ? products[row] : blr_spirv_extended(BLR_EXTENDED_S_MUL_HI)->run[row];
    }
}
