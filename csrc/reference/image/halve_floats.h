/* Means of two by two floats, in double precision: half the rows and columns of an image of one to four channels. */
#ifndef BLR_HALVE_FLOATS_H
#define BLR_HALVE_FLOATS_H

#include "image/double_lanes.h"

#include <stdint.h>

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
static inline void blr_halve_wide_floats(const float *above, const float *below, float *means, uint64_t size,
                                         const unsigned channels)
{
    for (uint64_t i = 0; i < size; i++) {
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

/* size: pixels of the means. */
static inline void blr_halve_floats(const float *above, const float *below, float *means, uint64_t size, unsigned channels)
{
    switch (channels) {
    case 1: blr_halve_single_floats(above, below, means, 0, size, 1); return;
    case 2: blr_halve_single_floats(above, below, means, 0, size, 2); return;
    case 3: /* memory may end with the last pixel */
        blr_halve_wide_floats(above, below, means, size - 1, 3);
        blr_halve_single_floats(above, below, means, size - 1, size, 3);
        return;
    default: blr_halve_wide_floats(above, below, means, size, 4);
    }
}

#endif
