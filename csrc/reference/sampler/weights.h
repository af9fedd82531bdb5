/* Weights: integers split into parts that always sum to the whole. */
#ifndef BINDLESS_REFERENCE_SAMPLER_WEIGHTS_H
#define BINDLESS_REFERENCE_SAMPLER_WEIGHTS_H

#include <stdint.h>

/* The part of weight in proportion share / 256, rounded half up. */
static inline int32_t blr_weight_part(int32_t weight, int32_t share)
{
    return (weight * share + 128) >> 8;
}

/* Weights of the texels (y0,x0) (y0,x1) (y1,x0) (y1,x1); x and y are the weights of the second column and row, in
 * 1/256. */
static inline void blr_quad_weights(int32_t x, int32_t y, int32_t weight, int32_t parts[4])
{
    int32_t right = blr_weight_part(weight, x);
    int32_t left = weight - right;
    parts[0] = blr_weight_part(left, 256 - y);
    parts[3] = blr_weight_part(right, y);
    parts[1] = right - parts[3];
    parts[2] = left - parts[0];
}

/* Mask of the texels of a quad that are read: column and row both have a weight, even where the texel's own weight
 * rounds to 0. None when the quad's weight is 0. */
static inline uint32_t blr_texels_used(int32_t x, int32_t y, int32_t weight)
{
    if (weight <= 0)
        return 0;
    return 1u | (x ? 2u : 0u) | (y ? 4u : 0u) | (x && y ? 8u : 0u);
}

#endif
