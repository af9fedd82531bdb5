/* Positions near an image along one axis of n texels, in double precision, as filter/boundary.h folds them, and windows of images.
 * Positions are finite, and count from the centre of the first texel. */
#ifndef BINDLESS_KERNELS_INCLUDE_BOUNDARY_H
#define BINDLESS_KERNELS_INCLUDE_BOUNDARY_H

#include "mode.h"

/* Whether an index can have the size of a position; also not for what is no number. */
INLINED bool is_near(double p)
{
#ifdef __NVPTX__
    return __builtin_fabs(p) < 0x1p30;
#else
    return p > -0x1p30 && p < 0x1p30;
#endif
}
INLINED bool is_finite(double p) { return p - p == 0.0; }

/* A position, far ones moved near. */
static inline double bounded(double p)
{
    const double above = p > -0x1p30 ? p : -0x1p30;
    return above < 0x1p30 ? above : 0x1p30;
}

#ifdef __NVPTX__
/* GPUs convert double precision at a quarter of the rate of sums: next to 1.5 * 2^52 a sum is rounded to an integer, here
 * downwards, which is in its low bits; the high ones of near positions are 0x43380000. */
#define ROUNDING 0x1.8p52
INLINED double rounded_sum(double p) { return __nvvm_add_rm_d(p, ROUNDING); }
#endif

/* The largest integer that is not larger than a near position. */
struct whole {
    int index;
    double value;
};

INLINED struct whole floor_of(double p)
{
#ifdef __NVPTX__
    const double sum = rounded_sum(p);
    return (struct whole){(int)__builtin_astype(sum, ulong), sum - ROUNDING};
#else
    const int i = (int)p;
    const int index = (double)i > p ? i - 1 : i;
    return (struct whole){index, (double)index};
#endif
}

#undef BINDLESS_FLOOR_double
#define BINDLESS_FLOOR_double(X) floor_of(X).value
#include "bindless/filter/boundary.h"

/* The position inside that has the value of one outside, where values continue periodically: a line of one texel has its value
 * everywhere, without rounding. */
INLINED double folded(double p, int n, uint boundary)
{
    return n == 1 && bindless_is_periodic(boundary) ? 0.0 : bindless_fold_double(p, n, boundary);
}

/* A window of a larger image along an axis: texel i of the window is texel (origin + i) modulo `whole` of the larger one. */
struct window {
    int origin, whole;
};

/* The place in a window of `held` texels of a texel of the larger image. */
INLINED int held_index(int i, struct window window, int held)
{
    const int from_origin = i - window.origin;
    const int place = from_origin < 0 ? from_origin + window.whole : from_origin;
    return place < held ? place : held - 1;
}

#endif
