/* Means of two by two bytes, to nearest even: half the rows and columns of an image of one to four channels. */
#ifndef BINDLESS_REFERENCE_IMAGE_HALVE_BYTES_H
#define BINDLESS_REFERENCE_IMAGE_HALVE_BYTES_H

#include <stdint.h>

#if defined(__AVX2__)
#include <immintrin.h>
#endif

/* The mean of four, from their sum. */
static inline uint8_t blr_mean_of_four(uint32_t sum) { return (uint8_t)((sum + 1 + (sum >> 2 & 1)) >> 2); }

#if defined(__AVX2__)

/* Sums of two pixels in turn of each half register, from two rows: the pixels' channels become neighbours. */
static inline __m256i blr_pair_sums(__m256i above, __m256i below, __m256i neighbours)
{
    const __m256i one = _mm256_set1_epi8(1);
    const __m256i sum = _mm256_add_epi16(_mm256_maddubs_epi16(_mm256_shuffle_epi8(above, neighbours), one),
                                         _mm256_maddubs_epi16(_mm256_shuffle_epi8(below, neighbours), one));
    const __m256i odd = _mm256_and_si256(_mm256_srli_epi16(sum, 2), _mm256_set1_epi16(1));
    return _mm256_srli_epi16(_mm256_add_epi16(_mm256_add_epi16(sum, _mm256_set1_epi16(1)), odd), 2);
}

/* Two halves of a register from two places. (GCC has _mm256_loadu2_m128i only since version 10.) */
static inline __m256i blr_load_halves(const uint8_t *high, const uint8_t *low)
{
    return _mm256_inserti128_si256(_mm256_castsi128_si256(_mm_loadu_si128((const __m128i *)low)),
                                   _mm_loadu_si128((const __m128i *)high), 1);
}

static inline __m256i blr_neighbours(unsigned channels)
{
    switch (channels) {
    case 1:
        return _mm256_setr_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11,
                                12, 13, 14, 15);
    case 2:
        return _mm256_setr_epi8(0, 2, 1, 3, 4, 6, 5, 7, 8, 10, 9, 11, 12, 14, 13, 15, 0, 2, 1, 3, 4, 6, 5, 7, 8, 10, 9, 11,
                                12, 14, 13, 15);
    case 3: /* four pixels of a half register, and four unused bytes */
        return _mm256_setr_epi8(0, 3, 1, 4, 2, 5, 6, 9, 7, 10, 8, 11, -1, -1, -1, -1, 0, 3, 1, 4, 2, 5, 6, 9, 7, 10, 8, 11,
                                -1, -1, -1, -1);
    default:
        return _mm256_setr_epi8(0, 4, 1, 5, 2, 6, 3, 7, 8, 12, 9, 13, 10, 14, 11, 15, 0, 4, 1, 5, 2, 6, 3, 7, 8, 12, 9, 13,
                                10, 14, 11, 15);
    }
}

/* Halves as many pixels as fill registers; returns their number. */
static inline uint64_t blr_halve_registers(const uint8_t *above, const uint8_t *below, uint8_t *means, uint64_t size,
                                           unsigned channels)
{
    const __m256i neighbours = blr_neighbours(channels);
    const uint64_t bytes = 2 * size * channels;
    uint64_t i = 0;
    if (channels == 3) { /* 24 bytes at a time, read as 28 and written as 14 */
        for (; i + 28 <= bytes; i += 24) {
            const __m256i a = blr_load_halves(above + i + 12, above + i);
            const __m256i b = blr_load_halves(below + i + 12, below + i);
            const __m256i packed = _mm256_packus_epi16(blr_pair_sums(a, b, neighbours), _mm256_setzero_si256());
            _mm_storel_epi64((__m128i *)(means + i / 2), _mm256_castsi256_si128(packed));
            _mm_storel_epi64((__m128i *)(means + i / 2 + 6), _mm256_extracti128_si256(packed, 1));
        }
        return i / 6;
    }
    for (; i + 64 <= bytes; i += 64) {
        const __m256i low = blr_pair_sums(_mm256_loadu_si256((const __m256i *)(above + i)),
                                          _mm256_loadu_si256((const __m256i *)(below + i)), neighbours);
        const __m256i high = blr_pair_sums(_mm256_loadu_si256((const __m256i *)(above + i + 32)),
                                           _mm256_loadu_si256((const __m256i *)(below + i + 32)), neighbours);
        const __m256i packed = _mm256_permute4x64_epi64(_mm256_packus_epi16(low, high), 0xd8);
        _mm256_storeu_si256((__m256i *)(means + i / 2), packed);
    }
    return i / (2 * channels);
}

#else

static inline uint64_t blr_halve_registers(const uint8_t *above, const uint8_t *below, uint8_t *means, uint64_t size,
                                           unsigned channels)
{
    (void)above, (void)below, (void)means, (void)size, (void)channels;
    return 0;
}

#endif

/* The rest of a row, or all of it; compilers make registers of it where the number of channels is known. */
static inline void blr_halve_pixels(const uint8_t *restrict above, const uint8_t *restrict below, uint8_t *restrict means,
                                    uint64_t begin, uint64_t size, const unsigned channels)
{
    for (uint64_t i = begin; i < size; i++)
        for (unsigned c = 0; c < channels; c++) {
            const uint64_t at = 2 * i * channels + c;
            means[i * channels + c] =
                blr_mean_of_four((uint32_t)above[at] + above[at + channels] + below[at] + below[at + channels]);
        }
}

/* size: pixels of the means. */
static inline void blr_halve_bytes(const uint8_t *above, const uint8_t *below, uint8_t *means, uint64_t size,
                                   unsigned channels)
{
    const uint64_t done = blr_halve_registers(above, below, means, size, channels);
    if (channels == 1)
        blr_halve_pixels(above, below, means, done, size, 1);
    else if (channels == 2)
        blr_halve_pixels(above, below, means, done, size, 2);
    else if (channels == 3)
        blr_halve_pixels(above, below, means, done, size, 3);
    else
        blr_halve_pixels(above, below, means, done, size, 4);
}

#endif
