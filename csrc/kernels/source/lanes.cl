/* Samples, fetches and writes of images that differ from work-item to work-item, for `bindless doctor --prove`.
 *
 * Item i uses the image which[i] of `count` images of 8 x 4 pixels, or of volumes of 8 x 4 x 4 pixels. Samples lie at
 * the centres of pixels, so that a right result is the pixel's value to the last bit.
 */
#include <bindless/device.h>

#define WIDTH 8u
#define HEIGHT 4u
#define DEPTH 4u
#define GROUP 64

/* The centre of a pixel that differs between neighbouring items. */
static inline float2 flat(uint i) { return (float2)(i * 5u % WIDTH, i / 3u % HEIGHT) + 0.5f; }
static inline float3 deep(uint i) { return (float3)(i * 5u % WIDTH, i / 3u % HEIGHT, i / 7u % DEPTH) + 0.5f; }

#define ITEM const uint i = (uint)bindless_global_id(0)
#ifdef __NVPTX__
uint __bindless_shuffle(uint value, uint lane) __attribute__((convergent));
static inline uint lane_number(void) { return (uint)bindless_local_id(0) % 32u; }
#else
#define __bindless_shuffle sub_group_shuffle
#define lane_number get_sub_group_local_id
#endif

#define IMAGES global const sampled_image_handle *images, global const uint *which

kernel void bindless_lanes_memory(IMAGES, global float4 *out)
{
    ITEM;
    out[i] = sample_image_float4(images[which[i]], flat(i));
}

/* The value of a volume and its central differences: seven samples of one image. */
kernel void bindless_lanes_volume(IMAGES, global float4 *out)
{
    ITEM;
    const sampled_image_handle image = images[which[i]];
    const float3 at = (float3)(i * 5u % (WIDTH - 2u), i / 3u % (HEIGHT - 2u), i / 7u % (DEPTH - 2u)) + 1.5f;
    const float3 x = (float3)(1, 0, 0), y = (float3)(0, 1, 0), z = (float3)(0, 0, 1);
    float4 result;
    result.w = sample_image_float(image, at);
    result.x = sample_image_float(image, at + x) - sample_image_float(image, at - x);
    result.y = sample_image_float(image, at + y) - sample_image_float(image, at - y);
    result.z = sample_image_float(image, at + z) - sample_image_float(image, at - z);
    out[i] = result;
}

/* A volume at a place for all items, from arguments, and one step along each axis: ptxas of CUDA 12 keeps a sample in
 * the register of such a coordinate, and loses it in the next round of its loop over handles. */
kernel void bindless_lanes_steps(IMAGES, float at, float step, global float *out)
{
    ITEM;
    const sampled_image_handle image = images[which[i]];
    out[4u * i] = sample_image_float(image, (float3)(at, at, at));
    out[4u * i + 1u] = sample_image_float(image, (float3)(at + step, at, at));
    out[4u * i + 2u] = sample_image_float(image, (float3)(at, at + step, at));
    out[4u * i + 3u] = sample_image_float(image, (float3)(at, at, at + step));
}

/* The same at places from memory, in units of the step, as differences. */
kernel void bindless_lanes_differences(IMAGES, global const float *places, float origin, float unit,
                                       global float *out)
{
    ITEM;
    const sampled_image_handle image = images[which[i]];
    const float3 at = ((float3)(places[3u * i], places[3u * i + 1u], places[3u * i + 2u]) - origin) * unit;
    const float value = sample_image_float(image, at);
    const float x = sample_image_float(image, at + (float3)(unit, 0, 0));
    const float y = sample_image_float(image, at + (float3)(0, unit, 0));
    const float z = sample_image_float(image, at + (float3)(0, 0, unit));
    out[4u * i] = value;
    out[4u * i + 1u] = x - value;
    out[4u * i + 2u] = y - value;
    out[4u * i + 3u] = z - value;
}

kernel void bindless_lanes_layers(IMAGES, global float4 *out)
{
    ITEM;
    out[i] = sample_image_array_float4(images[which[i]], flat(i), i % 3u);
}

kernel void bindless_lanes_mipmap(IMAGES, global float4 *out)
{
    ITEM;
    const uint level = i % 3u, scale = 1u << level;
    const float2 at = (float2)(i * 5u % WIDTH / scale, i / 3u % HEIGHT / scale) + 0.5f;
    const float2 size = (float2)(WIDTH / scale, HEIGHT / scale);
    out[i] = sample_mipmap_float4(images[which[i]], at / size, (float)level);
}

/* Branches that neighbours do not share, with images of other shapes in each. */
kernel void bindless_lanes_divergent(IMAGES, global const sampled_image_handle *volumes, global float4 *out)
{
    ITEM;
    float4 result = (float4)(0);
    if (i % 3u == 0u)
        result = sample_image_float4(images[which[i]], flat(i));
    else if (i % 3u == 1u) {
        result.x = sample_image_float(volumes[which[i]], deep(i));
        if (i & 4u)
            result.y = sample_image_float(images[which[i]], flat(i + 1u));
    }
    out[i] = result;
}

/* Loops of different lengths, with another image in each round. */
kernel void bindless_lanes_loop(IMAGES, uint count, global float4 *out)
{
    ITEM;
    float4 sum = (float4)(0);
    for (uint round = 0; round <= i % 5u; round++)
        sum += sample_image_float4(images[(which[i] + 3u * round) % count], flat(i + round));
    out[i] = sum;
}

/* Each sample selects the next image. */
kernel void bindless_lanes_chain(IMAGES, uint count, global float4 *out)
{
    ITEM;
    float4 result = (float4)((float)which[i]);
    for (uint step = 0; step < 4u; step++)
        result = sample_image_float4(images[(uint)result.x % count], flat(i + step));
    out[i] = result;
}

kernel void bindless_lanes_arguments(sampled_image_handle a, sampled_image_handle b, sampled_image_handle c,
                                     sampled_image_handle d, global const uint *which, global float4 *out)
{
    ITEM;
    const uint one = which[i] % 4u;
    const sampled_image_handle low = one & 1u ? b : a, high = one & 1u ? d : c;
    out[i] = sample_image_float4(one & 2u ? high : low, flat(i));
}

/* The handle of the neighbour, through its registers. */
kernel void bindless_lanes_shuffle(IMAGES, global float4 *out)
{
    ITEM;
    const sampled_image_handle own = images[which[i]];
    const uint lane = lane_number() ^ 1u;
    const uint low = __bindless_shuffle((uint)own, lane), high = __bindless_shuffle((uint)(own >> 32), lane);
    out[i] = sample_image_float4((sampled_image_handle)high << 32 | low, flat(i));
}

/* The handles of a group, through its local memory. */
kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void bindless_lanes_local(IMAGES, global float4 *out)
{
    ITEM;
    local sampled_image_handle handles[GROUP];
    const uint item = (uint)bindless_local_id(0);
    handles[item] = images[which[i]];
    bindless_barrier();
    out[i] = sample_image_float4(handles[GROUP - 1 - item], flat(i));
}

/* One, two or four channels of an image, in branches of one kernel. */
kernel void bindless_lanes_widths(IMAGES, global const uint *channels, global float4 *out)
{
    ITEM;
    const sampled_image_handle image = images[which[i]];
    float4 result = (float4)(0);
    if (channels[i] == 1u)
        result.x = sample_image_float(image, flat(i));
    else if (channels[i] == 2u)
        result.xy = sample_image_float2(image, flat(i));
    else
        result = sample_image_float4(image, flat(i));
    out[i] = result;
}

/* Handles in structures, next to the pixel to fetch. */
struct bindless_lanes_entry {
    ulong image;
    int x, y;
};

kernel void bindless_lanes_structures(global const struct bindless_lanes_entry *entries, global const uint *which,
                                      global float4 *out)
{
    ITEM;
    const struct bindless_lanes_entry entry = entries[which[i]];
    out[i] = fetch_sampled_image_float4(entry.image, (int2)(entry.x, entry.y));
}

/* Pixels of one image into another one. */
kernel void bindless_lanes_write(global const unsampled_image_handle *images, global const uint *which,
                                 global const unsampled_image_handle *targets, uint count)
{
    ITEM;
    const uint pixel = i / count;
    const int2 at = (int2)((int)(pixel % WIDTH), (int)(pixel / WIDTH));
    write_image(targets[i % count], at, fetch_image_float4(images[which[i]], at));
}
