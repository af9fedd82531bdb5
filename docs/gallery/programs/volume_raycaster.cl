/* One ray a pixel through a volume in the cube from -1 to 1, composited front to back. */
#include <bindless/device.h>

typedef struct {
    float4 eye, right, up, forward; /* forward is as long as half the picture's height is away, right and up are 1 */
} view_t;

typedef struct {
    uint steps; /* along the cube's diagonal */
    float density;
} march_t;

/* The volume's value at a point of the cube. */
static float value_at(sampled_image_handle volume, float3 point)
{
    return sample_image_float(volume, point * 0.5f + 0.5f);
}

/* Central differences, a voxel to each side; they point to larger values. */
static float3 gradient_at(sampled_image_handle volume, float3 point, float h)
{
    return (float3)(
        value_at(volume, point + (float3)(h, 0, 0)) - value_at(volume, point - (float3)(h, 0, 0)),
        value_at(volume, point + (float3)(0, h, 0)) - value_at(volume, point - (float3)(0, h, 0)),
        value_at(volume, point + (float3)(0, 0, h)) - value_at(volume, point - (float3)(0, 0, h)));
}

kernel void raycast(sampled_image_handle volume, sampled_image_handle transfer, view_t view, march_t march, float voxel,
                    global float4 *picture)
{
    const size_t y = bindless_item_id(0, 2), x = bindless_item_id(1, 2);
    const size_t height = bindless_item_range(0, 2), width = bindless_item_range(1, 2);
    const float across = (2 * (float)x + 1 - (float)width) / (float)height;
    const float down = (2 * (float)y + 1 - (float)height) / (float)height;
    const float3 ray = normalize(view.forward.xyz + across * view.right.xyz - down * view.up.xyz);

    /* Where the ray enters the cube and leaves it. */
    const float3 a = (-1 - view.eye.xyz) / ray, b = (1 - view.eye.xyz) / ray;
    const float3 first = fmin(a, b), last = fmax(a, b);
    const float enter = fmax(fmax(first.x, first.y), fmax(first.z, 0.0f));
    const float leave = fmin(fmin(last.x, last.y), last.z);

    const float step = 2 * sqrt(3.0f) / (float)march.steps;
    float3 light = 0;
    float clear = 1; /* how much of what lies behind is still seen */
    for (uint i = 0; i < march.steps && clear > 0.005f; i++) {
        const float t = enter + ((float)i + 0.5f) * step;
        if (t >= leave) break;
        const float3 point = view.eye.xyz + t * ray;
        const float4 colour = sample_image_float4(transfer, value_at(volume, point) * 0.5f + 0.5f);
        if (colour.w <= 0) continue;
        const float opacity = 1 - exp(-colour.w * march.density * step);
        const float3 slope = gradient_at(volume, point, voxel);
        const float facing = fabs(dot(slope, ray)) / (length(slope) + 0.01f); /* a lamp at the eye */
        light += clear * opacity * (colour.xyz * (0.35f + 0.65f * facing) + 0.3f * pown(facing, 24));
        clear *= 1 - opacity;
    }
    const float3 background = mix((float3)(0.02f, 0.02f, 0.05f), (float3)(0.09f, 0.10f, 0.16f), 0.5f - 0.5f * down);
    picture[y * width + x] = (float4)(light + clear * background, 1);
}
