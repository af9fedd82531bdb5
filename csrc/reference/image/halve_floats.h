/* Means of two by two floats, in double precision: half the rows and columns of an image of one to four channels. */
#ifndef BINDLESS_REFERENCE_IMAGE_HALVE_FLOATS_H
#define BINDLESS_REFERENCE_IMAGE_HALVE_FLOATS_H

#include "image/double_lanes.h"

#include <stdint.h>

#if defined(__AVX512F__) && defined(__AVX512VL__)
#include <immintrin.h>
#endif

/* Products with one half are exact, so that one product with a quarter takes the place of all. */
static inline float blr_mean_of_four_floats(float a, float b, float c, float d)
{
    return (float)((((double)a + (double)b) + ((double)c + (double)d)) * 0.25 + 0.0);
}

static inline void blr_halve_single_floats(const float *restrict above, const float *restrict below,
                                           float *restrict means, uint64_t begin, uint64_t size, const unsigned channels)
{
    for (uint64_t i = begin; i < size; i++)
        for (unsigned c = 0; c < channels; c++) {
            const uint64_t at = 2 * i * channels + c;
            means[i * channels + c] =
                blr_mean_of_four_floats(above[at], above[at + channels], below[at], below[at + channels]);
        }
}

/* Pixels of three or four channels in registers of four. Three write a fourth channel, which the next pixel replaces. */
static inline void blr_halve_wide_floats(const float *above, const float *below, float *means, uint64_t begin,
                                         uint64_t size, const unsigned channels)
{
    for (uint64_t i = begin; i < size; i++) {
        const uint64_t at = 2 * i * channels;
        blr_double_4 a, b, c, d;
        blr_four_floats(&a, above + at);
        blr_four_floats(&b, above + at + channels);
        blr_four_floats(&c, below + at);
        blr_four_floats(&d, below + at + channels);
        const blr_float_4 mean = __builtin_convertvector(((a + b) + (c + d)) * 0.25 + 0.0, blr_float_4);
        memcpy(means + i * channels, &mean, sizeof mean);
    }
}

#if defined(__AVX512F__) && defined(__AVX512VL__)

/* Means of two pixels of three or four channels at a time, from four pixels of both rows; returns their number. */
static inline uint64_t blr_halve_float_registers(const float *above, const float *below, float *means, uint64_t size,
                                                 const unsigned channels)
{
    const __m512i first = channels == 3 ? _mm512_setr_epi32(0, 1, 2, 2, 6, 7, 8, 8, 0, 0, 0, 0, 0, 0, 0, 0)
                                        : _mm512_setr_epi32(0, 1, 2, 3, 8, 9, 10, 11, 0, 0, 0, 0, 0, 0, 0, 0);
    const __m512i second = _mm512_add_epi32(first, _mm512_set1_epi32((int)channels));
    const __m256i packed = channels == 3 ? _mm256_setr_epi32(0, 1, 2, 4, 5, 6, 7, 7) : _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    const __mmask8 written = channels == 3 ? 0x3f : 0xff;
    const __m512d quarter = _mm512_set1_pd(0.25), zero = _mm512_set1_pd(0.0);
    uint64_t i = 0;
    for (; 2 * i * channels + 16 <= 2 * size * channels; i += 2) {
        const __m512 upper = _mm512_loadu_ps(above + 2 * i * channels), lower = _mm512_loadu_ps(below + 2 * i * channels);
        const __m512d a = _mm512_cvtps_pd(_mm512_castps512_ps256(_mm512_permutexvar_ps(first, upper)));
        const __m512d b = _mm512_cvtps_pd(_mm512_castps512_ps256(_mm512_permutexvar_ps(second, upper)));
        const __m512d c = _mm512_cvtps_pd(_mm512_castps512_ps256(_mm512_permutexvar_ps(first, lower)));
        const __m512d d = _mm512_cvtps_pd(_mm512_castps512_ps256(_mm512_permutexvar_ps(second, lower)));
        const __m512d sum = _mm512_add_pd(_mm512_add_pd(a, b), _mm512_add_pd(c, d));
        const __m256 mean = _mm512_cvtpd_ps(_mm512_add_pd(_mm512_mul_pd(sum, quarter), zero));
        _mm256_mask_storeu_ps(means + i * channels, written, _mm256_permutevar8x32_ps(mean, packed));
    }
    return i;
}

#else

static inline uint64_t blr_halve_float_registers(const float *above, const float *below, float *means, uint64_t size,
                                                 const unsigned channels)
{
    (void)above, (void)below, (void)means, (void)size, (void)channels;
    return 0;
}

#endif

/* size: pixels of the means. */
static inline void blr_halve_floats(const float *above, const float *below, float *means, uint64_t size, unsigned channels)
{
    uint64_t done;
    switch (channels) {
    case 1: blr_halve_single_floats(above, below, means, 0, size, 1); return;
    case 2: blr_halve_single_floats(above, below, means, 0, size, 2); return;
    case 3: /* memory may end with the last pixel */
        done = blr_halve_float_registers(above, below, means, size, 3);
        if (done < size) {
            blr_halve_wide_floats(above, below, means, done, size - 1, 3);
            blr_halve_single_floats(above, below, means, size - 1, size, 3);
        }
        return;
    default:
        done = blr_halve_float_registers(above, below, means, size, 4);
        blr_halve_wide_floats(above, below, means, done, size, 4);
    }
}

#endif
