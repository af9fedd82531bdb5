/* Means of a volume along line segments, and their derivatives with respect to both ends.
 *
 * The volume is float[size_z][size_y][size_x], zero outside, linear between the centres of texels, which are at +0.5. A
 * segment has `samples` samples, in the middles of equal parts. A work-group has RAYS segments, each in PARTS parts:
 * neighbouring work-items follow neighbouring segments, whose texels are near one another. */
#include "rays.h"

enum { RAYS = 32, PARTS = 8, SUMS = 7 };

/* `derivatives`, or null: (count, 6), with respect to the start and the end. `start_step` is 3, or 0 for one start. */
kernel __attribute__((reqd_work_group_size(RAYS * PARTS, 1, 1)))
void bindless_line_integrals(global const float *texels, uint size_x, uint size_y, uint size_z,
                             global const float *starts, uint start_step, global const float *ends, uint end_step,
                             global float *means, global float *derivatives, uint samples, ulong count)
{
    local float sums[PARTS][SUMS][RAYS];
    const uint item = bindless_local_id(0), lane = item % RAYS, part = item / RAYS;
    const ulong ray = bindless_group_id(0) * RAYS + lane;
    const struct volume volume = {texels, (int)size_x, (int)size_y, (int)size_z, false};
    float mean = 0.0f;
    float3 first = 0.0f, last = 0.0f;
    if (ray < count) {
        global const float *s = starts + ray * start_step, *e = ends + ray * end_step;
        const float3 start = (float3)(s[0], s[1], s[2]) - 0.5f, step = (float3)(e[0], e[1], e[2]) - 0.5f - start;
        const struct segment segment = segment_of(volume, start, step, samples);
        const int touched = segment.to - segment.from;
        const int begin = segment.from + touched * (int)part / PARTS, stop = segment.from + touched * (int)(part + 1) / PARTS;
        for (int k = begin; k < stop; k++) {
            const float along = along_segment(segment, k);
            const float4 term = sample_of(volume, position_on(segment, along));
            mean += term.w;
            first += (1.0f - along) * term.xyz;
            last += along * term.xyz;
        }
        mean *= segment.scale, first *= segment.scale, last *= segment.scale;
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
