/* BC6H: two or four endpoints of three halves, mostly as differences, and an index of 3 or 4 bits for each texel. */
#include "image/blocks/block_format.h"
#include "image/blocks/block_bits.h"

#include <string.h>

#define HALF_ONE 0x3c00u
#define CHANNELS 3u

/* Bits that follow each other in a block: endpoint and channel, the lowest bit's place in it, and the count. */
#define RUN(endpoint, channel, shift, count) ((endpoint) * CHANNELS + (channel)) << 8 | (shift) << 4 | (count)
#define R0(shift, count) RUN(0, 0, shift, count)
#define G0(shift, count) RUN(0, 1, shift, count)
#define B0(shift, count) RUN(0, 2, shift, count)
#define R1(shift, count) RUN(1, 0, shift, count)
#define G1(shift, count) RUN(1, 1, shift, count)
#define B1(shift, count) RUN(1, 2, shift, count)
#define R2(shift, count) RUN(2, 0, shift, count)
#define G2(shift, count) RUN(2, 1, shift, count)
#define B2(shift, count) RUN(2, 2, shift, count)
#define R3(shift, count) RUN(3, 0, shift, count)
#define G3(shift, count) RUN(3, 1, shift, count)
#define B3(shift, count) RUN(3, 2, shift, count)

#define MAX_RUNS 24

/* Modes 1 to 10 have two subsets, the others one. */
struct mode {
    uint8_t bits;                         /* of the first endpoint, and of all after the sum */
    bool differences;                     /* the other endpoints are differences from the first */
    uint8_t other_bits[CHANNELS];         /* of the other endpoints */
    uint16_t runs[MAX_RUNS];              /* ends with 0, or at its size */
};
#define NUM_MODES 14u
#define FIRST_WHOLE 10u                   /* first row with one subset */
static const struct mode modes[NUM_MODES] = {
    /*  1 */ {10, true, {5, 5, 5}, {
        G2(4, 1), B2(4, 1), B3(4, 1), R0(0, 10), G0(0, 10), B0(0, 10), R1(0, 5), G3(4, 1), G2(0, 4), G1(0, 5),
        B3(0, 1), G3(0, 4), B1(0, 5), B3(1, 1), B2(0, 4), R2(0, 5), B3(2, 1), R3(0, 5), B3(3, 1),
    }},
    /*  2 */ {7, true, {6, 6, 6}, {
        G2(5, 1), G3(4, 1), G3(5, 1), R0(0, 7), B3(0, 1), B3(1, 1), B2(4, 1), G0(0, 7), B2(5, 1), B3(2, 1),
        G2(4, 1), B0(0, 7), B3(3, 1), B3(5, 1), B3(4, 1), R1(0, 6), G2(0, 4), G1(0, 6), G3(0, 4), B1(0, 6),
        B2(0, 4), R2(0, 6), R3(0, 6),
    }},
    /*  3 */ {11, true, {5, 4, 4}, {
        R0(0, 10), G0(0, 10), B0(0, 10), R1(0, 5), R0(10, 1), G2(0, 4), G1(0, 4), G0(10, 1), B3(0, 1),
        G3(0, 4), B1(0, 4), B0(10, 1), B3(1, 1), B2(0, 4), R2(0, 5), B3(2, 1), R3(0, 5), B3(3, 1),
    }},
    /*  4 */ {11, true, {4, 5, 4}, {
        R0(0, 10), G0(0, 10), B0(0, 10), R1(0, 4), R0(10, 1), G3(4, 1), G2(0, 4), G1(0, 5), G0(10, 1),
        G3(0, 4), B1(0, 4), B0(10, 1), B3(1, 1), B2(0, 4), R2(0, 4), B3(0, 1), B3(2, 1), R3(0, 4), G2(4, 1),
        B3(3, 1),
    }},
    /*  5 */ {11, true, {4, 4, 5}, {
        R0(0, 10), G0(0, 10), B0(0, 10), R1(0, 4), R0(10, 1), B2(4, 1), G2(0, 4), G1(0, 4), G0(10, 1),
        B3(0, 1), G3(0, 4), B1(0, 5), B0(10, 1), B2(0, 4), R2(0, 4), B3(1, 1), B3(2, 1), R3(0, 4), B3(4, 1),
        B3(3, 1),
    }},
    /*  6 */ {9, true, {5, 5, 5}, {
        R0(0, 9), B2(4, 1), G0(0, 9), G2(4, 1), B0(0, 9), B3(4, 1), R1(0, 5), G3(4, 1), G2(0, 4), G1(0, 5),
        B3(0, 1), G3(0, 4), B1(0, 5), B3(1, 1), B2(0, 4), R2(0, 5), B3(2, 1), R3(0, 5), B3(3, 1),
    }},
    /*  7 */ {8, true, {6, 5, 5}, {
        R0(0, 8), G3(4, 1), B2(4, 1), G0(0, 8), B3(2, 1), G2(4, 1), B0(0, 8), B3(3, 1), B3(4, 1), R1(0, 6),
        G2(0, 4), G1(0, 5), B3(0, 1), G3(0, 4), B1(0, 5), B3(1, 1), B2(0, 4), R2(0, 6), R3(0, 6),
    }},
    /*  8 */ {8, true, {5, 6, 5}, {
        R0(0, 8), B3(0, 1), B2(4, 1), G0(0, 8), G2(5, 1), G2(4, 1), B0(0, 8), G3(5, 1), B3(4, 1), R1(0, 5),
        G3(4, 1), G2(0, 4), G1(0, 6), G3(0, 4), B1(0, 5), B3(1, 1), B2(0, 4), R2(0, 5), B3(2, 1), R3(0, 5),
        B3(3, 1),
    }},
    /*  9 */ {8, true, {5, 5, 6}, {
        R0(0, 8), B3(1, 1), B2(4, 1), G0(0, 8), B2(5, 1), G2(4, 1), B0(0, 8), B3(5, 1), B3(4, 1), R1(0, 5),
        G3(4, 1), G2(0, 4), G1(0, 5), B3(0, 1), G3(0, 4), B1(0, 6), B2(0, 4), R2(0, 5), B3(2, 1), R3(0, 5),
        B3(3, 1),
    }},
    /* 10 */ {6, false, {6, 6, 6}, {
        R0(0, 6), G3(4, 1), B3(0, 1), B3(1, 1), B2(4, 1), G0(0, 6), G2(5, 1), B2(5, 1), B3(2, 1), G2(4, 1),
        B0(0, 6), G3(5, 1), B3(3, 1), B3(5, 1), B3(4, 1), R1(0, 6), G2(0, 4), G1(0, 6), G3(0, 4), B1(0, 6),
        B2(0, 4), R2(0, 6), R3(0, 6),
    }},
    /* 11 */ {10, false, {10, 10, 10}, {
        R0(0, 10), G0(0, 10), B0(0, 10), R1(0, 10), G1(0, 10), B1(0, 10),
    }},
    /* 12 */ {11, true, {9, 9, 9}, {
        R0(0, 10), G0(0, 10), B0(0, 10), R1(0, 9), R0(10, 1), G1(0, 9), G0(10, 1), B1(0, 9), B0(10, 1),
    }},
    /* 13 */ {12, true, {8, 8, 8}, {
        R0(0, 10), G0(0, 10), B0(0, 10), R1(0, 8), R0(11, 1), R0(10, 1), G1(0, 8), G0(11, 1), G0(10, 1),
        B1(0, 8), B0(11, 1), B0(10, 1),
    }},
    /* 14 */ {16, true, {4, 4, 4}, {
        R0(0, 10), G0(0, 10), B0(0, 10), R1(0, 4), R0(15, 1), R0(14, 1), R0(13, 1), R0(12, 1), R0(11, 1),
        R0(10, 1), G1(0, 4), G0(15, 1), G0(14, 1), G0(13, 1), G0(12, 1), G0(11, 1), G0(10, 1), B1(0, 4),
        B0(15, 1), B0(14, 1), B0(13, 1), B0(12, 1), B0(11, 1), B0(10, 1),
    }},
};

/* The row of a block's mode, or NUM_MODES for a reserved one. */
static uint32_t take_mode(struct blr_block_bits *bits)
{
    uint32_t kind = blr_block_take(bits, 2);
    if (kind < 2)
        return kind;
    uint32_t number = blr_block_take(bits, 3);
    if (kind == 2)
        return 2 + number;
    return number < NUM_MODES - FIRST_WHOLE ? FIRST_WHOLE + number : NUM_MODES;
}

static int32_t extend_sign(int32_t value, unsigned int bits)
{
    int32_t sign = (int32_t)1 << (bits - 1);
    return ((value & (2 * sign - 1)) ^ sign) - sign;
}

/* An endpoint's number in 16 bits. */
static int32_t expand(int32_t value, unsigned int bits, bool is_signed)
{
    if (is_signed) {
        int32_t magnitude = value < 0 ? -value : value;
        if (bits < 16 && magnitude != 0)
            magnitude = magnitude >= (1 << (bits - 1)) - 1 ? 0x7fff : ((magnitude << 15) + 0x4000) >> (bits - 1);
        return value < 0 ? -magnitude : magnitude;
    }
    if (bits >= 15 || value == 0)
        return value;
    return value == (1 << bits) - 1 ? 0xffff : (int32_t)((((uint32_t)value << 16) + 0x8000u) >> bits);
}

/* The half of a blend of numbers in 16 bits. */
static uint16_t half_of(int32_t value, bool is_signed)
{
    if (!is_signed)
        return (uint16_t)(value * 31 >> 6);
    return value < 0 ? (uint16_t)(0x8000 | (-value * 31 >> 5)) : (uint16_t)(value * 31 >> 5);
}

static void decode(const unsigned char *block, bool is_signed, uint16_t texels[BLR_BLOCK_TEXELS][4])
{
    struct blr_block_bits bits = blr_block_bits_of(block);
    uint32_t row = take_mode(&bits);
    if (row == NUM_MODES) {
        for (unsigned int i = 0; i < BLR_BLOCK_TEXELS; i++)
            memcpy(texels[i], (uint16_t[4]){0, 0, 0, HALF_ONE}, sizeof texels[i]);
        return;
    }
    const struct mode *mode = &modes[row];
    int32_t numbers[4 * CHANNELS] = {0};
    for (unsigned int i = 0; i < MAX_RUNS && mode->runs[i] != 0; i++) {
        uint16_t run = mode->runs[i];
        numbers[run >> 8] |= (int32_t)(blr_block_take(&bits, run & 15u) << (run >> 4 & 15u));
    }
    bool whole = row >= FIRST_WHOLE;
    uint32_t partition = whole ? 0 : blr_block_take(&bits, 5);
    uint32_t subsets = whole ? 0 : blr_block_halves[partition];
    uint32_t anchor = whole ? 0 : blr_block_half_anchors[partition];
    for (unsigned int i = 0; i < (whole ? 2 : 4) * CHANNELS; i++) {
        if (i >= CHANNELS && (mode->differences || is_signed))
            numbers[i] = extend_sign(numbers[i], mode->other_bits[i % CHANNELS]);
        if (i >= CHANNELS && mode->differences)
            numbers[i] = (numbers[i] + numbers[i % CHANNELS]) & ((1 << mode->bits) - 1);
        if (is_signed)
            numbers[i] = extend_sign(numbers[i], mode->bits);
    }
    for (unsigned int i = 0; i < (whole ? 2 : 4) * CHANNELS; i++)
        numbers[i] = expand(numbers[i], mode->bits, is_signed);
    const uint8_t *weights = blr_block_weights[whole ? 2 : 1];
    for (unsigned int i = 0; i < BLR_BLOCK_TEXELS; i++) {
        unsigned int index_bits = (whole ? 4u : 3u) - (i == 0 || i == anchor);
        int32_t weight = weights[blr_block_take(&bits, index_bits)];
        const int32_t *first = numbers + (subsets >> i & 1u) * 2 * CHANNELS;
        for (unsigned int channel = 0; channel < CHANNELS; channel++)
            texels[i][channel] = half_of(blr_block_blend(first[channel], first[CHANNELS + channel], weight), is_signed);
        texels[i][3] = HALF_ONE;
    }
}

void blr_decode_bc6h_ufloat(const unsigned char *block, void *texels)
{
    decode(block, false, texels);
}

void blr_decode_bc6h_sfloat(const unsigned char *block, void *texels)
{
    decode(block, true, texels);
}
