/* A volume seen through: density from a 3D image, colour and opacity from a 1D image, front to back. */
#include <bindless/device.h>

kernel void raycast(ulong volume, ulong transfer, global float4 *out, uint width, uint height, uint steps)
{
    const uint x = (uint)bindless_global_id(0), y = (uint)bindless_global_id(1);
    const float u = ((float)x + 0.5f) / (float)width - 0.5f, v = ((float)y + 0.5f) / (float)height - 0.5f;
    float3 at = (float3)(0.8f * u + 0.5f, 0.8f * v + 0.5f, 0.0f);
    const float3 step = (float3)(0.2f * u, 0.2f * v, 1.0f) / (float)steps;
    float4 sum = 0;
    for (uint k = 0; k < steps; k++) {
        const float density = sample_image_float(volume, at);
        const float4 color = sample_image_float4(transfer, density);
        const float opacity = color.w * (1.0f - sum.w);
        sum += (float4)(color.xyz * opacity, opacity);
        if (sum.w > 0.98f) break;
        at += step;
    }
    out[y * width + x] = sum;
}
