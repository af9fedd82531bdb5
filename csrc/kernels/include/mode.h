/* The `mode` argument of the resampling kernels: everything that selects code, apart from the formats.
 *     bits 0-2    interpolation (filter/weights.h)
 *     bits 3-11   boundary along x, y and z, three bits each (filter/boundary.h)
 *     bit 12      not-a-number texels have no weight
 *     bit 13      integers halfway between two are rounded away from zero, instead of to even
 *     bit 14      there is an array of vectors
 *     bit 15      of double precision
 *     bit 16      the matrix is projective
 *     bit 17      there are scale and bias
 *     bits 18-19  kind of picture: line, plane, volume or slab (picture.h)
 *     bit 20      centres of elements and texels are at 0.5
 *     bit 21      the image is a window of a larger one
 *     bits 22-24  elements keep their index along x, y and z: no filter, and no boundary
 *     bit 25      channels of an array are neighbours, and so are elements along x
 *     bit 26      offsets in an array fit 32 bits
 *     bit 27      centres of elements and texels are at 0
 *     bits 28-29  fields of vectors on grids of their own, in place of an array (filter/field.h): none, any, a plain lens, or
 *                 a linear one, of less than 2^28 vectors, and two or more along each axis: place.h may have code for the last
 *                 two, and else reads them like others
 *     bit 30      of two nearest texels the even one is meant, instead of the upper one
 *     bit 31      weights and sums of integers of 8 and 16 bits have double precision
 * Bits 22-27 are those of arrays in memory.
 * A loader may replace the argument by a constant, like the format. */
#ifndef BINDLESS_KERNELS_INCLUDE_MODE_H
#define BINDLESS_KERNELS_INCLUDE_MODE_H

#include "bindless/device.h"
#include "bindless/filter/boundary.h"
#include "bindless/filter/weights.h"

/* OpenCL C can receive the mode at compile time, as specialization constant 1. */
#ifdef BINDLESS_OPENCL_C
#define KNOWN_MODE(MODE) bindless_constant_uint(1, MODE)
#else
#define KNOWN_MODE(MODE) (MODE)
#endif

/* Functions with structures and arrays, which stay in registers where the caller's constants are known. */
#define INLINED static inline __attribute__((always_inline))

/* PTX becomes machine code as it is; other compilers choose the loops to unroll themselves. */
#ifdef __NVPTX__
#define UNROLLED _Pragma("unroll")
#define ROLLED _Pragma("nounroll")
#define NOT_SPECULATED __asm__ volatile("") /* LLVM would divide in any case, and ptxas keep the division */
#else
#define UNROLLED
#define ROLLED
#define NOT_SPECULATED
#endif

static inline uint interpolation(uint mode) { return KNOWN_MODE(mode) & 7; }
static inline uint boundary(uint mode, uint axis) { return KNOWN_MODE(mode) >> (3 + 3 * axis) & 7; }
static inline bool ignores_nan(uint mode) { return (KNOWN_MODE(mode) >> 12 & 1) != 0; }
static inline bool rounds_away(uint mode) { return (KNOWN_MODE(mode) >> 13 & 1) != 0; }
static inline bool has_vectors(uint mode) { return (KNOWN_MODE(mode) >> 14 & 1) != 0; }
static inline bool has_double_vectors(uint mode) { return (KNOWN_MODE(mode) >> 15 & 1) != 0; }
static inline bool is_projective(uint mode) { return (KNOWN_MODE(mode) >> 16 & 1) != 0; }
static inline bool is_scaled(uint mode) { return (KNOWN_MODE(mode) >> 17 & 1) != 0; }
static inline uint tile(uint mode) { return KNOWN_MODE(mode) >> 18 & 3; }
static inline bool is_centred(uint mode) { return (KNOWN_MODE(mode) >> 20 & 1) != 0; }
static inline bool is_window(uint mode) { return (KNOWN_MODE(mode) >> 21 & 1) != 0; }
static inline bool keeps_index(uint mode, uint axis) { return (KNOWN_MODE(mode) >> (22 + axis) & 1) != 0; }
static inline bool has_packed_rows(uint mode) { return (KNOWN_MODE(mode) >> 25 & 1) != 0; }
static inline bool is_uncentred(uint mode) { return (KNOWN_MODE(mode) >> 27 & 1) != 0; }
static inline bool has_fields(uint mode) { return (KNOWN_MODE(mode) >> 28 & 3) != 0; }
static inline bool has_plain_lens(uint mode) { return (KNOWN_MODE(mode) >> 28 & 3) == 2; }
static inline bool has_linear_field(uint mode) { return (KNOWN_MODE(mode) >> 28 & 3) == 3; }
static inline bool has_even_ties(uint mode) { return (KNOWN_MODE(mode) >> 30 & 1) != 0; }
static inline bool has_double_sums(uint mode) { return (KNOWN_MODE(mode) >> 31 & 1) != 0; }
static inline bool is_small(uint mode) { return (KNOWN_MODE(mode) >> 26 & 1) != 0; }

#endif
