/* Blending a block with 256-bit vectors: eight channels at a time, of two, four or eight items.
 *
 * Float texels: the truncation of a texel to 28 bits below the largest exponent is a multiplication by
 * a power of two and a truncation to an integer; integers times weights sum exactly in double; the
 * factor 1 + 2^-50 moves ties, and nothing else, away from zero when the sum is rounded to float.
 * Lanes outside the range in which these steps are exact are found by their exponents and given back. */
#ifndef BLR_SAMPLE_BLOCK_BLEND_AVX2_H
#define BLR_SAMPLE_BLOCK_BLEND_AVX2_H

#include "sample_block.h"

#include <immintrin.h>
#include <string.h>

#define BLR_INLINE_BLEND static inline __attribute__((always_inline))

/* Biased exponents between which scaling by powers of two stays within the normal floats. */
#define LOWEST_EXPONENT 36
#define EXPONENT(e) _mm256_set1_epi32((e) << 23)

/* ---- loading: eight channels of texels, and what goes with their items */

struct lanes {
    __m256 texel[4];
    __m256i mask[4];
    __m256d low[4], high[4];              /* weights of the lower and upper four lanes */
};

BLR_INLINE_BLEND __m256i lanes_of_ints(const int32_t *item, const int channels)
{
    if (channels == 4)
        return _mm256_set_m128i(_mm_set1_epi32(item[1]), _mm_set1_epi32(item[0]));
    if (channels == 2)
        return _mm256_permutevar8x32_epi32(_mm256_castsi128_si256(_mm_loadu_si128((const __m128i *)item)),
                                           _mm256_setr_epi32(0, 0, 1, 1, 2, 2, 3, 3));
    return _mm256_loadu_si256((const __m256i *)item);
}

BLR_INLINE_BLEND __m256d low_weights(const double *item, const int channels)
{
    if (channels == 4)
        return _mm256_broadcast_sd(item);
    if (channels == 2)
        return _mm256_permute4x64_pd(_mm256_castpd128_pd256(_mm_loadu_pd(item)), 0x50);
    return _mm256_loadu_pd(item);
}

BLR_INLINE_BLEND __m256d high_weights(const double *item, const int channels)
{
    return low_weights(item + (channels == 4 ? 1 : channels == 2 ? 2 : 4), channels);
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

BLR_INLINE_BLEND __m256 texels_fp32(const uintptr_t *texel, const int channels)
{
    if (channels == 4)
        return _mm256_set_m128(_mm_loadu_ps((const float *)texel[1]), _mm_loadu_ps((const float *)texel[0]));
    if (channels == 2)
        return _mm256_set_m128(two_pixels_of_two(texel + 2), two_pixels_of_two(texel));
    return _mm256_set_m128(four_floats(texel + 4), four_floats(texel));
}

BLR_INLINE_BLEND int load_int(uintptr_t address)
{
    int value;
    memcpy(&value, (const void *)address, sizeof value);
    return value;
}

BLR_INLINE_BLEND short load_short(uintptr_t address)
{
    short value;
    memcpy(&value, (const void *)address, sizeof value);
    return value;
}

BLR_INLINE_BLEND __m256 texels_fp16(const uintptr_t *texel, const int channels)
{
    __m128i halves;
    if (channels == 4)
        halves = _mm_castps_si128(two_pixels_of_two(texel));
    else if (channels == 2)
        halves = _mm_setr_epi32(load_int(texel[0]), load_int(texel[1]), load_int(texel[2]), load_int(texel[3]));
    else
        halves = _mm_setr_epi16(load_short(texel[0]), load_short(texel[1]), load_short(texel[2]), load_short(texel[3]),
                                load_short(texel[4]), load_short(texel[5]), load_short(texel[6]), load_short(texel[7]));
    return _mm256_cvtph_ps(halves);
}

/* Neighbours in a row, of eight one-channel items: both columns with one load each. */
BLR_INLINE_BLEND void row_pairs_fp32(const uintptr_t *texel, __m256 *left, __m256 *right)
{
    __m256 a = _mm256_set_m128(two_pixels_of_two(texel + 4), two_pixels_of_two(texel));
    __m256 b = _mm256_set_m128(two_pixels_of_two(texel + 6), two_pixels_of_two(texel + 2));
    *left = _mm256_shuffle_ps(a, b, _MM_SHUFFLE(2, 0, 2, 0));
    *right = _mm256_shuffle_ps(a, b, _MM_SHUFFLE(3, 1, 3, 1));
}

BLR_INLINE_BLEND void load_lanes(const struct blr_block *block, uint32_t q, uint32_t item, const bool half,
                                 const int channels, struct lanes *lanes)
{
    if (!half && channels == 1 && block->dense[item >> 3]) {
        row_pairs_fp32(&block->texel[q][0][item], &lanes->texel[0], &lanes->texel[1]);
        row_pairs_fp32(&block->texel[q][2][item], &lanes->texel[2], &lanes->texel[3]);
    } else {
        for (int k = 0; k < 4; k++)
            lanes->texel[k] = half ? texels_fp16(&block->texel[q][k][item], channels)
                                   : texels_fp32(&block->texel[q][k][item], channels);
    }
    for (int k = 0; k < 4; k++) {
        lanes->mask[k] = lanes_of_ints(&block->mask[q][k][item], channels);
        lanes->low[k] = low_weights(&block->weight[q][k][item], channels);
        lanes->high[k] = high_weights(&block->weight[q][k][item], channels);
    }
}

/* ---- float sums */

struct lane_sums {
    __m256d low, high;                    /* integers */
    __m256i exponent;                     /* biased, in place, of the largest texel, at least the lowest */
};

/* Sums of a quad in steps of 2^(largest exponent - bits - 8); *doubtful collects lanes to be redone. */
BLR_INLINE_BLEND struct lane_sums sum_lanes(const struct lanes *lanes, const bool half, __m256i *doubtful)
{
    __m256i magnitude[4];
    for (int k = 0; k < 4; k++)
        magnitude[k] = _mm256_and_si256(_mm256_castps_si256(lanes->texel[k]), lanes->mask[k]);
    __m256i largest = _mm256_max_epi32(_mm256_max_epi32(magnitude[0], magnitude[1]),
                                       _mm256_max_epi32(magnitude[2], magnitude[3]));
    /* Too small for the scaling, or zero: zeros are fine unless one of them is negative. */
    __m256i lowest = EXPONENT(LOWEST_EXPONENT);
    __m256i tiny = half ? _mm256_cmpeq_epi32(largest, _mm256_setzero_si256()) : _mm256_cmpgt_epi32(lowest, largest);
    if (!_mm256_testz_si256(tiny, tiny)) {
        __m256i seen = _mm256_setzero_si256();
        for (int k = 0; k < 4; k++) {
            __m256i used = _mm256_cmpgt_epi32(lanes->mask[k], _mm256_setzero_si256());
            seen = _mm256_or_si256(seen, _mm256_and_si256(_mm256_castps_si256(lanes->texel[k]), used));
        }
        tiny = _mm256_andnot_si256(_mm256_cmpeq_epi32(seen, _mm256_setzero_si256()), tiny);
        *doubtful = _mm256_or_si256(*doubtful, tiny);
    }
    struct lane_sums sums;
    sums.exponent = _mm256_and_si256(_mm256_max_epi32(largest, half ? EXPONENT(113) : lowest), EXPONENT(255));
    /* 2^(bits - exponent), bits being 28 or 15, exponents as those of frexp. */
    __m256 scale = _mm256_castsi256_ps(_mm256_sub_epi32(EXPONENT(half ? 268 : 281), sums.exponent));
    sums.low = sums.high = _mm256_setzero_pd();
    for (int k = 0; k < 4; k++) {
        __m256 steps = _mm256_round_ps(_mm256_mul_ps(lanes->texel[k], scale), _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC);
        __m256d low = _mm256_cvtps_pd(_mm256_castps256_ps128(steps)), high = _mm256_cvtps_pd(_mm256_extractf128_ps(steps, 1));
        sums.low = _mm256_fmadd_pd(low, lanes->low[k], sums.low);
        sums.high = _mm256_fmadd_pd(high, lanes->high[k], sums.high);
    }
    return sums;
}

BLR_INLINE_BLEND __m256 round_fp32(__m256d low, __m256d high, __m256i exponent)
{
    const __m256d away = _mm256_set1_pd(1.0 + 0x1p-50);
    __m128 a = _mm256_cvtpd_ps(_mm256_mul_pd(low, away)), b = _mm256_cvtpd_ps(_mm256_mul_pd(high, away));
    __m256 unit = _mm256_castsi256_ps(_mm256_sub_epi32(exponent, EXPONENT(35)));
    return _mm256_mul_ps(_mm256_set_m128(b, a), unit);
}

/* Half away from zero to eleven bits, or to 2^-24 below the normal halves. */
BLR_INLINE_BLEND __m256 round_fp16(__m256d low, __m256d high, __m256i exponent)
{
    const __m256i tie = _mm256_set1_epi64x(INT64_C(1) << 41), keep = _mm256_set1_epi64x(-(INT64_C(1) << 42));
    __m256i a = _mm256_and_si256(_mm256_add_epi64(_mm256_castpd_si256(low), tie), keep);
    __m256i b = _mm256_and_si256(_mm256_add_epi64(_mm256_castpd_si256(high), tie), keep);
    __m256 unit = _mm256_castsi256_ps(_mm256_sub_epi32(exponent, EXPONENT(22)));
    __m256 normal = _mm256_mul_ps(_mm256_set_m128(_mm256_cvtpd_ps(_mm256_castsi256_pd(b)),
                                                  _mm256_cvtpd_ps(_mm256_castsi256_pd(a))), unit);
    /* Sums below 2^-14 have at most 26 bits over 2^-40, so a double holds what has to be rounded. */
    const __m256 sign = _mm256_set1_ps(-0.0f);
    __m256 small = _mm256_cmp_ps(_mm256_andnot_ps(sign, normal), _mm256_set1_ps(0x1p-14f), _CMP_LT_OQ);
    if (_mm256_testz_ps(small, small))
        return normal;
    __m256d unit_low = _mm256_cvtps_pd(_mm256_castps256_ps128(unit)), unit_high = _mm256_cvtps_pd(_mm256_extractf128_ps(unit, 1));
    const __m256d dsign = _mm256_set1_pd(-0.0), step = _mm256_set1_pd(0x1p24), half = _mm256_set1_pd(0.5);
    __m256d x = _mm256_mul_pd(_mm256_mul_pd(low, unit_low), step), y = _mm256_mul_pd(_mm256_mul_pd(high, unit_high), step);
    __m256d fx = _mm256_floor_pd(_mm256_add_pd(_mm256_andnot_pd(dsign, x), half));
    __m256d fy = _mm256_floor_pd(_mm256_add_pd(_mm256_andnot_pd(dsign, y), half));
    fx = _mm256_or_pd(fx, _mm256_and_pd(dsign, x));
    fy = _mm256_or_pd(fy, _mm256_and_pd(dsign, y));
    __m256 subnormal = _mm256_mul_ps(_mm256_set_m128(_mm256_cvtpd_ps(fy), _mm256_cvtpd_ps(fx)), _mm256_set1_ps(0x1p-24f));
    /* Adding 0 leaves no negative zero. */
    return _mm256_blendv_ps(normal, _mm256_add_ps(subnormal, _mm256_setzero_ps()), small);
}

/* floor(value * 2^shift), shift being a difference of exponents in place. */
BLR_INLINE_BLEND void floor_scaled(__m256d *low, __m256d *high, __m256i shift)
{
    __m256i factor = _mm256_max_epi32(_mm256_add_epi32(shift, EXPONENT(127)), EXPONENT(1));
    __m256 single = _mm256_castsi256_ps(factor);
    *low = _mm256_floor_pd(_mm256_mul_pd(*low, _mm256_cvtps_pd(_mm256_castps256_ps128(single))));
    *high = _mm256_floor_pd(_mm256_mul_pd(*high, _mm256_cvtps_pd(_mm256_extractf128_ps(single, 1))));
}

BLR_INLINE_BLEND uint32_t items_of_lanes(__m256i lanes, const int channels)
{
    uint32_t bits = (uint32_t)_mm256_movemask_ps(_mm256_castsi256_ps(lanes));
    if (channels == 4)
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

BLR_INLINE_BLEND uint64_t blend_floats(const struct blr_block *block, float *out, bool stream, const bool half,
                                       const int channels, const bool several)
{
    const uint32_t step = 8 / (uint32_t)channels;
    uint64_t again = 0;
    for (uint32_t item = 0; item < block->count; item += step, out += 8) {
        struct lanes lanes;
        __m256i doubtful = _mm256_setzero_si256();
        load_lanes(block, 0, item, half, channels, &lanes);
        struct lane_sums total = sum_lanes(&lanes, half, &doubtful);
        if (several) {
            const __m256i fours = EXPONENT(252);
            __m256i point = _mm256_and_si256(total.exponent, fours);
            floor_scaled(&total.low, &total.high, _mm256_sub_epi32(total.exponent, point));
            for (uint32_t q = 1; q < block->quads; q++) {
                load_lanes(block, q, item, half, channels, &lanes);
                struct lane_sums next = sum_lanes(&lanes, half, &doubtful);
                __m256i before = point;
                point = _mm256_max_epi32(point, _mm256_and_si256(next.exponent, fours));
                floor_scaled(&total.low, &total.high, _mm256_sub_epi32(before, point));
                floor_scaled(&next.low, &next.high, _mm256_sub_epi32(next.exponent, point));
                total.low = _mm256_add_pd(total.low, next.low);
                total.high = _mm256_add_pd(total.high, next.high);
            }
            total.exponent = point;
        }
        __m256 value = half ? round_fp16(total.low, total.high, total.exponent)
                            : round_fp32(total.low, total.high, total.exponent);
        /* Infinities and NaNs come through all of this as one of them. */
        __m256i top = _mm256_and_si256(_mm256_castps_si256(value), EXPONENT(255));
        doubtful = _mm256_or_si256(doubtful, _mm256_cmpeq_epi32(top, EXPONENT(255)));
        store_lanes(out, value, stream);
        if (!_mm256_testz_si256(doubtful, doubtful))
            again |= (uint64_t)items_of_lanes(doubtful, channels) << item;
    }
    return again;
}

/* ---- bytes */

/* Two rows of a quad: bytes of the left and right texel side by side, as 16-bit numbers. */
BLR_INLINE_BLEND __m256i byte_pairs(const uintptr_t *left, const uintptr_t *right, const int channels)
{
    __m128i a, b;
    if (channels == 4) {
        a = _mm_insert_epi32(_mm_cvtsi32_si128(load_int(left[0])), load_int(left[1]), 1);
        b = _mm_insert_epi32(_mm_cvtsi32_si128(load_int(right[0])), load_int(right[1]), 1);
    } else if (channels == 2) {
        a = _mm_setr_epi16(load_short(left[0]), load_short(left[1]), load_short(left[2]), load_short(left[3]), 0, 0, 0, 0);
        b = _mm_setr_epi16(load_short(right[0]), load_short(right[1]), load_short(right[2]), load_short(right[3]), 0, 0, 0, 0);
    } else {
        char bytes[2][8];
        for (int i = 0; i < 8; i++) {
            bytes[0][i] = *(const char *)left[i];
            bytes[1][i] = *(const char *)right[i];
        }
        a = _mm_loadl_epi64((const __m128i *)bytes[0]);
        b = _mm_loadl_epi64((const __m128i *)bytes[1]);
    }
    return _mm256_cvtepu8_epi16(_mm_unpacklo_epi8(a, b));
}

BLR_INLINE_BLEND uint64_t blend_bytes(const struct blr_block *block, float *out, bool stream, const int channels,
                                      const bool several)
{
    const uint32_t step = 8 / (uint32_t)channels;
    const __m256 maximum = _mm256_set1_ps(65535.0f);
    const __m256i half = _mm256_set1_epi32(128);
    for (uint32_t item = 0; item < block->count; item += step, out += 8) {
        __m256i sum = _mm256_setzero_si256();
        for (uint32_t q = 0; q < (several ? block->quads : 1); q++)
            for (int row = 0; row < 2; row++) {
                __m256i pairs = byte_pairs(&block->texel[q][2 * row][item], &block->texel[q][2 * row + 1][item], channels);
                __m256i weights = lanes_of_ints(&block->pair[q][row][item], channels);
                sum = _mm256_add_epi32(sum, _mm256_madd_epi16(pairs, weights));
            }
        /* (257 Q + 128) >> 8 */
        sum = _mm256_add_epi32(sum, _mm256_srli_epi32(_mm256_add_epi32(sum, half), 8));
        store_lanes(out, _mm256_div_ps(_mm256_cvtepi32_ps(sum), maximum), stream);
    }
    return 0;
}

#endif
