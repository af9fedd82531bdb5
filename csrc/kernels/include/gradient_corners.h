/* The 2^DIMENSIONS texels of a sample with a linear filter: bit a of a corner's number is its place along axis a. Offsets in
 * one texture, and in its coordinates and values, have 32 bits. */
#ifndef BINDLESS_KERNELS_INCLUDE_GRADIENT_CORNERS_H
#define BINDLESS_KERNELS_INCLUDE_GRADIENT_CORNERS_H

#define TAPS 2
#include "gradient_call.h"
#include "gradient_memory.h"
#include "gradient_taps.h"

#define CORNERS (1 << DIMENSIONS)
#define EVERY_CORNER (CORNERS == 8 ? 0xffu : 0xfu)
#define FOR_CORNERS UNROLLED for (uint k = 0; k < CORNERS; ++k)
#define ONE_CORNER _Pragma("nounroll") for (uint k = 0; k < CORNERS; ++k) /* at a time: few registers, for rare samples */
#define FOR_AXES UNROLLED for (uint a = 0; a < DIMENSIONS; ++a)

#ifdef __PTX__
#define FORGET __asm__ volatile("" : : : "memory")
#else
#define FORGET
#endif

struct corners {
    int index[DIMENSIONS];       /* of corner 0, if the sample is plain */
    int first, step[DIMENSIONS]; /* offset of corner 0, and from one to the next along each axis; any texel where outside */
    float rest[DIMENSIONS];      /* weight of the second one along each axis */
    float chain[DIMENSIONS];     /* derivative of the position by the coordinate */
    uint inside;                 /* bit k: corner k is a texel, and not the fill value */
    bool plain;                  /* all are texels next to one another */
};

INLINED bool may_be_outside(uint mode)
{
    bool has_border = false;
    FOR_AXES has_border |= bindless_has_border(boundary_of(mode, a));
    return has_border;
}

/* The address of one texture's numbers. */
INLINED ulong part_of(const struct strided *array, int last, ulong texture, bool is_half)
{
    return array->first + (ulong)array->strides[last] * texture * (is_half ? 2 : 4);
}

/* The address of one channel of it. */
INLINED ulong plane_of(ulong part, const struct strided *array, uint channel, bool is_half)
{
    return part + (ulong)channel * (ulong)array->strides[0] * (is_half ? 2 : 4);
}

/* The nearest integer, the even one of two. */
INLINED int integer_near(float value) { return (int)__builtin_elementwise_roundeven(value); }

INLINED bool is_finite(float value) { return (as_uint(value) & 0x7f800000u) != 0x7f800000u; }

INLINED float read_number(ulong first, int offset, bool is_half)
{
    if (is_half) return half_bits_to_float(((global const ushort *)first)[offset]);
    return ((global const float *)first)[offset];
}

/* The texels of a position near or outside of the edges. */
INLINED void find_corners(struct corners *corners, const struct call *call, const float *at, uint mode)
{
    const struct level *level = &call->levels[0];
    corners->first = 0;
    FOR_AXES {
        struct axis axis;
        axis.chain = 1.0f;
        find_taps(&axis, at[a], (int)level->size[a], a, mode);
        const int low = axis.index[0], high = axis.index[1], stride = (int)level->texels.strides[1 + a];
        const uint second = a == 0 ? 0xaau : a == 1 ? 0xccu : 0xf0u; /* corners whose bit a is set */
        if (bindless_has_border(boundary_of(mode, a))) {
            if (low < 0) corners->inside &= second;
            if (high < 0) corners->inside &= ~second;
            corners->first += (low >= 0 ? low : high >= 0 ? high : 0) * stride;
            corners->step[a] = low >= 0 && high >= 0 ? stride : 0;
        } else {
            corners->first += low * stride;
            corners->step[a] = (high - low) * stride;
        }
        corners->rest[a] = axis.weight[1];
        corners->chain[a] = axis.chain * call->map.scale[a];
    }
}

/* The address of the first of a sample's coordinates, or of their gradients. */
INLINED ulong coordinates_of(const struct strided *array, int item, ulong texture, uint mode)
{
    const ulong first = part_of(array, 2, texture, false);
    return first + (is_packed(mode) ? (ulong)(uint)item * (4 * DIMENSIONS) : 4 * (ulong)(long)(item * (int)array->strides[1]));
}

INLINED void read_position(const struct call *call, int item, ulong texture, float *at, uint mode)
{
    const ulong from = coordinates_of(&call->coordinates, item, texture, mode);
    FOR_AXES {
        const float coordinate = read_number(from, (int)a * (is_packed(mode) ? 1 : (int)call->coordinates.strides[0]), false);
        at[a] = (coordinate + call->map.shift) * call->map.scale[a] + call->map.offset[a];
    }
}

/* Whether the value changes with positions at the first texel's centre. */
INLINED bool may_move(uint mode, uint a) { return bindless_moves_outside(boundary_of(mode, a)); }

INLINED struct corners plain_corners_at(const struct call *call, const float *at, uint mode)
{
    struct corners corners;
    const struct level *level = &call->levels[0];
    corners.first = 0;
    corners.inside = EVERY_CORNER;
    corners.plain = true;
    FOR_AXES {
        const float low = floor_of(at[a]);
        const int index = (int)low;
        corners.index[a] = index;
        corners.rest[a] = at[a] - low;
        corners.plain = corners.plain && (uint)index < level->size[a] - 1u;
        corners.first += index * (int)level->texels.strides[1 + a];
        corners.step[a] = (int)level->texels.strides[1 + a];
        const bool moves = may_move(mode, a) || at[a] > 0.0f;
        corners.chain[a] = moves ? call->map.scale[a] : 0.0f;
    }
    return corners;
}

/* Without the texels of a sample that is not plain. */
INLINED struct corners plain_corners_of(const struct call *call, int item, ulong texture, uint mode)
{
    float at[DIMENSIONS];
    read_position(call, item, texture, at, mode);
    return plain_corners_at(call, at, mode);
}

INLINED struct corners corners_of(const struct call *call, int item, ulong texture, uint mode)
{
    float at[DIMENSIONS];
    read_position(call, item, texture, at, mode);
    struct corners corners = plain_corners_at(call, at, mode);
    if (!corners.plain) find_corners(&corners, call, at, mode);
    return corners;
}

INLINED int offset_of(const struct corners *corners, uint k)
{
    int offset = corners->first;
    FOR_AXES offset += k >> a & 1 ? corners->step[a] : 0;
    return offset;
}

/* The offset of a corner of a plain sample. */
INLINED int plain_offset(const struct corners *corners, const long *strides, uint k, uint mode)
{
    int offset = corners->first;
    UNROLLED for (int a = DIMENSIONS - 1; a > 0; --a) offset += k >> a & 1 ? (int)strides[1 + a] : 0;
    return offset + (k & 1 ? is_dense(mode) ? 1 : (int)strides[1] : 0);
}

/* The addresses of a plain sample's rows along x, in the first channel. */
INLINED void rows_of(ulong *rows, const struct call *call, const struct corners *corners, ulong texture, uint mode)
{
    const struct strided *texels = &call->levels[0].texels;
    const ulong size = has_half_texels(mode) ? 2 : 4, first = part_of(texels, 4, texture, has_half_texels(mode));
    rows[0] = first + (ulong)corners->first * size;
    UNROLLED for (uint j = 1; j < CORNERS / 2; ++j) rows[j] = rows[j & (j - 1)] + (ulong)texels->strides[j == 1 ? 2 : j == 2 ? 3 : 2] * size;
}

/* The corners of a plain sample in one channel. */
INLINED void read_corners(float *texel, const struct call *call, const ulong *rows, uint channel, uint mode)
{
    const struct strided *texels = &call->levels[0].texels;
    FOR_CORNERS {
        const ulong row = plane_of(rows[k >> 1], texels, channel, has_half_texels(mode));
        texel[k] = read_number(row, k & 1 ? is_dense(mode) ? 1 : (int)texels->strides[1] : 0, has_half_texels(mode));
    }
}

/* The weight of a corner, without the factor of one axis or with all (a >= DIMENSIONS). */
INLINED float weight_without(const struct corners *corners, uint k, uint without)
{
    float weight = 1.0f;
    UNROLLED for (int a = DIMENSIONS - 1; a >= 0; --a)
        if ((uint)a != without) weight *= k >> a & 1 ? corners->rest[a] : 1.0f - corners->rest[a];
    return weight;
}

INLINED float weight_of(const struct corners *corners, uint k) { return weight_without(corners, k, DIMENSIONS); }

INLINED float texel_or_fill(const struct call *call, const struct corners *corners, ulong plane, uint k, uint mode)
{
    if (may_be_outside(mode) && (corners->inside >> k & 1) == 0) return call->map.fill;
    return read_number(plane, offset_of(corners, k), has_half_texels(mode));
}

/* The value between two. */
INLINED float between_two(float low, float high, float rest) { return __builtin_fmaf(rest, high, (1.0f - rest) * low); }

/* The value between the corners of a plain sample, or its derivative along one axis. */
INLINED float blended(const struct corners *corners, const float *corner, uint derived)
{
    float part[CORNERS];
    FOR_CORNERS part[k] = corner[k];
    FOR_AXES UNROLLED for (uint k = 0; k < CORNERS >> (a + 1); ++k)
        part[k] = a == derived ? part[2 * k + 1] - part[2 * k] : between_two(part[2 * k], part[2 * k + 1], corners->rest[a]);
    return part[0];
}

#endif
