/* Taps of a sample along one axis of a texture: indices, weights, and derivatives of weights, for filters of TAPS texels. The
 * arithmetic is that of the reference driver's gradients. Positions count from the centre of the first texel. */
#ifndef BINDLESS_KERNELS_INCLUDE_GRADIENT_TAPS_H
#define BINDLESS_KERNELS_INCLUDE_GRADIENT_TAPS_H

#include "gradient_call.h"

struct axis {
    float weight[TAPS], slope[TAPS], curve[TAPS]; /* the filter and its two derivatives by position */
    float chain;                          /* derivative of the position by the sample's position in level 0 */
    int index[TAPS];                      /* -1 outside */
};

/* Limits a position to those at and between the outermost texels' centres; others do not move. */
INLINED float clipped(float at, float last, float *chain)
{
    const float above = at > 0.0f ? at : 0.0f;
    *chain = above > 0.0f && above < last ? *chain : 0.0f;
    return above < last ? above : last;
}

/* Mirrors a position at low and low + span. */
INLINED float reflected(float at, float low, float span, float *chain)
{
    const float from = at - low, far = from < 0.0f ? -from : from;
    const float turns = floor_of(far / span), rest = far - turns * span;
    const float half_turns = turns * 0.5f;
    const bool odd = half_turns != floor_of(half_turns);
    *chain = odd != (from < 0.0f) ? -*chain : *chain;
    return (odd ? span - rest : rest) + low;
}

/* A position near the image that has the same value. */
INLINED float folded(float at, uint boundary, int n, float *chain)
{
    const float size = (float)n, last = size - 1.0f;
    if (boundary == REPEAT) {
        const float rest = at - size * floor_of(at / size);
        return rest >= 0.0f && rest < size ? rest : 0.0f;
    }
    if (boundary == BORDER) {
        const float above = at > -4.0f ? at : -4.0f;
        return above < size + 4.0f ? above : size + 4.0f;
    }
    if (boundary == MIRRORED_REPEAT) at = reflected(at, -0.5f, size, chain);
    if (boundary == MIRROR && n > 1) at = reflected(at, 0.0f, last, chain);
    return clipped(at, last, chain);
}

#if TAPS == 1
INLINED void find_taps(struct axis *axis, float at, int n, uint a, uint mode)
{
    const uint boundary = boundary_of(mode, a);
    const float near = folded(at, boundary, n, &axis->chain), low = floor_of(near), rest = near - low, half_low = low * 0.5f;
    const bool up = rest > 0.5f || (rest == 0.5f && (!ties_to_even(mode) || half_low != floor_of(half_low)));
    const int index = (int)low + (up ? 1 : 0);
    axis->index[0] = index >= 0 && index < n ? index : boundary == REPEAT ? 0 : -1;
    axis->weight[0] = 1.0f;
    axis->slope[0] = axis->curve[0] = 0.0f;
}
#elif TAPS == 2
INLINED void find_taps(struct axis *axis, float at, int n, uint a, uint mode)
{
    const uint boundary = boundary_of(mode, a);
    const float near = folded(at, boundary, n, &axis->chain), low = floor_of(near), rest = near - low;
    const int index = (int)low;
    axis->index[0] = index >= 0 && index < n ? index : -1;
    axis->index[1] = index + 1 >= 0 && index + 1 < n ? index + 1 : boundary == BORDER ? -1 : boundary == REPEAT ? 0 : n - 1;
    axis->weight[0] = 1.0f - rest;
    axis->weight[1] = rest;
    axis->slope[0] = -1.0f;
    axis->slope[1] = 1.0f;
    axis->curve[0] = axis->curve[1] = 0.0f;
}
#else
/* The texel that has the value at an index, or -1 for the fill value. */
INLINED int texel_at(int index, int n, uint boundary)
{
    if (index >= 0 && index < n) return index;
    if (boundary == BORDER) return -1;
    if (boundary == EDGE) return index < 0 ? 0 : n - 1;
    if (n == 1) return 0;
    const long period = boundary == REPEAT ? n : boundary == MIRRORED_REPEAT ? 2l * n : 2l * n - 2;
    const long rest = index % period, within = rest < 0 ? rest + period : rest;
    return (int)(within < n ? within : boundary == MIRRORED_REPEAT ? 2l * n - 1 - within : 2l * n - 2 - within);
}

INLINED void find_taps(struct axis *axis, float at, int n, uint a, uint mode)
{
    const float most = (float)(1 << 30), above = at > -most ? at : -most, within = above < most ? above : most;
    const float low = floor_of(within), f = within - low, g = 1.0f - f;
    const uint filter = filter_of(mode);
    UNROLLED for (int k = 0; k < 4; ++k) axis->index[k] = texel_at((int)low + k - 1, n, boundary_of(mode, a));
    if (filter == CUBIC) {
        const float sixth = 1.0f / 6.0f, two_thirds = 2.0f / 3.0f;
        axis->weight[0] = g * g * g * sixth, axis->weight[3] = f * f * f * sixth;
        axis->weight[1] = two_thirds - f * f * (1.0f - 0.5f * f), axis->weight[2] = two_thirds - g * g * (1.0f - 0.5f * g);
        axis->slope[0] = -0.5f * g * g, axis->slope[3] = 0.5f * f * f;
        axis->slope[1] = f * (1.5f * f - 2.0f), axis->slope[2] = -g * (1.5f * g - 2.0f);
        axis->curve[0] = g, axis->curve[3] = f;
        axis->curve[1] = 3.0f * f - 2.0f, axis->curve[2] = 3.0f * g - 2.0f;
        return;
    }
    const float p = filter == CATMULL_ROM ? -0.5f : -0.75f, b = p + 2.0f, c = p + 3.0f;
    axis->weight[0] = p * f * g * g, axis->weight[3] = p * g * f * f;
    axis->weight[1] = (b * f - c) * f * f + 1.0f, axis->weight[2] = (b * g - c) * g * g + 1.0f;
    axis->slope[0] = p * g * (g - 2.0f * f), axis->slope[3] = -p * f * (f - 2.0f * g);
    axis->slope[1] = (3.0f * b * f - 2.0f * c) * f, axis->slope[2] = -(3.0f * b * g - 2.0f * c) * g;
    axis->curve[0] = p * (2.0f * f - 4.0f * g), axis->curve[3] = p * (2.0f * g - 4.0f * f);
    axis->curve[1] = 6.0f * b * f - 2.0f * c, axis->curve[2] = 6.0f * b * g - 2.0f * c;
}
#endif

#endif
