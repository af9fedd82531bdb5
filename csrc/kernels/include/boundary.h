/* Texels outside of an image: positions and indices along one axis of n texels, by scipy's rules. Positions are finite,
 * and count from the centre of the first texel. */
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

/* The largest integer that is not larger than a near position. */
struct whole {
    int index;
    double value;
};

INLINED struct whole floor_of(double p)
{
#ifdef __NVPTX__
    /* GPUs convert double precision at a quarter of the rate of sums: next to 1.5 * 2^52 a sum is rounded to an integer,
     * which is in its low bits. */
    const double sum = p + 0x1.8p52;
    const struct whole nearest = {(int)__builtin_astype(sum, ulong), sum - 0x1.8p52};
    if (nearest.value <= p) return nearest;
    return (struct whole){nearest.index - 1, nearest.value - 1.0};
#else
    const int i = (int)p;
    const int index = (double)i > p ? i - 1 : i;
    return (struct whole){index, (double)index};
#endif
}

/* What is left of a position after a whole number of periods. */
static inline double rest_of(double p, double period) { return p - period * floor_of(p / period).value; }

/* The position inside that has the value of one outside, where values continue periodically. `wrap` has two texels for
 * one position: from the left it is the last one, from the right the first. */
INLINED double folded(double p, int n, uint boundary)
{
    const double last = (double)(n - 1);
    if ((p >= 0.0 && p <= last) || boundary <= EDGE) return p;
    if (n == 1) return 0.0;
    switch (boundary) {
    case REPEAT: return rest_of(p, (double)n);
    case MIRRORED_REPEAT: {
        const double from_edge = rest_of(p + 0.5, 2.0 * (double)n) - (double)n;
        return (double)n - 0.5 - (from_edge < 0.0 ? -from_edge : from_edge);
    }
    case MIRROR: {
        const double from_last = rest_of(p, 2.0 * last) - last;
        return last - (from_last < 0.0 ? -from_last : from_last);
    }
    default: return p < 0.0 ? last - rest_of(-p, last) : rest_of(p, last);
    }
}

/* Whether the value is the fill value as a whole. */
INLINED bool is_beyond(double p, int n, uint boundary)
{
    return boundary == CONSTANT && !(p >= 0.0 && p <= (double)(n - 1));
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

static inline int modulo(int i, int n)
{
    const int rest = i % n;
    return rest < 0 ? rest + n : rest;
}

/* The texel at index i: at the border, the nearest one. */
INLINED int index_of(int i, int n, uint boundary)
{
    if (boundary == BORDER || boundary == EDGE) {
        const int from_first = i < 0 ? 0 : i;
        return from_first < n - 1 ? from_first : n - 1;
    }
    if (i >= 0 && i < n) return i;
    switch (boundary) {
    case REPEAT: return modulo(i, n);
    case MIRRORED_REPEAT: {
        const int within = modulo(i, 2 * n);
        return within < n ? within : 2 * n - 1 - within;
    }
    default: {
        const int within = n == 1 ? 0 : modulo(i, 2 * n - 2);
        return within < n ? within : 2 * n - 2 - within;
    }
    }
}

#endif
