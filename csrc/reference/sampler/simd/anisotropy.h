/* Anisotropic footprints of a block: the arithmetic of sampler/anisotropy.c, one tap of all items at a time. Taps are
 * grouped as the hardware fetches them; an item with fewer taps than others has weight 0 in the remaining ones. */
#ifndef BINDLESS_REFERENCE_SAMPLER_SIMD_ANISOTROPY_H
#define BINDLESS_REFERENCE_SAMPLER_SIMD_ANISOTROPY_H

#include "sampler/simd/lod_from_gradients.h"
#include "sampler/simd/addressing.h"

/* Upper bound of a tap's distance from the centre, in texels. */
#define TAP_REACH 64

/* Taps of each item in one of its two levels. */
struct tap_rows {
    _Alignas(64) int32_t length[BLR_BLOCK];        /* length of the footprint in this level */
    int32_t spacing[BLR_BLOCK];                    /* distance of the taps in 1/128 texel */
    int32_t share[BLR_BLOCK];
    int32_t level[BLR_BLOCK];
    int32_t count[BLR_BLOCK], side[BLR_BLOCK];     /* number of taps, in all and on one side */
    int32_t inner[BLR_BLOCK], whole[BLR_BLOCK];    /* weight of all but the outermost taps, and of a side */
    int32_t shift[BLR_BLOCK];                      /* shift that brings weights to 1/1024 */
    int32_t step[2][BLR_BLOCK];
    int32_t centre[2][BLR_BLOCK];                  /* in 1/256 texel */
};

/* Lengths and weights of both levels of each item. */
static void split_footprints(const struct blr_texture *texture, const struct measure_rows *restrict measures,
                             struct tap_rows *restrict fine, struct tap_rows *restrict coarse)
{
    const int32_t cap = texture->anisotropy_cap, low = texture->lod_low, high = texture->lod_high;
    const int32_t last = (int32_t)texture->num_levels - 1, mip_linear = texture->mip_linear;
    int32_t exp2[256];
    for (int k = 0; k < 256; k++)
        exp2[k] = blr_exp2_table[k];
    int32_t spacing[BLR_BLOCK];
    BLR_EACH_ITEM {
        int32_t major = measures->major[i], length = minimum(maximum(measures->ratio[i], 0), cap);
        int32_t lod = maximum(minimum(major - length, high), low);
        int32_t level = mip_linear ? lod >> 8 : (lod + 128) >> 8;
        int32_t fraction = mip_linear ? lod & 255 : 0;
        fraction = level < last ? fraction : 0;
        level = minimum(level, last);
        length = minimum(length, maximum(major, 0));    /* at least one texel of the base level */
        fine->length[i] = length;
        fine->level[i] = level;
        fine->share[i] = 256 - fraction;
        coarse->length[i] = maximum(length - (256 - fraction), 0);
        coarse->level[i] = minimum(level + 1, last);
        coarse->share[i] = fraction;
        coarse->spacing[i] = 128;
        int32_t spread = exp2[(256 - fraction) & 255];
        spacing[i] = fraction ? spread : 128;
    }
    memcpy(fine->spacing, spacing, sizeof spacing);
}

/* Selects without a branch, which would prevent vectorisation. */
BLR_INLINE int32_t either(int32_t condition, int32_t yes, int32_t no)
{
    return (yes & -condition) | (no & (condition - 1));
}

/* Computes the number, weights and distance of the taps. */
static void shape_taps(const struct measure_rows *restrict measures, struct tap_rows *restrict taps)
{
    int32_t exp2[256];
    for (int k = 0; k < 256; k++)
        exp2[k] = blr_exp2_table[k];
    int32_t ratios[BLR_BLOCK];
    BLR_EACH_ITEM
        ratios[i] = exp2[taps->length[i] & 255];
    for (int d = 0; d < 2; d++)
        BLR_EACH_ITEM {
            int32_t direction = measures->direction[d][i];
            int32_t step = taps->length[i] < 256 ? ((256 - ratios[i]) * direction + 64) >> 7 : direction;
            taps->step[d][i] = (step * (taps->spacing[i] >> 1)) >> 6;
        }
    BLR_EACH_ITEM {
        int32_t length = taps->length[i], octave = length >> 8, ratio = ratios[i];
        octave += ratio == 128;
        ratio <<= ratio == 128;
        int32_t whole = 256 << (octave > 1);
        int32_t inner = either(octave == 0, 256, either(octave <= 2, ratio, either(octave == 3, ratio >> 1, 64)));
        int32_t side = (int32_t)ceilf((float)whole / (float)inner);
        taps->whole[i] = whole;
        taps->inner[i] = inner;
        taps->side[i] = side;
        taps->count[i] = either(length > 0, 2 * side, 1);
        taps->shift[i] = either(length > 0, whole == 256, 2);
    }
}

/* Computes the centres in a level, wrapped to the image's neighbourhood. */
static void centre_axis(const struct blr_texture *texture, const float *restrict x, const struct level_rows *restrict level,
                        int d, const int vary, int32_t *restrict centre)
{
    const unsigned int boundary = texture->boundary[d];
    const bool periodic = boundary == BINDLESS_REPEAT || boundary == BINDLESS_MIRRORED_REPEAT;
    const float periods = boundary == BINDLESS_MIRRORED_REPEAT ? 2.0f : 1.0f;
    const double scale = texture->linear ? 1.0 : 256.0, half = texture->linear ? 0.5 : 0.0;
    /* Nearest filtering rounds after the tap's offset is added, so the half texel is not added here. */
    if (periodic) {
        BLR_EACH_ITEM {
            float steps = level->steps[d][i * vary], period = steps * periods;
            float u = floorf(cut(x[i], -BLR_COORDINATE_LIMIT, BLR_COORDINATE_LIMIT) * steps);
            u -= floorf(u * (1.0f / period)) * period;
            centre[i] = (int32_t)((double)u * (level->texels[d][i * vary] * scale) + half) - 128;
        }
    } else {
        BLR_EACH_ITEM {
            float margin = TAP_REACH / (float)level->extent[d][i * vary];
            float u = floorf(cut(x[i], -1.0f - margin, 2.0f + margin) * level->steps[d][i * vary]);
            centre[i] = (int32_t)floor((double)u * (level->texels[d][i * vary] * scale) + half) - 128;
        }
    }
}

/* index modulo extent, for an index within a few extents. */
BLR_INLINE int32_t modulo_item(int32_t index, int32_t extent)
{
    int32_t rest = index - (int32_t)floorf((float)index * (1.0f / (float)extent)) * extent;
    rest += rest < 0 ? extent : 0;
    return rest >= extent ? rest - extent : rest;
}

BLR_INLINE int32_t mirrored_item(int32_t index, int32_t extent)
{
    int32_t place = modulo_item(index, 2 * extent);
    return place >= extent ? 2 * extent - 1 - place : place;
}

static void address_taps(unsigned int boundary, const int32_t *restrict position, const int32_t *restrict extents,
                         const int vary, struct axis_rows *restrict axis)
{
    if (boundary == BINDLESS_EDGE) {
        BLR_EACH_ITEM
            clamp_item(position[i], extents[i * vary], true, axis, i);
    } else if (boundary == BINDLESS_BORDER) {
        BLR_EACH_ITEM
            border_item(position[i], extents[i * vary], true, axis, i);
    } else if (boundary == BINDLESS_MIRRORED_REPEAT) {
        BLR_EACH_ITEM {
            axis->first[i] = mirrored_item(position[i] >> 8, extents[i * vary]);
            axis->second[i] = mirrored_item((position[i] >> 8) + 1, extents[i * vary]);
            axis->weight[i] = position[i] & 255;
        }
    } else {
        BLR_EACH_ITEM {
            axis->first[i] = modulo_item(position[i] >> 8, extents[i * vary]);
            axis->second[i] = modulo_item((position[i] >> 8) + 1, extents[i * vary]);
            axis->weight[i] = position[i] & 255;
        }
    }
}

/* Offsets and weights of one tap of all items: number counts from the far end of one side through the centre to the
 * other end. */
static void place_taps(const struct tap_rows *restrict taps, int number, int32_t *restrict right, int32_t *restrict down,
                       int32_t *restrict weight)
{
    BLR_EACH_ITEM {
        int32_t before = number < taps->side[i], exists = number < taps->count[i];
        int32_t k = before ? taps->side[i] - 1 - number : number - taps->side[i];
        int32_t rounding = before ? 127 : 128, share = taps->share[i];
        int32_t until = minimum((k + 1) * taps->inner[i], taps->whole[i]);
        int32_t from = minimum(k * taps->inner[i], taps->whole[i]);
        int32_t part = ((until * share + rounding) >> 8) - ((from * share + rounding) >> 8);
        int32_t odd = taps->length[i] < 256 ? 1 : 2 * k + 1;
        int32_t distance = exists ? (before ? -2 * odd : 2 * odd) : 0;
        weight[i] = exists ? part : 0;
        right[i] = distance * taps->step[0][i];
        down[i] = distance * taps->step[1][i];
    }
}

BLR_INLINE void emit_tap(const struct blr_texture *texture, const int vary, const bool border, const bool integers,
                         const struct tap_rows *restrict taps, int number, struct block_work *work, struct blr_block *block)
{
    _Alignas(64) int32_t position[2][BLR_BLOCK];
    place_taps(taps, number, position[0], position[1], work->whole);
    for (uint32_t d = 0; d < texture->dimensions; d++) {
        if (texture->linear)
            BLR_EACH_ITEM
                position[d][i] += taps->centre[d][i];
        else
            BLR_EACH_ITEM
                position[d][i] = (position[d][i] + taps->centre[d][i] + 128) & -256;
        address_taps(texture->boundary[d], position[d], work->rows.extent[d], vary, &work->axis[d]);
    }
    const uint32_t q = block->quads;
    emit_quad(texture, vary, border, integers, work->layer, work->whole, work, block);
    const int32_t *restrict shift = taps->shift;
    if (integers) {
        for (int row = 0; row < 2; row++)
            BLR_EACH_ITEM
                block->pair[q][row][i] <<= shift[i];
    } else {
        for (int k = 0; k < 4; k++)
            BLR_EACH_ITEM
                block->weight[q][k][i] <<= shift[i];
    }
}

#endif
