/* Prefetch of a block's texels while another block is blended. The L1 cache is small, with few outstanding misses:
 * scattered texels, each in a cache line of its own, are prefetched into L2. Where items follow each other through
 * the image, most texels lie in lines that neighbours load, and the rest are prefetched into L1. */
#ifndef BINDLESS_REFERENCE_SAMPLER_SIMD_PREFETCH_H
#define BINDLESS_REFERENCE_SAMPLER_SIMD_PREFETCH_H

#include "sampler/simd/addressing.h"

/* With one caller for each, both are constants. */
#define CLOSE_CACHE 3
#define LARGER_CACHE 2

#define BLR_PREFETCH(address, cache)                                                                             \
    ((cache) == CLOSE_CACHE ? __builtin_prefetch((const void *)(address), 0, CLOSE_CACHE)                         \
                            : __builtin_prefetch((const void *)(address), 0, LARGER_CACHE))

/* Whether most items lie within a number of bytes of the previous item, judged from a subset. */
#define FOLLOW_EACH_OTHER(place, bytes)                                                                          \
    ((place[1] - place[0] + bytes <= 2 * bytes) + (place[17] - place[16] + bytes <= 2 * bytes) +                 \
         (place[33] - place[32] + bytes <= 2 * bytes) + (place[49] - place[48] + bytes <= 2 * bytes) >= 3)

/* Prefetches both rows of every step-th item, at one or two byte offsets from its first texel. */
BLR_INLINE void fetch_boxes(const struct blr_block *block, uint32_t step, const int before, const int after, const int cache)
{
    for (uint32_t q = 0; q < block->quads; q++) {
        const struct blr_boxes *box = &block->box[q];
        const uint32_t *place = block->place[box->level];
        const uintptr_t upper = box->base - (uintptr_t)before, lower = upper + box->row_step;
        const uintptr_t apart = (uintptr_t)(before + after);
        for (uint32_t i = 0; i < block->count; i += step) {
            BLR_PREFETCH(upper + place[i], cache);
            BLR_PREFETCH(lower + place[i], cache);
            if (apart) {
                BLR_PREFETCH(upper + place[i] + apart, cache);
                BLR_PREFETCH(lower + place[i] + apart, cache);
            }
        }
    }
}

BLR_INLINE void fetch_texels(const struct blr_block *block, uint32_t step, const int cache)
{
    for (uint32_t q = 0; q < block->quads; q++)
        for (uint32_t i = 0; i < block->count; i += step)
            for (int k = 0; k < 4; k++)
                BLR_PREFETCH(block->texel[q][k][i], cache);
}

static void fetch_ahead(const struct blr_texture *texture, const struct blr_block *block)
{
    const bool large = texture->pixel_size >= 12;
    if (block->boxes_only) {
        const uint32_t *place = block->place[0];
        if (!FOLLOW_EACH_OTHER(place, 128))
            large ? fetch_boxes(block, 1, 0, 16, LARGER_CACHE) : fetch_boxes(block, 1, 0, 0, LARGER_CACHE);
        else if (place[BLR_BLOCK - 1] - place[0] + 256 <= 512)
            fetch_boxes(block, 32, 0, 0, CLOSE_CACHE);
        else if (large && FOLLOW_EACH_OTHER(place, 32))
            fetch_boxes(block, 2, 16, 32, LARGER_CACHE);
        else if (large)
            fetch_boxes(block, 1, 0, 16, LARGER_CACHE);
        else
            fetch_boxes(block, 4, 0, 0, CLOSE_CACHE);
        return;
    }
    const uintptr_t *texel = block->texel[0][0];
    if (!FOLLOW_EACH_OTHER(texel, 128))
        fetch_texels(block, 1, LARGER_CACHE);
    else
        large ? fetch_texels(block, 1, LARGER_CACHE) : fetch_texels(block, 4, CLOSE_CACHE);
}

#endif
