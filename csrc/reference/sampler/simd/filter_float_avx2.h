/*
 * Blending of a block with 256-bit vectors: eight channels at a time, of two, four or eight items.
 *
 * A texel is truncated to 28 bits below the largest exponent by a multiplication with a power of two and a conversion
 * to an integer. Products with weights are summed in 64-bit integers, even and odd channels separately. The sum is
 * exact in double too; the factor 1 + 2^-50 moves ties, and nothing else, away from zero when it is rounded to float.
 * Half texels keep 15 bits, and their sums are exact in float. Channels outside the range in which these steps are
 * exact (infinities, NaNs, numbers below 2^-87, negative zeros) are detected by their exponents and recomputed by the
 * item path.
 */
#ifndef BINDLESS_REFERENCE_SAMPLER_SIMD_FILTER_FLOAT_AVX2_H
#define BINDLESS_REFERENCE_SAMPLER_SIMD_FILTER_FLOAT_AVX2_H

#include "sampler/simd/vector_avx2.h"

#define EXPONENT(e) _mm256_set1_epi32((int)((unsigned)(e) << 23))

/* ---- common to float and half */

/* Exponents to which a quad is aligned, biased and in place; *doubtful collects the channels to be recomputed. */
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
    /* The sum of the texels is infinite or NaN if one of them is, independent of the weights. */
    __m256 sum = _mm256_add_ps(_mm256_add_ps(lanes->texel[0], lanes->texel[1]),
                               _mm256_add_ps(lanes->texel[2], lanes->texel[3]));
    __m256i top = _mm256_and_si256(_mm256_castps_si256(sum), EXPONENT(255));
    *doubtful = _mm256_or_si256(*doubtful, _mm256_cmpeq_epi32(top, EXPONENT(255)));
    /* Zero, or too small for the scaling. Zeros are exact unless one of them is negative. */
    __m256i lowest = EXPONENT(lowest_exponent);
    __m256i tiny = all_sizes ? _mm256_cmpeq_epi32(largest, zero) : _mm256_cmpgt_epi32(lowest, largest);
    if (!_mm256_testz_si256(tiny, tiny)) {
        __m256i bits = zero;
        for (int k = 0; k < 4; k++)
            bits = _mm256_or_si256(bits, _mm256_and_si256(_mm256_castps_si256(lanes->texel[k]),
                                                          _mm256_cmpgt_epi32(lanes->weight[k], zero)));
        *doubtful = _mm256_or_si256(*doubtful, _mm256_andnot_si256(_mm256_cmpeq_epi32(bits, zero), tiny));
    }
    return _mm256_and_si256(_mm256_max_epi32(largest, lowest), EXPONENT(255));
}

/* ---- float */

struct float_sums {
    __m256d even, odd;                    /* integers; unit 2^(exponent - 36) */
    __m256i exponent;
};

/* Converts a 64-bit integer below 2^51 to double. */
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
    const __m256d ties = _mm256_set1_pd(1.0 + 0x1p-50);
    __m128 even = _mm256_cvtpd_ps(_mm256_mul_pd(sums->even, ties));
    __m128 odd = _mm256_cvtpd_ps(_mm256_mul_pd(sums->odd, ties));
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
        /* Volumes with two levels have two more quads: the slices of the second level, aligned together. */
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

/* Rounds half away from zero to eleven bits, or to 2^-24 below the normal halves. */
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

/* Converts an integer below 2^28 to float, truncated to 24 bits: a value below a tie stays below it. */
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

BLR_INLINE_BLEND uint64_t blend_floats(const struct blr_block *block, float *out, bool stream, const bool half,
                                       const int channels, const bool several, const bool boxes)
{
    const uint32_t step = 8 / LANES_OF(channels);
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

/* taps: quads are aligned in groups of up to four, and weights have two more bits */

BLR_INLINE_BLEND __m256i lane_ints(const int32_t *lanes)
{
    return _mm256_load_si256((const __m256i *)lanes);
}

BLR_INLINE_BLEND void add_taps_fp32(const struct blr_block *block, uint32_t item, struct blr_totals *totals, uint32_t lane,
                                    const int channels, __m256i *doubtful)
{
    struct float_sums next[BLR_BLOCK_QUADS], total;
    total.exponent = lane_ints(&totals->point[lane]);
    __m256i point = total.exponent;
    for (uint32_t q = 0; q < block->quads; q++) {
        struct lanes lanes;
        load_lanes(block, q, item, false, channels, false, &lanes);
        next[q] = sum_fp32(&lanes, channels, doubtful);
        point = _mm256_max_epi32(point, _mm256_and_si256(next[q].exponent, EXPONENT(252)));
    }
    total.even = _mm256_load_pd((const double *)&totals->even[lane / 2]);
    total.odd = _mm256_load_pd((const double *)&totals->odd[lane / 2]);
    floor_scaled(&total.even, &total.odd, _mm256_sub_epi32(total.exponent, point));
    for (uint32_t q = 0; q < block->quads; q++) {
        floor_scaled(&next[q].even, &next[q].odd, _mm256_sub_epi32(_mm256_sub_epi32(next[q].exponent, EXPONENT(2)), point));
        total.even = _mm256_add_pd(total.even, next[q].even);
        total.odd = _mm256_add_pd(total.odd, next[q].odd);
    }
    _mm256_store_pd((double *)&totals->even[lane / 2], total.even);
    _mm256_store_pd((double *)&totals->odd[lane / 2], total.odd);
    _mm256_store_si256((__m256i *)&totals->point[lane], point);
}

BLR_INLINE_BLEND void add_taps_fp16(const struct blr_block *block, uint32_t item, struct blr_totals *totals, uint32_t lane,
                                    const int channels, __m256i *doubtful)
{
    __m256i next[BLR_BLOCK_QUADS], exponent[BLR_BLOCK_QUADS];
    __m256i before = lane_ints(&totals->point[lane]), point = before, total = lane_ints(&totals->sum[lane]);
    for (uint32_t q = 0; q < block->quads; q++) {
        struct lanes lanes;
        load_lanes(block, q, item, true, channels, false, &lanes);
        exponent[q] = align_lanes(&lanes, 113, true, doubtful);
        __m256 scale = _mm256_castsi256_ps(_mm256_sub_epi32(EXPONENT(268), exponent[q]));
        next[q] = _mm256_setzero_si256();
        for (int k = 0; k < 4; k++) {
            __m256i steps = _mm256_cvttps_epi32(_mm256_mul_ps(lanes.texel[k], scale));
            next[q] = _mm256_add_epi32(next[q], _mm256_mullo_epi32(steps, lanes.weight[k]));
        }
        point = _mm256_max_epi32(point, _mm256_and_si256(exponent[q], EXPONENT(252)));
    }
    total = _mm256_srav_epi32(total, _mm256_srli_epi32(_mm256_sub_epi32(point, before), 23));
    for (uint32_t q = 0; q < block->quads; q++)
        total = _mm256_add_epi32(total, floor_shifted(next[q], _mm256_sub_epi32(_mm256_sub_epi32(exponent[q], EXPONENT(2)), point)));
    _mm256_store_si256((__m256i *)&totals->sum[lane], total);
    _mm256_store_si256((__m256i *)&totals->point[lane], point);
}

BLR_INLINE_BLEND uint64_t add_taps_of_floats(const struct blr_block *block, struct blr_totals *totals, const bool half,
                                             const int channels)
{
    uint64_t again = 0;
    uint32_t lane = 0;
    for (uint32_t item = 0; item < block->count; item += 8 / LANES_OF(channels), lane += 8) {
        __m256i doubtful = _mm256_setzero_si256();
        if (half)
            add_taps_fp16(block, item, totals, lane, channels, &doubtful);
        else
            add_taps_fp32(block, item, totals, lane, channels, &doubtful);
        if (!_mm256_testz_si256(doubtful, doubtful))
            again |= (uint64_t)items_of_lanes(doubtful, channels) << item;
    }
    return again;
}

BLR_INLINE_BLEND void end_taps_of_floats(const struct blr_totals *totals, uint32_t lanes, float *out, const bool half)
{
    for (uint32_t lane = 0; lane < lanes; lane += 8) {
        __m256i point = lane_ints(&totals->point[lane]);
        if (half) {
            _mm256_storeu_ps(out + lane, round_fp16(cut_to_float(lane_ints(&totals->sum[lane])), point));
        } else {
            const struct float_sums sums = {_mm256_load_pd((const double *)&totals->even[lane / 2]),
                                            _mm256_load_pd((const double *)&totals->odd[lane / 2]), point};
            _mm256_storeu_ps(out + lane, round_fp32(&sums));
        }
    }
}

#endif
