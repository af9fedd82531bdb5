/* Blending of a block of integer codes with 128-bit vectors, in 32-bit integers. sampler/simd/normalise.h converts the
 * sums, except for the most common formats. */
#ifndef BINDLESS_REFERENCE_SAMPLER_SIMD_FILTER_INTEGER_NEON_H
#define BINDLESS_REFERENCE_SAMPLER_SIMD_FILTER_INTEGER_NEON_H

#include "sampler/simd/vector_neon.h"

BLR_INLINE_BLEND int32x4_t texel_codes(const uintptr_t *texel, const struct code_kind kind, const int channels)
{
    if (kind.bytes == 1) {
        const uint8x8_t bytes = four_bytes(texel, channels);
        return kind.is_signed ? vmovl_s16(vget_low_s16(vmovl_s8(vreinterpret_s8_u8(bytes))))
                              : vreinterpretq_s32_u32(vmovl_u16(vget_low_u16(vmovl_u8(bytes))));
    }
    const uint16x4_t words = four_words(texel, channels);
    return kind.is_signed ? vmovl_s16(vreinterpret_s16_u16(words)) : vreinterpretq_s32_u32(vmovl_u16(words));
}

BLR_INLINE_BLEND int32x4_t sum_of_codes(const struct blr_block *block, uint32_t item, const struct code_kind kind,
                                        const int channels, const bool boxes)
{
    const uint32_t step = 4 / LANES_OF(channels), pixel_size = (uint32_t)(channels * kind.bytes);
    int32x4_t sum = vdupq_n_s32(0);
    for (uint32_t q = 0; q < block->quads; q++)
        for (int row = 0; row < 2; row++) {
            uintptr_t places[2][16];
            const uintptr_t *left = texels_at(block, q, 2 * row, item, step, pixel_size, boxes, places[0]);
            const uintptr_t *right = texels_at(block, q, 2 * row + 1, item, step, pixel_size, boxes, places[1]);
            const int32x4_t weights = lanes_of_ints(&block->pair[q][row][item], channels);
            sum = vmlaq_s32(sum, texel_codes(left, kind, channels), vandq_s32(weights, vdupq_n_s32(0xffff)));
            sum = vmlaq_s32(sum, texel_codes(right, kind, channels), vshrq_n_s32(weights, 16));
        }
    return sum;
}

/* integer / (2^bits - 1), correctly rounded for all integers up to the divisor, with 8 or 16 bits: the quotient by
 * 2^bits plus a small correction. */
BLR_INLINE_BLEND float32x4_t divide(int32x4_t integer, const float power)
{
    const float32x4_t number = vcvtq_f32_s32(integer);
    const float rest = (float)(1.0 / (double)power / ((double)power - 1.0));
    return vfmaq_f32(vmulq_f32(number, vdupq_n_f32(1.0f / power)), number, vdupq_n_f32(rest));
}

/* Unsigned normalized bytes, converted to floats: (257 Q + 128) >> 8 divided by 65535. */
BLR_INLINE_BLEND uint64_t blend_bytes(const struct blr_block *block, float *out, bool stream, const int channels,
                                      const bool boxes)
{
    for (uint32_t item = 0; item < block->count; item += 4 / LANES_OF(channels), out += 4) {
        const int32x4_t sum = sum_of_codes(block, item, (struct code_kind){1, false}, channels, boxes);
        store_lanes(out, divide(vaddq_s32(sum, vrshrq_n_s32(sum, 8)), 65536.0f), stream);
    }
    return 0;
}

/* Sums in 1/256, as integers in the place of the results. */
BLR_INLINE_BLEND uint64_t blend_codes(const struct blr_block *block, float *out, const struct code_kind kind,
                                      const int channels, const bool boxes)
{
    for (uint32_t item = 0; item < block->count; item += 4 / LANES_OF(channels), out += 4)
        vst1q_f32(out, vreinterpretq_f32_s32(sum_of_codes(block, item, kind, channels, boxes)));
    return 0;
}

/* Taps: sums in 1/1024. */
BLR_INLINE_BLEND uint64_t add_taps_of_codes(const struct blr_block *block, struct blr_totals *totals,
                                            const struct code_kind kind, const int channels)
{
    int32_t *total = totals->sum;
    for (uint32_t item = 0; item < block->count; item += 4 / LANES_OF(channels), total += 4)
        vst1q_s32(total, vaddq_s32(vld1q_s32(total), sum_of_codes(block, item, kind, channels, false)));
    return 0;
}

BLR_INLINE_BLEND void end_taps_of_codes(const struct blr_totals *totals, uint32_t lanes, float *out,
                                        const struct code_kind kind)
{
    (void)kind;
    memcpy(out, totals->sum, lanes * sizeof *out);
}

/* ---- nearest texels */

BLR_INLINE_BLEND float32x4_t texels_unorm8(const uintptr_t *texel, const int channels)
{
    return divide(texel_codes(texel, (struct code_kind){1, false}, channels), 256.0f);
}

/* Codes as integers in the place of the results. */
#define TEXELS(name, bytes, is_signed)                                                                              \
    BLR_INLINE_BLEND float32x4_t texels_##name(const uintptr_t *texel, const int channels)                            \
    {                                                                                                               \
        return vreinterpretq_f32_s32(texel_codes(texel, (struct code_kind){bytes, is_signed}, channels));           \
    }

TEXELS(s8, 1, true)
TEXELS(u8, 1, false)
TEXELS(s16, 2, true)
TEXELS(u16, 2, false)

#endif
