/*
 * Sampling of single items: the texels that a sample reads, and their weights.
 *
 * A sample is computed in three steps:
 *
 *   level of detail   sampler/lod.c, sampler/lod_from_gradients.c     the mip levels and their weights
 *   footprint         sampler/footprint.c, sampler/cube.c,    the texels and their integer weights
 *                     sampler/anisotropy.c
 *   blending          sampler/filter_float.c,                 the weighted sum, rounded as the hardware does
 *                     sampler/filter_integer.c
 *
 * This path covers every texture. sampler/simd/dispatch.c computes the common ones many items at a time, with bit-identical
 * results. docs/internals/numerics.md specifies the arithmetic.
 */
#ifndef BINDLESS_REFERENCE_SAMPLER_SAMPLER_H
#define BINDLESS_REFERENCE_SAMPLER_SAMPLER_H

#include "texture/texture.h"

#define BLR_MAX_TAPS_A_SIDE 8
#define BLR_MAX_QUADS (2 * 2 * BLR_MAX_TAPS_A_SIDE)   /* two sides, two levels */

/* 2 x 2 texels of one slice of one level, in the order (y0,x0) (y0,x1) (y1,x0) (y1,x1). In a one-dimensional texture
 * both rows are the same. */
struct blr_quad {
    const unsigned char *texel[4];
    int32_t weight[4];                    /* sum: the weight of the slice; 256 over the whole sample */
    uint32_t used;                        /* bit k: texel k is read, though its weight may round to 0 */
};

struct blr_footprint {
    uint32_t count;
    uint32_t first_level;                 /* number of quads that belong to the finer level */
    uint32_t group;                       /* float sums: number of quads aligned together */
    uint32_t extra_bits;                  /* weights sum to 256 << extra_bits */
    struct blr_quad quad[BLR_MAX_QUADS];
};

/* Number of a level's quads that the hardware fetches and aligns together. */
static inline uint32_t blr_quads_at_a_time(const struct blr_texture *texture)
{
    return texture->pixel_size <= 4 ? 4 : 2;
}

/* Two mip levels, and the weight of the second in 1/256. */
struct blr_level_pair {
    uint32_t level;
    int32_t fraction;                     /* 0: the second level is not read */
};

/* ---- level of detail, in 1/256 of a level */

/* Level of a call that gives none. */
#define BLR_LOD_NONE (-32 * 256)

int32_t blr_lod_from_float(float lod);
int32_t blr_lod_clamp(const struct blr_texture *texture, int32_t lod);
struct blr_level_pair blr_lod_split(const struct blr_texture *texture, int32_t clamped_lod);

/* Footprint measured from two gradients, whose components are x, y, z in coordinates of the texture. */
struct blr_gradient_measure {
    int32_t major;                        /* 256 log2 of the longest axis in texels of level 0 */
    int32_t ratio;                        /* 256 log2 of longest to shortest axis */
    int32_t direction[2];                 /* direction of the longest axis, in 1/64 */
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
/* The footprint of a single level with the given weight: fills only the quad. */
void blr_footprint_cube_level(const struct blr_texture *texture, const float *direction, uint32_t level, int32_t weight,
                              struct blr_footprint *footprint);
void blr_footprint_anisotropic(const struct blr_texture *texture, const float *coordinates, uint32_t layer,
                               const struct blr_gradient_measure *measure, struct blr_footprint *footprint);

/* ---- blending: one channel of a footprint; offset is the channel's place in the pixel */

float blr_blend_fp32(const struct blr_footprint *footprint, uint32_t offset);
float blr_blend_fp16(const struct blr_footprint *footprint, uint32_t offset);
float blr_blend_srgb(const struct blr_footprint *footprint, uint32_t channel);
float blr_blend_normalized(const struct blr_footprint *footprint, uint32_t offset, const struct blr_format *format);
int32_t blr_blend_integer(const struct blr_footprint *footprint, uint32_t offset, const struct blr_format *format);

/* ---- calls */

void blr_sample_items(const struct blr_texture *texture, const blr_image_call_t *call, uint64_t begin, uint64_t end);
void blr_sample_exact_items(const struct blr_texture *texture, const blr_image_call_t *call, uint64_t begin,
                            uint64_t end);

/* Computes one item of a call by the path that covers every texture. */
void blr_sample_item(const struct blr_texture *texture, const blr_image_call_t *call, uint64_t index);

/* The layer of an item; checked by the caller. */
static inline uint32_t blr_item_layer(const blr_image_call_t *call, uint64_t index)
{
    return call->layers ? call->layers[index] : call->layer;
}

#endif
