/* Packing and unpacking of pixels whose channels are bit fields. */
#include "image/packed_format.h"

#include <math.h>
#include <string.h>

#define EACH_10_10_10_2(class, last) {4, 4, {{0, 10, class}, {10, 10, class}, {20, 10, class}, {30, 2, last}}}

const struct blr_packing blr_packing_snorm32 = {4, 1, {{0, 32, BLR_PACKED_SNORM}}};
const struct blr_packing blr_packing_unorm32 = {4, 1, {{0, 32, BLR_PACKED_UNORM}}};
const struct blr_packing blr_packing_unorm_10_10_10_2 = EACH_10_10_10_2(BLR_PACKED_UNORM, BLR_PACKED_UNORM);
const struct blr_packing blr_packing_snorm_10_10_10_2 = EACH_10_10_10_2(BLR_PACKED_SNORM, BLR_PACKED_SNORM);
const struct blr_packing blr_packing_unsigned_10_10_10_2 = EACH_10_10_10_2(BLR_PACKED_INTEGER, BLR_PACKED_INTEGER);
const struct blr_packing blr_packing_signed_10_10_10_2 = EACH_10_10_10_2(BLR_PACKED_SIGNED, BLR_PACKED_SIGNED);
const struct blr_packing blr_packing_fp_10_10_10_2 = EACH_10_10_10_2(BLR_PACKED_FLOAT, BLR_PACKED_UNORM);
const struct blr_packing blr_packing_fp_11_11_10 = {
    4, 3, {{0, 11, BLR_PACKED_FLOAT}, {11, 11, BLR_PACKED_FLOAT}, {22, 10, BLR_PACKED_FLOAT}}};
const struct blr_packing blr_packing_unorm_5_6_5 = {
    2, 3, {{11, 5, BLR_PACKED_UNORM}, {5, 6, BLR_PACKED_UNORM}, {0, 5, BLR_PACKED_UNORM}}};
const struct blr_packing blr_packing_unorm_5_5_5_1 = {
    2, 4, {{10, 5, BLR_PACKED_UNORM}, {5, 5, BLR_PACKED_UNORM}, {0, 5, BLR_PACKED_UNORM}, {15, 1, BLR_PACKED_UNORM}}};
const struct blr_packing blr_packing_unorm_4_4_4_4 = {
    2, 4, {{8, 4, BLR_PACKED_UNORM}, {4, 4, BLR_PACKED_UNORM}, {0, 4, BLR_PACKED_UNORM}, {12, 4, BLR_PACKED_UNORM}}};
const struct blr_packing blr_packing_srgb = {
    4, 4, {{0, 8, BLR_PACKED_SRGB}, {8, 8, BLR_PACKED_SRGB}, {16, 8, BLR_PACKED_SRGB}, {24, 8, BLR_PACKED_UNORM}}};

uint32_t blr_packed_size(const struct blr_packing *packing, uint32_t num_channels)
{
    if (packing->count == 1)
        return packing->word_size * num_channels;
    return packing->count == num_channels ? packing->word_size : 0;
}

/* ---------------------------------------------------------------- words */

static uint32_t load_word(const unsigned char *word, uint32_t size)
{
    uint32_t bits = 0;
    uint16_t half;
    if (size == sizeof bits) {
        memcpy(&bits, word, sizeof bits);
        return bits;
    }
    memcpy(&half, word, sizeof half);
    return half;
}

static void store_word(unsigned char *word, uint32_t size, uint32_t bits)
{
    uint16_t half = (uint16_t)bits;
    if (size == sizeof bits)
        memcpy(word, &bits, sizeof bits);
    else
        memcpy(word, &half, sizeof half);
}

static uint32_t ones(uint32_t bits) { return bits < 32 ? (1u << bits) - 1 : UINT32_MAX; }

static int32_t sign_extend(uint32_t code, uint32_t bits)
{
    uint32_t sign = 1u << (bits - 1);
    return (int32_t)((int64_t)(code ^ sign) - (int64_t)sign);
}

/* ---------------------------------------------------------------- fields */

static uint32_t bits_of(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static uint32_t unpack_field(const struct blr_packed_field *field, uint32_t code)
{
    switch ((enum blr_packed_class)field->class) {
    case BLR_PACKED_UNORM: return bits_of((float)((double)code / ones(field->bits)));
    case BLR_PACKED_SNORM: {
        double value = (double)sign_extend(code, field->bits) / ones(field->bits - 1u);
        return bits_of((float)(value < -1.0 ? -1.0 : value));
    }
    case BLR_PACKED_SIGNED: return (uint32_t)sign_extend(code, field->bits);
    case BLR_PACKED_FLOAT: return bits_of(blr_half_to_float((uint16_t)(code << (15u - field->bits))));
    case BLR_PACKED_SRGB: return bits_of(blr_half_to_float(blr_srgb_codes[code]));
    case BLR_PACKED_INTEGER: break;
    }
    return code;
}

/* Rounds to the nearest integer, ties to even: adding 1.5 * 2^52 leaves no fraction bits. */
static int64_t nearest(double value) { return (int64_t)((value + 0x1.8p52) - 0x1.8p52); }

static uint32_t pack_normalized(float value, float low, uint32_t maximum)
{
    float clamped = value >= low ? (value > 1.0f ? 1.0f : value) : (value < low ? low : 0.0f);
    return (uint32_t)nearest((double)clamped * maximum);
}

/* Packs an unsigned float: 5 bits of exponent, the rest significand. */
static uint32_t pack_float(float value, uint32_t bits)
{
    const uint32_t significand = bits - 5, infinity = 31u << significand;
    if (isnan(value))
        return infinity | 1u << (significand - 1);
    if (!(value > 0.0f))
        return 0;
    int exponent = value < 0x1p-14f ? -14 : value < 0x1p16f ? ilogbf(value) : 16;
    double steps = ldexp(value < 0x1p17f ? (double)value : 0x1p17, (int)significand - exponent);
    uint32_t code = ((uint32_t)(exponent + 14) << significand) + (uint32_t)nearest(steps);
    return code < infinity ? code : infinity;
}

static uint32_t clamp_signed(int32_t value, uint32_t bits)
{
    const int32_t largest = (int32_t)ones(bits - 1u);
    return (uint32_t)(value > largest ? largest : value < -largest - 1 ? -largest - 1 : value);
}

static uint32_t pack_field(const struct blr_packed_field *field, uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    switch ((enum blr_packed_class)field->class) {
    case BLR_PACKED_UNORM: return pack_normalized(value, 0.0f, ones(field->bits));
    case BLR_PACKED_SNORM: return pack_normalized(value, -1.0f, ones(field->bits - 1u)) & ones(field->bits);
    case BLR_PACKED_FLOAT: return pack_float(value, field->bits);
    case BLR_PACKED_SIGNED: return clamp_signed((int32_t)bits, field->bits) & ones(field->bits);
    case BLR_PACKED_SRGB:
    case BLR_PACKED_INTEGER: break;
    }
    return bits < ones(field->bits) ? bits : ones(field->bits);
}

/* ---------------------------------------------------------------- pixels */

void blr_unpack_pixel(const struct blr_packing *packing, uint32_t num_channels, const unsigned char *pixel,
                      unsigned char unpacked[BLR_MAX_PIXEL_SIZE])
{
    for (uint32_t c = 0; c < num_channels; c++) {
        const struct blr_packed_field *field = &packing->field[c % packing->count];
        uint32_t word = load_word(pixel + c / packing->count * packing->word_size, packing->word_size);
        uint32_t bits = unpack_field(field, word >> field->shift & ones(field->bits));
        memcpy(unpacked + 4 * c, &bits, sizeof bits);
    }
}

void blr_unpack_to_words(const unsigned char *pixel, unsigned char unpacked[BLR_MAX_PIXEL_SIZE])
{
    const uint32_t word = load_word(pixel, 4);
    for (uint32_t c = 0; c < 4; c++) {
        const uint32_t code = word >> (10 * c) & (c < 3 ? 0x3ffu : 3u);
        const uint16_t wide = (uint16_t)(c < 3 ? code << 6 | code >> 4 : code * 21845u);
        memcpy(unpacked + 2 * c, &wide, sizeof wide);
    }
}

void blr_pack_pixel(const struct blr_packing *packing, uint32_t num_channels,
                    const unsigned char unpacked[BLR_MAX_PIXEL_SIZE], unsigned char *pixel)
{
    uint32_t word = 0;
    for (uint32_t c = 0; c < num_channels; c++) {
        const struct blr_packed_field *field = &packing->field[c % packing->count];
        uint32_t bits;
        memcpy(&bits, unpacked + 4 * c, sizeof bits);
        word |= pack_field(field, bits) << field->shift;
        if ((c + 1) % packing->count == 0) {
            store_word(pixel + c / packing->count * packing->word_size, packing->word_size, word);
            word = 0;
        }
    }
}
