/* Rows of a scaled picture of bytes, in 16 bits: four weights have a sum of 256. */
#include "texture/blend_rows.h"

#include <string.h>

#if defined(__AVX2__)
#include <immintrin.h>

/* Spreads the blocks that read inside the row; returns the number of their columns. */
static uint32_t spread_blocks(const struct blr_spread *spread, const uint8_t *row, uint8_t *first, uint8_t *second)
{
    const uint32_t bytes = spread->columns * spread->channels;
    uint32_t at = 0;
    for (const uint32_t *base = spread->base; at < bytes; at += BLR_SPREAD_BLOCK, base++) {
        if ((uint64_t)*base + spread->channels + BLR_SPREAD_BLOCK > spread->row_size)
            break;
        const uint8_t *texels = row + *base;
        const __m128i index = _mm_loadu_si128((const __m128i *)(spread->index + at));
        const __m128i pixels = _mm_loadu_si128((const __m128i *)texels);
        const __m128i right = _mm_loadu_si128((const __m128i *)(texels + spread->channels));
        _mm_storeu_si128((__m128i *)(first + at), _mm_shuffle_epi8(pixels, index));
        _mm_storeu_si128((__m128i *)(second + at), _mm_shuffle_epi8(right, index));
    }
    return (at < bytes ? at : bytes) / spread->channels;
}
#else
static uint32_t spread_blocks(const struct blr_spread *spread, const uint8_t *row, uint8_t *first, uint8_t *second)
{
    (void)spread, (void)row, (void)first, (void)second;
    return 0;
}
#endif

static inline __attribute__((always_inline)) void spread_columns(const struct blr_spread *spread, const uint8_t *row,
                                                                 uint8_t *first, uint8_t *second, uint32_t column,
                                                                 const uint32_t channels)
{
    for (uint32_t i = column; i < spread->columns; i++) {
        const uint32_t place = spread->first[i], next = place + channels;
        memcpy(first + i * channels, row + place, channels);
        memcpy(second + i * channels, row + (next < spread->row_size ? next : place), channels);
    }
}

void blr_spread_bytes(const struct blr_spread *spread, const void *row, void *first, void *second)
{
    const uint32_t done = spread_blocks(spread, row, first, second);
    switch (spread->channels) {
    case 1: spread_columns(spread, row, first, second, done, 1); return;
    case 2: spread_columns(spread, row, first, second, done, 2); return;
    case 3: spread_columns(spread, row, first, second, done, 3); return;
    default: spread_columns(spread, row, first, second, done, 4);
    }
}

void blr_blend_bytes(const struct blr_row_blend *row, void *const values[2], uint32_t count, uint64_t left_over[2])
{
    const uint8_t *restrict a = row->texels[0], *restrict b = row->texels[1];
    const uint8_t *restrict c = row->texels[2], *restrict d = row->texels[3];
    const uint16_t *restrict second = row->weights;
    const uint32_t below = row->below[0];
    uint8_t *restrict out = values[0];
    left_over[0] = 0; /* none */
    const uint16_t lower = (uint16_t)below, upper = (uint16_t)(256 - below);
    if (below == 0) {
        for (uint32_t i = 0; i < count; i++)
            out[i] = (uint8_t)((uint16_t)((256 - second[i]) * a[i] + second[i] * b[i] + 128) >> 8);
        return;
    }
    for (uint32_t i = 0; i < count; i++) {
        const uint16_t x1 = second[i], x0 = (uint16_t)(256 - x1);
        const uint16_t upper0 = (uint16_t)(x0 * upper + 128) >> 8, lower0 = (uint16_t)(x0 - upper0);
        const uint16_t lower1 = (uint16_t)(x1 * lower + 128) >> 8, upper1 = (uint16_t)(x1 - lower1);
        const uint16_t sum = (uint16_t)(upper0 * a[i] + upper1 * b[i] + lower0 * c[i] + lower1 * d[i] + 128);
        out[i] = (uint8_t)(sum >> 8);
    }
}
