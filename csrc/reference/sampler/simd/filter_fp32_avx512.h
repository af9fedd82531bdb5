/* Blending of a block of float texels with one quad an item, in single precision. A texel is truncated to 28 bits
 * below the largest exponent, as in sampler/simd/filter_float_avx2.h, and split into an integer below 2^14 and a fraction
 * of 14 bits: the weighted sums of each part are exact in single precision, and their total is rounded once. A
 * quarter of the fractions' last bit, added in the direction of the sum, moves ties away from zero and nothing else.
 * An infinity or NaN among the texels, whatever its weight, gives an infinity or NaN. */
#ifndef BINDLESS_REFERENCE_SAMPLER_SIMD_FILTER_FP32_AVX512_H
#define BINDLESS_REFERENCE_SAMPLER_SIMD_FILTER_FP32_AVX512_H

#include "sampler/simd/filter_float_avx512.h"

/* ---- sums */

/* The weights of a part of sixteen items: one for each channel of a vector. */
BLR_INLINE_BLEND __m512 wide_spread(__m512 weights, int part, const int channels)
{
    if (channels == 1)
        return weights;
    const __m512i items = channels == 2 ? _mm512_setr_epi32(0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7)
                                        : _mm512_setr_epi32(0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3);
    return _mm512_permutexvar_ps(_mm512_add_epi32(items, _mm512_set1_epi32(part * 16 / LANES_OF(channels))), weights);
}

/* small: channels that are zero, or too small for the scaling. */
BLR_INLINE_BLEND __m512 wide_one(const __m512 texel[4], const __m512 weight[4], __mmask16 *small)
{
    const __m512i size = _mm512_set1_epi32(0x7fffffff);
    const __m512 sign = _mm512_set1_ps(-0.0f);
    __m512i magnitude[4];
    for (int k = 0; k < 4; k++) {
        const __m512i bits = _mm512_castps_si512(weight[k]);
        magnitude[k] = _mm512_maskz_and_epi32(_mm512_test_epi32_mask(bits, bits), _mm512_castps_si512(texel[k]), size);
    }
    __m512i largest = _mm512_max_epi32(_mm512_max_epi32(magnitude[0], magnitude[1]),
                                       _mm512_max_epi32(magnitude[2], magnitude[3]));
    *small = _mm512_cmplt_epi32_mask(largest, EXPONENT16(LOWEST_EXPONENT));
    __m512i exponent = _mm512_and_si512(_mm512_max_epi32(largest, EXPONENT16(LOWEST_EXPONENT)), EXPONENT16(255));
    __m512 scale = _mm512_castsi512_ps(_mm512_sub_epi32(EXPONENT16(267), exponent));
    __m512 wholes = _mm512_setzero_ps(), fractions = _mm512_setzero_ps();
    for (int k = 0; k < 4; k++) {
        __m512 scaled = _mm512_mul_ps(texel[k], scale);
        __m512 whole = _mm512_roundscale_ps(scaled, _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC);
        __m512 fraction = _mm512_sub_ps(_mm512_roundscale_ps(scaled, 14 << 4 | _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC), whole);
        wholes = k ? _mm512_fmadd_ps(whole, weight[k], wholes) : _mm512_mul_ps(whole, weight[k]);
        fractions = k ? _mm512_fmadd_ps(fraction, weight[k], fractions) : _mm512_mul_ps(fraction, weight[k]);
    }
    /* Sums below 2^10 have fewer than 24 bits and are not rounded; from 2^8 on adding the quarter bit has no effect. */
    __mmask16 rounded = _mm512_cmp_ps_mask(_mm512_abs_ps(wholes), _mm512_set1_ps(0x1p9f), _CMP_GE_OQ);
    __m512 nudge = _mm512_or_ps(_mm512_and_ps(wholes, sign), _mm512_set1_ps(0x1p-16f));
    __m512 sum = _mm512_add_ps(wholes, _mm512_mask_add_ps(fractions, rounded, fractions, nudge));
    return _mm512_mul_ps(sum, _mm512_castsi512_ps(_mm512_sub_epi32(exponent, EXPONENT16(21))));
}

BLR_INLINE_BLEND void wide_load_ones(const struct blr_block *block, uint32_t item, const int channels, const bool boxes,
                                     const bool windows, __m512 texel[4])
{
    const struct window window = windows ? find_window(block, item) : (struct window){.is_valid = false};
    wide_load_texels(block, 0, item, channels, boxes, windows ? &window : NULL, texel);
}

/* Texels are loaded while the previous ones are blended, which is a long dependency chain; with one channel loading
 * takes longer than blending. */
BLR_INLINE_BLEND uint64_t blend_wide_one(const struct blr_block *block, float *out, bool stream, const int channels,
                                         const bool boxes, const bool windows)
{
    const uint32_t step = 16 / LANES_OF(channels);
    uint64_t again = 0;
    const bool early = channels > 1;
    __m512 texel[4], next[4];
    if (early)
        wide_load_ones(block, 0, channels, boxes, windows, next);
    for (uint32_t first = 0; first < block->count; first += 16) {
        __m512 weights[4];
        for (int k = 0; k < 4; k++)
            weights[k] = _mm512_cvtepi32_ps(_mm512_load_si512(&block->weight[0][k][first]));
        for (int part = 0; part < LANES_OF(channels); part++, out += 16) {
            const uint32_t item = first + (uint32_t)part * step;
            __m512 weight[4];
            __mmask16 small;
            for (int k = 0; k < 4; k++) {
                weight[k] = wide_spread(weights[k], part, channels);
                if (early)
                    texel[k] = next[k];
            }
            wide_load_ones(block, (item + early * step) % BLR_BLOCK, channels, boxes, windows, early ? next : texel);
            __m512 value = wide_one(texel, weight, &small);
            store_wide(out, value, stream);
            __mmask16 doubtful = _mm512_fpclass_ps_mask(value, 0x99);       /* NaNs and infinities */
            if (small)
                doubtful |= wide_doubtful_small(block, item, channels, boxes, false);
            if (doubtful)
                again |= (uint64_t)items_of_wide_lanes(doubtful, channels) << item;
        }
    }
    return again;
}

BLR_INLINE_BLEND uint64_t blend_wide_ones(const struct blr_block *block, float *out, bool stream, const int channels,
                                          const bool boxes)
{
    if (channels == 1 && boxes && has_windows(block))
        return blend_wide_one(block, out, stream, channels, true, true);
    return blend_wide_one(block, out, stream, channels, boxes, false);
}

#endif
