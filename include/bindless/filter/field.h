/* Fields of vectors that move positions, one after the other.
 *
 * An array of doubles begins with the descriptions of the fields, of BINDLESS_FIELD_NUMBERS each, one after the other:
 *
 *     0-11    by rows, A: three rows of four
 *     12-20   by rows, B: three rows of three
 *     21-23   vectors of the grid along x, y and z; 1 for axes that it lacks
 *     24      axes of the grid
 *     25      interpolation: linear, or cubic, of coefficients of B-splines; or BINDLESS_LENS
 *     26      where the vectors are, in doubles from the beginning of the array: an even number
 *     27      fields that follow
 *
 * The position p, from the centre of the field's first vector, becomes A (p, 1) + B v, where v is the vector at p. A vector has
 * four floats, of which the first three count. A linear field is defined up to the outer borders of its outer vectors, with the
 * values of the edge, and a cubic one where all its coefficients exist; beyond, v is 0. Positions and products have double
 * precision, v and its weights single precision.
 *
 * In place of a field there may be a lens, of images of two axes: its vectors are the numbers of filter/lens.h, in order. There
 * the position becomes A (p', 1), where p' is the position that the lens leads to. */
#ifndef BINDLESS_FILTER_FIELD_H
#define BINDLESS_FILTER_FIELD_H

#include "bindless/filter/lens.h"
#include "bindless/filter/weights.h"

#define BINDLESS_FIELD_NUMBERS 28
#define BINDLESS_LENS 7 /* in place of an interpolation */

#ifdef __OPENCL_C_VERSION__
#define BINDLESS_FIELD_MEMORY global
#define BINDLESS_FIELD_UNROLL _Pragma("unroll")
#else
#define BINDLESS_FIELD_MEMORY
#define BINDLESS_FIELD_UNROLL
#endif

struct bindless_field {
    int size[3];
    unsigned int dimensions, interpolation;
    const BINDLESS_FIELD_MEMORY float *vectors;
};

BINDLESS_INLINE struct bindless_field bindless_field_of(const BINDLESS_FIELD_MEMORY double *fields,
                                                        const BINDLESS_FIELD_MEMORY double *field)
{
    const struct bindless_field field_there = {{(int)field[21], (int)field[22], (int)field[23]},
                                        (unsigned int)field[24],
                                        (unsigned int)field[25],
                                        (const BINDLESS_FIELD_MEMORY float *)(fields + (bindless_distance)field[26])};
    return field_there;
}

/* First and last position along an axis of n vectors that have a value. */
BINDLESS_INLINE double bindless_field_begin(unsigned int interpolation) { return interpolation == BINDLESS_CUBIC ? 1 : -0.5; }
BINDLESS_INLINE double bindless_field_end(int n, unsigned int interpolation)
{
    return interpolation == BINDLESS_CUBIC ? (double)n - 2 : (double)n - 0.5;
}

/* The vectors of the filter along one axis, and their weights; false where the position has no value. */
BINDLESS_INLINE bool bindless_field_taps(double at, int n, unsigned int interpolation, int *index, float *weight)
{
    if (!(at >= bindless_field_begin(interpolation) && at <= bindless_field_end(n, interpolation)))
        return false;
    const double low = BINDLESS_FLOOR_double(at);
    const int first = (int)low - (interpolation == BINDLESS_CUBIC);
    bindless_weights_float((float)(at - low), interpolation, weight, 1);
    BINDLESS_FIELD_UNROLL
    for (int k = 0; k < (interpolation == BINDLESS_CUBIC ? 4 : 2); k++) {
        const int from_first = first + k > 0 ? first + k : 0;
        index[k] = from_first < n ? from_first : n - 1;
    }
    return true;
}

/* The vector at a position, of a field of one interpolation; `dimensions` is the number of axes that it may have. */
BINDLESS_INLINE void bindless_field_vector(const struct bindless_field field, const double *p, const unsigned int dimensions,
                                           const unsigned int interpolation, float *v)
{
    const int taps = interpolation == BINDLESS_CUBIC ? 4 : 2;
    int index[3][4] = {{0}, {0}, {0}};
    float weight[3][4] = {{1, 0, 0, 0}, {1, 0, 0, 0}, {1, 0, 0, 0}};
    v[0] = v[1] = v[2] = 0;
    BINDLESS_FIELD_UNROLL
    for (unsigned int d = 0; d < dimensions; d++)
        if (d < field.dimensions && !bindless_field_taps(p[d], field.size[d], interpolation, index[d], weight[d]))
            return;
    BINDLESS_FIELD_UNROLL
    for (int z = 0; z < (dimensions > 2 ? taps : 1); z++)
        BINDLESS_FIELD_UNROLL
        for (int y = 0; y < (dimensions > 1 ? taps : 1); y++) {
            const bindless_distance row = (bindless_distance)index[2][z] * (bindless_distance)field.size[1] +
                                          (bindless_distance)index[1][y];
            const BINDLESS_FIELD_MEMORY float *line = field.vectors + 4 * row * (bindless_distance)field.size[0];
            const float of_row = weight[2][z] * weight[1][y];
            BINDLESS_FIELD_UNROLL
            for (int x = 0; x < taps; x++) {
                const float w = of_row * weight[0][x];
#ifdef __OPENCL_C_VERSION__
                const float4 vector = *(global const float4 *)(line + 4 * index[0][x]);
                v[0] += w * vector.x;
                v[1] += w * vector.y;
                v[2] += w * vector.z;
#else
                const float *vector = line + 4 * index[0][x];
                v[0] += w * vector[0];
                v[1] += w * vector[1];
                v[2] += w * vector[2];
#endif
            }
        }
}

BINDLESS_INLINE struct bindless_camera bindless_camera_of(const BINDLESS_FIELD_MEMORY double *numbers)
{
    struct bindless_camera camera;
    camera.model = (int)numbers[0];
    BINDLESS_FIELD_UNROLL
    for (int i = 0; i < 12; i++)
        camera.k[i] = numbers[1 + i];
    camera.limit = numbers[13];
    return camera;
}

/* The ray of a position of a camera. */
BINDLESS_INLINE struct bindless_ray bindless_leave_camera(const struct bindless_camera camera, double x, double y)
{
    double at_x = x, at_y = y, rest = 1;
    if (camera.model == BINDLESS_EQUIRECTANGULAR)
        return bindless_sphere_ray(x, y);
    if (camera.model == BINDLESS_FISHEYE) {
        const double distance = BINDLESS_SQRT(x * x + y * y);
        double angle = distance < camera.limit ? distance : camera.limit;
        for (int i = 0; i < BINDLESS_LENS_STEPS && rest > 0; i++)
            bindless_fisheye_step(camera.k, camera.limit, distance, &angle, &rest);
        return bindless_fisheye_ray(x, y, distance, angle, rest);
    }
    if (camera.model != BINDLESS_OPENCV)
        rest = 0;
    for (int i = 0; i < BINDLESS_LENS_STEPS && rest > 0; i++)
        bindless_undistort_step(camera.k, x, y, &at_x, &at_y, &rest);
    return bindless_ray_of(at_x, at_y, camera.limit, rest);
}

/* Where a camera that is no pinhole sees a ray, or a position on the plane before it. */
BINDLESS_INLINE void bindless_enter_camera(const struct bindless_camera camera, const struct bindless_ray ray, double *x, double *y)
{
    if (camera.model == BINDLESS_OPENCV)
        bindless_bend(camera.k, camera.limit, x, y);
    else if (camera.model == BINDLESS_FISHEYE)
        bindless_see_fisheye(camera.k, camera.limit, ray, x, y);
    else
        bindless_see_sphere(ray, x, y);
}

/* Where a lens leads from a position, of two axes, and the matrix behind it. */
BINDLESS_INLINE void bindless_follow_lens(const BINDLESS_FIELD_MEMORY double *numbers, const BINDLESS_FIELD_MEMORY double *matrix,
                                          double *p)
{
    const BINDLESS_FIELD_MEMORY double *behind_it = numbers + BINDLESS_LENS_CAMERA;
    const int model = (int)behind_it[0];
    struct bindless_ray ray = {p[0], p[1], 1};
    if (numbers[0] != BINDLESS_STRAIGHT) {
        double rotation[9];
        BINDLESS_FIELD_UNROLL
        for (int i = 0; i < 9; i++)
            rotation[i] = numbers[14 + i];
        ray = bindless_turn(rotation, bindless_leave_camera(bindless_camera_of(numbers), p[0], p[1]));
        if (model == BINDLESS_PINHOLE || model == BINDLESS_OPENCV)
            bindless_see_pinhole(ray, &p[0], &p[1]);
    }
    if (model != BINDLESS_PINHOLE)
        bindless_enter_camera(bindless_camera_of(behind_it), ray, &p[0], &p[1]);
    if (numbers[43] != 0 || numbers[44] != 0) {
        double tilt[9];
        BINDLESS_FIELD_UNROLL
        for (int i = 0; i < 9; i++)
            tilt[i] = numbers[37 + i];
        bindless_tilt(tilt, &p[0], &p[1]);
    }
    double behind[8];
    BINDLESS_FIELD_UNROLL
    for (int i = 0; i < 8; i++)
        behind[i] = matrix[i];
    bindless_place(behind, &p[0], &p[1]);
}

/* Where fields lead from a position, of so many axes. */
BINDLESS_INLINE void bindless_follow_fields(const BINDLESS_FIELD_MEMORY double *fields, const unsigned int dimensions, double *p)
{
    const BINDLESS_FIELD_MEMORY double *m = fields;
    for (bool more = true; more; m += BINDLESS_FIELD_NUMBERS) {
        more = m[27] != 0;
        const struct bindless_field field = bindless_field_of(fields, m);
        if (dimensions == 2 && field.interpolation == BINDLESS_LENS) {
            bindless_follow_lens((const BINDLESS_FIELD_MEMORY double *)field.vectors, m, p);
            continue;
        }
        float v[3];
        if (field.interpolation == BINDLESS_CUBIC)
            bindless_field_vector(field, p, dimensions, BINDLESS_CUBIC, v);
        else
            bindless_field_vector(field, p, dimensions, BINDLESS_LINEAR, v);
        const double x = p[0], y = p[1], z = p[2];
        BINDLESS_FIELD_UNROLL
        for (int d = 0; d < 3; d++) {
            const BINDLESS_FIELD_MEMORY double *a = m + 4 * d, *b = m + 12 + 3 * d;
            p[d] = a[0] * x + (a[1] * y + (a[2] * z + a[3])) + (b[0] * (double)v[0] + (b[1] * (double)v[1] + b[2] * (double)v[2]));
        }
    }
}

#endif
