/* Taps of a sample along one axis of a texture: indices, weights, and derivatives of weights, for filters of TAPS texels. */
#ifndef BINDLESS_KERNELS_INCLUDE_GRADIENT_TAPS_H
#define BINDLESS_KERNELS_INCLUDE_GRADIENT_TAPS_H

#include "bindless/filter/taps.h"
#include "gradient_call.h"

struct axis {
    float weight[TAPS], slope[TAPS], curve[TAPS]; /* the filter and its two derivatives by position */
    float chain;                          /* derivative of the position by the sample's position in level 0 */
    int index[TAPS];                      /* -1 outside */
};

INLINED void find_taps(struct axis *axis, float at, int n, uint a, uint mode)
{
    const uint boundary = boundary_of(mode, a);
#if TAPS == 4
    const uint filter = filter_of(mode) == BINDLESS_CUBIC         ? BINDLESS_CUBIC
                        : filter_of(mode) == BINDLESS_CATMULL_ROM ? BINDLESS_CATMULL_ROM
                                                                  : BINDLESS_BICUBIC;
    const float bounded = bindless_bound_with_slope_float(at, n, boundary, &axis->chain);
    const float rest = bindless_find_four_float(bounded, n, boundary, axis->index, 1);
#elif TAPS == 2
    const uint filter = BINDLESS_LINEAR;
    const float near = bindless_fold_with_slope_float(at, n, boundary, &axis->chain);
    const float rest = bindless_find_two_float(near, n, bindless_texel_after(n, boundary), axis->index, 1);
#else
    const uint filter = BINDLESS_NEAREST;
    const float near = bindless_fold_with_slope_float(at, n, boundary, &axis->chain), rest = 0.0f;
    bindless_find_nearest_float(near, n, boundary, ties_to_even(mode), axis->index);
#endif
    bindless_weights_float(rest, filter, axis->weight, 1);
    bindless_slopes_float(rest, filter, axis->slope, 1);
    bindless_curves_float(rest, filter, axis->curve, 1);
}

#endif
