/* Blocks: 64 samples at a time, for the textures that matter most. A block is located (which texels,
 * which weights; loops that compilers turn into vectors) and then blended (written with vector
 * instructions). A sample that needs more than the common arithmetic, because of infinities, NaNs,
 * negative zeros or tiny numbers, is left to blr_sample_item: the results are the same to the bit. */
#ifndef BLR_SAMPLE_BLOCK_H
#define BLR_SAMPLE_BLOCK_H

#include "sample.h"

#define BLR_BLOCK 64
#define BLR_BLOCK_QUADS 4                 /* two slices, two levels */

/* Structure of arrays; [quad][texel of the quad][item]. */
struct blr_block {
    _Alignas(64) uintptr_t texel[BLR_BLOCK_QUADS][4][BLR_BLOCK];   /* addresses */
    int32_t weight[BLR_BLOCK_QUADS][4][BLR_BLOCK];
    int32_t pair[BLR_BLOCK_QUADS][2][BLR_BLOCK];    /* weights of a row, as two 16-bit numbers */
    uint32_t place[2][BLR_BLOCK];         /* of boxes: bytes to the first texel of an item, in each of two levels */
    uint32_t quads;
    uint32_t count;                       /* items that are wanted; arrays are valid to the end of a vector */
    bool boxes_only;                      /* all texels of an item are neighbours: box and place stand for texel */
    bool dense[BLR_BLOCK / 8];            /* otherwise: of these eight items, those of each row are */
    struct blr_boxes {
        uintptr_t base;                   /* what places count from */
        uint32_t row_step;                /* bytes from row to row */
        uint32_t level;                   /* row of place */
    } box[BLR_BLOCK_QUADS];
};

/* Running sums of anisotropic footprints, which have more quads than a block: one for each lane, as the blend of a kind
 * of texels keeps them. */
struct blr_totals {
    _Alignas(64) int64_t even[BLR_BLOCK * BLR_MAX_CHANNELS / 2];
    int64_t odd[BLR_BLOCK * BLR_MAX_CHANNELS / 2];
    int32_t point[BLR_BLOCK * BLR_MAX_CHANNELS];
    int32_t sum[BLR_BLOCK * BLR_MAX_CHANNELS];
};

/* Adds the quads of a block to the totals, which begin as zeros; returns a bit for each item to be done again. */
typedef uint64_t (*blr_add_taps_t)(const struct blr_block *block, struct blr_totals *totals);
/* What the totals of so many lanes come to. */
typedef void (*blr_end_taps_t)(const struct blr_totals *totals, uint32_t lanes, float *out);

/* Blends a block into floats, or into integers of which sample_block_finish.h makes results; an item has one, two or four
 * lanes, of which the last is idle if it has three channels. Returns a bit for each item to be done again. */
typedef uint64_t (*blr_blend_block_t)(const struct blr_block *block, float *out, bool stream);

#if defined(__x86_64__) && defined(__GNUC__) && !defined(_MSC_VER)
#  define BLR_HAS_X86_BLOCKS 1
/* Runs a call if it is one of the common kinds; false: nothing was done. One for each set of instructions. */
bool blr_sample_blocks_avx2(const struct blr_texture *texture, const blr_image_call_t *call, uint64_t begin,
                            uint64_t end);
bool blr_sample_blocks_avx512(const struct blr_texture *texture, const blr_image_call_t *call, uint64_t begin,
                              uint64_t end);
/* The same for fetches and writes; the first item that is outside is described. */
bool blr_fetch_blocks_avx2(const struct blr_texture *texture, const blr_image_call_t *call, uint64_t begin, uint64_t end,
                           struct blr_fault *fault);
bool blr_fetch_blocks_avx512(const struct blr_texture *texture, const blr_image_call_t *call, uint64_t begin, uint64_t end,
                             struct blr_fault *fault);
bool blr_write_blocks_avx2(const struct blr_texture *texture, const blr_image_call_t *call, uint64_t begin, uint64_t end,
                           struct blr_fault *fault);
bool blr_write_blocks_avx512(const struct blr_texture *texture, const blr_image_call_t *call, uint64_t begin, uint64_t end,
                             struct blr_fault *fault);
#else
#  define BLR_HAS_X86_BLOCKS 0
#endif

#if defined(__aarch64__) && defined(__GNUC__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#  define BLR_HAS_NEON_BLOCKS 1
bool blr_sample_blocks_neon(const struct blr_texture *texture, const blr_image_call_t *call, uint64_t begin,
                            uint64_t end);
bool blr_fetch_blocks_neon(const struct blr_texture *texture, const blr_image_call_t *call, uint64_t begin, uint64_t end,
                           struct blr_fault *fault);
bool blr_write_blocks_neon(const struct blr_texture *texture, const blr_image_call_t *call, uint64_t begin, uint64_t end,
                           struct blr_fault *fault);
#else
#  define BLR_HAS_NEON_BLOCKS 0
#endif

/* The instructions that calls on a texture run with. */
enum blr_vectors { BLR_VECTORS_NONE, BLR_VECTORS_AVX2, BLR_VECTORS_AVX512, BLR_VECTORS_NEON };

enum blr_vectors blr_vectors_of(const struct blr_texture *texture);

/* Whether a fetch, or a write, was done in blocks. */
bool blr_fetch_blocks(const struct blr_texture *texture, const blr_image_call_t *call, uint64_t begin, uint64_t end,
                      struct blr_fault *fault);
bool blr_write_blocks(const struct blr_texture *texture, const blr_image_call_t *call, uint64_t begin, uint64_t end,
                      struct blr_fault *fault);

#endif
