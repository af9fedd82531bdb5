/* Blending of a block of integer codes with 256-bit vectors: products of pairs of 16-bit numbers, summed exactly.
 * sampler/simd/normalise.h converts the sums, except for the most common formats. */
#ifndef BINDLESS_REFERENCE_SAMPLER_SIMD_FILTER_INTEGER_AVX2_H
#define BINDLESS_REFERENCE_SAMPLER_SIMD_FILTER_INTEGER_AVX2_H

#include "sampler/simd/vector_avx2.h"

/* ---- unsigned normalized bytes, converted to floats */

/* Two rows of a quad: bytes of the left and right texels interleaved, as 16-bit numbers. */
BLR_INLINE_BLEND __m256i byte_pairs(const uintptr_t *left, const uintptr_t *right, const int channels)
{
    return _mm256_cvtepu8_epi16(_mm_unpacklo_epi8(eight_bytes(left, channels), eight_bytes(right, channels)));
}

/* Rows of neighbouring texels of two items with four channels: one load an item. */
BLR_INLINE_BLEND __m256i dense_byte_pairs(const struct blr_block *block, uint32_t q, int row, uint32_t item,
                                          const bool boxes)
{
    const __m128i order = _mm_setr_epi8(0, 4, 1, 5, 2, 6, 3, 7, 8, 12, 9, 13, 10, 14, 11, 15);
    __m128i rows = _mm_castps_si128(two_rows(block, q, row, item, boxes));
    return _mm256_cvtepu8_epi16(_mm_shuffle_epi8(rows, order));
}

/* integer / divisor, correctly rounded for all integers up to the divisor; the divisor is 255 or 65535. */
BLR_INLINE_BLEND __m256 divide(__m256i integer, const float divisor)
{
    const __m256 inverse = _mm256_set1_ps(1.0f / divisor);
    __m256 number = _mm256_cvtepi32_ps(integer), quotient = _mm256_mul_ps(number, inverse);
    return _mm256_fmadd_ps(_mm256_fnmadd_ps(quotient, _mm256_set1_ps(divisor), number), inverse, quotient);
}

BLR_INLINE_BLEND uint64_t blend_bytes(const struct blr_block *block, float *out, bool stream, const int channels,
                                      const bool several, const bool boxes)
{
    const uint32_t step = 8 / LANES_OF(channels);
    const __m256i half = _mm256_set1_epi32(128);
    for (uint32_t item = 0; item < block->count; item += step, out += 8) {
        const bool dense = channels == 4 && (boxes || block->dense[item >> 3]);
        __m256i sum = _mm256_setzero_si256();
        for (uint32_t q = 0; q < (several ? block->quads : 1); q++)
            for (int row = 0; row < 2; row++) {
                uintptr_t places[2][16];
                const uint32_t pixel_size = (uint32_t)channels;
                const uintptr_t *left = texels_at(block, q, 2 * row, item, step, pixel_size, boxes, places[0]);
                const uintptr_t *right = texels_at(block, q, 2 * row + 1, item, step, pixel_size, boxes, places[1]);
                __m256i pairs = dense ? dense_byte_pairs(block, q, row, item, boxes) : byte_pairs(left, right, channels);
                __m256i weights = lanes_of_ints(&block->pair[q][row][item], channels);
                sum = _mm256_add_epi32(sum, _mm256_madd_epi16(pairs, weights));
            }
        /* (257 Q + 128) >> 8 */
        sum = _mm256_add_epi32(sum, _mm256_srli_epi32(_mm256_add_epi32(sum, half), 8));
        store_lanes(out, divide(sum, 65535.0f), stream);
    }
    return 0;
}

/* ---- codes of all kinds */

BLR_INLINE_BLEND __m256i code_pairs(const uintptr_t *left, const uintptr_t *right, const struct code_kind kind,
                                    const int channels)
{
    if (kind.bytes == 1) {
        __m128i bytes = _mm_unpacklo_epi8(eight_bytes(left, channels), eight_bytes(right, channels));
        return kind.is_signed ? _mm256_cvtepi8_epi16(bytes) : _mm256_cvtepu8_epi16(bytes);
    }
    __m128i a = eight_words(left, channels), b = eight_words(right, channels);
    __m256i pairs = _mm256_set_m128i(_mm_unpackhi_epi16(a, b), _mm_unpacklo_epi16(a, b));
    /* Unsigned words exceed 16-bit signed numbers: 2^15 is subtracted, and added back to the sum as a bias. */
    return kind.is_signed ? pairs : _mm256_xor_si256(pairs, _mm256_set1_epi16(-0x8000));
}

BLR_INLINE_BLEND __m256i sum_of_codes(const struct blr_block *block, uint32_t item, const struct code_kind kind,
                                      const int channels, const bool boxes)
{
    const uint32_t step = 8 / LANES_OF(channels), pixel_size = (uint32_t)(channels * kind.bytes);
    __m256i sum = _mm256_setzero_si256();
    for (uint32_t q = 0; q < block->quads; q++)
        for (int row = 0; row < 2; row++) {
            uintptr_t places[2][16];
            const uintptr_t *left = texels_at(block, q, 2 * row, item, step, pixel_size, boxes, places[0]);
            const uintptr_t *right = texels_at(block, q, 2 * row + 1, item, step, pixel_size, boxes, places[1]);
            __m256i weights = lanes_of_ints(&block->pair[q][row][item], channels);
            sum = _mm256_add_epi32(sum, _mm256_madd_epi16(code_pairs(left, right, kind, channels), weights));
        }
    return sum;
}

/* Bias of the sums for weights that sum to 2^weight_bits. */
BLR_INLINE_BLEND __m256i bias_of_codes(const struct code_kind kind, const int weight_bits)
{
    return _mm256_set1_epi32(kind.bytes == 2 && !kind.is_signed ? 0x8000 << weight_bits : 0);
}

/* Sums in 1/256, as integers in the place of the results. */
BLR_INLINE_BLEND uint64_t blend_codes(const struct blr_block *block, float *out, const struct code_kind kind,
                                      const int channels, const bool boxes)
{
    for (uint32_t item = 0; item < block->count; item += 8 / LANES_OF(channels), out += 8) {
        __m256i sum = _mm256_add_epi32(sum_of_codes(block, item, kind, channels, boxes), bias_of_codes(kind, 8));
        _mm256_storeu_si256((__m256i *)out, sum);
    }
    return 0;
}

/* Taps: sums in 1/1024. */
BLR_INLINE_BLEND uint64_t add_taps_of_codes(const struct blr_block *block, struct blr_totals *totals,
                                            const struct code_kind kind, const int channels)
{
    __m256i *total = (__m256i *)totals->sum;
    for (uint32_t item = 0; item < block->count; item += 8 / LANES_OF(channels), total++)
        *total = _mm256_add_epi32(*total, sum_of_codes(block, item, kind, channels, false));
    return 0;
}

BLR_INLINE_BLEND void end_taps_of_codes(const struct blr_totals *totals, uint32_t lanes, float *out,
                                        const struct code_kind kind)
{
    const __m256i *total = (const __m256i *)totals->sum;
    for (uint32_t lane = 0; lane < lanes; lane += 8)
        _mm256_storeu_si256((__m256i *)(out + lane), _mm256_add_epi32(*total++, bias_of_codes(kind, 10)));
}

/* ---- nearest texels */

BLR_INLINE_BLEND __m256 texels_unorm8(const uintptr_t *texel, const int channels)
{
    return divide(_mm256_cvtepu8_epi32(eight_bytes(texel, channels)), 255.0f);
}

/* Codes as integers in the place of the results. */
BLR_INLINE_BLEND __m256 texels_s8(const uintptr_t *texel, const int channels)
{
    return _mm256_castsi256_ps(_mm256_cvtepi8_epi32(eight_bytes(texel, channels)));
}

BLR_INLINE_BLEND __m256 texels_u8(const uintptr_t *texel, const int channels)
{
    return _mm256_castsi256_ps(_mm256_cvtepu8_epi32(eight_bytes(texel, channels)));
}

BLR_INLINE_BLEND __m256 texels_s16(const uintptr_t *texel, const int channels)
{
    return _mm256_castsi256_ps(_mm256_cvtepi16_epi32(eight_words(texel, channels)));
}

BLR_INLINE_BLEND __m256 texels_u16(const uintptr_t *texel, const int channels)
{
    return _mm256_castsi256_ps(_mm256_cvtepu16_epi32(eight_words(texel, channels)));
}

#endif
