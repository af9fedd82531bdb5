#include <bindless/device.h>

kernel void gather(sampled_image_handle image, global const float2 *at, global float4 *out)
{
    out[bindless_global_id(0)] = sample_image_float4(image, at[bindless_global_id(0)]);
}
