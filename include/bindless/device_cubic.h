/* Cubic B-splines from linear samples: the functions of device.h with _cubic_. */
#ifndef BINDLESS_DEVICE_CUBIC_H
#define BINDLESS_DEVICE_CUBIC_H

#include "bindless/filter/weights.h"

/* Along an axis, the four weights of a cubic B-spline are those of two linear samples: each lies between two pixels, in
 * the proportion of their weights. x and y are the samples' coordinates, z is the weight of the first one; the other
 * weight is 1 - z. */
BINDLESS_FUNCTION float3 bindless_cubic_taps(float at)
{
    const float below = __builtin_floorf(at - 0.5f);
    float w[4];
    bindless_weights_float(at - 0.5f - below, BINDLESS_CUBIC, w, 1);
    const float weight = w[0] + w[1];
    return (float3)(below - 0.5f + w[1] / weight, below + 1.5f + w[3] / (1.0f - weight), weight);
}

BINDLESS_FUNCTION float4 bindless_cubic_sum(float weight, float4 first, float4 second)
{
    return weight * first + (1.0f - weight) * second;
}

/* Coordinates count pixels; `unit` is the size of a pixel in the coordinates of the sampler. */
#define BINDLESS_CUBIC_LINE(GEOMETRY, PARAMETERS, LEADING)                                                             \
    BINDLESS_FUNCTION float4 bindless_cubic_##GEOMETRY(PARAMETERS, float at, float unit)                               \
    {                                                                                                                  \
        const float3 u = bindless_cubic_taps(at);                                                                      \
        return bindless_cubic_sum(u.z, __bindless_sample_##GEOMETRY##_f(LEADING, u.x * unit),                          \
                                  __bindless_sample_##GEOMETRY##_f(LEADING, u.y * unit));                              \
    }

#define BINDLESS_CUBIC_PLANE(GEOMETRY, PARAMETERS, LEADING)                                                            \
    BINDLESS_FUNCTION float4 bindless_cubic_##GEOMETRY(PARAMETERS, float2 at, float2 unit)                             \
    {                                                                                                                  \
        const float3 u = bindless_cubic_taps(at.x), v = bindless_cubic_taps(at.y);                                     \
        const float a = u.x * unit.x, b = u.y * unit.x, c = v.x * unit.y, d = v.y * unit.y;                            \
        const float4 above = bindless_cubic_sum(u.z, __bindless_sample_##GEOMETRY##_f(LEADING, a, c),                  \
                                                __bindless_sample_##GEOMETRY##_f(LEADING, b, c));                      \
        const float4 below = bindless_cubic_sum(u.z, __bindless_sample_##GEOMETRY##_f(LEADING, a, d),                  \
                                                __bindless_sample_##GEOMETRY##_f(LEADING, b, d));                      \
        return bindless_cubic_sum(v.z, above, below);                                                                  \
    }

#define BINDLESS_HANDLE sampled_image_handle image
#define BINDLESS_HANDLE_LAYER sampled_image_handle image, uint layer
#define BINDLESS_IN_LAYER image, layer
BINDLESS_CUBIC_LINE(1d, BINDLESS_HANDLE, image)
BINDLESS_CUBIC_LINE(1d_array, BINDLESS_HANDLE_LAYER, BINDLESS_IN_LAYER)
BINDLESS_CUBIC_PLANE(2d, BINDLESS_HANDLE, image)
BINDLESS_CUBIC_PLANE(2d_array, BINDLESS_HANDLE_LAYER, BINDLESS_IN_LAYER)

/* A plane of a volume, between two slices that the sampler blends. */
BINDLESS_FUNCTION float4 bindless_cubic_slice(sampled_image_handle image, float3 u, float3 v, float z, float3 unit)
{
    const float a = u.x * unit.x, b = u.y * unit.x, c = v.x * unit.y, d = v.y * unit.y, e = z * unit.z;
    const float4 above =
        bindless_cubic_sum(u.z, __bindless_sample_3d_f(image, a, c, e), __bindless_sample_3d_f(image, b, c, e));
    const float4 below =
        bindless_cubic_sum(u.z, __bindless_sample_3d_f(image, a, d, e), __bindless_sample_3d_f(image, b, d, e));
    return bindless_cubic_sum(v.z, above, below);
}

BINDLESS_FUNCTION float4 bindless_cubic_3d(sampled_image_handle image, float3 at, float3 unit)
{
    const float3 u = bindless_cubic_taps(at.x), v = bindless_cubic_taps(at.y), w = bindless_cubic_taps(at.z);
    return bindless_cubic_sum(w.z, bindless_cubic_slice(image, u, v, w.x, unit),
                              bindless_cubic_slice(image, u, v, w.y, unit));
}

#define BINDLESS_CUBIC_IMAGE(T, N, GEOMETRY, POINT)                                                                    \
    BINDLESS_FUNCTION T sample_image_cubic_##T(sampled_image_handle image, POINT at)                                   \
    {                                                                                                                  \
        const POINT unit = 1.0f;                                                                                       \
        return BINDLESS_NARROW_##N(bindless_cubic_##GEOMETRY(image, at, unit), T);                                     \
    }                                                                                                                  \
    BINDLESS_FUNCTION T sample_image_cubic_##T(sampled_image_handle image, POINT at, POINT size)                       \
    {                                                                                                                  \
        return BINDLESS_NARROW_##N(bindless_cubic_##GEOMETRY(image, at *size, 1.0f / size), T);                        \
    }

#define BINDLESS_CUBIC_ARRAY(T, N, GEOMETRY, POINT)                                                                    \
    BINDLESS_FUNCTION T sample_image_cubic_array_##T(sampled_image_handle image, POINT at, uint layer)                 \
    {                                                                                                                  \
        const POINT unit = 1.0f;                                                                                       \
        return BINDLESS_NARROW_##N(bindless_cubic_##GEOMETRY(image, layer, at, unit), T);                              \
    }                                                                                                                  \
    BINDLESS_FUNCTION T sample_image_cubic_array_##T(sampled_image_handle image, POINT at, uint layer, POINT size)     \
    {                                                                                                                  \
        return BINDLESS_NARROW_##N(bindless_cubic_##GEOMETRY(image, layer, at *size, 1.0f / size), T);                 \
    }

#define BINDLESS_CUBIC(T, N)                                                                                           \
    BINDLESS_CUBIC_IMAGE(T, N, 1d, float)                                                                              \
    BINDLESS_CUBIC_IMAGE(T, N, 2d, float2)                                                                             \
    BINDLESS_CUBIC_IMAGE(T, N, 3d, float3)                                                                             \
    BINDLESS_CUBIC_ARRAY(T, N, 1d_array, float)                                                                        \
    BINDLESS_CUBIC_ARRAY(T, N, 2d_array, float2)

BINDLESS_CUBIC(float, 1)
BINDLESS_CUBIC(float2, 2)
BINDLESS_CUBIC(float3, 3)
BINDLESS_CUBIC(float4, 4)
#ifdef cl_khr_fp16
BINDLESS_CUBIC(half, 1)
BINDLESS_CUBIC(half2, 2)
BINDLESS_CUBIC(half3, 3)
BINDLESS_CUBIC(half4, 4)
#endif

#endif
