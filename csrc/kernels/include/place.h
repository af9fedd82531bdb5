/* Positions of a picture's elements in an image: of element (i, j, k), with (x, y, z) = (i, j, k) + centre, each row of
 * the matrix gives a x + (b y + (c z + d)), every step rounded to double precision; where the last row is not
 * (0, 0, 0, 1), the others are divided by it; the element's vector is added, or fields move the position. Indices count from
 * an element `first` of a larger picture. */
#ifndef BINDLESS_KERNELS_INCLUDE_PLACE_H
#define BINDLESS_KERNELS_INCLUDE_PLACE_H

#include "bindless/filter/field.h"
#include "mode.h"
#include "picture.h"

struct map {
    double x[4], y[4], z[4], w[4];
    double centre;
    global const void *coords; /* the first element's x, or the fields */
    long step, component;      /* between elements and between their components, in elements of the array */
    uint first_x, first_y, first_z;
};

#define MAP_PARAMETERS                                                                                                 \
    double m00, double m01, double m02, double m03, double m10, double m11, double m12, double m13, double m20,        \
        double m21, double m22, double m23, double m30, double m31, double m32, double m33, double centre,             \
        global const void *coords, long step, long component, uint first_x, uint first_y, uint first_z

#define MAP_OF_PARAMETERS                                                                                              \
    {{m00, m01, m02, m03}, {m10, m11, m12, m13}, {m20, m21, m22, m23}, {m30, m31, m32, m33}, centre, coords, step, component, \
     first_x, first_y, first_z}

struct position {
    double x, y, z;
};

/* The number of an element, and where its centre is. GPUs convert integers to double precision at a quarter of the rate of
 * sums: the bits of 2^52 + i are known, and i + centre is exact. */
INLINED double centre_of(uint i, double centre)
{
#ifdef __NVPTX__
    return (__builtin_astype(0x4330000000000000ul | i, double) - 0x1p52) + centre;
#else
    return (double)i + centre;
#endif
}

INLINED double row_of(double a, double b, double c, double d, double x, double y, double z)
{
    return a * x + (b * y + (c * z + d));
}

static inline double vector_component(struct map map, ulong number, int axis, uint mode)
{
    const long at = (long)number * map.step + axis * map.component;
    if (has_double_vectors(mode)) return ((global const double *)map.coords)[at];
    return (double)((global const float *)map.coords)[at];
}

/* Called where it is not compiled for one mode: a copy of it for each element of a lane would be most of a kernel. */
#ifdef BINDLESS_OPENCL_C
#define NOT_INLINED static inline
#else
#define NOT_INLINED static __attribute__((noinline))
#endif

NOT_INLINED struct position through_fields(global const double *fields, double x, double y, double z)
{
    double p[3] = {x, y, z};
    bindless_follow_fields(fields, DIMENSIONS, p);
    return (struct position){p[0], p[1], p[2]};
}

INLINED struct position position_of(struct map map, struct element element, uint mode)
{
    const double centre = is_centred(mode) ? 0.5 : is_uncentred(mode) ? 0.0 : map.centre;
    const double x = centre_of(map.first_x + element.x, centre), y = centre_of(map.first_y + element.y, centre),
                 z = centre_of(map.first_z + element.z, centre);
    struct position p = {0.0, 0.0, 0.0};
    p.x = row_of(map.x[0], map.x[1], map.x[2], map.x[3], x, y, z);
#if DIMENSIONS > 1
    p.y = row_of(map.y[0], map.y[1], map.y[2], map.y[3], x, y, z);
#endif
#if DIMENSIONS > 2
    p.z = row_of(map.z[0], map.z[1], map.z[2], map.z[3], x, y, z);
#endif
    if (is_projective(mode)) {
        const double w = row_of(map.w[0], map.w[1], map.w[2], map.w[3], x, y, z);
        p.x /= w;
#if DIMENSIONS > 1
        p.y /= w;
#endif
#if DIMENSIONS > 2
        p.z /= w;
#endif
    }
    if (has_vectors(mode)) {
        p.x += vector_component(map, element.number, 0, mode);
#if DIMENSIONS > 1
        p.y += vector_component(map, element.number, 1, mode);
#endif
#if DIMENSIONS > 2
        p.z += vector_component(map, element.number, 2, mode);
#endif
    }
    if (has_fields(mode)) return through_fields((global const double *)map.coords, p.x, p.y, p.z);
    return p;
}

#endif
