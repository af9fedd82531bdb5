/* Means of a volume along line segments, and their derivatives with respect to both ends.
 *
 * The volume is float[size_z][size_y][size_x], zero outside, linear between the centres of texels, which are at +0.5. A
 * segment has `samples` samples, in the middles of equal parts. A work-group has RAYS segments, each in PARTS parts:
 * neighbouring work-items follow neighbouring segments, whose texels are near one another. */
#include "bindless/device.h"

#define MULTIPLY_ADD(A, B, C) __builtin_fmaf(A, B, C)
#define MIN(A, B) ((A) < (B) ? (A) : (B))
#define MAX(A, B) ((A) > (B) ? (A) : (B))

enum { RAYS = 32, PARTS = 8, SUMS = 7 };

struct volume {
    global const float *texels;
    int size_x, size_y, size_z;
};

static inline float texel(struct volume volume, int x, int y, int z)
{
    const bool inside = (uint)x < (uint)volume.size_x && (uint)y < (uint)volume.size_y && (uint)z < (uint)volume.size_z;
    return inside ? volume.texels[((ulong)z * (uint)volume.size_y + (uint)y) * (uint)volume.size_x + (uint)x] : 0.0f;
}

/* Value and gradient at a position, in texels whose centres are at integers. */
static inline float4 sample(struct volume volume, float3 position)
{
    const float3 low = __builtin_elementwise_floor(position), weight = position - low;
    const int x = (int)low.x, y = (int)low.y, z = (int)low.z;
    float v[8];
    if (x >= 0 && y >= 0 && z >= 0 && x < volume.size_x - 1 && y < volume.size_y - 1 && z < volume.size_z - 1) {
        const ulong row = (uint)volume.size_x, plane = row * (uint)volume.size_y;
        global const float *first = volume.texels + ((ulong)z * plane + (ulong)y * row + (uint)x);
        v[0] = first[0], v[1] = first[1], v[2] = first[row], v[3] = first[row + 1];
        first += plane;
        v[4] = first[0], v[5] = first[1], v[6] = first[row], v[7] = first[row + 1];
    } else {
#pragma unroll
        for (int corner = 0; corner < 8; corner++)
            v[corner] = texel(volume, x + (corner & 1), y + (corner >> 1 & 1), z + (corner >> 2));
    }
    const float x0 = v[1] - v[0], x1 = v[3] - v[2], x2 = v[5] - v[4], x3 = v[7] - v[6];
    const float a0 = MULTIPLY_ADD(weight.x, x0, v[0]), a1 = MULTIPLY_ADD(weight.x, x1, v[2]);
    const float a2 = MULTIPLY_ADD(weight.x, x2, v[4]), a3 = MULTIPLY_ADD(weight.x, x3, v[6]);
    const float y0 = a1 - a0, y1 = a3 - a2;
    const float b0 = MULTIPLY_ADD(weight.y, y0, a0), b1 = MULTIPLY_ADD(weight.y, y1, a2);
    const float c0 = MULTIPLY_ADD(weight.y, x1 - x0, x0), c1 = MULTIPLY_ADD(weight.y, x3 - x2, x2);
    return (float4)(MULTIPLY_ADD(weight.z, c1 - c0, c0), MULTIPLY_ADD(weight.z, y1 - y0, y0), b1 - b0, MULTIPLY_ADD(weight.z, b1 - b0, b0));
}

/* Limits the part of a segment that touches the volume, along one axis. */
static inline void clip(float start, float step, int size, float *low, float *high)
{
    const float first = -1.0f - start, last = (float)size - start;
    if (step == 0.0f) {
        if (!(first < 0.0f && last > 0.0f)) *high = -1.0f;
        return;
    }
    const float a = first / step, b = last / step;
    *low = __builtin_fmaxf(*low, __builtin_fminf(a, b));
    *high = __builtin_fminf(*high, __builtin_fmaxf(a, b));
}

/* `derivatives`, or null: (count, 6), with respect to the start and the end. `start_step` is 3, or 0 for one start. */
kernel __attribute__((reqd_work_group_size(RAYS * PARTS, 1, 1)))
void bindless_line_integrals(global const float *texels, uint size_x, uint size_y, uint size_z,
                             global const float *starts, uint start_step, global const float *ends, uint end_step,
                             global float *means, global float *derivatives, uint samples, ulong count)
{
    local float sums[PARTS][SUMS][RAYS];
    const uint item = bindless_local_id(0), lane = item % RAYS, part = item / RAYS;
    const ulong ray = bindless_group_id(0) * RAYS + lane;
    const struct volume volume = {texels, (int)size_x, (int)size_y, (int)size_z};
    float mean = 0.0f;
    float3 first = 0.0f, last = 0.0f;
    if (ray < count) {
        global const float *s = starts + ray * start_step, *e = ends + ray * end_step;
        const float3 start = (float3)(s[0], s[1], s[2]) - 0.5f, step = (float3)(e[0], e[1], e[2]) - 0.5f - start;
        float low = 0.0f, high = 1.0f;
        clip(start.x, step.x, volume.size_x, &low, &high);
        clip(start.y, step.y, volume.size_y, &low, &high);
        clip(start.z, step.z, volume.size_z, &low, &high);
        /* Some samples more at both ends: those outside are zero. */
        const float scale = 1.0f / (float)samples;
        const int from = MAX((int)(low * samples) - 2, 0), to = MIN((int)(high * samples) + 2, (int)samples);
        const int touched = MAX(to - from, 0);
        const int begin = from + touched * (int)part / PARTS, stop = from + touched * (int)(part + 1) / PARTS;
        for (int k = begin; k < stop; k++) {
            const float along = ((float)k + 0.5f) * scale;
            const float4 found = sample(volume, (float3)(MULTIPLY_ADD(along, step.x, start.x), MULTIPLY_ADD(along, step.y, start.y),
                                                         MULTIPLY_ADD(along, step.z, start.z)));
            mean += found.w;
            first += (1.0f - along) * found.xyz;
            last += along * found.xyz;
        }
        mean *= scale, first *= scale, last *= scale;
    }
    const float mine[SUMS] = {mean, first.x, first.y, first.z, last.x, last.y, last.z};
#pragma unroll
    for (int sum = 0; sum < SUMS; sum++)
        sums[part][sum][lane] = mine[sum];
    bindless_barrier();
    if (part >= SUMS || ray >= count) return;
    float total = 0.0f;
#pragma unroll
    for (int other = 0; other < PARTS; other++)
        total += sums[other][part][lane];
    if (part == 0)
        means[ray] = total;
    else if (derivatives)
        derivatives[6 * ray + (part - 1)] = total;
}
