/* Texels outside of an image: positions and indices along one axis of n texels, by scipy's rules. Positions are finite,
 * and count from the centre of the first texel. */
#ifndef BINDLESS_KERNELS_BOUNDARY_H
#define BINDLESS_KERNELS_BOUNDARY_H

#include "mode.h"

/* A position of a size that an index can have. */
static inline double bounded(double p)
{
    const double most = 0x1p30;
    const double above = p > -most ? p : -most;
    return above < most ? above : most;
}

/* The largest integer that is not larger than a bounded position. */
static inline int floor_of(double p)
{
    const int i = (int)p;
    return (double)i > p ? i - 1 : i;
}

/* What is left of a position after a whole number of periods. */
static inline double rest_of(double p, double period) { return p - period * (double)floor_of(p / period); }

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

/* Whether the value is the fill value as a whole: beyond the outermost centres, and where the position is no number. */
static inline bool is_beyond(double p, int n, uint boundary)
{
    return boundary == CONSTANT ? !(p >= 0.0 && p <= (double)(n - 1)) : !(p - p == 0.0);
}

static inline int modulo(int i, int n)
{
    const int rest = i % n;
    return rest < 0 ? rest + n : rest;
}

/* The texel at index i: at the border, the nearest one. */
INLINED int index_of(int i, int n, uint boundary)
{
    if (i >= 0 && i < n) return i;
    switch (boundary) {
    case BORDER:
    case EDGE: return i < 0 ? 0 : n - 1;
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
