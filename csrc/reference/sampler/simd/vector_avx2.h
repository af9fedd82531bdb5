/* Lanes of 256-bit vectors, eight channels of two, four or eight items: loading texels, spreading weights, storing
 * results. */
#ifndef BINDLESS_REFERENCE_SAMPLER_SIMD_VECTOR_AVX2_H
#define BINDLESS_REFERENCE_SAMPLER_SIMD_VECTOR_AVX2_H

#include "sampler/simd/vector.h"

#include <immintrin.h>

#define VECTOR_LANES 8

struct lanes {
    __m256 texel[4];
    __m256i weight[4];
};

BLR_INLINE_BLEND __m256i lanes_of_ints(const int32_t *item, const int channels)
{
    if (channels >= 3)
        return _mm256_set_m128i(_mm_set1_epi32(item[1]), _mm_set1_epi32(item[0]));
    if (channels == 2)
        return _mm256_permutevar8x32_epi32(_mm256_castsi128_si256(_mm_loadu_si128((const __m128i *)item)),
                                           _mm256_setr_epi32(0, 0, 1, 1, 2, 2, 3, 3));
    return _mm256_loadu_si256((const __m256i *)item);
}

BLR_INLINE_BLEND __m128 two_pixels_of_two(const uintptr_t *texel)
{
    __m128 pair = _mm_castsi128_ps(_mm_loadl_epi64((const __m128i *)texel[0]));
    return _mm_loadh_pi(pair, (const __m64 *)texel[1]);
}

BLR_INLINE_BLEND __m128 four_floats(const uintptr_t *texel)
{
    __m128 a = _mm_load_ss((const float *)texel[0]);
    a = _mm_insert_ps(a, _mm_load_ss((const float *)texel[1]), 0x10);
    a = _mm_insert_ps(a, _mm_load_ss((const float *)texel[2]), 0x20);
    return _mm_insert_ps(a, _mm_load_ss((const float *)texel[3]), 0x30);
}

/* The idle lane repeats the third channel: a zero would be treated as a special value. */
BLR_INLINE_BLEND __m128 three_floats(uintptr_t texel)
{
    __m128 floats = _mm_maskload_ps((const float *)texel, _mm_setr_epi32(-1, -1, -1, 0));
    return _mm_permute_ps(floats, _MM_SHUFFLE(2, 2, 1, 0));
}

BLR_INLINE_BLEND __m256 texels_fp32(const uintptr_t *texel, const int channels)
{
    if (channels == 3)
        return _mm256_set_m128(three_floats(texel[1]), three_floats(texel[0]));
    if (channels == 4)
        return _mm256_set_m128(_mm_loadu_ps((const float *)texel[1]), _mm_loadu_ps((const float *)texel[0]));
    if (channels == 2)
        return _mm256_set_m128(two_pixels_of_two(texel + 2), two_pixels_of_two(texel));
    return _mm256_set_m128(four_floats(texel + 4), four_floats(texel));
}

/* Eight channels of two bytes. */
BLR_INLINE_BLEND __m128i eight_words(const uintptr_t *texel, const int channels)
{
    if (channels == 4)
        return _mm_castps_si128(two_pixels_of_two(texel));
    if (channels == 3)
        return _mm_insert_epi16(_mm_insert_epi16(_mm_setr_epi32(load_int(texel[0]), 0, load_int(texel[1]), 0),
                                                 load_short(texel[0] + 4), 2), load_short(texel[1] + 4), 6);
    if (channels == 2)
        return _mm_setr_epi32(load_int(texel[0]), load_int(texel[1]), load_int(texel[2]), load_int(texel[3]));
    return _mm_setr_epi16(load_short(texel[0]), load_short(texel[1]), load_short(texel[2]), load_short(texel[3]),
                          load_short(texel[4]), load_short(texel[5]), load_short(texel[6]), load_short(texel[7]));
}

/* Eight channels of one byte, in the lower half. */
BLR_INLINE_BLEND __m128i eight_bytes(const uintptr_t *texel, const int channels)
{
    if (channels == 4)
        return _mm_insert_epi32(_mm_cvtsi32_si128(load_int(texel[0])), load_int(texel[1]), 1);
    if (channels == 3)
        return _mm_setr_epi32(load_three_bytes(texel[0]), load_three_bytes(texel[1]), 0, 0);
    if (channels == 2)
        return _mm_setr_epi16(load_short(texel[0]), load_short(texel[1]), load_short(texel[2]), load_short(texel[3]),
                              0, 0, 0, 0);
    char bytes[8];
    for (int i = 0; i < 8; i++)
        bytes[i] = *(const char *)texel[i];
    return _mm_loadl_epi64((const __m128i *)bytes);
}

BLR_INLINE_BLEND __m256 texels_fp16(const uintptr_t *texel, const int channels)
{
    return _mm256_cvtph_ps(eight_words(texel, channels));
}

/* Rows of neighbours: eight bytes of each of two items. */
BLR_INLINE_BLEND __m128 two_rows(const struct blr_block *block, uint32_t q, int row, uint32_t item, const bool boxes)
{
    if (!boxes)
        return two_pixels_of_two(&block->texel[q][2 * row][item]);
    const struct blr_boxes *box = &block->box[q];
    const uintptr_t base = box->base + (row ? box->row_step : 0);
    const uint32_t *place = &block->place[box->level][item];
    __m128 pair = _mm_castsi128_ps(_mm_loadl_epi64((const __m128i *)(base + place[0])));
    return _mm_loadh_pi(pair, (const __m64 *)(base + place[1]));
}

/* Eight one-channel items: both columns with one load each. */
BLR_INLINE_BLEND void row_pairs_fp32(const struct blr_block *block, uint32_t q, int row, uint32_t item,
                                     const bool boxes, __m256 *left, __m256 *right)
{
    __m256 a = _mm256_set_m128(two_rows(block, q, row, item + 4, boxes), two_rows(block, q, row, item, boxes));
    __m256 b = _mm256_set_m128(two_rows(block, q, row, item + 6, boxes), two_rows(block, q, row, item + 2, boxes));
    *left = _mm256_shuffle_ps(a, b, _MM_SHUFFLE(2, 0, 2, 0));
    *right = _mm256_shuffle_ps(a, b, _MM_SHUFFLE(3, 1, 3, 1));
}

#include "sampler/simd/vector_load.h"

BLR_INLINE_BLEND uint32_t items_of_lanes(__m256i lanes, const int channels)
{
    uint32_t bits = (uint32_t)_mm256_movemask_ps(_mm256_castsi256_ps(lanes));
    if (channels >= 3)
        return ((bits & 15u) ? 1u : 0u) | ((bits & 240u) ? 2u : 0u);
    if (channels == 2)
        return ((bits & 3u) ? 1u : 0u) | ((bits & 12u) ? 2u : 0u) | ((bits & 48u) ? 4u : 0u) | ((bits & 192u) ? 8u : 0u);
    return bits;
}

BLR_INLINE_BLEND void store_lanes(float *out, __m256 value, bool stream)
{
    if (stream)
        _mm256_stream_ps(out, value);
    else
        _mm256_storeu_ps(out, value);
}

BLR_INLINE_BLEND void copy_past_caches(unsigned char *restrict to, const unsigned char *restrict from, size_t size)
{
    for (size_t k = 0; k < size; k += 32)
        _mm256_stream_si256((__m256i *)(to + k), _mm256_load_si256((const __m256i *)(from + k)));
}

BLR_INLINE_BLEND void eight_to_halves(const float *values, uint16_t *halves)
{
    _mm_storeu_si128((__m128i *)halves, _mm256_cvtps_ph(_mm256_load_ps(values), _MM_FROUND_TO_NEAREST_INT));
}

BLR_INLINE_BLEND void eight_from_halves(const uint16_t *halves, float *values)
{
    _mm256_storeu_ps(values, _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)halves)));
}

#endif
