/* Lanes of 128-bit vectors, four channels of one, two or four items: loading texels, spreading weights, storing
 * results. */
#ifndef BINDLESS_REFERENCE_SAMPLER_SIMD_VECTOR_NEON_H
#define BINDLESS_REFERENCE_SAMPLER_SIMD_VECTOR_NEON_H

#include "sampler/simd/vector.h"

#include <arm_neon.h>

#define VECTOR_LANES 4

struct lanes {
    float32x4_t texel[4];
    int32x4_t weight[4];
};

BLR_INLINE_BLEND bool any_lane(uint32x4_t lanes)
{
    return vmaxvq_u32(lanes) != 0;
}

BLR_INLINE_BLEND int32x4_t lanes_of_ints(const int32_t *item, const int channels)
{
    if (channels >= 3)
        return vdupq_n_s32(item[0]);
    if (channels == 2)
        return vcombine_s32(vdup_n_s32(item[0]), vdup_n_s32(item[1]));
    return vld1q_s32(item);
}

BLR_INLINE_BLEND float load_float(uintptr_t address)
{
    float value;
    memcpy(&value, (const void *)address, sizeof value);
    return value;
}

BLR_INLINE_BLEND float32x2_t load_pair(uintptr_t address)
{
    return vreinterpret_f32_u8(vld1_u8((const uint8_t *)address));
}

/* With three channels the idle lane repeats the third: a zero would be treated as a special value. */
BLR_INLINE_BLEND float32x4_t texels_fp32(const uintptr_t *texel, const int channels)
{
    if (channels == 4)
        return vreinterpretq_f32_u8(vld1q_u8((const uint8_t *)texel[0]));
    if (channels == 3)
        return vcombine_f32(load_pair(texel[0]), vdup_n_f32(load_float(texel[0] + 8)));
    if (channels == 2)
        return vcombine_f32(load_pair(texel[0]), load_pair(texel[1]));
    const float floats[4] = {load_float(texel[0]), load_float(texel[1]), load_float(texel[2]), load_float(texel[3])};
    return vld1q_f32(floats);
}

/* Four channels of two bytes. */
BLR_INLINE_BLEND uint16x4_t four_words(const uintptr_t *texel, const int channels)
{
    if (channels == 4)
        return vreinterpret_u16_u8(vld1_u8((const uint8_t *)texel[0]));
    if (channels == 3)
        return vcreate_u16((uint32_t)load_int(texel[0]) | (uint64_t)(uint16_t)load_short(texel[0] + 4) << 32);
    if (channels == 2)
        return vcreate_u16((uint32_t)load_int(texel[0]) | (uint64_t)(uint32_t)load_int(texel[1]) << 32);
    const uint16_t words[4] = {(uint16_t)load_short(texel[0]), (uint16_t)load_short(texel[1]), (uint16_t)load_short(texel[2]),
                               (uint16_t)load_short(texel[3])};
    return vld1_u16(words);
}

/* Four channels of one byte, in the lower half. */
BLR_INLINE_BLEND uint8x8_t four_bytes(const uintptr_t *texel, const int channels)
{
    uint32_t bytes = 0;
    if (channels == 4)
        bytes = (uint32_t)load_int(texel[0]);
    else if (channels == 3)
        bytes = (uint32_t)load_three_bytes(texel[0]);
    else if (channels == 2)
        bytes = (uint16_t)load_short(texel[0]) | (uint32_t)(uint16_t)load_short(texel[1]) << 16;
    else
        for (int i = 0; i < 4; i++)
            bytes |= (uint32_t)*(const uint8_t *)texel[i] << 8 * i;
    return vcreate_u8(bytes);
}

BLR_INLINE_BLEND float32x4_t texels_fp16(const uintptr_t *texel, const int channels)
{
    return vcvt_f32_f16(vreinterpret_f16_u16(four_words(texel, channels)));
}

/* Four one-channel items whose rows are neighbours: both columns with one load each. */
BLR_INLINE_BLEND void row_pairs_fp32(const struct blr_block *block, uint32_t q, int row, uint32_t item, const bool boxes,
                                     float32x4_t *left, float32x4_t *right)
{
    uintptr_t worked_out[16];
    const uintptr_t *texel = texels_at(block, q, 2 * row, item, 4, 4, boxes, worked_out);
    const float32x4_t a = vcombine_f32(load_pair(texel[0]), load_pair(texel[1]));
    const float32x4_t b = vcombine_f32(load_pair(texel[2]), load_pair(texel[3]));
    *left = vuzp1q_f32(a, b);
    *right = vuzp2q_f32(a, b);
}

#include "sampler/simd/vector_load.h"

BLR_INLINE_BLEND uint32_t items_of_lanes(uint32x4_t lanes, const int channels)
{
    uint32_t item[4];
    vst1q_u32(item, lanes);
    if (channels >= 3)
        return any_lane(lanes) ? 1u : 0u;
    if (channels == 2)
        return (item[0] | item[1] ? 1u : 0u) | (item[2] | item[3] ? 2u : 0u);
    return (item[0] ? 1u : 0u) | (item[1] ? 2u : 0u) | (item[2] ? 4u : 0u) | (item[3] ? 8u : 0u);
}

/* No non-temporal store is available in all compilers. */
BLR_INLINE_BLEND void store_lanes(float *out, float32x4_t value, bool stream)
{
    (void)stream;
    vst1q_f32(out, value);
}

BLR_INLINE_BLEND void copy_past_caches(unsigned char *restrict to, const unsigned char *restrict from, size_t size)
{
    memcpy(to, from, size);
}

BLR_INLINE_BLEND void eight_to_halves(const float *values, uint16_t *halves)
{
    for (int k = 0; k < 8; k += 4)
        vst1_u16(halves + k, vreinterpret_u16_f16(vcvt_f16_f32(vld1q_f32(values + k))));
}

BLR_INLINE_BLEND void eight_from_halves(const uint16_t *halves, float *values)
{
    for (int k = 0; k < 8; k += 4)
        vst1q_f32(values + k, vcvt_f32_f16(vreinterpret_f16_u16(vld1_u16(halves + k))));
}

#endif
