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

/* Whether kernels have code of their own for a plain lens, and for one linear field: for GPUs of NVIDIA, where it was measured,
 * and the latter not for texture units, whose kernels would have it once for each element of a lane. */
#if defined(__NVPTX__) && DIMENSIONS == 2
#define HAS_LENSES 1
#else
#define HAS_LENSES 0
#endif
#if defined(__NVPTX__) && !defined(OF_TEXTURE_UNIT)
#define HAS_LINEAR_FIELDS 1
#else
#define HAS_LINEAR_FIELDS 0
#endif

/* A field that a kernel has code for, read once by a work-item. */
struct own_field {
#if HAS_LENSES
    double k[5], limit, x_behind[3], y_behind[3]; /* coefficients, limit, and the matrix behind a plain lens */
#endif
#if HAS_LINEAR_FIELDS
    double x[4], y[4], z[4]; /* by rows, A of the positions of elements */
    float b[9];              /* by rows, B */
    int size_x, size_y, size_z;
    global const float4 *vectors;
#endif
    uint kind;
};

#if HAS_LENSES
/* A plain lens: of a picture with the axes of the image's camera, which has OpenCV's model with five coefficients. */
INLINED void read_lens(global const double *description, struct own_field *into)
{
    global const double *camera = description + (ulong)description[26] + BINDLESS_LENS_CAMERA;
    UNROLLED for (int i = 0; i < 5; i++) into->k[i] = camera[1 + i];
    into->limit = camera[13];
    UNROLLED for (int i = 0; i < 3; i++)
    {
        into->x_behind[i] = description[i < 2 ? i : 3];
        into->y_behind[i] = description[i < 2 ? 4 + i : 7];
    }
}

INLINED struct position through_plain_lens(struct own_field field, struct position p)
{
    const double k[12] = {field.k[0], field.k[1], field.k[2], field.k[3], field.k[4]};
    const double behind[8] = {field.x_behind[0], field.x_behind[1], 0.0, field.x_behind[2],
                              field.y_behind[0], field.y_behind[1], 0.0, field.y_behind[2]};
    bindless_bend(k, field.limit, &p.x, &p.y);
    bindless_place(behind, &p.x, &p.y);
    return p;
}
#endif

#if HAS_LINEAR_FIELDS

/* The row of A that leads from elements: `row` leads from positions of the map. */
INLINED void compose_row(struct map map, global const double *row, double *into)
{
    const double in_x = row[0], in_y = row[1], in_z = row[2], offset = row[3];
    UNROLLED for (int k = 0; k < 4; k++)
    {
        const double z = DIMENSIONS > 2 ? in_z * map.z[k] : 0.0, yz = DIMENSIONS > 1 ? in_y * map.y[k] + z : 0.0;
        into[k] = in_x * map.x[k] + yz + (k == 3 ? offset : 0.0);
    }
}

INLINED void read_linear_field(struct map map, global const double *description, struct own_field *into)
{
    const struct bindless_field field = bindless_field_of(description, description);
    compose_row(map, description, into->x);
    compose_row(map, description + 4, into->y);
    compose_row(map, description + 8, into->z);
    UNROLLED for (int k = 0; k < 9; k++) into->b[k] = (float)description[12 + k];
    into->size_x = field.size[0];
    into->size_y = field.size[1];
    into->size_z = field.size[2];
    into->vectors = (global const float4 *)field.vectors;
}

/* The cell of a position, and where it is there, to 2^-23: at its first or last edge beyond the outer vectors. */
struct cell {
    uint low;
    float fraction;
    bool inside;
};

INLINED struct cell cell_of(double p, int size)
{
    const double shifted = p + 0x1.8p29; /* the lowest bit of the sum is 2^-23 */
    const ulong bits = __builtin_astype(shifted, ulong);
    const int index = (int)(bits >> 23) - (int)(__builtin_astype(0x1.8p29, ulong) >> 23), last = size - 2;
    const float fraction = __builtin_astype(0x3f800000u | ((uint)bits & 0x7fffff), float) - 1.0f;
    struct cell cell;
    cell.inside = p >= -0.5 && p <= (double)size - 0.5;
    cell.low = (uint)(index < 0 ? 0 : index > last ? last : index);
    cell.fraction = index < 0 ? 0.0f : index > last ? 1.0f : fraction;
    return cell;
}

INLINED float4 between(float4 low, float4 high, float fraction)
{
    const float4 way = high - low;
    return (float4)(__builtin_fmaf(fraction, way.x, low.x), __builtin_fmaf(fraction, way.y, low.y),
                    __builtin_fmaf(fraction, way.z, low.z), 0.0f);
}

INLINED float4 field_row(global const float4 *row, float fraction) { return between(row[0], row[1], fraction); }

INLINED double affine_row(const double *row, double x, double y, double z)
{
    return __builtin_fma(row[0], x, __builtin_fma(row[1], y, __builtin_fma(row[2], z, row[3])));
}

INLINED float vector_row(const float *row, float4 v)
{
    return __builtin_fmaf(row[0], v.x, __builtin_fmaf(row[1], v.y, row[2] * v.z));
}

/* Where the field leads from a position p of element (x, y, z). */
INLINED struct position through_linear_field(struct own_field field, struct position p, double x, double y, double z)
{
    const struct cell none = {0, 0.0f, true};
    const struct cell in_x = cell_of(p.x, field.size_x);
    const struct cell in_y = DIMENSIONS > 1 ? cell_of(p.y, field.size_y) : none;
    const struct cell in_z = DIMENSIONS > 2 ? cell_of(p.z, field.size_z) : none;
    float4 v = 0.0f;
    if (in_x.inside && in_y.inside && in_z.inside) {
        const uint width = (uint)field.size_x, plane = width * (uint)field.size_y;
        global const float4 *row = field.vectors + (in_z.low * plane + (in_y.low * width + in_x.low));
        v = field_row(row, in_x.fraction);
        if (DIMENSIONS > 1) v = between(v, field_row(row + width, in_x.fraction), in_y.fraction);
        if (DIMENSIONS > 2) {
            const float4 low = field_row(row + plane, in_x.fraction), high = field_row(row + plane + width, in_x.fraction);
            v = between(v, between(low, high, in_y.fraction), in_z.fraction);
        }
    }
    const float *b = field.b;
    struct position q = {0.0, 0.0, 0.0};
    q.x = affine_row(field.x, x, y, z) + (double)vector_row(b, v);
    if (DIMENSIONS > 1) q.y = affine_row(field.y, x, y, z) + (double)vector_row(b + 3, v);
    if (DIMENSIONS > 2) q.z = affine_row(field.z, x, y, z) + (double)vector_row(b + 6, v);
    return q;
}

#endif

/* What the kernel has code for, of the fields of a map. */
INLINED struct own_field own_field_of(struct map map, uint mode)
{
    struct own_field field = {.kind = 0};
#if HAS_LENSES
    if (has_plain_lens(mode)) read_lens((global const double *)map.coords, &field);
#endif
#if HAS_LINEAR_FIELDS
    if (has_linear_field(mode)) read_linear_field(map, (global const double *)map.coords, &field);
#endif
    return field;
}

INLINED struct position position_of(struct map map, struct own_field field, struct element element, uint mode)
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
#if HAS_LENSES
    if (has_plain_lens(mode)) return through_plain_lens(field, p);
#endif
#if HAS_LINEAR_FIELDS
    if (has_linear_field(mode)) return through_linear_field(field, p, x, y, z);
#endif
    return has_fields(mode) ? through_fields((global const double *)map.coords, p.x, p.y, p.z) : p;
}

#endif
