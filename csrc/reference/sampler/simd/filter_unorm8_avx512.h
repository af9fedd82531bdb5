/* Blending of a block of unorm8 texels of four channels, or to bytes also of three, with 512-bit vectors: sixteen items at
 * a time, four to a vector. */
#ifndef BINDLESS_REFERENCE_SAMPLER_SIMD_FILTER_UNORM8_AVX512_H
#define BINDLESS_REFERENCE_SAMPLER_SIMD_FILTER_UNORM8_AVX512_H

#include "sampler/simd/filter_float_avx512.h"

BLR_INLINE_BLEND __m128i two_pairs(const void *first, const void *second)
{
    return _mm_castps_si128(_mm_loadh_pi(_mm_castsi128_ps(_mm_loadl_epi64(first)), second));
}

/* Bytes before a pair of texels in a row of a box. With three channels, eight bytes from the start of the lower row may
 * leave the image; eight bytes to its end do not. */
#define BYTES_BEFORE(row, channels, boxes) ((boxes) && (channels) == 3 && (row) ? 2 : 0)

BLR_INLINE_BLEND int four_bytes(uintptr_t texel, const int channels)
{
    return channels == 3 ? load_three_bytes(texel) : load_int(texel);
}

/* Both rows of eight items, eight bytes each: quarter n of a vector holds items n and n + 4. An item's place is read
 * once. */
BLR_INLINE_BLEND void eight_byte_rows(const struct blr_block *block, uint32_t q, uint32_t item, const int channels,
                                      const bool dense, const bool boxes, __m512i rows[2])
{
    __m128i quarter[2][4];
    if (boxes) {
        const struct blr_boxes *box = &block->box[q];
        const unsigned char *upper = (const unsigned char *)box->base;
        const unsigned char *lower = upper + box->row_step - BYTES_BEFORE(1, channels, boxes);
        const uint32_t *place = &block->place[box->level][item];
        for (int n = 0; n < 4; n++) {
            const uint32_t first = place[n], second = place[n + 4];
            quarter[0][n] = two_pairs(upper + first, upper + second);
            quarter[1][n] = two_pairs(lower + first, lower + second);
        }
    }
    for (int row = 0; row < 2 && !boxes; row++)
        for (int n = 0; n < 4; n++) {
            const uintptr_t *left = &block->texel[q][2 * row][item + (uint32_t)n];
            const uintptr_t *right = &block->texel[q][2 * row + 1][item + (uint32_t)n];
            quarter[row][n] = dense ? two_pairs((const void *)left[0], (const void *)left[4])
                                    : _mm_setr_epi32(four_bytes(left[0], channels), four_bytes(right[0], channels),
                                                     four_bytes(left[4], channels), four_bytes(right[4], channels));
        }
    for (int row = 0; row < 2; row++) {
        const __m256i low = _mm256_set_m128i(quarter[row][1], quarter[row][0]);
        const __m256i high = _mm256_set_m128i(quarter[row][3], quarter[row][2]);
        rows[row] = _mm512_inserti64x4(_mm512_castsi256_si512(low), high, 1);
    }
}

/* Half of the items as 16-bit numbers: each channel of the left texel next to that of the right one. first: place of the
 * left texel in eight bytes; apart: bytes from there to the right one. */
BLR_INLINE_BLEND __m512i pairs_of_rows(__m512i rows, const int half, const int channels, const int first, const int apart)
{
    const char k = (char)(8 * half + first), n = (char)(k + apart), none = -1;
    const char last = channels == 4 ? (char)(k + 3) : none, after = channels == 4 ? (char)(n + 3) : none;
    const __m128i order = _mm_setr_epi8(k, none, n, none, (char)(k + 1), none, (char)(n + 1), none, (char)(k + 2), none,
                                        (char)(n + 2), none, last, none, after, none);
    return _mm512_shuffle_epi8(rows, _mm512_broadcast_i32x4(order));
}

/* (257 Q + 128) >> 8 divided by 65535, correctly rounded: n / 65535 is n / 65536 plus a small correction. Checked
 * for all n. */
BLR_INLINE_BLEND __m512 wide_unorm8(__m512i sum)
{
    sum = _mm512_add_epi32(sum, _mm512_srli_epi32(_mm512_add_epi32(sum, _mm512_set1_epi32(128)), 8));
    __m512 number = _mm512_cvtepi32_ps(sum);
    return _mm512_fmadd_ps(number, _mm512_set1_ps((float)(0x1p-16 / 65535.0)), _mm512_mul_ps(number, _mm512_set1_ps(0x1p-16f)));
}

/* Sums of sixteen items, in 1/256: vector k holds items 4 k to 4 k + 3. */
BLR_INLINE_BLEND void wide_byte_sums(const struct blr_block *block, uint32_t item, const int channels, const bool several,
                                     const bool boxes, __m512i sum[4])
{
    const __m512i items = _mm512_setr_epi32(0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3);
    const bool dense = channels == 4 && !boxes && block->dense[item >> 3] && block->dense[(item >> 3) + 1];
    for (int k = 0; k < 4; k++)
        sum[k] = _mm512_setzero_si512();
    for (uint32_t q = 0; q < (several ? block->quads : 1); q++)
        for (int k = 0; k < 4; k += 2) {
            __m512i rows[2];
            eight_byte_rows(block, q, item + 4 * (uint32_t)k, channels, dense, boxes, rows);
            for (int row = 0; row < 2; row++) {
                const __m512i weights = _mm512_load_si512(&block->pair[q][row][item]);
                for (int half = 0; half < 2; half++) {
                    const __m512i which = _mm512_add_epi32(items, _mm512_set1_epi32(4 * (k + half)));
                    const __m512i pairs = pairs_of_rows(rows[row], half, channels, BYTES_BEFORE(row, channels, boxes),
                                                        boxes ? channels : 4);
                    const __m512i products = _mm512_madd_epi16(pairs, _mm512_permutexvar_epi32(which, weights));
                    sum[k + half] = _mm512_add_epi32(sum[k + half], products);
                }
            }
        }
}

/* Stores the results of sixteen items: floats, or a byte of a code a channel. */
BLR_INLINE_BLEND float *store_byte_sums(float *out, const __m512i sum[4], const int channels, bool stream, const bool codes)
{
    if (!codes) {
        for (int k = 0; k < 4; k++)
            store_wide(out + 16 * k, wide_unorm8(sum[k]), stream);
        return out + 64;
    }
    const __m512i half = _mm512_set1_epi16(128);
    const __m512i order = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
    const __m512i lower = _mm512_packus_epi32(sum[0], sum[1]), upper = _mm512_packus_epi32(sum[2], sum[3]);
    const __m512i bytes = _mm512_packus_epi16(_mm512_srli_epi16(_mm512_add_epi16(lower, half), 8),
                                              _mm512_srli_epi16(_mm512_add_epi16(upper, half), 8));
    const __m512i pixels = _mm512_permutexvar_epi32(order, bytes);
    if (channels == 3) {
        const __m128i three = _mm_setr_epi8(0, 1, 2, 4, 5, 6, 8, 9, 10, 12, 13, 14, -1, -1, -1, -1);
        const __m512i packed = _mm512_shuffle_epi8(pixels, _mm512_broadcast_i32x4(three));
        _mm512_mask_storeu_epi32(out, 0x0fff, _mm512_maskz_compress_epi32(0x7777, packed));
        return out + 12;
    }
    store_wide(out, _mm512_castsi512_ps(pixels), stream);
    return out + 16;
}

BLR_INLINE_BLEND uint64_t blend_wide_bytes(const struct blr_block *block, float *out, bool stream, const int channels,
                                           const bool several, const bool boxes, const bool codes)
{
    _Alignas(64) unsigned char bytes[3 * BLR_BLOCK];
    float *to = channels == 3 && stream ? (float *)(void *)bytes : out;
    for (uint32_t item = 0; item < block->count; item += 16) {
        __m512i sum[4];
        wide_byte_sums(block, item, channels, several, boxes, sum);
        to = store_byte_sums(to, sum, channels, stream, codes);
    }
    if (channels == 3 && stream)          /* the block is whole */
        copy_past_caches((unsigned char *)out, bytes, sizeof bytes);
    return 0;
}

#endif
