/* Blending a block with 256-bit vectors: eight channels at a time, of two, four or eight items.
 *
 * The truncation of a texel to 28 bits below the largest exponent is a multiplication by a power of two
 * and a conversion to an integer. Products with weights are summed in 64-bit integers, those of even and
 * of odd channels apart. The sum is exact in double too; there the factor 1 + 2^-50 moves ties, and
 * nothing else, away from zero when it is rounded to float. Half texels keep 15 bits, and their sums
 * are exact in float. Channels outside the range in which these steps are exact (infinities, NaNs,
 * numbers below 2^-87, negative zeros) are found by their exponents and given back. */
#ifndef BLR_SAMPLE_BLOCK_BLEND_AVX2_H
#define BLR_SAMPLE_BLOCK_BLEND_AVX2_H

#include "sample_block.h"

#include <immintrin.h>
#include <string.h>

#define BLR_INLINE_BLEND static inline __attribute__((always_inline))

/* Biased exponents between which scaling by powers of two stays within the normal floats. */
#define LOWEST_EXPONENT 40
#define EXPONENT(e) _mm256_set1_epi32((int)((unsigned)(e) << 23))

/* ---- loading: eight channels of texels, and what goes with their items */

struct lanes {
    __m256 texel[4];
    __m256i weight[4];
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

/* Where one texel of some items lies: in the block, or worked out from the places of boxes. */
BLR_INLINE_BLEND const uintptr_t *texels_at(const struct blr_block *block, uint32_t q, int k, uint32_t item,
                                            const uint32_t items, const uint32_t pixel_size, const bool boxes,
                                            uintptr_t worked_out[16])
{
    if (!boxes)
        return &block->texel[q][k][item];
    uintptr_t base = block->base + q * block->slice_step + (k & 2 ? block->row_step : 0) + (k & 1 ? pixel_size : 0);
    for (uint32_t i = 0; i < items; i++)
        worked_out[i] = base + block->place[item + i];
    return worked_out;
}

/* Rows of neighbours: eight bytes of each of two items. */
BLR_INLINE_BLEND __m128 two_rows(const struct blr_block *block, uint32_t q, int row, uint32_t item, const bool boxes)
{
    if (!boxes)
        return two_pixels_of_two(&block->texel[q][2 * row][item]);
    uintptr_t base = block->base + q * block->slice_step + (row ? block->row_step : 0);
    const uint32_t *place = &block->place[item];
    __m128 pair = _mm_castsi128_ps(_mm_loadl_epi64((const __m128i *)(base + place[0])));
    return _mm_loadh_pi(pair, (const __m64 *)(base + place[1]));
}

/* Of eight one-channel items: both columns with one load each. */
BLR_INLINE_BLEND void row_pairs_fp32(const struct blr_block *block, uint32_t q, int row, uint32_t item,
                                     const bool boxes, __m256 *left, __m256 *right)
{
    __m256 a = _mm256_set_m128(two_rows(block, q, row, item + 4, boxes), two_rows(block, q, row, item, boxes));
    __m256 b = _mm256_set_m128(two_rows(block, q, row, item + 6, boxes), two_rows(block, q, row, item + 2, boxes));
    *left = _mm256_shuffle_ps(a, b, _MM_SHUFFLE(2, 0, 2, 0));
    *right = _mm256_shuffle_ps(a, b, _MM_SHUFFLE(3, 1, 3, 1));
}

BLR_INLINE_BLEND void load_lanes(const struct blr_block *block, uint32_t q, uint32_t item, const bool half,
                                 const int channels, const bool boxes, struct lanes *lanes)
{
    const uint32_t pixel_size = (uint32_t)channels * (half ? 2 : 4);
    if (!half && channels == 1 && (boxes || block->dense[item >> 3])) {
        row_pairs_fp32(block, q, 0, item, boxes, &lanes->texel[0], &lanes->texel[1]);
        row_pairs_fp32(block, q, 1, item, boxes, &lanes->texel[2], &lanes->texel[3]);
    } else {
        for (int k = 0; k < 4; k++) {
            uintptr_t worked_out[16];
            const uintptr_t *texel = texels_at(block, q, k, item, 8 / (uint32_t)channels, pixel_size, boxes, worked_out);
            lanes->texel[k] = half ? texels_fp16(texel, channels) : texels_fp32(texel, channels);
        }
    }
    for (int k = 0; k < 4; k++)
        lanes->weight[k] = lanes_of_ints(&block->weight[q][k][item], channels);
}

/* ---- what float and half have in common */

/* The exponents to which a quad is aligned, biased and in place; *doubtful collects channels to be redone. */
BLR_INLINE_BLEND __m256i align_lanes(const struct lanes *lanes, const int lowest_exponent, const bool all_sizes,
                                     __m256i *doubtful)
{
    const __m256i size = _mm256_set1_epi32(0x7fffffff), zero = _mm256_setzero_si256();
    __m256i magnitude[4];
    for (int k = 0; k < 4; k++)
        magnitude[k] = _mm256_and_si256(_mm256_and_si256(_mm256_castps_si256(lanes->texel[k]), size),
                                        _mm256_cmpgt_epi32(lanes->weight[k], zero));
    __m256i largest = _mm256_max_epi32(_mm256_max_epi32(magnitude[0], magnitude[1]),
                                       _mm256_max_epi32(magnitude[2], magnitude[3]));
    /* The sum of the texels is infinite or NaN if one of them is, whatever its weight. */
    __m256 sum = _mm256_add_ps(_mm256_add_ps(lanes->texel[0], lanes->texel[1]),
                               _mm256_add_ps(lanes->texel[2], lanes->texel[3]));
    __m256i top = _mm256_and_si256(_mm256_castps_si256(sum), EXPONENT(255));
    *doubtful = _mm256_or_si256(*doubtful, _mm256_cmpeq_epi32(top, EXPONENT(255)));
    /* Too small for the scaling, or zero: zeros are fine unless one of them is negative. */
    __m256i lowest = EXPONENT(lowest_exponent);
    __m256i tiny = all_sizes ? _mm256_cmpeq_epi32(largest, zero) : _mm256_cmpgt_epi32(lowest, largest);
    if (!_mm256_testz_si256(tiny, tiny)) {
        __m256i seen = zero;
        for (int k = 0; k < 4; k++)
            seen = _mm256_or_si256(seen, _mm256_and_si256(_mm256_castps_si256(lanes->texel[k]),
                                                          _mm256_cmpgt_epi32(lanes->weight[k], zero)));
        *doubtful = _mm256_or_si256(*doubtful, _mm256_andnot_si256(_mm256_cmpeq_epi32(seen, zero), tiny));
    }
    return _mm256_and_si256(_mm256_max_epi32(largest, lowest), EXPONENT(255));
}

/* ---- float */

struct float_sums {
    __m256d even, odd;                    /* integers; unit 2^(exponent - 36) */
    __m256i exponent;
};

/* A 64-bit integer below 2^51 as a double. */
BLR_INLINE_BLEND __m256d small_to_double(__m256i integer)
{
    const __m256d shift = _mm256_set1_pd(0x1.8p52);
    return _mm256_sub_pd(_mm256_castsi256_pd(_mm256_add_epi64(integer, _mm256_castpd_si256(shift))), shift);
}

BLR_INLINE_BLEND struct float_sums sum_fp32(const struct lanes *lanes, const int channels, __m256i *doubtful)
{
    struct float_sums sums;
    sums.exponent = align_lanes(lanes, LOWEST_EXPONENT, false, doubtful);
    __m256 scale = _mm256_castsi256_ps(_mm256_sub_epi32(EXPONENT(281), sums.exponent));
    __m256i even = _mm256_setzero_si256(), odd = _mm256_setzero_si256();
    for (int k = 0; k < 4; k++) {
        __m256i steps = _mm256_cvttps_epi32(_mm256_mul_ps(lanes->texel[k], scale)), weight = lanes->weight[k];
        even = _mm256_add_epi64(even, _mm256_mul_epi32(steps, weight));
        if (channels == 1)
            weight = _mm256_srli_epi64(weight, 32);
        odd = _mm256_add_epi64(odd, _mm256_mul_epi32(_mm256_srli_epi64(steps, 32), weight));
    }
    sums.even = small_to_double(even);
    sums.odd = small_to_double(odd);
    return sums;
}

BLR_INLINE_BLEND __m256 round_fp32(const struct float_sums *sums)
{
    const __m256d away = _mm256_set1_pd(1.0 + 0x1p-50);
    __m128 even = _mm256_cvtpd_ps(_mm256_mul_pd(sums->even, away)), odd = _mm256_cvtpd_ps(_mm256_mul_pd(sums->odd, away));
    __m256 value = _mm256_set_m128(_mm_unpackhi_ps(even, odd), _mm_unpacklo_ps(even, odd));
    return _mm256_mul_ps(value, _mm256_castsi256_ps(_mm256_sub_epi32(sums->exponent, EXPONENT(35))));
}

/* floor(value * 2^shift), shift being a difference of exponents in place. */
BLR_INLINE_BLEND void floor_scaled(__m256d *even, __m256d *odd, __m256i shift)
{
    shift = _mm256_max_epi32(shift, _mm256_set1_epi32(-(100 << 23)));
    __m256i factor = _mm256_add_epi32(_mm256_srai_epi32(shift, 3), _mm256_set1_epi32(1023 << 20));
    __m256d factor_even = _mm256_castsi256_pd(_mm256_slli_epi64(factor, 32));
    __m256d factor_odd = _mm256_castsi256_pd(_mm256_slli_epi64(_mm256_srli_epi64(factor, 32), 32));
    *even = _mm256_floor_pd(_mm256_mul_pd(*even, factor_even));
    *odd = _mm256_floor_pd(_mm256_mul_pd(*odd, factor_odd));
}

BLR_INLINE_BLEND void floor_to(struct float_sums *sums, __m256i point)
{
    floor_scaled(&sums->even, &sums->odd, _mm256_sub_epi32(sums->exponent, point));
    sums->exponent = point;
}

BLR_INLINE_BLEND void add_floored(struct float_sums *total, struct float_sums *next, __m256i point)
{
    floor_to(next, point);
    total->even = _mm256_add_pd(total->even, next->even);
    total->odd = _mm256_add_pd(total->odd, next->odd);
}

BLR_INLINE_BLEND __m256 blend_fp32(const struct blr_block *block, uint32_t item, const int channels, const bool several,
                                   const bool boxes, __m256i *doubtful)
{
    struct lanes lanes;
    load_lanes(block, 0, item, false, channels, boxes, &lanes);
    struct float_sums total = sum_fp32(&lanes, channels, doubtful);
    if (several) {
        load_lanes(block, 1, item, false, channels, boxes, &lanes);
        struct float_sums next = sum_fp32(&lanes, channels, doubtful);
        __m256i point = _mm256_and_si256(_mm256_max_epi32(total.exponent, next.exponent), EXPONENT(252));
        floor_to(&total, point);
        add_floored(&total, &next, point);
        /* Only volumes with two levels have more: the two slices of the second, which are aligned together. */
        for (uint32_t q = 2; q < block->quads; q += 2) {
            load_lanes(block, q, item, false, channels, boxes, &lanes);
            struct float_sums near = sum_fp32(&lanes, channels, doubtful);
            load_lanes(block, q + 1, item, false, channels, boxes, &lanes);
            struct float_sums far = sum_fp32(&lanes, channels, doubtful);
            __m256i largest = _mm256_max_epi32(near.exponent, far.exponent);
            point = _mm256_max_epi32(point, _mm256_and_si256(largest, EXPONENT(252)));
            floor_to(&total, point);
            add_floored(&total, &near, point);
            add_floored(&total, &far, point);
        }
    }
    return round_fp32(&total);
}

/* ---- half */

/* Sums of a quad in units of 2^(exponent - 23): below 2^23, exact in float. */
BLR_INLINE_BLEND __m256 sum_fp16(const struct lanes *lanes, __m256i *exponent, __m256i *doubtful)
{
    *exponent = align_lanes(lanes, 113, true, doubtful);
    __m256 scale = _mm256_castsi256_ps(_mm256_sub_epi32(EXPONENT(268), *exponent));
    __m256 sum = _mm256_setzero_ps();
    for (int k = 0; k < 4; k++) {
        __m256 steps = _mm256_round_ps(_mm256_mul_ps(lanes->texel[k], scale), _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC);
        sum = _mm256_fmadd_ps(steps, _mm256_cvtepi32_ps(lanes->weight[k]), sum);
    }
    return sum;
}

/* floor(value * 2^shift) for a shift of at most three. */
BLR_INLINE_BLEND __m256i floor_shifted(__m256i value, __m256i shift)
{
    __m256i count = _mm256_sub_epi32(_mm256_set1_epi32(3), _mm256_srai_epi32(shift, 23));
    return _mm256_srav_epi32(_mm256_slli_epi32(value, 3), count);
}

/* Half away from zero to eleven bits, or to 2^-24 below the normal halves. */
BLR_INLINE_BLEND __m256 round_fp16(__m256 sum, __m256i exponent)
{
    const __m256 sign = _mm256_set1_ps(-0.0f);
    __m256 unit = _mm256_castsi256_ps(_mm256_sub_epi32(exponent, EXPONENT(22)));
    __m256i bits = _mm256_add_epi32(_mm256_castps_si256(sum), _mm256_set1_epi32(0x1000));
    __m256 value = _mm256_mul_ps(_mm256_castsi256_ps(_mm256_and_si256(bits, _mm256_set1_epi32(-0x2000))), unit);
    __m256 exact = _mm256_mul_ps(sum, unit);
    __m256 small = _mm256_cmp_ps(_mm256_andnot_ps(sign, exact), _mm256_set1_ps(0x1p-14f), _CMP_LT_OQ);
    if (_mm256_testz_ps(small, small))
        return value;
    __m256 steps = _mm256_mul_ps(_mm256_andnot_ps(sign, exact), _mm256_set1_ps(0x1p24f));
    steps = _mm256_floor_ps(_mm256_add_ps(steps, _mm256_set1_ps(0.5f)));
    steps = _mm256_or_ps(_mm256_mul_ps(steps, _mm256_set1_ps(0x1p-24f)), _mm256_and_ps(sign, exact));
    return _mm256_blendv_ps(value, steps, small);
}

/* An integer below 2^28 as a float, cut to 24 bits: what is below a tie stays below it. */
BLR_INLINE_BLEND __m256 cut_to_float(__m256i integer)
{
    __m256i size = _mm256_abs_epi32(integer);
    __m256i large = _mm256_cmpgt_epi32(size, _mm256_set1_epi32((1 << 24) - 1));
    size = _mm256_andnot_si256(_mm256_and_si256(large, _mm256_set1_epi32(15)), size);
    return _mm256_or_ps(_mm256_cvtepi32_ps(size), _mm256_and_ps(_mm256_castsi256_ps(integer), _mm256_set1_ps(-0.0f)));
}

BLR_INLINE_BLEND __m256 blend_fp16(const struct blr_block *block, uint32_t item, const int channels, const bool several,
                                   const bool boxes, __m256i *doubtful)
{
    struct lanes lanes;
    __m256i exponent;
    load_lanes(block, 0, item, true, channels, boxes, &lanes);
    __m256 sum = sum_fp16(&lanes, &exponent, doubtful);
    if (!several)
        return round_fp16(sum, exponent);
    __m256i point = _mm256_and_si256(exponent, EXPONENT(252));
    __m256i total = floor_shifted(_mm256_cvttps_epi32(sum), _mm256_sub_epi32(exponent, point));
    for (uint32_t q = 1; q < block->quads;) {
        load_lanes(block, q++, item, true, channels, boxes, &lanes);
        __m256i next = _mm256_cvttps_epi32(sum_fp16(&lanes, &exponent, doubtful)), before = point;
        point = _mm256_max_epi32(point, _mm256_and_si256(exponent, EXPONENT(252)));
        if (q == 3) {                     /* the two slices of the second level are aligned together */
            __m256i first = exponent;
            load_lanes(block, q++, item, true, channels, boxes, &lanes);
            __m256i second = _mm256_cvttps_epi32(sum_fp16(&lanes, &exponent, doubtful));
            point = _mm256_max_epi32(point, _mm256_and_si256(exponent, EXPONENT(252)));
            total = _mm256_srav_epi32(total, _mm256_srli_epi32(_mm256_sub_epi32(point, before), 23));
            total = _mm256_add_epi32(total, floor_shifted(second, _mm256_sub_epi32(exponent, point)));
            exponent = first;
        } else {
            total = _mm256_srav_epi32(total, _mm256_srli_epi32(_mm256_sub_epi32(point, before), 23));
        }
        total = _mm256_add_epi32(total, floor_shifted(next, _mm256_sub_epi32(exponent, point)));
    }
    return round_fp16(cut_to_float(total), point);
}

/* ---- whole blocks */

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
                                       const int channels, const bool several, const bool boxes)
{
    const uint32_t step = 8 / (uint32_t)channels;
    uint64_t again = 0;
    for (uint32_t item = 0; item < block->count; item += step, out += 8) {
        __m256i doubtful = _mm256_setzero_si256();
        __m256 value = half ? blend_fp16(block, item, channels, several, boxes, &doubtful)
                            : blend_fp32(block, item, channels, several, boxes, &doubtful);
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

/* Of two items with four channels, rows whose texels are neighbours: one load an item. */
BLR_INLINE_BLEND __m256i dense_byte_pairs(const struct blr_block *block, uint32_t q, int row, uint32_t item,
                                          const bool boxes)
{
    const __m128i order = _mm_setr_epi8(0, 4, 1, 5, 2, 6, 3, 7, 8, 12, 9, 13, 10, 14, 11, 15);
    __m128i rows = _mm_castps_si128(two_rows(block, q, row, item, boxes));
    return _mm256_cvtepu8_epi16(_mm_shuffle_epi8(rows, order));
}

/* integer / divisor, correctly rounded for all integers up to the divisor, of 255 and 65535. */
BLR_INLINE_BLEND __m256 divided(__m256i integer, const float divisor)
{
    const __m256 inverse = _mm256_set1_ps(1.0f / divisor);
    __m256 number = _mm256_cvtepi32_ps(integer), quotient = _mm256_mul_ps(number, inverse);
    return _mm256_fmadd_ps(_mm256_fnmadd_ps(quotient, _mm256_set1_ps(divisor), number), inverse, quotient);
}

BLR_INLINE_BLEND uint64_t blend_bytes(const struct blr_block *block, float *out, bool stream, const int channels,
                                      const bool several, const bool boxes)
{
    const uint32_t step = 8 / (uint32_t)channels;
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
        store_lanes(out, divided(sum, 65535.0f), stream);
    }
    return 0;
}

#endif
