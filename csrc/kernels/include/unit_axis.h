/* Coordinates of a texture unit, computed: the texels of a sample along an axis, and their weights.
 *
 * The arithmetic is that of docs/internals/numerics.md, in steps that every device computes exactly: integers, and single
 * precision where the result has no more than 24 bits. It needs neither double precision nor denormal numbers.
 *
 * EXACT replaces the integer weights by unrounded ones in single precision.
 *
 * The sampler is one word, the kernel's argument `mode`:
 *     bit 0       linear filtering
 *     bit 1       linear filtering between levels
 *     bit 2       seamless filtering of cubemaps
 *     bit 3       normalized coordinates
 *     bit 4       the filter runs, even for a single texel
 *     bit 5       neither layers nor levels
 *     bits 6-14   boundary along x, y and z, three bits each (filter/boundary.h): border, edge, repeat or mirrored_repeat;
 *                 EXACT also has mirror, and boundaries with an extent
 *     bits 15-16  dimensions of the image, 1 to 3
 *     bit 17      cubemap
 *     bit 18      a mipmap, sampled at a level
 *     bit 19      the texels have less than 2^31 bytes */
#ifndef BINDLESS_KERNELS_INCLUDE_UNIT_AXIS_H
#define BINDLESS_KERNELS_INCLUDE_UNIT_AXIS_H

#include "bindless/device.h"
#include "bindless/filter/boundary.h"

/* OpenCL C can receive the word at compile time, as specialization constant 1. */
#ifdef BINDLESS_OPENCL_C
#define KNOWN_MODE(MODE) bindless_constant_uint(1, MODE)
#else
#define KNOWN_MODE(MODE) (MODE)
#endif

#define UNIT static inline __attribute__((always_inline))

UNIT bool is_linear(uint sampler) { return (sampler & 1) != 0; }
UNIT bool blends_levels(uint sampler) { return (sampler >> 1 & 1) != 0; }
UNIT bool is_seamless(uint sampler) { return (sampler >> 2 & 1) != 0; }
UNIT bool is_normalized(uint sampler) { return (sampler >> 3 & 1) != 0; }
UNIT bool filters(uint sampler) { return (sampler >> 4 & 1) != 0; }
UNIT bool is_alone(uint sampler) { return (sampler >> 5 & 1) != 0; }
UNIT uint boundary_of(uint sampler, uint axis) { return sampler >> (6 + 3 * axis) & 7; }
UNIT uint dimensions(uint sampler) { return sampler >> 15 & 3; }
UNIT bool is_cube(uint sampler) { return (sampler >> 17 & 1) != 0; }
UNIT bool has_level(uint sampler) { return (sampler >> 18 & 1) != 0; }
UNIT bool is_small(uint sampler) { return (sampler >> 19 & 1) != 0; }

#if EXACT
typedef float share;
#else
typedef int share;
#endif

/* The two texels along an axis, and the weight of the second: in 1/256, or up to 1. */
struct axis {
    int first, second;
    share weight;
};

/* A position along an axis: `whole` times the extent, plus `part`, in 1/256 of a texel for linear filtering, otherwise
 * in texels. */
struct place {
    int whole, part;
};

UNIT float clean(float x)
{
    if (!(__builtin_fabsf(x) >= 0x1p-126f)) return 0.0f; /* not a number, denormal numbers, zero */
    return __builtin_fminf(__builtin_fmaxf(x, -0x1p30f), 0x1p30f);
}

UNIT int clamped(int value, int low, int high) { return value < low ? low : value > high ? high : value; }

/* 2 to the power of -126 to 127. */
UNIT float power_of_two(int exponent) { return __builtin_astype((uint)(exponent + 127) << 23, float); }

/* Fraction bits of a normalized coordinate. */
UNIT int fraction_bits(uint extent, bool alone)
{
    return extent <= 8192 ? 21 : extent <= (alone ? 65536u : 16384u) ? 22 : 23;
}

/* Texels away from 0 whose coordinate is fraction / 2^bits, and 1/256 of texels from the centre of texel 0. */
UNIT int texel_of(uint fraction, uint extent, int bits) { return (int)(((ulong)fraction * extent) >> bits); }
UNIT int position_of(uint fraction, uint extent, int bits)
{
    return (int)(((ulong)fraction * (256 * extent) + (1u << (bits - 1))) >> bits) - 128;
}

UNIT struct place place_of(float coordinate, uint extent, int bits, uint sampler)
{
    float x = clean(coordinate);
    if (!is_normalized(sampler)) {
        x = __builtin_fminf(__builtin_fmaxf(x, -4.0f), (float)(int)extent + 4.0f); /* farther outside is the same */
        if (!is_linear(sampler)) return (struct place){0, (int)__builtin_floorf(x)};
        const float scaled = x * 256.0f, below = __builtin_floorf(scaled);
        const int up = scaled != below && scaled >= below + 0.5f ? 1 : 0; /* whole numbers may be too large for the sum */
        return (struct place){0, (int)below + up - 128};
    }
    const float u = __builtin_floorf(x * power_of_two(bits)), whole = __builtin_floorf(u * power_of_two(-bits));
    const uint fraction = (uint)(int)(u - whole * power_of_two(bits));
    return (struct place){(int)whole, is_linear(sampler) ? position_of(fraction, extent, bits)
                                                         : texel_of(fraction, extent, bits)};
}

/* Applies the boundary to texel `whole` n + `part`, -n <= part < 2n. */
UNIT int address(int whole, int part, int n, uint boundary)
{
    if (boundary == BINDLESS_REPEAT) return part < 0 ? part + n : part >= n ? part - n : part;
    if (boundary == BINDLESS_MIRRORED_REPEAT) {
        int at = ((whole & 1) != 0 ? n : 0) + part;
        at = at < 0 ? at + 2 * n : at >= 2 * n ? at - 2 * n : at;
        return at >= n ? 2 * n - 1 - at : at;
    }
#if EXACT
    if (boundary == BINDLESS_MIRROR && n > 1)
        return bindless_texel_at((int)(((long)whole * n + part) % (2l * n - 2)), n, boundary);
#endif
    const int at = clamped(whole, -2, 2) * n + part;
    if (boundary != BINDLESS_BORDER) return clamped(at, 0, n - 1);
    return at < 0 || at >= n ? BINDLESS_OUTSIDE : at;
}

#if EXACT

/* Whether a sample has the border's value as a whole; the centre of the first texel is at 0.5, or at 0.5 / n. */
UNIT bool is_beyond(float x, int n, uint boundary, bool normalized)
{
    const float size = normalized ? 1.0f : (float)n, margin = (0.5f - bindless_extent(boundary)) * (size / (float)n);
    return bindless_has_extent(boundary) && !(x >= margin && x <= size - margin);
}

/* Splits coordinate * scale into a texel and a rest of 0 to 1. A normalized coordinate is split into the nearest whole
 * number and a rest, which is exact; the product of rest and extent has two parts. */
UNIT struct axis axis_of(float coordinate, uint extent, int bits, uint boundary, uint sampler)
{
    const int n = (int)extent;
    float x = clean(coordinate), low = 0.0f, half_ = is_linear(sampler) ? 0.5f : 0.0f;
    int whole = 0;
    if (is_beyond(x, n, boundary, is_normalized(sampler))) return (struct axis){BINDLESS_OUTSIDE, BINDLESS_OUTSIDE, 0.0f};
    if (is_normalized(sampler)) {
        const float nearest = __builtin_rintf(x), rest = x - nearest;
        whole = (int)nearest;
        x = rest * (float)n;
        low = __builtin_fmaf(rest, (float)n, -x);
    } else {
        x = __builtin_fminf(__builtin_fmaxf(x, -4.0f), (float)n + 4.0f);
    }
    float below = __builtin_floorf(x - half_);
    if (!is_linear(sampler)) {
        if (x == below && low < 0.0f) below -= 1.0f;
        const int only = address(whole, (int)below, n, boundary);
        return (struct axis){only, only, 0.0f};
    }
    float weight = x - below - 0.5f + low; /* the first difference has no rounding error, x - 0.5 may have one */
    if (weight < 0.0f) {
        below -= 1.0f;
        weight += 1.0f;
    }
    return (struct axis){address(whole, (int)below, n, boundary), address(whole, (int)below + 1, n, boundary), weight};
}

#else

UNIT struct axis axis_at(struct place at, uint extent, uint boundary, bool linear)
{
    const int n = (int)extent;
    if (!linear) {
        const int only = address(at.whole, at.part, n, boundary);
        return (struct axis){only, only, 0};
    }
    if (boundary == BINDLESS_EDGE) {
        at.part = clamped(clamped(at.whole, -2, 2) * (256 * n) + at.part, 0, 256 * (n - 1));
        at.whole = 0;
    }
    return (struct axis){address(at.whole, at.part >> 8, n, boundary), address(at.whole, (at.part >> 8) + 1, n, boundary),
                         at.part & 255};
}

UNIT struct axis axis_of(float coordinate, uint extent, int bits, uint boundary, uint sampler)
{
    return axis_at(place_of(coordinate, extent, bits, sampler), extent, boundary, is_linear(sampler));
}

#endif
#endif
