/*
 * Levels of Gaussian pyramids: weights (1, 4, 6, 4, 1), as means of neighbours, of those, and so on, each along y, then x, in
 * single precision. Every product and sum is rounded: the values are those of linear samples of samples
 * (resample/resample.h). Codes of 8 and 16 bits have exact sums, and are rounded once, halves away from zero.
 */
#ifndef BINDLESS_REFERENCE_IMAGE_PYRAMID_H
#define BINDLESS_REFERENCE_IMAGE_PYRAMID_H

#include "bindless/reference_pyramids.h"
#include "spirv/execute/isa_names.h"

/* Computes rows [begin, end) of the destination. */
void blr_pyramid_rows(const blr_pyramid_t *pyramid, uint64_t begin, uint64_t end);

#endif
