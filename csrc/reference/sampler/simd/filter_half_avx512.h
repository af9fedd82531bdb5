/* Blending of a block of half texels with one quad an item with 512-bit vectors. The method is that of
 * sampler/simd/filter_float_avx2.h; an infinity or NaN among the texels, whatever its weight, makes the sum infinite or
 * NaN. */
#ifndef BINDLESS_REFERENCE_SAMPLER_SIMD_FILTER_HALF_AVX512_H
#define BINDLESS_REFERENCE_SAMPLER_SIMD_FILTER_HALF_AVX512_H

#include "sampler/simd/filter_fp32_avx512.h"

/* Left and right texels of a row of boxes, for four items with four channels. */
BLR_INLINE_BLEND void half_box_row(const struct blr_block *block, int row, uint32_t item, __m512 *left, __m512 *right)
{
    const struct blr_boxes *box = &block->box[0];
    const unsigned char *first = (const unsigned char *)(box->base + (row ? box->row_step : 0));
    const __m512i rows = _mm512_castps_si512(four_of_four(first, &block->place[box->level][item]));
    const __m512i columns = _mm512_permutexvar_epi64(_mm512_setr_epi64(0, 2, 4, 6, 1, 3, 5, 7), rows);
    *left = _mm512_cvtph_ps(_mm512_castsi512_si256(columns));
    *right = _mm512_cvtph_ps(_mm512_extracti64x4_epi64(columns, 1));
}

BLR_INLINE_BLEND void half_texels(const struct blr_block *block, uint32_t item, const int channels, const bool boxes,
                                  __m512 texel[4])
{
    if (boxes && channels == 4) {
        half_box_row(block, 0, item, &texel[0], &texel[1]);
        half_box_row(block, 1, item, &texel[2], &texel[3]);
        return;
    }
    for (int k = 0; k < 4; k++) {
        uintptr_t worked_out[16];
        const uint32_t items = 16 / LANES_OF(channels);
        const uintptr_t *places = texels_at(block, 0, k, item, items, 2 * (uint32_t)channels, boxes, worked_out);
        texel[k] = join(texels_fp16(places, channels), texels_fp16(places + items / 2, channels));
    }
}

/* Sums in units of 2^(exponent - 23): below 2^23, exact in float. *doubtful: channels to be recomputed. */
BLR_INLINE_BLEND __m512 half_sum(const __m512 texel[4], const __m512 weight[4], __m512i *exponent, __mmask16 *doubtful)
{
    const __m512i size = _mm512_set1_epi32(0x7fffffff);
    __mmask16 some[4];
    __m512i magnitude[4];
    for (int k = 0; k < 4; k++) {
        const __m512i bits = _mm512_castps_si512(weight[k]);
        some[k] = _mm512_test_epi32_mask(bits, bits);
        magnitude[k] = _mm512_maskz_and_epi32(some[k], _mm512_castps_si512(texel[k]), size);
    }
    const __m512i largest = _mm512_max_epi32(_mm512_max_epi32(magnitude[0], magnitude[1]),
                                             _mm512_max_epi32(magnitude[2], magnitude[3]));
    *exponent = _mm512_and_si512(_mm512_max_epi32(largest, EXPONENT16(113)), EXPONENT16(255));
    const __m512 scale = _mm512_castsi512_ps(_mm512_sub_epi32(EXPONENT16(268), *exponent));
    __m512 sum = _mm512_setzero_ps();
    for (int k = 0; k < 4; k++) {
        const __m512 scaled = _mm512_mul_ps(texel[k], scale);
        sum = _mm512_fmadd_ps(_mm512_roundscale_ps(scaled, _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC), weight[k], sum);
    }
    *doubtful = _mm512_fpclass_ps_mask(sum, 0x99);                    /* NaNs and infinities */
    /* Zeros are exact unless one of them is negative. */
    const __mmask16 zero = _mm512_testn_epi32_mask(largest, largest);
    if (zero) {
        __m512i bits = _mm512_setzero_si512();
        for (int k = 0; k < 4; k++)
            bits = _mm512_mask_or_epi32(bits, some[k], bits, _mm512_castps_si512(texel[k]));
        *doubtful |= zero & _mm512_test_epi32_mask(bits, bits);
    }
    return sum;
}

/* Rounds half away from zero to eleven bits, or to 2^-24 below the normal halves. */
BLR_INLINE_BLEND __m512 half_round(__m512 sum, __m512i exponent)
{
    const __m512 unit = _mm512_castsi512_ps(_mm512_sub_epi32(exponent, EXPONENT16(22)));
    const __m512i bits = _mm512_add_epi32(_mm512_castps_si512(sum), _mm512_set1_epi32(0x1000));
    const __m512 value = _mm512_mul_ps(_mm512_castsi512_ps(_mm512_and_si512(bits, _mm512_set1_epi32(-0x2000))), unit);
    const __m512 exact = _mm512_mul_ps(sum, unit), magnitude = _mm512_abs_ps(exact);
    const __mmask16 small = _mm512_cmp_ps_mask(magnitude, _mm512_set1_ps(0x1p-14f), _CMP_LT_OQ);
    if (!small)
        return value;
    __m512 steps = _mm512_add_ps(_mm512_mul_ps(magnitude, _mm512_set1_ps(0x1p24f)), _mm512_set1_ps(0.5f));
    steps = _mm512_mul_ps(_mm512_roundscale_ps(steps, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC), _mm512_set1_ps(0x1p-24f));
    return _mm512_mask_or_ps(value, small, steps, _mm512_and_ps(exact, _mm512_set1_ps(-0.0f)));
}

BLR_INLINE_BLEND uint64_t blend_wide_half(const struct blr_block *block, float *out, bool stream, const int channels,
                                          const bool boxes)
{
    const uint32_t step = 16 / LANES_OF(channels);
    uint64_t again = 0;
    for (uint32_t first = 0; first < block->count; first += 16) {
        __m512 weights[4];
        for (int k = 0; k < 4; k++)
            weights[k] = _mm512_cvtepi32_ps(_mm512_load_si512(&block->weight[0][k][first]));
        for (int part = 0; part < LANES_OF(channels); part++, out += 16) {
            const uint32_t item = first + (uint32_t)part * step;
            __m512 texel[4], weight[4];
            __m512i exponent;
            __mmask16 doubtful;
            half_texels(block, item, channels, boxes, texel);
            for (int k = 0; k < 4; k++)
                weight[k] = wide_spread(weights[k], part, channels);
            const __m512 sum = half_sum(texel, weight, &exponent, &doubtful);
            store_wide(out, half_round(sum, exponent), stream);
            if (doubtful)
                again |= (uint64_t)items_of_wide_lanes(doubtful, channels) << item;
        }
    }
    return again;
}

#endif
