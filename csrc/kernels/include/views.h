/* Rays of views of volumes, from the vectors of filter/view_table.h. */
#ifndef BINDLESS_KERNELS_INCLUDE_VIEWS_H
#define BINDLESS_KERNELS_INCLUDE_VIEWS_H

#include "mode.h"
#include "reals.h"
#include "bindless/filter/curve.h"
#include "bindless/filter/view_table.h"

#define MULTIPLY_ADD(A, B, C) __builtin_fmaf(A, B, C)
#define MIN(A, B) ((A) < (B) ? (A) : (B))
#define MAX(A, B) ((A) > (B) ? (A) : (B))

#define FARTHEST 1e9f /* places and steps of rays that count, in texels */
#define NEAREST 1e-6f /* of texels to the source, as a share of the detector's distance */

INLINED float clamp_to(float x, float low, float high) { return __builtin_fminf(__builtin_fmaxf(x, low), high); }

/* The integer nearest to a number of less than 2^22, without the conversions that GPUs have few units for. */
struct whole {
    float value;
    int number;
};

INLINED struct whole nearest(float x)
{
    const float shifted = x + 0x1.8p23f;
    return (struct whole){shifted - 0x1.8p23f, __builtin_astype(shifted, int) - 0x4B400000};
}

/* The same downwards, but for integers, which may give the one below: linear interpolation is the same there. */
INLINED struct whole below(float x) { return nearest(x - 0.5f); }

/* A vector of the table for a place beside the middle of the volume. */
INLINED float of_place(float4 vector, float x, float y, float z)
{
    return MULTIPLY_ADD(vector.x, x, MULTIPLY_ADD(vector.y, y, MULTIPLY_ADD(vector.z, z, vector.w)));
}

/* The column of a place on the flat detector. */
INLINED float column_at(float flat, float angle) { return angle == 0.0f ? flat : bindless_arc_tangent(angle * flat) / angle; }

/* The cosine of the angle of such a place. */
INLINED float cosine_at(float flat, float angle)
{
    return angle == 0.0f ? 1.0f : 1.0f / __builtin_sqrtf(MULTIPLY_ADD(angle * flat, angle * flat, 1.0f));
}

/* The rays of a view. */
struct rays {
    float4 depth, across, across_step, up, up_step;
};

INLINED struct rays rays_of(global const float4 *view)
{
    return (struct rays){view[BINDLESS_VIEW_DEPTH], view[BINDLESS_VIEW_ACROSS], view[BINDLESS_VIEW_ACROSS_STEP],
                         view[BINDLESS_VIEW_UP], view[BINDLESS_VIEW_UP_STEP]};
}

/* What vectors of the table are multiplied by for a pixel: `first` is 1 of a flat detector. */
struct pixel {
    float first, column, row;
};

INLINED struct pixel pixel_of(global const float4 *views, uint num_views, float angle, float foot_column, float foot_row, uint column,
                              uint row)
{
    if (angle == 0.0f) return (struct pixel){1.0f, (float)column - foot_column, (float)row - foot_row};
    const float2 turn = ((global const float2 *)(views + (ulong)num_views * BINDLESS_VIEW_VECTORS))[column];
    return (struct pixel){turn.x, turn.y, (float)row - foot_row};
}

/* A vector of the table for a column. */
INLINED float of_column(float4 vector, struct pixel to) { return MULTIPLY_ADD(vector.y, to.column, vector.x * to.first); }

/* A vector of the table for a pixel. */
INLINED float of_pixel(float4 vector, struct pixel to) { return MULTIPLY_ADD(vector.z, to.row, of_column(vector, to)); }

/* A ray: places at the middle plane, and steps from a plane to the next. */
struct ray {
    float across, across_step, up, up_step;
};

INLINED struct ray ray_to(struct rays rays, struct pixel to)
{
    const float unit = 1.0f / of_pixel(rays.depth, to);
    return (struct ray){of_pixel(rays.across, to) * unit, of_pixel(rays.across_step, to) * unit, of_pixel(rays.up, to) * unit,
                        of_pixel(rays.up_step, to) * unit};
}

INLINED bool is_near(float number) { return number < FARTHEST && number > -FARTHEST; }

/* The length of a ray between two planes, 0 of one that counts for nothing. */
INLINED float length_of(struct rays rays, struct ray ray)
{
    const float a = ray.across_step * rays.across.w, u = ray.up_step * rays.across_step.w, l = rays.up.w;
    const bool counts = is_near(ray.across) && is_near(ray.across_step) && is_near(ray.up) && is_near(ray.up_step);
    return counts ? __builtin_sqrtf(MULTIPLY_ADD(a, a, MULTIPLY_ADD(u, u, l * l))) : 0.0f;
}

/* The planes where place + (plane - middle) * step lies in (-1, size). */
INLINED void limit(float place, float step, float middle, float size, float *low, float *high)
{
    if (step == 0.0f) {
        if (!(place > -1.0f && place < size)) *high = -1.0f;
        return;
    }
    const float first = (-1.0f - place) / step + middle, last = (size - place) / step + middle;
    *low = __builtin_fmaxf(*low, __builtin_fminf(first, last));
    *high = __builtin_fminf(*high, __builtin_fmaxf(first, last));
}

/* The weight of a texel so far from a ray. */
INLINED float weight_at(float distance)
{
    const float weight = 1.0f - __builtin_fabsf(distance); /* 0 of what is no number, too */
#ifdef __NVPTX__
    return __nvvm_saturate_f(weight); /* a part of the instruction before */
#else
    return __builtin_fmaxf(weight, 0.0f);
#endif
}

/* The numbers of an axis of the detector from `low` to `high`, beside the foot, and a little beyond for places are rounded. All
 * of them where the bounds are no numbers. */
struct range {
    int first, last;
};

INLINED struct range range_of(float low, float high, float foot, uint count)
{
    const float most = (float)(count - 1), inward = 0.49f;
    if (!(low <= high)) return (struct range){0, (int)count - 1};
    const float first = clamp_to(low + foot + inward, 0.0f, most + 1.0f);
    const float last = clamp_to(high + foot - inward, -1.0f, most);
    return (struct range){nearest(first).number, nearest(last).number};
}

INLINED float of_axis(float4 vector, uint axis) { return axis == 0 ? vector.x : axis == 1 ? vector.y : vector.z; }

/* Of a number of 0 to 2^22 the integer below, but for integers, which may give the one below, in the last bits of a sum. */
INLINED uint bits_of(float shifted)
{
#ifdef __NVPTX__
    return __builtin_astype(shifted, uint) & 0x7FFFFF; /* of a difference, LLVM would add the constant to addresses */
#else
    return __builtin_astype(shifted, uint) - 0x4B000000;
#endif
}

INLINED struct whole at_or_below(float x)
{
#ifdef __NVPTX__
    const float shifted = __nvvm_add_rm_f(x, 0x1p23f);
#else
    const float shifted = x - 0.5f + 0x1p23f;
#endif
    return (struct whole){shifted - 0x1p23f, (int)bits_of(shifted)};
}

#endif
