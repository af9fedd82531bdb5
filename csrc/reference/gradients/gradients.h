/*
 * Samples of textures in memory and their derivatives, for blrSampleGradients.
 *
 * The value of channel c is the sum over taps k of w_k t_kc. Three sums have everything else: of weights and texels, for
 * values; of gradients of values and texels over channels, for derivatives of weights; and gradients of values times
 * weights, which are added to the gradients of texels.
 */
#ifndef BINDLESS_REFERENCE_GRADIENTS_GRADIENTS_H
#define BINDLESS_REFERENCE_GRADIENTS_GRADIENTS_H

#include "bindless/filter/taps.h"
#include "bindless/reference.h"
#include "spirv/execute/isa_names.h"

#include <stdbool.h>

/* Samples that a vector holds, and samples of a part. */
#define BLR_GRADIENT_BLOCK 16u
#define BLR_GRADIENT_PART 256u

/* Parts of the texels' rows whose gradients one thread adds up: bits of a mask. */
#define BLR_MAX_SLABS 64u

struct blr_gradient_part {
    uint64_t texture, first;              /* the first sample */
    uint32_t count;                       /* up to BLR_GRADIENT_PART */
    uint32_t slab, slabs;                 /* rows of texels that receive gradients, of so many parts */
    bool gathers;                         /* whether values and gradients of coordinates are computed */
    bool scatters;                        /* whether gradients of texels are */
};

/* The functions of a set of instructions. */
struct blr_gradient_set {
    void (*run)(const blr_gradients_t *call, const struct blr_gradient_part *part);
    /* Slabs that hold texels of a part's samples, and maybe others; at least one. */
    uint64_t (*find_slabs)(const blr_gradients_t *call, const struct blr_gradient_part *part);
};

extern const struct blr_gradient_set blr_gradient_set;

/* Linear samples of pictures of floats with one level, without second derivatives. Channels of the picture or of the values
 * are planes, or there are fewer than four. Uses vector types of GCC and Clang. */
#if defined(__GNUC__) || defined(__clang__)
#define BLR_HAS_PLANAR 1
extern const struct blr_gradient_set blr_planar_set;
#else
#define BLR_HAS_PLANAR 0
#endif

/* Computes a checked call, by all threads of the pool. */
blr_result_t blr_gradients_run(const blr_gradients_t *call);

#endif
