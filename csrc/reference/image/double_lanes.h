/* Registers of two and four doubles: compilers make the instructions of each processor of them. */
#ifndef BINDLESS_REFERENCE_IMAGE_DOUBLE_LANES_H
#define BINDLESS_REFERENCE_IMAGE_DOUBLE_LANES_H

#include <string.h>

#if defined(__GNUC__) || defined(__clang__)

/* Elements may lie at any multiple of 8 bytes. */
typedef double blr_double_2 __attribute__((vector_size(16), aligned(8), may_alias));
typedef double blr_double_4 __attribute__((vector_size(32), aligned(8), may_alias));
typedef float blr_float_4 __attribute__((vector_size(16)));

#define blr_spread_2(value) ((blr_double_2){(value), (value)})
#define blr_spread_4(value) ((blr_double_4){(value), (value), (value), (value)})

#define BLR_LANES_INLINE static inline __attribute__((always_inline)) void

/* Registers from memory: arguments, because not every processor returns them from functions. */
BLR_LANES_INLINE blr_one_float(double *value, const float *at) { *value = at[0]; }

BLR_LANES_INLINE blr_one_double(double *value, const double *at) { *value = at[0]; }

BLR_LANES_INLINE blr_two_floats(blr_double_2 *value, const float *at) { *value = (blr_double_2){at[0], at[1]}; }

BLR_LANES_INLINE blr_two_doubles(blr_double_2 *value, const double *at) { memcpy(value, at, sizeof *value); }

BLR_LANES_INLINE blr_three_floats(blr_double_4 *value, const float *at)
{
    *value = (blr_double_4){at[0], at[1], at[2], 0.0};
}

BLR_LANES_INLINE blr_four_floats(blr_double_4 *value, const float *at)
{
    blr_float_4 floats;
    memcpy(&floats, at, sizeof floats);
    *value = __builtin_convertvector(floats, blr_double_4);
}

BLR_LANES_INLINE blr_four_doubles(blr_double_4 *value, const double *at) { memcpy(value, at, sizeof *value); }

/* Registers rounded to floats in memory. */
BLR_LANES_INLINE blr_store_one(float *at, const double *value) { *at = (float)*value; }

BLR_LANES_INLINE blr_store_two(float *at, const blr_double_2 *value)
{
    at[0] = (float)(*value)[0];
    at[1] = (float)(*value)[1];
}

BLR_LANES_INLINE blr_store_three(float *at, const blr_double_4 *value)
{
    at[0] = (float)(*value)[0];
    at[1] = (float)(*value)[1];
    at[2] = (float)(*value)[2];
}

BLR_LANES_INLINE blr_store_four(float *at, const blr_double_4 *value)
{
    const blr_float_4 floats = __builtin_convertvector(*value, blr_float_4);
    memcpy(at, &floats, sizeof floats);
}

#else
#error "registers of doubles need the vector extensions of GCC or Clang"
#endif

#endif
