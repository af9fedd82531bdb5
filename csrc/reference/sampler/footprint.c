/* Footprints of one, two and three dimensions, with mip levels and layers. */
#include "sampler/sampler.h"
#include "sampler/addressing.h"
#include "sampler/weights.h"

/* The texel's address in a slice, or the border's. */
static const unsigned char *texel_at(const struct blr_texture *texture, const struct blr_texture_level *level,
                                     const unsigned char *slice, int64_t x, int64_t y)
{
    if (!slice || x == BINDLESS_OUTSIDE || y == BINDLESS_OUTSIDE)
        return texture->border;
    return slice + (uint64_t)y * level->row_pitch + (uint64_t)x * texture->pixel_size;
}

static const unsigned char *slice_at(const struct blr_texture_level *level, int64_t slice)
{
    return slice == BINDLESS_OUTSIDE ? NULL : (const unsigned char *)level->data + (uint64_t)slice * level->slice_pitch;
}

static void add_quad(const struct blr_texture *texture, const struct blr_texture_level *level, const unsigned char *slice,
                     const struct blr_axis *x, const struct blr_axis *y, int32_t weight,
                     struct blr_footprint *footprint)
{
    struct blr_quad *quad = &footprint->quad[footprint->count++];
    for (int k = 0; k < 4; k++)
        quad->texel[k] = texel_at(texture, level, slice, x->index[k & 1], y->index[k >> 1]);
    blr_quad_weights(x->weight, y->weight, weight, quad->weight);
    quad->used = blr_texels_used(x->weight, y->weight, weight);
}

static void add_level(const struct blr_texture *texture, uint32_t level_index, const float *coordinates, uint32_t layer,
                      int32_t weight, struct blr_footprint *footprint)
{
    const struct blr_texture_level *level = &texture->level[level_index];
    const uint32_t extent[3] = {level->width, level->height, level->depth};
    uint32_t dimensions = texture->dimensions;
    uint32_t largest = extent[0];
    for (uint32_t d = 1; d < dimensions; d++)
        largest = extent[d] > largest ? extent[d] : largest;
    struct blr_axis axis[3] = {{{0, 0}, 0}, {{0, 0}, 0}, {{0, 0}, 0}};
    for (uint32_t d = 0; d < dimensions; d++) {
        int bits = blr_fraction_bits(d < 2 ? largest : extent[2], texture->alone);
        if (texture->linear)
            axis[d] = blr_axis_linear(coordinates[d], extent[d], texture->normalized, bits, texture->boundary[d]);
        else
            axis[d] = blr_axis_nearest(coordinates[d], extent[d], texture->normalized, bits, texture->boundary[d]);
    }
    if (dimensions < 3) {
        add_quad(texture, level, slice_at(level, layer), &axis[0], &axis[1], weight, footprint);
        return;
    }
    int32_t near = texture->linear ? blr_weight_part(weight, 256 - axis[2].weight) : weight;
    add_quad(texture, level, slice_at(level, axis[2].index[0]), &axis[0], &axis[1], near, footprint);
    if (texture->linear)
        add_quad(texture, level, slice_at(level, axis[2].index[1]), &axis[0], &axis[1], weight - near, footprint);
}

void blr_footprint_standard(const struct blr_texture *texture, const float *coordinates, uint32_t layer,
                            struct blr_level_pair levels, struct blr_footprint *footprint)
{
    footprint->count = 0;
    footprint->group = blr_quads_at_a_time(texture);
    footprint->extra_bits = 0;
    add_level(texture, levels.level, coordinates, layer, 256 - levels.fraction, footprint);
    footprint->first_level = footprint->count;
    if (levels.fraction)
        add_level(texture, levels.level + 1, coordinates, layer, levels.fraction, footprint);
}
