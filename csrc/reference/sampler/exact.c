/* Exact filtering: the same footprints with unrounded weights, and anisotropic footprints integrated along their
 * longer axis. All arithmetic is in double, rounded once at the end. */
#include "bindless/filter/boundary.h"
#include "bindless/filter/weights.h"
#include "image/packed_format.h"
#include "sampler/sampler.h"
#include "sampler/addressing.h"
#include "sampler/cube.h"
#include "texture/value_array.h"

#include <math.h>

/* Integration steps along the longer axis, for each texel of the finer level. Only footprints far larger than the
 * permitted levels reach the limit. */
#define STEPS_A_TEXEL 8
#define MOST_STEPS 4096

struct sum {
    const struct blr_texture *texture;
    const struct blr_texture_level *level;
    double channel[BLR_MAX_CHANNELS];
};

struct exact_axis {
    int64_t index[2];                     /* after addressing; BINDLESS_OUTSIDE: border */
    double weight[2];
};

static void add_texel(struct sum *sum, const unsigned char *texel, double weight)
{
    const struct blr_format *format = sum->texture->format;
    unsigned char unpacked[BLR_MAX_PIXEL_SIZE];
    if (weight == 0.0)
        return;
    if (format->packing) {
        blr_unpack_pixel(format->packing, sum->texture->desc.num_channels, texel, unpacked);
        texel = unpacked;
    }
    for (uint32_t c = 0; c < sum->texture->desc.num_channels; c++, texel += format->size) {
        double value;
        if (format->class == BLR_CLASS_FLOAT) {
            value = (double)blr_format_decode(format, texel);
        } else {
            value = (double)blr_format_code(format, texel);
            if (format->maximum) {
                value /= format->maximum;
                value = value < -1.0 ? -1.0 : value;
            }
        }
        sum->channel[c] += weight * value;
    }
}

/* coordinate: in texels. */
static struct exact_axis exact_axis_at(double coordinate, uint32_t extent, bool linear, unsigned int boundary)
{
    struct exact_axis axis = {{BINDLESS_OUTSIDE, BINDLESS_OUTSIDE}, {1.0, 0.0}};
    /* Only gradients beyond any measure exceed this bound, above which doubles have no fractions. */
    coordinate = coordinate > 0x1p52 ? 0x1p52 : coordinate < -0x1p52 ? -0x1p52 : coordinate;
    if (bindless_is_beyond_double(coordinate - 0.5, extent, boundary))
        return axis;
    if (!linear) {
        axis.index[0] = axis.index[1] = bindless_texel_at((int64_t)floor(coordinate), extent, boundary);
        return axis;
    }
    double position = coordinate - 0.5;
    if (boundary == BINDLESS_EDGE)
        position = position < 0.0 ? 0.0 : position > extent - 1.0 ? extent - 1.0 : position;
    double first = floor(position);
    for (int k = 0; k < 2; k++)
        axis.index[k] = bindless_texel_at((int64_t)first + k, extent, boundary);
    bindless_weights_double(position - first, BINDLESS_LINEAR, axis.weight, 1);
    return axis;
}

static void add_slice(struct sum *sum, const struct exact_axis *x, const struct exact_axis *y, int64_t slice, double weight)
{
    const struct blr_texture_level *level = sum->level;
    for (int k = 0; k < 4; k++) {
        int64_t i = x->index[k & 1], j = y->index[k >> 1];
        const unsigned char *texel = sum->texture->border;
        if (i != BINDLESS_OUTSIDE && j != BINDLESS_OUTSIDE && slice != BINDLESS_OUTSIDE)
            texel = (const unsigned char *)level->data + (uint64_t)slice * level->slice_pitch +
                    (uint64_t)j * level->row_pitch + (uint64_t)i * sum->texture->pixel_size;
        add_texel(sum, texel, weight * x->weight[k & 1] * y->weight[k >> 1]);
    }
}

/* place: coordinates, normalized or in texels as the sampler requires. */
static void add_image(struct sum *sum, const double place[3], uint32_t layer, double weight)
{
    const struct blr_texture *texture = sum->texture;
    const struct blr_texture_level *level = sum->level;
    const uint32_t extent[3] = {level->width, level->height, level->depth};
    struct exact_axis axis[3] = {{{0, 0}, {1.0, 0.0}}, {{0, 0}, {1.0, 0.0}}, {{0, 0}, {1.0, 0.0}}};
    for (uint32_t d = 0; d < texture->dimensions; d++)
        axis[d] = exact_axis_at(place[d] * (texture->normalized ? extent[d] : 1.0), extent[d], texture->linear,
                                texture->exact_boundary[d]);
    if (texture->dimensions < 3) {
        add_slice(sum, &axis[0], &axis[1], layer, weight);
        return;
    }
    for (int k = 0; k < 2; k++)
        if (axis[2].weight[k] != 0.0)
            add_slice(sum, &axis[0], &axis[1], axis[2].index[k], weight * axis[2].weight[k]);
}

/* ---- cubemaps */

static void add_face_texel(struct sum *sum, uint32_t face, int64_t i, int64_t j, double weight)
{
    const struct blr_texture_level *level = sum->level;
    add_texel(sum, (const unsigned char *)level->data + face * level->slice_pitch + (uint64_t)j * level->row_pitch +
                       (uint64_t)i * sum->texture->pixel_size, weight);
}

static void add_seamless(struct sum *sum, uint32_t face, double x, double y, double weight)
{
    uint32_t width = sum->level->width;
    double position[2] = {x - 0.5, y - 0.5}, first[2] = {floor(position[0]), floor(position[1])};
    double share[4];
    int corner = -1;
    for (int k = 0; k < 4; k++) {
        double a = position[0] - first[0], b = position[1] - first[1];
        share[k] = (k & 1 ? a : 1.0 - a) * (k >> 1 ? b : 1.0 - b);
        int64_t i = (int64_t)first[0] + (k & 1), j = (int64_t)first[1] + (k >> 1);
        if ((i < 0 || i >= width) && (j < 0 || j >= width))
            corner = k;
    }
    for (int k = 0; k < 4; k++) {
        int64_t i = (int64_t)first[0] + (k & 1), j = (int64_t)first[1] + (k >> 1);
        uint32_t texel_face = face;
        if (k == corner)
            continue;
        if (i < 0 || i >= width || j < 0 || j >= width)
            blr_cube_neighbour(width, &texel_face, &i, &j);
        add_face_texel(sum, texel_face, i, j, weight * (share[k] + (corner >= 0 ? share[corner] / 3.0 : 0.0)));
    }
}

/* Coordinates of a direction on its face, in -1..1, in double: a float would lose up to width / 2^25 texels. */
static void exact_face_place(const float direction[3], uint32_t face, double *s, double *t)
{
    static const struct { int axis[2]; double sign[2]; } faces[6] = {
        {{2, 1}, {-1.0, -1.0}}, {{2, 1}, {1.0, -1.0}}, {{0, 2}, {1.0, 1.0}},
        {{0, 2}, {1.0, -1.0}}, {{0, 1}, {1.0, -1.0}}, {{0, 1}, {-1.0, -1.0}},
    };
    *s = *t = 0.0;
    for (int d = 0; d < 3; d++)           /* next to an infinite component all others count as 0 */
        if (isinf(direction[d]))
            return;
    double largest = fabs((double)direction[face >> 1]), v[3];
    for (int d = 0; d < 3; d++) {
        v[d] = direction[d] / largest;
        if (isnan(v[d]))
            v[d] = 0.0;
    }
    *s = faces[face].sign[0] * v[faces[face].axis[0]];
    *t = faces[face].sign[1] * v[faces[face].axis[1]];
}

static void add_cube(struct sum *sum, const float direction[3], double weight)
{
    const struct blr_texture *texture = sum->texture;
    uint32_t width = sum->level->width;
    struct blr_cube_point point = blr_cube_project(direction);
    double s, t;
    exact_face_place(direction, point.face, &s, &t);
    double x = (s + 1.0) / 2.0 * width, y = (t + 1.0) / 2.0 * width;
    if (texture->seamless && texture->linear) {
        add_seamless(sum, point.face, x, y, weight);
        return;
    }
    unsigned int boundary[2];
    for (int d = 0; d < 2; d++)
        boundary[d] = texture->seamless ? BINDLESS_EDGE : texture->exact_boundary[d];
    struct exact_axis ax = exact_axis_at(x, width, texture->linear, boundary[0]);
    struct exact_axis ay = exact_axis_at(y, width, texture->linear, boundary[1]);
    add_slice(sum, &ax, &ay, point.face, weight);
}

/* ---- levels */

struct exact_levels {
    uint32_t level;
    double fraction;
};

static struct exact_levels split_lod(const struct blr_texture *texture, double lod)
{
    double last = (double)texture->num_levels - 1.0;
    double low = texture->sampler.min_mipmap_level_clamp, high = texture->sampler.max_mipmap_level_clamp;
    low = low > 0.0 ? low : 0.0;
    high = high < last ? high : last;
    high = high > 0.0 ? high : 0.0;
    lod = lod < high ? lod : high;
    lod = lod > low ? lod : low;
    lod = lod < last ? lod : last;
    struct exact_levels levels = {(uint32_t)floor(lod + (texture->mip_linear ? 0.0 : 0.5)), 0.0};
    if (texture->mip_linear)
        levels.fraction = lod - levels.level;
    return levels;
}

/* Adds the samples of both levels at one place. */
static void add_place(struct sum *sum, const double place[3], const float *direction, uint32_t layer,
                      struct exact_levels levels, double weight)
{
    for (uint32_t k = 0; k < 2; k++) {
        double share = k ? levels.fraction : 1.0 - levels.fraction;
        if (share == 0.0)
            continue;
        sum->level = &sum->texture->level[levels.level + k];
        if (direction)
            add_cube(sum, direction, weight * share);
        else
            add_image(sum, place, layer, weight * share);
    }
}

/* Half the base-two logarithm of a squared length; far below every level for length 0. */
static double half_log2(double square)
{
    return square > 0.0 ? 0.5 * log2(square) : -4096.0;
}

static double finite_gradient(float gradient)
{
    double value = gradient;
    return isnan(value) ? 0.0 : value > 0x1p100 ? 0x1p100 : value < -0x1p100 ? -0x1p100 : value;
}

/* The footprint is the ellipse to which the gradients map a circle of one pixel. The level of detail follows its
 * shorter axis, at least the longer axis divided by maxAnisotropy; the footprint is integrated along the longer
 * axis. */
static void add_gradient_footprint(struct sum *sum, const double place[3], const float *gradient_x,
                                   const float *gradient_y, uint32_t layer)
{
    const struct blr_texture *texture = sum->texture;
    const struct blr_texture_level *base = &texture->level[0];
    const uint32_t extent[3] = {base->width, base->height, base->depth};
    double gx[3] = {0.0, 0.0, 0.0}, gy[3] = {0.0, 0.0, 0.0}, xx = 0.0, yy = 0.0, xy = 0.0;
    for (uint32_t d = 0; d < texture->dimensions; d++) {
        gx[d] = finite_gradient(gradient_x[d]) * extent[d];
        gy[d] = finite_gradient(gradient_y[d]) * extent[d];
        xx += gx[d] * gx[d];
        yy += gy[d] * gy[d];
        xy += gx[d] * gy[d];
    }
    if (!texture->anisotropy_cap) {
        add_place(sum, place, NULL, layer, split_lod(texture, half_log2(xx > yy ? xx : yy)), 1.0);
        return;
    }
    /* The eigenvalues of the Gram matrix are the squared axes; its eigenvector gives the combination of gradients. */
    double middle = 0.5 * (xx + yy), difference = 0.5 * (xx - yy);
    double radius = sqrt(difference * difference + xy * xy);
    double longer = middle + radius, shorter = middle - radius;
    double limit = texture->sampler.max_anisotropy < 16.0f ? texture->sampler.max_anisotropy : 16.0;
    if (shorter < longer / (limit * limit))
        shorter = longer / (limit * limit);
    struct exact_levels levels = split_lod(texture, half_log2(shorter));
    if (!(longer > 0.0)) {
        add_place(sum, place, NULL, layer, levels, 1.0);
        return;
    }
    double angle = 0.5 * atan2(xy, difference), a = cos(angle), b = sin(angle);
    double ratio = sqrt(longer / shorter), over = 1.0 - 1.0 / ratio;
    double texels = sqrt(longer) / exp2(levels.level);
    int steps = texels < MOST_STEPS / STEPS_A_TEXEL ? (int)ceil(texels * STEPS_A_TEXEL) : MOST_STEPS;
    for (int k = 0; k < steps; k++) {
        double t = ((k + 0.5) / steps - 0.5) * over, position[3] = {place[0], place[1], place[2]};
        for (uint32_t d = 0; d < texture->dimensions; d++)
            position[d] += t * (a * gx[d] + b * gy[d]) / extent[d];
        add_place(sum, position, NULL, layer, levels, 1.0 / steps);
    }
}

static double clean_place(float coordinate)
{
    return isnan(coordinate) ? 0.0 : coordinate > BLR_COORDINATE_LIMIT ? BLR_COORDINATE_LIMIT
                                   : coordinate < -BLR_COORDINATE_LIMIT ? -BLR_COORDINATE_LIMIT : (double)coordinate;
}

static void sample_item(const struct blr_texture *texture, const blr_image_call_t *call, uint64_t index)
{
    bool cube = texture->desc.type == BLR_IMAGE_CUBEMAP;
    uint32_t dimensions = cube ? 3 : texture->dimensions;
    const float *coordinates = (const float *)call->coordinates + index * dimensions;
    uint32_t layer = texture->desc.type == BLR_IMAGE_ARRAY ? blr_item_layer(call, index) : 0;
    double place[3] = {0.0, 0.0, 0.0};
    for (uint32_t d = 0; d < dimensions; d++)
        place[d] = clean_place(coordinates[d]);
    struct sum sum = {texture, NULL, {0.0, 0.0, 0.0, 0.0}};
    if (call->operation == BLR_OPERATION_SAMPLE_GRADIENT && !cube) {
        add_gradient_footprint(&sum, place, call->gradient_x + index * dimensions, call->gradient_y + index * dimensions,
                               layer);
    } else {
        double lod = -4096.0;
        if (call->operation == BLR_OPERATION_SAMPLE_LOD) {
            lod = call->levels ? call->levels[index] : call->level;
            lod = isnan(lod) ? 0.0 : lod;
        }
        add_place(&sum, place, cube ? coordinates : NULL, layer, split_lod(texture, lod), 1.0);
    }
    union blr_pixel pixel;
    for (uint32_t c = 0; c < texture->desc.num_channels; c++) {
        if (blr_texture_has_reals(texture))
            pixel.real[c] = (float)sum.channel[c];
        else
            pixel.integer[c] = (int64_t)floor(sum.channel[c] + 0.5);
    }
    blr_store_values(texture, call, index, &pixel);
}

void blr_sample_exact_items(const struct blr_texture *texture, const blr_image_call_t *call, uint64_t begin, uint64_t end)
{
    for (uint64_t index = begin; index < end; index++)
        sample_item(texture, call, index);
}
