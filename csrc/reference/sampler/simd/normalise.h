/* Conversion of a block's integers, sums or codes, to its results: floats of normalized formats, or integers. The
 * loops are written for auto-vectorisation. */
#ifndef BINDLESS_REFERENCE_SAMPLER_SIMD_NORMALISE_H
#define BINDLESS_REFERENCE_SAMPLER_SIMD_NORMALISE_H

#include "sampler/simd/block.h"

/* Values of a block in conversion; lanes of an item are adjacent. */
union block_values {
    _Alignas(64) float real[BLR_BLOCK * BLR_MAX_CHANNELS];
    int32_t integer[BLR_BLOCK * BLR_MAX_CHANNELS];
    uint16_t word[BLR_BLOCK * BLR_MAX_CHANNELS];
    uint8_t byte[BLR_BLOCK * BLR_MAX_CHANNELS];
};

/* Converts the first count numbers; bits is the number of fraction bits of sums. */
typedef void (*finish_block_t)(union block_values *values, uint32_t count, int bits);

static void finish_unorm8(union block_values *values, uint32_t count, int bits)
{
    for (uint32_t i = 0; i < count; i++)
        values->real[i] = (float)((257 * values->integer[i] + (1 << (bits - 1))) >> bits) / 65535.0f;
}

static void finish_unorm16(union block_values *values, uint32_t count, int bits)
{
    for (uint32_t i = 0; i < count; i++)
        values->real[i] = (float)((values->integer[i] + (1 << (bits - 1))) >> bits) / 65535.0f;
}

static inline float snorm_of(int32_t code)
{
    return (float)(code > -32767 ? code : -32767) / 32767.0f;
}

static void finish_snorm8(union block_values *values, uint32_t count, int bits)
{
    for (uint32_t i = 0; i < count; i++) {
        int32_t sum = values->integer[i];
        values->real[i] = snorm_of((258 * sum + (sum >> (bits + 4)) * (1 << (bits - 3)) + (1 << (bits - 1))) >> bits);
    }
}

static void finish_snorm16(union block_values *values, uint32_t count, int bits)
{
    for (uint32_t i = 0; i < count; i++)
        values->real[i] = snorm_of((values->integer[i] + (1 << (bits - 1))) >> bits);
}

static void finish_integers(union block_values *values, uint32_t count, int bits)
{
    for (uint32_t i = 0; i < count; i++)
        values->integer[i] = (values->integer[i] + (1 << (bits - 1))) >> bits;
}

/* Conversion of linear filtering's sums; NULL where the blend already gives results. */
static finish_block_t finish_of_sums(const struct blr_format *format)
{
    if (format->class == BLR_CLASS_FLOAT)
        return NULL;
    if (format->class == BLR_CLASS_UNORM)
        return format->size == 1 ? finish_unorm8 : finish_unorm16;
    if (format->class == BLR_CLASS_SNORM)
        return format->size == 1 ? finish_snorm8 : finish_snorm16;
    return finish_integers;
}

static void decode_unorm16(union block_values *values, uint32_t count, int bits)
{
    (void)bits;
    for (uint32_t i = 0; i < count; i++)
        values->real[i] = (float)values->integer[i] / 65535.0f;
}

static void decode_snorm8(union block_values *values, uint32_t count, int bits)
{
    (void)bits;
    for (uint32_t i = 0; i < count; i++)
        values->real[i] = (float)(values->integer[i] > -127 ? values->integer[i] : -127) / 127.0f;
}

static void decode_snorm16(union block_values *values, uint32_t count, int bits)
{
    (void)bits;
    for (uint32_t i = 0; i < count; i++)
        values->real[i] = snorm_of(values->integer[i]);
}

/* Conversion of nearest texels' codes. */
static finish_block_t finish_of_codes(const struct blr_format *format)
{
    if (format->class == BLR_CLASS_UNORM)
        return format->size == 1 ? NULL : decode_unorm16;
    if (format->class == BLR_CLASS_SNORM)
        return format->size == 1 ? decode_snorm8 : decode_snorm16;
    return NULL;
}

#endif
