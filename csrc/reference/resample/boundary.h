/* Positions of a picture near an image, along one axis of n texels, as filter/boundary.h folds them. */
#ifndef BINDLESS_REFERENCE_RESAMPLE_BOUNDARY_H
#define BINDLESS_REFERENCE_RESAMPLE_BOUNDARY_H

#include "bindless/filter/boundary.h"

/* Texels before the first and after the last one that a bounded position may be away. */
#define BLR_BOUND 4

/* A position near the image that has the same value. Not-a-number becomes a position outside. */
static inline double blr_fold(double at, int64_t n, uint32_t boundary)
{
    const double folded = bindless_fold_double(at, n, boundary), lowest = -BLR_BOUND, highest = (double)n - 1.0 + BLR_BOUND;
    const double above = folded >= lowest ? folded : lowest;
    return above < highest ? above : highest;
}

#endif
