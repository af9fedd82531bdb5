/* Cubemaps: projection of a direction to a face, and texels of a face and its neighbours. Faces are ordered +x -x +y
 * -y +z -z. */
#include "sampler/sampler.h"
#include "sampler/addressing.h"
#include "sampler/cube.h"
#include "sampler/weights.h"

#include <math.h>

struct blr_cube_point blr_cube_project(const float direction[3])
{
    float largest = 0.0f, v[3];
    for (int d = 0; d < 3; d++)           /* fmaxf would return a signaling NaN */
        largest = fabsf(direction[d]) > largest ? fabsf(direction[d]) : largest;
    for (int d = 0; d < 3; d++) {
        v[d] = direction[d] / largest;
        if (isnan(v[d]))
            v[d] = 0.0f;
    }
    if (v[0] == 0.0f && v[1] == 0.0f && v[2] == 0.0f)
        v[0] = v[1] = v[2] = 0.0f;        /* next to an infinite component all others count as 0, without sign */
    float x = v[0], y = v[1], z = v[2];
    int axis = fabsf(z) >= fabsf(x) && fabsf(z) >= fabsf(y) ? 2 : fabsf(y) >= fabsf(x) ? 1 : 0;
    struct blr_cube_point point = {(uint32_t)axis * 2 + (signbit(v[axis]) ? 1u : 0u), 0.0f, 0.0f};
    switch (point.face) {
    case 0: point.s = -z; point.t = -y; break;
    case 1: point.s = z; point.t = -y; break;
    case 2: point.s = x; point.t = z; break;
    case 3: point.s = x; point.t = -z; break;
    case 4: point.s = x; point.t = -y; break;
    default: point.s = -x; point.t = -y; break;
    }
    return point;
}

/* Coordinate on a face, (s + 1) / 2, in 1/2^bits. */
static int64_t face_fraction(float s, int bits)
{
    if (!(fabsf(s) >= 0x1p-126f))
        s = 0.0f;
    return (INT64_C(1) << (bits - 1)) + (int64_t)floor((double)s * (double)(INT64_C(1) << (bits - 1)));
}

/* A texel one step outside a face, along one axis, is the edge texel of the adjacent face. Directions are integers
 * here: a face has the edge length 2 width, texel centres are odd or even numbers. */
void blr_cube_neighbour(uint32_t width, uint32_t *face, int64_t *i, int64_t *j)
{
    int64_t w = width, s = 2 * *i + 1 - w, t = 2 * *j + 1 - w;
    int64_t d[3];
    switch (*face) {
    case 0: d[0] = w; d[1] = -t; d[2] = -s; break;
    case 1: d[0] = -w; d[1] = -t; d[2] = s; break;
    case 2: d[0] = s; d[1] = w; d[2] = t; break;
    case 3: d[0] = s; d[1] = -w; d[2] = -t; break;
    case 4: d[0] = s; d[1] = -t; d[2] = w; break;
    default: d[0] = -s; d[1] = -t; d[2] = -w; break;
    }
    int old_axis = (int)(*face >> 1), axis = old_axis;
    for (int k = 0; k < 3; k++)
        if (d[k] > w || d[k] < -w)
            axis = k;
    if (axis == old_axis)
        return;
    d[axis] = d[axis] > 0 ? w : -w;
    d[old_axis] = d[old_axis] > 0 ? w - 1 : 1 - w;
    *face = (uint32_t)axis * 2 + (d[axis] < 0 ? 1u : 0u);
    switch (*face) {
    case 0: s = -d[2]; t = -d[1]; break;
    case 1: s = d[2]; t = -d[1]; break;
    case 2: s = d[0]; t = d[2]; break;
    case 3: s = d[0]; t = -d[2]; break;
    case 4: s = d[0]; t = -d[1]; break;
    default: s = -d[0]; t = -d[1]; break;
    }
    *i = (s + w - 1) / 2;
    *j = (t + w - 1) / 2;
}

static const unsigned char *face_texel(const struct blr_texture *texture, const struct blr_texture_level *level,
                                       uint32_t face, int64_t i, int64_t j)
{
    if (i == BINDLESS_OUTSIDE || j == BINDLESS_OUTSIDE)
        return texture->border;
    return (const unsigned char *)level->data + face * level->slice_pitch + (uint64_t)j * level->row_pitch +
           (uint64_t)i * texture->pixel_size;
}

/* A corner between three faces has no fourth texel: its weight is split among the three that exist, a third each;
 * the one diagonally across receives the rounding error. */
static void share_corner(int32_t weight[4], int corner)
{
    int32_t whole = weight[corner], third = (85 * whole + 128) >> 8;
    for (int k = 0; k < 4; k++)
        if (k != corner)
            weight[k] += k == 3 - corner ? whole - 2 * third : third;
    weight[corner] = 0;
}

static void add_seamless(const struct blr_texture *texture, const struct blr_texture_level *level, uint32_t face,
                         const int64_t position[2], int32_t weight, struct blr_quad *quad)
{
    uint32_t width = level->width;
    int corner = -1;
    int32_t x = (int32_t)(position[0] & 255), y = (int32_t)(position[1] & 255);
    blr_quad_weights(x, y, weight, quad->weight);
    quad->used = blr_texels_used(x, y, weight);
    for (int k = 0; k < 4; k++) {
        int64_t i = (position[0] >> 8) + (k & 1), j = (position[1] >> 8) + (k >> 1);
        uint32_t texel_face = face;
        bool outside_i = i < 0 || i >= width, outside_j = j < 0 || j >= width;
        if (outside_i && outside_j) {
            corner = k;
            i = j = 0;
        } else if (outside_i || outside_j) {
            blr_cube_neighbour(width, &texel_face, &i, &j);
        }
        quad->texel[k] = face_texel(texture, level, texel_face, i, j);
    }
    if (corner >= 0) {
        share_corner(quad->weight, corner);
        quad->used = weight > 0 ? 15u & ~(1u << corner) : 0;
    }
}

static void add_level(const struct blr_texture *texture, uint32_t level_index, const struct blr_cube_point *point,
                      int32_t weight, struct blr_footprint *footprint)
{
    const struct blr_texture_level *level = &texture->level[level_index];
    struct blr_quad *quad = &footprint->quad[footprint->count++];
    uint32_t width = level->width;
    int bits = blr_fraction_bits(width, texture->alone);
    int64_t u[2] = {face_fraction(point->s, bits), face_fraction(point->t, bits)};
    if (texture->linear) {
        int64_t position[2];
        for (int d = 0; d < 2; d++)
            position[d] = ((u[d] * 256 * width + (INT64_C(1) << (bits - 1))) >> bits) - 128;
        if (texture->seamless) {
            add_seamless(texture, level, point->face, position, weight, quad);
        } else {
            struct blr_axis x = blr_axis_at(position[0], width, texture->boundary[0]);
            struct blr_axis y = blr_axis_at(position[1], width, texture->boundary[1]);
            for (int k = 0; k < 4; k++)
                quad->texel[k] = face_texel(texture, level, point->face, x.index[k & 1], y.index[k >> 1]);
            blr_quad_weights(x.weight, y.weight, weight, quad->weight);
            quad->used = blr_texels_used(x.weight, y.weight, weight);
        }
    } else {
        int64_t index[2];
        for (int d = 0; d < 2; d++) {
            index[d] = (u[d] * width) >> bits;
            /* Only the edge itself, u = 1, lies outside; repetition maps it to texel 0. */
            const unsigned int boundary = texture->seamless ? BINDLESS_EDGE : texture->boundary[d];
            index[d] = bindless_texel_at(index[d], width, boundary);
        }
        const unsigned char *texel = face_texel(texture, level, point->face, index[0], index[1]);
        for (int k = 0; k < 4; k++)
            quad->texel[k] = texel;
        blr_quad_weights(0, 0, weight, quad->weight);
        quad->used = blr_texels_used(0, 0, weight);
    }
}

void blr_footprint_cube(const struct blr_texture *texture, const float *direction, struct blr_level_pair levels,
                        struct blr_footprint *footprint)
{
    struct blr_cube_point point = blr_cube_project(direction);
    footprint->count = 0;
    footprint->group = blr_quads_at_a_time(texture);
    footprint->extra_bits = 0;
    add_level(texture, levels.level, &point, 256 - levels.fraction, footprint);
    footprint->first_level = footprint->count;
    if (levels.fraction)
        add_level(texture, levels.level + 1, &point, levels.fraction, footprint);
}

void blr_footprint_cube_level(const struct blr_texture *texture, const float *direction, uint32_t level, int32_t weight,
                              struct blr_footprint *footprint)
{
    struct blr_cube_point point = blr_cube_project(direction);
    footprint->count = 0;
    add_level(texture, level, &point, weight, footprint);
}
