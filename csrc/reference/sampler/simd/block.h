/* Block sampler: 64 samples at a time, for the most common textures. Locating a block computes texel addresses and
 * weights, in loops that compilers vectorise; blending computes the weighted sums, with vector intrinsics. A sample
 * that needs special handling, because of infinities, NaNs, negative zeros or tiny numbers, is left to
 * blr_sample_item: results are bit-identical. */
#ifndef BINDLESS_REFERENCE_SAMPLER_SIMD_BLOCK_H
#define BINDLESS_REFERENCE_SAMPLER_SIMD_BLOCK_H

#include "sampler/sampler.h"

#define BLR_BLOCK 64
#define BLR_BLOCK_QUADS 4                 /* two slices, two levels */

/* Structure of arrays, indexed [quad][texel of the quad][item]. */
struct blr_block {
    _Alignas(64) uintptr_t texel[BLR_BLOCK_QUADS][4][BLR_BLOCK];   /* texel addresses */
    int32_t weight[BLR_BLOCK_QUADS][4][BLR_BLOCK];
    int32_t pair[BLR_BLOCK_QUADS][2][BLR_BLOCK];    /* weights of a row, as two 16-bit numbers */
    uint32_t place[2][BLR_BLOCK];         /* of boxes: byte offset of an item's first texel, in each of two levels */
    uint32_t quads;
    uint32_t count;                       /* number of items; arrays are valid to the end of a vector */
    bool boxes_only;                      /* every item reads a box of neighbouring texels: place replaces texel */
    bool dense[BLR_BLOCK / 8];            /* otherwise: rows of these eight items are pairs of neighbours */
    struct blr_boxes {
        uintptr_t base;                   /* base address of the places */
        uint32_t row_step;                /* bytes from row to row */
        uint32_t level;                   /* level of detail: row of place */
    } box[BLR_BLOCK_QUADS];
};

/* Running sums of anisotropic footprints, which have more quads than a block: one for each lane, in the format of
 * the texel kind's blend. */
struct blr_totals {
    _Alignas(64) int64_t even[BLR_BLOCK * BLR_MAX_CHANNELS / 2];
    int64_t odd[BLR_BLOCK * BLR_MAX_CHANNELS / 2];
    int32_t point[BLR_BLOCK * BLR_MAX_CHANNELS];
    int32_t sum[BLR_BLOCK * BLR_MAX_CHANNELS];
};

/* Adds the quads of a block to the totals, which are zero at first; returns a bit for each item to be recomputed. */
typedef uint64_t (*blr_add_taps_t)(const struct blr_block *block, struct blr_totals *totals);
/* Converts the totals of a number of lanes to results. */
typedef void (*blr_end_taps_t)(const struct blr_totals *totals, uint32_t lanes, float *out);

/* Blends a block into floats, or into integers that sampler/simd/normalise.h converts to results. An item has one, two
 * or four lanes; with three channels the last lane is idle. Returns a bit for each item to be recomputed. */
typedef uint64_t (*blr_blend_block_t)(const struct blr_block *block, float *out, bool stream);

#if defined(__x86_64__) && defined(__GNUC__) && !defined(_MSC_VER)
#  define BLR_HAS_X86_BLOCKS 1
/* Runs a call of a supported kind; false: unsupported, and nothing was done. One function for each instruction set. */
bool blr_sample_blocks_avx2(const struct blr_texture *texture, const blr_image_call_t *call, uint64_t begin,
                            uint64_t end);
bool blr_sample_blocks_avx512(const struct blr_texture *texture, const blr_image_call_t *call, uint64_t begin,
                              uint64_t end);
/* The same for fetches and writes; *fault describes the first item out of range. */
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

/* Instruction set that calls on a texture use. */
enum blr_vectors { BLR_VECTORS_NONE, BLR_VECTORS_AVX2, BLR_VECTORS_AVX512, BLR_VECTORS_NEON };

enum blr_vectors blr_vectors_of(const struct blr_texture *texture);

/* Runs a fetch or a write in blocks; false if it is not supported. */
bool blr_fetch_blocks(const struct blr_texture *texture, const blr_image_call_t *call, uint64_t begin, uint64_t end,
                      struct blr_fault *fault);
bool blr_write_blocks(const struct blr_texture *texture, const blr_image_call_t *call, uint64_t begin, uint64_t end,
                      struct blr_fault *fault);

#endif
