/* Rows of a scaled picture of floats with 512-bit vectors. Texels are read where they lie, and weighted as in
 * sampler/simd/filter_fp32_avx512.h. Groups of finite sums without zero weights, tiny texels or cancellation, which nearly
 * all are, take fewer steps. */
#ifndef BINDLESS_REFERENCE_TEXTURE_BLEND_FLOATS_AVX512_H
#define BINDLESS_REFERENCE_TEXTURE_BLEND_FLOATS_AVX512_H

#include "sampler/simd/filter_fp32_avx512.h"
#include "texture/blend_rows.h"

/* ---------------------------------------------------------------- weights and sums */

#define FLOOR (_MM_FROUND_FLOOR | _MM_FROUND_NO_EXC)
#define LARGER_MAGNITUDE 11 /* of vrangeps; 10 is the smaller one */

/* Weights of a row, from those of its second columns. */
struct row_weights {
    __m512 above, below, bias;
};

static struct row_weights row_weights(uint32_t below)
{
    const float lower = (float)below * 0x1p-8f;
    return (struct row_weights){_mm512_set1_ps(1.0f - lower), _mm512_set1_ps(lower),
                                _mm512_set1_ps((1.0f - lower) * 256.0f + 0.5f)};
}

BLR_INLINE_BLEND void split_weights(const struct row_weights *row, __m512 second, __m512 weight[4])
{
    weight[0] = _mm512_roundscale_ps(_mm512_fnmadd_ps(second, row->above, row->bias), FLOOR);
    weight[3] = _mm512_roundscale_ps(_mm512_fmadd_ps(second, row->below, _mm512_set1_ps(0.5f)), FLOOR);
    weight[1] = _mm512_sub_ps(second, weight[3]);
    weight[2] = _mm512_sub_ps(_mm512_sub_ps(_mm512_set1_ps(256.0f), second), weight[0]);
}

/* Sixteen elements' texels as integers and fractions of a common unit, of which every row between them has sums. */
struct split_texels {
    __m512 whole[4], fraction[4], largest;
};

BLR_INLINE_BLEND struct split_texels split_texels(const __m512 texel[4])
{
    struct split_texels split;
    split.largest = _mm512_range_ps(_mm512_range_ps(texel[0], texel[1], LARGER_MAGNITUDE),
                                    _mm512_range_ps(texel[2], texel[3], LARGER_MAGNITUDE), LARGER_MAGNITUDE);
    const __m512i exponent = _mm512_and_si512(_mm512_castps_si512(split.largest), EXPONENT16(255));
    const __m512 scale = _mm512_castsi512_ps(_mm512_sub_epi32(EXPONENT16(267), exponent));
    for (int k = 0; k < 4; k++) {
        const __m512 scaled = _mm512_mul_ps(texel[k], scale);
        split.whole[k] = _mm512_roundscale_ps(scaled, _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC);
        split.fraction[k] = _mm512_sub_ps(
            _mm512_roundscale_ps(scaled, 14 << 4 | _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC), split.whole[k]);
    }
    return split;
}

/* The least numbers of the vectors of a row's group, and whether a sum is no number. */
struct group_check {
    __m512 whole, finite;
};

/* Sums of sixteen elements with four weights above 0, which wide_one computes too: right if all checks are. */
BLR_INLINE_BLEND __m512 weighted_sum(const struct split_texels *split, const __m512 weight[4], struct group_check *check)
{
    const __m512i exponent = _mm512_and_si512(_mm512_castps_si512(split->largest), EXPONENT16(255));
    __m512 wholes = _mm512_mul_ps(split->whole[0], weight[0]);
    for (int k = 1; k < 4; k++)
        wholes = _mm512_fmadd_ps(split->whole[k], weight[k], wholes);
    __m512 sum = _mm512_or_ps(_mm512_and_ps(wholes, _mm512_set1_ps(-0.0f)), _mm512_set1_ps(0x1p-16f));
    for (int k = 0; k < 4; k++)
        sum = _mm512_fmadd_ps(split->fraction[k], weight[k], sum);
    const __m512 value = _mm512_mul_ps(_mm512_add_ps(wholes, sum),
                                       _mm512_castsi512_ps(_mm512_sub_epi32(exponent, EXPONENT16(21))));
    check->whole = _mm512_range_ps(check->whole, wholes, LARGER_MAGNITUDE - 1);
    check->finite = _mm512_fmadd_ps(value, _mm512_setzero_ps(), check->finite);
    return value;
}

/* ---------------------------------------------------------------- texels */

/* Texels of elements: of the first and second columns of the upper row, then of the lower row. */
struct texels {
    float of[4][16];
};

static void gather(const struct blr_row_blend *row, uint32_t begin, uint32_t count, struct texels *texels)
{
    const struct blr_spread *spread = row->spread;
    const float *rows[2] = {row->texels[0], row->texels[1]};
    uint32_t column = begin / spread->channels, channel = begin % spread->channels;
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t place = spread->first[column] + channel, next = place + spread->channels;
        for (int k = 0; k < 2; k++) {
            texels->of[2 * k][i] = rows[k][place];
            texels->of[2 * k + 1][i] = rows[k][next < spread->row_size ? next : place];
        }
        if (++channel == spread->channels) {
            channel = 0;
            column++;
        }
    }
}

/* Sixteen texels from the place-th element of a row on, of which those outside are zero. */
BLR_INLINE_BLEND __m512 load_inside(const struct blr_spread *spread, const float *row, uint32_t place)
{
    const uint32_t count = place < spread->row_size ? spread->row_size - place : 0;
    return _mm512_maskz_loadu_ps(count < 16 ? (__mmask16)((1u << count) - 1) : (__mmask16)0xffff, row + place);
}

/* The texels of the count elements from the begin-th one on, at most sixteen. inside: they lie within 16 of a source row. */
BLR_INLINE_BLEND void load_texels(const struct blr_row_blend *row, uint32_t begin, uint32_t count, const bool inside,
                                  __m512 texel[4])
{
    const struct blr_spread *spread = row->spread;
    const uint32_t base = spread->base[begin / BLR_SPREAD_BLOCK];
    const __m512i index = _mm512_cvtepu8_epi32(_mm_loadu_si128((const __m128i *)(spread->index + begin)));
    if (!inside && base == UINT32_MAX) {
        struct texels single = {{{0}}};
        gather(row, begin, count, &single);
        for (int k = 0; k < 4; k++)
            texel[k] = _mm512_loadu_ps(single.of[k]);
        return;
    }
    for (int k = 0; k < 4; k++) {
        const float *texels = row->texels[k >> 1];
        const uint32_t place = base + (k & 1 ? spread->channels : 0);
        texel[k] = _mm512_permutexvar_ps(index, inside ? _mm512_loadu_ps(texels + place) : load_inside(spread, texels, place));
    }
}

/* ---------------------------------------------------------------- rows */

/* A whole group of one or two rows: of which of them the sums are right. No weight is 0 then. */
BLR_INLINE_BLEND uint32_t blend_whole_group(const struct row_weights *weights, const int rows, const struct blr_row_blend *row,
                                            uint32_t begin, float *const out[2])
{
    const __m512 large = _mm512_set1_ps(0x1p126f), least = _mm512_castsi512_ps(EXPONENT16(LOWEST_EXPONENT));
    struct group_check check[2] = {{large, _mm512_setzero_ps()}, {large, _mm512_setzero_ps()}};
    __m512 smallest = large;
    uint32_t right = 0;
    for (uint32_t i = 0; i < BLR_BLEND_GROUP; i += 16) {
        __m512 weight[4], texel[4];
        load_texels(row, begin + i, 16, true, texel);
        const struct split_texels split = split_texels(texel);
        smallest = _mm512_min_ps(smallest, split.largest);
        for (int r = 0; r < rows; r++) {
            split_weights(&weights[r], _mm512_loadu_ps((const float *)row->weights + begin + i), weight);
            _mm512_storeu_ps(out[r] + i, weighted_sum(&split, weight, &check[r]));
        }
    }
    for (int r = 0; r < rows; r++)
        right |= (uint32_t)!(_mm512_cmp_ps_mask(smallest, least, _CMP_NGE_UQ) |
                             _mm512_cmp_ps_mask(check[r].whole, _mm512_set1_ps(0x1p9f), _CMP_NGE_UQ) |
                             _mm512_cmp_ps_mask(check[r].finite, _mm512_setzero_ps(), _CMP_NEQ_UQ)) << r;
    return right;
}

/* The count elements from the begin-th one on: whether one is left to a sample. */
static bool blend_any_group(const struct row_weights *weights, const struct blr_row_blend *row, uint32_t begin, float *out,
                            uint32_t count)
{
    __mmask16 left_over = 0;
    for (uint32_t i = 0; i < count; i += 16) {
        const __mmask16 elements = count - i < 16 ? (__mmask16)((1u << (count - i)) - 1) : (__mmask16)0xffff;
        __m512 weight[4], texel[4];
        split_weights(weights, _mm512_maskz_loadu_ps(elements, (const float *)row->weights + begin + i), weight);
        load_texels(row, begin + i, count - i < 16 ? count - i : 16, false, texel);
        __mmask16 small;
        const __m512 value = wide_one(texel, weight, &small);
        _mm512_mask_storeu_ps(out + i, elements, value);
        const __m512i any = _mm512_castps_si512(_mm512_or_ps(_mm512_or_ps(texel[0], texel[1]), _mm512_or_ps(texel[2], texel[3])));
        const __mmask16 doubtful = _mm512_mask_test_epi32_mask(small, any, any) | _mm512_fpclass_ps_mask(value, 0x99);
        left_over |= doubtful & elements; /* 0x99: NaNs and infinities */
    }
    return left_over != 0;
}

BLR_INLINE_BLEND void blend_float_rows(const struct blr_row_blend *row, const int rows, void *const values[2],
                                       uint32_t count, uint64_t left_over[2])
{
    struct row_weights weights[2];
    uint32_t least[2] = {0, 0};
    for (int r = 0; r < rows; r++) {
        const uint32_t below = row->below[r];
        weights[r] = row_weights(below);
        least[r] = below < 128 ? below : 256 - below;
        left_over[r] = 0;
    }
    for (uint32_t i = 0; i < count; i += BLR_BLEND_GROUP) {
        const uint32_t number = i / BLR_BLEND_GROUP, size = count - i < BLR_BLEND_GROUP ? count - i : BLR_BLEND_GROUP;
        const uint32_t most = size == BLR_BLEND_GROUP ? row->least[number] : 0;
        float *const out[2] = {(float *)values[0] + i, rows > 1 ? (float *)values[1] + i : NULL};
        uint32_t right = 0;
        if (rows > 1 && most * least[0] > 128 && most * least[1] > 128)
            right = blend_whole_group(weights, 2, row, i, out);
        for (int r = 0; r < rows; r++)
            if (!(right >> r & 1) && !(most * least[r] > 128 && blend_whole_group(&weights[r], 1, row, i, &out[r])))
                left_over[r] |= (uint64_t)blend_any_group(&weights[r], row, i, out[r], size) << number;
    }
}

void blr_blend_floats_avx512(const struct blr_row_blend *row, void *const values[2], uint32_t count, uint64_t left_over[2])
{
    if (row->rows == 2)
        blend_float_rows(row, 2, values, count, left_over);
    else
        blend_float_rows(row, 1, values, count, left_over);
}

#endif
