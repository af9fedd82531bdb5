/* Any number of photographs on a table, each found by the handle that its print carries. */
#include <bindless/device.h>

typedef struct {
    sampled_image_handle photo;
    float2 centre; /* in heights of the picture, from its middle */
    float2 axis;   /* cosine and sine of the angle that it is turned by */
    float2 half_size;
    float level; /* of the mipmap, for the size at which it is shown */
    float _unused;
} print_t;

/* How far a point lies outside a rectangle around 0: negative inside. */
static float outside(float2 point, float2 half_size)
{
    const float2 d = fabs(point) - half_size;
    return fmin(fmax(d.x, d.y), 0.0f) + length(fmax(d, (float2)(0, 0)));
}

/* A point of the table as the print has it, upright around its centre. */
static float2 within(float2 point, global const print_t *print)
{
    const float2 d = point - print->centre;
    return (float2)(dot(d, print->axis), dot(d, (float2)(-print->axis.y, print->axis.x)));
}

kernel void lay_out(global const print_t *prints, uint count, float border, global float4 *picture)
{
    const size_t y = bindless_item_id(0, 2), x = bindless_item_id(1, 2);
    const size_t height = bindless_item_range(0, 2), width = bindless_item_range(1, 2);
    const float pixel = 1 / (float)height;
    const float2 point =
        (float2)((float)x + 0.5f - 0.5f * (float)width, (float)y + 0.5f - 0.5f * (float)height) * pixel;

    float3 light = 0;
    float clear = 1;
    for (uint i = count; i-- > 0 && clear > 0;) { /* the last one lies on top */
        const float2 at = within(point, prints + i);
        const float paper = clamp(0.5f - outside(at, prints[i].half_size + border) / pixel, 0.0f, 1.0f);
        if (paper > 0) {
            const float inside = clamp(0.5f - outside(at, prints[i].half_size) / pixel, 0.0f, 1.0f);
            const float2 place = at / prints[i].half_size * 0.5f + 0.5f;
            const float4 photo = sample_mipmap_float4(prints[i].photo, place, prints[i].level);
            light += clear * paper * mix((float3)(0.96f, 0.95f, 0.92f), photo.xyz, inside);
            clear *= 1 - paper;
        }
        /* The shadow that it throws on whatever lies below. */
        const float2 shade = within(point - (float2)(0.006f, 0.012f), prints + i);
        clear *= 1 - 0.45f * smoothstep(0.02f, -0.02f, outside(shade, prints[i].half_size + border));
    }
    const float grain = 0.02f * sin(110 * point.y + 3 * sin(5 * point.x));
    picture[y * width + x] = (float4)(light + clear * ((float3)(0.42f, 0.28f, 0.18f) + grain), 1);
}
