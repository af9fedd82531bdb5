/* Blocks for processors with AVX-512 (F, DQ, BW, VL): the same source, compiled to wider vectors. */
#include "sample_block.h"

#if BLR_HAS_X86_BLOCKS

#include "sample_block_blend_avx2.h"
#include "sample_block_nearest_avx2.h"

#define FLOAT_BLENDS(name, half, channels)                                                            \
    static uint64_t name##_one(const struct blr_block *block, float *out, bool stream)                \
    {                                                                                                 \
        return blend_floats(block, out, stream, half, channels, false);                               \
    }                                                                                                 \
    static uint64_t name##_more(const struct blr_block *block, float *out, bool stream)               \
    {                                                                                                 \
        return blend_floats(block, out, stream, half, channels, true);                                \
    }                                                                                                 \
    static uint64_t name(const struct blr_block *block, float *out, bool stream)                      \
    {                                                                                                 \
        return (block->quads > 1 ? name##_more : name##_one)(block, out, stream);                     \
    }

#define BYTE_BLENDS(name, channels)                                                                   \
    static uint64_t name(const struct blr_block *block, float *out, bool stream)                      \
    {                                                                                                 \
        return block->quads > 1 ? blend_bytes(block, out, stream, channels, true)                     \
                                : blend_bytes(block, out, stream, channels, false);                   \
    }

FLOAT_BLENDS(fp32_1, false, 1)
FLOAT_BLENDS(fp32_2, false, 2)
FLOAT_BLENDS(fp32_4, false, 4)
FLOAT_BLENDS(fp16_1, true, 1)
FLOAT_BLENDS(fp16_2, true, 2)
FLOAT_BLENDS(fp16_4, true, 4)
BYTE_BLENDS(unorm8_1, 1)
BYTE_BLENDS(unorm8_2, 2)
BYTE_BLENDS(unorm8_4, 4)

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

#include "sample_block_run.h"

bool blr_sample_blocks_avx512(const struct blr_texture *texture, const blr_image_call_t *call, uint64_t begin, uint64_t end)
{
    struct plan plan;
    if (!make_plan(texture, call, &plan))
        return false;
    run_blocks(&plan, begin, end);
    _mm_sfence();                         /* stores past the caches are in order again */
    return true;
}

#endif
