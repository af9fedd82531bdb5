/* Volumes along lines: the value and the gradient at a position, and the part of a line that touches the volume. A volume is
 * [size_z][size_y][size_x], zero outside, linear between the centres of texels, which are at integers. */
#ifndef BINDLESS_KERNELS_INCLUDE_RAYS_H
#define BINDLESS_KERNELS_INCLUDE_RAYS_H

#include "mode.h"
#include "half.h" /* after the extension that device.h enables */

#define MULTIPLY_ADD(A, B, C) __builtin_fmaf(A, B, C)
#define MIN(A, B) ((A) < (B) ? (A) : (B))
#define MAX(A, B) ((A) > (B) ? (A) : (B))

struct volume {
    global const void *texels;
    int size_x, size_y, size_z;
    bool halves;
};

/* The eight texels around a position, of which the first is `corner`, and the rest of the position. */
struct cell {
    int x, y, z;
    float3 rest;
};

INLINED struct cell cell_at(float3 position)
{
    const float3 low = __builtin_elementwise_floor(position);
    return (struct cell){(int)low.x, (int)low.y, (int)low.z, position - low};
}

/* Whether all eight texels are in the volume. */
INLINED bool is_inside(struct volume volume, struct cell cell)
{
    return cell.x >= 0 && cell.y >= 0 && cell.z >= 0 && cell.x < volume.size_x - 1 && cell.y < volume.size_y - 1 && cell.z < volume.size_z - 1;
}

INLINED ulong place_of_texel(struct volume volume, int x, int y, int z)
{
    return ((ulong)z * (uint)volume.size_y + (uint)y) * (uint)volume.size_x + (uint)x;
}

INLINED float texel_at(struct volume volume, ulong place)
{
    if (volume.halves) return half_bits_to_float(((global const ushort *)volume.texels)[place]);
    return ((global const float *)volume.texels)[place];
}

/* Where the corner of a cell is, or -1 outside. */
INLINED long place_of_corner(struct volume volume, struct cell cell, int corner)
{
    const int x = cell.x + (corner & 1), y = cell.y + (corner >> 1 & 1), z = cell.z + (corner >> 2);
    const bool inside = (uint)x < (uint)volume.size_x && (uint)y < (uint)volume.size_y && (uint)z < (uint)volume.size_z;
    return inside ? (long)place_of_texel(volume, x, y, z) : -1;
}

/* The gradient and, fourth, the value at a position. */
INLINED float4 sample_of(struct volume volume, float3 position)
{
    const struct cell cell = cell_at(position);
    const float3 weight = cell.rest;
    float v[8];
    if (is_inside(volume, cell)) {
        const ulong row = (uint)volume.size_x, plane = row * (uint)volume.size_y, first = place_of_texel(volume, cell.x, cell.y, cell.z);
        UNROLLED for (uint corner = 0; corner < 8; corner++)
            v[corner] = texel_at(volume, first + (corner & 1) + (corner >> 1 & 1) * row + (corner >> 2) * plane);
    } else {
        UNROLLED for (int corner = 0; corner < 8; corner++) {
            const long place = place_of_corner(volume, cell, corner);
            v[corner] = place >= 0 ? texel_at(volume, (ulong)place) : 0.0f;
        }
    }
    const float x0 = v[1] - v[0], x1 = v[3] - v[2], x2 = v[5] - v[4], x3 = v[7] - v[6];
    const float a0 = MULTIPLY_ADD(weight.x, x0, v[0]), a1 = MULTIPLY_ADD(weight.x, x1, v[2]);
    const float a2 = MULTIPLY_ADD(weight.x, x2, v[4]), a3 = MULTIPLY_ADD(weight.x, x3, v[6]);
    const float y0 = a1 - a0, y1 = a3 - a2;
    const float b0 = MULTIPLY_ADD(weight.y, y0, a0), b1 = MULTIPLY_ADD(weight.y, y1, a2);
    const float c0 = MULTIPLY_ADD(weight.y, x1 - x0, x0), c1 = MULTIPLY_ADD(weight.y, x3 - x2, x2);
    return (float4)(MULTIPLY_ADD(weight.z, c1 - c0, c0), MULTIPLY_ADD(weight.z, y1 - y0, y0), b1 - b0, MULTIPLY_ADD(weight.z, b1 - b0, b0));
}

/* A segment from `start`, with `samples` samples in the middles of equal parts; those from `from` to `to` may touch the
 * volume. */
struct segment {
    float3 start, step;
    int from, to;
    float scale;
};

INLINED void clip_axis(float start, float step, int size, float *low, float *high)
{
    const float first = -1.0f - start, last = (float)size - start;
    if (step == 0.0f) {
        if (!(first < 0.0f && last > 0.0f)) *high = -1.0f;
        return;
    }
    const float a = first / step, b = last / step;
    *low = __builtin_fmaxf(*low, __builtin_fminf(a, b));
    *high = __builtin_fminf(*high, __builtin_fmaxf(a, b));
}

INLINED struct segment segment_of(struct volume volume, float3 start, float3 step, uint samples)
{
    float low = 0.0f, high = 1.0f;
    clip_axis(start.x, step.x, volume.size_x, &low, &high);
    clip_axis(start.y, step.y, volume.size_y, &low, &high);
    clip_axis(start.z, step.z, volume.size_z, &low, &high);
    /* Some samples more at both ends: those outside are zero. */
    const int from = MAX((int)(low * samples) - 2, 0), to = MIN((int)(high * samples) + 2, (int)samples);
    return (struct segment){start, step, from, MAX(to, from), 1.0f / (float)samples};
}

INLINED float along_segment(struct segment segment, int k) { return ((float)k + 0.5f) * segment.scale; }

INLINED float3 position_on(struct segment segment, float along)
{
    return (float3)(MULTIPLY_ADD(along, segment.step.x, segment.start.x), MULTIPLY_ADD(along, segment.step.y, segment.start.y),
                    MULTIPLY_ADD(along, segment.step.z, segment.start.z));
}

#endif
