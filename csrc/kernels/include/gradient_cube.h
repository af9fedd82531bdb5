/* Directions on the faces of a cubemap, and texels across its edges, like the reference driver's gradients. A direction has a
 * largest component m, which selects the face, and two others, s and t; s / |m| and t / |m| are from -1 to 1 on the face. At a
 * corner of the cube three texels meet: the fourth tap counts as their mean. */
#ifndef BINDLESS_KERNELS_INCLUDE_GRADIENT_CUBE_H
#define BINDLESS_KERNELS_INCLUDE_GRADIENT_CUBE_H

#include "gradient_taps.h"

struct cube {
    int face;
    float inverse, half_size;             /* 1 / |m|; half of the texels along an edge of level 0 */
    float at[2];                          /* s / |m|, t / |m| */
    float cot[3], first[2];               /* cotangents of s, t, m; BACKWARD's gradients, for BACKWARD_BACKWARD */
};

/* Texels of the taps of a level, their faces, and the tap without a texel, or -1. */
struct cube_taps {
    int column[TAPS * TAPS], row[TAPS * TAPS], side[TAPS * TAPS], corner;
};

/* The components s, t and m of (x, y, z), and back. */
#define FACE_FUNCTIONS(TYPE)                                                                                           \
    INLINED void to_face_##TYPE(int face, const TYPE *v, TYPE *on)                                                     \
    {                                                                                                                  \
        const int axis = face >> 1;                                                                                    \
        const bool back = (face & 1) != 0;                                                                             \
        on[0] = axis == 0 ? (back ? v[2] : -v[2]) : axis == 2 && back ? -v[0] : v[0];                                  \
        on[1] = axis != 1 ? -v[1] : back ? -v[2] : v[2];                                                               \
        on[2] = axis == 0 ? v[0] : axis == 1 ? v[1] : v[2];                                                            \
        if (back) on[2] = -on[2];                                                                                      \
    }                                                                                                                  \
    INLINED void from_face_##TYPE(int face, const TYPE *on, TYPE *v)                                                   \
    {                                                                                                                  \
        const int axis = face >> 1;                                                                                    \
        const bool back = (face & 1) != 0;                                                                             \
        const TYPE m = back ? -on[2] : on[2];                                                                          \
        v[0] = axis == 0 ? m : axis == 2 && back ? -on[0] : on[0];                                                     \
        v[1] = axis == 1 ? m : -on[1];                                                                                 \
        v[2] = axis == 2 ? m : axis == 1 ? (back ? -on[1] : on[1]) : back ? on[0] : -on[0];                            \
    }
FACE_FUNCTIONS(float)
FACE_FUNCTIONS(int)

INLINED float size_of(float value) { return value < 0.0f ? -value : value; }

/* Replaces a direction and its cotangent by the position on a face and its cotangent. */
INLINED struct cube begin_cube(float *at, float *cot, uint size)
{
    struct cube cube;
    const float x = size_of(at[0]), y = size_of(at[1]), z = size_of(at[2]);
    const int axis = z > x && z > y ? 2 : y > x ? 1 : 0;
    const float along = axis == 2 ? at[2] : axis == 1 ? at[1] : at[0];
    float on[3];
    cube.face = 2 * axis + (along < 0.0f ? 1 : 0);
    cube.half_size = (float)size * 0.5f;
    to_face_float(cube.face, at, on);
    to_face_float(cube.face, cot, cube.cot);
    const float inverse = 1.0f / on[2];
    cube.inverse = inverse > 0.0f && inverse <= 0x1.fffffep127f ? inverse : 0.0f;
    UNROLLED for (int d = 0; d < 2; ++d)
    {
        const float u = on[d] * cube.inverse, within = u >= -1.0f && u <= 1.0f ? u : 0.0f;
        cube.at[d] = within;
        cube.first[d] = 0.0f;
        at[d] = (within + 1.0f) * cube.half_size - 0.5f;
        cot[d] = (cube.cot[d] - within * cube.cot[2]) * cube.inverse * cube.half_size;
    }
    return cube;
}

/* Replaces the gradient of a position on a face by that of the direction. */
INLINED void finish_cube(const struct cube *cube, float *grad)
{
    float on[3] = {0.0f, 0.0f, 0.0f};
    UNROLLED for (int d = 0; d < 2; ++d)
    {
        const float g = grad[d] * cube->half_size * cube->inverse, u = cube->at[d];
        const float again = cube->first[d] * cube->half_size * cube->inverse * cube->inverse;
        on[d] = g - again * cube->cot[2];
        on[2] += -g * u + again * (2.0f * u * cube->cot[2] - cube->cot[d]);
    }
    from_face_float(cube->face, on, grad);
}

/* Taps along one axis of a face; the index may be one texel outside. */
INLINED void find_cube_axis(struct axis *axis, float at, int n)
{
    const float low = floor_of(TAPS == 1 ? at + 0.5f : at), rest = at - low;
    const int index = (int)low;
    axis->index[0] = TAPS == 1 && index >= n ? n - 1 : index;
    axis->weight[0] = TAPS == 1 ? 1.0f : 1.0f - rest;
    axis->slope[0] = TAPS == 1 ? 0.0f : -1.0f;
    axis->curve[0] = 0.0f;
#if TAPS == 2
    axis->index[1] = index + 1;
    axis->weight[1] = rest;
    axis->slope[1] = 1.0f;
    axis->curve[1] = 0.0f;
#endif
}

/* The texel (x, y) of a face of n texels, of which one coordinate is a texel outside. */
INLINED void find_neighbour(int n, int *x, int *y, int *face)
{
    /* Twice the distance from the centre of the cube, of the texel's centre; the faces are at n. */
    int on[3] = {2 * *x + 1 - n, 2 * *y + 1 - n, n - 1}, v[3];
    if (*x < 0 || *x >= n) on[0] = *x < 0 ? -n : n;
    if (*y < 0 || *y >= n) on[1] = *y < 0 ? -n : n;
    from_face_int(*face, on, v);
    const int axis = v[0] == n || v[0] == -n ? 0 : v[1] == n || v[1] == -n ? 1 : 2;
    *face = 2 * axis + ((axis == 0 ? v[0] : axis == 1 ? v[1] : v[2]) < 0 ? 1 : 0);
    to_face_int(*face, v, on);
    *x = (on[0] + n - 1) / 2;
    *y = (on[1] + n - 1) / 2;
}

INLINED void find_cube_texels(struct cube_taps *taps, const struct axis *axis, int n, int own)
{
    taps->corner = -1;
    UNROLLED for (int k = 0; k < TAPS * TAPS; ++k)
    {
        int x = axis[0].index[k % TAPS], y = axis[1].index[k / TAPS], face = own;
        const bool beyond_x = x < 0 || x >= n, beyond_y = y < 0 || y >= n;
        if (beyond_x && beyond_y) {
            taps->corner = k;
            x = y = 0;
        } else if (beyond_x || beyond_y) {
            find_neighbour(n, &x, &y, &face);
        }
        taps->column[k] = x, taps->row[k] = y, taps->side[k] = face;
    }
}

/* Divides the weight of the tap without a texel among the three others. */
INLINED void spread_corner(int corner, float *weight)
{
    if (corner < 0) return;
    float part = 0.0f;
    UNROLLED for (int k = 0; k < TAPS * TAPS; ++k) part = k == corner ? weight[k] / 3.0f : part;
    UNROLLED for (int k = 0; k < TAPS * TAPS; ++k) weight[k] = k == corner ? 0.0f : weight[k] + part;
}

/* Gives the tap without a texel the mean of the others' sums. */
INLINED void complete_corner(int corner, float *dot)
{
    if (corner < 0) return;
    float sum = 0.0f;
    UNROLLED for (int k = 0; k < TAPS * TAPS; ++k) sum += k == corner ? 0.0f : dot[k];
    UNROLLED for (int k = 0; k < TAPS * TAPS; ++k) dot[k] = k == corner ? sum / 3.0f : dot[k];
}

#endif
