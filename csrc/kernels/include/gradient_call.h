/* The arguments of the gradient kernels: blr_gradients_t of bindless/reference.h, with addresses as integers, and memory of
 * the deterministic sums. Also the `mode` argument, of everything that selects code:
 *     bit 0       the texel of ties is the even one
 *     bits 1-9    boundary along x, y and z, three bits each, in the order of mode.h
 *     bits 10-11  interpolation between levels: none, nearest, linear
 *     bits 12-14  interpolation between texels, in the order of mode.h
 *     bit 15      texels are halves
 *     bit 16      values are halves
 *     bit 17      offsets in a texture have 32 bits
 *     bits 18-19  gradients of texels: none, added with atomics, measured, added as integers
 *     bit 20      gradients of coordinates are wanted
 *     bit 21      gradients of levels are wanted
 *     bit 22      gradients of gradients of values are wanted
 *     bits 23-25  work-items of a sample, as a power of two
 *     bit 26      textures have one channel
 *     bit 27      neighbours along x are neighbours in memory
 *     bit 28      channels of values are apart in memory
 *     bit 29      the numbers of a sample's coordinates, and of their gradients, are neighbours in memory, with nothing between
 *                 samples; so are values of a channel */
#ifndef BINDLESS_KERNELS_INCLUDE_GRADIENT_CALL_H
#define BINDLESS_KERNELS_INCLUDE_GRADIENT_CALL_H

#include "mode.h"

#define MAX_LEVELS 18

struct strided {
    ulong first;
    long strides[5];
};

struct level {
    uint size[3];
    uint unused;
    struct strided texels, cotangents, gradients;
};

struct call {
    uint operation, dimensions, cubemap, interpolation, ties_to_even, between, boundary[3];
    uint row;                             /* samples of a row of the picture */
    double fill, shift, scale[3], offset[3];
    uint texel_type, value_type, channels, num_levels;
    ulong textures, samples;
    struct strided coordinates, level, values, grad_values, cot_coordinates, cot_level, grad_grad_values, grad_coordinates,
        grad_level;
    struct level levels[MAX_LEVELS];
    union {
        ulong sums[MAX_LEVELS];           /* integers instead of gradients, at the same offsets */
        struct {
            float scale[3], offset[3], shift, fill;
            uint rows, shifts[2];         /* rows of a slice; samples of a tile along x and y, as powers of two */
        } map;                            /* for kernels without sums: also the doubles above */
    };
    ulong largest;                        /* bits of the largest addend */
};

enum { SCATTER_NONE, SCATTER_ADD, SCATTER_MEASURE, SCATTER_INTEGERS };
enum { BETWEEN_NONE, BETWEEN_NEAREST, BETWEEN_LINEAR };

static inline float floor_of(float value) { return __builtin_elementwise_floor(value); }
static inline bool ties_to_even(uint mode) { return (mode & 1) != 0; }
static inline uint boundary_of(uint mode, uint axis) { return mode >> (1 + 3 * axis) & 7; }
static inline uint between(uint mode) { return mode >> 10 & 3; }
static inline uint filter_of(uint mode) { return mode >> 12 & 7; }
static inline bool has_half_texels(uint mode) { return (mode >> 15 & 1) != 0; }
static inline bool has_half_values(uint mode) { return (mode >> 16 & 1) != 0; }
static inline bool is_near(uint mode) { return (mode >> 17 & 1) != 0; }
static inline uint scatter_kind(uint mode) { return mode >> 18 & 3; }
static inline bool wants_coordinates(uint mode) { return (mode >> 20 & 1) != 0; }
static inline bool wants_level(uint mode) { return (mode >> 21 & 1) != 0; }
static inline bool wants_values(uint mode) { return (mode >> 22 & 1) != 0; }
static inline uint spread(uint mode) { return mode >> 23 & 7; }
static inline bool is_dense(uint mode) { return (mode >> 27 & 1) != 0; }
static inline bool is_packed(uint mode) { return (mode >> 29 & 1) != 0; }
static inline bool has_planes(uint mode) { return (mode >> 28 & 1) != 0; }
static inline bool is_single(uint mode) { return (mode >> 26 & 1) != 0; }

/* Values of OPERATION. */
#define FORWARD 0
#define BACKWARD 1
#define BACKWARD_BACKWARD 2

/* Of the kernels for linear filters. */
#ifdef __PTX__
#define PARAMETERS struct call call, uint mode
#define COPY
#else /* structures are no arguments of kernels */
#define PARAMETERS global const struct call *memory, uint mode
#define COPY const struct call call = *memory;
#endif

#endif
