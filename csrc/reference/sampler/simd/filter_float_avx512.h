/* Blending of a block of float texels with 512-bit vectors: sixteen channels at a time, of four, eight or sixteen
 * items. The method is that of sampler/simd/filter_float_avx2.h. */
#ifndef BINDLESS_REFERENCE_SAMPLER_SIMD_FILTER_FLOAT_AVX512_H
#define BINDLESS_REFERENCE_SAMPLER_SIMD_FILTER_FLOAT_AVX512_H

#include "sampler/simd/filter_float_avx2.h"
#include "sampler/simd/filter_integer_avx2.h"

#define EXPONENT16(e) _mm512_set1_epi32((int)((unsigned)(e) << 23))

struct wide_lanes {
    __m512 texel[4];
    __m512i weight[4];
    __m512i odd_weight[4];                /* one channel: weights of odd lanes, moved to even lanes */
};

BLR_INLINE_BLEND __m512 join(__m256 low, __m256 high)
{
    return _mm512_insertf32x8(_mm512_castps256_ps512(low), high, 1);
}

BLR_INLINE_BLEND __m512i wide_ints(const int32_t *item, const int channels)
{
    if (channels >= 3)
        return _mm512_castps_si512(_mm512_permutevar_ps(
            _mm512_castsi512_ps(_mm512_broadcast_i32x4(_mm_loadu_si128((const __m128i *)item))),
            _mm512_setr_epi32(0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3)));
    if (channels == 2)
        return _mm512_permutexvar_epi32(_mm512_setr_epi32(0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7),
                                        _mm512_castsi256_si512(_mm256_loadu_si256((const __m256i *)item)));
    return _mm512_loadu_si512(item);
}

BLR_INLINE_BLEND __m512 wide_fp32(const uintptr_t *texel, const int channels)
{
    if (channels == 4) {
        __m512 a = _mm512_castps128_ps512(_mm_loadu_ps((const float *)texel[0]));
        a = _mm512_insertf32x4(a, _mm_loadu_ps((const float *)texel[1]), 1);
        a = _mm512_insertf32x4(a, _mm_loadu_ps((const float *)texel[2]), 2);
        return _mm512_insertf32x4(a, _mm_loadu_ps((const float *)texel[3]), 3);
    }
    return join(texels_fp32(texel, channels), texels_fp32(texel + 8 / LANES_OF(channels), channels));
}

BLR_INLINE_BLEND void wide_row_pairs(const struct blr_block *block, uint32_t q, int row, uint32_t item, __m512 *left,
                                     __m512 *right)
{
    __m256 lower[2], upper[2];
    row_pairs_fp32(block, q, row, item, false, &lower[0], &lower[1]);
    row_pairs_fp32(block, q, row, item + 8, false, &upper[0], &upper[1]);
    *left = join(lower[0], upper[0]);
    *right = join(lower[1], upper[1]);
}

/* Sixteen consecutive four-byte pixels that contain the first texels of sixteen boxes: one load for all of them, and
 * a permutation. */
struct window {
    bool is_valid;
    uint32_t place;                       /* offset of the first pixel */
    __mmask16 pixels;                     /* pixels to load */
    __m512i index;                        /* index of each item's pixel */
};

BLR_INLINE_BLEND struct window find_window(const struct blr_block *block, uint32_t item)
{
    const uint32_t first = block->place[0][item], last = block->place[0][item + 15];
    const uint32_t place = first < last ? first : last, span = first < last ? last - first : first - last;
    /* Distance in pixels; a distance that is no whole number of pixels becomes large. */
    __m512i distance = _mm512_sub_epi32(_mm512_loadu_si512(&block->place[0][item]), _mm512_set1_epi32((int)place));
    __m512i index = _mm512_ror_epi32(distance, 2);
    bool is_valid = span <= 60 && !_mm512_cmpgt_epu32_mask(index, _mm512_set1_epi32((int)(span >> 2)));
    return (struct window){is_valid, place, (__mmask16)((2u << (span >> 2 & 15u)) - 1), index};
}

BLR_INLINE_BLEND bool has_windows(const struct blr_block *block)
{
    bool all = block->box[block->quads - 1].level == 0;
    for (uint32_t item = 0; item < BLR_BLOCK; item += 16)
        all = all && find_window(block, item).is_valid;
    return all;
}

BLR_INLINE_BLEND void window_pairs(const struct blr_block *block, uint32_t q, int row, const struct window *window,
                                   __m512 *left, __m512 *right)
{
    const float *pixel = (const float *)(block->box[q].base + (row ? block->box[q].row_step : 0) + window->place);
    *left = _mm512_permutexvar_ps(window->index, _mm512_maskz_loadu_ps(window->pixels, pixel));
    *right = _mm512_permutexvar_ps(window->index, _mm512_maskz_loadu_ps(window->pixels, pixel + 1));
}

/* ---- texels of boxes, as rows of neighbour pairs */

BLR_INLINE_BLEND __m512 four_of_four(const unsigned char *row, const uint32_t *place)
{
    __m512 a = _mm512_castps128_ps512(_mm_loadu_ps((const float *)(row + place[0])));
    a = _mm512_insertf32x4(a, _mm_loadu_ps((const float *)(row + place[1])), 1);
    a = _mm512_insertf32x4(a, _mm_loadu_ps((const float *)(row + place[2])), 2);
    return _mm512_insertf32x4(a, _mm_loadu_ps((const float *)(row + place[3])), 3);
}

BLR_INLINE_BLEND __m512 eight_of_two(const unsigned char *row, const uint32_t *place)
{
    __m128 quarter[4];
    for (int n = 0; n < 4; n++)
        quarter[n] = _mm_loadh_pi(_mm_castsi128_ps(_mm_loadl_epi64((const __m128i *)(row + place[2 * n]))),
                                  (const __m64 *)(row + place[2 * n + 1]));
    return join(_mm256_set_m128(quarter[1], quarter[0]), _mm256_set_m128(quarter[3], quarter[2]));
}

/* Left and right texels of a row, of as many items as a vector holds. */
BLR_INLINE_BLEND void wide_box_row(const struct blr_block *block, uint32_t q, int row, uint32_t item, const int channels,
                                   __m512 *left, __m512 *right)
{
    const struct blr_boxes *box = &block->box[q];
    const unsigned char *first = (const unsigned char *)(box->base + (row ? box->row_step : 0));
    const uint32_t *place = &block->place[box->level][item];
    if (channels == 4) {
        *left = four_of_four(first, place);
        *right = four_of_four(first + 16, place);
    } else if (channels == 3) {           /* six floats; the idle lane repeats the third channel */
        *left = _mm512_permute_ps(four_of_four(first, place), _MM_SHUFFLE(2, 2, 1, 0));
        *right = _mm512_permute_ps(four_of_four(first + 8, place), _MM_SHUFFLE(3, 3, 2, 1));
    } else {
        *left = eight_of_two(first, place);
        *right = eight_of_two(first + 8, place);
    }
}

/* Eight items with one channel, in vector halves: both rows of an item one after the other, so that its place is
 * read once. */
BLR_INLINE_BLEND void box_columns(const struct blr_block *block, uint32_t q, uint32_t item, __m256 texel[4])
{
    __m128 pairs[2][4];
    const struct blr_boxes *box = &block->box[q];
    const unsigned char *upper = (const unsigned char *)box->base, *lower = upper + box->row_step;
    const uint32_t *place = &block->place[box->level][item];
    for (int k = 0; k < 4; k++) {
        const uint32_t first = place[2 * k], second = place[2 * k + 1];
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

BLR_INLINE_BLEND void wide_load_texels(const struct blr_block *block, uint32_t q, uint32_t item, const int channels,
                                       const bool boxes, const struct window *window, __m512 texel[4])
{
    if (window) {
        window_pairs(block, q, 0, window, &texel[0], &texel[1]);
        window_pairs(block, q, 1, window, &texel[2], &texel[3]);
    } else if (boxes && channels == 1) {
        __m256 lower[4], upper[4];
        box_columns(block, q, item, lower);
        box_columns(block, q, item + 8, upper);
        for (int k = 0; k < 4; k++)
            texel[k] = join(lower[k], upper[k]);
    } else if (boxes) {
        wide_box_row(block, q, 0, item, channels, &texel[0], &texel[1]);
        wide_box_row(block, q, 1, item, channels, &texel[2], &texel[3]);
    } else if (channels == 1 && block->dense[item >> 3] && block->dense[(item >> 3) + 1]) {
        wide_row_pairs(block, q, 0, item, &texel[0], &texel[1]);
        wide_row_pairs(block, q, 1, item, &texel[2], &texel[3]);
    } else {
        for (int k = 0; k < 4; k++)
            texel[k] = wide_fp32(&block->texel[q][k][item], channels);
    }
}

BLR_INLINE_BLEND void wide_load(const struct blr_block *block, uint32_t q, uint32_t item, const int channels,
                                const bool boxes, const struct window *window, struct wide_lanes *lanes)
{
    wide_load_texels(block, q, item, channels, boxes, window, lanes->texel);
    for (int k = 0; k < 4; k++) {
        lanes->weight[k] = wide_ints(&block->weight[q][k][item], channels);
        if (channels == 1)                /* other fields of the block follow the last item of the array */
            lanes->odd_weight[k] = _mm512_loadu_si512(&block->weight[q][k][item] + 1);
    }
}

struct wide_sums {
    __m512i even, odd;                    /* 64-bit integers */
    __m512i exponent;
};

/* Signs that a channel must be recomputed, accumulated over the quads of an item. */
struct wide_signs {
    __m512i largest;                      /* largest magnitude of a texel, whatever its weight */
    __m512i smallest;                     /* smallest of the quads' largest magnitudes, of quads with a weight */
};

BLR_INLINE_BLEND struct wide_sums wide_sum(const struct wide_lanes *lanes, const int channels, struct wide_signs *signs)
{
    const __m512i size = _mm512_set1_epi32(0x7fffffff), lowest = EXPONENT16(LOWEST_EXPONENT);
    __m512i magnitude[4];
    __mmask16 some[4];
    for (int k = 0; k < 4; k++) {
        some[k] = _mm512_test_epi32_mask(lanes->weight[k], lanes->weight[k]);
        magnitude[k] = _mm512_and_si512(_mm512_castps_si512(lanes->texel[k]), size);
    }
    __m512i maximum = _mm512_max_epi32(_mm512_max_epi32(magnitude[0], magnitude[1]),
                                    _mm512_max_epi32(magnitude[2], magnitude[3]));
    __m512i upper = _mm512_maskz_mov_epi32(some[0], magnitude[0]), lower = _mm512_maskz_mov_epi32(some[2], magnitude[2]);
    upper = _mm512_mask_max_epi32(upper, some[1], upper, magnitude[1]);
    lower = _mm512_mask_max_epi32(lower, some[3], lower, magnitude[3]);
    __m512i largest = _mm512_max_epi32(upper, lower);
    signs->largest = _mm512_max_epi32(signs->largest, maximum);
    const __mmask16 any = some[0] | some[1] | some[2] | some[3];
    signs->smallest = _mm512_mask_min_epi32(signs->smallest, any, signs->smallest, largest);
    struct wide_sums sums;
    sums.exponent = _mm512_and_si512(_mm512_max_epi32(largest, lowest), EXPONENT16(255));
    __m512 scale = _mm512_castsi512_ps(_mm512_sub_epi32(EXPONENT16(281), sums.exponent));
    sums.even = sums.odd = _mm512_setzero_si512();
    for (int k = 0; k < 4; k++) {
        __m512i steps = _mm512_cvttps_epi32(_mm512_mul_ps(lanes->texel[k], scale));
        __m512i odd_weight = channels == 1 ? lanes->odd_weight[k] : lanes->weight[k];
        sums.even = _mm512_add_epi64(sums.even, _mm512_mul_epi32(steps, lanes->weight[k]));
        sums.odd = _mm512_add_epi64(sums.odd, _mm512_mul_epi32(_mm512_srli_epi64(steps, 32), odd_weight));
    }
    return sums;
}

/* Among channels that are zero or too small for the scaling in some quad: those where that quad holds more than
 * positive zeros. */
BLR_INLINE_BLEND __mmask16 wide_doubtful_small(const struct blr_block *block, uint32_t item, const int channels,
                                               const bool boxes, const bool several)
{
    const __m512i size = _mm512_set1_epi32(0x7fffffff);
    __mmask16 doubtful = 0;
    for (uint32_t q = 0; q < (several ? block->quads : 1); q++) {
        struct wide_lanes lanes;
        wide_load(block, q, item, channels, boxes, NULL, &lanes);
        __m512i bits = _mm512_setzero_si512(), largest = _mm512_setzero_si512();
        for (int k = 0; k < 4; k++) {
            __m512i texel = _mm512_maskz_mov_epi32(_mm512_test_epi32_mask(lanes.weight[k], lanes.weight[k]),
                                                   _mm512_castps_si512(lanes.texel[k]));
            bits = _mm512_or_si512(bits, texel);
            largest = _mm512_max_epi32(largest, _mm512_and_si512(texel, size));
        }
        doubtful |= _mm512_cmplt_epi32_mask(largest, EXPONENT16(LOWEST_EXPONENT)) & _mm512_test_epi32_mask(bits, bits);
    }
    return doubtful;
}

BLR_INLINE_BLEND __mmask16 wide_doubtful(const struct blr_block *block, uint32_t item, const int channels,
                                         const bool boxes, const bool several, const struct wide_signs *signs)
{
    __mmask16 doubtful = _mm512_cmpge_epi32_mask(signs->largest, EXPONENT16(255));     /* NaNs and infinities */
    if (_mm512_cmplt_epi32_mask(signs->smallest, EXPONENT16(LOWEST_EXPONENT)))
        doubtful |= wide_doubtful_small(block, item, channels, boxes, several);
    return doubtful;
}

BLR_INLINE_BLEND __m512 wide_round(const struct wide_sums *sums)
{
    const __m512d ties = _mm512_set1_pd(1.0 + 0x1p-50);
    __m256 even = _mm512_cvtpd_ps(_mm512_mul_pd(_mm512_cvtepi64_pd(sums->even), ties));
    __m256 odd = _mm512_cvtpd_ps(_mm512_mul_pd(_mm512_cvtepi64_pd(sums->odd), ties));
    const __m512i order = _mm512_setr_epi32(0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
    __m512 value = _mm512_permutex2var_ps(_mm512_castps256_ps512(even), order, _mm512_castps256_ps512(odd));
    return _mm512_mul_ps(value, _mm512_castsi512_ps(_mm512_sub_epi32(sums->exponent, EXPONENT16(35))));
}

/* floor(value * 2^shift) for a shift of at most three, a difference of exponents in place. */
BLR_INLINE_BLEND void wide_floor_shifted(struct wide_sums *sums, __m512i shift)
{
    __m512i count = _mm512_sub_epi32(_mm512_set1_epi32(3), _mm512_srai_epi32(shift, 23));
    __m512i count_even = _mm512_maskz_mov_epi32(0x5555, count), count_odd = _mm512_srli_epi64(count, 32);
    sums->even = _mm512_srav_epi64(_mm512_slli_epi64(sums->even, 3), count_even);
    sums->odd = _mm512_srav_epi64(_mm512_slli_epi64(sums->odd, 3), count_odd);
}

BLR_INLINE_BLEND void wide_add_shifted(struct wide_sums *total, struct wide_sums *next, __m512i point)
{
    wide_floor_shifted(next, _mm512_sub_epi32(next->exponent, point));
    total->even = _mm512_add_epi64(total->even, next->even);
    total->odd = _mm512_add_epi64(total->odd, next->odd);
    total->exponent = point;
}

BLR_INLINE_BLEND uint32_t items_of_wide_lanes(uint32_t bits, const int channels)
{
    const int lanes = LANES_OF(channels);
    uint32_t items = 0;
    for (int i = 0; i < 16 / lanes; i++)
        if (bits >> i * lanes & ((1u << lanes) - 1))
            items |= 1u << i;
    return items;
}

BLR_INLINE_BLEND void store_wide(float *out, __m512 value, bool stream)
{
    if (stream)
        _mm512_stream_ps(out, value);
    else
        _mm512_storeu_ps(out, value);
}

/* Sums of a vector before alignment and rounding. These steps are delayed until the next vector has started, so that
 * the two overlap. */
struct wide_result {
    struct wide_sums first, second;       /* sums of one or two quads */
};

BLR_INLINE_BLEND __m512 wide_end(struct wide_result *result, const bool several)
{
    if (several) {
        /* The first sum is not floored twice: its own point is at least as fine as the common one. */
        __m512i largest = _mm512_max_epi32(result->first.exponent, result->second.exponent);
        __m512i point = _mm512_and_si512(largest, EXPONENT16(252));
        wide_floor_shifted(&result->first, _mm512_sub_epi32(result->first.exponent, point));
        wide_add_shifted(&result->first, &result->second, point);
    }
    return wide_round(&result->first);
}

BLR_INLINE_BLEND __mmask16 wide_sums_of(const struct blr_block *block, uint32_t item, const int channels, const bool several,
                                        const bool boxes, const bool windows, struct wide_result *result)
{
    const struct window window = windows ? find_window(block, item) : (struct window){.is_valid = false};
    struct wide_lanes lanes;
    struct wide_signs signs = {_mm512_setzero_si512(), EXPONENT16(254)};
    wide_load(block, 0, item, channels, boxes, windows ? &window : NULL, &lanes);
    result->first = wide_sum(&lanes, channels, &signs);
    if (several) {
        wide_load(block, 1, item, channels, boxes, windows ? &window : NULL, &lanes);
        result->second = wide_sum(&lanes, channels, &signs);
    }
    return wide_doubtful(block, item, channels, boxes, several, &signs);
}

/* Blends one or two quads. */
BLR_INLINE_BLEND uint64_t blend_wide_two(const struct blr_block *block, float *out, bool stream, const int channels,
                                         const bool several, const bool boxes, const bool windows)
{
    const uint32_t step = 16 / LANES_OF(channels);
    struct wide_result before, next;
    __mmask16 doubtful = wide_sums_of(block, 0, channels, several, boxes, windows, &before);
    uint64_t again = doubtful ? items_of_wide_lanes(doubtful, channels) : 0;
    for (uint32_t item = step; item < block->count; item += step, out += 16) {
        doubtful = wide_sums_of(block, item, channels, several, boxes, windows, &next);
        store_wide(out, wide_end(&before, several), stream);
        before = next;
        if (doubtful)
            again |= (uint64_t)items_of_wide_lanes(doubtful, channels) << item;
    }
    store_wide(out, wide_end(&before, several), stream);
    return again;
}

/* Blends volumes with two levels: the two slices of the second level are aligned together. */
BLR_INLINE_BLEND uint64_t blend_wide_four(const struct blr_block *block, float *out, bool stream, const int channels)
{
    const uint32_t step = 16 / LANES_OF(channels);
    const __m512i fours = EXPONENT16(252);
    uint64_t again = 0;
    for (uint32_t item = 0; item < block->count; item += step, out += 16) {
        struct wide_lanes lanes;
        struct wide_signs signs = {_mm512_setzero_si512(), EXPONENT16(254)};
        struct wide_sums sums[4];
        for (uint32_t q = 0; q < 4; q++) {
            wide_load(block, q, item, channels, false, NULL, &lanes);
            sums[q] = wide_sum(&lanes, channels, &signs);
        }
        __m512i before = _mm512_and_si512(_mm512_max_epi32(sums[0].exponent, sums[1].exponent), fours);
        wide_floor_shifted(&sums[0], _mm512_sub_epi32(sums[0].exponent, before));
        wide_add_shifted(&sums[0], &sums[1], before);
        __m512i largest = _mm512_max_epi32(sums[2].exponent, sums[3].exponent);
        __m512i point = _mm512_max_epi32(before, _mm512_and_si512(largest, fours));
        wide_floor_shifted(&sums[0], _mm512_sub_epi32(before, point));
        wide_add_shifted(&sums[0], &sums[2], point);
        wide_add_shifted(&sums[0], &sums[3], point);
        __mmask16 doubtful = wide_doubtful(block, item, channels, false, true, &signs);
        store_wide(out, wide_round(&sums[0]), stream);
        if (doubtful)
            again |= (uint64_t)items_of_wide_lanes(doubtful, channels) << item;
    }
    return again;
}

BLR_INLINE_BLEND uint64_t blend_wide(const struct blr_block *block, float *out, bool stream, const int channels,
                                     const bool several, const bool boxes)
{
    if (several && !boxes && block->quads == 4)
        return blend_wide_four(block, out, stream, channels);
    if (channels == 1 && boxes && has_windows(block))
        return blend_wide_two(block, out, stream, channels, several, true, true);
    return blend_wide_two(block, out, stream, channels, several, boxes, false);
}

/* ---- taps of floats */

BLR_INLINE_BLEND uint64_t add_wide_taps(const struct blr_block *block, struct blr_totals *totals, const int channels)
{
    uint64_t again = 0;
    uint32_t lane = 0;
    for (uint32_t item = 0; item < block->count; item += 16 / LANES_OF(channels), lane += 16) {
        struct wide_sums next[BLR_BLOCK_QUADS], total;
        struct wide_signs signs = {_mm512_setzero_si512(), EXPONENT16(254)};
        total.exponent = _mm512_load_si512(&totals->point[lane]);
        __m512i point = total.exponent;
        for (uint32_t q = 0; q < block->quads; q++) {
            struct wide_lanes lanes;
            wide_load(block, q, item, channels, false, NULL, &lanes);
            next[q] = wide_sum(&lanes, channels, &signs);
            point = _mm512_max_epi32(point, _mm512_and_si512(next[q].exponent, EXPONENT16(252)));
        }
        total.even = _mm512_load_si512(&totals->even[lane / 2]);
        total.odd = _mm512_load_si512(&totals->odd[lane / 2]);
        wide_floor_shifted(&total, _mm512_sub_epi32(total.exponent, point));
        for (uint32_t q = 0; q < block->quads; q++) {
            next[q].exponent = _mm512_sub_epi32(next[q].exponent, EXPONENT16(2));
            wide_add_shifted(&total, &next[q], point);
        }
        _mm512_store_si512(&totals->even[lane / 2], total.even);
        _mm512_store_si512(&totals->odd[lane / 2], total.odd);
        _mm512_store_si512(&totals->point[lane], point);
        __mmask16 doubtful = wide_doubtful(block, item, channels, false, true, &signs);
        if (doubtful)
            again |= (uint64_t)items_of_wide_lanes(doubtful, channels) << item;
    }
    return again;
}

BLR_INLINE_BLEND void end_wide_taps(const struct blr_totals *totals, uint32_t lanes, float *out)
{
    for (uint32_t lane = 0; lane < lanes; lane += 16) {
        const struct wide_sums sums = {_mm512_load_si512(&totals->even[lane / 2]), _mm512_load_si512(&totals->odd[lane / 2]),
                                       _mm512_load_si512(&totals->point[lane])};
        _mm512_storeu_ps(out + lane, wide_round(&sums));
    }
}

#endif
