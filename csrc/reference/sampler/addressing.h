/* Coordinates: conversion of a float to an axis's two texels and the weight of the second, in exact integers. Every
 * float is valid: NaN and denormals count as 0, magnitudes are clamped to 2^30. */
#ifndef BINDLESS_REFERENCE_SAMPLER_ADDRESSING_H
#define BINDLESS_REFERENCE_SAMPLER_ADDRESSING_H

#include "bindless/reference.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#define BLR_OUTSIDE (-1)                  /* index of a border texel */
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

static inline int64_t blr_modulo(int64_t value, int64_t divisor)
{
    int64_t rest = value % divisor;
    return rest < 0 ? rest + divisor : rest;
}

/* Applies the addressing mode to any index; BLR_OUTSIDE for the border. */
static inline int64_t blr_address(int64_t index, uint32_t extent, blr_addressing_t addressing)
{
    int64_t n = extent;
    switch (addressing) {
    case BLR_ADDRESSING_CLAMP_TO_EDGE:
        return index < 0 ? 0 : index >= n ? n - 1 : index;
    case BLR_ADDRESSING_MIRRORED_REPEAT: {
        int64_t place = blr_modulo(index, 2 * n);
        return place >= n ? 2 * n - 1 - place : place;
    }
    case BLR_ADDRESSING_CLAMP_TO_BORDER:
        return index < 0 || index >= n ? BLR_OUTSIDE : index;
    case BLR_ADDRESSING_REPEAT:
    case BLR_ADDRESSING_NONE:
        break;
    }
    return blr_modulo(index, n);
}

/* The two texels of a linear sample along an axis; positions are in 1/256 of a texel from the centre of texel 0. */
struct blr_axis {
    int64_t index[2];                     /* BLR_OUTSIDE: border */
    int32_t weight;                       /* weight of the second, 0..255 */
};

static inline struct blr_axis blr_axis_at(int64_t position, uint32_t extent, blr_addressing_t addressing)
{
    if (addressing == BLR_ADDRESSING_CLAMP_TO_EDGE) {
        int64_t last = 256 * ((int64_t)extent - 1);
        position = position < 0 ? 0 : position > last ? last : position;
    }
    struct blr_axis axis = {{blr_address(position >> 8, extent, addressing),
                             blr_address((position >> 8) + 1, extent, addressing)},
                            (int32_t)(position & 255)};
    return axis;
}

static inline struct blr_axis blr_axis_linear(float coordinate, uint32_t extent, bool normalized, int bits,
                                              blr_addressing_t addressing)
{
    return blr_axis_at(blr_texels_256(coordinate, extent, normalized, bits) - 128, extent, addressing);
}

static inline struct blr_axis blr_axis_nearest(float coordinate, uint32_t extent, bool normalized, int bits,
                                               blr_addressing_t addressing)
{
    int64_t index = blr_address(blr_texel_floor(coordinate, extent, normalized, bits), extent, addressing);
    struct blr_axis axis = {{index, index}, 0};
    return axis;
}

#endif
