/* A tiled floor to the horizon. A kernel has no neighbours to compare with, so the footprint of a pixel is derived. */
#include <bindless/device.h>

typedef struct {
    float4 right, up, forward; /* of the camera, which stands at (0, height, 0) over the floor y = 0 */
    float height, tile;        /* the tile's side: the texture is repeated */
    float haze;                /* how much a unit of distance hides */
    float _unused;
} scene_t;

kernel void draw(sampled_image_handle trilinear, sampled_image_handle anisotropic, scene_t scene,
                 unsampled_image_handle picture)
{
    const int y = (int)bindless_item_id(0, 2), x = (int)bindless_item_id(1, 2);
    const int height = (int)bindless_item_range(0, 2), width = (int)bindless_item_range(1, 2);
    const float pixel = 2 / (float)height; /* the picture is 2 high, at the distance of forward */
    const float across = ((float)x + 0.5f - 0.5f * (float)width) * pixel;
    const float down = ((float)y + 0.5f - 0.5f * (float)height) * pixel;
    const float3 ray = scene.forward.xyz + across * scene.right.xyz - down * scene.up.xyz;

    const float3 sky = mix((float3)(0.93f, 0.90f, 0.84f), (float3)(0.33f, 0.55f, 0.83f), clamp(-down - 0.30f, 0.0f, 1.0f));
    float3 colour = sky;
    if (ray.y < -1e-4f) {
        /* t(ray) * ray meets the floor. Its derivative along a step d of the ray: t * d - t * d.y / ray.y * ray. */
        const float t = scene.height / -ray.y;
        const float3 right = scene.right.xyz * pixel, below = -scene.up.xyz * pixel;
        const float2 at = t * ray.xz / scene.tile;
        const float2 dx = (t * right.xz - t * right.y / ray.y * ray.xz) / scene.tile;
        const float2 dy = (t * below.xz - t * below.y / ray.y * ray.xz) / scene.tile;
        const sampled_image_handle floor = x < width / 2 ? trilinear : anisotropic;
        const float clear = exp(-scene.haze * t * length(ray));
        colour = mix(sky, sample_mipmap_float4(floor, at, dx, dy).xyz, clear);
    }
    if (x == width / 2) colour = 1;
    write_image(picture, (int2)(x, y), (float4)(colour, 1));
}
