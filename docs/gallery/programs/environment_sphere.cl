/* A mirrored ball in its surroundings: a panorama becomes a cubemap, and every pixel a direction into it. */
#include <bindless/device.h>

typedef struct {
    float4 eye;   /* looks along -z at the ball of radius 1 around 0 */
    float4 metal; /* its colour */
    float zoom;   /* how many half heights of the picture it is away */
    float exposure;
    float2 _unused;
} scene_t;

/* The direction of a face's point; s and t run from -1 to 1, right and down. */
static float3 face_direction(uint face, float s, float t)
{
    switch (face) {
    case 0: return (float3)(1, -t, -s);
    case 1: return (float3)(-1, -t, s);
    case 2: return (float3)(s, 1, t);
    case 3: return (float3)(s, -1, -t);
    case 4: return (float3)(s, -t, 1);
    default: return (float3)(-s, -t, -1);
    }
}

/* Six faces from an equirectangular panorama: longitude to the right with -z in the middle, latitude upwards. */
kernel void make_cubemap(sampled_image_handle panorama, unsampled_image_handle cubemap)
{
    const uint face = (uint)bindless_item_id(0, 3);
    const int y = (int)bindless_item_id(1, 3), x = (int)bindless_item_id(2, 3);
    const float texel = 2 / (float)bindless_item_range(2, 3);
    const float3 d = normalize(face_direction(face, ((float)x + 0.5f) * texel - 1, ((float)y + 0.5f) * texel - 1));
    const float2 place = (float2)(0.5f + atan2(d.x, -d.z) * (0.5f / M_PI_F), acos(d.y) / M_PI_F);
    write_cubemap(cubemap, (int2)(x, y), face, sample_image_float4(panorama, place));
}

/* Where each of four rays a pixel ends up: at the ball it is reflected. The fourth component is what the ball adds. */
kernel void trace(scene_t scene, global float *directions, global float *mirrored)
{
    const size_t y = bindless_item_id(0, 3), x = bindless_item_id(1, 3), part = bindless_item_id(2, 3);
    const size_t height = bindless_item_range(0, 3), width = bindless_item_range(1, 3);
    const float across = ((float)x + 0.25f + 0.5f * (float)(part & 1) - 0.5f * (float)width) * 2 / (float)height;
    const float down = ((float)y + 0.25f + 0.5f * (float)(part >> 1) - 0.5f * (float)height) * 2 / (float)height;
    const float3 ray = normalize((float3)(across, -down, -scene.zoom));

    const float3 eye = scene.eye.xyz;
    const float along = dot(ray, eye);
    const float root = along * along - dot(eye, eye) + 1;
    float3 direction = ray;
    float mirror = 0;
    if (root > 0) {
        const float3 normal = eye - (along + sqrt(root)) * ray;
        const float facing = fmin(-dot(ray, normal), 1.0f);
        direction = ray + 2 * facing * normal;
        mirror = 0.55f + 0.45f * pown(1 - facing, 5); /* Schlick's: edges reflect all */
    }
    const size_t i = (y * width + x) * 4 + part;
    vstore3(direction, i, directions);
    mirrored[i] = mirror;
}

/* The mean of a pixel's rays, for a screen. */
kernel void develop(scene_t scene, global const float4 *light, global const float *mirrored, global float4 *picture)
{
    const size_t i = bindless_item_id(0, 2) * bindless_item_range(1, 2) + bindless_item_id(1, 2);
    float3 sum = 0;
    for (size_t part = 4 * i; part < 4 * i + 4; part++) {
        const float3 seen = light[part].xyz * (mirrored[part] > 0 ? mirrored[part] * scene.metal.xyz : (float3)(1));
        sum += 1 - exp(-scene.exposure * seen); /* bright light saturates, as film does */
    }
    picture[i] = (float4)(pow(sum / 4, (float3)(1 / 2.2f)), 1);
}
