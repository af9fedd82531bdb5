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

/* The least numbers of the vectors of a group, and whether a sum is no number. */
struct group_check {
    __m512 exponent, whole, finite;
};

/* Sums of sixteen elements with four weights above 0, which wide_one computes too: right if all checks are. */
BLR_INLINE_BLEND __m512 weighted_sum(const __m512 texel[4], const __m512 weight[4], struct group_check *check)
{
    const __m512 sign = _mm512_set1_ps(-0.0f);
    const __m512 largest = _mm512_range_ps(_mm512_range_ps(texel[0], texel[1], LARGER_MAGNITUDE),
                                           _mm512_range_ps(texel[2], texel[3], LARGER_MAGNITUDE), LARGER_MAGNITUDE);
    const __m512i exponent = _mm512_and_si512(_mm512_castps_si512(largest), EXPONENT16(255));
    const __m512 scale = _mm512_castsi512_ps(_mm512_sub_epi32(EXPONENT16(267), exponent));
    __m512 fraction[4], wholes = _mm512_setzero_ps();
    for (int k = 0; k < 4; k++) {
        const __m512 scaled = _mm512_mul_ps(texel[k], scale);
        const __m512 whole = _mm512_roundscale_ps(scaled, _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC);
        fraction[k] = _mm512_sub_ps(_mm512_roundscale_ps(scaled, 14 << 4 | _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC), whole);
        wholes = k ? _mm512_fmadd_ps(whole, weight[k], wholes) : _mm512_mul_ps(whole, weight[k]);
    }
    __m512 sum = _mm512_or_ps(_mm512_and_ps(wholes, sign), _mm512_set1_ps(0x1p-16f));
    for (int k = 0; k < 4; k++)
        sum = _mm512_fmadd_ps(fraction[k], weight[k], sum);
    const __m512 value = _mm512_mul_ps(_mm512_add_ps(wholes, sum),
                                       _mm512_castsi512_ps(_mm512_sub_epi32(exponent, EXPONENT16(21))));
    check->exponent = _mm512_min_ps(check->exponent, largest);
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

/* Whether the sums of a whole group are right: no weight is 0 then. */
BLR_INLINE_BLEND bool blend_whole_group(const struct row_weights *weights, const struct blr_row_blend *row, uint32_t begin,
                                        float *out)
{
    const __m512 large = _mm512_set1_ps(0x1p126f);
    struct group_check check = {large, large, _mm512_setzero_ps()};
    for (uint32_t i = 0; i < BLR_BLEND_GROUP; i += 16) {
        __m512 weight[4], texel[4];
        split_weights(weights, _mm512_loadu_ps((const float *)row->weights + begin + i), weight);
        load_texels(row, begin + i, 16, true, texel);
        _mm512_storeu_ps(out + i, weighted_sum(texel, weight, &check));
    }
    const __m512 least = _mm512_castsi512_ps(EXPONENT16(LOWEST_EXPONENT));
    return !(_mm512_cmp_ps_mask(check.exponent, least, _CMP_NGE_UQ) |
             _mm512_cmp_ps_mask(check.whole, _mm512_set1_ps(0x1p9f), _CMP_NGE_UQ) |
             _mm512_cmp_ps_mask(check.finite, _mm512_setzero_ps(), _CMP_NEQ_UQ));
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

uint64_t blr_blend_floats_avx512(const struct blr_row_blend *row, void *values, uint32_t count)
{
    const struct row_weights weights = row_weights(row->below);
    const uint32_t least = row->below < 128 ? row->below : 256 - row->below;
    uint64_t groups = 0;
    for (uint32_t i = 0; i < count; i += BLR_BLEND_GROUP) {
        float *out = (float *)values + i;
        const uint32_t number = i / BLR_BLEND_GROUP, size = count - i < BLR_BLEND_GROUP ? count - i : BLR_BLEND_GROUP;
        if (size == BLR_BLEND_GROUP && row->least[number] * least > 128 && blend_whole_group(&weights, row, i, out))
            continue;
        groups |= (uint64_t)blend_any_group(&weights, row, i, out, size) << number;
    }
    return groups;
}

#endif
