/* Positions and texels outside of an image, along one axis of n texels. Positions count from the centre of the first texel;
 * the rules are those of scipy. */
#ifndef BINDLESS_REFERENCE_RESAMPLE_BOUNDARY_H
#define BINDLESS_REFERENCE_RESAMPLE_BOUNDARY_H

#include "bindless/reference.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

/* Texels before the first and after the last one that a bounded position may be away. */
#define BLR_BOUND 4

static inline double blr_remainder(double value, double period) { return value - period * floor(value / period); }

/* A position near the image that has the same value. Not-a-number becomes a position outside. */
static inline double blr_fold(double at, int64_t n, blr_boundary_t boundary)
{
    const double size = (double)n, last = size - 1.0, lowest = -BLR_BOUND, highest = last + BLR_BOUND;
    if (!(at >= 0.0 && at <= last)) {
        switch (boundary) {
        case BLR_BOUNDARY_REPEAT: at = blr_remainder(at, size); break;
        case BLR_BOUNDARY_MIRRORED_REPEAT: at = size - 0.5 - fabs(blr_remainder(at + 0.5, 2.0 * size) - size); break;
        case BLR_BOUNDARY_MIRROR: at = n == 1 ? 0.0 : last - fabs(blr_remainder(at, 2.0 * last) - last); break;
        case BLR_BOUNDARY_WRAP:
            at = n == 1 ? 0.0 : at < 0.0 ? last - blr_remainder(-at, last) : blr_remainder(at, last);
            break;
        case BLR_BOUNDARY_BORDER:
        case BLR_BOUNDARY_CONSTANT:
        case BLR_BOUNDARY_EDGE: break;
        }
    }
    const double above = at >= lowest ? at : lowest;
    return above < highest ? above : highest;
}

/* The texel that has the value at an index, up to BLR_BOUND + 2 texels away; -1 for the fill value. */
static inline int64_t blr_texel_at(int64_t index, int64_t n, blr_boundary_t boundary)
{
    if (index >= 0 && index < n)
        return index;
    if (boundary == BLR_BOUNDARY_BORDER)
        return -1;
    if (boundary == BLR_BOUNDARY_EDGE)
        return index < 0 ? 0 : n - 1;
    if (n == 1)
        return 0;
    const int64_t period = boundary == BLR_BOUNDARY_REPEAT            ? n
                           : boundary == BLR_BOUNDARY_MIRRORED_REPEAT ? 2 * n
                                                                      : 2 * n - 2;
    const int64_t rest = index % period, within = rest < 0 ? rest + period : rest;
    return within < n ? within : boundary == BLR_BOUNDARY_MIRRORED_REPEAT ? 2 * n - 1 - within : 2 * n - 2 - within;
}

#endif
