/* The kinds of texels that the block sampler supports, and the blend function of each. Each source file of an
 * instruction set includes this header after defining BLEND_FP32, BLEND_FP16 and BLEND_BYTES (block, out, stream,
 * channels, several quads, boxes_only), ADD_TAPS_FP32 (block, totals, channels) and END_TAPS_FP32 (totals, lanes,
 * out); and BLEND_TO_BYTES, like BLEND_BYTES but with byte codes as results, where that is faster than the general
 * path for codes. */
#ifndef BINDLESS_REFERENCE_SAMPLER_SIMD_TEXEL_KINDS_H
#define BINDLESS_REFERENCE_SAMPLER_SIMD_TEXEL_KINDS_H

#include "sampler/simd/filter_nearest.h"
#include "sampler/simd/filter_packed.h"

static const struct code_kind kind_s8 = {1, true}, kind_u8 = {1, false}, kind_s16 = {2, true}, kind_u16 = {2, false};

/* One function for each way of filling a block. */
#define BLENDS(name, blend, channels)                                                                 \
    static uint64_t name##_one_##channels(const struct blr_block *block, float *out, bool stream)     \
    {                                                                                                 \
        return blend(block, out, stream, channels, false, false);                                     \
    }                                                                                                 \
    static uint64_t name##_more_##channels(const struct blr_block *block, float *out, bool stream)    \
    {                                                                                                 \
        return blend(block, out, stream, channels, true, false);                                      \
    }                                                                                                 \
    static uint64_t name##_boxes_##channels(const struct blr_block *block, float *out, bool stream)   \
    {                                                                                                 \
        return blend(block, out, stream, channels, false, true);                                      \
    }                                                                                                 \
    static uint64_t name##_more_boxes_##channels(const struct blr_block *block, float *out, bool stream) \
    {                                                                                                 \
        return blend(block, out, stream, channels, true, true);                                       \
    }                                                                                                 \
    static uint64_t name##_##channels(const struct blr_block *block, float *out, bool stream)         \
    {                                                                                                 \
        if (block->boxes_only)                                                                        \
            return (block->quads > 1 ? name##_more_boxes_##channels : name##_boxes_##channels)(block, out, stream); \
        return (block->quads > 1 ? name##_more_##channels : name##_one_##channels)(block, out, stream); \
    }

#define CODES(name, kind, channels)                                                                   \
    static uint64_t name##_##channels(const struct blr_block *block, float *out, bool stream)         \
    {                                                                                                 \
        (void)stream;                                                                                 \
        return block->boxes_only ? blend_codes(block, out, kind, channels, true)                      \
                                 : blend_codes(block, out, kind, channels, false);                    \
    }

#define TAPS(name, add_taps, channels)                                                                \
    static uint64_t name##_##channels(const struct blr_block *block, struct blr_totals *totals)       \
    {                                                                                                 \
        return add_taps(block, totals, channels);                                                     \
    }

#define END_OF_TAPS(name, end_taps)                                                                   \
    static void name(const struct blr_totals *totals, uint32_t lanes, float *out)                     \
    {                                                                                                 \
        end_taps(totals, lanes, out);                                                                 \
    }

#define FOR_CHANNELS(macro, ...) \
    macro(__VA_ARGS__, 1)        \
    macro(__VA_ARGS__, 2)        \
    macro(__VA_ARGS__, 3)        \
    macro(__VA_ARGS__, 4)

#define ADD_TAPS_FP16(block, totals, channels) add_taps_of_floats(block, totals, true, channels)
#define ADD_TAPS_S8(block, totals, channels) add_taps_of_codes(block, totals, kind_s8, channels)
#define ADD_TAPS_U8(block, totals, channels) add_taps_of_codes(block, totals, kind_u8, channels)
#define ADD_TAPS_S16(block, totals, channels) add_taps_of_codes(block, totals, kind_s16, channels)
#define ADD_TAPS_U16(block, totals, channels) add_taps_of_codes(block, totals, kind_u16, channels)
#define END_TAPS_FP16(totals, lanes, out) end_taps_of_floats(totals, lanes, out, true)
#define END_TAPS_WORDS(totals, lanes, out) end_taps_of_codes(totals, lanes, out, kind_u16)
#define END_TAPS_CODES(totals, lanes, out) end_taps_of_codes(totals, lanes, out, kind_s16)

FOR_CHANNELS(BLENDS, fp32, BLEND_FP32)
FOR_CHANNELS(BLENDS, fp16, BLEND_FP16)
FOR_CHANNELS(BLENDS, unorm8, BLEND_BYTES)
#ifdef BLEND_TO_BYTES
BLENDS(to_bytes, BLEND_TO_BYTES, 3)
BLENDS(to_bytes, BLEND_TO_BYTES, 4)
#endif
FOR_CHANNELS(CODES, s8, kind_s8)
FOR_CHANNELS(CODES, u8, kind_u8)
FOR_CHANNELS(CODES, s16, kind_s16)
FOR_CHANNELS(CODES, u16, kind_u16)
FOR_CHANNELS(TAPS, taps_fp32, ADD_TAPS_FP32)
FOR_CHANNELS(TAPS, taps_fp16, ADD_TAPS_FP16)
FOR_CHANNELS(TAPS, taps_s8, ADD_TAPS_S8)
FOR_CHANNELS(TAPS, taps_u8, ADD_TAPS_U8)
FOR_CHANNELS(TAPS, taps_s16, ADD_TAPS_S16)
FOR_CHANNELS(TAPS, taps_u16, ADD_TAPS_U16)
END_OF_TAPS(end_fp32, END_TAPS_FP32)
END_OF_TAPS(end_fp16, END_TAPS_FP16)
END_OF_TAPS(end_words, END_TAPS_WORDS)
END_OF_TAPS(end_codes, END_TAPS_CODES)

struct kind {
    blr_blend_block_t blend;              /* NULL: integers that are not filtered */
    blr_blend_block_t nearest;
    blr_add_taps_t add_taps;
    blr_end_taps_t end_taps;
};

#define KIND(blend, nearest, taps, end, channels) {blend##_##channels, nearest##_##channels, taps##_##channels, end}
#define KINDS(blend, nearest, taps, end)                                                                \
    {                                                                                                   \
        KIND(blend, nearest, taps, end, 1), KIND(blend, nearest, taps, end, 2), KIND(blend, nearest, taps, end, 3), \
            KIND(blend, nearest, taps, end, 4)                                                          \
    }
#define NEAREST_KINDS(nearest)                                                                          \
    {                                                                                                   \
        {NULL, nearest##_1, NULL, NULL}, {NULL, nearest##_2, NULL, NULL}, {NULL, nearest##_3, NULL, NULL}, \
            {NULL, nearest##_4, NULL, NULL}                                                             \
    }

#define PACKED_KINDS(name) {[3] = {name##_4, nearest_##name##_4, NULL, NULL}}

static const struct kind kinds[BLR_NUM_CHANNEL_TYPES][BLR_MAX_CHANNELS] = {
    [BLR_CHANNEL_SNORM_INT8] = KINDS(s8, nearest_s8, taps_s8, end_codes),
    [BLR_CHANNEL_SNORM_INT16] = KINDS(s16, nearest_s16, taps_s16, end_codes),
    [BLR_CHANNEL_UNORM_INT8] = KINDS(unorm8, nearest_unorm8, taps_u8, end_codes),
    [BLR_CHANNEL_UNORM_INT16] = KINDS(u16, nearest_u16, taps_u16, end_words),
    [BLR_CHANNEL_SIGNED_INT8] = KINDS(s8, nearest_s8, taps_s8, end_codes),
    [BLR_CHANNEL_SIGNED_INT16] = KINDS(s16, nearest_s16, taps_s16, end_codes),
    [BLR_CHANNEL_SIGNED_INT32] = NEAREST_KINDS(nearest_32),
    [BLR_CHANNEL_UNSIGNED_INT8] = KINDS(u8, nearest_u8, taps_u8, end_codes),
    [BLR_CHANNEL_UNSIGNED_INT16] = KINDS(u16, nearest_u16, taps_u16, end_words),
    [BLR_CHANNEL_UNSIGNED_INT32] = NEAREST_KINDS(nearest_32),
    [BLR_CHANNEL_FP16] = KINDS(fp16, nearest_fp16, taps_fp16, end_fp16),
    [BLR_CHANNEL_FP32] = KINDS(fp32, nearest_32, taps_fp32, end_fp32),
    [BLR_CHANNEL_UNORM_INT_10_10_10_2] = PACKED_KINDS(tens),
    [BLR_CHANNEL_UNORM_INT8_SRGB] = PACKED_KINDS(srgb),
};

#endif
