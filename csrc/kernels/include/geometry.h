/* The geometry and value class of this compilation, given as macros by the build:
 *     GEOMETRY    1d, 2d, 3d, 1d_array, 2d_array, cube or 1d_linear
 *     DIMENSIONS  coordinates of one item: 1, 2 or 3
 *     LAYERED     1 with a layer number
 *     CLASS       f, i or u: the type of the image's values in registers; COLOR is float4, int4 or uint4 */
#ifndef BINDLESS_KERNELS_INCLUDE_GEOMETRY_H
#define BINDLESS_KERNELS_INCLUDE_GEOMETRY_H

#include "blob.h"
#include "bindless/device.h"

typedef COLOR color;

#define PASTE_(A, B, C) A##B##_##C
#define PASTE(A, B, C) PASTE_(A, B, C)
#define KERNEL(OPERATION) PASTE(bindless_##OPERATION##_, GEOMETRY, CLASS)
#define PRIMITIVE(NAME) PASTE(__bindless_##NAME##_, GEOMETRY, CLASS)
#define BLOB_PRIMITIVE(NAME, BLOB) PASTE(__bindless_##NAME##_, GEOMETRY, BLOB)

/* Coordinates are packed: with three components only single elements are aligned. Pairs are read at once if the
 * array is aligned, which `aligned` promises; the test is the same for all work-items. */
#if DIMENSIONS == 1
typedef float point;
typedef int pixel;
#define SPREAD(P) (P)
#define LOAD_COORDINATE(SCALAR, COORDS, I, ALIGNED) (((global const SCALAR *)(COORDS))[I])
#elif DIMENSIONS == 2
typedef float2 point;
typedef int2 pixel;
#define SPREAD(P) (P).x, (P).y
#define LOAD_COORDINATE(SCALAR, COORDS, I, ALIGNED)                                                                    \
    ((ALIGNED) || (((size_t)(COORDS)) & 7) == 0 ? ((global const SCALAR##2 *)(COORDS))[I]                              \
                                                : (SCALAR##2)(((global const SCALAR *)(COORDS))[2 * (I)],              \
                                                              ((global const SCALAR *)(COORDS))[2 * (I) + 1]))
#else
typedef float3 point;
typedef int3 pixel;
#define SPREAD(P) (P).x, (P).y, (P).z
#define LOAD_COORDINATE(SCALAR, COORDS, I, ALIGNED)                                                                    \
    ((SCALAR##3)(((global const SCALAR *)(COORDS))[3 * (I)], ((global const SCALAR *)(COORDS))[3 * (I) + 1],           \
                 ((global const SCALAR *)(COORDS))[3 * (I) + 2]))
#endif

static inline point load_point(global const void *coords, ulong i, bool aligned)
{
    return LOAD_COORDINATE(float, coords, i, aligned);
}

static inline pixel load_pixel(global const void *coords, ulong i, bool aligned)
{
    return LOAD_COORDINATE(int, coords, i, aligned);
}

/* Prefetches the coordinates of items far ahead of item i, for images that fit in the cache. There only the
 * coordinates come from memory, and a wait for them would delay the texture reads after it. The distance is about
 * the number of items in flight. */
#define AHEAD (1u << 19)
static inline void prefetch_point(global const void *coords, ulong i, ulong count)
{
#if DIMENSIONS == 1 && !LAYERED
    if (i + AHEAD < count) __bindless_prefetch((global const float *)coords + i + AHEAD);
#endif
}

/* Position of item i. LAYER_PARAMETERS are a kernel's parameters for the layer, LOAD_LAYER(i) is the item's own
 * layer or the common one, and AT(layer, coordinate) are a primitive's arguments. */
#if LAYERED
#define LAYER_PARAMETERS global const uint *layers, uint layer,
#define LOAD_LAYER(I) (layers ? layers[I] : layer)
#define AT(LAYER, P) LAYER, SPREAD(P)
#else
#define LAYER_PARAMETERS
#define LOAD_LAYER(I) 0u
#define AT(LAYER, P) SPREAD(P)
#endif

#endif
