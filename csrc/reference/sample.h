/* The sampler's own vocabulary: which texels a sample touches, with which weights.
 *
 * A sample is made in three steps, each a concept of its own:
 *   level of detail   sample_level.c, sample_gradient.c     which mip levels, which share of each
 *   footprint         sample_footprint.c, sample_cube.c,    which texels, with which integer weights
 *                     sample_anisotropy.c
 *   blending          sample_blend_float.c,                 the weighted sum, with the rounding of the hardware
 *                     sample_blend_integer.c
 * This path covers every texture. sample_block.c does the common ones many items at a time, with the
 * same results to the bit. docs/numerics.md states the arithmetic. */
#ifndef BLR_SAMPLE_H
#define BLR_SAMPLE_H

#include "texture.h"

#define BLR_MAX_TAPS_A_SIDE 8
#define BLR_MAX_QUADS (2 * 2 * BLR_MAX_TAPS_A_SIDE)   /* two sides, two levels */

/* Two by two texels of one slice of one level, in the order (y0,x0) (y0,x1) (y1,x0) (y1,x1).
 * A one-dimensional texture has quads too: its rows coincide. */
struct blr_quad {
    const unsigned char *texel[4];
    int32_t weight[4];                    /* sums to the weight of the slice, 256 for the whole sample */
    uint32_t used;                        /* bit k: texel k is looked at, though its weight may round to 0 */
};

struct blr_footprint {
    uint32_t count;
    uint32_t first_level;                 /* how many of the quads belong to the finer level */
    uint32_t group;                       /* float sums: how many quads are aligned together */
    uint32_t extra_bits;                  /* weights sum to 256 << extra_bits */
    struct blr_quad quad[BLR_MAX_QUADS];
};

/* How many quads of a level the hardware fetches, and aligns, together. */
static inline uint32_t blr_quads_at_a_time(const struct blr_texture *texture)
{
    return texture->pixel_size <= 4 ? 4 : 2;
}

/* Two mip levels and the share of the second, in 1/256. */
struct blr_level_pair {
    uint32_t level;
    int32_t fraction;                     /* 0: the second level is not looked at */
};

/* ---- level of detail, in 1/256 of a level */

/* The level of a call without one. */
#define BLR_LOD_NONE (-32 * 256)

int32_t blr_lod_from_float(float lod);
int32_t blr_lod_clamp(const struct blr_texture *texture, int32_t lod);
struct blr_level_pair blr_lod_split(const struct blr_texture *texture, int32_t clamped_lod);

/* What two gradients say about a footprint; x, y, z components in coordinates of the texture. */
struct blr_gradient_measure {
    int32_t major;                        /* 256 log2 of the longest axis in texels of level 0 */
    int32_t ratio;                        /* 256 log2 of longest to shortest axis */
    int32_t direction[2];                 /* of the longest axis, in 1/64 */
};

int32_t blr_gradient_lod(const float *coordinates, const float *gradient_x, const float *gradient_y,
                         const uint32_t *extent, uint32_t dimensions);
void blr_gradient_measure(const float gradient_x[2], const float gradient_y[2], const uint32_t extent[2],
                          struct blr_gradient_measure *measure);

/* 256 log2 of the largest ratio that the hardware reaches for a maxAnisotropy; 0 when isotropic. */
int32_t blr_anisotropy_cap(float max_anisotropy);

/* round(256 * 2^(-i/256)), and 256 log2 of 1 + i/256. */
extern const uint16_t blr_exp2_table[256];
extern const uint16_t blr_log2_table[256];

/* ---- footprints: each adds quads */

void blr_footprint_standard(const struct blr_texture *texture, const float *coordinates, uint32_t layer,
                            struct blr_level_pair levels, struct blr_footprint *footprint);
void blr_footprint_cube(const struct blr_texture *texture, const float *direction, struct blr_level_pair levels,
                        struct blr_footprint *footprint);
/* One level alone, with the weight given: the quad and nothing else is filled in. */
void blr_footprint_cube_level(const struct blr_texture *texture, const float *direction, uint32_t level, int32_t weight,
                              struct blr_footprint *footprint);
void blr_footprint_anisotropic(const struct blr_texture *texture, const float *coordinates, uint32_t layer,
                               const struct blr_gradient_measure *measure, struct blr_footprint *footprint);

/* ---- blending: one channel of a footprint; offset is the channel's place in the pixel */

float blr_blend_fp32(const struct blr_footprint *footprint, uint32_t offset);
float blr_blend_fp16(const struct blr_footprint *footprint, uint32_t offset);
float blr_blend_normalized(const struct blr_footprint *footprint, uint32_t offset, const struct blr_format *format);
int32_t blr_blend_integer(const struct blr_footprint *footprint, uint32_t offset, const struct blr_format *format);

/* ---- whole calls */

void blr_sample_items(const struct blr_texture *texture, const blr_image_call_t *call, uint64_t begin, uint64_t end);
void blr_sample_exact_items(const struct blr_texture *texture, const blr_image_call_t *call, uint64_t begin,
                            uint64_t end);

/* One item of a call, by the path that covers everything. */
void blr_sample_item(const struct blr_texture *texture, const blr_image_call_t *call, uint64_t index);

/* The layer of an item; the caller has checked it. */
static inline uint32_t blr_item_layer(const blr_image_call_t *call, uint64_t index)
{
    return call->layers ? call->layers[index] : call->layer;
}

#endif
