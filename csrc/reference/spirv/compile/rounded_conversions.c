/* Conversions with an explicit rounding mode (FPRoundingMode) other than the default: floats to integers other than
 * towards zero, and to floats other than to nearest even. */
#include "spirv/half.h"
#include "spirv/execute/lane_operations.h"

#include <math.h>
#include <string.h>

/* A lossless number of any type: its sign, and its magnitude as an integer or as a double. */
struct number {
    bool negative, whole;
    uint64_t integer;
    double real;
};

static struct number from_integer(const unsigned char *at, uint32_t size, bool is_signed)
{
    uint64_t bits = 0;
    memcpy(&bits, at, size);
    bool negative = is_signed && bits >> (8 * size - 1) != 0;
    if (negative)
        bits = -(bits | (size == 8 ? 0 : ~UINT64_C(0) << (8 * size)));
    return (struct number){.negative = negative, .whole = true, .integer = bits};
}

static double read_float(const unsigned char *at, uint32_t size)
{
    uint16_t half;
    float single;
    double real;
    switch (size) {
    case 2: memcpy(&half, at, sizeof half); return blr_lane_from_half(half);
    case 4: memcpy(&single, at, sizeof single); return single;
    default: memcpy(&real, at, sizeof real); return real;
    }
}

static void write_integer(unsigned char *at, uint32_t size, bool is_signed, double value)
{
    double high = ldexp(1.0, (int)(8 * size) - (is_signed ? 1 : 0)), low = is_signed ? -high : 0.0;
    uint64_t largest = (size == 8 ? UINT64_MAX : (UINT64_C(1) << (8 * size)) - 1) >> (is_signed ? 1 : 0);
    uint64_t bits = isnan(value) ? 0 : value >= high ? largest : value < low ? (uint64_t)(int64_t)low
                  : value < 0 ? (uint64_t)(int64_t)value : (uint64_t)value;
    memcpy(at, &bits, size);
}

/* The bits of the float nearest to a magnitude, and its value. */
static uint64_t nearest(const struct number *number, uint32_t size, double *value)
{
    uint64_t bits = 0;
    if (size == 2) {
        uint16_t half = number->whole ? blr_lane_to_half((float)number->integer) : blr_lane_to_half_from_double(number->real);
        *value = blr_lane_from_half(half);
        return half;
    }
    if (size == 4) {
        float single = number->whole ? (float)number->integer : (float)number->real;
        *value = single;
        memcpy(&bits, &single, sizeof single);
        return bits;
    }
    *value = number->whole ? (double)number->integer : number->real;
    memcpy(&bits, value, sizeof bits);
    return bits;
}

/* Compares a rounded value with the original magnitude: 1 if larger, -1 if smaller. */
static int beside(double value, const struct number *number)
{
    if (!number->whole)
        return (value > number->real) - (value < number->real);
    if (value >= 0x1p64)
        return 1;
    uint64_t integer = (uint64_t)value;
    return (integer > number->integer) - (integer < number->integer);
}

static void write_float(unsigned char *at, uint32_t size, const struct number *number, uint32_t mode)
{
    double value;
    uint64_t bits = nearest(number, size, &value);
    bool outwards = mode == BLR_ROUNDING_UP ? !number->negative : mode == BLR_ROUNDING_DOWN && number->negative;
    int side = beside(value, number);
    if (mode != BLR_ROUNDING_NEAREST_EVEN && side == (outwards ? -1 : 1))
        bits = outwards ? bits + 1 : bits - 1; /* magnitudes are ordered as their bits */
    bits |= (uint64_t)number->negative << (8 * size - 1);
    memcpy(at, &bits, size);
}

static double round_to_integer(double value, uint32_t mode)
{
    switch (mode) {
    case BLR_ROUNDING_NEAREST_EVEN: return rint(value);
    case BLR_ROUNDING_UP: return ceil(value);
    case BLR_ROUNDING_DOWN: return floor(value);
    default: return trunc(value);
    }
}

static void convert(struct blr_spirv_batch *batch, const struct blr_spirv_op *op, unsigned char *result)
{
    unsigned opcode = (unsigned)(op->literal & 0xffffu);
    uint32_t from = op->literal >> 16 & 0xffu, to = op->literal >> 24 & 0xffu, mode = op->literal >> 32 & 0xffu;
    const unsigned char *source = batch->registers + op->in[0];
    for (uint32_t i = 0; i < op->count; i++, source += from, result += to) {
        if (opcode == BLR_OP_ConvertFToS || opcode == BLR_OP_ConvertFToU) {
            write_integer(result, to, opcode == BLR_OP_ConvertFToS, round_to_integer(read_float(source, from), mode));
        } else if (opcode == BLR_OP_FConvert) {
            double value = read_float(source, from);
            struct number number = {.negative = signbit(value) != 0, .real = fabs(value)};
            write_float(result, to, &number, mode);
        } else {
            struct number number = from_integer(source, from, opcode == BLR_OP_ConvertSToF);
            write_float(result, to, &number, mode);
        }
    }
}

bool blr_spirv_round(unsigned opcode, uint32_t from, uint32_t to, uint32_t mode, struct blr_spirv_op *op)
{
    bool to_integer = opcode == BLR_OP_ConvertFToS || opcode == BLR_OP_ConvertFToU;
    if (opcode == BLR_OP_UConvert || opcode == BLR_OP_SConvert || opcode == BLR_OP_SatConvertSToU ||
        opcode == BLR_OP_SatConvertUToS)
        return true; /* integers need no rounding */
    if (!to_integer && opcode != BLR_OP_FConvert && opcode != BLR_OP_ConvertSToF && opcode != BLR_OP_ConvertUToF)
        return false;
    if (mode == (to_integer ? BLR_ROUNDING_TO_ZERO : BLR_ROUNDING_NEAREST_EVEN))
        return true; /* the default mode */
    op->run = convert;
    op->literal = opcode | (uint64_t)from << 16 | (uint64_t)to << 24 | (uint64_t)mode << 32;
    return true;
}
