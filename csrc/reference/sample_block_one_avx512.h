/* Blending a block of float texels with one quad an item, in single precision throughout. A texel is cut to 28 bits below
 * the largest exponent, as in sample_block_blend_avx2.h, and split into a whole number below 2^14 and a fraction of 14 bits:
 * the weighted sums of the ones and of the others are exact in single precision, and their own sum is rounded once. A quarter
 * of the last bit of the fractions, added in the direction of the sum, moves ties away from zero and nothing else. An
 * infinity or NaN among the texels, whatever its weight, leaves an infinity or NaN. */
#ifndef BLR_SAMPLE_BLOCK_ONE_AVX512_H
#define BLR_SAMPLE_BLOCK_ONE_AVX512_H

#include "sample_block_blend_avx512.h"

/* ---- texels of boxes, whose rows are pairs of neighbours */

BLR_INLINE_BLEND __m512 four_of_four(const unsigned char *row, const uint32_t *place)
{
    __m512 a = _mm512_castps128_ps512(_mm_loadu_ps((const float *)(row + place[0])));
    a = _mm512_insertf32x4(a, _mm_loadu_ps((const float *)(row + place[1])), 1);
    a = _mm512_insertf32x4(a, _mm_loadu_ps((const float *)(row + place[2])), 2);
    return _mm512_insertf32x4(a, _mm_loadu_ps((const float *)(row + place[3])), 3);
}

BLR_INLINE_BLEND __m512 two_of_eight(const unsigned char *row, uint32_t first, uint32_t second)
{
    return joined(_mm256_loadu_ps((const float *)(row + first)), _mm256_loadu_ps((const float *)(row + second)));
}

/* Left and right texels of a row, of as many items as fill a vector. */
BLR_INLINE_BLEND void wide_box_row(const struct blr_block *block, int row, uint32_t item, const int channels, __m512 *left,
                                   __m512 *right)
{
    const unsigned char *first = (const unsigned char *)(block->base + (row ? block->row_step : 0));
    const uint32_t *place = &block->place[item];
    if (channels == 4) {
        __m512 a = two_of_eight(first, place[0], place[1]), b = two_of_eight(first, place[2], place[3]);
        *left = _mm512_shuffle_f32x4(a, b, _MM_SHUFFLE(2, 0, 2, 0));
        *right = _mm512_shuffle_f32x4(a, b, _MM_SHUFFLE(3, 1, 3, 1));
    } else if (channels == 3) {           /* six floats, the idle lane repeats the third channel */
        *left = _mm512_permute_ps(four_of_four(first, place), _MM_SHUFFLE(2, 2, 1, 0));
        *right = _mm512_permute_ps(four_of_four(first + 8, place), _MM_SHUFFLE(3, 3, 2, 1));
    } else {
        const uint32_t even[4] = {place[0], place[2], place[4], place[6]}, odd[4] = {place[1], place[3], place[5], place[7]};
        __m512d a = _mm512_castps_pd(four_of_four(first, even)), b = _mm512_castps_pd(four_of_four(first, odd));
        *left = _mm512_castpd_ps(_mm512_unpacklo_pd(a, b));
        *right = _mm512_castpd_ps(_mm512_unpackhi_pd(a, b));
    }
}

/* Of eight items with one channel, in the halves of vectors: both rows of an item one after the other, so that its place is
 * needed no longer. */
BLR_INLINE_BLEND void box_columns(const struct blr_block *block, uint32_t item, __m256 texel[4])
{
    __m128 pairs[2][4];
    const unsigned char *upper = (const unsigned char *)block->base, *lower = upper + block->row_step;
    for (int k = 0; k < 4; k++) {
        const uint32_t first = block->place[item + 2 * k], second = block->place[item + 2 * k + 1];
        __m128 above = _mm_castsi128_ps(_mm_loadl_epi64((const __m128i *)(upper + first)));
        __m128 below = _mm_castsi128_ps(_mm_loadl_epi64((const __m128i *)(lower + first)));
        pairs[0][k] = _mm_loadh_pi(above, (const __m64 *)(upper + second));
        pairs[1][k] = _mm_loadh_pi(below, (const __m64 *)(lower + second));
    }
    for (int row = 0; row < 2; row++) {
        __m256 a = _mm256_set_m128(pairs[row][2], pairs[row][0]), b = _mm256_set_m128(pairs[row][3], pairs[row][1]);
        texel[2 * row] = _mm256_shuffle_ps(a, b, _MM_SHUFFLE(2, 0, 2, 0));
        texel[2 * row + 1] = _mm256_shuffle_ps(a, b, _MM_SHUFFLE(3, 1, 3, 1));
    }
}

BLR_INLINE_BLEND void wide_texels(const struct blr_block *block, uint32_t item, const int channels, const bool boxes,
                                  const bool windows, __m512 texel[4])
{
    if (windows) {
        const struct window window = find_window(block, item);
        window_pairs(block, 0, 0, &window, &texel[0], &texel[1]);
        window_pairs(block, 0, 1, &window, &texel[2], &texel[3]);
    } else if (boxes && channels == 1) {
        __m256 lower[4], upper[4];
        box_columns(block, item, lower);
        box_columns(block, item + 8, upper);
        for (int k = 0; k < 4; k++)
            texel[k] = joined(lower[k], upper[k]);
    } else if (boxes) {
        wide_box_row(block, 0, item, channels, &texel[0], &texel[1]);
        wide_box_row(block, 1, item, channels, &texel[2], &texel[3]);
    } else {
        wide_load_texels(block, 0, item, channels, boxes, NULL, texel);
    }
}

/* ---- sums */

/* The weights of some of sixteen items: one for each channel of a vector. */
BLR_INLINE_BLEND __m512 wide_spread(__m512 weights, int part, const int channels)
{
    if (channels == 1)
        return weights;
    const __m512i items = channels == 2 ? _mm512_setr_epi32(0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7)
                                        : _mm512_setr_epi32(0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3);
    return _mm512_permutexvar_ps(_mm512_add_epi32(items, _mm512_set1_epi32(part * 16 / LANES_OF(channels))), weights);
}

/* *small: channels that are zero, or too small for the scaling. */
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
    /* Sums of fewer than 24 bits are not rounded. */
    __m512 sum = _mm512_add_ps(wholes, fractions);
    __mmask16 rounded = _mm512_cmp_ps_mask(_mm512_andnot_ps(sign, sum), _mm512_set1_ps(0x1p10f), _CMP_GE_OQ);
    __m512 nudge = _mm512_or_ps(_mm512_and_ps(sum, sign), _mm512_set1_ps(0x1p-16f));
    sum = _mm512_add_ps(wholes, _mm512_mask_add_ps(fractions, rounded, fractions, nudge));
    return _mm512_mul_ps(sum, _mm512_castsi512_ps(_mm512_sub_epi32(exponent, EXPONENT16(21))));
}

BLR_INLINE_BLEND uint64_t blend_wide_one(const struct blr_block *block, float *out, bool stream, const int channels,
                                         const bool boxes, const bool windows)
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
            __mmask16 small;
            wide_texels(block, item, channels, boxes, windows, texel);
            for (int k = 0; k < 4; k++)
                weight[k] = wide_spread(weights[k], part, channels);
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
