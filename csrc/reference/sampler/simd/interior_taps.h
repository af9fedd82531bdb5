/* Location of blocks whose items all lie inside the image, so that each item reads a box of neighbouring texels: one
 * place and one set of weights an item, in one pass. No addressing mode applies there. */
#ifndef BINDLESS_REFERENCE_SAMPLER_SIMD_INTERIOR_TAPS_H
#define BINDLESS_REFERENCE_SAMPLER_SIMD_INTERIOR_TAPS_H

#include "sampler/simd/addressing.h"

enum position_kind {
    POSITION_IN_TEXELS,
    POSITION_WITHIN,                      /* normalized */
    POSITION_REPEATED,
    POSITION_MIRRORED
};

static enum position_kind position_kind_of(const struct blr_texture *texture, uint32_t d)
{
    if (!texture->normalized)
        return POSITION_IN_TEXELS;
    if (texture->boundary[d] == BINDLESS_REPEAT)
        return POSITION_REPEATED;
    return texture->boundary[d] == BINDLESS_MIRRORED_REPEAT ? POSITION_MIRRORED : POSITION_WITHIN;
}

/* Whether all axes use the same kind of coordinates, as the pass below needs. */
static bool has_one_position_kind(const struct blr_texture *texture)
{
    for (uint32_t d = 1; d < texture->dimensions; d++)
        if (position_kind_of(texture, d) != position_kind_of(texture, 0))
            return false;
    return true;
}

/* Position of a cleaned coordinate inside the image; any coordinate outside gives a negative number or one above the
 * extent. The bit patterns of positive floats are ordered as the floats. */
BLR_INLINE int32_t box_position_in_texels(float x, int32_t extent)
{
    int32_t bits = minimum(maximum(bits_of(x), 0), bits_of((float)(extent + 1)));
    memcpy(&x, &bits, sizeof x);
    return ((int32_t)(x * 512.0f) - 255) >> 1;     /* floor(256 x + 1/2) - 128 */
}

BLR_INLINE int32_t box_position(float x, const struct level_rows *level, int d, const enum position_kind kind, int32_t low)
{
    int32_t position = kind == POSITION_IN_TEXELS   ? box_position_in_texels(x, level->extent[d][0])
                       : kind == POSITION_WITHIN    ? position_within(x, level, d, 0, true)
                       : kind == POSITION_REPEATED  ? position_periodic(x, level, d, 0, true, 1.0f)
                                                    : position_periodic(x, level, d, 0, true, 2.0f);
    return maximum(position, low);
}

/* Locates the items in one level, with each item's weight if there is another level; false, with undefined output,
 * when an item is outside. */
BLR_INLINE bool box_items(const struct blr_texture *texture, const struct block_work *restrict work, const int dimensions,
                          const bool layered, const bool shared, const bool integers, const enum position_kind kind,
                          const int32_t *restrict share, struct blr_block *restrict block)
{
    const uint32_t q = block->quads, slot = shared ? q : 0;
    const struct level_rows *restrict level = &work->rows;
    const uint32_t size = texture->pixel_size, pitch = level->row_pitch[0], slice_pitch = level->slice_pitch[0];
    int32_t low[3], last[3], outside = 0;
    for (int d = 0; d < 3; d++) {
        /* Clamping moves positions before the first texel to it, with weight 0 for the next texel. */
        low[d] = texture->boundary[d] == BINDLESS_EDGE ? 0 : -256;
        last[d] = level->extent[d][0] - 2;
    }
    BLR_EACH_ITEM {
        int32_t x = box_position(work->coordinate[0][i], level, 0, kind, low[0]);
        int32_t y = box_position(work->coordinate[1][i], level, 1, kind, low[1]);
        int32_t column = x >> 8, row = y >> 8;
        uint32_t place = (uint32_t)column * size + (uint32_t)row * pitch;
        outside |= column | (last[0] - column) | row | (last[1] - row);
        if (dimensions == 3) {
            int32_t z = box_position(work->coordinate[2][i], level, 2, kind, low[2]);
            int32_t slice = z >> 8, behind = z & 255;
            place += (uint32_t)slice * slice_pitch;
            outside |= slice | (last[2] - slice);
            set_weights(column_weights(256 - behind, x & 255), y & 255, integers, block, 0, i);
            set_weights(column_weights(behind, x & 255), y & 255, integers, block, 1, i);
        } else {
            if (layered)
                place += (uint32_t)work->layer[i] * slice_pitch;
            /* x, of 256, is the weight of the right column. */
            const uint32_t columns = shared ? column_weights(share[i], x & 255) : 256 + (uint32_t)(x & 255) * 0xffff;
            set_weights(columns, y & 255, integers, block, slot, i);
        }
        block->place[slot][i] = place;
    }
    block->box[q] = (struct blr_boxes){level->data[0], pitch, slot};
    if (dimensions == 3)
        block->box[1] = (struct blr_boxes){level->data[0] + slice_pitch, pitch, 0};
    block->quads = dimensions == 3 ? 2 : q + 1;
    return outside >= 0;
}

BLR_INLINE bool box_items_of_kind(const struct blr_texture *texture, const struct block_work *work, const int dimensions,
                                  const bool layered, const bool shared, const bool integers, const int32_t *share,
                                  struct blr_block *block)
{
    switch (position_kind_of(texture, 0)) {
    case POSITION_IN_TEXELS:
        return box_items(texture, work, dimensions, layered, shared, integers, POSITION_IN_TEXELS, share, block);
    case POSITION_WITHIN:
        return box_items(texture, work, dimensions, layered, shared, integers, POSITION_WITHIN, share, block);
    case POSITION_REPEATED:
        return box_items(texture, work, dimensions, layered, shared, integers, POSITION_REPEATED, share, block);
    case POSITION_MIRRORED:
        break;
    }
    return box_items(texture, work, dimensions, layered, shared, integers, POSITION_MIRRORED, share, block);
}

/* Locates the items in their only level. */
static bool locate_boxes(const struct blr_texture *texture, const struct block_work *work, bool integers,
                         struct blr_block *block)
{
    if (texture->dimensions == 3)
        return integers ? box_items_of_kind(texture, work, 3, false, false, true, NULL, block)
                        : box_items_of_kind(texture, work, 3, false, false, false, NULL, block);
    if (texture->num_layers > 1)
        return integers ? box_items_of_kind(texture, work, 2, true, false, true, NULL, block)
                        : box_items_of_kind(texture, work, 2, true, false, false, NULL, block);
    return integers ? box_items_of_kind(texture, work, 2, false, false, true, NULL, block)
                    : box_items_of_kind(texture, work, 2, false, false, false, NULL, block);
}

/* Locates the items in one of two levels of a two-dimensional image without layers. */
static bool locate_level_boxes(const struct blr_texture *texture, const struct block_work *work, bool integers,
                               const int32_t *share, struct blr_block *block)
{
    return integers ? box_items_of_kind(texture, work, 2, false, true, true, share, block)
                    : box_items_of_kind(texture, work, 2, false, true, false, share, block);
}

#endif
