/* The kinds of texels that are sampled in blocks. Included by each file that is compiled for a set of
 * instructions, after BLEND_FP32, BLEND_FP16 and BLEND_BYTES have been defined: block, out, stream,
 * channels, several quads, boxes_only. */
#ifndef BLR_SAMPLE_BLOCK_KINDS_H
#define BLR_SAMPLE_BLOCK_KINDS_H

#include "sample_block_nearest_avx2.h"

/* One function for each way that a block can be filled. */
#define BLENDS(name, blend, channels)                                                                 \
    static uint64_t name##_one(const struct blr_block *block, float *out, bool stream)                \
    {                                                                                                 \
        return blend(block, out, stream, channels, false, false);                                     \
    }                                                                                                 \
    static uint64_t name##_more(const struct blr_block *block, float *out, bool stream)               \
    {                                                                                                 \
        return blend(block, out, stream, channels, true, false);                                      \
    }                                                                                                 \
    static uint64_t name##_boxes(const struct blr_block *block, float *out, bool stream)               \
    {                                                                                                 \
        return blend(block, out, stream, channels, false, true);                                       \
    }                                                                                                 \
    static uint64_t name##_more_boxes(const struct blr_block *block, float *out, bool stream)          \
    {                                                                                                 \
        return blend(block, out, stream, channels, true, true);                                        \
    }                                                                                                 \
    static uint64_t name(const struct blr_block *block, float *out, bool stream)                      \
    {                                                                                                 \
        if (block->boxes_only)                                                                        \
            return (block->quads > 1 ? name##_more_boxes : name##_boxes)(block, out, stream);           \
        return (block->quads > 1 ? name##_more : name##_one)(block, out, stream);                     \
    }

BLENDS(fp32_1, BLEND_FP32, 1)
BLENDS(fp32_2, BLEND_FP32, 2)
BLENDS(fp32_4, BLEND_FP32, 4)
BLENDS(fp16_1, BLEND_FP16, 1)
BLENDS(fp16_2, BLEND_FP16, 2)
BLENDS(fp16_4, BLEND_FP16, 4)
BLENDS(unorm8_1, BLEND_BYTES, 1)
BLENDS(unorm8_2, BLEND_BYTES, 2)
BLENDS(unorm8_4, BLEND_BYTES, 4)

static const struct {
    blr_channel_type_t type;
    uint32_t channels;
    blr_blend_block_t linear, nearest;
} blends[] = {
    {BLR_CHANNEL_FP32, 1, fp32_1, nearest_fp32_1},       {BLR_CHANNEL_FP32, 2, fp32_2, nearest_fp32_2},
    {BLR_CHANNEL_FP32, 4, fp32_4, nearest_fp32_4},       {BLR_CHANNEL_FP16, 1, fp16_1, nearest_fp16_1},
    {BLR_CHANNEL_FP16, 2, fp16_2, nearest_fp16_2},       {BLR_CHANNEL_FP16, 4, fp16_4, nearest_fp16_4},
    {BLR_CHANNEL_UNORM_INT8, 1, unorm8_1, nearest_unorm8_1}, {BLR_CHANNEL_UNORM_INT8, 2, unorm8_2, nearest_unorm8_2},
    {BLR_CHANNEL_UNORM_INT8, 4, unorm8_4, nearest_unorm8_4},
};

static blr_blend_block_t choose_blend(const struct blr_texture *texture)
{
    for (size_t k = 0; k < sizeof blends / sizeof *blends; k++)
        if (blends[k].type == texture->desc.channel_type && blends[k].channels == texture->desc.num_channels)
            return texture->linear ? blends[k].linear : blends[k].nearest;
    return NULL;
}

#endif
