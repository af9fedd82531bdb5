/* The common subset of C11 and OpenCL C in which the headers of this folder are written. Each defines its functions for float
 * and for double, where there is one: it includes itself with BINDLESS_REAL, and the names of functions end with the type.
 * Products and sums are never fused: compile with -ffp-contract=off for the same bits everywhere. */
#ifndef BINDLESS_FILTER_REAL_H
#define BINDLESS_FILTER_REAL_H

/* Indices of texels, and distances between two. */
#ifdef __OPENCL_C_VERSION__
typedef int bindless_index;
typedef uint bindless_distance;
#else
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
typedef int64_t bindless_index;
typedef uint64_t bindless_distance;
#endif

#if !defined(__OPENCL_C_VERSION__) || defined(cl_khr_fp64)
#define BINDLESS_HAS_DOUBLE 1
#else
#define BINDLESS_HAS_DOUBLE 0
#endif

/* Inlined in any case: callers pass constants, so that one case of a function is left. */
#if defined(__GNUC__) || defined(__clang__)
#define BINDLESS_INLINE static inline __attribute__((always_inline))
#define BINDLESS_FLOOR_float(X) __builtin_floorf(X)
#define BINDLESS_FLOOR_double(X) __builtin_floor(X)
#else
#define BINDLESS_INLINE static inline
#define BINDLESS_FLOOR_float(X) floorf(X)
#define BINDLESS_FLOOR_double(X) floor(X)
#endif

#define BINDLESS_JOIN_(A, B) A##_##B
#define BINDLESS_JOIN(A, B) BINDLESS_JOIN_(A, B)
#define BINDLESS_OF(NAME) BINDLESS_JOIN(NAME, BINDLESS_REAL)
#define BINDLESS_FLOOR BINDLESS_OF(BINDLESS_FLOOR)

#endif
