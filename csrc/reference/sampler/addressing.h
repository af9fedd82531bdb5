/* Coordinates: conversion of a float to an axis's two texels and the weight of the second, in exact integers. Every
 * float is valid: NaN and denormals count as 0, magnitudes are clamped to 2^30. */
#ifndef BINDLESS_REFERENCE_SAMPLER_ADDRESSING_H
#define BINDLESS_REFERENCE_SAMPLER_ADDRESSING_H

#include "bindless/filter/boundary.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#define BLR_COORDINATE_LIMIT 0x1p30f

/* Fraction bits kept of a normalized coordinate; alone: the image has neither layers nor mip levels. */
static inline int blr_fraction_bits(uint32_t extent, bool alone)
{
    return extent <= 8192 ? 21 : extent <= (alone ? 65536u : 16384u) ? 22 : 23;
}

static inline float blr_clean_coordinate(float x)
{
    if (!(fabsf(x) >= 0x1p-126f))
        return 0.0f;                      /* NaN, denormals, zero */
    return x > BLR_COORDINATE_LIMIT ? BLR_COORDINATE_LIMIT : x < -BLR_COORDINATE_LIMIT ? -BLR_COORDINATE_LIMIT : x;
}

/* floor(256 x + 1/2), where x is the coordinate in texels. */
static inline int64_t blr_texels_256(float coordinate, uint32_t extent, bool normalized, int bits)
{
    double x = blr_clean_coordinate(coordinate);
    if (!normalized)
        return (int64_t)floor(x * 256.0 + 0.5);
    int64_t u = (int64_t)floor(x * (double)(INT64_C(1) << bits));
    int64_t whole = u >> bits;
    int64_t fraction = u & ((INT64_C(1) << bits) - 1);
    return whole * (256 * (int64_t)extent) + ((fraction * 256 * (int64_t)extent + (INT64_C(1) << (bits - 1))) >> bits);
}

/* floor(x), where x is the coordinate in texels. */
static inline int64_t blr_texel_floor(float coordinate, uint32_t extent, bool normalized, int bits)
{
    double x = blr_clean_coordinate(coordinate);
    if (!normalized)
        return (int64_t)floor(x);
    int64_t u = (int64_t)floor(x * (double)(INT64_C(1) << bits));
    int64_t fraction = u & ((INT64_C(1) << bits) - 1);
    return (u >> bits) * (int64_t)extent + ((fraction * (int64_t)extent) >> bits);
}

/* The two texels of a linear sample along an axis; positions are in 1/256 of a texel from the centre of texel 0. */
struct blr_axis {
    int64_t index[2];                     /* BINDLESS_OUTSIDE: border */
    int32_t weight;                       /* weight of the second, 0..255 */
};

static inline struct blr_axis blr_axis_at(int64_t position, uint32_t extent, unsigned int boundary)
{
    if (boundary == BINDLESS_EDGE) {
        int64_t last = 256 * ((int64_t)extent - 1);
        position = position < 0 ? 0 : position > last ? last : position;
    }
    struct blr_axis axis = {{bindless_texel_at(position >> 8, extent, boundary),
                             bindless_texel_at((position >> 8) + 1, extent, boundary)},
                            (int32_t)(position & 255)};
    return axis;
}

static inline struct blr_axis blr_axis_linear(float coordinate, uint32_t extent, bool normalized, int bits,
                                              unsigned int boundary)
{
    return blr_axis_at(blr_texels_256(coordinate, extent, normalized, bits) - 128, extent, boundary);
}

static inline struct blr_axis blr_axis_nearest(float coordinate, uint32_t extent, bool normalized, int bits,
                                               unsigned int boundary)
{
    int64_t index = bindless_texel_at(blr_texel_floor(coordinate, extent, normalized, bits), extent, boundary);
    struct blr_axis axis = {{index, index}, 0};
    return axis;
}

#endif
