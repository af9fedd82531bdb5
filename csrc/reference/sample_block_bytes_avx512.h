/* Blending a block of unorm8 texels of four channels with 512-bit vectors: sixteen items at a time, four to a vector. */
#ifndef BLR_SAMPLE_BLOCK_BYTES_AVX512_H
#define BLR_SAMPLE_BLOCK_BYTES_AVX512_H

#include "sample_block_blend_avx512.h"

/* A row of eight items, eight bytes each: in quarter n of the vector items n and n + 4. */
BLR_INLINE_BLEND __m512i eight_byte_rows(const struct blr_block *block, uint32_t q, int row, uint32_t item, const bool dense,
                                         const bool boxes)
{
    __m128i quarter[4];
    if (boxes) {
        const struct blr_boxes *box = &block->box[q];
        const unsigned char *base = (const unsigned char *)(box->base + (row ? box->row_step : 0));
        const uint32_t *place = &block->place[box->level][item];
        for (int n = 0; n < 4; n++)
            quarter[n] = _mm_castps_si128(_mm_loadh_pi(_mm_castsi128_ps(_mm_loadl_epi64((const __m128i *)(base + place[n]))),
                                                       (const __m64 *)(base + place[n + 4])));
    } else if (dense) {
        const uintptr_t *texel = &block->texel[q][2 * row][item];
        for (int n = 0; n < 4; n++)
            quarter[n] = _mm_castps_si128(two_pixels_of_two((const uintptr_t[2]){texel[n], texel[n + 4]}));
    } else {
        const uintptr_t *left = &block->texel[q][2 * row][item], *right = &block->texel[q][2 * row + 1][item];
        for (int n = 0; n < 4; n++)
            quarter[n] = _mm_setr_epi32(load_int(left[n]), load_int(right[n]), load_int(left[n + 4]), load_int(right[n + 4]));
    }
    const __m256i lower = _mm256_set_m128i(quarter[1], quarter[0]), upper = _mm256_set_m128i(quarter[3], quarter[2]);
    return _mm512_inserti64x4(_mm512_castsi256_si512(lower), upper, 1);
}

/* Of half of the items, in 16-bit numbers: each channel of the left texel beside that of the right one. */
BLR_INLINE_BLEND __m512i pairs_of_rows(__m512i rows, const int half)
{
    const char k = (char)(8 * half);
    const __m128i order = _mm_setr_epi8(k, -1, (char)(k + 4), -1, (char)(k + 1), -1, (char)(k + 5), -1, (char)(k + 2), -1,
                                        (char)(k + 6), -1, (char)(k + 3), -1, (char)(k + 7), -1);
    return _mm512_shuffle_epi8(rows, _mm512_broadcast_i32x4(order));
}

/* (257 Q + 128) >> 8 of 65535, correctly rounded: n / 65535 is n / 65536 and a small rest. Checked for all n. */
BLR_INLINE_BLEND __m512 wide_unorm8(__m512i sum)
{
    sum = _mm512_add_epi32(sum, _mm512_srli_epi32(_mm512_add_epi32(sum, _mm512_set1_epi32(128)), 8));
    __m512 number = _mm512_cvtepi32_ps(sum);
    return _mm512_fmadd_ps(number, _mm512_set1_ps((float)(0x1p-16 / 65535.0)), _mm512_mul_ps(number, _mm512_set1_ps(0x1p-16f)));
}

BLR_INLINE_BLEND uint64_t blend_wide_bytes(const struct blr_block *block, float *out, bool stream, const bool several,
                                           const bool boxes)
{
    const __m512i items = _mm512_setr_epi32(0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3);
    for (uint32_t item = 0; item < block->count; item += 16, out += 64) {
        const bool dense = !boxes && block->dense[item >> 3] && block->dense[(item >> 3) + 1];
        __m512i sum[4] = {_mm512_setzero_si512(), _mm512_setzero_si512(), _mm512_setzero_si512(), _mm512_setzero_si512()};
        for (uint32_t q = 0; q < (several ? block->quads : 1); q++)
            for (int row = 0; row < 2; row++) {
                const __m512i weights = _mm512_load_si512(&block->pair[q][row][item]);
                for (int k = 0; k < 4; k += 2) {
                    const __m512i rows = eight_byte_rows(block, q, row, item + 4 * (uint32_t)k, dense, boxes);
                    for (int half = 0; half < 2; half++) {
                        const __m512i which = _mm512_add_epi32(items, _mm512_set1_epi32(4 * (k + half)));
                        const __m512i products = _mm512_madd_epi16(pairs_of_rows(rows, half),
                                                                   _mm512_permutexvar_epi32(which, weights));
                        sum[k + half] = _mm512_add_epi32(sum[k + half], products);
                    }
                }
            }
        for (int k = 0; k < 4; k++)
            store_wide(out + 16 * k, wide_unorm8(sum[k]), stream);
    }
    return 0;
}

#endif
