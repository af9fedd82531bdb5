/* Anisotropic footprints: pairs of taps on both sides of the centre, along the longest axis. */
#include "sampler/sampler.h"
#include "sampler/addressing.h"
#include "sampler/weights.h"

/* Weights of one side's taps in one level, from the centre outwards. */
struct side {
    int32_t weight[BLR_MAX_TAPS_A_SIDE];
    int32_t whole;                        /* sum of the weights: 256 or 512 */
};

/* length: 256 log2 of the footprint's length in texels. */
static struct side side_weights(int32_t length)
{
    struct side side;
    int32_t octave = length >> 8, ratio = blr_exp2_table[length & 255];
    if (ratio == 128) {
        octave++;
        ratio = 256;
    }
    side.whole = octave <= 1 ? 256 : 512;
    int32_t inner = octave == 0 ? 256 : octave <= 2 ? ratio : octave == 3 ? ratio >> 1 : 64;
    int32_t rest = side.whole;
    for (int k = 0; k < BLR_MAX_TAPS_A_SIDE; k++) {
        side.weight[k] = inner < rest ? inner : rest;
        rest -= side.weight[k];
    }
    return side;
}

struct tap_line {
    const struct blr_texture *texture;
    const struct blr_texture_level *level;
    const unsigned char *slice;
    int64_t centre[2];                    /* in 1/256 texel */
    uint32_t extra_bits;                  /* extra fraction bits of this level's weights */
};

static void add_tap(const struct tap_line *line, const int32_t offset[2], int32_t weight, struct blr_footprint *footprint)
{
    const struct blr_texture *texture = line->texture;
    const uint32_t extent[2] = {line->level->width, line->level->height};
    struct blr_quad *quad = &footprint->quad[footprint->count++];
    struct blr_axis axis[2];
    for (int d = 0; d < 2; d++) {
        int64_t position = line->centre[d] + offset[d];
        if (!texture->linear)
            position = (position + 128) & ~INT64_C(255);
        axis[d] = blr_axis_at(position, extent[d], texture->boundary[d]);
    }
    for (int k = 0; k < 4; k++) {
        int64_t x = axis[0].index[k & 1], y = axis[1].index[k >> 1];
        quad->texel[k] = x == BINDLESS_OUTSIDE || y == BINDLESS_OUTSIDE
                             ? texture->border
                             : line->slice + (uint64_t)y * line->level->row_pitch + (uint64_t)x * texture->pixel_size;
    }
    blr_quad_weights(axis[0].weight, axis[1].weight, weight, quad->weight);
    for (int k = 0; k < 4; k++)
        quad->weight[k] <<= 2 - line->extra_bits;      /* all weights in 1/1024 */
    quad->used = blr_texels_used(axis[0].weight, axis[1].weight, weight);
}

/* length: the footprint's length in this level; spacing: tap distance in 1/128 texel; share: weight of the level. */
static void add_level(struct tap_line *line, int32_t length, const int32_t direction[2], int32_t spacing, int32_t share,
                      struct blr_footprint *footprint)
{
    if (length == 0) {
        const int32_t centre[2] = {0, 0};
        line->extra_bits = 0;
        add_tap(line, centre, share, footprint);
        return;
    }
    struct side side = side_weights(length);
    int32_t ratio = blr_exp2_table[length & 255];
    int32_t step[2];
    for (int d = 0; d < 2; d++) {
        step[d] = length < 256 ? ((256 - ratio) * direction[d] + 64) >> 7 : direction[d];
        if (spacing != 128)
            step[d] = (step[d] * (spacing >> 1)) >> 6;
    }
    line->extra_bits = side.whole == 256 ? 1 : 2;
    for (int sign = -1; sign <= 1; sign += 2) {
        int32_t part[BLR_MAX_TAPS_A_SIDE], before = 0, sum = 0;
        for (int k = 0; k < BLR_MAX_TAPS_A_SIDE; k++) {
            sum += side.weight[k];
            int32_t until = (sum * share + (sign < 0 ? 127 : 128)) >> 8;
            part[k] = until - before;
            before = until;
        }
        for (int n = 0; n < BLR_MAX_TAPS_A_SIDE; n++) {
            int k = sign < 0 ? BLR_MAX_TAPS_A_SIDE - 1 - n : n;
            if (side.weight[k] == 0)
                continue;
            int32_t odd = length < 256 ? 1 : 2 * k + 1;
            const int32_t offset[2] = {odd * step[0] * 2 * sign, odd * step[1] * 2 * sign};
            add_tap(line, offset, part[k], footprint);
        }
    }
}

static void aim(struct tap_line *line, uint32_t level_index, const float *coordinates, uint32_t layer)
{
    const struct blr_texture *texture = line->texture;
    const struct blr_texture_level *level = &texture->level[level_index];
    int bits = blr_fraction_bits(level->width > level->height ? level->width : level->height, texture->alone);
    line->level = level;
    line->slice = (const unsigned char *)level->data + layer * level->slice_pitch;
    for (uint32_t d = 0; d < 2; d++) {
        float coordinate = d < texture->dimensions ? coordinates[d] : 0.0f;
        uint32_t extent = d == 0 ? level->width : level->height;
        /* Nearest filtering rounds after the tap's offset is added, so the half texel is not added here. */
        if (texture->linear) {
            line->centre[d] = blr_texels_256(coordinate, extent, true, bits) - 128;
        } else {
            double x = blr_clean_coordinate(coordinate);
            int64_t u = (int64_t)floor(x * (double)(INT64_C(1) << bits));
            int64_t fraction = u & ((INT64_C(1) << bits) - 1);
            line->centre[d] = (u >> bits) * (256 * (int64_t)extent) + ((fraction * 256 * (int64_t)extent) >> bits) - 128;
        }
    }
}

void blr_footprint_anisotropic(const struct blr_texture *texture, const float *coordinates, uint32_t layer,
                               const struct blr_gradient_measure *measure, struct blr_footprint *footprint)
{
    int32_t cap = texture->anisotropy_cap;
    int32_t length = measure->ratio < 0 ? 0 : measure->ratio > cap ? cap : measure->ratio;
    int32_t lod = blr_lod_clamp(texture, measure->major - length);
    if (measure->major < length)          /* at least one texel of the base level */
        length = measure->major < 0 ? 0 : measure->major;
    struct blr_level_pair levels = blr_lod_split(texture, lod);

    struct tap_line line = {texture, NULL, NULL, {0, 0}, 0};
    footprint->count = 0;
    footprint->group = blr_quads_at_a_time(texture);
    footprint->extra_bits = 2;
    int32_t fraction = levels.fraction;
    aim(&line, levels.level, coordinates, layer);
    add_level(&line, length, measure->direction, fraction ? blr_exp2_table[256 - fraction] : 128, 256 - fraction,
              footprint);
    footprint->first_level = footprint->count;
    if (fraction) {
        int32_t rest = length - (256 - fraction);
        aim(&line, levels.level + 1, coordinates, layer);
        add_level(&line, rest < 0 ? 0 : rest, measure->direction, 128, fraction, footprint);
    }
}

int32_t blr_anisotropy_cap(float max_anisotropy)
{
    /* 16 log2 n, rounded down, for the ratios that the hardware supports. */
    static const struct {
        float ratio;
        int32_t sixteenths;
    } steps[] = {{16, 64}, {12, 57}, {10, 53}, {8, 48}, {6, 41}, {4, 32}, {2, 16}};
    for (unsigned k = 0; k < sizeof steps / sizeof *steps; k++)
        if (max_anisotropy >= steps[k].ratio)
            return steps[k].sixteenths * 16;
    return 0;
}
