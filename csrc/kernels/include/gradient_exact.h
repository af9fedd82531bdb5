/* The derivatives of one sample with a linear filter, in which texels without weight do not count even if they are not finite.
 * Few registers: it is for rare samples. */
#ifndef BINDLESS_KERNELS_INCLUDE_GRADIENT_EXACT_H
#define BINDLESS_KERNELS_INCLUDE_GRADIENT_EXACT_H

#include "gradient_corners.h"

INLINED float gradient_at(const struct call *call, int item, ulong texture, uint channel, uint mode)
{
    const struct strided *in = &call->grad_values;
    const ulong first = plane_of(part_of(in, 2, texture, has_half_values(mode)), in, channel, has_half_values(mode));
    return read_number(first, is_packed(mode) ? item : item * (int)in->strides[1], has_half_values(mode));
}

INLINED void put_gradient(const struct call *call, int item, ulong texture, uint axis, float value, uint mode)
{
    const struct strided *out = &call->grad_coordinates;
    const ulong to = coordinates_of(out, item, texture, mode);
    ((global float *)to)[(int)axis * (is_packed(mode) ? 1 : (int)out->strides[0])] = value;
}

/* Adds a gradient of a value to those texels that have weight: if it is infinite, no others change. */
INLINED void add_exactly(const struct call *call, const struct corners *corners, ulong texture, uint channel, float gradient, uint mode)
{
    const struct strided *to = &call->levels[0].gradients; /* offsets of gradients are those of texels */
    const ulong into = plane_of(part_of(to, 4, texture, false), to, channel, false);
    ONE_CORNER {
        const float weight = weight_of(corners, k);
        if ((corners->inside >> k & 1) != 0 && weight != 0.0f) add_float((global float *)into + offset_of(corners, k), weight * gradient);
    }
}

/* The gradient of the coordinates, in which texels without weight do not count. */
INLINED void put_exactly(const struct call *call, const struct corners *corners, int item, ulong texture, uint mode)
{
    const struct strided *texels = &call->levels[0].texels;
    float position[DIMENSIONS];
    FOR_AXES position[a] = 0.0f;
    _Pragma("nounroll") for (uint channel = 0; channel < (is_single(mode) ? 1 : call->channels); ++channel)
    {
        const ulong from = plane_of(part_of(texels, 4, texture, has_half_texels(mode)), texels, channel, has_half_texels(mode));
        const float gradient = gradient_at(call, item, texture, channel, mode);
        ONE_CORNER {
            const float product = gradient * texel_or_fill(call, corners, from, k, mode);
            FOR_AXES {
                const float slope = (k >> a & 1 ? 1.0f : -1.0f) * weight_without(corners, k, a);
                position[a] += slope != 0.0f ? slope * product : 0.0f;
            }
        }
    }
    FOR_AXES put_gradient(call, item, texture, a, position[a] * corners->chain[a], mode);
}

/* All of a sample near or outside of the edges: rare, with few registers. */
INLINED void run_other(const struct call *call, int item, ulong texture, uint mode)
{
    const struct corners corners = corners_of(call, item, texture, mode);
    if (is_single(mode) && corners.inside == 0 && call->map.fill == 0.0f && is_finite(gradient_at(call, item, texture, 0, mode))) {
        if (wants_coordinates(mode)) FOR_AXES put_gradient(call, item, texture, a, 0.0f, mode);
        return;
    }
    if (scatter_kind(mode) != SCATTER_NONE)
        _Pragma("nounroll") for (uint channel = 0; channel < (is_single(mode) ? 1 : call->channels); ++channel)
            add_exactly(call, &corners, texture, channel, gradient_at(call, item, texture, channel, mode), mode);
    if (wants_coordinates(mode)) put_exactly(call, &corners, item, texture, mode);
}

#endif
