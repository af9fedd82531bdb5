/* Blending of pixels of four bytes whose channels are codes of sRGB, or of ten bits: rows of items, which compilers
 * vectorise. Samples of codes of sRGB from several quads are left to blr_sample_item. */
#ifndef BINDLESS_REFERENCE_SAMPLER_SIMD_FILTER_PACKED_H
#define BINDLESS_REFERENCE_SAMPLER_SIMD_FILTER_PACKED_H

#include "image/packed_format.h"
#include "sampler/simd/addressing.h"

#include <string.h>

/* The pixels of one texel of the quads, 0 behind the last item. */
static void load_words(const struct blr_block *block, uint32_t q, int k, uint32_t *restrict words)
{
    if (block->boxes_only) {
        const struct blr_boxes *box = &block->box[q];
        const uintptr_t base = box->base + (k & 2 ? box->row_step : 0) + (k & 1 ? sizeof *words : 0);
        for (uint32_t i = 0; i < block->count; i++)
            memcpy(&words[i], (const void *)(base + block->place[box->level][i]), sizeof *words);
    } else {
        for (uint32_t i = 0; i < block->count; i++)
            memcpy(&words[i], (const void *)block->texel[q][k][i], sizeof *words);
    }
    memset(words + block->count, 0, (BLR_BLOCK - block->count) * sizeof *words);
}

static float float_of_bits(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* Adds the products of codes of 8 or 16 bits. */
static void add_codes(const uint32_t words[BLR_BLOCK], const int32_t weight[BLR_BLOCK], const int channel, const bool srgb,
                      int32_t *restrict sums)
{
    BLR_EACH_ITEM {
        const uint32_t word = words[i];
        const uint32_t code = srgb          ? word >> 24
                              : channel < 3 ? (word >> (10 * channel) & 0x3ffu) << 6 | (word >> (10 * channel + 4) & 0x3fu)
                                            : (word >> 30) * 21845u;
        sums[i] += (int32_t)code * weight[i];
    }
}

/* Red, green or blue: significands are cut at the largest exponent among the texels with a weight. */
static void blend_srgb_channel(uint32_t words[4][BLR_BLOCK], const int32_t weight[4][BLR_BLOCK], const int channel, float *restrict out)
{
    BLR_EACH_ITEM {
        uint32_t exponent = 0, sum = 0;
        for (int k = 0; k < 4; k++) {
            const uint32_t own = blr_srgb_parts[words[k][i] >> (8 * channel) & 255] >> 16;
            exponent = weight[k][i] != 0 && own > exponent ? own : exponent;
        }
        for (int k = 0; k < 4; k++) {
            const uint32_t parts = blr_srgb_parts[words[k][i] >> (8 * channel) & 255], own = parts >> 16;
            const uint32_t cut = exponent > own ? exponent - own : 0;
            sum += ((parts & 0xffffu) >> cut) * (uint32_t)weight[k][i];
        }
        /* To the 11 bits of a half, ties away from zero; the exponents are those of the last bit, from -22 on. */
        const float whole = (float)(int32_t)sum;
        uint32_t bits;
        memcpy(&bits, &whole, sizeof bits);
        out[i] = float_of_bits((bits + 0x1000u) & 0xffffe000u) * float_of_bits((exponent + 127 - 22) << 23);
    }
}

static void interleave(const float rows[4][BLR_BLOCK], uint32_t count, float *restrict out)
{
    for (uint32_t i = 0; i < count; i++)
        for (int c = 0; c < 4; c++)
            out[4 * i + (uint32_t)c] = rows[c][i];
}

static uint64_t srgb_4(const struct blr_block *block, float *out, bool stream)
{
    uint32_t words[4][BLR_BLOCK];
    int32_t alpha[BLR_BLOCK] = {0};
    float rows[4][BLR_BLOCK];
    (void)stream;
    if (block->quads > 1)
        return UINT64_MAX;
    for (int k = 0; k < 4; k++) {
        load_words(block, 0, k, words[k]);
        add_codes(words[k], block->weight[0][k], 3, true, alpha);
    }
    for (int c = 0; c < 3; c++)
        blend_srgb_channel(words, block->weight[0], c, rows[c]);
    BLR_EACH_ITEM
        rows[3][i] = (float)((257 * alpha[i] + 128) >> 8) / 65535.0f;
    interleave(rows, block->count, out);
    return 0;
}

static uint64_t tens_4(const struct blr_block *block, float *out, bool stream)
{
    uint32_t words[BLR_BLOCK];
    int32_t sums[4][BLR_BLOCK];
    float rows[4][BLR_BLOCK];
    (void)stream;
    memset(sums, 0, sizeof sums);
    for (uint32_t q = 0; q < block->quads; q++)
        for (int k = 0; k < 4; k++) {
            load_words(block, q, k, words);
            add_codes(words, block->weight[q][k], 0, false, sums[0]);
            add_codes(words, block->weight[q][k], 1, false, sums[1]);
            add_codes(words, block->weight[q][k], 2, false, sums[2]);
            add_codes(words, block->weight[q][k], 3, false, sums[3]);
        }
    for (int c = 0; c < 4; c++)
        BLR_EACH_ITEM
            rows[c][i] = (float)((sums[c][i] + 128) >> 8) / 65535.0f;
    interleave(rows, block->count, out);
    return 0;
}

/* ---- nearest texels */

static uint64_t nearest_srgb_4(const struct blr_block *block, float *out, bool stream)
{
    uint32_t words[BLR_BLOCK];
    (void)stream;
    load_words(block, 0, 0, words);
    for (uint32_t i = 0; i < block->count; i++) {
        for (uint32_t c = 0; c < 3; c++) {
            const uint32_t parts = blr_srgb_parts[words[i] >> (8 * c) & 255];
            out[4 * i + c] = (float)(parts & 0xffffu) * float_of_bits(((parts >> 16) + 127 - 14) << 23);
        }
        out[4 * i + 3] = (float)(words[i] >> 24) / 255.0f;
    }
    return 0;
}

static uint64_t nearest_tens_4(const struct blr_block *block, float *out, bool stream)
{
    uint32_t words[BLR_BLOCK];
    (void)stream;
    load_words(block, 0, 0, words);
    for (uint32_t i = 0; i < block->count; i++) {
        for (uint32_t c = 0; c < 3; c++)
            out[4 * i + c] = (float)(words[i] >> (10 * c) & 0x3ffu) / 1023.0f;
        out[4 * i + 3] = (float)(words[i] >> 30) / 3.0f;
    }
    return 0;
}

#endif
